"""`make try`: programs with a main of their own, unchanged, on the simulator. tests/sim/programs has them. Each fault
that a beginner makes has a case in tests/sim/seen."""

import csv
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

import random_kernels
from found import findings
from lessons import ROOT, computing, made, make_try, run, tried_of
from samples import some

PROGRAMS = ROOT / "tests/sim/programs"

RIGHT = [
    "device_query", "different_ways", "first", "half", "histogram", "launch_kernel", "long_loops",
    "matrix_mul", "occupancy", "reduction", "refused_launches", "same_value", "scan", "streams", "structures",
    "symbols", "transpose", "vector_add"]

# The fault, and what each finding must say of it (regular expressions), in this order. HERE: the program's file.
FAULTY = {
    "barriers_left": [
        rf"{kernel}: divergent barrier: not all threads of block \(0, 0, 0\) come to it: {here} wait at HERE:{line} "
        rf"\(the first is thread \({first}, 0, 0\)\), and {missing} of the same warps pass it by and leave the kernel "
        rf"\(the first is thread \({other}, 0, 0\)\); put the barrier where all threads come"
        for kernel, line, here, first, missing, other in [
            ("turns", 17, 48, 1, 16, 0), ("one_branch", 29, 20, 0, 12, 20),
            ("in_a_function", 48, 30, 20, 34, 0), ("of_groups", 65, 40, 0, 24, 5),
            ("by_goto<true>", 89, 32, 0, 32, 1), ("by_goto<false>", 89, 32, 1, 32, 0)]],
    "barriers_missed": [
        *(rf"{kernel}: divergent barrier: the threads of block \({block}, 0, 0\) do not come to the same one: "
          rf"{here} waits? at HERE:{line} \((the first is )?thread \({first}, 0, 0\)\), "
          rf"{there} waits? at HERE:{other} \((the first is )?thread \({second}, 0, 0\)\){more}$"
          for kernel, block, here, line, first, there, other, second, more in [
              ("arms", 0, 16, 10, 0, 48, 11, 16, ""),
              ("after_continue", 0, 48, 23, 0, 16, 19, 48, r" \(2 times\)"),
              ("of_two_kinds", 0, 63, 31, 0, 1, 30, 5, ""),
              ("others_left", 0, 14, 40, 8, 42, 41, 9, ""),
              ("in_some_blocks", 1, 8, 48, 0, 56, 49, 8, r" \(3 times\)")]),
        *(rf"{kernel}: divergent warp: the operation at HERE:{line} in thread \({thread}, 0, 0\) of block \(0, 0, 0\) "
          rf"waits for lanes that do not come \(mask {mask}, came {came}\): {others}$"
          for kernel, line, thread, mask, came, others in [
              ("warp_and_block", 58, 16, "0xffffffff", "0xffff0000",
               r"16 wait at HERE:57 \(the first is thread \(0, 0, 0\)\)"),
              ("halves_of_a_warp", 66, 0, "0x0001ffff", "0x0000ffff", r"1 waits at HERE:67 \(thread \(16, 0, 0\)\)"),
              ("places_of_a_warp", 76, 8, "0xffffff0f", "0x00000f00",
               r"4 wait at HERE:74 \(the first is thread \(0, 0, 0\)\)"),
          ]),
        r"places_of_a_warp: divergent warp: a shuffle reads lane 4, which is not in the mask, .* HERE:76, .* \(4 ti",
        r"places_of_a_warp: divergent warp: the operation at HERE:77 in thread \(12, 0, 0\) .* \(mask 0xffffffff, "
        r"came 0xfffff000\): 4 wait at HERE:74 \(the first is thread \(0, 0, 0\)\)$"],
    "cooperative": [r"not simulated: cudaLaunchCooperativeKernel at HERE:10 \(nothing\)"],
    "other_value": [r"last_one: race: write-after-write hazard in shared memory \(last\), byte 0: thread \(1, 0, 0\) "
                    r"writes at HERE:8 and thread \(0, 0, 0\) writes at HERE:8,",
                    r"last_one: race: write-after-write hazard in d_out .*, byte 4: thread \(63, 0, 0\) of block "
                    r"\(0, 0, 0\) writes at HERE:11 and thread \(0, 0, 0\) of block \(2, 0, 0\)"],
    "race_of_threads": [r"reverse: uninitialized load of 4 bytes at byte 508 of shared memory \(buffer\)",
                        r"reverse: race: read-after-write hazard in shared memory \(buffer\)"],
    "uninitialized": [r"accumulate: uninitialized load of 4 bytes at byte 0 of d_sums \(cudaMalloc at HERE:9\).*: "
                      r"thread \(0, 0, 0\) at HERE:4"],
}

