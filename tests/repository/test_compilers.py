"""What tools/compilers.py found: counts and findings do not depend on the compiler (tests/data/compilers.csv). And that
it would notice."""

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
    number = {
        name: int(row[name])
        for name in ("kernel rows", "equal", "runs", "findings equal", "language rows", "ok", "explained")}
    assert number["kernel rows"] >= LEAST[configuration]
    assert number["language rows"] == number["ok"] == int(ROWS["g++ -O1"]["ok"]) > 170
    assert number["kernel rows"] - number["equal"] + number["runs"] - number["findings equal"] == number["explained"]
    assert bool(row["reasons"]) == bool(number["explained"])
    kernels = row["reasons"]
    for *_, why in compilers.REASONS + compilers.PLACE_REASONS + compilers.FINDING_REASONS:
        kernels = kernels.replace(": " + why, "")
    assert re.fullmatch(r"[\w; ]*", kernels), kernels


def test_the_page_has_the_numbers_of_the_table():
    page = " ".join((ROOT / "sim/README.md").read_text().split())
    of = {name: (int(row["kernel rows"]), int(row["equal"])) for name, row in ROWS.items()}
    differ = {name: rows - equal for name, (rows, equal) in of.items()}
    assert f"compares {of['g++ -O1'][0]} rows of counts" in page and differ["g++ -O2"] == differ["g++ -O3"] == 0
    assert f"g++ 11 differs in {differ['g++-11 -O1']} rows, and clang 14 and 19 in {differ['clang++-14']}." in page
    rows, equal = of["aarch64 g++ -O1"]
    assert f"agrees in {equal} of the {rows} rows" in page and differ["clang++-14"] == differ["clang++-19"]


def results(requests, loads, text="1 finding"):
    made = compilers.Results()
    made.counts["tests/sim/divergence", "mergedTernary<float>"] = [(("access", "load"), ("requests", str(loads))),
                                                                   (("access", "store"), ("requests", str(requests)))]
    made.findings["unit", ""] = [text]
    made.rows["tests/sim/language/types", "types: int"] = "ok"
    return made


def differences(expected, got):
    return collections.Counter(what for _, what, _ in compilers.compare(expected, got))


def test_differences_are_noticed():
    assert not differences(results(4, 4), results(4, 4))
    assert differences(results(4, 4), results(4, 8)) == {"counts": 1}
    assert differences(results(4, 4), results(4, 4, "2 findings")) == {"findings": 1}
    wrong = results(4, 4)
    wrong.rows["tests/sim/language/types", "types: int"] = "WRONG"
    assert differences(results(4, 4), wrong) == {"row": 1}
    assert differences(results(4, 4), compilers.Results()) == {"counts": 1, "findings": 1, "row": 1}


def test_only_more_loads_can_be_explained():
    key = ("tests/sim/divergence", "mergedTernary<float>")
    assert compilers.reason(CLANG, key, "counts", results(4, 4), results(4, 8))
    assert not compilers.reason(CLANG, key, "counts", results(4, 8), results(4, 4))
    assert not compilers.reason(CLANG, key, "counts", results(4, 4), results(5, 8))
    assert not compilers.reason(compilers.REFERENCE, key, "counts", results(4, 4), results(4, 8))
    arm, roles = compilers.CONFIGURATIONS[-1], ("tests/sim/language/memory", "roles")
    def at(line, requests):
        made = compilers.Results()
        made.counts[roles] = [(("file", "a.cu"), ("line", line), ("requests", requests))]
        return made
    assert compilers.reason(arm, roles, "counts", at("1", "4"), at("2", "4"))
    assert not compilers.reason(arm, roles, "counts", at("1", "4"), at("2", "8"))
    assert not compilers.reason(CLANG, roles, "counts", at("1", "4"), at("2", "4"))
    assert not compilers.reason(CLANG, ("unit", ""), "findings", results(4, 4), results(4, 4, "2 findings"))


def race(first, second, times, places):
    """Lines of a kernel whose two threads race, as often in either order."""
    orders = [("read-after-write", "writes", "reads", first, second),
              ("write-after-read", "reads", "writes", second, first)]
    return ([f"planted: copy_forgetBarrier: race: {kind} hazard in shared memory (tile), byte 4: thread (1, 0, 0) "
             f"{did} at {first} and thread (2, 0, 0) {then} at {second}, with no barrier between, in block (0, 0, 0) "
             f"({n} times)"
             for (kind, did, then, first, second), n in zip(orders, times) if n]
            + [f"planted: copy_forgetBarrier: {sum(times)} findings in all, at {places} places of the kernel"])


@pytest.mark.parametrize("lines, explained", [
    (race("p.cu:1", "p.cu:2", (3, 4), 2), True), (race("p.cu:1", "p.cu:2", (3, 3), 2), False),
    (race("p.cu:1", "p.cu:3", (3, 4), 2), False),
    (race("p.cu:1", "p.cu:2", (3, 4), 2) + ["planted: copy_writeBehind: out-of-bounds store"], False),
    (race("p.cu:1", "p.cu:2", (3, 4), 2)[:-1], False)])
def test_which_of_two_that_race_comes_first(lines, explained):
    key = "build/tests/steps/planted", "double2 33x65"
    expected, got = compilers.Results(), compilers.Results()
    expected.findings[key], got.findings[key] = race("p.cu:1", "p.cu:2", (7, 0), 1), lines
    assert bool(compilers.reason(CLANG, key, "findings", expected, got)) == explained
