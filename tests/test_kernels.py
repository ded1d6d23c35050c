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


@pytest.mark.parametrize("width, height", [(2048, 2048), (333, 555)])
@pytest.mark.parametrize("kernel", LESSONS)
def test_requests_are_the_profilers(tmp_path, kernel, width, height):
    """The simulator's global requests equal those Nsight Compute counted on an H200."""
    (measured,) = [row for row in csv.DictReader((ROOT / "tests/data/h200_profile.csv").open())
                   if (row["kernel"], row["width"], row["height"]) == (kernel, str(width), str(height))]
    counted = requests(tmp_path, kernel, "--width", width, "--height", height)
    assert counted[:2] == [int(measured["global_load_requests"]), int(measured["global_store_requests"])]
