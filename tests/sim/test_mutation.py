"""Wrong versions of the steps' kernels: the simulator catches a sample of them. `python3 tools/mutation.py` tries them
all."""

import collections
import re
import sys

import pytest

import mutants
import mutation
from lessons import ROOT, run
from samples import ALL

COUNT = 40 if ALL else 20


@pytest.fixture(scope="module")
def every():
    """All mutants."""
    return list(mutants.mutants_of(mutants.all_units()))


def test_enough_mutants_of_enough_kernels(every):
    per_operator = collections.Counter(m.operator for m in every)
    assert set(per_operator) == set(mutants.OPERATORS)
    assert len(every) >= 1500 and len({m.kernel for m in every}) >= 25
    assert len({m.id for m in every}) == len(every)


def test_every_launch_belongs_to_a_kernel_that_is_mutated():
    """What is left in front of the mutants of a file launches nothing: the kernel would have another name there."""
    files = {unit.file for unit in mutants.all_units()}
    assert len(files) >= 11 and [file.path.name for file in files if "<<<" in file.prelude()] == []


def test_every_judgement_is_of_a_mutant_and_has_a_reason(every):
    for row in mutation.read_judged():
        assert any(mutation.judges(row, m) for m in every), row
        assert len(row["reason"]) > 20, row


def test_samples_are_the_same_every_time(every):
    some = mutants.sample(every, 40, 1)
    assert some == mutants.sample(every, 40, 1) != mutants.sample(every, 40, 2)
    assert len({m.operator for m in some}) == len(mutants.OPERATORS)


def test_no_mutant_of_a_sample_survives(tmp_path):
    done = run(sys.executable, ROOT / "tools/mutation.py", "--count", COUNT, "--csv", tmp_path / "mutants.csv",
               timeout=300)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "NOT JUDGED" not in done.stdout
    caught, due = map(int, re.search(r"^score: (\d+) of (\d+) caught", done.stdout, re.MULTILINE).groups())
    assert caught == due >= 0.75 * COUNT
    rows = (tmp_path / "mutants.csv").read_text().splitlines()
    assert len(rows) == COUNT + 1
