"""The command line: what it prints, and how it refuses."""

import collections
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import a_terminal, assert_refused, needs, step
from lessons import LESSONS, MODELLED, ROOT, STEPS, computing, run


# A row for each check of an option's value, and for each way to help.
REFUSED = [
    (["--size", "0"], ["--size 0", "N or WxH", "whole numbers from 1"]),
    (["--size", "1e9"], ["--size 1e9", "N or WxH, for example 1024 or 2048x512"]),
    (["--size", "99999999999999999999"], ["--size", "whole numbers from 1 to 2147400000"]),
    (["--size", "1x2x3"], ["--size 1x2x3", "N or WxH"]),
    (["--size"], ["--size needs a value"]),
    (["--width", "5"], ["--width without --height"]),
    (["--size", "5", "--width", "5", "--height", "5"], ["--size excludes"]),
    (["--type", "flaot"], ["--type flaot", "expected one of char, half, float, double", "; did you mean float?"]),
    (["--kernel", "nope"], ["--kernel nope", "expected one of transposeNoBankConflicts"]),
    (["--reps", "0"], ["--reps 0", "whole number"]),
    (["--peak", "nan"], ["--peak nan", "GB/s"]),
    (["--bogus"], ["unknown option --bogus; see --help"]),
    (["-explain"], ["unknown option -explain; did you mean --explain?"]),
    (["--kernel", "transposeNaive"], ["transposeNaive: this kernel is in step02: type make step02 && ./step02"]),
    (["--kernel", "transposeSwizzled,transposeCl"], ["; did you mean transposeCol, in step02: type make step02 && "]),
    (["--list=yes"], ["takes no value"]),
    (["stray"], ["unexpected argument 'stray'"]),
    (["--csv", "/nowhere/results.csv"], ["--csv /nowhere/results.csv", "No such file"]),
    (["--sweep", "book", "--width", "5", "--height", "5"], ["excludes"]),
    (["--block", "64x32"], ["--block 64x32", "2048 threads"]),
    (["--block", "32x8"], ["--block", "no kernel of this program"]),
    (["--all", "--kernel", "B9"], ["--all excludes --kernel"]),
    (["--one-launch"], ["--one-launch", "no clock"]),
    (["--print", "--size", "33"], ["--print", "33 columns", "at most 32"]),
    (["--gpus", "3"], ["--gpus: no kernel of this program is for several GPUs"]),
    (["--size", "2000000000"], ["GB", "free"]),
    (["--width", "1", "--height", str(65535 * 32 + 1)], ["65536 blocks in y", "65535"]),
    (["--size", "64,3000000"], ["3000000 x 3000000", "GB free for the simulated H200; choose a smaller"]),
    (["--trace", "/proc/trace.csv"], ["--trace /proc/trace.csv", "cannot be written"]),
]


def test_bad_input():
    for arguments, words in REFUSED:
        done = step("step04", *arguments)
        assert_refused(done, 2, *words)
        assert "verified" not in done.stdout, arguments


def test_every_kernel_is_known_in_every_step(tmp_path):
    """The list that the build writes for the messages is that of the programs."""
    written = set(re.findall(r'\{"(\w+)", "(\w+)"\}', (ROOT / "build/kernels.h").read_text()))
    listed = set()
    for program in [*STEPS, "step08"]:
        path = tmp_path / program
        assert step(program, "--list", "--csv", path).returncode == 0
        listed |= {(program, row["kernel"]) for row in csv.DictReader(path.open())}
    assert written == listed and len(listed) > 80


def test_kernels_and_blocks_are_those_that_were_named():
    """None is left out without a word, and none is run twice."""
    assert_refused(step("step02", "--kernel", "transposeNaive,transposeCol", "--block", "32x8"), 2,
                   "--block: does not apply to transposeNaive, but to transposeRow, ")
    out = step("step02", "--kernel", "transposeNaive", "--kernel", "transposeCol", "--size", 64).stdout
    assert re.findall(r"^(\w+) .* verified", out, re.MULTILINE) == ["transposeNaive", "transposeCol"]
    done = step("step02", "--kernel", "transposeCol", "--block", "32x8,32x8", "--block", "32x8", "--size", 64)
    assert done.returncode == 0 and done.stdout.count("verified") == 1
    assert_refused(step("step02", "--kernel", "transposeSerialRead", "--trace", "/dev/null"), 2,
                   "--trace: transposeSerialRead runs on the CPU")


