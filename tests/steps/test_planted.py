"""The harness refuses kernels that are wrong, whatever they are wrong in."""

import re

import pytest

from lessons import FAULTS, KINDS, ROOT, TWINS, TYPES, run
from samples import ALL


def planted(kind, fault, element, *options):
    return run(ROOT / "build/tests/steps/planted", "--device", "sim", "--kernel", f"{kind}_{fault}", "--type", element,
               "--width", 67, "--height", 100, "--reps", 2, *options)


def test_every_plant_is_tested():
    listed = {line.split()[1] for line in run(ROOT / "build/tests/steps/planted", "--list").stdout.splitlines()[1:]}
    assert listed == {f"{kind}_{fault}" for kind in KINDS for fault in [*TWINS, *FAULTS]}


def elements_of(number):
    """All types in make test-all; else one in turn, so that each fault is tried in some type, and each type with some
    fault."""
    return TYPES if ALL else [TYPES[number % len(TYPES)]]


@pytest.mark.parametrize("kind", KINDS)
def test_right_twins_pass(kind):
    for element in TYPES:
        for twin in TWINS:
            done = planted(kind, twin, element)
            assert done.returncode == 0 and "verified" in done.stdout, (twin, element, done.stderr)


@pytest.mark.parametrize("kind", KINDS)
def test_refused(kind, tmp_path):
    results, wrong = tmp_path / "results.csv", {}
    for number, (fault, (_, words, *_)) in enumerate(FAULTS.items(), KINDS.index(kind)):
        for element in elements_of(number):
            done = planted(kind, fault, element, "--csv", results)
            if not (done.returncode == 1 and "WRONG" in done.stdout and "verified" not in done.stdout
                    and all(line.startswith(f"planted: {kind}_{fault}: ") or "not written" in line
                            for line in done.stderr.splitlines())
                    and re.search(words, done.stderr)):
                wrong[fault, element] = done.stdout + done.stderr
            assert list(tmp_path.iterdir()) == [], "a wrong result must leave no results file"
    assert not wrong


def test_report_names_place_and_values():
    """Row and column of the first wrong element, both values, where the value came from, how many."""
    done = planted("transpose", "dropLastColumn", "int")
    assert re.search(
        r"67 of 6700 elements differ; first at row 0, column 99 of odata: "
        r"expected -?\d+ \[0x\w{8}\] \(idata row 99, column 0\), found -?\d+ \[0x\w{8}\] \(never written\)",
        done.stderr), done.stderr


def test_one_wrong_kernel_fails_the_run_and_the_others_still_report():
    done = run(ROOT / "build/tests/steps/planted", "--device", "sim", "--size", 33)
    assert done.returncode == 1
    assert done.stdout.count(" verified") >= len(KINDS) * len(TWINS)
    assert done.stdout.count(" WRONG") >= len(KINDS) * (len(FAULTS) - 1)  # rightOnce is right: one pass
