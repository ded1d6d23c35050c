"""Text from outside is text: no cell of a results file and no message of a program adds a tag to a page, a formula to a
table or a code to a terminal."""

import csv
import html.parser
import itertools
import os
import re
import string
import sys
import xml.etree.ElementTree as tree

import pytest

import browser
import chapters
from chapters import MEASURED
from lessons import ROOT, run
from chapter import markup, page  # plots is on the path of chapters
from chapter.tables import missing
sys.path.append(str(ROOT / "lab"))
import gallery
import outside
import results as reader
import simulated
import slides
import spreadsheet
import traces

# All ASCII punctuation, in the forms that Markdown, HTML, the template and LaTeX know; one backtick, which pairs with
# that of another cell. No space, because a machine's last word is the name of its model.
SPECIAL = ("<img/src=x/onerror=alert(1)><!--`[a](javascript:1)![b]*_c_**|\\{{steps}}[[table]]&lt;</td>?:,."
           "<script>alert(1)</script>$\\frac$\"'~#+^%@;=-->")
assert set(SPECIAL) >= set(string.punctuation)
SHOWN = ("machine", "driver", "model_limit", "commit")  # columns whose texts are shown
# Those whose texts are compared with known ones, so that rows of another size, more of them, have another text there.
COLUMNS = [*SHOWN, *sorted(reader.TEXTS - reader.CHECKED - set(SHOWN)), "remark"]
# Three files that somebody might send.
HOSTILE = ["<script>document.title='run'</script>", "<img src=x onerror=\"document.title='run'\">",
           "[a](javascript:document.title='run')![b](x)</td><script>document.title='run'</script>"]


def tainted(folder, text):
    """Copies of the committed results with this text in every text column; a different word marks each column."""
    folder.mkdir()
    mark = {column: f"q{chr(ord('a') + i)}q{text}" for i, column in enumerate(COLUMNS)}
    for path in MEASURED:
        rows = [{**row, "remark": "note"} for row in csv.DictReader(path.open(encoding="utf-8"))]
        more = [{**row, "width": "96", "height": "96", **{c: row[c] + mark[c] for c in COLUMNS if row.get(c)}}
                for row in rows[:20]]
        rows = [{**row, **{c: row[c] + mark[c] for c in SHOWN if row.get(c)}} for row in rows]
        with (folder / path.name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows + more)
    return sorted(folder.glob("*.csv"))


class Page(html.parser.HTMLParser):
    """tags: of a page, each with the names of its attributes, in order; text: what a reader sees, and the values of
    attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, *(name for name, _ in attributes)))
        self.text += "".join(f"{value}\n" for _, value in attributes)

    def handle_comment(self, text):
        self.tags.append(("comment", text))

    def handle_data(self, text):
        self.text += text


def as_markdown(text):
    """As a reader of Markdown with HTML in it shows a page."""
    return markup.markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists"])


def pages_of(folder, text):
    """{file: its Page} of what report.py writes of such results, with the figures that are drawn of them."""
    assert chapters.write(folder / "out", *tainted(folder / "results", text), drawn=True) == 0
    found = {}
    for path in (folder / "out").rglob("*"):
        if path.suffix in (".html", ".md", ".svg"):
            content = path.read_text(encoding="utf-8")
            if path.suffix == ".svg": tree.fromstring(content)
            found[path.name] = Page(as_markdown(content) if path.suffix == ".md" else content)
    return found


def test_no_text_of_a_file_is_markup(tmp_path):
    """The pages have the tags that they have with plain names, and show every character as often."""
    for name in ("plain", "special"): (tmp_path / name).mkdir()
    letters = "x" * len(SPECIAL)
    plain, special = pages_of(tmp_path / "plain", letters), pages_of(tmp_path / "special", SPECIAL)
    for name, found in special.items():
        assert found.tags == plain[name].tags, name
        for column in "abcdefghijklmnopqrst"[:len(COLUMNS)]:
            word = f"q{column}q"
            assert found.text.count(word + SPECIAL) == plain[name].text.count(word + letters) == found.text.count(word)
    for name in ("chapter.html", "reference.html", "chapter.md", "reference.md", "waterfall.svg"):
        assert "qaq" in special[name].text and "qbq" in special[name].text, name
    assert "qcq" in special["reference.html"].text  # model_limit


@pytest.mark.parametrize("call", [
    lambda: gallery.faults_of("step01"), lambda: traces.run_trace(("step01", ["--size", "64"], None), None)])
def test_no_message_of_a_program_is_markup(call, tmp_path, monkeypatch):
    (tmp_path / "step01").write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{SPECIAL}\n{SPECIAL}\nEND\nexit 2\n")
    (tmp_path / "step01").chmod(0o755)
    monkeypatch.setattr(simulated, "ROOT", tmp_path)
    with pytest.raises(RuntimeError) as caught:
        call()
    text = missing(f"a figure ({outside.markdown(caught.value)})")
    found = Page(page.body_of(text, tmp_path))
    assert found.tags == [("p",), ("em",)] == Page(as_markdown(text)).tags
    assert f"{SPECIAL}\\n{SPECIAL}" in found.text and "\n" not in str(caught.value)


def test_html_in_markdown_is_text():
    """That of the project's own pages has one form each."""
    own = ('<!-- table: x -->\n\n<a id="table-x"></a>**Table.** <!-- notice --> a <!-- /notice -->\n\n<!-- /table -->'
           '\n\n<p class="formula"><i>b</i><sub>cr</sub> = <i>a</i></p>\n')
    assert Page(markup.to_html(own)).tags == [
        ("comment", " table: x "), ("p",), ("a", "id"), ("strong",), ("comment", " notice "), ("comment", " /notice "),
        ("comment", " /table "), ("p", "class"), ("i",), ("sub",), ("i",)]
    for foreign in ("<b>x</b>", "<script>alert(1)</script>\n", "<p class=\"formula\" onclick=\"x\"><i>b</i></p>",
                    "<a id=\"x\" onclick=\"y\"></a>", "<!-- x -->", "<div>\n\n*a*\n\n</div>", "a <img src=x>",
                    "<?x ?>"):
        assert {tag for tag, *_ in Page(markup.to_html(foreign)).tags} <= {"p", "em"}, foreign