def test_no_cuda_device():
    if shutil.which("nvidia-smi") and run("nvidia-smi", "-L").returncode == 0:
        pytest.skip("there is a GPU")
    assert_refused(run(ROOT / "step04", "--device", "cuda"), 3, "no CUDA device")


def test_simulator_prints_no_time_as_if_measured():
    """Times and bandwidths come from a model that says so, or not at all."""
    assert "GB/s" not in step("step01").stdout  # fits in the L2: no model
    out = step("step01", "--size", 4096).stdout
    assert re.search("^The model of the H200, not a measurement", out, re.MULTILINE)
    assert out.count("GB/s") == out.count("model GB/s") and out.count(" ms") == out.count("model ms")
    assert "GB/s" not in step("step01", "--machine", "v100").stdout


@pytest.mark.parametrize("kernel", LESSONS)
def test_trace_has_every_request(kernel, tmp_path):
    counts, trace = tmp_path / "counts.csv", tmp_path / "trace.csv"
    done = step(LESSONS[kernel], "--kernel", kernel, "--machine", "gtx280", "--size", "100x64", "--csv", counts,
                "--trace", trace)
    assert done.returncode == 0
    (row,) = csv.DictReader(counts.open())
    requests = list(csv.DictReader(trace.open()))
    for access in ("load", "store"):
        mine = [r for r in requests if r["access"] == access and r["memory"] != "shared"]
        assert len(mine) == int(row[f"global_{access}_requests"])
        assert sum(int(r["units"]) for r in mine) == int(row[f"global_{access}_transactions"])
        assert (sum(r["access"] == access and r["memory"] == "shared" for r in requests)
                == int(row[f"shared_{access}_requests"]))
    # Every element of the result is written once, and where the trace says.
    written = []
    for r in requests:
        offsets, lanes = r["offsets_bytes"], bin(int(r["lanes"], 16)).count("1")
        if ":" in offsets:
            first, step_ = map(int, offsets.split(":"))
            offsets = [first + i * step_ for i in range(lanes)]
        else:
            offsets = list(map(int, offsets.split()))
        assert len(offsets) == lanes and min(offsets) >= 0
        assert (r["partition"] == "") == (r["memory"] == "shared")
        if r["memory"] == "odata":
            written += [offset + i for offset in offsets for i in range(0, int(r["lane_bytes"]), 4)]
    assert sorted(written) == list(range(0, 100 * 64 * 4, 4))


