"""What a lecturer gets about a class: statistics, exports to course systems, and a workflow for GitHub."""

import csv
import html
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile

import pytest
import yaml

from conftest import assert_refused, needs_git
from lessons import ROOT, copy_built, run

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import check
import class_pages
import exports
import policy

HOSTILE = [
    "<script>alert(1)</script>", "</td></table>\"'><img src=x onerror=alert(1)>", "=1+1", "@SUM(A1)", "-rf",
    "red\x1b[31m", "new\nline", "caf\udce9", "a,b;c\"d", "&amp;", "\u202eabc", "]]>", "", "\x00", "a;=1+1",
    "＝1+1"]


def verdict(points, hint="", note=""):
    """Of two checks, as check.verdict_of gives it; points: of each, or () with a note."""
    checks = [{"name": name, "what": f"What <{name}> asks.", "points": p, "of": of, "hint": "" if p == of else hint}
              for (name, of), p in zip((("right", 20), ("cost", 80)), points or (0, 0))]
    return {"exercise": 8, "total": sum(points), "of": 100, "checks": checks, "note": note, "seconds": 1.5}


class Reader(html.parser.HTMLParser):
    """The tags of a page, its text and its cells; every tag is closed, nothing runs in it, and it loads nothing."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.cells, self.open = [], "", [], []
        self.feed(text)
        self.close()
        assert self.open == [] and policy.content([class_pages.STYLE]) in text and "url(" not in text
        assert all(c.isprintable() or c == "\n" for c in text)

    def handle_starttag(self, tag, attributes):
        assert {name for name, _ in attributes} <= {"charset", "name", "content", "http-equiv", "lang", "value", "max"}
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open[-1:] in (["td"], ["th"]):
            self.cells[-1] += data


# ---- Statistics ------------------------------------------------------------------------------------------------

def test_statistics_of_a_class():
    rows = [("a", verdict((20, 80))),
            ("b", verdict((20, 30), "2 loads at 256 x 256; look at exercise.cu:31: bytes apart.")),
            ("c", verdict((20, 50), "3.5 loads at 448 x 192; look at mine.cu:7: bytes apart.")),
            ("d", verdict((0, 0), "Not right at 1 x 1 of float: a race.")),
            ("e", verdict((), note="does not compile: exercise.cu:3: error: x")),
            ("f", verdict((), note="line 4: asm: CUDA C++")), ("g", verdict((), note="no .cu file in it"))]
    page = Reader(class_pages.statistics_page(8, rows))
    assert "7 submissions. 4 were run, and 1 has all 100 points. Median 0, mean 31.4." in page.text
    at = page.cells.index("… loads at …; look at …: bytes apart.")
    assert page.cells[at - 3:at] == ["2", "", "cost"]
    for kind, name, reason in (("does not compile", "e", "does not compile: exercise.cu:3: error: x"),
                               ("refused", "f", "line 4: asm: CUDA C++"),
                               ("no submission", "g", "no .cu file in it")):
        at = page.cells.index(reason)
        assert page.cells[at - 2:at] == [kind, name] and f"{kind}: 1" in page.text
    assert page.tags.count("meter") == 11 + 3  # of the points and of the hints


def test_counts_of_a_histogram():
    assert class_pages.histogram([0, 9, 10, 55, 99, 100, 100], [*range(0, 100, 10), 100]) == {
        "0–9": 2, "10–19": 1, "20–29": 0, "30–39": 0, "40–49": 0, "50–59": 1, "60–69": 0, "70–79": 0, "80–89": 0,
        "90–99": 1, "100": 2}


def test_a_class_without_a_submission_that_runs():
    Reader(class_pages.statistics_page(1, [("a", verdict((), note="no .cu file in it"))]))


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


NONE = check.ungraded(8, "TMPDIR=/tmp/of/the/lecturer is full")


def test_no_grade_is_not_0_points():
    """Moodle's importer skips an empty grade. Canvas's would delete the grade that is there, and leaves those without a
    row alone. Neither gets a reason, which is about the lecturer's machine."""
    rows = [*ROWS[:1], (ROWS[1][0], NONE), (ROWS[2][0], NONE)]
    assert [row["total"] for row in parsed(exports.grades(rows))] == ["50", "", ""]
    assert [row["needs you"] for row in parsed(exports.grades(rows))] == ["", "yes", "yes"]
    moodle, canvas = exports.moodle(8, rows)[0], exports.canvas(8, rows)[0]
    assert [row["Grade"] for row in parsed(moodle)] == ["50", "", ""] and "TMPDIR" not in moodle + canvas
    assert len(parsed(canvas)) == 2
    page = Reader(class_pages.statistics_page(8, rows))
    assert "Median 50, mean 50.0." in page.text and "not graded: 2" in page.text


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_in_a_table_and_on_a_page(name):
    """One line per person, no formula, no element of theirs, nothing that cannot be printed."""
    rows = [(name, verdict((20, 30), name)),
            ("b", verdict((), note=f"does not compile: {name}"))]
    for text in (exports.grades(rows), exports.moodle(8, rows)[0], exports.canvas(8, rows)[0]):
        lines = list(csv.reader(io.StringIO(text, newline="")))
        assert len({len(line) for line in lines}) == 1 and len(lines) in (3, 4)
        assert (all(c.isprintable() or c in "\r\n" for c in text)
                and not any(re.search("(^|[;\t])[=+@＝＋－＠-]", cell) for line in lines for cell in line))
        text.encode("utf-8")
    page = Reader(class_pages.statistics_page(8, rows))
    assert exports.printable(name) in page.text
    assert set(page.tags) <= set("html head meta title style body h1 h2 p table tr th td meter".split())