# Those that end in a way of their own, and are tried one by one below.
ENDING = ["abort", "exit_in_the_middle", "large", "null_pointer", "long", "long_kernel", "nested_loops"]


def built(name):
    """The program, built for the simulator."""
    return made(f"build/try/tests/sim/programs/{name}")


def tried(name, *arguments, options=""):
    return subprocess.run([built(name), *arguments], env={**os.environ, "SIM_OPTIONS": options}, cwd=ROOT,
                          capture_output=True, text=True, timeout=600)


def closing(done):
    """Kernels, launches and findings, as the last line counts them."""
    numbers = re.fullmatch(r"try: (\d+) kernels?, (\d+) launch(?:es)?, (\d+) findings?", done.stdout.splitlines()[-1])
    assert numbers, done.stdout
    return tuple(int(n) for n in numbers.groups())


def test_every_program_is_tested():
    # by test_devices.py, test_limits.py and test_prelab.py
    elsewhere = [p.stem for p in PROGRAMS.glob("devices*.cu")] + ["limits", "prelab"]
    assert sorted(p.stem for p in PROGRAMS.glob("*.cu")) == sorted([*RIGHT, *FAULTY, *ENDING, *elsewhere])


def test_right_programs_run_unchanged():
    wrong = {}
    for name in RIGHT:
        done = tried(name)
        own, _, report = done.stdout.partition("\nSimulated: H200 (compute capability 9.0).")
        if done.returncode or findings(done) or "PASSED" not in own or not report or closing(done)[2]:
            wrong[name] = done
    assert not wrong


def test_each_fault_is_found_at_its_line():
    wrong = {}
    for name, expected in FAULTY.items():
        done = tried(name, options="--quiet")
        found = findings(done)
        if not (done.returncode == 1 and len(found) == len(expected) == closing(done)[2] and all(
                re.match(words.replace("HERE", f"tests/sim/programs/{name}.cu"), line)
                for line, words in zip(found, expected))):
            wrong[name] = done.stdout
    assert not wrong


def test_before_compute_capability_7_a_barrier_waits_for_threads_that_have_left():
    done = tried("barriers_left", options="--quiet --machine k20x")
    assert "PASSED" in done.stdout
    lines = (PROGRAMS / "barriers_left.cu").read_text().splitlines()
    marked = {mark[1]: number for number, line in enumerate(lines, 1) if (mark := re.search(r"// (\w+)$", line))}
    words = r"(\w+).*: divergent barrier: the one at .*:(\d+) is not reached by .*, which has left the kernel"
    found = {(m[1], int(m[2])) for f in findings(done) if (m := re.match(words, f))}
    assert len(marked) == 6 and found == set(marked.items())
    assert len(findings(done)) == 7, "by_goto is two kernels"


def test_races_in_shared_memory_are_those_that_racecheck_finds():
    for row in csv.DictReader(open(ROOT / "tests/data/h200_races.csv")):
        found = [f for f in findings(tried(row["program"], options="--quiet")) if "hazard in shared memory" in f]
        assert bool(found) == (int(row["hazards"]) > 0), found


# Where the simulator reports a race and racecheck nothing.
ATOMIC = "racecheck does not look at atomic operations"
LAST_WRITER = "racecheck misses the load by the thread that stored there last"
SAME_VALUE = "whoever comes first, it is the value that is there already"
DIFFER = {(11, "k8"): ATOMIC, (11, "k24"): ATOMIC, (13, "k91"): ATOMIC, (11, "k62"): LAST_WRITER,
          (11, "k98"): LAST_WRITER, (13, "k58"): LAST_WRITER, (14, "k15"): LAST_WRITER,
          (12, "k93"): SAME_VALUE, (13, "k21"): SAME_VALUE, (14, "k46"): SAME_VALUE}


@pytest.mark.parametrize("seed", some(random_kernels.SEEDS["races"], 100))
def test_races_of_random_kernels_are_those_that_racecheck_finds(seed, tmp_path):
    kernels = random_kernels.kernels("races", seed)
    (tmp_path / "random.cu").write_text(random_kernels.program("races", kernels))
    done = make_try(tmp_path / "random.cu", "SIM=--quiet")
    assert closing(done)[:2] == (len(kernels), len(kernels))
    racing = {f.split(":")[0] for f in findings(done) if "hazard in shared memory" in f}
    found = {row["kernel"] for row in csv.DictReader(open(ROOT / "tests/data/h200_random_races.csv"))
             if int(row["seed"]) == seed and int(row["errors"]) + int(row["warnings"])}
    assert len(found) > 40 and racing == found | {kernel for of, kernel in DIFFER if of == seed}