@pytest.mark.parametrize("program", [*STEPS, "step08"])
def test_a_trace_has_each_request_once(program, tmp_path):
    """Kernels that may have raced run once more to look for races. Those requests are neither counted nor traced."""
    record, trace = tmp_path / "record.json", tmp_path / "trace.csv"
    done = step(program, "--all", "--explain", "--size", 64, "--json", record, "--trace", trace)
    assert done.returncode == 0, done.stderr
    on_gpu = json.loads(record.read_text().splitlines()[0])  # functions of the CPU have a line of their own
    counted = collections.Counter({
        kernel["kernel"]: sum(access["requests"] for access in kernel["accesses"]
                              if access["memory"] not in ("local", "constant"))
        for kernel in on_gpu["kernels"] if kernel["result"] == "verified"})
    assert collections.Counter(row["kernel"] for row in csv.DictReader(trace.open())) == counted
    for kernel, requests in counted.items():
        assert re.search(f"^--trace .*: {kernel}.*: {requests} requests, about ", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("program", STEPS)
def test_csv_holds_what_the_table_shows(program, tmp_path):
    path = tmp_path / "results.csv"
    done = step(program, "--csv", path, "--type", "double", "--width", 70, "--height", 50)
    assert done.returncode == 0
    assert [p.name for p in tmp_path.iterdir()] == ["results.csv"]
    rows = list(csv.DictReader(path.open()))
    assert [r["kernel"] for r in rows] == [k for k in LESSONS if LESSONS[k] == program]
    for row in rows:
        assert row["backend"] == "sim" and row["machine"] == "H200"
        assert row["type"] == "double" and row["element_bytes"] == "8"
        assert (row["width"], row["height"], row["verified"]) == ("70", "50", "yes")
        assert row["step"].startswith(program) and row["source_row"] == MODELLED[row["kernel"]]["source_row"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["date_utc"])
        assert row["commit"]
        assert row["time_median_ms"] == "" and row["bandwidth_gbs"] == ""
        (line,) = [
            line for line in done.stdout.splitlines() if line.startswith(row["kernel"] + " ") and "verified" in line]
        shown = re.search(r"verified\s+(.*)", line).group(1).split()
        assert [shown[i] for i in (0, 2, 5, 7)] == [row[c] for c in ("global_load_requests", "global_store_requests",
                                                                     "shared_load_requests", "shared_store_requests")]
        assert shown[4] == row["coalesced_percent"]
        for cost, requests, units in [(shown[1], "global_load_requests", "global_load_transactions"),
                                      (shown[6], "shared_load_requests", "shared_load_wavefronts")]:
            assert cost == "-" or abs(float(cost) - int(row[units]) / int(row[requests])) < 0.006


def test_a_kernel_that_refuses_a_shape_leaves_the_others():
    done = step("step03", "--all", "--width", 1, "--height", 600000)
    assert_refused(done, 0, "transposeRemap", "75000 blocks in y")
    assert re.search("^transposeRemap .* refused", done.stdout, re.MULTILINE)
    assert done.stdout.count("verified") == 2


def test_sweeps(tmp_path):
    path = tmp_path / "sweep.csv"
    done = step("step02", "--kernel", "transposeNaive,transposeSerialBlocked", "--size", "64,100x30,128", "--csv", path,
                "--reps", 3)
    assert done.returncode == 0, done.stderr
    shapes = [("64", "64"), ("100", "30"), ("128", "128")]
    rows = list(csv.DictReader(path.open()))
    for kernel in ("transposeNaive", "transposeSerialBlocked", "memcpy"):
        assert [(r["width"], r["height"]) for r in rows if r["kernel"] == kernel] == shapes
    # The CPU has a clock: its figures are measured and labelled with its name, and summed up by size.
    cpu = [r for r in rows if r["backend"] == "cpu"]
    assert len(cpu) == 6 and all(float(r["time_median_ms"]) >= 0 and r["samples"] == "3" for r in cpu)
    (summary,) = re.findall(r"^Effective bandwidth by size of the matrix, on (.*):\n\n(GB/s .*)\n(.*)\n(.*)\n",
                            done.stdout, re.MULTILINE)
    assert summary[0] == cpu[0]["machine"] and summary[1].split() == ["GB/s", "produces", "64", "100x30", "128"]
    blocked = [r["bandwidth_gbs"] for r in cpu if r["kernel"] == "transposeSerialBlocked"]
    # An exclamation mark is for a figure that is too noisy.
    assert summary[3].replace("!", "").split() == ["transposeSerialBlocked", "transpose", *blocked]


def test_matrices_are_printed_as_numbers():
    done = step("step03", "--kernel", "R1", "--block", "2x2", "--size", "8x4", "--type", "int", "--print")
    blocks = re.findall(r"(?:^(?: +\d+)+\n)+", done.stdout, re.MULTILINE)
    before, after = ([[int(n) for n in line.split()] for line in block.splitlines()] for block in blocks)
    assert before == [[8 * row + column for column in range(8)] for row in range(4)]
    assert after == [[8 * row + column for row in range(4)] for column in range(8)]
    # What no input element is shows as a question mark: the padding of longer rows.
    assert "?" in step("step06", "--kernel", "W10", "--size", "4x3", "--print").stdout


def test_progress_is_for_terminals_that_wait():
    """On a pseudo-terminal: a line after two seconds, taken away again; into a pipe: nothing. The program is halted
    meanwhile, so that it needs no work for them."""
    command = [ROOT / "step02", "--device", "sim", "--size", "3000", "--reps", "3"]
    terminal, end = a_terminal()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=end)
    os.close(end)
    halted(process)
    seen = b""
    try:
        while part := os.read(terminal, 4096):
            seen += part
    except OSError:  # how a pseudo-terminal says that the other end is closed
        pass
    os.close(terminal)
    assert process.wait() == 0
    assert re.search(rb"step02: [2-9]\d* s: verifying transposeNaive, 3000 x 3000", seen), seen
    assert seen.rindex(b"\x1b[K") > seen.rindex(b"verifying")
    piped = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    halted(piped)
    assert piped.communicate()[1] == b"" and piped.returncode == 0


