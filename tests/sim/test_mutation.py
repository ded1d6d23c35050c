"""Wrong versions of the lessons: the simulator catches a sample of them. `python3 tools/mutation.py` tries them all."""

import collections
import csv
import sys

import mutation
from lessons import ROOT, run
from samples import ALL


def test_every_operator_has_mutants_of_every_lesson():
    every = mutation.mutants()
    assert set(collections.Counter(m.operator for m in every)) == set(mutation.OPERATORS)
    assert len({m.kernel for m in every}) == 7 and len(every) > 500


def test_every_judgement_is_of_a_mutant_and_has_a_reason():
    every = {(m.kernel, m.change) for m in mutation.mutants()}
    for row in csv.DictReader(mutation.JUDGED.open()):
        assert (row["kernel"], row["change"]) in every and len(row["reason"]) > 20, row


def test_no_mutant_of_a_sample_survives():
    count = 100 if ALL else 10
    done = run(sys.executable, ROOT / "tools/mutation.py", "--count", count, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"of {count} caught" in done.stdout or "survivors are judged" in done.stdout, done.stdout
