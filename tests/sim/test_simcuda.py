"""sim/simcuda: one command compiles, runs and checks a program, from any folder, in the checkout and installed."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from conftest import assert_refused
from lessons import ROOT, copy_built, run

SIMCUDA = ROOT / "sim/simcuda"
PROGRAMS = ROOT / "tests/sim/programs"

# A program of two files and a header.
KERNELS = """#include "scale.h"
__global__ void scale(float* x, float by) { x[threadIdx.x] *= by * FACTOR; }
void on_device(float* h)
{
    float* d;
    cudaMalloc(&d, 128);
    cudaMemcpy(d, h, 128, cudaMemcpyHostToDevice);
    scale<<<1, 32>>>(d, 2);
    cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
"""
MAIN = """#include <cstdio>
#include <scale.h>
int main(int argc, char** argv)
{
    float h[32] = {1, 2, 3};
    on_device(h);
    for (int i = 1; i < argc; ++i) printf("[%s]", argv[i]);
    printf(" %g %g\\n", h[1], h[2]);
    return argc > 1 && argv[1][0] == '7' ? 7 : 0;
}
"""
# A finding for each tool, in four kernels. The host frees nothing.
FAULTS = """
__global__ void outside(int* x) { x[threadIdx.x + 1] = 1; }
__global__ void racing(int* x) { x[0] = threadIdx.x; }
template <int N> __global__ void reading(int* x, int* y) { y[threadIdx.x] = x[threadIdx.x] + N; }
__global__ void apart() { if (threadIdx.x < 16) __syncthreads(); else __syncthreads(); }
int main(int argc, char**)
{
    int *x, *y, *z;
    cudaMalloc(&x, 128);
    cudaMalloc(&y, 128);
    cudaMalloc(&z, 128);
    racing<<<1, 32>>>(x);
    reading<3><<<1, 32>>>(y, z);
    apart<<<1, 32>>>();
    outside<<<1, 32>>>(x);
    cudaFree(x);
    return argc > 1 ? 5 : 0;
}
"""


# Flags of the make that runs the tests. Others would build the simulator anew.
FLAGS = ("CXX", "CC", "HOSTCXX", "NVCC", "CXXFLAGS", "CFLAGS", "LDFLAGS", "LDLIBS", "SIM_O", "SANITIZE")


def environment(**more):
    """Of a person who has set nothing else."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", **{name: os.environ[name] for name in FLAGS if name in os.environ},
            **more}


@pytest.fixture(scope="module", autouse=True)
def simulator():
    """It is built once, so that no command says that it builds it."""
    assert run("make", "-s", "simcuda", env=environment()).returncode == 0


def simcuda(*words, cwd, command=SIMCUDA, **more):
    return run(command, *words, cwd=cwd, env=environment(**more))


def closing(done):
    """Kernels, launches and findings, as the last line counts them."""
    found = re.search(r"^try: (\d+) kernels?, (\d+) launch(?:es)?, (\d+) findings?$", done.stdout, re.M)
    assert found, done.stdout + done.stderr
    return tuple(map(int, found.groups()))


def two_files(folder):
    (folder / "own headers").mkdir()
    (folder / "own headers/scale.h").write_text("#include <cuda_runtime.h>\nvoid on_device(float* h);\n")
    (folder / "the kernels.cu").write_text(KERNELS)
    (folder / "main.cpp").write_text(MAIN)
    return ["main.cpp", "the kernels.cu", "-I", "own headers", "-DFACTOR=10"]


@pytest.fixture
def elsewhere(tmp_path):
    """A folder that has nothing of the project, and a temporary folder beside it."""
    (tmp_path / "my folder").mkdir()
    (tmp_path / "tmp").mkdir()
    return tmp_path / "my folder"


