"""A class is graded: everybody has a line, in whatever way it was handed in, and nothing that somebody hands in stops the others."""

import json
import signal
import subprocess
import sys
import time
import zipfile

from conftest import assert_refused
from grading import SOLUTION, STANDIN, grade, graded, lab, untouched  # noqa: F401: a fixture
from lessons import ROOT, run


def test_grades_of_a_class(tmp_path, untouched):
    folder, results = tmp_path / "class", tmp_path / "results"
    handout = (STANDIN / "handout.cu").read_text()
    for i in range(12):
        own = folder / f"student{i:02}" / "step04_padding"
        own.mkdir(parents=True)
        (own / "exercise.cu").write_text([SOLUTION, handout, SOLUTION.replace("[TILE_DIM][TILE_DIM]", "[TILE_DIM][2 * TILE_DIM]"), "int x;\n"][i % 4])
    done = grade(folder, results)
    assert done.returncode == 0, done.stderr
    rows = graded(results)
    assert [(row["name"], row["right"], row["conflicts"], row["memory"], row["total"]) for row in rows[:4]] == [
        ("student00", "40", "40", "20", "100"), ("student01", "0", "0", "0", "0"), ("student02", "40", "40", "0", "80"), ("student03", "0", "0", "0", "0")]
    assert [bool(row["note"]) for row in rows[:4]] == [False, True, True, True]
    assert len(rows) == 12 and all(float(row["seconds"]) < 30 for row in rows)
    for row in rows:
        result = json.loads((results / "lab04" / row["name"] / "results.json").read_text())
        assert result["score"] == int(row["total"]) == sum(test["score"] for test in result["tests"])
        assert isinstance(result["output"], str) and isinstance(result["execution_time"], float)
        assert [set(test) for test in result["tests"]] == [{"name", "score", "max_score", "output", "output_format"}] * 3
        assert sum(test["max_score"] for test in result["tests"]) == 100


def test_nobody_is_lost(tmp_path, untouched):
    """However a course hands over what was handed in: everybody has a line."""
    folder, results = tmp_path / "class", tmp_path / "results"
    places = {"flat": "exercise.cu", "step": "step04/exercise.cu", "github": "transpose-main/step04_padding/exercise.cu", "lab": "Lab 4/exercise.cu",
              "again": "exercise (2).cu", "renamed": "my kernel.cu", "named": "step04.cu", "=sum": "exercise.cu", "Müller": "exercise.cu"}
    for name, place in places.items():
        (folder / name / place).parent.mkdir(parents=True)
        (folder / name / place).write_text("\ufeff" + SOLUTION)
    (folder / "github/transpose-main/step04_padding/step04.cu").write_text("not it")
    (folder / "github/transpose-main/step05_decomposed").mkdir()
    (folder / "github/transpose-main/step05_decomposed/exercise.cu").write_text("another one")
    (folder / "single.cu").write_text(SOLUTION)
    (folder / "empty").mkdir()
    (folder / "other/step05").mkdir(parents=True)
    (folder / "other/step05/exercise.cu").write_text(SOLUTION)
    for place in ("two/step04", "two/step04_padding"):
        (folder / place).mkdir(parents=True)
        (folder / place / "exercise.cu").write_text(SOLUTION)
    (folder / "twice").mkdir()
    (folder / "twice.cu").write_text(SOLUTION)
    (folder / "utf16.cu").write_text(SOLUTION, encoding="utf-16")
    (folder / "._single.cu").write_text("of a Mac")
    (folder / "notes.txt").write_text("no submission")
    done = grade(folder, results)
    assert done.returncode == 0 and "4 of them without a submission" in done.stdout, done.stdout + done.stderr
    rows = {row["name"].lstrip("'"): row for row in graded(results)}
    assert {name for name, row in rows.items() if row["total"] == "100"} == {*places, "single"}
    assert {name: row["note"].rsplit("/", 1)[-1] for name, row in rows.items() if row["total"] != "100"} == {
        "empty": "no file of this exercise in it", "other": "exercise.cu", "two": "exercise.cu", "twice": "both a folder and a file: twice, twice.cu",
        "utf16": "utf16.cu: in UTF-16; save it as UTF-8"}
    assert rows["two"]["note"] == "several files: step04/exercise.cu, step04_padding/exercise.cu"
    assert rows["other"]["note"] == "no file of this exercise in it; there is step05/exercise.cu"


