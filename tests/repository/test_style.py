"""How the pages are written is held to the limits of style.py, and style.py to what it says. So are the statements of
C++, which indentation.py indents."""

import indentation
import pytest
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


# A statement, as it is written and as it should be; and what is for the author to lay out.
@pytest.mark.parametrize("written, right", [
    ("if (a) {\n        b();\n    c();\n}", "if (a) {\n    b();\n    c();\n}"),
    ("for (int i = 0; i < n; ++i)\n  b(i);", "for (int i = 0; i < n; ++i)\n    b(i);"),
    ("switch (a) {\ncase 0: b(); break;\ndefault: c();\n}",
     "switch (a) {\n    case 0: b(); break;\n    default: c();\n}"),
    ("if (a) {\n  return first +\n         second;\n}", "if (a) {\n    return first +\n           second;\n}"),
    ("kernel<<<grid, block>>>(a,\n      b);", None),
    ("if (a) { b(); c(); }", None),
    ("const int table[] = {1,  2,\n                     10, 20};", None),
    ("// clang-format off\nif (a) {\n  b();\n}\n// clang-format on", None),
])
def test_how_statements_are_indented(written, right, tmp_path):
    def function(text):
        return "void f()\n{\n    " + text.replace("\n", "\n    ") + "\n}\n"

    file = tmp_path / "a.cu"
    file.write_text(function(written))
    done = run("python3", ROOT / "tools/indentation.py", file)
    assert (done.returncode, bool(done.stdout)) == ((1, True) if right else (0, False)), done.stdout + done.stderr
    assert run("python3", ROOT / "tools/indentation.py", "--fix", file).returncode == 0
    assert file.read_text() == function(right or written)
