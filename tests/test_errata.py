"""The gallery: every published fault is found by the check that should find it, and its corrected twin passes."""

import csv
import re

import pytest

from conftest import assert_refused, step
from lessons import ERRATA, ROOT, STEPS, gallery, kernels, run

# Erratum, faulty kernel or check: how the finding begins, and the corrected twin.
GALLERY = {
    ("E1", "transposeRow1DOnce"): ("wrong result: 32768 of 65536 elements differ; first at row 0, column 512 .*never written", "transposeRow1D"),
    ("E2", "transposeLoopingRace"): ("race: write-after-read", "transposeLoopingBlocks"),
    ("E3", "transposeRepeatedRace"): ("race: write-after-read", "transposeRepeated"),
    ("E4", "comparesWithOwnOutput"): ("a check that cannot fail: it accepts an output that was never written", "comparesWithTurnedTiles"),
    ("E5", "comparesWithItself"): ("a check that cannot fail: it accepts an output that was never written", "comparesWithTheInput"),
    ("E5", "transposeRowUnrolledMixedUp"): ("same launch: this is the very kernel, grid and block of transposeColUnrolled", "transposeRowUnrolled"),
    ("E6", "transposeRowUnrolledUntested"): ("out-of-bounds", "transposeRowUnrolled"),
    ("E7", "transposeDiagonal16Untested"): ("out-of-bounds", "transposeDiagonal16"),
    ("E8", "transposeNaiveRowOffset"): ("wrong result", "transposeNaive"),
    ("E9", "transposeSerialExchanged"): ("wrong result", "transposeSerialWrite"),
    ("E10", "transposeShortIndex"): ("out-of-bounds", "transposeNaive"),
    ("E11", "transposeTile16Padded"): ("bank conflicts: (load|store) .*: 2 wavefronts per request where 1 would do", "transposeTile16Swizzled"),
}


def shown():
    """{(erratum, kernel): (story, finding, corrected)}, as the programs print them."""
    found = {}
    for _, id_, kernel, text in gallery():
        found[id_, kernel] = re.fullmatch(r" (Published: .*What is left: .*) caught on \d+ rows x \d+ columns: (.*) corrected: (.*)\n", text).groups()
    return found


def test_each_fault_is_found_by_its_check_and_its_twin_is_clean():
    found = shown()
    assert set(found) == set(GALLERY)
    assert {id_ for id_, _ in found} == set(ERRATA)
    for key, (check, twin) in GALLERY.items():
        story, finding, corrected = found[key]
        assert re.match(check, finding), (key, finding)
        assert corrected == f"{twin}: nothing to report"


def test_no_fault_is_part_of_a_normal_run():
    faulty = {k["kernel"] for k in kernels("faulty")}
    assert len(faulty) == 9
    for program in STEPS:
        for arguments in ([], ["--all"]):
            out = step(program, "--size", 40, *arguments).stdout
            assert not faulty & set(out.split())
    # By its name, it is run and refused.
    done = step("step02", "--kernel", "transposeNaiveRowOffset", "--size", 64)
    assert done.returncode == 1 and "WRONG" in done.stdout


def test_faults_hide_where_the_sources_measured():
    """Squares, multiples of the tile, few rows: there every one of these verifies."""
    for program, kernel, size in [("step02", "transposeRow1DOnce", 512), ("step02", "transposeRowUnrolledUntested", 256),
                                  ("step02", "transposeSerialExchanged", 256), ("step02", "transposeShortIndex", 128),
                                  ("step06", "transposeDiagonal16Untested", 256), ("step04", "transposeLoopingRace", 1024)]:
        done = step(program, "--kernel", kernel, "--size", size)
        assert done.returncode == 0, (kernel, done.stderr)


def test_one_fault_by_name_or_number():
    for name in ("E3", "transposeRepeatedRace"):
        out = run(ROOT / "step04", "--errata", "--kernel", name).stdout
        assert re.findall(r"^E\d+", out, re.MULTILINE) == ["E3"]


@pytest.mark.parametrize("arguments, words", [
    (["--errata", "--device", "cuda"], ["--errata", "simulator"]),
    (["--errata", "--all"], ["--errata", "--kernel"]),
    (["--errata", "--kernel", "nope"], ["--kernel nope", "transposeRepeatedRace"]),
])
def test_bad_input(arguments, words):
    assert_refused(run(ROOT / "step04", *arguments), 2, *words)


def test_what_the_stories_say_of_the_h200():
    """E1: done in full, 1D loses from 1024 on. E2: looping blocks are ahead at no size. E11: no conflicts, no gain."""
    book = {(r["kernel"], int(r["width"])): float(r["time_median_ms"]) for r in csv.DictReader((ROOT / "plots/data/h200_book.csv").open())}
    for n in (1024, 2048, 4096, 8192):
        for kernel in ("transposeRow1D", "transposeCol1D"):
            assert book[kernel, n] > book["transposeTile16Padded", n] and book[kernel, n] > book["transposeTile16", n]
    for n in (256, 512, 1024, 2048, 4096, 8192):
        assert book["transposeLoopingBlocks", n] >= 0.99 * book["transposeTile16Padded", n]
    steps = {r["kernel"]: float(r["bandwidth_gbs"]) for r in csv.DictReader((ROOT / "plots/data/h200_steps.csv").open())
             if r["width"] == "16384" and r["type"] == "float" and r["bandwidth_gbs"]}
    assert abs(steps["transposeTile16Swizzled"] / steps["transposeTile16Padded"] - 1) < 0.02


def test_what_a_gpu_showed():
    """Data: on an H200 verification misses both races, and racecheck sees them."""
    rows = {row["kernel"]: row for row in csv.DictReader((ROOT / "tests/data/h200_errata.csv").open())}
    assert set(rows) == {k["kernel"] for k in kernels("faulty") if k["on"] == "GPU"}
    for kernel in ("transposeLoopingRace", "transposeRepeatedRace"):
        assert rows[kernel]["exit_status"] == "0" and "hazard" in rows[kernel]["tool_summary"]
    for kernel in ("transposeRow1DOnce", "transposeRowUnrolledUntested", "transposeDiagonal16Untested", "transposeNaiveRowOffset", "transposeShortIndex"):
        assert rows[kernel]["exit_status"] == "1" and "wrong result" in rows[kernel]["report"]
