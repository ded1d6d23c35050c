"""Step 8 on the simulator: every kernel right on one to eight GPUs, what crosses between them, and what it says of bad
input. The back end for several GPUs on the simulated CUDA runtime. tools/gpus.py has what only GPUs can show."""

import concurrent.futures
import csv
import os
import re
import sys

import pytest

from conftest import assert_refused, step
from lessons import ROOT, run
from samples import some

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import check
import sandbox
import wrong
from edits import edited

SHAPES = "1,1x7,5x2,33x65,64,129x127,333x555"


def rows(tmp_path, *arguments):
    """The results of a run, by kernel; and its table, with the explanation."""
    path = tmp_path / "results.csv"
    done = step("step08", *arguments, "--csv", path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    with open(path, newline="") as file:
        return list(csv.DictReader(file)), done.stdout


@pytest.mark.parametrize("gpus, element", [(1, "float"), (2, "double"), (3, "float"), (5, "double"), (8, "float"),
                                           (4, "char"), (3, "half"), (2, "double2")])
def test_every_kernel_is_right(gpus, element, tmp_path):
    found, _ = rows(tmp_path, "--all", "--gpus", gpus, "--type", element, "--size", SHAPES)
    kernels = {r["kernel"] for r in found}
    assert kernels == {line.split()[1] for line in step("step08", "--list").stdout.splitlines()[1:]}
    assert (len(found) == len(kernels) * len(SHAPES.split(","))
            and {(r["verified"], r["gpus"]) for r in found} == {("yes", str(gpus))})
    assert ({r["kernel"]: r["produces"] for r in found if r["produces"] != "transpose"}
            == {"copyToPeers": "copy to peers", "sendMessages": "nothing"})


@pytest.mark.parametrize("gpus", [2, 4, 8])
def test_what_crosses(gpus, tmp_path):
    """All but 1 / gpus of the matrix, once. Single elements take a sector of 32 bytes each; the copies and the messages
    carry what the kernels store."""
    n = 512
    crossing = 4 * n * n * (gpus - 1) // gpus
    found = {r["kernel"]: r for r in rows(tmp_path, "--all", "--gpus", gpus, "--size", n)[0]}
    for kernel in ("transposeToPeers", "transposePlain", "transposePhases", "transposeFromPeers"):
        assert (int(found[kernel]["bytes_between_gpus"]) == int(found[kernel]["bytes_asked_between_gpus"])
                == crossing), kernel
        assert int(found[kernel]["peer_store_requests"]) + int(found[kernel]["peer_load_requests"]) == crossing // 128
    for kernel in ("transposeElementsToPeers", "transposeElementsFromPeers"):
        assert (int(found[kernel]["bytes_between_gpus"]) == 8 * int(found[kernel]["bytes_asked_between_gpus"])
                == 8 * crossing), kernel
    for kernel in ("transposePacked", "sendMessages", "copyToPeers"):
        assert (int(found[kernel]["message_bytes"]), int(found[kernel]["bytes_between_gpus"])) == (crossing, 0), kernel
    assert (int(found["sendMessages"]["messages"]) == int(found["copyToPeers"]["messages"]) == gpus * (gpus - 1)
            == int(found["transposePacked"]["messages"]) // 8)


@pytest.mark.parametrize("gpus", some([4, 8], 2))
def test_camping(gpus, tmp_path):
    """In plain order all GPUs send to one at a time. In rotated order, and in the lesson's, all receive alike."""
    kernels = "transposePlain,transposePhases,transposeToPeers"
    found, text = rows(tmp_path, "--gpus", gpus, "--machine", "t4", "--size", 2048, "--kernel", kernels, "--explain")
    busiest = {r["kernel"]: float(r["busiest_receiver"]) for r in found}
    assert busiest["transposePlain"] >= 1.5 and busiest["transposePhases"] == busiest["transposeToPeers"] == 1
    lesson = text[text.index("  transposeToPeers: to whom"):].splitlines()[1:gpus + 1]
    assert all(set(line.split()[2]) == {"*"} for line in lesson), lesson


EXERCISE = check.load_exercises().EXERCISES[9]


def counted(tmp_path, text, *keys):
    """{key: Run} of a kernel for several GPUs, as the lab runs it. A key is (width, height, type, machine)."""
    file, lab, processor = tmp_path / "kernel.cu", check.Lab(), [check.any_processor()]
    file.write_text(text)
    data, read, why = lab.read(EXERCISE, file)
    assert why == ""
    with sandbox.Box() as box:
        assert lab.compile(box, check.unpack(box, EXERCISE, file, data, read), processor) == ""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return dict(
                zip(keys, pool.map(lambda key: lab.run(EXERCISE, box, [key[:2]], *key[2:], processor)[1][key[:2]],
                                   keys)))


@pytest.mark.parametrize("order", ["plain", "phases"])
def test_the_harness_of_the_lab_counts_as_step_8_does(order, tmp_path):
    """Two programs, two accounts: the same kernel with the same grid sends the same bytes at the same moments."""
    keys = [(2048, 2048, "float", "4 x t4"), (1000, 777, "float", "3 x t4"), (64, 1000, "double", "8 x h200"),
            (5, 2, "float", "8 x h200")]
    text = next(wrong.text_of(w) for w in wrong.WRONG if w.name == f"copied_{order}")
    for (width, height, type_, machine), found in counted(tmp_path, text, *keys).items():
        gpus, card = check.gpus_of(machine)
        (row,) = rows(tmp_path, "--gpus", gpus, "--machine", card, "--type", type_, "--size", f"{width}x{height}",
                      "--kernel", f"transpose{order.capitalize()}")[0]
        assert found.row["gpus"] == row["gpus"] == str(gpus)
        assert ((found.row["bytes_between_gpus"], found.row["bytes_asked_between_gpus"])
                == (row["bytes_between_gpus"], row["bytes_asked_between_gpus"])), machine
        assert abs(float(found.row["busiest_receiver"]) - float(row["busiest_receiver"])) < 0.001, machine


def test_what_gpus_do_to_each_other_is_found(tmp_path):
    """Nothing orders what different GPUs do. Each has its rows in memory of its own."""
    text, key = wrong.solution(9).read_text(), (64, 64, "float", "2 x h200")

    def found(edits):
        run = counted(tmp_path, edited(text, edits), key)[key]
        assert run.row is None and run.status == 1
        return " ".join(finding.text for finding in run.findings)

    everywhere = {"    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)\n        if (x < rows_end":
                      "    odata.part[0][0] = T(1);\n    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)\n"
                      "        if (x < rows_end"}
    assert ("race: byte 0 of odata of GPU 0" in found(everywhere)
            and "transposeExchange of GPU 0, launched at" in found(everywhere))
    assert "out-of-bounds store of 4 bytes at byte 8192 of odata of GPU 0: thread (0, 0, 0)" in found({
        "    __syncthreads();\n": "    __syncthreads();\n    if (me == 1) odata.part[0][32 * 64] = T(1);\n"})
    assert "out-of-bounds load of 4 bytes at byte 8192 of idata of GPU 0" in found({
        "    __syncthreads();\n": "    __syncthreads();\n    if (idata[32 * 64] == T()) return;\n"})
    assert "uninitialized load of 4 bytes at byte 0 of odata of GPU" in found({
        "    __syncthreads();\n": "    __syncthreads();\n    if (odata.part[peer][0] == T(7)) return;\n"})
    assert "store to the input" in found({"    __syncthreads();\n": "    __syncthreads();\n    *(T*)idata = T(7);\n"})


@pytest.mark.parametrize("arguments, words", [
    (["--gpus", "0"], "--gpus 0: expected a whole number from 1 to 16"), (["--gpus", "17"], "from 1 to 16"),
    (["--type", "long"], "char, half"), (["--kernel", "no"], "transposeToPeers"),
    (["--kernel", "no", "--explain"], "transposeToPeers"),
    (["--kernel", "transposePlain", "--all"], "--all excludes --kernel"), (["--link", "wire"], "nvlink4"),
    (["--machine", "zzz"], "h200"), (["--device", "gpu"], "expected one of auto, cuda, sim"),
    (["--link", "nvlink"], "; did you mean nvlink2?"), (["--csv", ""], "a file name"),
    (["--csv", "/nonexistent/a.csv"], "cannot be written"), (["--sise", "3"], "unknown option --sise"),
    (["--all=3"], "takes no value"), (["--size"], "needs a value"), (["more"], "unexpected argument"),
    (["--size", "2000000"], "smaller --size")])
def test_bad_input(arguments, words):
    done = step("step08", *arguments)
    assert_refused(done, 2, words)
    assert "try:" not in done.stdout and "Simulated" not in done.stdout, done.stdout


def test_processes_need_gpus(monkeypatch):
    """What mpirun sets, on the simulator."""
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    done = step("step08")
    assert done.returncode in (2, 3) and len(done.stderr.splitlines()) == 1 and "step08: " in done.stderr, done.stderr


def several(gpus, *arguments):
    """Step 8 with the back end for several GPUs, and NCCL, on so many devices of the simulated CUDA runtime."""
    return run(ROOT / "build/tests/steps/several", *arguments, env={**os.environ, "SIM_OPTIONS": f"--gpus {gpus}"})


@pytest.mark.parametrize("gpus", some([1, 2, 3, 5], 2))
def test_the_back_end_for_several_gpus(gpus, tmp_path):
    """Every kernel is right there, and the runtime finds no race between streams and no access out of bounds."""
    done = several(gpus, "--device", "cuda", "--all", "--once", "--size", "33x65,127", "--csv", tmp_path / "r.csv")
    assert done.returncode == 0 and "0 findings" in done.stdout + done.stderr, done.stdout + done.stderr
    found = list(csv.DictReader((tmp_path / "r.csv").open()))
    assert (len(found) == 18 and {(r["backend"], r["gpus"], r["processes"], r["verified"]) for r in found}
            == {("cuda", str(gpus), "1", "yes")})


def test_the_gpus_that_there_are():
    """Without --gpus all of them; the simulator where there are fewer than two, or than asked for."""
    assert several(3, "--once", "--size", "64").stdout.startswith("several on 3 x NVIDIA H200 (simulated)")
    assert re.match(r"several on the simulator of the H200 .*\(1 GPU here, and 2 wanted, so no GPU is used\)",
                    several(1, "--size", "64").stdout)
    assert re.match(r"several on the simulator of the H200 .*\(2 GPUs here, and 3 wanted, so no GPU is used\)",
                    several(2, "--gpus", "3", "--size", "64").stdout)
    assert_refused(several(2, "--device", "cuda", "--gpus", "3"), 3, "3 GPUs are asked for, and there are 2")
