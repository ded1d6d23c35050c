"""Kernels that diverge: their requests, sectors and wavefronts on the simulator are those that Nsight Compute counted
on an H200."""

import collections
import csv
import re

from lessons import ROOT, made, run

# Where nvcc does not leave the control flow as it is written, by kernel: why the counts differ. Each must differ.
DIFFERENT = {
    "mergedReturns": "nvcc makes one store of two in front of two returns: after the lanes have come together again",
    "mergedHelpers": "nvcc makes one store of those of two calls of a function",
    "unrolledTrips": "unrolled by four and a remainder: lanes in different turns meet in the remainder",
    "unrolledNested": "the inner loop is unrolled into a tree of tests: lanes that leave it early do not meet again",
    "switchFallthroughInLoop": "lanes that fall through into a case do not wait for those that enter it there",
    "shortInLoop": "lanes that come to the right side of || from the left of && and from its right do not meet",
}
COLUMNS = [
    "global_load_requests", "global_store_requests", "global_load_sectors", "global_store_sectors",
    "shared_load_wavefronts", "shared_store_wavefronts"]


def test_counts_are_those_of_the_profiler(tmp_path):
    done = run("env", f"SIM_OPTIONS=--quiet --csv {tmp_path / 'counts.csv'}", made("build/try/tests/sim/divergence"),
               timeout=600)
    assert done.returncode == 0 and " 0 findings" in done.stdout, done.stdout[-2000:]

    counted = collections.defaultdict(collections.Counter)
    for row in csv.DictReader(open(tmp_path / "counts.csv")):
        kernel = re.fullmatch(r"(\w+)<(\w+)>", row["kernel"]).groups()
        what = f"{row['memory']}_{row['access']}"
        counted[kernel][what + "_requests"] += int(row["requests"])
        counted[kernel][what + ("_sectors" if row["memory"] == "global" else "_wavefronts")] += int(row["units"])
    measured = {
        (row["kernel"], row["type"]): row for row in csv.DictReader(open(ROOT / "tests/data/h200_divergence.csv"))}
    assert len(measured) >= 50 and set(measured) == set(counted)
    different = {kernel for kernel, row in measured.items() if any(int(row[c]) != counted[kernel][c] for c in COLUMNS)}
    assert {name for name, _ in different} == set(DIFFERENT)
    assert len(different) == 11
