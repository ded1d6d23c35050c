"""The gallery of published faults, as `./stepNN --errata` shows it."""

import functools
from typing import NamedTuple

import simulated
from pages import STEPS


class Fault(NamedTuple):
    """program: step02; kernel: or the check or the method; shape: width and height of a matrix that shows it, or None;
    finding: what the check says of it; corrected: the twin, and what all checks say of that."""
    program: str
    id: str
    kernel: str
    source: str
    story: str
    shape: tuple
    finding: str
    corrected: str
    verdict: str


def faults_of(program):
    """The Faults of one program, from the table that it writes. RuntimeError: it is missing, or does not find its
    faults."""
    _, rows = simulated.rows(program, "--errata")
    return [Fault(program, row["id"], row["kernel"], row["source"], row["story"],
                  (int(row["width"]), int(row["height"])) if row["width"] else None, row["finding"], row["corrected"],
                  row["verdict_on_corrected"]) for row in rows]


@functools.cache
def gallery():
    """All published faults, as Faults, step by step. RuntimeError as faults_of() raises it."""
    return [fault for folder in STEPS for fault in faults_of(folder.split("_")[0])]