# In a browser.

PLANTED = """<script>window.planted = "script"</script><img src="x:" onerror="window.planted = 'attribute'">
<style>body { display: none }</style><iframe src="data:text/html,x"></iframe>"""
LIVE = """() => [...document.querySelectorAll("script, img, iframe, a[href^=javascript]")]
    .filter(e => !e.matches("body > script:last-of-type, script#explorables")).map(e => e.outerHTML)"""


@pytest.mark.variety
@pytest.mark.skipif(not browser.CHROMIUM, reason=browser.NEEDED)
def test_a_browser_runs_a_pages_own_scripts_and_no_other(chapter, tmp_path):
    """Of every page that the project writes, with elements planted in it; and of pages made of three hostile files,
    which have no element that is not their own."""
    (tmp_path / "slides.html").write_text(slides.to_html(list(slides.deck(slides.GUIDE.read_text(encoding="utf-8")))),
                                          encoding="utf-8")
    pages = [chapter / "chapter.html", chapter / "reference.html", tmp_path / "slides.html"]
    with browser.opened() as chromium:
        view, complaints = chromium.new_page(), []
        view.on("console", lambda message: complaints.append(message.text))
        for path, planted in itertools.product(pages, ("", PLANTED)):
            text = path.read_text(encoding="utf-8").replace("</body>", planted + "</body>")
            (tmp_path / "page.html").write_text(text, encoding="utf-8")
            complaints.clear()
            view.goto((tmp_path / "page.html").as_uri())
            view.wait_for_timeout(200)
            assert len(complaints) == (5 if planted else 0), (path.name, complaints)
            assert all("Content Security Policy" in said for said in complaints)
            assert view.evaluate("window.planted") is None
            assert view.evaluate("getComputedStyle(document.body).display") == "block"
        for i, text in enumerate(HOSTILE):
            folder = tmp_path / f"hostile{i}"
            folder.mkdir()
            assert chapters.write(folder / "out", *tainted(folder / "results", text), drawn=True) == 0
            for name in ("chapter.html", "reference.html"):
                complaints.clear()
                view.goto((folder / "out" / name).as_uri())
                assert view.evaluate(LIVE) == [] and complaints == [] and view.title() != "run"
                assert text in view.evaluate("document.body.textContent")


# Tables for a spreadsheet, and terminals.

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "＋1", "－1", "＠a", "a;=1", "a\t=1", "'=1", "''=1", " =1",
            "a; '=1", "'a", "a'=1", "", "'", ";", "a;'", "-", "=", "a;;=1", "é=1"]


def begins_a_formula(cell):
    """As a spreadsheet takes a cell, where ; or a tab ends it, too."""
    return any(re.match("[=+@＝＋－＠-].", part.strip(" ")) for part in re.split(r"[;\t]", cell))


def test_no_cell_is_a_formula(tmp_path):
    """In a table that tables.py --csv or the grader writes; and what it guards is read again as it was."""
    for text in [*FORMULAS, *map("".join, itertools.product(FORMULAS, repeat=2))]:
        shown = spreadsheet.guarded(text)
        assert not begins_a_formula(shown) and spreadsheet.unguarded(shown) == text, text
    assert spreadsheet.table([["a;=1", 5, -2.5, '"x"', "a\nb"]]) == '"a;\'=1","5","-2.5","""x""","a\\nb"\r\n'
    given = tainted(tmp_path / "results", ";=1+1")
    out = tmp_path / "all.csv"
    done = run(sys.executable, ROOT / "plots/tables.py", "book", *given, "--csv", out)
    assert done.returncode == 0, done.stderr
    cells = [cell for line in csv.reader(out.open(encoding="utf-8", newline="")) for cell in line]
    assert not any(map(begins_a_formula, cells)) and sum("qaq;'=1+1" in cell for cell in cells) > 100
    before, after = reader.load(given), reader.load([out])
    names = dict.fromkeys(name for row in before.all for name in row)
    assert before.problems == after.problems == []
    assert after.all == [{name: row.get(name, "") for name in names} for row in before.all]


NAMES = ["a\x1b[2Jb", "a\nb", "a\rb", "a\u202eb", "a\x07b", "a\udcffb", "a\x9b2Jb"]


def test_nothing_moves_a_cursor(tmp_path):
    """Each name of a file is a part of one line, and what is special in a file is shown as it is."""
    for name in NAMES:
        (tmp_path / f"{name}.csv").write_text("machine\nx\n")
    done = run(sys.executable, ROOT / "plots/report.py", *(f"{name}.csv" for name in NAMES), cwd=tmp_path)
    lines = done.stderr.split("\n")[:-1]
    assert done.returncode == 2 and done.stdout == "" and all(line.isprintable() for line in lines), done
    assert all(outside.printable(name) in line for name, line in zip(NAMES, lines)), lines
    assert len(lines) == len(NAMES) + 1 and len(os.listdir(tmp_path)) == len(NAMES)
    done = run(sys.executable, ROOT / "plots/tables.py", "book", *tainted(tmp_path / "results", SPECIAL))
    assert done.returncode == 0 and done.stderr == "" and f"qaq{SPECIAL}" in done.stdout
    assert all(line.isprintable() for line in done.stdout.split("\n"))
