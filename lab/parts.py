"""What an exercise is made of: files of exercises (lab/exercises.py, or one's own) say it, and lab/check.py runs it."""

from dataclasses import dataclass
from typing import Callable, List, Optional, Tuple

Key = Tuple[int, int, str, str]  # width, height, type, machine


@dataclass
class Run:
    """What `--kernel NAME --size WxH --type T --machine M --explain --csv FILE` did."""
    width: int
    height: int
    type: str
    machine: str
    row: Optional[dict]   # of the CSV file; None if there was no verified result
    findings: List[str]   # the lines on stderr, without the program's name
    explain: str          # what it printed on stdout
    status: object        # exit status; negative: the signal that ended it; or timeout, memory, killed

    @property
    def shape(self):
        return f"{self.width} x {self.height}"


@dataclass
class Check:
    """Something that earns points."""
    name: str
    points: int
    what: str                      # one sentence, for students
    runs: List[Key]                # those that judge looks at
    judge: Callable[[dict], tuple]  # of {key: Run}: (the share of the points that is earned, 0 to 1; one sentence of what is missed, or '')


@dataclass
class Limit:
    """Something that the points for cost are divided by."""
    runs: List[Key]
    judge: Callable[[dict], tuple]  # of {key: Run}: (1, '') where it is kept, else (a larger number, one sentence)


@dataclass
class Exercise:
    number: int
    step: str            # the folder of exercise.cu
    kernel: str          # that must be registered; nothing else counts
    produces: str        # the column of the CSV file: what else is verified is not the exercise
    right: List[Check]   # of the result
    costs: Callable      # of a seed, from which the shapes are drawn that students do not know: the checks of the cost
    limits: Callable     # of the same seed: the limits