def test_exports_that_there_are():
    assert_refused(run(sys.executable, ROOT / "lab/grade.py", ROOT, "--export", "blackboard"), 2, "--export blackboard",
                   "moodle, canvas, gradescope")
    made = run("make", "-n", "-C", ROOT, "NVCC=", "grade", "SUBMISSIONS=folder", "EXPORT=moodle")
    assert '--export "$EXPORT"' in made.stdout


@pytest.mark.variety
def test_what_is_installed_is_said_before(tmp_path):
    """By make slides. Of two at once, one installs. In the place of python3 is a program that takes a moment."""
    for name in ("bin", "plots"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin/python3").write_text(
        "#!/bin/sh\nmkdir -p .venv/bin\nprintf '#!/bin/sh\\necho \"$@\" >> asked\\nsleep 0.5\\n' > .venv/bin/python\n"
        "chmod +x .venv/bin/python\n")
    (tmp_path / "bin/python3").chmod(0o755)
    shutil.copy(ROOT / "plots/requirements.txt", tmp_path / "plots")
    both = [subprocess.Popen(["sh", ROOT / "mk/packages.sh", ".venv/ready", "plots/requirements.txt"], cwd=tmp_path,
                             stdout=subprocess.PIPE, text=True, env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
            for _ in range(2)]
    said = sorted(one.communicate(timeout=60)[0] for one in both)
    assert [one.returncode for one in both] == [0, 0] and said[0] == "" and (tmp_path / ".venv/ready").exists()
    assert said[1].startswith("packages: installing ") and (tmp_path / "asked").read_text().count("\n") == 1


def built_here(copy):
    """What is built here serves in a copy, too, if the compiler is the same."""
    assert run("make", "-s", "build/commands/cxx", cwd=copy).returncode == 0
    if (copy / "build/commands/cxx").read_text() == (ROOT / "build/commands/cxx").read_text():
        copy_built(copy, "lab")
        now = time.time()
        for file in (copy / "build").rglob("*"):
            os.utime(file, (now, now))


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
    built_here(student)
    for number, status, words in (("04", 0, "100 / 100  in all"), ("02", 2, "20 / 100  in all")):
        summary = tmp_path / f"summary{number}"
        environment = {**os.environ, "EXERCISE": number, "GITHUB_STEP_SUMMARY": str(summary)}
        done = [
            subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command], cwd=student,
                           env=environment, capture_output=True, text=True) for command in steps]
        assert [d.returncode for d in done] == [0, status], [d.stdout + d.stderr for d in done]
        assert (words in summary.read_text()
                and all(line.startswith("    ") for line in summary.read_text().splitlines()))


# ---- Gradescope -------------------------------------------------------------------------------------------------

def test_the_autograder_as_gradescope_runs_it(tmp_path):
    """Its layout is documented: setup.sh once and run_autograder for each submission, from /autograder/source, with the
    files in /autograder/submission; the result is /autograder/results/results.json. Without one, which a fault of the
    machine leaves, Gradescope tells the instructor."""
    needs_git()
    assert run(sys.executable, ROOT / "lab/pack.py", tmp_path / "packed.zip", "--gradescope", "4").returncode == 0
    source = tmp_path / "source"
    with zipfile.ZipFile(tmp_path / "packed.zip") as archive:
        archive.extractall(source)
    built_here(source)
    for name in ("submission", "results", "bin"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin/apt-get").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/installed\n')
    (tmp_path / "bin/apt-get").chmod(0o755)
    environment = {**os.environ, "AUTOGRADER": str(tmp_path), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    done = run("bash", source / "setup.sh", env=environment)
    assert done.returncode == 0 and "install -y" in (tmp_path / "installed").read_text(), done.stderr
    result = tmp_path / "results/results.json"
    for files, limit, score in (({}, "true", 0), ({"exercise.cu": "int sim;"}, "true", 0),
                                ({"exercise.cu": (ROOT / "tests/lab/solutions/step04.cu").read_text()}, "true", 100),
                                ({}, "ulimit -v 500000", None)):
        for name, text in files.items():
            (tmp_path / "submission" / name).write_text(text)
        result.unlink(missing_ok=True)
        done = run("bash", "-c", f"{limit}; exec bash {source}/run_autograder", env=environment)
        assert result.exists() == (score is not None) == (done.returncode == 0), done.stderr
        if score is not None:
            told = json.loads(result.read_text())
            assert told["score"] == score and set(told) <= {
                "score", "execution_time", "output", "output_format", "test_output_format", "test_name_format",
                "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard"}


# ---- The first minute ------------------------------------------------------------------------------------------

def test_one_check_is_enough_to_begin():
    """The hand-out begins with make lab04. It builds the checker alone, no step."""
    page = (ROOT / "lab/HANDOUT.md").read_text()
    assert re.search(r"```sh\n(.*?)```", page, re.DOTALL)[1].strip() == "make lab04"
    made = run("make", "-n", "-B", "-C", ROOT, "NVCC=", "lab04").stdout
    assert "check.py" in made and not re.search(r"step0\d_\w+/(?!exercise)", made), made
    assert "ends with an error" in check.report({"exercise": 4, "note": "", "checks": [], "model": "", "total": 20,
                                                  "of": 100})
