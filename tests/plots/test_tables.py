"""The sources' tables beside what was measured: the committed runs, and files that are no such thing."""

import csv
import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import HAS_GPU, assert_refused, step
from lessons import ROOT, UNMEASURED, run
from samples import ALL

sys.path.insert(0, str(ROOT / "plots"))
import results as reader
from tables import sig

DATA = ROOT / "plots/data"
PUBLISHED = list(csv.DictReader((ROOT / "plots/published.csv").open()))


def tables(name, *files):
    return run(sys.executable, ROOT / "plots/tables.py", name, *files)


@pytest.mark.parametrize("name, titles", [
    ("whitepaper", ["The whitepaper's table"]),
    ("book", ["The book's table 9.1", "The book's table 9.2 as effective bandwidth", "The book's table 9.3"]),
    ("bandwidth", ["The bandwidth post's kernels", "Its block shapes", "Its profile"]),
])
def test_tables_of_the_h200(name, titles):
    done = tables(name, DATA / f"h200_{name}.csv")
    assert done.returncode == 0 and done.stderr == ""
    assert "Here: measured on NVIDIA H200, driver 580" in done.stdout
    found = re.split(r"\n\n(?=(?:The|Its) [^\n]*:[^\n]*\n\n)", done.stdout)[1:]
    assert all("\nPublished in: " in table for table in found)
    assert [table.split("\n")[0].split(":")[0] for table in found] == titles
    for table in found:
        cells = re.sub("(row|col), diagonal.*", "", table)  # described without figures
        if "table 9.3" in table and "transposeTile32Padded" in UNMEASURED:
            cells = ""
        assert not re.search(r"(^| )-( |$)", cells, re.MULTILINE), cells
        assert "model" not in cells


def test_published_figures_are_shown_and_converted():
    out = tables("whitepaper", DATA / "h200_whitepaper.csv").stdout
    for row in PUBLISHED:
        if row["source"] == "whitepaper":
            (line,) = [line for line in out.splitlines() if line.startswith(row["kernel"] + "  ")]
            assert f"{float(row['value']) * 1024 ** 3 / 1e9:.1f}" in line.split()
    out = tables("book", DATA / "h200_book.csv").stdout
    for row in PUBLISHED:
        if row["table"] == "9.1":
            (line,) = [
                line for line in out.split("table 9.2")[0].splitlines()
                if line.startswith(row["kernel"] + ", published")]
            assert row["value"] in line.split()
        if row["table"] == "9.2":  # the book's own conversion agrees with its times, as far as they have digits
            (ms,) = [r["value"] for r in PUBLISHED
                     if r["table"] == "9.1" and r["kernel"] == row["kernel"] and r["side"] == row["side"]]
            mib = int(row["side"]) ** 2 * 4 / 2 ** 20
            assert mib / (float(ms) + 0.0005) - 0.005 <= float(row["value"]) <= mib / (float(ms) - 0.0005) + 0.005
    assert re.search(r"^gpu_1_1, published .* 267\.2\*$", out, re.MULTILINE) and len(re.findall(r"\d\*", out)) == 1
    assert "* more than the peak of the card's memory, 208 GB/s" in out
    out = tables("bandwidth", DATA / "h200_bandwidth.csv").stdout
    assert re.search(r"^64x8 +1\.946 ", out, re.MULTILINE)


def noise(row):
    """What marks a row that is too noisy to compare."""
    return "!" if float(row["time_spread_percent"]) > 100 * reader.TOO_NOISY else ""


def test_measured_figures_are_those_of_the_file():
    rows = {(r["kernel"], r["width"]): r for r in csv.DictReader((DATA / "h200_book.csv").open())}
    table = tables("book", DATA / "h200_book.csv").stdout.split("table 9.2")[0].splitlines()
    for name, kernel in (("serial_1", "transposeSerialRead"), ("gpu_2_0", "transposeRow16"),
                         ("gpu_3", "transposeDiagonal16")):
        (at,) = [i for i, line in enumerate(table) if line.startswith(name + ", published")]
        own = [rows[kernel, str(n)] for n in (256, 512, 1024, 2048, 4096, 8192)]
        assert table[at + 1].split()[1:] == [sig(row["time_median_ms"]) + noise(row) for row in own]


def test_the_program_and_the_file_agree_on_what_was_published():
    """The GTX 280's column stands in common/base/model.cpp, too: programs read no files of the report."""
    gtx280 = {r["source_row"]: float(r["value"]) for r in PUBLISHED
              if r["machine"] == "GTX 280" and r["quantity"] == "bandwidth"}
    text = (ROOT / "common/base/model.cpp").read_text()
    assert {row: float(value) for row, value in re.findall(r'\{"(W\d)", ([\d.]+)\}', text)} == gtx280


