"""What tests/compilers.py found: counts and findings do not depend on the compiler (tests/data/compilers.csv). And that it would notice."""

import collections
import csv
import re

import pytest

import compilers
from lessons import ROOT

ROWS = {row["configuration"]: row for row in csv.DictReader(open(ROOT / "tests/data/compilers.csv"))}
CLANG = next(c for c in compilers.CONFIGURATIONS if c.name == "clang++-14")
LEAST = {c.name: 800 if c.runner else 1400 for c in compilers.CONFIGURATIONS}  # rows of kernels


@pytest.mark.parametrize("configuration", [c.name for c in compilers.CONFIGURATIONS])
def test_every_difference_is_explained(configuration):
    row = ROWS[configuration]
    number = {name: int(row[name]) for name in ("kernel rows", "equal", "runs", "findings equal", "language rows", "ok", "explained")}
    assert number["kernel rows"] >= LEAST[configuration]
    assert number["language rows"] == number["ok"] == int(ROWS["g++ -O1"]["ok"]) > 170
    assert number["kernel rows"] - number["equal"] + number["runs"] - number["findings equal"] == number["explained"]
    assert bool(row["reasons"]) == bool(number["explained"])
    kernels = row["reasons"]
    for *_, why in compilers.REASONS + compilers.FINDING_REASONS: kernels = kernels.replace(": " + why, "")
    assert re.fullmatch(r"[\w; ]*", kernels), kernels


def results(requests, loads, text="1 finding"):
    made = compilers.Results()
    made.counts["tests/divergence", "mergedTernary<float>"] = [(("access", "load"), ("requests", str(loads))), (("access", "store"), ("requests", str(requests)))]
    made.findings["unit", ""] = [text]
    made.rows["tests/language/types", "types: int"] = "ok"
    return made


def differences(expected, got):
    return collections.Counter(what for _, what, _ in compilers.compare(expected, got))


def test_differences_are_noticed():
    assert not differences(results(4, 4), results(4, 4))
    assert differences(results(4, 4), results(4, 8)) == {"counts": 1}
    assert differences(results(4, 4), results(4, 4, "2 findings")) == {"findings": 1}
    wrong = results(4, 4)
    wrong.rows["tests/language/types", "types: int"] = "WRONG"
    assert differences(results(4, 4), wrong) == {"row": 1}
    assert differences(results(4, 4), compilers.Results()) == {"counts": 1, "findings": 1, "row": 1}


def test_only_more_loads_can_be_explained():
    key = ("tests/divergence", "mergedTernary<float>")
    assert compilers.reason(CLANG, key, "counts", results(4, 4), results(4, 8))
    assert not compilers.reason(CLANG, key, "counts", results(4, 8), results(4, 4))
    assert not compilers.reason(CLANG, key, "counts", results(4, 4), results(5, 8))
    assert not compilers.reason(compilers.REFERENCE, key, "counts", results(4, 4), results(4, 8))
    assert not compilers.reason(CLANG, ("unit", ""), "findings", results(4, 4), results(4, 4, "2 findings"))