def test_one_submission_for_gradescope(tmp_path, untouched):
    """As lab/gradescope/run_autograder does: whatever was handed in, there is a results.json."""
    (tmp_path / "submission").mkdir()
    out = tmp_path / "results.json"
    for files, score, words in [({}, 0, "no file"), ({"exercise.cu": SOLUTION}, 100, "100 of 100"), ({"exercise.cu": SOLUTION, "more/exercise.cu": ""}, 0, "several")]:
        for name, text in files.items():
            (tmp_path / "submission" / name).parent.mkdir(exist_ok=True)
            (tmp_path / "submission" / name).write_text(text)
        assert grade(tmp_path / "submission", tmp_path / "results", "--one", out).returncode == 0
        result = json.loads(out.read_text())
        assert result["score"] == score and words in result["output"]


def test_what_is_packed(tmp_path):
    """The solutions are not."""
    out = tmp_path / "packed.zip"
    for options, prefix in ([], "transpose/"), (["--gradescope", "4"], ""):
        done = run(sys.executable, ROOT / "lab/pack.py", out, *options)
        assert done.returncode == 0, done.stderr
        with zipfile.ZipFile(out) as archive:
            names = archive.namelist()
        assert f"{prefix}Makefile" in names and f"{prefix}step04_padding/exercise.cu" in names
        assert not [name for name in names if "tests/" in name]
        assert ("run_autograder" in names) == ("setup.sh" in names) == ("exercise" in names) == bool(options)
    assert_refused(run(sys.executable, ROOT / "lab/pack.py", out, "--gradescope", ""), 2, "exercise ")


def test_interrupted(tmp_path, untouched):
    """What was graded until then is kept, and nothing goes on running."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    (folder / "a.cu").write_text(SOLUTION)
    for name in "bcd":
        (folder / f"{name}.cu").write_text(SOLUTION.replace("    __syncthreads();\n", "    for (unsigned i = 1; i; ++i) if (i * i == 3) break;\n"))
    process = subprocess.Popen([sys.executable, ROOT / "lab/grade.py", folder, "--exercises", STANDIN / "exercises.py", "--exercise", "4", "--results", results],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "a: lab04: 100 / 100" in process.stdout.readline()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    said, errors = process.communicate()
    assert process.returncode == 130 and errors == "" and "interrupted: " in said and time.monotonic() - start < 5
    assert graded(results)[0]["total"] == "100"


def test_bad_input(tmp_path):
    assert_refused(lab(tmp_path / "missing.cu"), 2, "missing.cu", "No such file")
    assert_refused(lab(tmp_path), 2, "not a file")
    assert_refused(lab("/dev/zero"), 2, "not a file")
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "9", "--exercises", STANDIN / "exercises.py"), 2, "exercise 9", "04")
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "4", "--exercises", tmp_path / "none.py"), 2, "none.py")
    assert_refused(grade(tmp_path / "missing", tmp_path / "results"), 2, "folder of submissions")
    assert_refused(grade("", tmp_path / "results"), 2, "SUBMISSIONS=")
    assert_refused(grade(tmp_path, tmp_path / "results"), 2, "no submissions")
    assert_refused(grade(tmp_path, tmp_path / "results", "--jobs", 0), 2, "--jobs 0")
    (tmp_path / "points.py").write_text((STANDIN / "exercises.py").read_text() + "EXERCISES[4].checks.pop()\n")
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "4", "--exercises", tmp_path / "points.py"), 2, "exercise 4 is worth 80 points")
    (tmp_path / "class").mkdir()
    (tmp_path / "class/a.cu").write_text(SOLUTION)
    assert_refused(grade(tmp_path / "class", "/dev/null/results"), 2, "/dev/null")
