"""What lies between a submission and what judges it, crossed on purpose. Nobody judges the text or the object here: it
is compiled as it is. The boundary must hold by itself (sim/core/grid/host_process.cpp).

The attacks on the host are one program and those in kernels another one. The width of the matrix chooses the attack."""

import re

import pytest

from grading import SOLUTION, STANDIN, Trusting, check

import sandbox

EXERCISE = check.load_exercises(STANDIN / "exercises.py").EXERCISES[4]
# Its kernel copies, so that no attack on the host is right by itself.
COPY = SOLUTION.replace("x = blockIdx.y * TILE_DIM", "x = blockIdx.x * TILE_DIM").replace(
    "y = blockIdx.x * TILE_DIM", "y = blockIdx.y * TILE_DIM").replace(
    "x < height && y + j < width", "x < width && y + j < height").replace(
    "size_t(y + j) * height + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x]",
    "size_t(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)]")
HEADERS = ("#include <fcntl.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
           "#include <sys/mman.h>\n#include <sys/ptrace.h>\n#include <unistd.h>\n")

MATRIX = r"the host accesses device memory: (load|store) of .* at byte .* of (idata|odata), at step04_padding/.*:\d+"
SYSTEM = "the host's code calls the operating system"
WRONG = "found .*idata|never written"  # the copy is judged for what it is
NO_KERNEL = "asks for a launch with code that is no kernel"

# Of the launcher, before its launch, unless it begins with "after:". The attack, and what is said of it.
ON_HOST = {
    "load": ("volatile T x = idata[0];", MATRIX),
    "store": ("odata[0] = T();", MATRIX),
    "structure of three": (
        "struct S { T a, b, c; }; *reinterpret_cast<S*>(odata) = *reinterpret_cast<const S*>(idata);", MATRIX),
    "transpose afterwards": ("after:for (int y = 0; y < height; ++y) for (int x = 0; x < width; ++x) "
                             "odata[size_t(x) * height + y] = idata[size_t(y) * width + x];", MATRIX),
    "memcpy": ("after:memcpy(odata, idata, sizeof(T));", MATRIX),
    "pages of its own in their place": ("mmap(odata, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | "
                                        "MAP_FIXED, -1, 0); odata[0] = T();", WRONG),
    "open pages": ("mprotect(odata, 4096, PROT_READ | PROT_WRITE); odata[0] = T();", SYSTEM),
    "memory of the process": ('int f = open("/proc/self/mem", O_RDWR);', SYSTEM),
    "signal handler": ("signal(SIGSEGV, [](int) { _exit(0); });", SYSTEM),
    "thread": ("pthread_t t; pthread_create(&t, nullptr, [](void* p) { return p; }, nullptr);", SYSTEM),
    "process": ("fork();", SYSTEM),
    "kill": ("kill(getppid(), SIGKILL);", SYSTEM),
    "debugger": ("ptrace(PTRACE_ATTACH, getppid(), 0, 0);", SYSTEM),
    "file": ('fclose(fopen("left_behind", "w"));', SYSTEM),
    "exit": ("_exit(0);", "the host's code does not return"),
    "exception": ("throw 1;", "the host's code threw an exception"),
    "null pointer": ("*static_cast<volatile int*>(nullptr) = 1;",
                     "the host's code touches memory that is none of its own"),
    "neighbours of a built-in variable": ("char* p = (char*)&threadIdx; for (int i = -256; i < 256; ++i) p[i] = 0;",
                                          WRONG + "|host's code"),
    "messages of its own": ('for (int i = 0; i < 9999; ++i) write(1, "lies", 4);',
                            "the host's code asks for a launch with a message of its own"),
    "launch of anything": ("sim::Launching l{nullptr, \"x\", sim::Configuration(1, 1), 0, nullptr}; "
                           "l.again = reinterpret_cast<decltype(l.again)>(&abort); "
                           "sim::launch_grid(l, {nullptr, nullptr});", "asks for a launch with code that is no launch"),
    "launch of a function of the system": (
        "sim::launch(sim::Configuration(1, 1), \"x\", reinterpret_cast<void (*)(int)>(&exit))(0);", NO_KERNEL),
    "launch of the harness": (
        "sim::launch(sim::Configuration(1, 1), \"x\", reinterpret_cast<void (*)(int)>(&sim::launch_grid))(0);",
        NO_KERNEL),
}
IN_KERNEL = {
    "a built-in variable": ("unsigned* volatile p = const_cast<unsigned*>(&threadIdx.x); *p = 0;", "."),
    "what lies beside it": ("unsigned* volatile p = const_cast<unsigned*>(&threadIdx.x); p[40] = 0;", "."),
    "the simulator's variable": ("sim::turn = 0;", "."),
    "the stack of the harness": ("int own = 0; int* volatile p = &own; p[1 << 20] = 1;", "."),
}
NONE, FIRST, HEIGHT = 96, 100, 64  # the width without an attack, and that of the first one


def chosen(attacks, after=False):
    """The code that chooses an attack."""
    return "\n".join(f"    if (width == {FIRST + i}) {{ {code.removeprefix('after:')} }}"
                     for i, (code, _) in enumerate(attacks.values()) if code.startswith("after:") == after) + "\n"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A function that runs an attack, or a whole program without one: the Run."""
    launch = next(line for line in COPY.splitlines(True) if "<<<" in line)
    texts = {"host": COPY.replace(launch, f"{chosen(ON_HOST)}{launch}{chosen(ON_HOST, after=True)}"),
             "kernel": SOLUTION.replace("    __syncthreads();", f"{chosen(IN_KERNEL)}    __syncthreads();")}
    folder, grader, processor = tmp_path_factory.mktemp("attacks"), Trusting(), [check.any_processor()]
    with sandbox.Box() as host, sandbox.Box() as kernel:
        boxes = {"host": host, "kernel": kernel}
        for name, box in boxes.items():
            (folder / f"{name}.cu").write_text(HEADERS + texts[name])
            assert grader.build(box, EXERCISE, folder / f"{name}.cu", processor) == ""

        def one(name):
            attacks, box = (IN_KERNEL, kernel) if name in (*IN_KERNEL, "kernel") else (ON_HOST, host)
            shape = (FIRST + list(attacks).index(name) if name in attacks else NONE), HEIGHT
            return grader.run(EXERCISE, box, [shape], "float", "h200", processor)[1][shape]
        yield one


def test_what_crosses_nothing(ran):
    assert ran("kernel").row and re.search(WRONG, ran("host").findings[0].text)


@pytest.mark.parametrize("attack", [*ON_HOST, *IN_KERNEL])
def test_the_boundary_holds(attack, ran):
    run, words = ran(attack), {**ON_HOST, **IN_KERNEL}[attack][1]
    assert run.row is None and any(re.search(words, finding.text) for finding in run.findings), run
