"""Every kernel is right for every type and shape, and makes the requests it should."""

import csv
import math
import re

import pytest

from conftest import step
from lessons import (COUNTERS, LESSONS, MODELLED, ROOT, SHAPES, SOURCE_ROWS, STEPS, TYPES, UNMEASURED, is_for, kernels,
                     run)
from samples import few, some


EVERY = kernels("lesson", "variant")


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("program", STEPS)
def test_right_for_every_shape(program, element, tmp_path):
    """Lessons and variants, kernels and functions of the CPU: verified, with nothing on stderr."""
    assert len(set(SHAPES)) >= 30
    shapes = SHAPES if element == "float" else some(SHAPES, 9)
    path = tmp_path / "results.csv"
    done = step(program, "--all", "--type", element, "--size",
                ",".join(f"{width}x{height}" for width, height in shapes), "--reps", 1, "--csv", path)
    refused = [k["kernel"] for k in EVERY if k["program"] == program and not is_for(k, element)]
    assert done.returncode == 0 and sorted(done.stderr.splitlines()) == sorted(
        f"{program}: {name}: not for elements of this type: choose --type float, double or int" for name in refused
        for _ in shapes), done.stderr
    names = [k["kernel"] for k in EVERY if k["program"] == program and k["kernel"] not in refused]
    rows = [row for row in csv.DictReader(path.open()) if row["kernel"] not in ["memcpy", *refused]]
    assert {row["verified"] for row in rows} == {"yes"} and {row["type"] for row in rows} == {element}
    assert sorted((row["kernel"], int(row["width"]), int(row["height"])) for row in rows) == \
        sorted((name, width, height) for name in names for width, height in shapes)


def test_every_block_shape(tmp_path):
    """Kernels that take a block of any shape are right for odd ones, too."""
    blocks = ["1x1", "2x2", "3x4", "7x5", "1x37", "128x8", "1024x1", "1x1024"]
    for program in ("step01", "step02", "step03", "step06"):
        path = tmp_path / "results.csv"
        done = step(program, "--all", "--block", ",".join(blocks), "--size", "67x45,33x8", "--csv", path)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        rows = list(csv.DictReader(path.open()))
        assert {row["block"] for row in rows} == set(blocks) and {row["verified"] for row in rows} == {"yes"}


def test_every_row_of_the_sources_has_its_kernel():
    listed = run("make", "list").stdout.splitlines()
    rows = {row for line in listed if re.match("step0|every step", line) for row in line.split()}
    assert set(SOURCE_ROWS) <= rows
    # And in the programs: W12 is a kernel, too.
    assert set(SOURCE_ROWS) <= {row for k in EVERY for row in k["rows"]}
    for k in kernels():
        (line,) = [line for line in listed if line.split()[1:2] == [k["kernel"]]]
        assert line.split()[0] == k["step"] and k["produces"] in line and k["part"] in line


def test_kernels_go_by_their_source_rows():
    def names(program, choice):
        out = step(program, "--kernel", choice, "--size", 40).stdout
        return re.findall(r"^(\w+) +\S.* verified", out, re.MULTILINE)

    assert names("step04", "B9") == ["transposeLoopingBlocks"]
    assert names("step04", "B") == ["transposeTile16Padded", "transposeLoopingBlocks"]
    assert names("step02", "F9,B5") == ["transposeRow16", "transposeCol"]
    assert names("step02", "B1") == ["memcpy", "transposeSerialRead"]


@pytest.mark.parametrize("kernel", LESSONS)
def test_listed_with_what_it_produces(kernel):
    recorded = MODELLED[kernel]
    (entry,) = [k for k in EVERY if k["kernel"] == kernel]
    assert ((entry["program"], entry["rows"], entry["produces"], entry["part"])
            == (LESSONS[kernel], [recorded["source_row"]], recorded["produces"], "lesson"))


