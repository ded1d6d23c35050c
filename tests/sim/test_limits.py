"""The simulator's limits: for each sentence under "Not seen, or not judged" in sim/README.md, a kernel that shows
it."""

import csv
import re

import pytest

from lessons import ROOT, made, run

PAGE = (ROOT / "sim/README.md").read_text()
LIMITS = PAGE.split("**Not seen, or not judged**")[1].split("\n**")[0]

# The kernels of tests/sim/programs/limits.cu in their order: the accesses that are counted, as memory, kind and
# requests.
KERNELS = [
    ("tables", [("global", "store", 1)]),
    ("pointerOutOfLocal", [("global", "store", 1)]),
    ("rowOfMatrix", [("global", "store", 1), ("shared", "load", 1), ("shared", "store", 2)]),
    ("farAway", [("global", "store", 1), ("shared", "load", 1), ("shared", "store", 2)]),
    ("partsOfDynamic", [("global", "store", 1), ("shared", "load", 1), ("shared", "store", 2)]),
    ("dropped", [("global", "store", 1)]),
]


@pytest.mark.parametrize("number", range(len(KERNELS)), ids=[name for name, _ in KERNELS])
def test_a_limit(number, tmp_path):
    """The access goes uncounted, or the fault is no finding. If the simulator learns to see it, its sentence must
    go."""
    done = run("env", f"SIM_OPTIONS=--quiet --csv {tmp_path / 'counts.csv'}",
               made("build/try/tests/sim/programs/limits"), number)
    assert done.returncode == 0 and "try: 1 kernel, 1 launch, 0 findings" in done.stdout, done.stdout
    counted = {}
    for row in csv.DictReader(open(tmp_path / "counts.csv")):
        assert row["kernel"] == KERNELS[number][0]
        key = row["memory"], row["access"]
        counted[key] = counted.get(key, 0) + int(row["requests"])
    assert sorted((*key, n) for key, n in counted.items()) == KERNELS[number][1]


def test_each_has_a_sentence():
    assert re.findall(r"`(\w+)` of", LIMITS) == [name for name, _ in KERNELS]