@pytest.mark.skipif(HAS_GPU, reason="with a GPU it is measured: tools/gpu.py makes it")
@pytest.mark.skipif(not ALL, reason="make test-all simulates the whole table")
def test_one_command_makes_a_table(tmp_path):
    """The counts and the model of the GTX 280, beside what was published for it."""
    done = run("make", "table-whitepaper", f"RESULTS={tmp_path}", timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^bank conflict free +17\.8 .* model 17\.\d +-$", done.stdout, re.MULTILINE)
    assert len(list(tmp_path.glob("whitepaper-*/whitepaper_step0?.csv"))) == 6


def test_files_it_cannot_use(tmp_path):
    path, lines = tmp_path / "results.csv", (DATA / "h200_book.csv").read_text().splitlines()
    cut = "\n".join([*lines[:4], lines[4][:40]]) + "\n"
    for text, words in (("a,b\n1,2\n", ["no column backend"]), (cut, ["line 5", "too few values"])):
        path.write_text(text)
        assert_refused(tables("book", path), 2, "results.csv", *words)
    assert_refused(tables("book", pathlib.Path("/nowhere.csv")), 2, "/nowhere.csv")


def test_peers_of_the_h200():
    """Shares of cudaMemcpy in the same run, and step 7 over cublasGeam. What is not in the file is a dash."""
    out = tables("peers", DATA / "h200_peers.csv").stdout
    rows = {(r["type"], r["kernel"], f"{r['width']} x {r['height']}"): r
            for r in csv.DictReader((DATA / "h200_peers.csv").open())}
    for element in ("float", "int"):
        (table,) = re.findall(rf"^{element}, width x height of idata:.*?\n\n(.*?)\n\n", out, re.MULTILINE | re.DOTALL)
        lines = {line.split("  ")[0]: re.split(r"  +", line)[1:] for line in table.splitlines()}
        shapes = lines.pop("")[:-1]
        assert len(shapes) == 11 and set(lines) >= {"copy", "transposeLongPieces", "PyTorch", "CuPy", "JAX"}
        for kernel, shown in lines.items():
            for shape, cell in zip(shapes, shown):
                row, copy = rows.get((element, kernel, shape)), rows[element, "cudaMemcpy", shape]
                if kernel == "cudaMemcpy, GB/s":
                    assert cell == f"{float(copy['bandwidth_gbs']):.0f}"
                elif "/" not in kernel:
                    assert cell == (f"{float(row['bandwidth_gbs']) / float(copy['bandwidth_gbs']):.3f}{noise(row)}"
                                    if row else "-"), (element, kernel, shape)
                elif kernel == "step 7 / cublasGeam":
                    ours, theirs = (float(rows[element, name, shape]["bandwidth_gbs"])
                                    for name in ("transposeLongPieces", "cublasGeam"))
                    assert cell == f"{ours / theirs:.3f}"
        assert "! Too noisy to compare: the spread of the samples is above 20 % of their median." in out
        assert ("cublasGeam" in lines) == ("step 7 / cublasGeam" in lines) == (element != "int")


# numpy as if it were CuPy, on a GPU. WRONG=1: it forgets an element.
STAND_IN = """
from numpy import *
import numpy, os, time, types

__version__ = "stand-in"

def copyto(out, array):
    numpy.copyto(out, array)
    if os.environ.get("WRONG"):
        out[-1, -1] = -1

class Event:
    def record(self):
        self.time = time.perf_counter()
    def synchronize(self):
        pass

cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(getDeviceCount=lambda: 1), Event=Event,
                             get_elapsed_time=lambda start, stop: 1e3 * (stop.time - start.time))
get_default_memory_pool = lambda: types.SimpleNamespace(free_all_blocks=lambda: None)
"""


def peer(tmp_path, questions, **environment):
    (tmp_path / "cupy.py").write_text(STAND_IN)
    done = subprocess.run([sys.executable, ROOT / "step07_long_pieces/peers/peer.py", "CuPy"],
                          input="\n".join(questions) + "\n", text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(tmp_path), **environment}, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_peer_is_timed_and_checked(tmp_path):
    ready, *replies = peer(
        tmp_path, ["time float 300 200 3 7", "time double 70 50 1 1", "release", "time int 1 17 2 5", "nonsense"])
    assert ready == "ready stand-in" and replies[2] == "released"
    assert all(float(ms) > 0 for ms in (replies[0], replies[1], replies[3]))
    assert replies[4].startswith("error ") and len(replies) == 5
    assert peer(tmp_path, ["time float 300 200 3 7"], WRONG="1")[1] == "wrong 1 elements of rows 0 to 299 differ"


def test_an_absent_peer_says_why():
    done = run(sys.executable, "-I", ROOT / "step07_long_pieces/peers/peer.py", "PyTorch")
    assert done.returncode == 0 and re.fullmatch("absent (No module named 'torch'|it sees no GPU)\n", done.stdout)