def test_degree_of_coalescing(tmp_path):
    """The coalescing notes' figures: five sectors where four would do, and four useful bytes of 32."""
    out = step("step01", "--kernel", "C", "--explain").stdout
    loads = dict(
        re.findall(r"load of global memory at \S+: (.*)\n.* requests .*; (\S+ % of the bytes) moved were asked for",
                   out))
    assert loads["T first = x[0];"] == "12.5 % of the bytes"
    assert re.search(r"^addMisaligned +sum +verified +\d+ +5.00 +\d+ +5.00 +80.0 ", out, re.MULTILINE)
    assert re.search(r"^addAligned +sum +verified +\d+ +4.00 +\d+ +4.00 +100.0 ", out, re.MULTILINE)
    assert "all lanes ask for one element" in out


def test_the_padded_small_tile_conflicts_and_the_swizzled_does_not(tmp_path):
    """The figures of erratum E11, 1024 squared: as the H200 counted them."""
    path = tmp_path / "counts.csv"
    assert step("step04", "--kernel", "transposeTile16Padded,transposeTile16Swizzled,transposeSwizzled", "--csv",
                path).returncode == 0
    padded, *swizzled = csv.DictReader(path.open())
    assert (padded["shared_load_requests"], padded["shared_load_wavefronts"],
            padded["shared_store_wavefronts"]) == ("32768", "65536", "65536")
    for row in swizzled:
        assert (row["shared_load_wavefronts"] == row["shared_load_requests"]
                and row["shared_store_wavefronts"] == row["shared_store_requests"])
    assert step("step03", "--kernel", "B6", "--csv", path).returncode == 0
    (unpadded,) = csv.DictReader(path.open())
    assert (unpadded["shared_load_wavefronts"], unpadded["shared_store_wavefronts"]) == ("262144", "32768")


def requests(tmp_path, kernel, *size):
    """The four request counts of a kernel, as its CSV gives them."""
    path = tmp_path / "counts.csv"
    assert step(LESSONS[kernel], "--kernel", kernel, "--csv", path, *size).returncode == 0
    (row,) = csv.DictReader(path.open())
    return [int(row[f"{space}_{kind}_requests"]) for space in ("global", "shared") for kind in ("load", "store")]


@pytest.mark.parametrize("kernel", LESSONS)
def test_requests_of_whole_tiles(tmp_path, kernel):
    """One request per warp, row of the tile and side; the profiler counts 131 072 for 2048 x 2048."""
    expected = 2048 * 2048 // 32
    tile = 0 if kernel in ("copy", "transposeNaive") else expected
    assert requests(tmp_path, kernel, "--size", 2048) == [expected, expected, tile, tile]


@pytest.mark.parametrize("width, height", [(100, 1000), (33, 65), (1, 77)])
def test_requests_at_the_edge(tmp_path, width, height):
    """A warp that hangs over the edge makes its request all the same; one wholly outside makes none."""
    loads = math.ceil(width / 32) * height
    stores = math.ceil(height / 32) * width
    counted = requests(tmp_path, "transposeNoBankConflicts", "--width", width, "--height", height)
    assert counted == [loads, stores, stores, loads]


