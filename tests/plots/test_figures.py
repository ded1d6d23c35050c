"""The figures: all of them from the committed data and from traces, the same twice over; and what they are drawn
from."""

import base64
import csv
import io
import os
import re

import numpy as np
import PIL.Image
import pytest
from matplotlib.figure import Figure

import browser
import chapters
import explorables  # chapters knows its folder
import figures
from figures import (bandwidth_over_n, bandwidth_steps, banks, partition_traffic, predicted_measured,
                     sectors_naive_coalesced, shared, time_per_element, way_through_the_tile)
from lessons import LESSONS, ROOT, run
from samples import ALL
import traces

HEADING = traces.COLUMNS + "\n"
LINE = "H200,k,float,64,64,{},load,idata,7,4,{},{},4,{}\n"


@pytest.fixture(scope="module")
def taken():
    done, failed = chapters.taken()
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


# What the figures say, before it is drawn.

def test_sectors_of_a_store(taken):
    for name, count in (("naive", 32), ("coalesced", 4)):
        stores = taken[name][0].select("odata", "store", launch=0, warp=3)
        touched = sectors_naive_coalesced.sectors(shared.one(stores, 0))
        assert len(touched) == count == stores.units[0]
        assert sum(mask.sum() for mask in touched.values()) == 128


def test_the_way_through_the_tile(taken):
    """Element (r, c) of idata is element (c, r) of odata, and in between in row r % 32, column c % 32 of the tile."""
    for way in way_through_the_tile.the_way(taken["coalesced"][0], (1, 0), 4, 1).values():
        assert way["odata"] == [(column, row) for row, column in way["idata"]]
        assert way["tile"] == [(row % 32 * 32 + column % 32) * 4 for row, column in way["idata"]]
    ways = way_through_the_tile.the_way(taken["coalesced"][0], (1, 0), 4, 1)
    assert ways["reads"]["idata"] == [(12, column) for column in range(32, 64)]
    assert ways["writes"]["odata"] == [(44, column) for column in range(32)]


