"""--machines: a program runs once for each machine, and a table has the modelled times. --json has them, too."""

import csv
import json
import os
import re
import signal
import subprocess
import time

import pytest

from lessons import ROOT, run

# It reads a number from its input, and launches a kernel so often. It fails on cards before 8.0, if it is told to.
SOURCE = r"""
#include <cstdio>
#include <cstring>
#include <unistd.h>
__global__ void copy(float* out, const float* in) { out[blockIdx.x * 256 + threadIdx.x] = in[threadIdx.x]; }
int main(int argc, char** argv)
{
    int times = 0;
    if (scanf("%d", &times) != 1) return 9;
    cudaDeviceProp card;
    cudaGetDeviceProperties(&card, 0);
    float* memory;
    cudaMalloc(&memory, 4096);
    cudaMemset(memory, 0, 4096);
    for (int i = 0; i < times; ++i) copy<<<2, 256>>>(memory + 512, memory);
    if (argc > 1 && !strcmp(argv[1], "wait")) sleep(60);
    cudaFree(memory);
    printf("%s: %d\n", card.name, times);
    return argc > 1 && card.major < 8 ? 7 : 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several")
    (folder / "program.cu").write_text(SOURCE)
    done = run(ROOT / "sim/simcuda", folder / "program.cu", "-o", folder / "program", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "input.txt").write_text("3\n")
    return folder / "program"


def on(program, options, *arguments, cwd=None, **more):
    with (program.parent / "input.txt").open() as file:
        return subprocess.run([program, *arguments], env={**os.environ, "SIM_OPTIONS": options}, stdin=file,
                              cwd=cwd or program.parent, capture_output=True, text=True, timeout=600, **more)


def rows_of(out):
    """(kernel, machine, the rest) of the table."""
    lines = out.split("Modelled, not measured: ")[1].splitlines()[3:]
    rows = [re.split(r"  +", line.strip()) for line in lines]
    kernel = ""
    for row in rows:
        if "<<<" in row[0]: kernel = row.pop(0)
        yield kernel, row[0], *row[1:]


def test_a_table_of_machines(program):
    done = on(program, "--machines h200,h100,t4")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if "(simulated)" in line] == [
        f"NVIDIA {name} (simulated): 3" for name in ("H200", "H100 SXM", "Tesla T4")]
    kernel = "copy<<<2, 256>>>"
    h200, h100, t4 = rows_of(done.stdout)
    assert h200[:2] == (kernel, "h200") and h100[:2] == (kernel, "h100") and t4 == (kernel, "t4", "no constants")
    for row in (h200, h100):
        alone = on(program, f"--machine {row[1]}").stdout
        assert f": {row[2]} ms a launch; limited by {row[3]}, then by {row[4]}\n" in alone


def test_the_worst_status_is_that_of_all(program):
    assert on(program, "--machines h200,t4", "fail").returncode == 7
    assert on(program, "--machines t4,h200", "fail").returncode == 7
    assert on(program, "--machines h200,h100", "fail").returncode == 0


@pytest.mark.parametrize("options, message", [
    ("--machines h200,gtx", "--machine gtx: expected one of g80, "),
    ("--machines h200,", "--machine : expected one of"),
    ("--machines", "--machines needs a value"), ("--machines h200,H200", "two machines are called h200; expected"),
    ("--machines h200,none.machine", "--machine none.machine: No such file or directory"),
    ("--machines h200,t4 --json /nonexistent/r.json", "--json /nonexistent/r.h200.json: cannot be written"),
])
def test_bad_input_is_one_line_before_any_run(program, options, message):
    done = on(program, options)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and message in done.stderr


def test_json_has_the_model(program, tmp_path):
    for options, known in (("--machine h200", True), ("--machine t4", False), ("--machine h200 --blocks 1", False)):
        assert on(program, f"{options} --json report.json", cwd=tmp_path).returncode == 0
        (kernel,) = json.loads((tmp_path / "report.json").read_text())["kernels"]
        model = [kernel[name] for name in ("model_time_ms", "model_limit", "model_next_limit")]
        if known: assert 0.001 < model[0] < 0.01 and len(model[1]) > 3 and len(model[2]) > 3
        else: assert model == [None, None, None]


@pytest.mark.variety
def test_a_simulated_program_is_ended(program):
    """By its terminal, or by another program: neither leaves a child behind."""
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([program, "wait"], env={**os.environ, "SIM_OPTIONS": "--machines h200,h100"},
                                   stdin=(program.parent / "input.txt").open(), stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        time.sleep(2)
        if number == signal.SIGINT: os.killpg(process.pid, number)
        else: process.send_signal(number)
        out = process.stdout.read()  # ends when the last one has ended
        assert process.wait(60) == -number and "the program was interrupted" in out and "H100" not in out
