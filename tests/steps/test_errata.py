"""The gallery: every published fault is found by the check that should find it, its corrected twin passes, and its
story's figures are right."""

import csv
import functools
import re
import sys

import pytest

from conftest import assert_refused, step
from lessons import ERRATA, ROOT, STEPS, UNMEASURED, kernels, run

sys.path.insert(0, str(ROOT / "plots"))
from gallery import gallery

# Erratum, faulty kernel, check or method: how the finding begins, and the corrected twin.
GALLERY = {
    ("E1", "transposeRow1DOnce"):
        ("wrong result: 32768 of 65536 elements differ; first at row 0, column 512 .*never written", "transposeRow1D"),
    ("E2", "transposeLoopingRace"): ("race: write-after-read", "transposeLoopingBlocks"),
    ("E3", "transposeRepeatedRace"): ("race: write-after-read", "transposeRepeated"),
    ("E4", "comparesWithOwnOutput"): ("a check that cannot fail: it accepts an output that was never written",
                                      "comparesWithTurnedTiles"),
    ("E5", "comparesWithItself"): ("a check that cannot fail: it accepts an output that was never written",
                                   "comparesWithTheInput"),
    ("E5", "transposeRowUnrolledMixedUp"): ("same launch: kernel, grid and block are those of transposeColUnrolled",
                                            "transposeRowUnrolled"),
    ("E6", "transposeRowUnrolledUntested"): ("out-of-bounds", "transposeRowUnrolled"),
    ("E7", "transposeDiagonal16Untested"): ("out-of-bounds", "transposeDiagonal16"),
    ("E8", "transposeNaiveRowOffset"): ("wrong result", "transposeNaive"),
    ("E8", "transposeNaiveRowOffset16"): (r"out-of-bounds store .* \(192 times\)", "transposeNaive"),
    ("E9", "transposeSerialExchanged"): ("wrong result", "transposeSerialWrite"),
    ("E10", "transposeShortIndex"): ("out-of-bounds", "transposeNaive"),
    ("E10", "transposeUnsignedShortIndex"): ("wrong result: .* found .* \\(idata row", "transposeNaive"),
    ("E11", "transposeTile16Padded"): ("bank conflicts: (load|store) .*: 2 wavefronts per request where 1 would do",
                                       "transposeTile16Swizzled"),
    ("E12", "transposeRemapReturns"): (r"out-of-bounds store .* \(2 times\)", "transposeRemap"),
    ("E13", "transposeCol1DExchanged"): ("wrong result: 3498 of 3500 elements differ", "transposeCol1D"),
    ("E14", "transposeFineGrainedByHeight"): (r"out-of-bounds store .* \(512 times\)", "transposeFineGrained"),
    ("E15", "transposeFineGrainedEdge"): ("uninitialized load .* of shared memory", "transposeFineGrained"),
    ("E15", "transposeCoarseGrainedGuard"): (r"uninitialized load .* of shared memory .* \(1024 times\)",
                                             "transposeCoarseGrained"),
    ("E16", "transposeRowDiagonalSquare"): ("wrong result: 2048 of 6144 elements differ; .*never written",
                                            "transposeRowDiagonal"),
    ("E17", "transposeSerialSquare"): ("wrong result: 3430 of 3500 elements differ", "transposeSerialRead"),
    ("E18", "addMisalignedUntested"): ("out-of-bounds load", "addMisaligned"),
    ("E18", "addBroadcastMixedUp"): ("same launch: kernel, grid and block are those of addMisalignedUntested",
                                     "addBroadcast"),
    ("E19", "transposeBlockPerRow"): ("the kernel asks for 131072 blocks in y, and CUDA launches 1 to 65535",
                                      "transposeRow1D"),
    ("E20", "leavesOutTheCopies"): ("incomplete comparison: .* 12.517 ms and the GPU 0.474 ms, but 13.104 ms",
                                    "countsTheCopies"),
    ("E21", "countsRowsThatWereLeftOut"): ("impossible measurement: 267.2 GB/s .* on a memory of 208.0 GB/s",
                                           "countsRowsThatWereTransposed"),
    ("E23", "countsOneTransferForEachClock"): ("impossible measurement: 160.2 GB/s .* on a memory of 104.0 GB/s",
                                               "countsTwoTransfersForEachClock"),
    ("E24", "givesTheM2090TooLittle"): ("impossible measurement: 134.4 GB/s .* on a memory of 117.6 GB/s",
                                        "givesTheM2090ItsPeak"),
    ("E25", "numbersRowsWithHalfTheWidth"):
        ("wrong example: row 1 of a matrix of 64 columns begins with 65 and not with 33", "numbersRowsWithTheWidth"),
    ("E26", "loopsOverRowsFirst"): ("outside: 1000 of 3500 reads are beyond the end", "loopsOverColumnsFirst"),
    ("E27", "keepsTheLastOutput"): ("a check that a failed launch passes", "clearsTheOutput"),
    ("E28", "hasThreeColumns"): (r"wrong example: of 3 columns and 4 rows, the seventh thread is \(0, 2\) and takes "
                                 r"\(1, 2\)", "hasFourColumns"),
    ("E29", "shiftsBanksTheWrongWay"): (r"wrong bank: tile\[0\]\[17\] of a padded tile lies in bank 1 ",
                                        "shiftsBanksByTheRow"),
    ("E30", "campsAtEveryPartitionWidth"): ("wrong rule: with a stride of 256 bytes, 32 rows lie in 8 partitions",
                                            "campsAtEveryRound"),
    ("E31", "leavesTheFirstRow"): (r"wrong example: .* block \(1, 0\) goes to tile \(1, 1\) and not to \(1, 0\)",
                                   "movesAllButOne"),
    ("E32", "accessesAllAtOnce"): ("not at once: of 65536 blocks at 4096 x 4096, a K20c holds 104 at a time",
                                   "accessesASmallMatrixAtOnce"),
    ("E33", "dividesByTheCopysTime"): (r"wrong formula: 0.134217728 GB / 0.001610 s is 83.4 GB/s and not 33.5",
                                       "dividesByItsOwnTime"),
    ("E34", "timesWithoutWaiting"): ("clock read early: at call 10 of 10, 1 kernel may still be running",
                                     "timesAfterWaiting"),
    ("E22", "comparesAcrossTables"): ("two times for one kernel: .* a ratio of 1.18", "comparesWithinATable"),
}


