#!/usr/bin/env python3
"""One library that transposes, in a process of its own: `make peers` starts it.

usage: python3 peer.py PyTorch|torch.compile|Triton|CuPy|JAX

Says `ready VERSION`, or `absent WHY`. Then answers lines on its standard input, one each:
    time TYPE WIDTH HEIGHT BUFFERS PASSES   transposes the BUFFERS matrices (height x width) in turn,
                                            PASSES times in all: `MS` of all passes, or `wrong WHAT`, or `error WHAT`
    release                                 gives the matrices back: `released`
A sample is checked after its time was taken, every element of it; what is to be overwritten is spoilt before. All but
JAX are timed by events on the card; JAX, which has none, by the host's clock, its dispatch included.
"""

import os
import sys
import time

# What each type is called here, and how many whole numbers it holds exactly, or a prime below.
TYPES = {
    "char": ("int8", 127), "half": ("float16", 2039), "float": ("float32", 16777213), "double": ("float64", 16777213),
    "int": ("int32", 16777213), "double2": ("complex128", 16777213)}
ROWS_AT_ONCE = 1 << 24  # elements that are filled or checked in one go


class PyTorch:
    def __init__(self):
        import torch
        self.np = torch
        self.version = torch.__version__
        if not torch.cuda.is_available():
            raise ImportError("it sees no GPU")
        torch.set_default_device("cuda")

    def type(self, name):
        return getattr(self.np, TYPES[name][0])

    def cast(self, array, dtype):
        return array.to(dtype)

    def empty(self, shape, dtype):
        return self.np.empty(shape, dtype=dtype)

    def put(self, array, row, values):
        array[row:row + len(values)] = values
        return array

    def spoil(self, array):
        array.fill_(-1)
        return array

    def transpose(self, out, array):
        out.copy_(array.t())
        return out

    def timed(self, work):
        start, stop = (self.np.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop)

    def release(self):
        self.np.cuda.empty_cache()


class Compiled(PyTorch):
    """What torch.compile makes of the same; it allocates its results."""
    def __init__(self):
        super().__init__()
        self.compiled = self.np.compile(lambda array: array.t().contiguous(), dynamic=True)

    def transpose(self, out, array):
        return self.compiled(array)


class Triton(PyTorch):
    """A tile per program, turned by Triton itself; the fastest of a few shapes."""
    def __init__(self):
        super().__init__()
        global tl  # where Triton looks names up
        import triton
        import triton.language as tl
        self.version = triton.__version__
        self.tiles_of = triton.cdiv

        def turn(out, array, width, height, HIGH: tl.constexpr, WIDE: tl.constexpr):
            y = tl.program_id(0).to(tl.int64) * HIGH + tl.arange(0, HIGH)
            x = tl.program_id(1).to(tl.int64) * WIDE + tl.arange(0, WIDE)
            tile = tl.load(array + y[:, None] * width + x[None, :], mask=(y[:, None] < height) & (x[None, :] < width))
            tl.store(out + x[:, None] * height + y[None, :], tl.trans(tile),
                     mask=(x[:, None] < width) & (y[None, :] < height))

        tiles = [
            triton.Config({"HIGH": high, "WIDE": wide}, num_warps=warps)
            for high, wide, warps in ((32, 32, 4), (64, 64, 4), (64, 64, 8), (128, 64, 8))]
        self.turn = triton.autotune(tiles, key=["width", "height"])(triton.jit(turn))

    def transpose(self, out, array):
        height, width = array.shape
        self.turn[lambda tile: (self.tiles_of(height, tile["HIGH"]), self.tiles_of(width, tile["WIDE"]))](
            out, array, width, height)
        return out


class CuPy(PyTorch):
    def __init__(self):
        import cupy
        self.np = cupy
        self.version = cupy.__version__
        cupy.cuda.runtime.getDeviceCount()

    def cast(self, array, dtype):
        return array.astype(dtype)

    def spoil(self, array):
        array.fill(-1)
        return array

    def transpose(self, out, array):
        self.np.copyto(out, array.T)
        return out

    def timed(self, work):
        start, stop = self.np.cuda.Event(), self.np.cuda.Event()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        return self.np.cuda.get_elapsed_time(start, stop)

    def release(self):
        self.np.get_default_memory_pool().free_all_blocks()


