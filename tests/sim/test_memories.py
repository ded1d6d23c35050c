"""Local and constant memory, and atomic operations that nvcc joins: the forms of memories.cu, and their rows."""

import collections
import csv
import json
import re
import shutil
import subprocess

import pytest

import local_forms
from lessons import ROOT, made, run
from test_seen import tried, with_clang  # noqa: F401

FORMS = ROOT / "tests/sim/memories.cu"
NAMES = re.findall(r"^[A-Z]+\((\w+),", FORMS.read_text(), re.M)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """{kernel: {memory access: requests, memory access units: their cost}}"""
    table = tmp_path_factory.mktemp("memories") / "counts.csv"
    done = run("env", f"SIM_OPTIONS=--quiet --csv {table}", made("build/try/tests/sim/memories"), timeout=600)
    assert done.returncode == 0 and " 0 findings" in done.stdout, done.stdout
    counted = collections.defaultdict(collections.Counter)
    for row in csv.DictReader(open(table)):
        what = f"{row['memory']} {row['access']}"
        counted[row["kernel"]][what] += int(row["requests"])
        counted[row["kernel"]][f"{what} {row['unit']}"] += int(row["units"])
    return counted


def test_every_form_has_run(counted):
    assert set(counted) == set(NAMES) and len(NAMES) > 50


def as_named(name, counts):
    kind = name.split("_")[0]
    if kind.startswith("words"): return counts["constant load words"] == int(kind[5:]) * counts["constant load"] > 0
    if kind not in ("one", "each"):
        return (counts["local load"] + counts["local store"] > 0) == (kind in ("memory", "elseregisters"))
    return all((counts[f"{memory} atomic {unit}"] == counts[f"{memory} atomic"]) == (kind == "one")
               for memory, unit in (("global", "sectors"), ("shared", "wavefronts")) if counts[f"{memory} atomic"])


def test_forms(counted):
    assert {name: counted[name] for name in NAMES if not as_named(name, counted[name])} == {}


@pytest.mark.skipif(not (shutil.which("nvcc") and shutil.which("cuobjdump")), reason="needs nvcc and cuobjdump")
def test_the_names_say_what_nvcc_makes(tmp_path):
    code = tmp_path / "memories.cubin"
    subprocess.run(["nvcc", "-w", "-cubin", "-arch=sm_90", "-o", code, FORMS], check=True)
    text = subprocess.run(["cuobjdump", "-sass", code], check=True, capture_output=True, text=True).stdout
    found = 0
    for part in text.split("Function : ")[1:]:
        name = next(name for name in NAMES if re.match(rf"_Z\d+{name}P", part))
        kind = name.split("_")[0].removeprefix("else")
        if kind in ("memory", "registers"): assert bool(re.search(r" (LDL|STL)\b", part)) == (kind == "memory"), name
        if kind in ("one", "each"): assert ("VOTE" in part) == (kind == "one"), name
        found += 1
    assert found == len(NAMES)


# clang does not watch an array that it knows to be local, and a reference to one cannot be jumped over.
UNSEEN_BY_CLANG = {"unnamed_union", "past_case", "past_goto"}


def test_local_arrays_in_any_syntax(tried, tmp_path):
    """Registers or local memory as nvcc has it, but for rows with a reason. The table has it for g++."""
    rows = {row["form"]: row for row in csv.DictReader(local_forms.TABLE.open())}
    done = tried("local_forms", f"--csv {tmp_path / 'counts.csv'}")
    assert " 0 findings" in done.stdout, done.stdout
    found = local_forms.simulated(tmp_path / "counts.csv")
    clang = UNSEEN_BY_CLANG if tried.__name__ == "by_clang" else set()
    assert {form for form in rows if found[form] != rows[form]["simulator"]} == clang
    differ = {form for form, row in rows.items() if (int(row["stack_bytes"]) > 0) != (row["simulator"] == "local")}
    assert differ == {form for form, row in rows.items() if row["reason"]} and len(rows) > 80


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_stack_frames_are_those_of_nvcc():
    version, stack = local_forms.frames()
    rows = list(csv.DictReader(local_forms.TABLE.open()))
    if version != rows[0]["nvcc"]: pytest.skip(f"the table is of nvcc {rows[0]['nvcc']}")
    assert stack == {row["form"]: int(row["stack_bytes"]) for row in rows}


def test_sectors_of_local_memory(counted):
    """Words of a lane lie 32 words apart, so lanes that use one index share sectors. What is indexed at run time has
    as many as an H200 counts. It stores four floats of memory_pairs at once."""
    rows = list(csv.DictReader((ROOT / "tests/data/h200_memories.csv").open()))
    compared = 0
    for row in rows:
        if not row["kernel"].startswith(("memory_", "registers_")): continue
        for access in ("load", "store"):
            if (row["kernel"], access) == ("memory_pairs", "store"): continue
            assert counted[row["kernel"]][f"local {access} sectors"] == int(row[f"local_{access}_sectors"]), row
            compared += 1
    assert compared > 50


def test_text_and_json(tmp_path):
    report = tmp_path / "report.json"
    done = run("env", f"SIM_OPTIONS=--explain --json {report}", made("build/try/tests/sim/memories"), timeout=600)
    text = done.stdout[done.stdout.index("\nmemory_manyFloats<<<"):]
    assert re.search(r"  load of local memory at .*memories.cu:\d+: .*\n    32 requests of 32 x 4 bytes; 32 sectors "
                     r"each, ideal 4; .*\n    an array that is indexed at run time lies in local memory", text)
    text = done.stdout[done.stdout.index("\nwords2_halves<<<"):]
    assert re.search(r"  load of constant memory at .*\n    1 request of 32 x 4 bytes; 2 words each, ideal 1, at worst "
                     r"2\n    lanes read different words", text)
    text = done.stdout[done.stdout.index("\none_lanes<<<"):]
    assert re.search(r"  atomic of global memory at .*\n    1 request of 32 x 4 bytes; 1 sector each, ideal 1; .*\n"
                     r"    all lanes change one element: nvcc adds up first", text)
    accesses = [access for kernel in json.loads(report.read_text())["kernels"]
                for access in kernel["places"]]
    assert {access["memory"] for access in accesses} == {"global", "shared", "local", "constant"}
