"""Random kernels whose threads share the array of a block: which of them race is asked of racecheck on a card, and of
the simulator.

    program(11)     # the text of a program with KERNELS kernels, k0, k1, ...; its argument is the number of the
                    # one to launch, or else all are
"""

import random

SEEDS = (11, 12, 13, 14)
KERNELS = 100
THREADS = 64

PLACES = ["t", "t / 2", "(t + 1) % 64", "0", "t % 32", "t ^ 1", "t * 3 % 64", "63 - t", "t / 32", "t & ~3", "t ^ 32"]
VALUES = ["t", "1", "t / 2", "t / 32", "t % 2", "r", "2"]
CONDITIONS = ["t < 32", "t % 2 == 0", "t == 0", "t / 32 == 1", "t % 32 == 5", "t < 48"]
TYPES = ["int", "int", "int", "unsigned char", "short", "long long"]


class Kernel:
    def __init__(self, draw, name):
        self.draw, self.type, self.stored = draw, draw.choice(TYPES), []
        lines = [
            f"__shared__ {self.type} s[{THREADS}];", "const int t = threadIdx.x;", "int r = 0;", "s[t] = t;",
            "__syncthreads();"]
        for _ in range(draw.randint(1, 3)):
            lines.append(self.statement(inside=False))
            if draw.random() < 0.5:
                lines.append("__syncthreads();")
                self.stored.clear()
        self.text = "\n    ".join([f"__global__ void {name}(int* out)\n{{", *lines, "out[t] = r;"]) + "\n}\n"

    def place(self):
        return self.draw.choice(PLACES)

    def target(self, other_than=()):
        """Where to store. Not where this thread has stored before: compilers leave out all but the last of such
        stores."""
        place = self.draw.choice([p for p in PLACES if p not in self.stored and p not in other_than])
        self.stored.append(place)
        return place

    def statement(self, inside):
        kinds = (["store"] * 6 + ["load"] * 5 + ["copy"] * 2 + (["add"] if self.type == "int" else [])
                 + ([] if inside else ["warp"] * 2 + ["if"] * 2 + ["loop"]))
        kind = self.draw.choice(kinds)
        if kind == "store": return f"s[{self.target()}] = {self.draw.choice(VALUES)};"
        if kind == "load": return f"r += s[{self.place()}];"
        if kind == "add": return f"atomicAdd(&s[{self.place()}], {self.draw.choice(['1', 't'])});"
        if kind == "warp": return "__syncwarp();"
        if kind == "copy":
            place = self.place()
            return f"s[{self.target([place])}] = s[{place}];"
        body = " ".join(self.statement(inside=True) for _ in range(self.draw.randint(1, 2)))
        if kind == "if":
            return f"if ({self.draw.choice(CONDITIONS)}) {{ {body} }}" + (f" else {{ {self.statement(inside=True)} }}"
                                                                          if self.draw.random() < 0.4 else "")
        return f"for (int k = 0; k < 2; ++k) {{ {body}{' __syncthreads();' if self.draw.random() < 0.5 else ''} }}"


def program(seed):
    draw = random.Random(seed)
    names = [f"k{n}" for n in range(KERNELS)]
    kernels = "\n".join(Kernel(draw, name).text for name in names)
    launches = "\n".join(
        f"    if (one == {n} || one < 0) {name}<<<1, {THREADS}>>>(out);" for n, name in enumerate(names))
    return f"""#include <cstdlib>

{kernels}
int main(int argc, char** argv)
{{
    const int one = argc > 1 ? std::atoi(argv[1]) : -1;
    int* out;
    cudaMalloc(&out, {THREADS} * sizeof(int));
{launches}
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(out);
    return error;
}}
"""
