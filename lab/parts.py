"""The parts of an exercise. A file of exercises (lab/exercises.py, or another) defines them, and lab/check.py runs
them. And what both say of a run that has no result."""

import re
from dataclasses import dataclass, field
from typing import Callable, List, Optional, Tuple

Key = Tuple[int, int, str, str]  # width, height, type, machine: h200, or several of them: "4 x t4"


def brief(note):
    """A note in one line: the reader's may have several."""
    first, *others = note.split("\n")
    return f"{first} (and {len(others)} more)" if others else first


def gpus_of(machine):
    """(the number of GPUs, or None where the machine names one; the name of one)."""
    several = re.fullmatch(r"(\d+) x (\w+)", machine or "")
    return (int(several[1]), several[2]) if several else (None, machine)


@dataclass
class Finding:
    """Something that was reported as wrong. Points follow from its kind and its members, and never from its text."""
    kind: str  # of common/base/finding_kinds.h; '' of a message of a program that ended without a report
    text: str  # for people, with the kernel in front
    costs_points: bool = False      # even where the result is right
    in_shared_memory: bool = False  # of a race
    # of a wrong result: {"element": [row, column] of the first one, "expected": of the one of idata that belongs there}
    wrong: Optional[dict] = None


@dataclass
class Run:
    """The result of `--kernel NAME --size WxH --type T --machine M [--gpus G] --explain --json FILE`."""
    width: int
    height: int
    type: str
    machine: str
    row: Optional[dict]   # the columns of a CSV file; None if there was no verified result
    findings: List[Finding]
    explain: str          # its tables and explanations, for people
    status: object        # exit status; negative: the signal that ended it; or timeout, memory, killed
    accesses: List[dict] = field(default_factory=list)  # the loads and stores of the kernel (common/account.h)

    @property
    def gpus(self):
        return gpus_of(self.machine)[0]

    @property
    def shape(self):
        on = "" if self.gpus is None else f" on {self.gpus} GPU{'s'[:self.gpus != 1]}"
        return f"{self.width} x {self.height}{on}"


MOST_TEXT = 600  # characters of a finding
STOPPED = {
    "timeout": "stopped at its time limit; check that every loop ends",
    "memory": "stopped at its memory limit",
    "killed": "it crashed",
}


def ending(status):
    """How a run ended that has neither a result nor a finding: what a person can do about it, and never a bare
    number."""
    if status in STOPPED:
        return STOPPED[status]
    if status == 0:
        return "it ended before it had a result; run the check again, and tell your instructor if this repeats"
    return (f"it ended with exit status {status} and said no more; run the check again, and tell your instructor if "
            "this repeats")


def said(line, type_):
    """A finding without the kernel's name, with file names without folders, and with the numbers of elements next to
    bytes and instead of their values. A name in it may be as long as a submission, so it is cut."""
    line = line[:MOST_TEXT]
    line = re.sub(r"(?:[\w.~+-]*/)+([\w.-]+:\d+)", r"\1", re.sub(r"^\w+: (?=[\w -]+[:,]? )", "", line, count=1))
    line = re.sub(r"(expected|found) \S+ \[0x\w+\] \((idata row \d+, column \d+)\)", r"\1 \2", line)
    line = re.sub(r", found \S+ \[0x\w+\] \(never written\)", "; it was never written", line)
    line = re.sub(r"found \S+ \[0x\w+\] \(no element of the input\)",
                  "found a value that is no element of idata; check that tile and variables have the type T", line)
    return re.sub(r"\bbyte (-?\d+)",
                  lambda byte: f"{byte[0]} ({type_} number {int(byte[1]) // (8 if type_ == 'double' else 4)})", line,
                  count=1)


@dataclass
class Check:
    """Something that earns points."""
    name: str
    points: int
    what: str                      # one sentence, for students
    runs: List[Key]                # the runs that judge examines
    # of {key: Run}: (the share of the points, 0 to 1; one sentence that names what is missed, or '')
    judge: Callable[[dict], tuple]
    # of the cost: a check of the result that may fail, and those that its fault makes fail; this one still earns all
    # of its points
    despite: Tuple[str, ...] = ()


@dataclass
class Limit:
    """A condition that divides the points for cost where it is exceeded."""
    runs: List[Key]
    judge: Callable[[dict], tuple]  # of {key: Run}: (1, '') where it is kept, else (a larger number, one sentence)


def at_least(percent, wanted):
    return float(percent >= wanted)


@dataclass
class Exercise:
    number: int
    step: str            # the folder of its hand-out
    kernel: str          # the one that must be registered; no other counts
    produces: str        # copy, transpose or tile-local transpose: what --show expects
    registers: str       # the word for it in the KERNEL line, which a submission must not change
    right: Callable      # of the seed for the shapes that students do not know: the checks of the result
    costs: Callable      # of the same seed: the checks of the cost
    limits: Callable     # of the same seed: the limits
    file: str = "exercise.cu"         # the hand-out's name in that folder
    # of a bandwidth measured on a GPU and the one asked for, both in percent: the share of the points
    earned: Callable = at_least
    # of a kernel for several GPUs, which runs on the simulator alone: so many for --show
    gpus: Optional[int] = None
