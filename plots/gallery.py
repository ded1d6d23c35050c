"""The gallery of published faults, as `./stepNN --errata` shows it."""

import csv
import functools
import pathlib
import subprocess
import tempfile
from typing import NamedTuple

from outside import printable
from pages import ROOT, STEPS


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
    """The Faults of one program, from the table that it writes. Raises RuntimeError if it is missing, or does not find
    its faults."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "errata.csv")
        try:
            done = subprocess.run([ROOT / program, "--errata", "--csv", table], cwd=ROOT, stdin=subprocess.DEVNULL,
                                  capture_output=True, encoding="utf-8", errors="replace", timeout=120)
        except OSError as error:
            raise RuntimeError(f"{program}: {error.strerror}: run `make all` first") from error
        if done.returncode or done.stderr:
            raise RuntimeError(f"{program} --errata: {printable((done.stderr or done.stdout[-300:]).strip())}")
        with table.open(encoding="utf-8", newline="") as lines:
            return [
                Fault(program, row["id"], row["kernel"], row["source"], row["story"],
                      (int(row["width"]), int(row["height"])) if row["width"] else None, row["finding"],
                      row["corrected"], row["verdict_on_corrected"]) for row in csv.DictReader(lines)]


@functools.cache
def gallery():
    """All published faults, as Faults, step by step. Raises RuntimeError as faults_of() does."""
    return [fault for folder in STEPS for fault in faults_of(folder.split("_")[0])]
