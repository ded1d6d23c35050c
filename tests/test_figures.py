"""The figures: all of them from the committed data and from traces, the same twice over; and what they are drawn from."""

import base64
import csv
import io
import re
import sys

import numpy as np
import PIL.Image
import pytest

from lessons import LESSONS, ROOT, run

sys.path.insert(0, str(ROOT / "plots"))
import figures  # noqa: E402: after its folder is known
import traces  # noqa: E402

HEADING = traces.COLUMNS + "\n"
LINE = "H200,k,float,64,64,{},load,idata,7,4,{},{},4,{}\n"


@pytest.fixture(scope="module")
def taken():
    done, failed = figures.take_traces(figures.RUNS)
    assert not failed
    return done


@pytest.fixture(scope="module")
def rows():
    return figures.load_rows()


def write(path, text):
    path.write_text(text)
    return path


# The reader.

def test_a_trace_is_read(tmp_path):
    path = write(tmp_path / "t.csv", HEADING + LINE.format("0,0,0,0", "ffffffff", "256:4", "1")
                 + LINE.format("0,0,1,1", "00000005", "8 0", "") + LINE.format("3,2,0,0", "80000003", "12:100", "2"))
    trace = traces.read_trace(path)
    assert (trace.machine, trace.kernel, trace.type, trace.width, trace.height) == ("H200", "k", "float", 64, 64)
    assert len(trace) == 3 and trace.launch.tolist() == [0, 0, 1] and trace.block.tolist() == [[0, 0], [0, 0], [3, 2]]
    assert trace.offsets[0].tolist() == [256 + 4 * lane for lane in range(32)]
    assert trace.offsets[1].tolist() == [8, -1, 0] + [-1] * 29
    assert trace.offsets[2].tolist() == [12, 112] + [-1] * 29 + [212]
    assert trace.bytes.tolist() == [128, 8, 12] and trace.partition.tolist() == [1, -1, 2]
    assert len(trace.select(block=(0, 0), phase=1)) == 1 and len(trace.select("odata", "store")) == 0
    # What is left out while reading still counts as a launched block.
    assert len(traces.read_trace(path, memory=["odata"])) == 0
    assert traces.read_trace(path, kernel="k").path == str(path)


@pytest.mark.parametrize("text, words", [
    ("a,b\n", "not a file that"),
    (HEADING, "no requests"),
    (HEADING + "H200,k\n", "line 2: 2 values where 17"),
    (HEADING + LINE.format("0,0,0,0", "0000000f", "1 2 3", ""), "line 2: 3 offsets of 4 lanes"),
    (HEADING + LINE.format("0,0,0,0", "xyz", "1:2", ""), "line 2: "),
    (HEADING + LINE.format("0,0,0,0", "ffffffff", "1:4", "") + LINE.replace(",k,", ",l,").format("0,0,0,0", "ffffffff", "1:4", ""), "line 3: another kernel"),
])
def test_what_is_no_trace(tmp_path, text, words):
    with pytest.raises(ValueError, match=words):
        traces.read_trace(write(tmp_path / "t.csv", text))


# What the figures say, before it is drawn.

def test_sectors_of_a_store(taken):
    for name, count in (("naive", 32), ("coalesced", 4)):
        stores = taken[name][0].select("odata", "store", launch=0, warp=3)
        touched = figures.sectors(figures.one(stores, 0))
        assert len(touched) == count == stores.units[0]
        assert sum(mask.sum() for mask in touched.values()) == 128


def test_banks_of_the_tile(taken):
    for name, banks, wavefronts in (("coalesced", 1, 32), ("padded", 32, 1), ("swizzled", 32, 1)):
        bank, column, cost = figures.banks(taken[name][0], warp=5)
        assert bank.shape == (32, 32) and sorted(np.unique(bank)) == list(range(32))
        assert column == [(row, 5) for row in range(32)]
        assert len({bank[cell] for cell in column}) == banks and cost == wavefronts
    assert figures.banks(taken["padded"][0])[0][1, 0] == 1 and figures.tile_pitch(taken["padded"][0]) == 33 * 4


def test_the_way_through_the_tile(taken):
    """Element (r, c) of idata is element (c, r) of odata, and in between in row r % 32, column c % 32 of the tile."""
    for way in figures.the_way(taken["padded"][0], (1, 0), 4, 1).values():
        assert way["odata"] == [(column, row) for row, column in way["idata"]]
        assert way["tile"] == [(row % 32 * 33 + column % 32) * 4 for row, column in way["idata"]]
    ways = figures.the_way(taken["padded"][0], (1, 0), 4, 1)
    assert ways["reads"]["idata"] == [(12, column) for column in range(32, 64)]
    assert ways["writes"]["odata"] == [(44, column) for column in range(32)]


