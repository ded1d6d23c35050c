"""docs/transpose.cu: the lessons in one file, for who has no use for the rest."""

import re
import shutil

import pytest

import facts
from lessons import ROOT, run
from samples import some

FILE = ROOT / "docs/transpose.cu"
TEXT = FILE.read_text()
KERNELS = ["copy", "transposeNaive", "transposeCoalesced", "transposeNoBankConflicts", "transposeLongPieces"]


def kernels_of(text):
    """The text of each kernel, by name."""
    return {name: kernel for kernel, name in
            re.findall(r"^(template <[^\n]*>\n__global__ void (\w+)\(.*?\n}\n)", text, re.DOTALL | re.MULTILINE)}


def simulated(path, shape=""):
    return run(ROOT / "sim/simcuda", "--quiet", path, "--", *shape.split())


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("one_file") / "transpose"
    assert run(ROOT / "sim/simcuda", "-o", path, FILE).returncode == 0
    return path


def test_its_kernels_are_those_of_the_steps():
    lessons = {}
    for lesson in facts.LESSONS:
        lessons |= kernels_of((ROOT / lesson.step / f"{lesson.step[:6]}.cu").read_text())
    assert kernels_of(TEXT) == {name: lessons[name] for name in KERNELS}
    assert len(TEXT.splitlines()) <= 250 and max(map(len, TEXT.splitlines())) <= 120


@pytest.mark.parametrize("shape", ["1024 1024", "333 555", "1 1", "70 1"])
def test_it_is_right_and_counts_as_the_steps(program, shape):
    done = run("env", "SIM_OPTIONS=--explain", program, *shape.split())
    assert done.returncode == 0 and "5 kernels, 5 launches, 0 findings" in done.stdout, done.stdout + done.stderr
    assert [line.split() for line in done.stdout.splitlines()[1:7]] == [[k, "right"] for k in ["cudaMemcpy", *KERNELS]]
    if shape == "1024 1024":
        assert done.stdout.count("32768 requests of 32 x 4 bytes; 4 sectors each") == 9
        assert done.stdout.count("32 sectors each") == done.stdout.count("32 wavefronts each") == 1


@pytest.mark.parametrize("what, becomes", [
    ("HIGH_CUT - CUT)", "HIGH_CUT)"),  # tiles that leave rows out
    ("odata[size_t(x) * height + (y + j)]", "odata[size_t(x) * width + (y + j)]"),  # right for squares
    ("tile[threadIdx.x][threadIdx.y + j]", "tile[threadIdx.y + j][threadIdx.x]"),   # moves tiles, turns none
])
def test_a_wrong_result_is_noticed(tmp_path, what, becomes):
    assert what in TEXT
    (tmp_path / "wrong.cu").write_text(TEXT.replace(what, becomes))
    done = simulated(tmp_path / "wrong.cu", "100 1001")
    assert done.returncode == 1, done.stdout
    assert re.search(r" wrong at row \d+, column \d+ of odata$", done.stdout, re.MULTILINE), done.stdout


def test_a_shape_is_refused(program):
    for shape in (["0", "5"], ["5"], ["five", "5"]):
        done = run(program, *shape)
        assert done.returncode == 2 and "[WIDTH HEIGHT]" in done.stdout


@pytest.mark.parametrize("element", some(["double", "char", "double2"], 3))
def test_the_piece_to_lift_stands_alone(tmp_path, element):
    """In a program of its own, for other types and on a stream."""
    (piece,) = re.findall(r"^// ---- Use it in your program.*?(?=^// ---- )", TEXT, re.DOTALL | re.MULTILINE)
    (tmp_path / "own.cu").write_text(f"""#include <cstdio>
#include <cstring>
{piece}
using T = {element};
int main()
{{
    const int width = 100, height = 333;
    static unsigned char in[width * height * sizeof(T)], out[sizeof in];
    for (size_t i = 0; i < sizeof in; ++i) in[i] = i % 251;
    T *idata, *odata;
    cudaStream_t stream;
    cudaMalloc(&idata, sizeof in);
    cudaMalloc(&odata, sizeof in);
    cudaStreamCreate(&stream);
    cudaMemcpyAsync(idata, in, sizeof in, cudaMemcpyHostToDevice, stream);
    if (transpose(odata, idata, width, height, stream) != cudaSuccess) return 2;
    cudaMemcpyAsync(out, odata, sizeof in, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            if (memcmp(out + (x * height + y) * sizeof(T), in + (y * width + x) * sizeof(T), sizeof(T))) return 3;
    cudaStreamDestroy(stream);
    cudaFree(idata);
    cudaFree(odata);
    puts("right");
}}
""")
    done = simulated(tmp_path / "own.cu")
    assert done.returncode == 0 and done.stdout.startswith("right\n") and "0 findings" in done.stdout, done.stdout


@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
def test_nvcc_has_nothing_to_say(tmp_path):
    done = run("nvcc", "-O3", "-Xcompiler", "-Wall,-Wextra", "-Werror", "all-warnings", FILE, "-o", tmp_path / "a.out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