@pytest.mark.variety
@pytest.mark.parametrize("seed", random_kernels.SEEDS["orders"])
def test_races_of_random_kernels_are_those_of_an_oracle_that_keeps_all_accesses(seed, tmp_path):
    kernels = random_kernels.kernels("orders", seed)
    (tmp_path / "random.cu").write_text(random_kernels.program("orders", kernels))
    races = {kernel.name: kernel.races() for kernel in kernels}
    done = make_try(tmp_path / "random.cu", "SIM=--quiet")
    racing = {f.split(":")[0] for f in findings(done) if ": race: " in f}
    judged = {kernel for kernel, verdict in races.items() if verdict is not None}
    assert len(judged) > 0.9 * len(races)
    assert racing & judged == {kernel for kernel in judged if races[kernel]}


@pytest.mark.parametrize("seed", some(random_kernels.SEEDS["right"], 1))
def test_right_random_kernels_have_no_finding(seed, tmp_path):
    kernels = random_kernels.kernels("right", seed)
    (tmp_path / "random.cu").write_text(random_kernels.program("right", kernels))
    done = make_try(tmp_path / "random.cu", "SIM=--quiet")
    assert closing(done) == (len(kernels), len(kernels), 0) and not findings(done), done.stdout[-3000:]


# memcheck ends a kernel after the first faults. The simulator ends a thread with its first, and the others go on, so it
# may report more kinds of fault. initcheck saw the kernels in which memcheck found nothing.
FAULTS = ["out-of-bounds", "misaligned", "uninitialized"]

# A copy carries along that memory was never written. initcheck takes the copy for a store.
CARRIED = {(21, "k30"), (21, "k33"), (22, "k15"), (23, "k1"), (23, "k58")}


@pytest.mark.parametrize("seed", some(random_kernels.SEEDS["memory"], 100))
def test_faults_of_random_kernels_are_those_that_memcheck_and_initcheck_find(seed, tmp_path):
    kernels = random_kernels.kernels("memory", seed)
    (tmp_path / "random.cu").write_text(random_kernels.program("memory", kernels))
    make_try(tmp_path / "random.cu", "SIM=--quiet")
    rows = [row for row in csv.DictReader(open(ROOT / "tests/data/h200_random_memory.csv")) if int(row["seed"]) == seed]
    for one, row in zip(kernels, rows, strict=True):
        kernel = row["kernel"]
        done = subprocess.run([tried_of(tmp_path) / "random", kernel[1:]], env={**os.environ, "SIM_OPTIONS": "--quiet"},
                              capture_output=True, text=True, timeout=600)
        found = {m[1] for f in findings(done) if (m := re.match(rf"{kernel}: ({'|'.join(FAULTS)}) ", f))}
        card = {fault for fault in FAULTS if int(row[fault.replace("-", "_")])}
        judged = found - {"uninitialized"} or found
        if (seed, kernel) in CARRIED:
            assert "half_written(" in one.launch and not card and found == {"uninitialized"}, (kernel, found)
        else:
            assert judged >= card and bool(judged) == bool(card), (kernel, found, card)


def test_the_page_shows_what_the_first_program_prints():
    page = (ROOT / "docs/GPU.md").read_text()
    (block,) = re.findall(r"^```\n(  load .*?)^```", page, re.MULTILINE | re.DOTALL)
    done = tried("first", options="--explain")
    assert block in done.stdout and done.stdout.startswith("no error, PASSED\n") and "`no error, PASSED`" in page


def test_launches_that_are_refused_are_explained():
    notes = [
        line for line in tried("refused_launches").stdout.splitlines()
        if line.startswith("note: ") and "cudaMalloc" not in line]
    for note, why in zip(notes,
                         ["a block of 1025 threads in x", "a grid of 0 blocks in x", "a grid of 65536 blocks in y",
                          "50000 bytes of dynamic shared memory"],
                         strict=True):
        assert "did not run: " + why in note, note