@functools.cache
def shown():
    """The gallery by erratum and kernel."""
    return {(fault.id, fault.kernel): fault for fault in gallery()}


def test_each_fault_is_found_by_its_check_and_its_twin_is_clean():
    assert set(shown()) == set(GALLERY)
    assert {id_ for id_, _ in shown()} == set(ERRATA)
    for key, (check, twin) in GALLERY.items():
        fault = shown()[key]
        assert fault.story.startswith("Published: ") and "What remains: " in fault.story and fault.source
        assert re.match(check, fault.finding), fault
        assert (fault.corrected, fault.verdict) == (twin, "nothing to report")
        assert (fault.shape is None) == (int(key[0][1:]) >= 20)  # methods, not kernels


def test_the_page_has_every_fault_once():
    """docs/SOURCES.md, with the step whose program shows it."""
    page = (ROOT / "docs/SOURCES.md").read_text()
    lines = re.findall(r"^\|[^|]*\| (E[\dE, ]+) \|.*\| (\d) \|$", page, re.MULTILINE)
    named = [(id_, number) for ids, number in lines for id_ in ids.split(", ")]
    assert sorted(named) == sorted({(fault.id, fault.program[-1]) for fault in gallery()})


PUBLISHED = list(csv.DictReader((ROOT / "plots/published.csv").open()))


def published(table, source_row, side):
    (value,) = [r["value"] for r in PUBLISHED
                if (r["source"], r["table"], r["source_row"], r["side"]) == ("book", table, source_row, str(side))
                   and r["quantity"] != "single trial"]
    return value


