"""Text from outside is text in every file and on every terminal: no cell of a results file, and no pair of cells, adds
a tag to a page, a formula to a table or a code to a terminal."""

import contextlib
import csv
import functools
import html.parser
import io
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
from samples import ALL, few
from chapter import markup, page  # plots is on the path of chapters
from chapter.tables import missing
sys.path.append(str(ROOT / "lab"))
import claims
import class_pages
import explorables
import gallery
import outside
import results as reader
import slides
import spreadsheet
import tables
import traces
from outside import Text

# All ASCII punctuation, in the forms that Markdown, HTML, the template and LaTeX know; one backtick, which pairs with
# that of another cell. No space, because a machine's last word is the name of its model.
SPECIAL = ("<img/src=x/onerror=alert(1)><!--`[a](javascript:1)![b]*_c_**|\\{{steps}}[[table]]&lt;</td>?:,."
           "<script>alert(1)</script>$\\frac$\"'~#+^%@;=-->")
assert set(SPECIAL) >= set(string.punctuation)
# Columns whose texts are shown, or matched with known ones. Where another text would match nothing, it has rows of its
# own: of another size.
SHOWN = ("machine", "driver", "model_limit", "commit")
COLUMNS = [*SHOWN, *sorted(reader.TEXTS - reader.CHECKED - set(SHOWN)), "remark"]


def word(column):
    """What marks a column's texts in all files."""
    return "q" + "".join(chr(ord("a") + int(digit)) for digit in f"{COLUMNS.index(column):02}") + "q"


def sentinel(column, special):
    return word(column) + (SPECIAL if special else "x" * len(SPECIAL))


def tainted(folder, special, files=MEASURED):
    """Copies of the committed results: each text column has its sentinel, with all special characters in the columns
    `special`."""
    folder.mkdir()
    mark = {column: sentinel(column, column in special) for column in COLUMNS}
    for path in files:
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


def entities(text):
    return "".join(f"&#{ord(c)};" if c in string.punctuation else c for c in text)


# matplotlib leaves quotes in the text of an element, where they mean nothing.
ESCAPED = {".html": (html.escape, lambda text: html.escape(text, quote=False)), ".md": (entities,)}
ESCAPED[".svg"] = ESCAPED[".html"]


CASES = [tuple(COLUMNS), *itertools.combinations(COLUMNS, 1), *itertools.combinations(COLUMNS, 2)]
SAMPLE = [tuple(COLUMNS), *itertools.combinations(SHOWN[:3], 2)]


def figures_of(case):
    """Which of them are drawn: those of the files, or for all columns at once every one. What two columns do to each
    other, they do in a line of Markdown."""
    return {} if len(case) == 2 else {"drawn": True, "whole": ALL and len(case) > 2}


def written(folder, special, figures, given=MEASURED):
    """{file: its text} of what report.py writes."""
    assert chapters.write(folder / "out", *tainted(folder / "results", special, given), **figures) == 0
    return {str(path.relative_to(folder / "out")): path.read_text(encoding="utf-8")
            for path in (folder / "out").rglob("*") if path.suffix in ESCAPED}


def pages_of(files):
    return {name: Page(as_markdown(text) if name.endswith(".md") else text) for name, text in files.items()}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """From the figures that are drawn to ({file: its text}, {file: its Page}) for names without special characters."""
    @functools.cache
    def of(figures):
        files = written(tmp_path_factory.mktemp("plain"), (), dict(figures))
        return files, pages_of(files)
    return lambda figures: of(tuple(figures.items()))


def assert_text(written, files, pages, special):
    """The columns `special` add nothing but their characters, escaped, to the files that plain names are in. Returns
    how often each is there."""
    seen = dict.fromkeys(special, 0)
    for name, text in written.items():
        found = Page(as_markdown(text) if name.endswith(".md") else text)
        assert found.tags == pages[name].tags, name
        if name.endswith(".svg"): tree.fromstring(text)
        assert not outside.HELD.search(text), name
        escapes = ESCAPED[re.search(r"\.\w+$", name)[0]]
        for column in special:
            count = text.count(word(column))
            assert count == files[name].count(word(column)), (name, column)
            assert count == sum(text.count(escape(sentinel(column, True))) for escape in escapes), (name, column)
            assert found.text.count(sentinel(column, True)) == pages[name].text.count(sentinel(column, False)), name
            seen[column] += count
    return seen


@pytest.mark.parametrize("special", few(CASES, SAMPLE.__contains__),
                         ids=lambda case: "+".join(case) if len(case) < 3 else "all")
def test_no_text_of_a_file_is_markup(special, plain, tmp_path):
    seen = assert_text(written(tmp_path, special, figures_of(special)), *plain(figures_of(special)), special)
    assert all(seen[column] for column in special if column in SHOWN[:3]), seen