@pytest.mark.parametrize("element, lanes_bytes", [("float", 4), ("int", 4), ("double", 8)])
def test_vectors_are_requests_of_512_bytes(tmp_path, element, lanes_bytes):
    """Vectors where rows begin on 16 bytes: a quarter or a half of the requests, all of them ideal."""
    path = tmp_path / "counts.csv"
    for size in ("1024x512", "136x72"):  # whole tiles, and tiles that hang over
        assert step("step07", "--kernel", "transposeVectorized", "--type", element, "--size", size, "--csv",
                    path).returncode == 0
        (row,) = csv.DictReader(path.open())
        moved = int(row["width"]) * int(row["height"]) * lanes_bytes
        assert (row["coalesced_percent"] == "100.0"
                and int(row["global_load_transactions"]) == int(row["global_store_transactions"]) == moved // 32)
        if size == "1024x512":
            assert ({row[f"{space}_{way}_requests"] for space in ("global", "shared") for way in ("load", "store")}
                    == {str(moved // 512)})
            assert row["shared_load_wavefronts"] == row["shared_store_wavefronts"] == str(4 * moved // 512)


def test_shared_memory_of_a_block_is_counted(tmp_path):
    path = tmp_path / "counts.csv"
    for kernel, program, size in (("copy", "step01", 0), ("transposeCoalesced", "step03", 4096),
                                  ("transposeNoBankConflicts", "step04", 32 * 33 * 4)):
        for element, factor in (("float", 1), ("double", 2)):
            assert step(program, "--kernel", kernel, "--type", element, "--size", 100, "--csv", path).returncode == 0
            (row,) = csv.DictReader(path.open())
            assert int(row["shared_bytes_per_block"]) == factor * size


@pytest.mark.parametrize("element, wavefronts", [("char", 1), ("half", 1), ("float", 1), ("double", 2), ("double2", 4)])
def test_step_7_goes_element_by_element(tmp_path, element, wavefronts):
    """A request per 32 elements of a row of the tile, and no bank conflict in any type. Where rows of odata begin
    inside a sector, the lesson's blocks share none: each is stored to once, but for those in which a row ends and the
    next begins."""
    path = tmp_path / "counts.csv"
    assert step("step07", "--all", "--type", element, "--size", "333x1021,512x256", "--csv", path).returncode == 0
    for row in csv.DictReader(path.open()):
        width, height = int(row["width"]), int(row["height"])
        if row["kernel"] == "transposeVectorized" and (width == 512 or element == "double2"):
            continue  # vectors
        if row["kernel"] == "transposeLongPieces" and width == 333:
            sectors = -(-width * height * int(row["element_bytes"]) // 32)
            assert sectors <= int(row["global_store_transactions"]) <= sectors + width
            continue
        assert (int(row["global_load_requests"]) == height * -(-width // 32)
                and int(row["global_store_requests"]) == width * -(-height // 32))
        if width == 512:
            assert (int(row["shared_load_wavefronts"]) == wavefronts * int(row["shared_load_requests"])
                    == wavefronts * width * height // 32)
            assert int(row["shared_store_wavefronts"]) == wavefronts * int(row["shared_store_requests"])


def test_what_has_been_profiled_is_compared():
    """A kernel waits for a profile only as long as there is none."""
    profiled = {row["kernel"] for row in csv.DictReader((ROOT / "tests/data/h200_profile.csv").open())}
    assert not profiled & UNMEASURED
    assert {k["kernel"] for k in EVERY if k["on"] == "GPU"} - profiled <= UNMEASURED


@pytest.mark.parametrize("element", ["char", "half", "float", "double", "double2"])
@pytest.mark.parametrize("program", STEPS)
def test_counts_are_the_profilers(tmp_path, program, element):
    """Requests, sectors and shared wavefronts equal those Nsight Compute counted on an H200, for every kernel; of a
    sample, in small matrices."""
    names = [k["kernel"] for k in EVERY
             if k["program"] == program and k["on"] == "GPU" and is_for(k, element) and k["kernel"] not in UNMEASURED]
    measured = {(row["kernel"], row["width"], row["height"]): row
                for row in csv.DictReader((ROOT / "tests/data/h200_profile.csv").open())
                if row["kernel"] in names and row["type"] == element}
    sizes = sorted({key[1:] for key in measured})
    assert set(sizes) >= {("1024", "1024"), ("333", "555")}
    assert (element not in ("float", "double")
            or set(sizes) >= {("2048", "2048"), ("2048", "1024"), ("1000", "777"), ("33", "65")})
    assert len(measured) == len(names) * len(sizes)
    sizes = few(sizes, lambda size: int(size[0]) * int(size[1]) < 200_000)
    path = tmp_path / "counts.csv"
    done = step(program, "--kernel", ",".join(names), "--csv", path, "--type", element, "--machine", "h200", "--size",
                ",".join(f"{width}x{height}" for width, height in sizes))
    assert done.returncode == 0
    different = [(row["kernel"], row["width"], row["height"], ours, row[ours], theirs)
                 for row in csv.DictReader(path.open()) for ours, theirs in
                 ((ours, measured[row["kernel"], row["width"], row["height"]][name]) for ours, name in COUNTERS.items())
                 if row[ours] != theirs]
    assert not different
