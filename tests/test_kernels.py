"""Every lesson kernel is right for every type and shape, and makes the requests it should."""

import csv
import math

import pytest

from conftest import step
from lessons import LESSONS, ROOT, SHAPES, TYPES


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("kernel", LESSONS)
def test_right_for_every_shape(kernel, element):
    assert len(set(SHAPES)) >= 30
    for width, height in SHAPES:
        done = step(LESSONS[kernel][0], "--kernel", kernel, "--type", element, "--width", width, "--height", height)
        assert done.returncode == 0, (width, height, done.stderr)
        assert f"{height} rows x {width} columns of {element}" in done.stdout
        assert [line for line in done.stdout.splitlines() if line.startswith(kernel) and "verified" in line]


@pytest.mark.parametrize("kernel", LESSONS)
def test_listed_with_what_it_produces(kernel):
    program, row, produces = LESSONS[kernel]
    listed = [line for line in step(program, "--list").stdout.splitlines() if line.split()[0] == kernel]
    assert len(listed) == 1
    assert produces in listed[0] and listed[0].endswith(row)


def requests(tmp_path, kernel, *size):
    """The four request counts of a kernel, as its CSV gives them."""
    path = tmp_path / "counts.csv"
    assert step(LESSONS[kernel][0], "--kernel", kernel, "--csv", path, *size).returncode == 0
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


COUNTERS = {  # ours: Nsight Compute's, in the CSV of tests/gpu.py
    "global_load_requests": "global_load_requests",
    "global_load_transactions": "global_load_sectors",
    "global_store_requests": "global_store_requests",
    "global_store_transactions": "global_store_sectors",
    "shared_load_wavefronts": "shared_load_wavefronts",
    "shared_store_wavefronts": "shared_store_wavefronts",
}


@pytest.mark.parametrize("element", ["float", "double"])
@pytest.mark.parametrize("kernel", LESSONS)
def test_counts_are_the_profilers(tmp_path, kernel, element):
    """Requests, sectors and shared wavefronts equal those Nsight Compute counted on an H200."""
    measured = [row for row in csv.DictReader((ROOT / "tests/data/h200_profile.csv").open())
                if row["kernel"] == kernel and row["type"] == element]
    assert {(row["width"], row["height"]) for row in measured} >= {("1024", "1024"), ("2048", "1024"), ("1000", "777"), ("33", "65")}
    for row in measured:
        path = tmp_path / "counts.csv"
        done = step(LESSONS[kernel][0], "--kernel", kernel, "--csv", path, "--type", element, "--machine", "h200",
                    "--width", row["width"], "--height", row["height"])
        assert done.returncode == 0
        (counted,) = csv.DictReader(path.open())
        for ours, theirs in COUNTERS.items():
            assert counted[ours] == row[theirs], (row["width"], row["height"], ours)