def test_partitions_of_the_gtx_280(taken):
    (camped, resident), (spread, _) = taken["camped"], taken["spread"]
    assert resident == 90
    cells, partition = shared.tiles(camped, "idata")
    assert len(cells) == 64 * 64 == len({tuple(cell) for cell in cells.tolist()})
    assert (partition == cells[:, 1] // 2 % 8).all()  # 256 bytes are two tiles' rows
    assert sorted(np.unique(partition)) == list(range(8))
    assert set(shared.tiles(camped, "odata")[1][:resident]) == {0}
    assert set(shared.tiles(spread, "odata")[1][:resident]) == set(range(8))


def test_traffic_agrees_with_the_simulator(taken, tmp_path):
    for name in ("camped", "spread", "hashed"):
        program, options, _ = figures.RUNS[name]
        done = run(ROOT / program, "--device", "sim", *options, "--csv", tmp_path / "counts.csv")
        assert done.returncode == 0, done.stderr
        (row,) = csv.DictReader((tmp_path / "counts.csv").open())
        trace, resident = taken[name]
        moved = partition_traffic.traffic(trace, resident)
        assert moved.sum() == 2048 * 2048 * 4 and moved.shape == (-(-4096 // resident), trace.partition.max() + 1)
        assert partition_traffic.busiest(moved) == pytest.approx(float(row["busiest_partition_of_stores"]), abs=6e-4)


def test_orders_of_blocks(taken):
    side = 8
    orders = {name: shared.tiles(taken[name][0], "odata")[0].tolist() for name in ("order4", "order6", "order7")}
    assert orders["order4"][:10] == [[i % side, i // side] for i in range(10)]
    assert orders["order6"][:side] == [[i, i] for i in range(side)]
    assert orders["order7"][:side + 1] == [[0, i] for i in range(side)] + [[1, 0]]
    for cells in orders.values():
        assert len({tuple(cell) for cell in cells}) == side * side


# The figures.

def test_all_figures_are_those_that_are_committed(taken, rows, tmp_path):
    assert figures.draw_all(tmp_path / "first", rows, taken, {}, *chapters.explored()) == dict.fromkeys(figures.ALL)
    if ALL: figures.draw_all(tmp_path / "second", rows, taken, {}, *chapters.explored())
    assert sorted(os.listdir(tmp_path / "first")) == sorted(f"{name}.svg" for name in figures.ALL)
    for file in (tmp_path / "first").iterdir():
        svg = file.read_bytes()
        assert not ALL or svg == (tmp_path / "second" / file.name).read_bytes(), file
        assert 4_000 < len(svg) < 150_000 and b"<svg" in svg and b"<dc:date>" not in svg, file
        # text is text: it can be found and copied, and its font is named once, with others to take its place
        assert svg.count(b"<text") > 10 and svg.count(b"font-family") == 1, file
        assert (drawing(svg) == drawing((ROOT / "plots/figures/svg" / file.name).read_bytes())
                ), f"{file} is stale: python3 plots/figures plots/figures/svg"


def drawing(svg):
    """What an SVG file shows: its text with numbers to a tenth of a point, and the pixels of the images in it."""
    pixels = [
        PIL.Image.open(io.BytesIO(base64.b64decode(image))).tobytes()
        for image in re.findall(rb"data:image/png;base64,([\w+/=\s]+)", svg)]
    text = re.sub(rb"data:image/png;base64,[\w+/=\s]+", b"", svg)
    return re.sub(rb"-?\d+\.\d+", lambda m: b"%.1f" % float(m.group()), text), pixels


@pytest.mark.variety
@pytest.mark.skipif(browser.CHROMIUM is None, reason=browser.NEEDED)
def test_text_stays_inside_and_apart():
    """Text of the committed figures, as a browser lays it out."""
    svgs = "".join(f'<figure id="{name}">{text[text.index("<svg"):]}</figure>' for name in figures.ALL
                   for text in [(ROOT / f"plots/figures/svg/{name}.svg").read_text()])
    with browser.opened() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_content(f"<!doctype html><meta charset=utf-8><body>{svgs}")
        assert page.evaluate("""() => [...document.querySelectorAll("svg")].flatMap(svg => {
            const all = svg.getBoundingClientRect(), found = [];
            const texts = [...svg.querySelectorAll("text")].filter(text => text.textContent.trim())
                .map(text => [text.textContent, text.getBoundingClientRect()]);
            for (const [i, [text, a]] of texts.entries()) {
                if (a.left < all.left || a.right > all.right || a.top < all.top || a.bottom > all.bottom)
                    found.push(`${svg.parentNode.id}: ${text} is cut off`);
                for (const [other, b] of texts.slice(i + 1))
                    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 &&
                        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3.5)  // of the lines' leading
                        found.push(`${svg.parentNode.id}: ${text} lies on ${other}`);
            }
            return found; })""") == []


def test_missing_rows_make_no_figure(rows, tmp_path):
    steps = rows["bandwidth_steps"]
    without = [row for row in steps if row["kernel"] != "transposeDiagonal"]
    assert "transposeDiagonal" in bandwidth_steps.draw(without, tmp_path / "f")
    other = [{**row, "machine": "GPU 2"} for row in steps]
    simulated = [row for row in rows["predicted_measured"] if row["backend"] == "sim"]
    assert len({row["kernel"] for row in simulated}) == len(LESSONS) == 9
    for figure, some in ((bandwidth_steps, simulated[1:]), (bandwidth_over_n, []), (time_per_element, simulated),
                         (predicted_measured, steps), (predicted_measured, simulated),
                         (predicted_measured, other + simulated), (bandwidth_steps, steps + other),
                         (bandwidth_over_n, [row for row in steps if row["width"] == "8192"])):
        reason = figure.draw(some, tmp_path / "f")
        assert isinstance(reason, str) and reason, figure.__name__
    assert list(tmp_path.iterdir()) == []


def test_missing_traces_make_no_figure(rows, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", lambda _, file, **__: file.write(chapters.EMPTY))
        reasons = figures.draw_all(tmp_path, rows, {}, dict.fromkeys(figures.RUNS, "not built"), {},
                                   dict.fromkeys(explorables.IN_PLACE_OF.values(), "not built"))
    assert {name for name, reason in reasons.items() if reason == "not built"} == {*figures.TRACED, *figures.EXPLORED}
