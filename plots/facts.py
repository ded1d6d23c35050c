"""Lists that programs and pages share: of lessons, common/lessons.csv, and of Nsight Compute's metrics,
plots/ncu_metrics.csv. This file needs no packages, and no program that is built.

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


class NcuMetric(NamedTuple):
    """column: its name in tests/data, if it has one; metric: Nsight Compute's name; count: the simulator's count that
    it is a part of, or nothing; way: the number of the sum, of several that are the same count; since: the first
    compute capability that has it, or nothing."""
    column: str
    metric: str
    count: str
    way: str
    since: str


def _metrics():
    with (ROOT / "plots/ncu_metrics.csv").open(encoding="utf-8", newline="") as file:
        return [NcuMetric(**{name: row[name] for name in NcuMetric._fields}) for row in csv.DictReader(file)]


NCU = _metrics()
METRICS = {row.column: row.metric for row in NCU if row.column}  # Nsight Compute's name for each column of tests/data

# The way from step 4 to step 7: the kernels, and what each adds.
RUNGS = {
    "transposeNoBankConflicts": "step 4",
    "transposeLargeTile": "a larger tile",
    "transposeLoadsFirst": "all loads first",
    "transposeDownColumns": "blocks down the columns",
    "transposeLongPieces": "a warp per row, two columns at once",
}
