"""The simulator sees every access. An independent observer, valgrind, reports each load and store of the same run
(tools/completeness.py)."""

import re
import shutil
import sys

import pytest

from completeness import SEEN, compare, places
from lessons import ROOT, made, make_try, run, tried_of
from samples import ALL

pytestmark = pytest.mark.skipif(not shutil.which("valgrind"), reason="needs valgrind")


def accesses(output):
    return [int(n) for n in SEEN.match(output).groups()]


HIDDEN = """
#include <cstdio>

struct Pair { float x, y; };
__device__ Pair operator+(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }
__device__ __attribute__((no_sanitize("thread"))) void hidden(float* to, const float* from) { *to = 2 * *from; }

__global__ void k(Pair* out, const Pair* in, float* twice)
{
    __shared__ Pair tile[32];
    const int t = threadIdx.x;
    tile[t] = in[t] + in[t];
    __syncthreads();
    out[t] = tile[31 - t];
    hidden(twice + t, &in[t].x);
}

int main()
{
    Pair *in, *out;
    cudaMalloc(&in, 256);
    cudaMalloc(&out, 256);
    cudaMemset(in, 0, 256);
    k<<<1, 32>>>(out, in, &out[0].x);
    std::printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(in);
    cudaFree(out);
}
"""


def test_an_access_that_the_hooks_do_not_see(tmp_path):
    """It is named with its line, and the comparison fails. All others of the program, structures by value among them,
    are equal. In make test-all, test_everything compares the lessons, too."""
    made("build/tools/witness")
    source = tmp_path / "hidden.cu"
    source.write_text(HIDDEN)
    done = make_try(source, "SIM=--quiet")
    assert "no error" in done.stdout, done.stdout + done.stderr
    program = tried_of(tmp_path) / "hidden"
    status, output = compare(program)
    # A Pair is made of two floats. In the shared array, the compiler knows that it is aligned to 8 bytes.
    assert status == 1 and accesses(output) == [32 * (2 + 2 + 1), 32 * (1 + 2), 0]
    _, escaped, *named, vain = places(program, output).splitlines()
    assert escaped == "escaped: 64" and vain == "announced in vain: 0", output
    assert ([re.fullmatch(r"  32 x (load|store) of 4 bytes at .*/hidden.cu:6, hidden\(.*", line)[1] for line in named]
            == ["load", "store"])


@pytest.mark.skipif(not ALL, reason="takes two hours")
def test_everything():
    done = run(sys.executable, ROOT / "tools/completeness.py", timeout=4 * 3600)
    assert done.returncode == 0, done.stdout + done.stderr
