"""Step 8 on the simulator: every kernel right on one to eight GPUs, what crosses between them, and what it says of bad
input. The back end for several GPUs on the simulated CUDA runtime. tools/gpus.py has what only GPUs can show."""

import csv
import os
import re

import pytest

from conftest import assert_refused, step
from lessons import ROOT, run
from samples import some

SHAPES = "1,1x7,5x2,33x65,64,129x127,333x555"


def rows(tmp_path, *arguments):
    """The results of a run, by kernel; and its table, with the explanation."""
    path = tmp_path / "results.csv"
    done = step("step08", *arguments, "--csv", path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    with open(path, newline="") as file:
        return list(csv.DictReader(file)), done.stdout


@pytest.mark.parametrize("gpus, element", some([(1, "float"), (2, "double"), (3, "half"), (5, "double"), (8, "float"),
                                                (4, "char"), (4, "double2"), (3, "float")], 2))
def test_every_kernel_is_right(gpus, element, tmp_path):
    found, _ = rows(tmp_path, "--all", "--gpus", gpus, "--type", element, "--size", SHAPES)
    kernels = {r["kernel"] for r in found}
    assert kernels == {line.split()[1] for line in step("step08", "--list").stdout.splitlines()[1:]}
    assert (len(found) == len(kernels) * len(SHAPES.split(","))
            and {(r["verified"], r["gpus"]) for r in found} == {("yes", str(gpus))})
    assert ({r["kernel"]: r["produces"] for r in found if r["produces"] != "transpose"}
            == {"copyToPeers": "copy to peers", "storeToPeers": "copy to peers", "sendMessages": "nothing"})


@pytest.mark.parametrize("gpus", some([4, 2, 8], 3))
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
            == int(found["transposePacked"]["messages"]) // 2)


@pytest.mark.parametrize("gpus", some([4, 8], 2))
def test_camping(gpus, tmp_path):
    """In plain order all GPUs send to one at a time. In rotated order, and in the lesson's, all receive alike."""
    kernels = "transposePlain,transposePhases,transposeToPeers"
    found, text = rows(tmp_path, "--gpus", gpus, "--machine", "t4", "--size", 2048, "--kernel", kernels, "--explain")
    busiest = {r["kernel"]: float(r["busiest_receiver"]) for r in found}
    assert busiest["transposePlain"] >= 1.5 and busiest["transposePhases"] == busiest["transposeToPeers"] == 1
    lesson = text[text.index("  transposeToPeers: to whom"):].splitlines()[1:gpus + 1]
    assert all(set(line.split()[2]) == {"*"} for line in lesson), lesson


def test_bad_input():
    for arguments, words in [
            (["--gpus", "17"], "--gpus 17: expected a whole number from 1 to 16"),
            (["--kernel", "no", "--explain"], "transposeToPeers"), (["--link", "nvlink"], "; did you mean nvlink2?"),
            (["--size", "2000000"], "smaller --size")]:
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


@pytest.mark.parametrize("gpus", some([3, 1, 2, 5], 4))
def test_the_back_end_for_several_gpus(gpus, tmp_path):
    """Every kernel is right there, and the runtime finds no race between streams and no access out of bounds."""
    done = several(gpus, "--device", "cuda", "--all", "--once", "--size", "33x65,127", "--csv", tmp_path / "r.csv")
    assert done.returncode == 0 and "0 findings" in done.stdout + done.stderr, done.stdout + done.stderr
    found = list(csv.DictReader((tmp_path / "r.csv").open()))
    assert (len(found) == 20 and {(r["backend"], r["gpus"], r["processes"], r["verified"]) for r in found}
            == {("cuda", str(gpus), "1", "yes")})


def test_the_gpus_that_there_are():
    """Without --gpus all of them; the simulator where there are fewer than two, or than asked for."""
    assert several(3, "--once", "--size", "64").stdout.startswith("several on 3 x NVIDIA H200 (simulated)")
    assert re.match(r"several on the simulator of the H200 .*\(1 GPU here, and 2 wanted, so no GPU is used\)",
                    several(1, "--size", "64").stdout)
    assert re.match(r"several on the simulator of the H200 .*\(2 GPUs here, and 3 wanted, so no GPU is used\)",
                    several(2, "--gpus", "3", "--size", "64").stdout)
    assert_refused(several(2, "--device", "cuda", "--gpus", "3"), 3, "3 GPUs are asked for, and there are 2")
