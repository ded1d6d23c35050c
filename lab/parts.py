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
    name: str
    points: int
    what: str                      # one sentence, for students
    runs: List[Key]                # those that judge looks at
    judge: Callable[[dict], str]   # of {key: Run}: '' if passed, else one sentence


@dataclass
class Exercise:
    number: int
    step: str            # the folder of exercise.cu
    kernel: str          # that must be registered; nothing else counts
    produces: str        # the column of the CSV file: what else is verified is not the exercise
    checks: List[Check]