def test_partitions_of_the_gtx_280(taken):
    (camped, resident), (spread, _) = taken["camped"], taken["spread"]
    assert resident == 90
    cells, partition = figures.tiles(camped, "idata")
    assert len(cells) == 64 * 64 == len({tuple(cell) for cell in cells.tolist()})
    assert (partition == cells[:, 1] // 2 % 8).all()  # 256 bytes are two tiles' rows
    assert sorted(np.unique(partition)) == list(range(8))
    assert set(figures.tiles(camped, "odata")[1][:resident]) == {0}
    assert set(figures.tiles(spread, "odata")[1][:resident]) == set(range(8))


def test_traffic_agrees_with_the_simulator(taken, tmp_path):
    for name in ("camped", "spread", "hashed"):
        program, options, _ = figures.RUNS[name]
        done = run(ROOT / program, "--device", "sim", *options, "--csv", tmp_path / "counts.csv")
        assert done.returncode == 0, done.stderr
        (row,) = csv.DictReader((tmp_path / "counts.csv").open())
        trace, resident = taken[name]
        moved = figures.traffic(trace, resident)
        assert moved.sum() == 2048 * 2048 * 4 and moved.shape == (-(-4096 // resident), 8)
        assert figures.busiest(moved) == pytest.approx(float(row["busiest_partition_of_stores"]), abs=6e-4)


def test_orders_of_blocks(taken):
    side = 8
    orders = {name: figures.tiles(taken[name][0], "odata")[0].tolist() for name in ("order4", "order6", "order7")}
    assert orders["order4"][:10] == [[i % side, i // side] for i in range(10)]
    assert orders["order6"][:side] == [[i, i] for i in range(side)]
    assert orders["order7"][:side + 1] == [[0, i] for i in range(side)] + [[1, 0]]
    for cells in orders.values():
        assert len({tuple(cell) for cell in cells}) == side * side


def test_names_are_spread_apart():
    assert figures.spread([0.0, 0.01, 0.5], 0.1).tolist() == pytest.approx([-0.045, 0.055, 0.5])
    assert figures.spread([0.5, 0.5, 0.0], 0.1).tolist() == pytest.approx([0.45, 0.55, 0.0])


# The figures.

def test_all_figures_twice(taken, rows, tmp_path):
    names = {*figures.FIGURES, *figures.TRACED}
    for folder in ("first", "second"):
        assert figures.draw_all(tmp_path / folder, rows, taken, {}) == dict.fromkeys(names)
    files = sorted(file.name for file in (tmp_path / "first").iterdir())
    assert files == sorted(f"{name}.{kind}" for name in names for kind in ("png", "svg"))
    for file in files:
        first, second = ((tmp_path / folder / file).read_bytes() for folder in ("first", "second"))
        assert len(first) > 10_000 and first == second, file
        if file.endswith(".svg"):
            assert len(first) < 300_000, f"{file}: {len(first)} bytes"
            assert b"<svg" in first and b"<text" not in first and b"<dc:date>" not in first, file
            assert drawing(first) == drawing((ROOT / "plots/figures" / file).read_bytes()), f"{file} is stale: python3 plots/figures.py plots/figures"


def drawing(svg):
    """What an SVG file shows: its text with numbers to a tenth of a point, and the pixels of the images in it."""
    pixels = [PIL.Image.open(io.BytesIO(base64.b64decode(image))).tobytes() for image in re.findall(rb"data:image/png;base64,([\w+/=\s]+)", svg)]
    text = re.sub(rb"data:image/png;base64,[\w+/=\s]+", b"", svg)
    return re.sub(rb"-?\d+\.\d+", lambda m: b"%.1f" % float(m.group()), text), pixels


def test_every_figure_is_committed():
    for name in (*figures.FIGURES, *figures.TRACED):
        assert (ROOT / f"plots/figures/{name}.svg").stat().st_size > 10_000


def test_missing_rows_make_no_figure(rows, tmp_path):
    steps = rows["bandwidth_steps"]
    without = [row for row in steps if row["kernel"] != "transposeDiagonal"]
    assert "transposeDiagonal" in figures.bandwidth_steps(without, tmp_path / "f")
    other = [{**row, "machine": "GPU 2"} for row in steps]
    simulated = [row for row in rows["predicted_measured"] if row["backend"] == "sim"]
    assert len({row["kernel"] for row in simulated}) == len(LESSONS) == 9
    for draw, some in ((figures.bandwidth_steps, simulated[1:]), (figures.bandwidth_over_n, []), (figures.time_per_element, simulated),
                       (figures.predicted_measured, steps), (figures.predicted_measured, simulated), (figures.predicted_measured, other + simulated),
                       (figures.bandwidth_steps, steps + other), (figures.bandwidth_over_n, [row for row in steps if row["width"] == "8192"])):
        reason = draw(some, tmp_path / "f")
        assert isinstance(reason, str) and reason, draw.__name__
    assert list(tmp_path.iterdir()) == []
    assert figures.bandwidth_steps(steps + other, tmp_path / "f", machine="GPU 2") is None
    assert figures.bandwidth_steps(simulated, tmp_path / "m") is None  # the model's, and it says so


def test_missing_traces_make_no_figure(taken, rows, tmp_path):
    naive = taken["naive"][0]
    (tmp_path / "out").mkdir()
    stem = tmp_path / "out/f"
    for reason in (figures.way_through_the_tile(naive, stem), figures.way_through_the_tile(None, stem), figures.sectors_naive_coalesced(naive, None, stem),
                   figures.bank_maps(naive, naive, naive, stem), figures.partitions_2048([], 90, stem), figures.partition_traffic([], stem),
                   figures.partition_traffic([("", taken["camped"][0], None)], stem), figures.block_orders([("", None)], stem)):
        assert isinstance(reason, str) and reason
    assert list((tmp_path / "out").iterdir()) == []
    reasons = figures.draw_all(tmp_path / "out", rows, {}, dict.fromkeys(figures.RUNS, "not built"))
    assert {name for name, reason in reasons.items() if reason == "not built"} == set(figures.TRACED)


def test_files_that_are_no_results(tmp_path):
    for text, words in (("", "no results in it"), ("a,b\n1,2\n", "not a file that ./stepNN --csv wrote")):
        done = run(sys.executable, ROOT / "plots/figures.py", tmp_path / "out", "--results", write(tmp_path / "r.csv", text))
        assert done.returncode == 2 and words in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
