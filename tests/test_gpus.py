"""Step 8 on the simulator: every kernel right on one to eight GPUs, what crosses between them, and what it says of bad input. tests/gpus.py has what only
GPUs can show."""

import csv

import pytest

from conftest import assert_refused, step

SHAPES = "1,1x7,5x2,33x65,64,129x127,333x555"


def rows(tmp_path, *arguments):
    """The results of a run, by kernel; and its table, with the explanation."""
    path = tmp_path / "results.csv"
    done = step("step08", *arguments, "--csv", path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    with open(path, newline="") as file:
        return list(csv.DictReader(file)), done.stdout


@pytest.mark.parametrize("gpus, element", [(1, "float"), (2, "double"), (3, "float"), (5, "double"), (8, "float")])
def test_every_kernel_is_right(gpus, element, tmp_path):
    found, _ = rows(tmp_path, "--all", "--gpus", gpus, "--type", element, "--size", SHAPES)
    kernels = {r["kernel"] for r in found}
    assert kernels == {line.split()[0] for line in step("step08", "--list").stdout.splitlines()[1:]}
    assert len(found) == len(kernels) * len(SHAPES.split(","))
    assert {r["kernel"] for r in found if r["result_right"] != "yes"} == {"copyToPeers", "sendMessages"}  # they transpose nothing


@pytest.mark.parametrize("gpus", [2, 4, 8])
def test_what_crosses(gpus, tmp_path):
    """All but 1 / gpus of the matrix, once. Single elements take a sector of 32 bytes each; the copies and the messages carry what the kernels store."""
    n = 512
    crossing = 4 * n * n * (gpus - 1) // gpus
    found = {r["kernel"]: r for r in rows(tmp_path, "--all", "--gpus", gpus, "--size", n)[0]}
    for kernel in ("transposeToPeers", "transposePlain", "transposePhases", "transposeFromPeers"):
        assert int(found[kernel]["bytes_between_gpus"]) == int(found[kernel]["bytes_asked"]) == crossing, kernel
        assert int(found[kernel]["peer_store_requests"]) + int(found[kernel]["peer_load_requests"]) == crossing // 128
    for kernel in ("transposeElementsToPeers", "transposeElementsFromPeers"):
        assert int(found[kernel]["bytes_between_gpus"]) == 8 * int(found[kernel]["bytes_asked"]) == 8 * crossing, kernel
    for kernel in ("transposePacked", "sendMessages", "copyToPeers"):
        assert (int(found[kernel]["message_bytes"]), int(found[kernel]["bytes_between_gpus"])) == (crossing, 0), kernel
    assert int(found["sendMessages"]["messages"]) == int(found["copyToPeers"]["messages"]) == gpus * (gpus - 1) == int(found["transposePacked"]["messages"]) // 8


@pytest.mark.parametrize("gpus", [4, 8])
def test_camping(gpus, tmp_path):
    """In plain order all GPUs send to one at a time. In rotated order, and in the lesson's, all receive alike."""
    kernels = "transposePlain,transposePhases,transposeToPeers"
    found, text = rows(tmp_path, "--gpus", gpus, "--machine", "t4", "--size", 2048, "--kernel", kernels, "--explain")
    busiest = {r["kernel"]: float(r["busiest_receiver"]) for r in found}
    assert busiest["transposePlain"] >= 1.5 and busiest["transposePhases"] == busiest["transposeToPeers"] == 1
    lesson = text[text.index("  transposeToPeers: to whom"):].splitlines()[1:gpus + 1]
    assert all(set(line.split()[2]) == {"*"} for line in lesson), lesson


@pytest.mark.parametrize("arguments, words", [
    (["--gpus", "0"], "--gpus 0: expected a whole number from 1 to 16"), (["--gpus", "17"], "from 1 to 16"), (["--type", "char"], "float and double"),
    (["--kernel", "no"], "--list"), (["--kernel", "no", "--explain"], "--list"), (["--kernel", "transposePlain", "--all"], "--all excludes --kernel"), (["--link", "wire"], "nvlink4"),
    (["--machine", "zzz"], "h200"), (["--device", "gpu"], "auto, cuda or sim"), (["--csv", ""], "a file name"), (["--csv", "/nonexistent/a.csv"], "cannot be written"),
    (["--sise", "3"], "unknown option --sise"), (["--all=3"], "takes no value"), (["--size"], "needs a value"), (["more"], "unexpected argument"), (["--size", "2000000"], "smaller --size")])
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
