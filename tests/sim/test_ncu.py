"""plots/ncu_join.py: the counts of Nsight Compute next to those of the simulator. The files of tests/data/ncu are what
ncu printed on an H100 (tools/gpu_plain.py)."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import gpu_plain
from lessons import NCU, ROOT, made
from samples import few

DATA = ROOT / "tests/data/ncu"
JOIN = ROOT / "plots/ncu_join.py"
PATHS = {pathlib.Path(name).name: name for name in gpu_plain.NCU_PROGRAMS}
TITLE = re.compile(r"^(\S.*)<<<.*>>>$")
COUNT = re.compile(r"^  (\w+ \w+ (?:requests|sectors|wavefronts|conflicts)|threads|warps) +(\d+) +(\d+) +(\S.*)$")

# Kernels whose sums differ, and in what: as the tables of "What compilers merge" in sim/README.md have it.
MERGED = {
    "global load": {"storeBetween", "sharedStoreBetween", "barrierBetweenRestrict", "onlyWhatIsNeeded",
                    "membersOfAPair", "membersIncreased", "loadInBothArms", "loadAfterBranch", "unchangedInLoop"},
    "global store": {"membersIncreased", "oneValueInBothArms", "oneValueStoredBack", "twoConstantsInArms",
                     "overwrittenInBranch"},
    "shared load": {"neighboursShared"},
    "shared store": {"neverRead", "readByItselfOnly", "neighboursStoredShared"},
    "global atomic": {"atomicWithOneValueInBothArms"}}
# nvcc loads four elements of a tile's row at a time.
TILES = {"shared load": {"matrixMul<16>", "matrixMul<32>"}}
DIFFERENT = {"merges": MERGED, "matrix_mul": TILES}


def joined(program, ncu, tmp_path):
    counts = tmp_path / "counts.csv"
    subprocess.run([made(f"build/try/tests/sim/{PATHS[program]}")], capture_output=True, cwd=ROOT, check=False,
                   env={**os.environ, "SIM_OPTIONS": f"--quiet --machine h100 --csv '{counts}'"})
    return subprocess.run([sys.executable, JOIN, counts, ncu], capture_output=True, text=True)


@pytest.mark.parametrize("program", few(PATHS, lambda program: program in ("vector_add", *DIFFERENT)))
def test_counts_side_by_side(program, tmp_path):
    """Every kernel has its counterpart. What differs is known, and has a cause."""
    done = joined(program, DATA / f"{program}.raw.csv", tmp_path)
    assert done.returncode == 0 and not done.stderr and "only the" not in done.stdout
    different, kernel, counts = {}, None, 0
    for line in done.stdout.splitlines():
        if title := TITLE.match(line):
            kernel = title[1]
        elif row := COUNT.match(line):
            counts += 1
            assert (row[2] == row[3]) == (row[4] == "0")
            if row[2] != row[3]:
                different.setdefault(row[1].rsplit(" ", 1)[0], set()).add(kernel)
    assert different == DIFFERENT.get(program, {})
    assert counts == int(re.search(r"of (\d+) counts differ", done.stdout)[1]) > 0


def test_both_formats_have_the_same_counts(tmp_path):
    raw, rows = (joined("histogram", DATA / f"histogram.{how}.csv", tmp_path) for how in ("raw", "long"))
    assert raw.stdout == rows.stdout and "histogram<<<" in raw.stdout


@pytest.mark.parametrize("change, message", [
    (lambda text: "", "no table of Nsight Compute"), (lambda text: "==ERROR== no metric\n", "Nsight Compute failed"),
    (lambda text: text.replace('"Grid Size"', '"Grid"'), "no column 'Grid Size'"),
    (lambda text: text[:-40], "not as many cells"), (lambda text: text.replace('"625"', '"6.25"'), "a whole number")])
def test_a_file_that_cannot_be_read(change, message, tmp_path):
    """One line, and exit status 2."""
    bad = tmp_path / "bad.csv"
    bad.write_text(change((DATA / "histogram.raw.csv").read_text()))
    done = joined("histogram", bad, tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and message in done.stderr


def test_the_page(tmp_path):
    """docs/PROFILING.md has the command, and a table as the script prints it."""
    page = (ROOT / "docs/PROFILING.md").read_text()
    own = page.split("## Your own program")[1].split("\n## ")[0].replace("\\\n", "")
    assert ("ncu --csv --page raw --print-units base --log-file ncu.csv --metrics " + gpu_plain.NCU_COUNTS
            in re.sub(" +", " ", own))
    (table,) = re.findall("```text\n(.*?)```", own, re.S)
    assert table in joined("matrix_mul", DATA / "matrix_mul.raw.csv", tmp_path).stdout
    assert all(not row.way and not row.since for row in NCU if not row.count)
