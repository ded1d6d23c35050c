"""The model of many GPUs: its links are the program's, its times are those computed by hand; and to whom each GPU's
data goes."""

import csv
import re
import sys

import pytest

from conftest import assert_refused, step
from lessons import ROOT, run

sys.path.insert(0, str(ROOT / "plots"))
import exchange
import figures
import receivers
from tables import read

TRACE = ROOT / "plots/data/sim_gpus_trace.csv"
PAGE = (ROOT / "step08_gpus/SCALING.md").read_text()
EXACT = {"nvlink4": exchange.Link(500, 1), "ndr": exchange.Link(50, 10)}


def test_links_are_the_programs():
    (names,) = re.findall(r"--link NAME.*?: (.*?)$",
                          run(ROOT / "step08", "--help").stdout.replace("(default: nvlink4)", ""), re.MULTILINE)
    assert list(exchange.links()) == names.split(", ")
    assert exchange.links()["ndr"] == (50, 5) and exchange.links()["pcie4"].gbs == 31.5
    with pytest.raises(ValueError, match="no nvlink4 and no ndr"):
        exchange.links('{"pcie4", 31.5, 3, "x"},')


def test_who_is_in_a_node():
    """Counted by name: of a group of GPUs that are `stride` apart, those with the same number / 8."""
    for group in (1, 2, 8, 64):
        for stride in (1, 2, 4, 8, 16):
            members = [stride * i for i in range(group)]
            near = sum(m // 8 == 0 for m in members) - 1
            assert exchange.neighbours(group, stride) == (near, group - 1 - near)


@pytest.mark.parametrize("way", ["flat", "nodes", "grid"])
def test_everything_arrives(way):
    """A message of a phase has the number of its receiver in one digit; after all phases, every GPU can have been
    reached."""
    for gpus in (2, 8, 16, 128, 4096):
        reached = 1
        for group, stride in exchange.phases(way, gpus):
            assert stride == reached
            reached *= group
        assert reached == gpus


def test_times_by_hand():
    """1000 x 1000 elements of 8 bytes are 8 MB."""
    def ms(way, gpus):
        return exchange.time_ms(way, gpus, 1000, 8, EXACT)
    assert ms("flat", 2) == pytest.approx(1e-3 + 2 / 500)                        # one message of 2 MB
    # 8 over the network; the other 7 are done before
    assert ms("flat", 16) == pytest.approx(8 * (10e-3 + 8 / 256 / 50))
    assert ms("nodes", 16) == pytest.approx(7 * (1e-3 + 0.5 / 8 / 500) + 10e-3 + 0.5 / 2 / 50)
    assert ms("grid", 16) == pytest.approx(3 * (1e-3 + 0.5 / 4 / 500) + 2 * (10e-3 + 0.5 / 4 / 50))
    assert ms("nodes", 8) == ms("flat", 8)
    assert exchange.bytes_alone_ms(2, 1000, 8, EXACT) == pytest.approx(2 / 500)
    assert exchange.even_bytes(EXACT["ndr"]) == pytest.approx(500e3)


def test_the_start_of_a_kernel_is_found():
    rows = [{
        "kernel": "k", "gpus": "2", "processes": "1", "type": "float", "width": str(n), "height": str(n),
        "time_median_ms": str(0.25 + n * n * 2 / 1e9), "crossing_bytes_of_a_gpu": str(n * n)}
            for n in (8192, 16384, 65536)]
    assert exchange.start_ms(rows, "k") == pytest.approx(0.25)


def test_what_the_page_says_of_the_program():
    """Four times the GPUs, four times the time: 12 messages of 65.5 kB become messages of 4 kB."""
    found = {}
    for gpus in (4, 16):
        (line,) = [
            line.split() for line in step("step08", "--gpus", gpus, "--size", 512, "--kernel", "sendMessages", "--link",
                                          "ndr").stdout.splitlines() if re.match("sendMessages .* ndr ", line)]
        found[gpus] = int(line[-5]), 1e3 * float(line[-4]) / int(line[-5]), float(line[-1])
    assert f"the 4 GPUs send {found[4][0]} messages of {found[4][1]:.1f} kB" in " ".join(PAGE.split())
    assert round(found[16][1]) == 4 and "4 kB are far below" in PAGE and round(found[16][2] / found[4][2]) == 4
    assert found[4][1] == pytest.approx(exchange.message_bytes(4, 512) / 1e3, rel=1e-3)


def test_the_figure_of_receivers_is_what_was_counted():
    """In rotated order no two GPUs send to the same one at a time, in plain order most do; and the counts in another
    file agree."""
    rows = read(TRACE)
    windows = {
        kernel: list(zip(*(r["receivers"] for r in rows if r["kernel"] == kernel))) for kernel in receivers.KERNELS}
    assert all(len(set(column)) == 4 for column in windows["transposePhases"])
    assert all(len(set(column) - {"."}) < 3 for column in windows["transposePlain"])
    assert {cell for column in windows["transposeToPeers"] for cell in column} == {"*"}
    counted = {r["kernel"]: r["busiest_receiver"] for r in read(ROOT / "plots/data/sim_gpus.csv") if r["gpus"] == "4"}
    assert counted == {r["kernel"]: r["busiest_receiver"] for r in rows}


def test_receivers_are_written(tmp_path):
    written = tmp_path / "r.csv"
    done = run(sys.executable, ROOT / "plots/receivers.py", written, "--gpus", 3, "--size", 1536)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(written.open()))
    assert (list(rows[0]) == receivers.COLUMNS and [r["sender"] for r in rows] == ["0", "1", "2"] * 3
            and {r["gpus"] for r in rows} == {"3"})
    assert [r["receivers"][0] for r in rows if r["kernel"] == "transposePhases"] == ["1", "2", "0"]
    assert_refused(run(sys.executable, ROOT / "plots/receivers.py", tmp_path / "none.csv", "--gpus", 99), 2,
                   "receivers.py: ", "99")
    assert not (tmp_path / "none.csv").exists()


def test_missing_rows_make_no_figure(tmp_path):
    measured, traced = read(exchange.MEASURED), read(TRACE)
    assert figures.scaling.draw([r for r in measured if r["kernel"] != "copyToPeers"],
                                tmp_path / "f") == "no rows of two sizes of copyToPeers"
    assert figures.receivers.draw([], tmp_path / "f") == "no rows of plots/receivers.py"
    assert figures.receivers.draw([r for r in traced if r["kernel"] != "transposePlain"],
                                  tmp_path / "f") == "no rows of transposePlain"
    assert figures.receivers.draw([{**r, "gpus": "9"} for r in traced],
                                  tmp_path / "f") == "9 GPUs: there are colours for 8"
    assert list(tmp_path.iterdir()) == []
