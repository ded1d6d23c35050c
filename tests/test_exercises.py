"""The lab's exercises: hand-outs fail, solutions get full points, and wrong solutions lose exactly what they should, with the right hint."""

import concurrent.futures
import os
import re
import sys

import pytest

from lessons import ROOT

sys.path.insert(0, str(ROOT / "lab"))
import check  # noqa: E402: after its folder is known
import exercises  # noqa: E402

HANDOUTS = sorted(ROOT.glob("step*/exercise.cu"))
SOLUTIONS = sorted((ROOT / "tests/lab/solutions").glob("*.cu"))
WRONG = sorted((ROOT / "tests/lab/wrong").glob("*.cu"))


def number(path):
    return int(re.search(r"step(\d\d)", str(path.relative_to(ROOT))).group(1))


@pytest.fixture(scope="module")
def verdicts():
    """Of every file, by path; a few at a time."""
    lab = check.Lab(check.load_exercises())
    paths = HANDOUTS + SOLUTIONS + WRONG
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(paths, pool.map(lambda path: lab.check(exercises.EXERCISES[number(path)], path), paths)))


def test_every_exercise_is_whole():
    assert list(exercises.EXERCISES) == [number(path) for path in HANDOUTS] == [number(path) for path in SOLUTIONS] == list(range(1, 8))
    for exercise in exercises.EXERCISES.values():
        assert sum(c.points for c in exercise.checks) == 100 and len({c.name for c in exercise.checks}) == len(exercise.checks)
        assert sum(number(path) == exercise.number for path in WRONG) >= 8
        shapes = {(w, h) for c in exercise.checks for w, h, _, _ in c.runs}
        assert len(shapes) >= 12 and {type_ for c in exercise.checks for _, _, type_, _ in c.runs} == {"float", "double"}


@pytest.mark.parametrize("path", HANDOUTS, ids=lambda path: path.parent.name)
def test_handout_fails_with_a_hint(path, verdicts):
    verdict = verdicts[path]
    assert not verdict["note"] and verdict["total"] < 100
    assert all(c["hint"] and "\n" not in c["hint"] for c in verdict["checks"] if c["points"] == 0)
    assert f"make lab{number(path):02}" in path.read_text() and path.read_text().count("#include") == 1


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_solution_gets_full_points(path, verdicts):
    assert verdicts[path]["total"] == 100, verdicts[path]


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_wrong_solution_loses_what_it_should(path, verdicts):
    text, verdict = path.read_text(), verdicts[path]
    due = set(re.search(r"^// loses: (.*)", text, re.MULTILINE).group(1).split(", "))
    lost = {c["name"]: verdict["note"] or c["hint"] for c in verdict["checks"] if c["points"] == 0}
    assert set(lost) == due, (verdict["note"], lost)
    words = re.search(r"^// hint: (.*)", text, re.MULTILINE).group(1)
    assert any(words in hint for hint in lost.values()), lost
