"""How the pages are written is held to the limits of style.py, and style.py to what it says."""

import style
from lessons import ROOT, run

SENTENCES = """# A heading that is none: of its own

A tile has 32 rows. It lies in `shared memory` (see [there](page.md)), 4 bytes each.
It has a code:

```sh
./step04 --size 64    # told: for nothing
```

- First it is read. Then: it is written.
- There are three kinds: a load, a store and a wait.

| a | table: told |
|---|---|

<!-- = gbs {0} -->

| a | b |
|---|---|

nobody reads this <!-- end -->
"""


def test_pages():
    done = run("python3", ROOT / "tools/style.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_a_sentence_is():
    assert list(style.sentences(SENTENCES)) == [
        "A tile has 32 rows.", "It lies in CODE (see there), 4 bytes each.", "It has a code:", "First it is read.",
        "Then: it is written.", "There are three kinds: a load, a store "
        "and a wait."]
    assert [style.joins_clauses(s) for s in style.sentences(SENTENCES)] == [False, False, False, False, True, False]


def test_what_is_over_a_limit(tmp_path):
    for text, status in [("A tile has 32 rows.", 0), ("A tile has 32 rows of its own.", 1),
                         ("It is so: a tile is read.", 1)]:
        (tmp_path / "page.md").write_text(text)
        done = run("python3", ROOT / "tools/style.py", tmp_path / "page.md")
        assert done.returncode == status, done.stdout
    done = run("python3", ROOT / "tools/style.py", tmp_path / "none.md")
    assert done.returncode == 1 and done.stderr.startswith("style.py: ") and len(done.stderr.splitlines()) == 1