def test_from_another_folder(elsewhere):
    """Several files, names with spaces, arguments that look like options; nothing is left over."""
    words = two_files(elsewhere)
    before = sorted(path.name for path in elsewhere.iterdir())
    done = simcuda(*words, "--quiet", "--", "7 days", "--quiet", "it's", "", cwd=elsewhere,
                   TMPDIR=str(elsewhere.parent / "tmp"))
    assert done.returncode == 7 and done.stdout.startswith("[7 days][--quiet][it's][] 40 60\n"), done.stderr
    assert closing(done) == (1, 1, 0) and done.stderr == ""
    assert sorted(path.name for path in elsewhere.iterdir()) == before
    assert list((elsewhere.parent / "tmp").iterdir()) == []


def test_options_of_nvcc(elsewhere):
    """As in the Makefiles of others. One line names those that have no effect."""
    words = two_files(elsewhere)
    done = simcuda("-O3", "-std=c++14", "-arch=sm_90", "-gencode", "arch=compute_80,code=sm_80", "-rdc=true",
                   "-lineinfo", "--use_fast_math", "-Xptxas", "-v", "--expt-relaxed-constexpr", "-Xcompiler",
                   "-Wall,-fopenmp", "-g", *words, "-L/nowhere", "-lcudart", "-lm", "--quiet", cwd=elsewhere)
    assert done.returncode == 0 and done.stdout.startswith(" 40 60\n"), done.stdout + done.stderr
    assert done.stderr == ("simcuda: options that have no effect on the simulator: -std=c++14 -arch=sm_90 -gencode "
                           "arch=compute_80,code=sm_80 -rdc=true -lineinfo --use_fast_math -Xptxas -v "
                           "--expt-relaxed-constexpr -lcudart\n")


TOOLS = {"memcheck": ["outside: out-of-bounds store"], "racecheck": ["racing: race: "],
         "initcheck": ["reading<3>: uninitialized load"], "synccheck": ["apart: divergent barrier"]}


def test_a_built_program_takes_the_options_of_sanitizers(elsewhere):
    """Statuses, tools and kernels."""
    (elsewhere / "faults.cu").write_text(FAULTS)
    done = simcuda("faults.cu", "-o", "faults", cwd=elsewhere)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def checked(options, *words):
        return run(elsewhere / "faults", *words, cwd=elsewhere, env=environment(SIM_OPTIONS=f"--quiet {options}"))

    for options, words, status in [("", [], 1), ("", ["x"], 5), ("--error-exitcode 9", ["x"], 9),
                                   ("--error-exitcode 0", [], 0), ("--error-exitcode 0", ["x"], 5)]:
        assert checked(options, *words).returncode == status, (options, words)
    for tool in [*TOOLS, "all", "racecheck,synccheck"]:
        done = checked(f"--tool {tool}")
        wanted = [words for name, found in TOOLS.items() if tool == "all" or name in tool.split(",") for words in found]
        said = [words for found in TOOLS.values() for words in found if words in done.stdout]
        assert done.returncode == 1 and said == wanted and closing(done)[2] == len(wanted), done.stdout
        assert (f"note: --tool {tool}: findings of other kinds are left out\n" in done.stdout) == (tool != "all")
    for pattern, kernels in [("racing", ["racing"]), ("reading", ["reading<3>"]), ("r.*", ["racing", "reading<3>"])]:
        done = checked(f"--kernel '{pattern}' --csv counts.csv --trace trace.csv")
        found = [name for name in ("racing", "reading<3>", "apart", "outside") if f" {name}: " in done.stdout]
        assert done.returncode == 1 and found == kernels and closing(done)[:2] == (len(kernels),) * 2, done.stdout
        for name in ("counts", "trace"):
            text = (elsewhere / f"{name}.csv").read_text()
            assert all((kernel in text) == (kernel in kernels) for kernel in ("racing", "reading<3>", "outside")), text
    assert_refused(checked("--kernel racer"), 2, "--kernel racer: no such kernel was launched; expected one of ")


