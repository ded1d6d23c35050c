"""Random kernels (tools/random_kernels.py): what the simulator counts is what Nsight Compute counted on an H100, and
they store the same values."""

import collections
import csv
import json
import re

import pytest

import random_kernels
from gpu_plain import COLUMNS, digest
from lessons import ROOT, make_try
from samples import ALL, some


@pytest.mark.parametrize("seed", some(random_kernels.SEEDS["counts"], 2))
def test_counts_and_values_are_those_of_the_card(seed, tmp_path):
    kernels = random_kernels.kernels("counts", seed)[:None if ALL else 40]
    (tmp_path / "random.cu").write_text(random_kernels.program("counts", kernels))
    done = make_try(tmp_path / "random.cu", f"SIM=--quiet --json {tmp_path / 'counts.json'}")
    assert done.returncode == 0 and " 0 findings" in done.stdout, done.stdout[-2000:] + done.stderr
    checksums = dict(re.findall(r"^(k\d+),([0-9a-f]{8})$", done.stdout, re.M))
    counts = collections.defaultdict(collections.Counter)
    for kernel in json.loads((tmp_path / "counts.json").read_text())["kernels"]:
        for place in kernel["places"]:
            counts[kernel["kernel"]][f"{place['memory']}_{place['access']}_requests"] += place["requests"]
            counts[kernel["kernel"]][f"{place['memory']}_{place['access']}_units"] += place["units"]
    rows = {row["kernel"]: row for row in csv.DictReader((ROOT / "tests/data/h100_random_counts.csv").open())
            if row["seed"] == str(seed)}
    assert len(rows) == random_kernels.KERNELS["counts"]
    for kernel in kernels:
        row = rows[kernel.name]
        assert row["text"] == digest(kernel), f"{kernel.name}: the counts are of another text"
        assert row["checksum"] == checksums[kernel.name], kernel.name
        here = {what: counts[kernel.name][what] for what in COLUMNS}
        assert here == {what: sum(int(row[column]) for column in columns) for what, columns in COLUMNS.items()}, \
            kernel.name
