"""What the tests of the lab's grader share: a stand-in exercise, how it is called, and what it must leave alone."""

import csv
import os
import re
import sys
import tempfile

import pytest

from lessons import ROOT, run

sys.path[:0] = [str(ROOT / "lab")]
import check
import submission

STANDIN = ROOT / "tests/lab/standin"
SOLUTION = (STANDIN / "solution.cu").read_text()


class Trusting(check.Lab):
    """Judges neither text nor object."""

    def read(self, exercise, path):
        data = check.read_submission(path)
        return data, submission.without_kernel(data.decode("utf-8"), exercise), ""

    def judged(self, *_):
        return ""


def lab(file, *options):
    return run(sys.executable, ROOT / "lab/check.py", "04", "--exercises", STANDIN / "exercises.py", "--file", file,
               *options)


def grade(folder, results, *options):
    return run(sys.executable, ROOT / "lab/grade.py", folder, "--exercises", STANDIN / "exercises.py", "--exercise",
               "4", "--results", results, "--jobs", 2, *options)


def graded(results, number=4):
    """The lines of a class's table."""
    with open(results / f"lab{number:02}.csv", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


# Where tests build.
BUILT = {str(ROOT / "build" / name) for name in ("try", "tried", "mutants", "build")}


def everything():
    """Every file of the checkout, but for what make has for a moment, what the grader keeps, and where other tests
    build; and what lies about where anybody may write."""
    found = {}
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [
            f for f in folders
            if f not in (".git", ".venv", "__pycache__", ".pytest_cache") and os.path.join(folder, f) not in BUILT]
        for name in files:
            if re.fullmatch(r"(flags|commit)\b.*\.\d+|registers\d+(\.\d+)?", name):
                continue
            status = os.lstat(os.path.join(folder, name))
            found[os.path.join(folder, name)] = (status.st_size, status.st_mtime_ns, status.st_mode)
    for folder in ("/tmp", "/var/tmp", "/dev/shm", str(ROOT.parent), os.path.expanduser("~")):
        for name in os.listdir(folder):
            if "left_behind" in name:
                found[os.path.join(folder, name)] = None
    return found


@pytest.fixture
def untouched(tmp_path_factory, monkeypatch):
    """Nothing has changed in the checkout, and no private folder is left. They are made in a place of our own: others
    may be grading."""
    place = tmp_path_factory.mktemp("boxes")
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    before = everything()
    yield
    changed = sorted(name for name, _ in before.items() ^ everything().items())
    assert changed == [] and list(place.iterdir()) == [], f"{changed} changed; {list(place.iterdir())} is left"