class JAX(CuPy):
    def __init__(self):
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        import jax
        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.np = jax.numpy
        self.version = jax.__version__
        if jax.default_backend() != "gpu":
            raise ImportError("it sees no GPU")
        self.jit = jax.jit(self.np.transpose)
        self.fill = jax.jit(lambda array, row, values: jax.lax.dynamic_update_slice(array, values, (row, 0)),
                            donate_argnums=0)

    def put(self, array, row, values):
        return self.fill(array, row, values)

    def spoil(self, array):
        return array  # arrays never change: every result is a new one

    def transpose(self, out, array):
        return self.jit(array)

    def timed(self, work):
        start = time.perf_counter()
        self.jax.block_until_ready(work())
        return 1e3 * (time.perf_counter() - start)

    def release(self):
        pass


class Matrices:
    """Inputs that hold a number each element can be told by, and outputs."""

    def __init__(self, library, name, width, height, buffers):
        self.library, self.width, self.height = library, width, height
        self.dtype, self.modulo = library.type(name), TYPES[name][1]
        self.inputs, self.outputs = [], []
        for _ in range(buffers):
            array = library.empty((height, width), self.dtype)
            for first, last in self.pieces(height, width):
                array = library.put(array, first, self.numbers(first, last, 0, width))
            self.inputs.append(array)
            self.outputs.append(library.empty((width, height), self.dtype))

    @staticmethod
    def pieces(rows, row_length):
        step = max(1, ROWS_AT_ONCE // row_length)
        return [(first, min(first + step, rows)) for first in range(0, rows, step)]

    def numbers(self, y0, y1, x0, x1):
        """The input's rows y0 to y1, columns x0 to x1."""
        np = self.library.np
        return self.library.cast((np.arange(y0, y1)[:, None] * self.width + np.arange(x0, x1)[None, :]) % self.modulo,
                                 self.dtype)

    def time_ms(self, passes):
        library, used = self.library, range(min(passes, len(self.outputs)))

        def work():
            for i in range(passes):
                k = i % len(self.outputs)
                self.outputs[k] = library.transpose(self.outputs[k], self.inputs[k])
            return self.outputs

        for k in used:
            self.outputs[k] = library.spoil(self.outputs[k])
        ms = library.timed(work)
        for k in used:
            for first, last in self.pieces(self.width, self.height):
                expected = self.numbers(0, self.height, first, last).T
                wrong = int((self.outputs[k][first:last] != expected).sum())
                if wrong:
                    raise ValueError(f"{wrong} elements of rows {first} to {last - 1} differ")
        return ms


def answer(library, held, words):
    if words == ["release"]:
        held.clear()
        library.release()
        return "released"
    name, width, height, buffers, passes = words[1], *map(int, words[2:])
    key = (name, width, height)
    if held.get("key") != key or len(held["matrices"].outputs) < buffers:
        held.clear()
        library.release()
        held.update(key=key, matrices=Matrices(library, name, width, height, buffers))
    try:
        return f"{held['matrices'].time_ms(passes):.6f}"
    except ValueError as error:
        return f"wrong {error}"


def main():
    libraries = {"PyTorch": PyTorch, "torch.compile": Compiled, "Triton": Triton, "CuPy": CuPy, "JAX": JAX}
    if len(sys.argv) != 2 or sys.argv[1] not in libraries:
        sys.exit(__doc__)
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library has to say is no reply
    try:
        library = libraries[sys.argv[1]]()
    except Exception as error:  # whatever keeps it from working here
        print("absent", str(error).split("\n")[0] or type(error).__name__, file=replies)
        return
    print("ready", library.version, file=replies)
    held = {}
    for line in sys.stdin:
        try:
            reply = answer(library, held, line.split())
        except Exception as error:  # not enough memory, most likely
            held.clear()
            reply = "error " + (str(error).split("\n")[0] or type(error).__name__)
        print(reply, file=replies)


if __name__ == "__main__":
    main()
