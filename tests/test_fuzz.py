"""A short run of tests/lab/fuzz.py: mutated and generated submissions earn what their kernels do, and end no grader."""

import sys

from lessons import ROOT

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import fuzz  # noqa: E402: after its folder is known


def test_mutated_and_generated_submissions():
    told = fuzz.fuzz(seed=3, count=2000, graded=16)
    print(told)
    assert told["read"] == 2000 and 400 < told["refused"] < 1600 and told["graded"] == 16 > told["not compiled"]
