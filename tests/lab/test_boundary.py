"""What lies between a submission and what judges it, crossed on purpose. The reader is switched off here: the text is
compiled as it is. The boundary must hold by itself (sim/core/host_process.cpp)."""

import concurrent.futures
import re
import sys

import pytest

from grading import SOLUTION, STANDIN
from lessons import ROOT
from samples import few

sys.path[:0] = [str(ROOT / "lab")]

import check

EXERCISE = check.load_exercises(STANDIN / "exercises.py").EXERCISES[4]
COPY = SOLUTION.replace("x = blockIdx.y * TILE_DIM", "x = blockIdx.x * TILE_DIM").replace(
    "y = blockIdx.x * TILE_DIM", "y = blockIdx.y * TILE_DIM").replace(
    "x < height && y + j < width", "x < width && y + j < height").replace(
    "size_t(y + j) * height + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x]",
    "size_t(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)]")
HEADERS = ("#include <fcntl.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
           "#include <sys/mman.h>\n#include <sys/ptrace.h>\n#include <unistd.h>\n")
TURNED = "for (int y = 0; y < height; ++y) for (int x = 0; x < width; ++x) odata[size_t(x) * height + y] = "


def on_host(code, before=COPY, more=""):
    """A submission whose launcher runs this code, before or after its kernel copies."""
    at = before.rindex("    transposeSwizzle<T>")
    return HEADERS + more + before[:at] + f"    {code}\n" + before[at:]


def after(code):
    end = COPY.rindex("}\n\nKERNEL")
    return HEADERS + COPY[:end] + f"    {code}\n" + COPY[end:]


def in_kernel(code, before=SOLUTION):
    return HEADERS + before.replace("    __syncthreads();", f"    {code}\n    __syncthreads();")


MATRIX = r"the host accesses device memory: (load|store) of .* at byte .* of (idata|odata), at step04_padding/.*:\d+"
SYSTEM = "the host's code calls the operating system"
WRONG = "found .*idata|never written"  # the copy is judged for what it is

# The attack, and what is said of it.
ATTACKS = {
    "load": (on_host("volatile T x = idata[0];"), MATRIX),
    "store": (on_host("odata[0] = T();"), MATRIX),
    "structure of three": (on_host(
        "struct S { T a, b, c; }; *reinterpret_cast<S*>(odata) = *reinterpret_cast<const S*>(idata);"), MATRIX),
    "transpose afterwards": (after(TURNED + "idata[size_t(y) * width + x];"), MATRIX),
    "memcpy": (after("memcpy(odata, idata, sizeof(T));"), MATRIX),
    "pages of its own in their place": (on_host(
        "mmap(odata, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); odata[0] = T();"),
        WRONG),
    "open pages": (on_host("mprotect(odata, 4096, PROT_READ | PROT_WRITE); odata[0] = T();"), SYSTEM),
    "memory of the process": (on_host('int f = open("/proc/self/mem", O_RDWR);'), SYSTEM),
    "signal handler": (on_host("signal(SIGSEGV, [](int) { _exit(0); });"), SYSTEM),
    "thread": (on_host("pthread_t t; pthread_create(&t, nullptr, [](void* p) { return p; }, nullptr);"), SYSTEM),
    "process": (on_host("fork();"), SYSTEM),
    "kill": (on_host("kill(getppid(), SIGKILL);"), SYSTEM),
    "debugger": (on_host("ptrace(PTRACE_ATTACH, getppid(), 0, 0);"), SYSTEM),
    "file": (on_host('fclose(fopen("left_behind", "w"));'), SYSTEM),
    "exit": (on_host("_exit(0);"), "the host's code does not return"),
    "exception": (on_host("throw 1;"), "the host's code threw an exception"),
    "null pointer": (on_host("*static_cast<volatile int*>(nullptr) = 1;"),
                     "the host's code touches memory that is none of its own"),
    "neighbours of a built-in variable": (on_host(
        "char* p = (char*)&threadIdx; for (int i = -256; i < 256; ++i) p[i] = 0;"), WRONG + "|host's code"),
    "messages of its own": (on_host('for (int i = 0; i < 9999; ++i) write(1, "lies", 4);'),
                            "the host's code asks for a launch with a message of its own"),
    "launch of anything": (on_host(
        "sim::Launching l{nullptr, \"x\", sim::Configuration(1, 1), 0, nullptr}; "
        "l.again = reinterpret_cast<decltype(l.again)>(&abort); sim::launch_grid(l, {nullptr, nullptr});"),
        "asks for a launch with code that is no launch"),
    "launch of a function of the system": (on_host(
        "sim::launch(sim::Configuration(1, 1), \"x\", reinterpret_cast<void (*)(int)>(&exit))(0);"),
        "asks for a launch with code that is no kernel"),
    "launch of the harness": (on_host(
        "sim::launch(sim::Configuration(1, 1), \"x\", reinterpret_cast<void (*)(int)>(&sim::launch_grid))(0);"),
        "asks for a launch with code that is no kernel"),
    # In kernels.
    "a built-in variable": (in_kernel("*const_cast<unsigned*>(&threadIdx.x) = 0;"), "."),
    "what lies beside it": (in_kernel(
        "unsigned* volatile p = const_cast<unsigned*>(&threadIdx.x); p[40] = 0;"), "."),
    "the simulator's variable": (in_kernel("sim::turn = 0;"), "."),
    "the stack of the harness": (in_kernel("int own = 0; int* volatile p = &own; p[1 << 20] = 1;"), "."),
    "the memory of the process": (in_kernel('if (!fopen("/proc/self/mem", "r+")) return;'), "."),
}
# One for each way across. Each takes a compilation.
TRIED = few(ATTACKS, lambda name: name in (
    "structure of three", "transpose afterwards", "memcpy", "pages of its own in their place", "open pages",
    "memory of the process", "thread", "exit", "messages of its own", "launch of the harness",
    "the simulator's variable", "the stack of the harness"))


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """{attack: its verdict}."""
    folder, lab = tmp_path_factory.mktemp("attacks"), check.Lab(trust=True)
    files = {}
    for name, text in {**{name: ATTACKS[name][0] for name in TRIED}, "solution": SOLUTION, "copy": COPY}.items():
        files[name] = folder / f"{len(files)}.cu"
        files[name].write_text(text)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(files, pool.map(lambda file: lab.check(EXERCISE, file), files.values())))


def test_what_crosses_nothing(verdicts):
    assert verdicts["solution"]["total"] == 100 and verdicts["copy"]["total"] == 0, verdicts["copy"]


@pytest.mark.parametrize("attack", TRIED)
def test_the_boundary_holds(attack, verdicts):
    verdict, words = verdicts[attack], ATTACKS[attack][1]
    said = [verdict["note"], *(c["hint"] for c in verdict["checks"])]
    assert verdict["total"] == 0 and verdict["note"] == "", said
    assert any(re.search(words, line) for line in said), said
