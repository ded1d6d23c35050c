"""Every kernel is right for every type and shape, and makes the requests it should."""

import csv
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
        assert line.split()[0] == k["step"] and k["produces"] in line and k["role"] in line


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
    assert ((entry["program"], entry["rows"], entry["produces"], entry["role"])
            == (LESSONS[kernel], [recorded["source_row"]], recorded["produces"], "lesson"))


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


@pytest.mark.parametrize("element", some(["char", "half", "float", "double2", "double"], 2))
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
