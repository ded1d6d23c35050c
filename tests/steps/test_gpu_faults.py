"""What a GPU can do to a program: each call of the CUDA runtime fails once, and what a machine may have instead of one
free card.

build/tests/steps/faulty_gpu is step 4 with common/devices/, compiled for the CUDA runtime of
tests/steps/faulty_cuda.cpp. It needs no GPU and no nvcc."""

import csv
import os
import re

import pytest

from conftest import assert_refused
from lessons import ROOT, run

PROGRAM = ROOT / "build/tests/steps/faulty_gpu"
TWO = ("--kernel", "transposeNoBankConflicts,transposeTile16Padded", "--once")  # a lesson and a variant
UNAVAILABLE, ILLEGAL_ADDRESS, LAUNCH_FAILURE = 46, 700, 719
OUT_OF_MEMORY, INVALID_FUNCTION, INSUFFICIENT_DRIVER = 2, 98, 35


def faulty(faults, folder, *arguments):
    """Runs step 4 there; its options include --csv results.csv."""
    return run(PROGRAM, "--size", "33x65", "--csv", "results.csv", *arguments, cwd=folder,
               env={**os.environ, "FAULTY_CUDA": faults})


def assert_lost(done, folder, *words):
    assert_refused(done, 3, "faulty_gpu: common/devices/", *words)
    assert os.listdir(folder) == ["old"], done


@pytest.fixture
def folder(tmp_path):
    """With a file in it that stays."""
    (tmp_path / "old").write_text("old")
    return tmp_path


def test_it_runs_without_a_fault(folder):
    """What the other tests damage."""
    done = faulty("", folder, "--all", "--reps", 3)
    assert done.returncode == 0 and done.stdout.startswith("faulty_gpu on Card 0: ") and done.stderr == "", done
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10 and {row["backend"] for row in rows} == {"cuda"} and done.stdout.count(" verified ") == 10


def test_a_card_that_is_lost_at_any_call(folder):
    """From the first call to the last: one line, no results. Only where there is no card in the beginning, the
    simulator takes its place."""
    said = set()
    for call in range(1, 1000):
        done = faulty(f"any:{call}:{UNAVAILABLE}", folder, *TWO)
        if call == 1:
            assert (done.returncode == 0 and "on the simulator of the H200 " in done.stdout.splitlines()[0]
                    and "busy or unavailable" in done.stdout.splitlines()[0])
            (folder / "results.csv").unlink()
        elif done.returncode == 0:
            break
        else:
            assert_lost(done, folder, "busy or unavailable")
            said.update(re.findall(r"cuda\.cu:\d+: (\w+)\(", done.stderr))
    # The calls behind the results are those that give everything back.
    assert call > 50 and said >= {
        "cudaFree", "cudaGetDevice", "cudaGetDeviceProperties", "cudaEventCreate", "cudaMalloc", "cudaGetLastError",
        "cudaDeviceSynchronize", "cudaMemcpy", "cudaMemGetInfo"}, (call, said)


def test_a_card_that_is_lost_while_it_measures(folder):
    for call in (1, 2, 5):
        for function in ("cudaEventRecord", "cudaEventSynchronize", "cudaEventElapsedTime"):
            assert_lost(faulty(f"{function}:{call}:{LAUNCH_FAILURE}", folder), folder, "unspecified launch failure")


def test_a_fault_in_a_kernel_names_the_kernel(folder):
    """Its launch succeeds; a later call reports it."""
    said = ""
    for call in range(1, 20):
        done = faulty(f"cudaDeviceSynchronize:{call}:{ILLEGAL_ADDRESS}", folder, *TWO)
        if done.returncode == 0:
            break
        assert_lost(done, folder, "an illegal memory access was encountered")
        said += done.stderr
    for kernel in ("transposeTile16Padded", "transposeNoBankConflicts"):
        assert f"(after the launch of {kernel})" in said, said


def test_a_launch_that_fails_names_the_kernel(folder):
    names = set()
    for launch in range(1, 100):
        done = faulty(f"launch:{launch}:{INVALID_FUNCTION}:once", folder, *TWO)
        if done.returncode == 0:
            break
        assert_lost(done, folder, "invalid device function")
        names.update(re.findall(r"\(after the launch of (\w+)\)$", done.stderr))
    assert names == {"transposeNoBankConflicts", "transposeTile16Padded"}


@pytest.mark.parametrize("faults, words", [
    ("cards=0", "no CUDA-capable device is detected"),
    (f"cudaGetDeviceCount:1:{INSUFFICIENT_DRIVER}", "no NVIDIA driver, or one too old for this program"),
])
def test_no_card_or_an_old_driver(faults, words, folder):
    assert_refused(faulty(faults, folder, "--device", "cuda"), 3, "--device cuda: no CUDA device: ", words)
    assert os.listdir(folder) == ["old"]
    done = faulty(faults, folder)
    heading = f"faulty_gpu on the simulator of the H200 .* \\({re.escape(words)}, so no GPU is used\\)"
    assert done.returncode == 0 and re.fullmatch(heading, done.stdout.splitlines()[0])


def test_of_two_cards_one_is_taken(folder):
    """CUDA takes the other one, and the results name it."""
    done = faulty("cards=2 taken=1", folder)
    assert done.returncode == 0 and done.stdout.startswith("faulty_gpu on Card 1: ")
    with (folder / "results.csv").open() as file:
        assert {row["machine"] for row in csv.DictReader(file)} == {"Card 1"}


@pytest.mark.parametrize("cards", [1, 2])
def test_all_cards_are_taken(cards, folder):
    assert_lost(faulty(f"cards={cards} taken={cards}", folder), folder,
                "busy or unavailable; --device sim needs no GPU")


def test_no_memory_on_the_card(folder):
    """None to begin with, too little for the matrices, and memory that another program took in between."""
    assert_lost(faulty(f"cudaMalloc:1:{OUT_OF_MEMORY}:once", folder), folder, "cudaMalloc",
                "out of memory; --device sim needs no GPU")
    for faults, words in (("free=20000", "choose a smaller --size"),
                          (f"cudaMalloc:2:{OUT_OF_MEMORY}:once", "the Card 0 has no "),
                          (f"cudaMalloc:3:{OUT_OF_MEMORY}:once", "the Card 0 has no ")):
        assert_refused(faulty(faults, folder, "--once"), 2, words)
        assert os.listdir(folder) == ["old"]


def test_a_setting_that_is_none(folder):
    assert_refused(faulty("cards", folder), 2, "FAULTY_CUDA: cards: expected NAME:CALL:ERROR")
