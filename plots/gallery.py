"""The gallery of published faults, as `./stepNN --errata` shows it."""

import functools
import re
import subprocess
from typing import NamedTuple

from pages import ROOT, STEPS

ENTRY = re.compile(r"(E\d+)  (\w+), (.*)\n((?:    .*\n)+)")
TEXT = re.compile(r"(Published: .*) caught(?: on (\d+) rows x (\d+) columns)?: (.*) corrected: (\w+): (.*)")


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


@functools.cache
def gallery():
    """All published faults, as Faults, step by step. Raises RuntimeError if a program is missing, or does not find its faults."""
    found = []
    for folder in STEPS:
        program = folder.split("_")[0]
        try:
            done = subprocess.run([ROOT / program, "--errata"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=120)
        except OSError as error:
            raise RuntimeError(f"{program}: {error.strerror}: run `make all` first") from error
        if done.returncode or done.stderr:
            raise RuntimeError(f"{program} --errata: {done.stderr or done.stdout[-300:]}")
        for id_, kernel, source, lines in ENTRY.findall(done.stdout):
            story, height, width, finding, corrected, verdict = TEXT.fullmatch(" ".join(lines.split())).groups()
            found.append(Fault(program, id_, kernel, source, story, (int(width), int(height)) if width else None, finding, corrected, verdict))
    return found
