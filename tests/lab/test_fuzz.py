"""A short run of tests/lab/fuzz.py: mutated and generated submissions earn what their kernels do, and end no grader."""

import sys

from lessons import ROOT
from samples import ALL

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import fuzz


def test_mutated_and_generated_submissions():
    count, graded = (2000, 16) if ALL else (200, 2)
    told = fuzz.fuzz(seed=3, count=count, graded=graded)
    print(told)
    assert (told["read"] == count and 0.2 < told["refused"] / count < 0.8
            and told["graded"] == graded > told["not compiled"])