def test_published_figures_in_the_programs_are_those_of_the_file():
    """The methods of step 1 have them as literals."""
    text = (ROOT / "step01_copy/errata.cpp").read_text()
    for call, values in (
        ("above_the_peak(8192, 8192, {})", [("9.1", "B4", 8192)]),
        ("above_the_peak(8192, 512, {})", [("9.1", "B4", 8192)]),
        ("copies_decide(2048, {}, {}, {})", [("9.1", "B1", 2048), ("9.1", "B7", 2048), ("9.1", "B10", 2048)]),
        ("copies_decide(8192, {}, {}, {})", [("9.1", "B1", 8192), ("9.1", "B7", 8192), ("9.1", "B10", 8192)]),
        ("one_kernel_two_times(4096, {}, {})", [("9.1", "B7", 4096), ("9.3", "B7", 4096)]),
        ("one_kernel_two_times(8192, {}, {})", [("9.1", "B7", 8192), ("9.3", "B7", 8192)])):
        assert call.format(*(published(*value) for value in values)) in text


def test_no_fault_is_part_of_a_normal_run():
    faulty = {k["kernel"] for k in kernels("faulty")}
    assert len(faulty) == 21
    for program in STEPS:
        for arguments in ([], ["--all"]):
            out = step(program, "--size", 40, *arguments).stdout
            assert not faulty & set(out.split())
    # By its name, it is run and refused.
    done = step("step02", "--kernel", "transposeNaiveRowOffset", "--size", 64)
    assert done.returncode == 1 and "WRONG" in done.stdout


def test_faults_hide_where_the_sources_measured():
    """Squares, multiples of the tile, few rows: there every one of these verifies."""
    for program, kernel, size in [
        ("step02", "transposeRow1DOnce", 512), ("step02", "transposeRowUnrolledUntested", 256),
        ("step02", "transposeSerialExchanged", 256), ("step02", "transposeShortIndex", 128),
        ("step06", "transposeDiagonal16Untested", 256), ("step04", "transposeLoopingRace", 1024),
        ("step02", "transposeCol1DExchanged", 256), ("step02", "transposeSerialSquare", 256),
        ("step02", "transposeUnsignedShortIndex", 256), ("step03", "transposeRemapReturns", 64),
        ("step05", "transposeFineGrainedByHeight", 64), ("step05", "transposeFineGrainedEdge", 64),
        ("step05", "transposeCoarseGrainedGuard", 64), ("step06", "transposeRowDiagonalSquare", 64)]:
        done = step(program, "--kernel", kernel, "--size", size)
        assert done.returncode == 0, (kernel, done.stderr)


@pytest.mark.parametrize("arguments, words", [
    (["--errata", "--device", "cuda"], ["--errata", "simulator"]),
    (["--errata", "--reps", "5"], ["--errata", "of the other options it takes"]),
    (["--errata", "--kernel", "nope"], ["--kernel nope", "transposeRepeatedRace"])])
def test_bad_input(arguments, words):
    assert_refused(run(ROOT / "step04", *arguments), 2, *words)


def test_what_a_gpu_showed():
    """Data: on an H200 verification misses both races, and racecheck sees them."""
    rows = {row["kernel"]: row for row in csv.DictReader((ROOT / "tests/data/h200_errata.csv").open())}
    faulty = {k["kernel"] for k in kernels("faulty") if k["on"] == "GPU"}
    assert faulty - set(rows) == faulty & UNMEASURED and set(rows) <= faulty
    for kernel in ("transposeLoopingRace", "transposeRepeatedRace"):
        assert rows[kernel]["exit_status"] == "0" and "hazard" in rows[kernel]["tool_summary"]
    for kernel in ("transposeRow1DOnce", "transposeRowUnrolledUntested", "transposeDiagonal16Untested",
                   "transposeNaiveRowOffset", "transposeShortIndex"):
        assert rows[kernel]["exit_status"] == "1" and "wrong result" in rows[kernel]["report"]


@pytest.mark.parametrize("program, arguments", [("step02", ["--kernel", "E8", "--size", "300x500"]),
                                                ("step06", ["--kernel", "E7", "--size", "50"]),
                                                ("step06", ["--errata"])])
def test_a_fault_is_the_same_fault_every_time(program, arguments):
    """Blocks that race do so in one order, whatever host threads the machine has: which finding comes first, and how
    many elements differ."""
    said = {(done.returncode, done.stdout, done.stderr)
            for done in (run(ROOT / program, "--device", "sim", *arguments) for _ in range(6))}
    assert len(said) == 1 and (arguments == ["--errata"] or next(iter(said))[0] == 1)
