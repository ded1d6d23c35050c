"""The discussion after the sources' tables: every factor is that of the published figures and of the data."""

import csv
import re
import sys

from lessons import ROOT

sys.path.insert(0, str(ROOT / "plots"))
import results as reader
from sources import discussion

DATA = ROOT / "plots/data"
RESULTS = reader.load([DATA / "h200_book.csv", DATA / "h200_bandwidth.csv"])
(GPU,) = [m for m in RESULTS.machines() if m.backend == "cuda"]
(CPU,) = [m for m in RESULTS.machines() if m.backend == "cpu"]
PUBLISHED = list(csv.DictReader((ROOT / "plots/published.csv").open()))


def ms(table, row, side):
    (value,) = [float(r["value"]) for r in PUBLISHED
                if (r["table"], r["source_row"], r["side"]) == (table, row, str(side)) and r["quantity"] == "time"]
    return value


def test_the_book():
    text = discussion.book(RESULTS, GPU, CPU)
    lines = text.splitlines()
    assert [re.match(r"- \*\*([\d.]+)\. ", line).group(1) for line in lines] == [*"12345678", "9.7"]
    assert f"published {ms('9.1', 'B1', 256) / ms('9.1', 'B7', 256):.0f} at 256, " in lines[2]
    for line, table, slow, fast, side in (
            (4, "9.1", "B5", "B6", 8192), (5, "9.1", "B6", "B7", 8192), (6, "9.1", "B7", "B8", 4096),
            (7, "9.1", "B7", "B4", 8192), (8, "9.3", "B7", "B9", 4096)):
        assert f"{ms(table, slow, side) / ms(table, fast, side):.2f} at {side}" in lines[line].partition("here")[0]
    here = {(r["kernel"], r["width"]): float(r["time_median_ms"])
            for r in csv.DictReader((DATA / "h200_book.csv").open()) if r["time_median_ms"]}
    assert (f"{here['transposeTile16Padded', '8192'] / here['transposeCol1D', '8192']:.2f} at 8192"
            in lines[7].partition("here")[2])
    assert {"E1", "E2", "E11", "E20", "E32"} <= set(re.findall(r"\bE\d+", text))


def test_the_post():
    text = discussion.post(RESULTS, GPU)
    assert f"published {4.008 / 2.123:.2f} at 4096; here " in text and text.count("\n") == 5 and "E5" in text


def test_without_a_gpu_the_published_figures_stand_alone():
    for text in (discussion.book(RESULTS, None), discussion.post(RESULTS, None)):
        assert "published" in text and "here " not in text.replace("The one here has", "").replace("model here", "")