def halted(process):
    """Stops a process soon after it began, for more than two seconds."""
    computing(process, 0.05)
    process.send_signal(signal.SIGSTOP)
    time.sleep(2.2)
    process.send_signal(signal.SIGCONT)


def test_csv_replaces_a_file_whole_keeps_its_mode_and_follows_links(tmp_path):
    old, link = tmp_path / "old.csv", tmp_path / "link.csv"
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to(old)
    assert step("step04", "--size", 32, "--csv", link).returncode == 0
    assert link.is_symlink() and old.read_text().startswith("date_utc,")
    assert old.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_step_ends_and_leaves_no_file(number, tmp_path):
    process = subprocess.Popen(
        [ROOT / "step02", "--device", "sim", "--all", "--size", "8192", "--csv", tmp_path / "results.csv"],
        stdout=subprocess.PIPE)
    process.stdout.readline()
    computing(process, 0.5)
    process.send_signal(number)
    process.communicate(timeout=600)  # all its kernels take minutes
    assert process.returncode == -number
    assert list(tmp_path.iterdir()) == []


def test_full_output_is_noticed():
    needs("/dev/full")
    done = run("sh", "-c", '"$0" --size 32 > /dev/full', ROOT / "step04")
    assert_refused(done, 2, "standard output")


def test_json_has_what_is_found_and_printed(tmp_path):
    """A line for each size, also where a kernel is wrong: the columns of --csv, the accesses of --explain, the matrices
    of --print."""
    path = tmp_path / "run.json"
    done = step("step04", "--kernel", "W5,E3", "--size", "5x3,33x8", "--json", path, "--explain")
    assert done.returncode == 1
    lines = [json.loads(line) for line in path.read_text().split("\n")[:-1]]
    assert [(line["program"], line["width"], line["height"]) for line in lines] == [("step04", 5, 3), ("step04", 33, 8)]
    assert all(line["text"] in done.stdout for line in lines)
    found = [finding for line in lines for finding in line["findings"]]
    assert [f"step04: {f['kernel']}: {f['text']}" + (f" ({f['count']} times)" if f["count"] > 1 else "")
            for f in found] == done.stderr.splitlines()
    assert {(f["kind"], f["costs_points"]) for f in found} == {("race", True), ("total", False)}
    for line in lines:
        right, race = line["kernels"]  # the lesson comes first
        assert ((race["result"], right["result"], right["row"]["verified"], right["odata"])
                == ("wrong", "verified", "yes", None))
        assert int(right["row"]["global_load_requests"]) == sum(
            a["requests"] for a in right["accesses"] if (a["access"], a["memory"]) == ("load", "global"))
    assert step("step04", "--size", "2x3", "--print", "--json", path).returncode == 0
    (kernel,) = json.loads(path.read_text())["kernels"]
    assert ((kernel["idata"], kernel["odata"], kernel["accesses"])
            == ([["0", "1"], ["2", "3"], ["4", "5"]], [["0", "2", "4"], ["1", "3", "5"]], None))
    assert "name the same file" in step("step04", "--csv", path, "--json", path).stderr
