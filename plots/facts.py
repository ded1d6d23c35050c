"""The list of lessons, common/lessons.csv, for pages, figures and tests. It needs no packages, and no program that is
built.

A new step is a folder and a row of that list. What a kernel produces and its row in the table of sources stand where
the kernel is registered; `./stepNN --list --csv FILE` writes them.
"""

import csv
import pathlib
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Lesson(NamedTuple):
    """step: the folder; kernel: its name; idea: in a line."""
    step: str
    kernel: str
    idea: str

    @property
    def program(self):
        """step04 of step04_padding."""
        return self.step.split("_")[0]

    @property
    def number(self):
        """4 of step04_padding."""
        return int(self.program.removeprefix("step"))


def _lessons():
    with (ROOT / "common/lessons.csv").open(encoding="utf-8", newline="") as file:
        return [Lesson(row["step"], row["kernel"], row["idea"]) for row in csv.DictReader(file)]


LESSONS = _lessons()
IDEAS = {lesson.kernel: lesson.idea for lesson in LESSONS}
PROGRAMS = {lesson.kernel: lesson.program for lesson in LESSONS}

# The way from step 4 to step 7: the kernels, and what each adds.
RUNGS = {
    "transposeNoBankConflicts": "step 4",
    "transposeLargeTile": "a larger tile",
    "transposeLoadsFirst": "all loads first",
    "transposeDownColumns": "blocks down the columns",
    "transposeLongPieces": "a warp per row",
}