def test_no_reason_for_a_missing_figure_is_markup(tmp_path):
    given = [path for path in MEASURED if path.name != "h200_model.csv"]
    (tmp_path / "plain").mkdir()
    files, found = written(tmp_path / "plain", (), {}, given), written(tmp_path, ("machine",), {}, given)
    assert any("no rows of a model of the NVIDIA H200" in text for text in found.values())
    assert_text(found, files, pages_of(files), ("machine",))


def test_the_pages_show_what_is_planted(plain):
    """Else the test above could not fail."""
    files, _ = plain(figures_of(COLUMNS))
    where = {column: sorted(name for name, text in files.items() if word(column) in text) for column in COLUMNS}
    both = set(where["machine"]) & set(where["driver"])
    assert {"chapter.html", "chapter.md", "reference.html", "reference.md"} <= both
    assert "reference.html" in where["model_limit"] and "figures/waterfall.svg" in where["machine"]
    assert "figures/waterfall.svg" in where["driver"]


# Messages of programs.

@pytest.mark.parametrize("call", [
    lambda: gallery.faults_of("step01"), lambda: explorables.step("step01"),
    lambda: traces.run_trace(("step01", ["--size", "64"], None), None)], ids=["gallery", "explorables", "traces"])
def test_no_message_of_a_program_is_markup(call, tmp_path, monkeypatch):
    (tmp_path / "step01").write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{SPECIAL}\n{SPECIAL}\nEND\nexit 2\n")
    (tmp_path / "step01").chmod(0o755)
    for module in (gallery, explorables, traces):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    with pytest.raises(RuntimeError) as caught:
        call()
    text = missing(f"a figure ({caught.value})")
    found = Page(outside.in_html(page.body_of(text, tmp_path)))
    assert found.tags == [("p",), ("em",)] == Page(as_markdown(outside.in_markdown(text))).tags
    assert f"{SPECIAL}\\n{SPECIAL}" in found.text and "\n" not in outside.on_terminal(str(caught.value))


# Markdown, and the policy of a page.

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


PLANTED = """<script>window.planted = "script"</script><img src="x:" onerror="window.planted = 'attribute'">
<style>body { display: none }</style><iframe src="data:text/html,x"></iframe>"""