def test_costs_are_told_line_by_line():
    done = tried("transpose", options="--explain")
    assert closing(done)[:2] == (2, 8)
    naive, coalesced = done.stdout.split("\ntransposeCoalesced<<<(4, 4), (32, 8)>>> x 4\n")
    assert "\ntransposeNaive<<<(4, 4), (32, 8)>>> x 4\n" in naive
    assert "store of global memory at tests/sim/programs/transpose.cu:14" in naive
    assert "2048 requests of 32 x 4 bytes; 32 sectors each, ideal 4" in naive
    assert "load of shared memory at tests/sim/programs/transpose.cu:26" in coalesced
    brief = tried("transpose").stdout
    assert "/transpose.cu:14: store of global memory: 32 sectors each, ideal 4: neighbouring lanes" in brief
    assert "  4 accesses cost no more than they must\n" in brief and "requests of" not in brief
    assert "sectors" not in tried("transpose", options="--quiet").stdout


def test_the_machine_is_the_one_asked_for():
    done = tried("device_query", options="--machine gtx1080")
    assert "NVIDIA GeForce GTX 1080 (simulated), compute capability 6.1" in done.stdout and "320 GB/s" in done.stdout
    assert "Simulated: GeForce GTX 1080" in done.stdout
    # Its blocks have 48 KB of shared memory, and no more for the asking.
    done = tried("occupancy", options="--machine gtx1080")
    assert done.returncode == 1 and "invalid argument" in done.stderr


def test_exit_in_the_middle():
    for arguments, status in [((), 3), (("7",), 7)]:
        done = tried("exit_in_the_middle", *arguments)
        assert done.returncode == status and closing(done) == (1, 1, 0), done.stdout
    # Ended well, but not waited for, and not freed.
    done = tried("exit_in_the_middle", "0")
    assert done.returncode == 1 and findings(done) == [
        "not waited for: the program ends before fill, launched at tests/sim/programs/exit_in_the_middle.cu:11, is "
        "known to be done; call cudaDeviceSynchronize() before the end",
        "never freed: d_data (cudaMalloc at tests/sim/programs/exit_in_the_middle.cu:10), 128 "
        "bytes; call cudaFree"]


def test_a_program_that_is_ended_by_a_signal_still_reports():
    for name, number, words in [
        ("abort", signal.SIGABRT, "the program ended itself by abort() at tests/sim/programs/abort.cu:13"),
        ("null_pointer", signal.SIGSEGV, "the program crashed on a memory fault in its host code, "
         "address (nil), at tests/sim/programs/null_pointer.cu:12")]:
        done = tried(name)
        assert done.returncode == -number and "note: " + words in done.stdout, done.stdout
        assert closing(done) == (1, 1, 0)


