"""The table of the language: every row is right on the simulator, with no finding, and on a GPU
(tools/gpu_plain.py)."""

import csv
import re

import pytest

from found import findings
from lessons import ROOT, made, run

PROGRAMS = sorted(p.stem for p in (ROOT / "tests/sim/language").glob("*.cu"))
GPU = list(csv.DictReader(open(ROOT / "tests/data/h200_language.csv")))


def rows(name, *arguments):
    return run(made(f"build/try/tests/sim/language/{name}"), *arguments, timeout=600)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_row_is_right(name):
    done = rows(name)
    found = dict(re.findall(r"^ROW (.*) (ok|WRONG)$", done.stdout, re.MULTILINE))
    assert found and set(found.values()) == {"ok"}, [row for row, result in found.items() if result != "ok"]
    assert done.returncode == 0 and not findings(done), done.stdout[-3000:]
    # What a GPU was asked is what is asked here.
    measured = {row["row"] for row in GPU if row["program"] == name}
    assert measured <= set(found)


def test_every_row_is_right_on_the_gpu():
    assert len(GPU) >= 240 and all(row["result"] == "ok" for row in GPU)


def test_each_order_that_is_missing_is_a_race():
    kernels = set(re.findall(r"ORDER\((\w+), h", (ROOT / "tests/sim/language/orders.cu").read_text()))
    assert len(kernels) > 15
    done = rows("orders", "faulty")
    assert done.returncode == 1
    assert {text.split(": ")[0] for text in findings(done) if ": race: " in text} == kernels
