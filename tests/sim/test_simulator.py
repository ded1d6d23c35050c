"""The simulator itself: unit tests in C++, and the same result in every run."""

import os
import re

import pytest

from conftest import assert_refused, step
from lessons import ROOT, run


def test_units():
    done = run(ROOT / "build/tests/steps/unit")
    print(done.stdout)
    assert done.returncode == 0
    assert int(re.match(r"(\d+) checks, 0 failed", done.stdout.splitlines()[-1]).group(1)) > 500


def test_rules():
    """Transactions and bank conflicts: the documented check vectors, and random accesses against slow references."""
    done = run(ROOT / "build/tests/sim/rules")
    print(done.stdout)
    assert done.returncode == 0
    assert int(re.match(r"(\d+) checks, 0 failed", done.stdout.splitlines()[-1]).group(1)) > 500000


def test_order():
    """Which accesses are ordered, and which race, in random programs, against a slow reference."""
    done = run(ROOT / "build/tests/sim/order")
    print(done.stdout)
    assert done.returncode == 0
    assert int(re.match(r"(\d+) checks, 0 failed", done.stdout.splitlines()[-1]).group(1)) > 500000


@pytest.mark.parametrize("strip, option",
                         [(None, None), ("--strip-debug", "--no-debug"), ("--strip-all", "--stripped")])
def test_places_in_the_source(strip, option, tmp_path):
    """As addr2line finds them; and unknown where the program has been stripped."""
    program = ROOT / "build/tests/sim/places"
    if strip:
        assert run("strip", strip, "-o", tmp_path / "places", program).returncode == 0
        program = tmp_path / "places"
    done = run(program, *([option] if option else []))
    print(done.stdout)
    assert done.returncode == 0
    assert (int(re.fullmatch(r"(\d+) checks, 0 failed", done.stdout.splitlines()[-1]).group(1))
            >= (10 if option else 40))


@pytest.mark.parametrize("program", ["step04", "build/try/tests/sim/programs/vector_add"])
def test_a_stripped_program_is_refused(program, tmp_path):
    """Shared memory is found by the program's symbols: without them every right kernel would be called wrong."""
    stripped = tmp_path / "stripped"
    assert run("strip", "-o", stripped, ROOT / program).returncode == 0
    arguments = ["--device", "sim", "--size", 64, "--csv", "a.csv"] if program == "step04" else []
    done = run("env", "SIM_OPTIONS=" + ("" if arguments else "--csv a.csv"), stripped, *arguments, cwd=tmp_path)
    assert_refused(done, 2, "stripped of its symbols")
    assert os.listdir(tmp_path) == ["stripped"]
    if arguments: assert "transposeNoBankConflicts" in run(stripped, "--list").stdout


def test_output_does_not_depend_on_host_threads():
    cpu = str(min(os.sched_getaffinity(0)))
    for program in ("step05", "step03"):  # without and with bank conflicts
        arguments = ["--width", 333, "--height", 555, "--explain"]
        all_threads = step(program, *arguments).stdout.splitlines()
        one = run("taskset", "-c", cpu, ROOT / program, "--device", "sim", *arguments).stdout.splitlines()
        assert "1 host thread" in one[0]
        assert one[1:] == all_threads[1:]


@pytest.mark.parametrize("kib", [60000, 120000, 160000, 200000, 400000])
def test_a_limit_of_memory_is_kept_to(kib):
    """With fewer host threads, or a message: each thread has stacks for a block. Never by waiting for one that could
    not be had."""
    done = run("sh", "-c", f"ulimit -v {kib}; exec ./step04 --device sim --size 64", timeout=600)
    assert (done.returncode == 0 and "verified" in done.stdout
            or done.returncode == 2 and len(done.stderr.splitlines()) == 1), done
