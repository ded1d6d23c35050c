"""What a lecturer gets about a class: statistics, the leaderboard of the open exercise, exports to course systems,
and a workflow for GitHub."""

import csv
import html
import html.parser
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import zipfile

import pytest
import yaml

from browser import CHROMIUM, NEEDED, opened
from conftest import assert_refused
from lessons import ROOT, copy_built, run

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import check
import class_pages
import exports
import policy
import wrong

HOSTILE = [
    "<script>alert(1)</script>", "</td></table>\"'><img src=x onerror=alert(1)>", "=1+1", "@SUM(A1)", "-rf",
    "red\x1b[31m", "new\nline", "caf\udce9", "a,b;c\"d", "&amp;", "\u202eabc", "]]>", "", "\x00", "a;=1+1",
    "＝1+1"]


def verdict(points, hint="", note="", speed=None):
    """Of two checks, as check.verdict_of gives it; points: of each, or () with a note."""
    checks = [{"name": name, "what": f"What <{name}> asks.", "points": p, "of": of, "hint": "" if p == of else hint}
              for (name, of), p in zip((("right", 20), ("cost", 80)), points or (0, 0))]
    return {
        "exercise": 8, "total": sum(points), "of": 100, "checks": checks, "note": note, "seconds": 1.5, "speed": speed}


def speed(percent, requests, **more):
    return {"percent": percent, "limit": "DRAM bandwidth", "requests": requests, **more}