@pytest.mark.variety
def test_options_reach_the_compilers(elsewhere):
    (elsewhere / "a.cu").write_text("""#include <cstdio>
#include <concepts>
#ifndef _OPENMP
#error without -fopenmp
#endif
extern "C" int threads();
template <std::integral T> __global__ void fill(T* x) { x[threadIdx.x] = 1; }
int main()
{
    int* x;
    cudaMalloc(&x, 128);
    fill<<<1, 32>>>(x);
    cudaFree(x);
    printf("%d %ld\\n", threads(), __cplusplus / 100);
}
""")
    (elsewhere / "b.c").write_text("""#include FILE_NAME
int threads()
{
    int n = __STDC_VERSION__ / 100;
    #pragma omp parallel reduction(+:n)
    n += 1;
    return n;
}
""")
    done = simcuda("a.cu", "b.c", "-std=c++20", "-std=gnu11", "-Xcompiler=-fopenmp", '-DFILE_NAME="stdio.h"', "--quiet",
                   cwd=elsewhere, OMP_NUM_THREADS="3")
    assert done.returncode == 0 and done.stdout.startswith(f"{2011 + 3} 2020\n"), done.stdout + done.stderr


def test_what_is_refused(elsewhere):
    """One line, before anything is compiled."""
    (elsewhere / "a.cu").write_text("#error compiled\n")
    for words, expected in [
            (["--machin", "t4"], "unknown option --machin; did you mean --machine?"),
            (["--xyzzy"], "unknown option --xyzzy; simcuda --help lists the options"),
            (["--machine", "gtx"], "--machine gtx: expected one of g80, "),
            (["--kernel", "a("], "--kernel a(: expected a name or a regular expression"),
            (["--error-exitcode", "256"], "--error-exitcode 256: expected a whole number from 1 to 255"),
            (["--csv"], "--csv needs a value"), (["-ptx"], "-ptx: "),
            (["-o", "b", "--machine", "t4"], "in SIM_OPTIONS"),
            (["b.cu"], "b.cu: no such file"), (["-MD"], "-MD and its kin need -c")]:
        assert_refused(simcuda("a.cu", *words, cwd=elsewhere), 2, "simcuda: ", expected)
    assert_refused(simcuda("a.cu", cwd=elsewhere, SIM_OPTIONS="--machine gtx"), 2, "SIM_OPTIONS: --machine gtx: ")
    assert_refused(simcuda(cwd=elsewhere), 2, "simcuda: no program given; write simcuda program.cu -- ARGUMENTS")


def tools(folder, *without):
    """A PATH that has what the command and the compiler need, without some programs and without nvcc."""
    folder.mkdir()
    for name in ("bash", "sh", "make", "g++", "gcc", "as", "ld", "nm", "git", "nproc", "cut", "grep", "sed", "find",
                 "cat", "rm", "mv", "mkdir", "mktemp", "dirname", "basename", "readlink", "env", "objcopy", "tr", "df",
                 "awk"):
        if name not in without and shutil.which(name):
            (folder / name).symlink_to(shutil.which(name))
    return str(folder)


