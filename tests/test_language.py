"""The table of the language: every row is right on the simulator, with no finding, and on a GPU (tests/gpu_language.sh)."""

import csv
import re

import pytest

from lessons import ROOT, run

PROGRAMS = sorted(p.stem for p in (ROOT / "tests/language").glob("*.cu"))
GPU = list(csv.DictReader(open(ROOT / "tests/data/h200_language.csv")))


# Kernels that are right and in which the checkers see no order: they know barriers, __syncwarp() and fences with atomics behind them.
FALSE_FINDINGS = {
    "atomics": {"compare_and_swap"},                  # loads what others exchange: the loop of the programming guide
    "memory": {"barriers", "roles", "shared_pipeline"},  # cuda::barrier and cuda::pipeline
    "scoped": {"fences", "messages", "objects"},      # release and acquire of cuda::atomic, and its stores to fresh memory
}


def rows(name):
    built = run("make", "-s", "NVCC=", f"build/try/tests/language/{name}", timeout=300)
    assert built.returncode == 0, built.stderr
    return run(ROOT / f"build/try/tests/language/{name}", timeout=120)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_row_is_right(name):
    done = rows(name)
    found = dict(re.findall(r"^ROW (.*) (ok|WRONG)$", done.stdout, re.MULTILINE))
    assert found and set(found.values()) == {"ok"}, [row for row, result in found.items() if result != "ok"]
    found_in = set(re.findall(r"^finding: (\w+): ", done.stdout, re.MULTILINE))
    assert found_in == FALSE_FINDINGS.get(name, set()), done.stdout[-3000:]
    assert done.returncode == bool(found_in)
    # What a GPU was asked is what is asked here.
    measured = {row["row"] for row in GPU if row["program"] == name}
    assert measured <= set(found)


def test_every_row_is_right_on_the_gpu():
    assert len(GPU) >= 170 and all(row["result"] == "ok" for row in GPU)