@pytest.fixture(scope="module")
def pages(chapter, tmp_path_factory):
    """Every page that the project writes."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "slides.html").write_text(slides.to_html(list(slides.deck(slides.GUIDE.read_text(encoding="utf-8")))),
                                        encoding="utf-8")
    (folder / "class.html").write_text(class_pages.page("Exercise 4", class_pages.bar(0.5)), encoding="utf-8")
    return [chapter / "chapter.html", chapter / "reference.html", folder / "slides.html", folder / "class.html"]


@pytest.mark.skipif(not browser.CHROMIUM, reason=browser.NEEDED)
def test_a_browser_runs_a_pages_own_scripts_and_no_other(pages, tmp_path):
    with browser.opened() as chromium:
        for path in pages:
            text = path.read_text(encoding="utf-8")
            for planted in ("", PLANTED):
                (tmp_path / path.name).write_text(text.replace("</body>", planted + "</body>"), encoding="utf-8")
                view, complaints = chromium.new_page(), []
                view.on("console", lambda message, said=complaints: said.append(message.text))
                view.goto((tmp_path / path.name).as_uri())
                view.wait_for_timeout(200)
                assert len(complaints) == (5 if planted else 0), (path.name, complaints)
                assert all("Content Security Policy" in said for said in complaints)
                assert view.evaluate("window.planted") is None
                assert view.evaluate("getComputedStyle(document.body).display") == "block"
                font = view.evaluate("getComputedStyle(document.querySelector('h1')).fontFamily")
                assert "sans-serif" in font or "system-ui" in font, (path.name, font)
                view.close()


# Tables for a spreadsheet.

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "＋1", "－1", "＠a", "a;=1", "a\t=1", "'=1", "''=1", " =1",
            "a; '=1", "'a", "a'=1", "", "'", ";", "a;'", "-", "=", "a;;=1", "é=1"]


def begins_a_formula(cell):
    """As a spreadsheet takes a cell, where ; or a tab ends it, too."""
    return any(re.match("[=+@＝＋－＠-].", part.strip(" ")) for part in re.split(r"[;\t]", cell))


def test_no_cell_is_a_formula():
    for text in [*FORMULAS, *map("".join, itertools.product(FORMULAS, repeat=2))]:
        shown = spreadsheet.guarded(text)
        assert not begins_a_formula(shown) and spreadsheet.unguarded(shown) == text, text
    assert spreadsheet.table([["a;=1", 5, -2.5, Text('"x"'), "a\nb"]]) == '"a;\'=1","5","-2.5","""x""","a\\nb"\r\n'


def test_all_rows_of_the_results_in_one_file(tmp_path, capsys, monkeypatch):
    """tables.py --csv writes a table for a spreadsheet, and reads it again as it was."""
    given = tainted(tmp_path / "results", COLUMNS)
    for path in given:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(",note", ",=1+1").replace("NVIDIA H200q", "=a;=NVIDIA H200q"), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["tables.py", "book", *map(str, given), "--csv", str(tmp_path / "all.csv")])
    tables.main()
    cells = list(csv.reader((tmp_path / "all.csv").open(encoding="utf-8", newline="")))
    assert not any(begins_a_formula(cell) for line in cells for cell in line)
    assert sum("'=a;'=NVIDIA" in cell for line in cells for cell in line) > 100 and cells[0].count("remark") == 1
    before, after = reader.load(given), reader.load([tmp_path / "all.csv"])
    names = dict.fromkeys(name for row in before.all for name in row)
    assert before.problems == after.problems == []
    assert after.all == [{name: row.get(name, "") for name in names} for row in before.all]


# Terminals.

NAMES = ["a\x1b[2Jb", "a\nb", "a\rb", "a\u202eb", "a\x07b", "a\udcffb", "a\x9b2Jb"]


@pytest.mark.parametrize("program, arguments, told", [
    ("plots/report.py", [], len(NAMES)), ("plots/claims.py", [], len(NAMES)), ("plots/tables.py", ["book"], 1),
    ("plots/figures", ["figures", "--results"], 1), ("lab/grade.py", ["--best"], 1),
    ("lab/check.py", ["4", "--file"], 1)])
def test_names_of_files_move_no_cursor(program, arguments, told, tmp_path):
    """Each is a part of one line."""
    for name in NAMES:
        (tmp_path / f"{name}.csv").write_text("machine\nx\n")
    names = [f"{name}.csv" for name in (NAMES if told > 1 else NAMES[:1])]
    if program == "lab/check.py": names = [f"none/{names[0]}"]  # which would be a submission
    done = run(sys.executable, ROOT / program, *arguments, *names, cwd=tmp_path)
    lines = done.stderr.split("\n")[:-1]
    assert done.returncode == 2 and done.stdout == "" and all(line.isprintable() for line in lines), done
    assert all(outside.printable(name) in line for name, line in zip(NAMES[:told], lines)), lines
    assert len(lines) == told + (told > 1) and len(os.listdir(tmp_path)) == len(NAMES)


def test_what_programs_print_of_a_file(tmp_path):
    """All that is special is shown as it is; no character of ours is left."""
    given = tainted(tmp_path / "results", COLUMNS)
    for program, more in (("claims.py", "--all"), ("tables.py", "book")):
        done = run(sys.executable, ROOT / "plots" / program, more, *given)
        shown = re.sub(r"\n *", "", done.stdout)  # long lines are wrapped
        assert done.returncode == 0 and done.stderr == "" and sentinel("machine", True) in shown
        assert all(line.isprintable() for line in done.stdout.split("\n"))


def test_a_text_is_held_until_it_is_written():
    for text in ["a<b", "", "plain words", "a  b ", " a", "é–ü", "x\x1b[2J", "cache-resident", "\u2028", SPECIAL,
                 "\udcff"]:
        held = Text(text)
        assert outside.revealed(held) == outside.printable(text) == held and Text(held) == held
        assert not set(held) & set(string.punctuation) and {outside.printable(text): 1}[held] == 1
        assert outside.revealed(f"{held}" + "".join([held]) + held[:0]) == 2 * outside.printable(text)
    assert repr(type(Text("plain"))) == "<class 'str'>" and Text("a-b") != "a-c" and Text("a-b") != 1
    assert outside.in_html(f'<b title="{Text(chr(34) + chr(62))}">') == '<b title="&quot;&gt;">'
    assert outside.in_markdown(Text("`a`")) == "&#96;a&#96;"
    assert outside.on_terminal("a\x1b" + Text("\x1b-") + "\n") == "a\\x1b\\x1b-\n"
    # a file cannot forge the characters: they are escaped, too
    assert outside.in_html(Text("\U0010ff3cb\U0010ff3e")) == "&lt;b&gt;" and Text("a") == "a"


def test_streams_are_terminals(capsys):
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="ascii")) as stream:
        import whole
        whole.on_terminals()
        print("a\x1b", Text("<b>"), "é")
        sys.stdout.flush()
        assert stream.buffer.getvalue() == b"a\\x1b <b> \\xe9\n"