@pytest.fixture(scope="module")
def installed():
    """The command, installed from a copy of the project that is gone, for everybody to read and nobody to write."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="simcuda test "))
    folder.chmod(0o755)
    project = folder / "project"
    for name in ("Makefile", "mk", "sim", "common/base"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, project / name)
    copy_built(project)
    done = run("make", "-s", "NVCC=", "install", f"PREFIX={folder}/the prefix", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"{folder}/the prefix/bin/simcuda\n"), done.stdout
    shutil.rmtree(project)
    subprocess.run(["chmod", "-R", "a-w", folder / "the prefix"], check=True)
    yield folder / "the prefix/bin/simcuda"
    subprocess.run(["chmod", "-R", "u+w", folder / "the prefix"], check=True)
    shutil.rmtree(folder)


# What a compiler says of a kernel, and whether it fails.
SAID = {
    "int main() { asm(\"no_such_instruction\"); }": ("no such instruction|invalid instruction", 2),
    "template <int N> struct A { static const int v = A<N + 1>::v; };\n__global__ void k() { int x = A<0>::v; }\n"
    "int main() {}": ("depth", 2),
    "__device__ int stub(int n) {}\n__global__ void k(int* x) { *x = stub(1); }\nint main() {}": (r"Wreturn-type\]", 0),
    "__global__ void k(int* x, int n) { int s; for (int i = 0; i < n; ++i) s += x[i]; *x = s; }\nint main() {}":
        (r"uninitialized\]", 0),
    "__global__ void k(int* x, int n) { int s = 0; for (int i = 0; i < n; ++i) s += x[i]; int unused; *x = s; }\n"
    "int main() {}": ("^$", 0),
}


@pytest.mark.parametrize("text", SAID)
def test_a_compiler_that_fails_is_never_silent(text, tmp_path):
    """Nor is one that warns of what nvcc warns of."""
    (tmp_path / "said.cu").write_text(text)
    done = run(SIMCUDA, "-c", "said.cu", cwd=tmp_path)
    said, status = SAID[text]
    assert re.search(said, done.stderr) and done.returncode == status, done.stderr


def test_installed(installed, elsewhere):
    """Also for a user who may write in the temporary folder alone, and without a compiler."""
    words = two_files(elsewhere)
    done = simcuda("--explain", *words, cwd=elsewhere, command=installed)
    assert done.returncode == 0 and done.stdout.startswith(" 40 60\n"), done.stdout + done.stderr
    assert "  load of global memory at the kernels.cu:2: " in done.stdout
    done = simcuda("--audit", *words, cwd=elsewhere, command=installed)
    assert done.returncode == 0 and ", none that the hooks have not seen" in done.stdout, done.stdout + done.stderr
    if os.geteuid() == 0:  # only root can become another user
        folder = installed.parents[2] / "a program"
        folder.mkdir()
        done = subprocess.run([installed, *two_files(folder), "--quiet"], cwd=folder, env=environment(), user=65534,
                              group=65534, extra_groups=[], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0 and closing(done) == (1, 1, 0), done.stdout + done.stderr
    done = simcuda(*words, cwd=elsewhere, command=installed, PATH=tools(elsewhere.parent / "some", "g++"))
    assert_refused(done, 2, "simcuda: g++ is not on PATH")
    done = simcuda(*words, cwd=elsewhere, command=installed, TMPDIR="/nowhere")
    assert_refused(done, 2, "simcuda: /nowhere: no folder can be made there; set TMPDIR")


@pytest.mark.variety
@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("ctest"), reason="needs CMake")
def test_the_cmake_of_the_page(elsewhere):
    """The example in sim/README.md: two tests pass, and fail when blocks race."""
    (rules,) = re.findall(r"```cmake\n(.*?)```", (ROOT / "sim/README.md").read_text(), re.DOTALL)
    (elsewhere / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.18)\nproject(example CXX)\n{rules}")
    for operation, failed in (("atomicAdd(x, 1);", 0), ("*x += 1;", 2)):
        (elsewhere / "reduction.cu").write_text(f"""__global__ void count(int* x) {{ {operation} }}
int main() {{ int* x; cudaMalloc(&x, 4); cudaMemset(x, 0, 4); count<<<2, 1>>>(x); cudaFree(x); }}
""")
        path = {"PATH": f"{ROOT}/sim:{environment()['PATH']}"}
        done = run("cmake", "-B", "build", cwd=elsewhere, env=environment(**path))
        assert done.returncode == 0, done.stderr
        done = run("ctest", cwd=elsewhere / "build", env=environment(**path))
        assert f"{failed} tests failed out of 2" in done.stdout, done.stdout + done.stderr
