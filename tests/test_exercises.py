"""The lab's exercises: hand-outs fail, solutions get full points, and wrong solutions lose exactly what they should, with the right hint."""

import concurrent.futures
import csv
import os
import re
import sys

import pytest

from lessons import ROOT

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import check  # noqa: E402: after its folder is known
import wrong  # noqa: E402

EXERCISES = check.load_exercises().EXERCISES
NUMBERS = list(range(1, 8))


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """{(name, exercise): verdict} of every submission; a few at a time."""
    files, lab = wrong.write_class(tmp_path_factory.mktemp("class")), check.Lab()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(files, pool.map(lambda key: lab.check(EXERCISES[key[1]], files[key]), files)))


def test_every_exercise_is_whole():
    assert list(EXERCISES) == NUMBERS and len(list(ROOT.glob("step*/exercise.cu"))) == len(NUMBERS)
    for exercise in EXERCISES.values():
        assert len({c.name for c in exercise.checks}) == len(exercise.checks)
        assert len({w.name for w in wrong.WRONG if w.exercise == exercise.number}) >= 8
        shapes = {(w, h) for c in exercise.checks for w, h, _, _ in c.runs}
        assert len(shapes) >= 12 and {type_ for c in exercise.checks for _, _, type_, _ in c.runs} == {"float", "double"}


@pytest.mark.parametrize("number", NUMBERS)
def test_handout_fails_with_a_hint(number, verdicts):
    verdict, text = verdicts["handed_out", number], wrong.handout(number).read_text()
    assert not verdict["note"] and verdict["total"] <= 45
    assert all(c["hint"] and "\n" not in c["hint"] for c in verdict["checks"] if c["points"] == 0)
    assert f"make lab{number:02}" in text and text.count("#include") == 1


@pytest.mark.parametrize("number", NUMBERS)
def test_solution_gets_full_points(number, verdicts):
    assert verdicts["solved", number]["total"] == 100, verdicts["solved", number]


@pytest.mark.parametrize("submission", wrong.WRONG, ids=lambda w: f"{w.exercise}_{w.name}")
def test_wrong_solution_loses_what_it_should(submission, verdicts):
    verdict = verdicts[submission.name, submission.exercise]
    assert verdict["total"] <= (55 if submission.name == "copied_lesson" else 95)
    lost = {c["name"]: verdict["note"] or c["hint"] for c in verdict["checks"] if c["points"] == 0}
    assert set(lost) == set(submission.loses.split(", ")), (verdict["note"], lost)
    assert any(submission.hint in hint for hint in lost.values()), lost


def test_guide_says_what_they_are_worth(verdicts):
    """What is handed out, the step's own kernel pasted in, and what is tried first."""
    table = re.findall(r"^\| (\d) \| ([\w, ]+) \| (\d+) \| (\d+) \| (\d+) \|$", (ROOT / "lab/README.md").read_text(), re.MULTILINE)
    assert [int(row[0]) for row in table] == NUMBERS
    for row in table:
        number, handed_out, pasted, solved = (int(row[i]) for i in (0, 2, 3, 4))
        most = max(c.points for c in EXERCISES[number].checks)
        assert row[1] == ", ".join(c.name for c in EXERCISES[number].checks if c.points == most)
        assert [verdicts[name, number]["total"] for name in ("handed_out", "copied_lesson", "solved")] == [handed_out, pasted, solved]
    # And the usual first attempts at exercise 4.
    said = re.findall(r"\((\d+)[ :]", re.search(r"^The usual first attempts.*?\n\n", (ROOT / "lab/README.md").read_text(), re.MULTILINE | re.DOTALL)[0])
    assert [int(points) for points in said] == [verdicts[name, 4]["total"] for name in ("padded", "swizzled_by_row", "filled_only", "leaves_its_row")]


def test_guide_says_what_they_reach_on_a_card():
    with open(ROOT / "tests/data/h200_lab.csv") as file:
        measured = [(row["exercise"], row["submission"], f"{row['bandwidth_percent_of_memcpy']} %" if row["bandwidth_percent_of_memcpy"] else "wrong")
                    for row in csv.DictReader(file)]
    table = re.findall(r"^\| (\d) \| ([\d.]+ %|wrong) \| ([\d.]+ %) \|$", (ROOT / "lab/README.md").read_text(), re.MULTILINE)
    assert [(n, *said) for n, *both in table for said in zip(("handed out", "solved"), both)] == measured and len(table) == len(NUMBERS)