def interrupted(name, *arguments, number, folder):
    """The program's output, interrupted when it has computed for a while, and that it ends by the signal, long before
    the kernel would have, and leaves no files."""
    with subprocess.Popen([built(name), *arguments],
                          env={**os.environ, "SIM_OPTIONS": f"--csv {folder}/counts.csv --trace {folder}/trace.csv"},
                          cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        computing(process, 0.3)
        process.send_signal(number)
        text, errors = process.communicate(timeout=300)
    assert process.returncode == -number, errors
    assert list(folder.iterdir()) == []
    return text, errors


@pytest.mark.parametrize("name, number, launched", [("long", signal.SIGINT, r"spin<<<64, 256>>> x \d+"),
                                                    ("long_kernel", signal.SIGTERM, r"add<<<4096, 256>>> x 1")])
def test_interrupted(name, number, launched, tmp_path):
    """Ctrl-C in the middle of many launches, or of a long one: the report tells what they did until then."""
    text, errors = interrupted(name, number=number, folder=tmp_path)
    assert "note: the program was interrupted" in text and re.search(f"^{launched}$", text, re.M), text
    assert errors.count("not written: the program was ended by a signal") == 2, errors


def test_long_threads_do_not_take_all_memory(tmp_path):
    """Each of 200 000 accesses takes 512 bytes of a record, which is emptied in between: 32 MB, not 100. No request is
    lost or split."""
    program = built("nested_loops")
    wrapper = ("import resource, subprocess, sys; print(subprocess.run(sys.argv[1:]).returncode, "
               "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = run("env", "SIM_OPTIONS=--explain", sys.executable, "-c", wrapper, program)
    status, kib = done.stdout.splitlines()[-1].split()
    assert status == "0" and int(kib) < 80000, done.stdout
    assert "    400000 requests of 32 x 4 bytes; 4 sectors each" in done.stdout, done.stdout


def test_counts_as_csv(tmp_path):
    results = tmp_path / "results.csv"
    done = tried("transpose", options=f"--quiet --csv '{results}'")
    assert done.returncode == 0, done.stderr
    with open(results, newline="") as file:
        rows = list(csv.DictReader(file))
    naive = [r for r in rows if r["kernel"] == "transposeNaive"]
    assert {(r["access"], r["memory"], r["line"], r["requests"], r["units"], r["launches"]) for r in naive} == {
        ("load", "global", "14", "2048", "8192", "4"), ("store", "global", "14", "2048", "65536", "4")}
    assert {r["memory"] for r in rows if r["kernel"] == "transposeCoalesced"} == {"global", "shared"}
    assert all(r["machine"] == "H200" and r["program"] == "transpose" and r["grid_x"] == "4" and r["block_y"] == "8"
               for r in rows)


def test_structures_move_in_pieces_of_their_alignment(tmp_path):
    """Of 8 bytes, as their doubles allow: not of 16, as the address may; nor of 4."""
    assert tried("structures", options=f"--quiet --csv {tmp_path}/counts.csv").returncode == 0
    with open(tmp_path / "counts.csv", newline="") as file:
        counted = {(r["kernel"], r["memory"], r["access"]): (int(r["element_bytes"]), int(r["requests"]))
                   for r in csv.DictReader(file)}
    two, three = (8, 2 * 2), (8, 2 * 3)  # two warps
    assert counted == {
        **{("pairs", memory, access): two for memory in ["global", "shared"] for access in ["load", "store"]},
        ("whole", "global", "load"): three, ("whole", "global", "store"): three}


def test_every_request_as_csv(tmp_path):
    trace = tmp_path / "trace.csv"
    assert tried("vector_add", options=f"--trace {trace}").returncode == 0
    with open(trace, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 157
    first = rows[0]
    assert (first["kernel"], first["launch"], first["access"], first["lanes"],
            first["offsets_bytes"]) == ("vectorAdd", "1", "load", "ffffffff", "0:4")
    assert first["memory"].startswith("d_") and "cudaMalloc at tests/sim/programs/vector_add.cu" in first["memory"]


def test_bad_options_are_refused_before_main():
    for options, words in [
            ("--machine gtx", "--machine gtx: expected one of"), ("--csv", "--csv needs a value"),
            ("--threads 0", "--threads 0: expected a whole number"), ("--explain=1", "the option takes no value"),
            ("--macine t4", "unknown option --macine; did you mean --machine?"), ("word", "unexpected argument 'word'"),
            ("--csv '/tmp", "a quote ' is not closed"), ("--sarif /nowhere/findings.sarif", "cannot be written")]:
        done = tried("vector_add", options=options)
        assert done.returncode == 2 and done.stdout == "", done.stdout
        assert len(done.stderr.splitlines()) == 1 and words in done.stderr, done.stderr


def test_more_memory_than_there_is():
    done = tried("large", str(1 << 30), options="--quiet")
    assert done.returncode == 3 and done.stdout.startswith("cudaErrorMemoryAllocation\n"), done
    assert re.search(r"^note: d_bytes \(cudaMalloc at \S+:15\): cudaErrorMemoryAllocation: it asks for 1125899.9 GB, "
                     r"and the H200 has 141.0 GB left$", done.stdout, re.M), done


@pytest.mark.variety
@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_nvcc_compiles_the_programs(tmp_path):
    """They are CUDA, and not what the simulator takes for it. It takes seconds for each: a sample."""
    programs = [p for p in sorted(PROGRAMS.glob("*.cu")) if "<nccl.h>" not in p.read_text()]  # it may not be there
    for program in some(programs, 16):
        # nvcc gives a path to a shell as it is
        done = run("nvcc", "-std=c++17", "-arch=sm_90", "-c", program.relative_to(ROOT), "-o", tmp_path / "program.o")
        assert done.returncode == 0, done.stderr


FORK = """#include <sys/wait.h>
#include <unistd.h>
__global__ void k(int* p) { p[threadIdx.x] = 1; }
int main()
{
    int* p;
    cudaMalloc(&p, 128);
    k<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    if (!fork()) {
        k<<<1, 32>>>(p);
        _exit(cudaGetLastError() == cudaErrorInitializationError ? 7 : 0);
    }
    int status;
    wait(&status);
    cudaFree(p);
    return WEXITSTATUS(status) == 7 ? 0 : 3;
}
"""


def test_a_launch_in_a_child_of_fork_is_refused(tmp_path):
    """It would wait for host threads that the child does not have."""
    (tmp_path / "fork.cu").write_text(FORK)
    done = make_try(tmp_path / "fork.cu", "SIM=--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fork.cu:11: a launch in a child of fork()" in done.stderr and "2 launches" not in done.stdout
