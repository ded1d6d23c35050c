#!/usr/bin/env python3
"""That the simulator sees every access: the memory instructions that run, as valgrind reports them, against those that
the hooks saw.

usage: python3 tools/completeness.py [--seed 39] [--random 200] [--only TEXT]      every program below
       python3 tools/completeness.py -- PROGRAM [ARGUMENT...]                      one that is built

Runs the lessons, the unusual kernels, the programs of tests/sim/language and random kernels under valgrind (lackey),
and gives its trace to build/tools/witness. Prints one line for each program, and each access that only one of the two
has seen, with its place. Takes about two hours on two processors, most of it in the trace of the random kernels. Exits
1 if an access differs, 2 if valgrind is missing.
"""

import concurrent.futures
import fcntl
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import random_kernels
from lessons import ROOT, made, make_try, run, tried_of
import command_line

LANGUAGE = sorted(path.stem for path in (ROOT / "tests/sim/language").glob("*.cu"))
SEEN = re.compile(r"seen by the hooks: (\d+) loads, (\d+) stores, (\d+) atomic operations")


# Symbols of the simulator and of the library. The program sorts all symbols when it first asks for one, which the trace
# has, too.
NOT_NEEDED = ["_ZN3sim*", "_ZNK3sim*", "_ZN7harness*", "_ZNK7harness*", "_ZNSt*", "_ZNKSt*", "_ZSt*", "_ZN9__gnu_cxx*",
              "_ZNK9__gnu_cxx*"]


def compare(program, *arguments):
    """(exit status of the comparison, its output). The first line has the number of accesses. The program has one
    processor, so that one host thread runs all blocks, and no other one's announcements come in between. valgrind
    writes each line by itself: into a large pipe, from which the witness takes many at a time."""
    processor = random.choice(sorted(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as folder:
        symbols = pathlib.Path(folder) / "symbols"
        with open(symbols, "w") as file:
            subprocess.run(["nm", "-C", program], stdout=file, check=True)
        traced = pathlib.Path(folder) / pathlib.Path(program).name
        subprocess.run(["objcopy", "--strip-debug", "--wildcard", *(f"--strip-symbol={name}" for name in NOT_NEEDED),
                        program, traced], check=True)
        environment = {**os.environ, "SIM_WITNESS": "1", "SIM_OPTIONS": "--quiet"}
        read, write = os.pipe()
        fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, 1 << 20)
        with open(pathlib.Path(folder) / "output", "w") as output:
            running = subprocess.Popen(
                ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-fd={write}", traced, *arguments],
                pass_fds=[write], preexec_fn=lambda: os.sched_setaffinity(0, {processor}), stdout=output, stderr=output,
                env=environment, cwd=ROOT)
            os.close(write)
            witness = subprocess.run([ROOT / "build/tools/witness", symbols], stdin=read, capture_output=True,
                                     text=True)
            os.close(read)
            running.wait()
        return witness.returncode, witness.stdout + witness.stderr


def places(program, text):
    """The output with `at ADDRESS` of the program's file as `at FILE:LINE`."""
    def line(match):
        done = run("addr2line", "-i", "-e", program, match[1])
        return " at " + done.stdout.split("\n")[0]
    return re.sub(r" at (0x[0-9a-f]+)", line, text)


def programs(options, folder):
    """(name, path, arguments) of each chosen program, built."""
    steps = ((f"step {step}", f"step{step:02}", ["--device", "sim", "--size", "70x37"]) for step in range(1, 8))
    unusual = "unusual kernels", "build/tests/sim/unusual/unusual", [
        "--device", "sim", "--size", "33x21", "--type", "float"]
    language = ((f"language: {name}", f"build/try/tests/sim/language/{name}", []) for name in LANGUAGE)
    for name, target, arguments in (*steps, unusual, *language):
        if options.only in name:
            yield name, made(target), arguments
    for path in random_programs(options, folder):
        name = f"random kernels: {path.name}"
        if options.only not in name:
            continue
        done = make_try(path, "SIM=--quiet", "CPPFLAGS=-DNO_CHECKSUMS")
        if done.returncode > 1:
            sys.exit(f"completeness: {path}: {done.stderr}")
        yield name, tried_of(folder) / path.stem, []


def random_programs(options, folder):
    """The programs of random kernels, written to a folder: ten kernels each, so that all processors have work."""
    kernels = random_kernels.kernels("counts", options.seed, options.random)
    for n in range(0, len(kernels), 10):
        path = folder / f"random_{n // 10}.cu"
        path.write_text(random_kernels.program("counts", kernels[n:n + 10]))
        yield path


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--seed", type=int, default=39)
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("program", nargs="*")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("completeness: valgrind is missing; apt-get install valgrind", file=sys.stderr)
        return 2
    made("build/tools/witness")
    if options.program:
        status, text = compare(*options.program)
        print(places(options.program[0], text), end="")
        return status
    differ = accesses = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [(name, path, pool.submit(compare, path, *arguments))
                   for name, path, arguments in programs(options, pathlib.Path(folder))]
        for number, (name, path, future) in enumerate(running, 1):
            status, text = future.result()
            first, *rest = places(path, text).splitlines()
            accesses += sum(map(int, SEEN.match(first).groups()))
            differ += status != 0
            print(
                f"{number} of {len(running)}: {name}: {first}" + (": equal" if not status else "\n" + "\n".join(rest)),
                flush=True)
    print(f"{accesses} accesses, {differ} programs differ")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