class Reader(html.parser.HTMLParser):
    """The tags of a page, its attributes and its text; whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.cells, self.open = [], [], "", [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open[-1:] in (["td"], ["th"]):
            self.cells[-1] += data


def assert_alone(text):
    """A page is one file: nothing runs in it, and it loads nothing."""
    page = Reader(text)
    assert not {"script", "img", "link", "iframe", "object", "a"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href", "style")]
    assert ("url(" not in text and "@import" not in text
            and ("content", policy.content([class_pages.STYLE])) in page.attributes)
    assert "prefers-color-scheme: dark" in text and all(c.isprintable() or c == "\n" for c in text)
    return page


# ---- Statistics ------------------------------------------------------------------------------------------------

def test_statistics_of_a_class():
    rows = [("a", verdict((20, 80))),
            ("b", verdict((20, 30), "2 loads at 256 x 256; look at exercise.cu:31: bytes apart.")),
            ("c", verdict((20, 50), "3.5 loads at 448 x 192; look at mine.cu:7: bytes apart.")),
            ("d", verdict((0, 0), "Not right at 1 x 1 of float: a race.")),
            ("e", verdict((), note="does not compile: exercise.cu:3: error: x")),
            ("f", verdict((), note="line 4: asm: CUDA C++")), ("g", verdict((), note="no .cu file in it"))]
    page = assert_alone(class_pages.statistics_page(8, rows))
    assert "7 submissions. 4 were run, and 1 has all 100 points. Median 0, mean 31.4." in page.text
    at = page.cells.index("… loads at …; look at …: bytes apart.")
    assert page.cells[at - 3:at] == ["2", "", "cost"]
    for kind, name, reason in (("does not compile", "e", "does not compile: exercise.cu:3: error: x"),
                               ("refused", "f", "line 4: asm: CUDA C++"),
                               ("no submission, or not graded", "g", "no .cu file in it")):
        at = page.cells.index(reason)
        assert page.cells[at - 2:at] == [kind, name] and f"{kind}: 1" in page.text
    assert page.tags.count("svg") >= 4  # of the points, of each check, of each hint


def test_counts_of_a_histogram():
    assert class_pages.histogram([0, 9, 10, 55, 99, 100, 100], [*range(0, 100, 10), 100]) == {
        "0–9": 2, "10–19": 1, "20–29": 0, "30–39": 0, "40–49": 0, "50–59": 1, "60–69": 0, "70–79": 0, "80–89": 0,
        "90–99": 1, "100": 2}


@pytest.mark.variety
@pytest.mark.skipif(not CHROMIUM, reason=NEEDED)
def test_pages_of_a_class_fit_on_a_telephone(tmp_path):
    """A table scrolls, and not the page. The labels of the histogram stay larger than 9 pixels."""
    rows = [(f"name {i}", verdict((20, i), "2 loads at 256 x 256; look at exercise.cu:31: neighbours are bytes apart.",
                                  speed=speed(i, 3))) for i in range(40, 80)]
    shown_as = class_pages.pseudonyms([name for name, _ in rows], "seed")
    with opened() as browser:
        page = browser.new_page(viewport={"width": 400, "height": 800})
        for text in (class_pages.statistics_page(8, rows), class_pages.leaderboard(8, rows, shown_as)):
            path = tmp_path / "page.html"
            path.write_text(text)
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") == 400
            assert page.evaluate("""[...document.querySelectorAll("svg text")].every(text =>
                parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a > 9)""")


def test_a_class_without_a_submission_that_runs():
    assert_alone(class_pages.statistics_page(1, [("a", verdict((), note="no .cu file in it"))]))


# ---- Leaderboard -----------------------------------------------------------------------------------------------

def places(text):
    """[(place, name)]"""
    return re.findall(r'<tr><td class="number">(\d+)</td><td>([^<]*)</td>', text)


def test_the_fastest_is_first():
    rows = [("slow", verdict((20, 40), speed=speed(50.0, 4.0))), ("equal", verdict((20, 80), speed=speed(99.9, 4.0))),
            ("few requests", verdict((20, 80), speed=speed(99.9, 1.0))),
            ("also equal", verdict((20, 80), speed=speed(99.9, 4.0))), ("not right", verdict((0, 10))),
            ("Ada Lovelace_4711_assignsubmission_file_", verdict((20, 80), speed=speed(97.0, 4.0)))]
    text = class_pages.leaderboard(8, rows)
    assert places(text) == [("1", "few requests"), ("2", "also equal"), ("2", "equal"), ("4", "Ada Lovelace"),
                            ("5", "slow")]
    assert "not right" not in assert_alone(text).text and "measured" not in text
    # With a GPU, what was measured decides.
    measured = class_pages.leaderboard(8, [("modelled", verdict((20, 80), speed=speed(99.9, 1.0, measured=80.1))),
                                           ("faster", verdict((20, 80), speed=speed(97.0, 4.0, measured=93.2)))])
    assert places(measured) == [("1", "faster"), ("2", "modelled")] and "93.2" in Reader(measured).cells
    assert "No submission is right" in assert_alone(class_pages.leaderboard(8, rows[4:5])).text


def test_pseudonyms():
    """The same in every run, other ones for another seed, never twice, and the page does not hold the names."""
    names = [f"student {i}" for i in range(500)]
    given = class_pages.pseudonyms(names, "a seed")
    assert len(set(given.values())) == 500 and given == class_pages.pseudonyms(names[::-1], "a seed")
    alone = class_pages.pseudonyms(["student 7"], "a seed")["student 7"]
    assert alone == given["student 7"] and re.fullmatch(r"[a-z]+ [a-z]+ \d+", alone)
    assert sum(given[name] == other for name, other in class_pages.pseudonyms(names, "another").items()) < 5
    assert len(set(class_pages.COLOURS)) == len(set(class_pages.ANIMALS)) == 32
    text = class_pages.leaderboard(8, [(name, verdict((20, 80), speed=speed(99.0, 4.0))) for name in names[:50]], given)
    assert "student" not in text.replace("for students", "") and all(given[name] in text for name in names[:50])


def test_a_class_with_an_open_exercise(tmp_path):
    """As make grade does it: the table, the pages, the leaderboard and the exports, and Gradescope's own
    leaderboard."""
    folder, results = tmp_path / "class", tmp_path / "results"
    for name, text in {
            "Ada Lovelace_4711_assignsubmission_file_": wrong.solution(8).read_text(),
            "doejane_12345_678901_": wrong.handout(8).read_text(), "<b>nobody": "int x;\n"}.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "exercise08.cu").write_text(text)
    (folder / "copy/transpose/step07_long_pieces").mkdir(parents=True)
    for handout in ROOT.glob("step07_long_pieces/exercise*.cu"):
        shutil.copy(handout, folder / "copy/transpose/step07_long_pieces")
    done = run(sys.executable, ROOT / "lab/grade.py", folder, "--results", results, "--jobs", 2, "--exercise", "8",
               "--export", "moodle,canvas", "--pseudonyms", "s", "--seed", "3")
    assert done.returncode == 0, done.stderr
    with open(results / "lab08.csv", encoding="utf-8-sig", newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert {name: row["total"] for name, row in rows.items()} == {
        "Ada Lovelace_4711_assignsubmission_file_": "100", "doejane_12345_678901_": "20", "copy": "20",
        "<b>nobody": "0"}
    board = (results / "lab08.leaderboard.html").read_text()
    assert [name for _, name in places(board)] == [
        rows["Ada Lovelace_4711_assignsubmission_file_"]["pseudonym"],
        *sorted(rows[name]["pseudonym"] for name in ("copy", "doejane_12345_678901_"))]
    assert [place for place, _ in places(board)] == ["1", "2", "2"] and "Ada" not in board
    assert "<b>nobody" in assert_alone((results / "lab08.html").read_text()).cells
    assert "3 of 4 names are not as Moodle exports them" in done.stdout
    assert "3 of 4 names are not as Canvas" in done.stdout
    assert (results / "lab08.moodle.csv").is_file() and (results / "lab08.canvas.csv").is_file()
    with open(results / "lab08/Ada Lovelace_4711_assignsubmission_file_/results.json") as file:
        board = json.load(file)["leaderboard"]
    assert board[0]["value"] > 93 and board[1]["order"] == "asc"
    # The same shapes for everybody.
    with open(results / "lab08/copy/results.json") as one, open(
        results / "lab08/doejane_12345_678901_/results.json") as other:
        assert len({json.dumps({**json.load(file), "execution_time": 0}) for file in (one, other)}) == 1


# ---- Exports ---------------------------------------------------------------------------------------------------

ROWS = [("Ada Lovelace_4711_assignsubmission_file_", verdict((20, 30), "2 < 3 & <<<grid>>>")),
        ("Müller, Eva_12_assignsubmission_file_exercise", verdict((20, 80))),
        ("doejane_12345_678901_exercise", verdict((20, 80))),
        ("roejohn_LATE_99_100_exercise-1", verdict((0, 0), "wrong"))]


def parsed(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_moodle():
    """Its importer needs three columns by these names, and finds the person by the number behind `Participant `."""
    text, unknown = exports.moodle(4, ROWS)
    rows = parsed(text)
    assert list(rows[0]) == [
        "Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments"]
    assert [(row["Identifier"], row["Full name"], row["Grade"]) for row in rows] == [
        ("Participant 4711", "Ada Lovelace", "50"), ("Participant 12", "Müller, Eva", "100"), ("", ROWS[2][0], "100"),
        ("", ROWS[3][0], "0")]
    assert unknown == [name for name, _ in ROWS[2:]] and {row["Maximum Grade"] for row in rows} == {"100"}
    assert ([html.unescape(line) for line in rows[0]["Feedback comments"].split("<br>")]
            == ["20 / 20 right: ok", "30 / 80 cost: 2 < 3 & <<<grid>>>"])
    assert "<<<" not in rows[0]["Feedback comments"]


def test_canvas():
    """Its importer looks for Student, ID, SIS User ID, SIS Login ID and Section, in this order, and for the points in
    the second line."""
    text, unknown = exports.canvas(4, ROWS)
    rows = parsed(text)
    assert list(rows[0]) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Exercise 4"]
    assert rows[0]["Student"].strip() == "Points Possible" and rows[0]["Exercise 4"] == "100"
    assert ([(row["Student"], row["ID"], row["Exercise 4"]) for row in rows[3:]]
            == [("doejane", "12345", "100"), ("roejohn", "99", "0")])
    assert unknown == [name for name, _ in ROWS[:2]]


def test_the_other_system_is_no_error():
    """A class of Moodle has no numbers of Canvas, which is information. Names of neither are named."""
    moodle, canvas = ROWS[:2], ROWS[2:]
    names = [name for name, _ in moodle]
    said = exports.about("canvas", names, moodle)
    assert said.startswith("for information: 2 of 2 names come from Moodle.") and "EXPORT=moodle fits" in said
    assert exports.about("moodle", [name for name, _ in canvas], canvas).startswith("for information: 2 of 2 names")
    assert exports.about("moodle", ["ada", ROWS[2][0]], ROWS) == (
        f"2 of 4 names are not as Moodle exports them, so their rows have no number: ada, {ROWS[2][0]}")
    assert exports.about("moodle", [], moodle) == ""


# In the place of python3: it makes a .venv whose python writes what it is asked for, and takes a moment.
PYTHON = """#!/bin/sh
mkdir -p .venv/bin
printf '#!/bin/sh\\necho "$@" >> asked\\nsleep 0.5\\n' > .venv/bin/python
chmod +x .venv/bin/python
"""


def installing(folder):
    (folder / "bin").mkdir()
    (folder / "bin/python3").write_text(PYTHON)
    (folder / "bin/python3").chmod(0o755)
    (folder / "plots").mkdir()
    shutil.copy(ROOT / "plots/requirements.txt", folder / "plots")
    return lambda stamp, file: subprocess.Popen(
        ["sh", ROOT / "mk/packages.sh", stamp, file], cwd=folder, stdout=subprocess.PIPE, text=True,
        env={"PATH": f"{folder}/bin:/usr/bin:/bin"})


@pytest.mark.variety
def test_what_is_installed_is_said_before(tmp_path):
    """By make slides. Of two at once, one installs."""
    stamp, file, packages = ".venv/ready", "plots/requirements.txt", "markdown matplotlib numpy pygments"
    install = installing(tmp_path)
    both = [install(stamp, file) for _ in range(2)]
    said = sorted(one.communicate(timeout=60)[0] for one in both)
    assert [one.returncode for one in both] == [0, 0] and said[0] == "" and (tmp_path / stamp).exists()
    assert said[1].startswith(f"packages: installing {packages} and what they need into .venv")
    assert (tmp_path / "asked").read_text() == (
        f"-m pip install --quiet --disable-pip-version-check --no-compile -r {file}\n")


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_in_a_table_and_on_a_page(name):
    """One line per person, no formula, no element of theirs, nothing that cannot be printed."""
    rows = [(name, verdict((20, 30), name, speed=speed(50.0, 4.0))),
            ("b", verdict((), note=f"does not compile: {name}"))]
    for text in (exports.grades(rows, None), exports.moodle(8, rows)[0], exports.canvas(8, rows)[0]):
        lines = list(csv.reader(io.StringIO(text, newline="")))
        assert len({len(line) for line in lines}) == 1 and len(lines) in (3, 4)
        assert (all(c.isprintable() or c in "\r\n" for c in text)
                and not any(re.search("(^|[;\t])[=+@＝＋－＠-]", cell) for line in lines for cell in line))
        text.encode("utf-8")
    for text in (class_pages.statistics_page(8, rows), class_pages.leaderboard(8, rows)):
        page = assert_alone(text)
        assert exports.printable(name) in page.text and set(page.tags) <= set(
            "html head meta title style body h1 h2 p table thead tbody tr th td svg rect text "
            "line ul li".split())
        text.encode("utf-8")


def test_exports_that_there_are():
    assert_refused(run(sys.executable, ROOT / "lab/grade.py", ROOT, "--export", "blackboard"), 2, "--export blackboard",
                   "moodle, canvas, gradescope")
    made = run("make", "-n", "-C", ROOT, "NVCC=", "grade", "SUBMISSIONS=folder", "EXPORT=moodle",
               "PSEUDONYMS=secret")
    assert '--export "$EXPORT"' in made.stdout and '--pseudonyms "$PSEUDONYMS"' in made.stdout


# ---- The workflow for GitHub -----------------------------------------------------------------------------------

def test_commands_of_the_workflow(tmp_path):
    """In a packed hand-out, each of its commands, as GitHub runs them: for a solved exercise and for one that is
    not."""
    assert run(sys.executable, ROOT / "lab/pack.py", tmp_path / "packed.zip").returncode == 0
    with zipfile.ZipFile(tmp_path / "packed.zip") as archive:
        archive.extractall(tmp_path)
    student = tmp_path / "transpose"
    assert not (student / "lab/classroom.yml").exists() and not (student / "tests").exists()
    workflow = yaml.safe_load((student / ".github/workflows/classroom.yml").read_text())
    (job,) = workflow["jobs"].values()
    numbers = job["strategy"]["matrix"]["exercise"]
    assert [int(number) for number in numbers] == list(check.load_exercises().EXERCISES)
    assert job["env"] == {"EXERCISE": "${{ matrix.exercise }}"} and job["defaults"]["run"]["shell"] == "bash"
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert job["steps"][0]["uses"].startswith("actions/checkout@") and len(steps) == len(job["steps"]) - 1 >= 2
    shutil.copy(ROOT / "tests/lab/solutions/step04.cu", student / "step04_padding/exercise.cu")
    assert run("make", "-s", "build/commands/cxx", cwd=student).returncode == 0
    # what is built here serves there
    if (student / "build/commands/cxx").read_text() == (ROOT / "build/commands/cxx").read_text():
        copy_built(student, "lab")
        now = time.time()
        for file in (student / "build").rglob("*"):
            os.utime(file, (now, now))
    for number, status, words in (("04", 0, "100 / 100  in all"), ("02", 2, "20 / 100  in all")):
        summary = tmp_path / f"summary{number}"
        environment = {**os.environ, "EXERCISE": number, "GITHUB_STEP_SUMMARY": str(summary)}
        done = [
            subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command], cwd=student,
                           env=environment, capture_output=True, text=True) for command in steps]
        assert [d.returncode for d in done] == [0, status], [d.stdout + d.stderr for d in done]
        assert (words in summary.read_text()
                and all(line.startswith("    ") for line in summary.read_text().splitlines()))


# ---- The first minute ------------------------------------------------------------------------------------------

def test_one_check_is_enough_to_begin():
    """The hand-out begins with make lab04. It builds the checker alone, no step."""
    page = (ROOT / "lab/HANDOUT.md").read_text()
    assert re.search(r"```sh\n(.*?)```", page, re.DOTALL)[1].strip() == "make lab04"
    made = run("make", "-n", "-B", "-C", ROOT, "NVCC=", "lab04").stdout
    assert "check.py" in made and not re.search(r"step0\d_\w+/(?!exercise)", made), made
    assert "ends with an error" in check.report({"exercise": 4, "note": "", "checks": [], "model": "", "total": 20,
                                                  "of": 100})
