"""Random kernels of a few threads, and which of them race: an oracle that keeps every access and compares all pairs.

    program(21)     # (the text of a program with KERNELS kernels, k0, k1, ...; {kernel: True, False or None})

The threads are lanes 0, 1 and 2 of two warps, in one or two blocks. A step is a barrier, or one thread's load or store
of a word, plain, volatile or atomic, or a fence in front of a signal. The oracle runs the steps in the order of the
simulator: block after block, in a block warp after warp, in a warp lane after lane, each up to where it waits. Each
thread has a clock for every thread. None: the verdict depends on what the rules leave open, which is

- the order of atomic operations that nothing else orders: what follows one whose result is read follows those before
  it;
- what a thread hands over by a signal whose fence lies before a barrier.
"""

import random

SEEDS = range(21, 41)
KERNELS = 200
LANES = (0, 1, 2, 32, 33, 34)


class Kernel:
    def __init__(self, draw, name):
        self.draw = draw
        self.blocks, self.shared = draw.choice([(1, True), (1, False), (2, False)])
        lanes = sorted(draw.sample(LANES, draw.choice([2, 2, 3, 4])))
        threads = [(block, lane) for block in range(self.blocks) for lane in lanes]
        kinds = draw.choice([["load", "load", "store"], ["load", "load", "load", "store"],
                             ["load", "store", "atomic", "read atomic"],
                             ["load", "load", "atomic", "read atomic", "volatile load", "volatile store"]])
        events = ["signal", "take", "take", "fence", "meet", "meet", "barrier"]
        self.steps = []
        for _ in range(draw.randint(3, 14)):
            kind = draw.choice(kinds if draw.random() < 0.55 else events)
            self.steps.append((kind, draw.choice(threads), draw.randrange(2)))
        word = "s" if self.shared else "x"
        lines = []
        if self.shared:
            lines = ["__shared__ int s[2];", "if (threadIdx.x < 2) s[threadIdx.x] = 0;", "__syncthreads();"]
        lines += ["const int t = blockIdx.x * 64 + threadIdx.x;", "int r = 0;"]
        lines += [self.statement(number, word, *step) for number, step in enumerate(self.steps)]
        self.text = "\n    ".join([f"__global__ void {name}(int* x, volatile int* flags, int* out)\n{{", *lines,
                                   "out[t] = r;"]) + "\n}\n"

    @staticmethod
    def statement(number, word, kind, thread, which):
        at = f"{word}[{which}]"
        seen = f"*(volatile int*)&{at}"
        if kind == "barrier": return "__syncthreads();"
        if kind == "meet": return f"if (threadIdx.x / 32 == {thread[1] // 32}) __syncwarp();"
        # clock() keeps compilers from joining accesses.
        does = {"load": f"r += {at};", "store": f"{at} = {number};", "atomic": f"atomicAdd(&{at}, 1);",
                "read atomic": f"r += atomicAdd(&{at}, 1);",
                "volatile load": f"r += {seen};", "volatile store": f"{seen} = {number};", "fence": "__threadfence();",
                "signal": f"__threadfence(); atomicExch((int*)&flags[{which}], 1);",
                "take": f"r += atomicAdd((int*)&flags[{which}], 0);"}[kind]
        return f"if (t == {thread[0] * 64 + thread[1]}) {{ {does} clock(); }}"

    def in_order(self):
        """The steps as the simulator comes to them."""
        for block in range(self.blocks):
            phase = []
            for step in [*self.steps, ("barrier", None, None)]:
                if step[0] != "barrier":
                    phase.append(step)
                    continue
                for warp in (0, 1):
                    parts = [[]]
                    for kind, thread, which in phase:
                        if thread[1] // 32 != warp: continue
                        if kind == "meet": parts.append([])
                        elif thread[0] == block: parts[-1].append((kind, thread, which))
                    for number, part in enumerate(parts):
                        yield from sorted(part, key=lambda step: step[1])
                        if number < len(parts) - 1: yield "meet", (block, warp * 32), None
                yield "barrier", (block, 0), None
                phase = []

    def races(self):
        verdicts = {(early, self.pairs(early, follows)) for early in (False, True) for follows in (False, True)}
        found = {verdict for _, verdict in verdicts}
        return found.pop() if len(found) == 1 else None

    def pairs(self, early, follows):
        """True if two accesses race. `early`: a barrier counts as a fence. `follows`: see above."""
        threads = [(block, lane) for block in range(self.blocks) for lane in LANES]
        known = {t: dict.fromkeys(threads, 0) for t in threads}
        fenced = {t: dict.fromkeys(threads, 0) for t in threads}
        promised = {t: dict.fromkeys(threads, 0) for t in threads}
        objects, made, raced = {}, {}, False

        def join(to, other):
            for t in threads: to[t] = max(to[t], other[t])

        for kind, thread, which in self.in_order():
            if kind in ("meet", "barrier"):
                group = [t for t in threads if t[0] == thread[0]
                         and (kind == "barrier" or t[1] // 32 == thread[1] // 32)]
                for clocks in (known, fenced):
                    joint = dict.fromkeys(threads, 0)
                    for t in group: join(joint, clocks[t])
                    for t in group: clocks[t] = dict(joint)
                if early:
                    for t in group: fenced[t] = dict(known[t])
                continue
            own = known[thread]
            own[thread] += 1
            if kind in ("fence", "signal"):
                join(own, promised[thread])
                fenced[thread] = dict(own)
            place = objects.setdefault(("flag" if kind in ("signal", "take") else "word", which),
                                       dict.fromkeys(threads, 0))
            if kind in ("signal", "take", "atomic", "read atomic", "volatile store"): join(place, fenced[thread])
            if kind == "take": join(own, place)
            if kind == "volatile load": join(promised[thread], place)
            if kind in ("signal", "take", "fence"): continue
            here = (kind, thread, own[thread], dict(own))
            for there in made.setdefault(which, []):
                other_kind, other, count, _ = there
                if other == thread or own[other] >= count: continue
                if not ("store" in kind + other_kind or "atomic" in kind + other_kind): continue
                apart = other[0] != thread[0] or other[1] // 32 != thread[1] // 32
                if "atomic" in kind + other_kind and not {kind, other_kind} & {"load", "store"}: continue
                if kind.startswith("volatile") and other_kind.startswith("volatile") and apart: continue
                one, plain = (here, there) if "atomic" in kind else (there, here)
                if follows and "atomic" in one[0] and any(
                        k == "read atomic" and plain[3][t] >= c > one[3][t] for k, t, c, _ in made[which]):
                    continue
                raced = True
            made[which].append(here)
            # Who reads no result does not know who was there before.
            if kind == "read atomic": join(own, place)
        return raced


def program(seed):
    draw = random.Random(seed)
    kernels = {f"k{n}": Kernel(draw, f"k{n}") for n in range(KERNELS)}
    launches = "\n".join(f"    cudaMemset(x, 0, 64);\n    {name}<<<{kernel.blocks}, 64>>>(x, flags, out);"
                         for name, kernel in kernels.items())
    return "\n".join(kernel.text for kernel in kernels.values()) + f"""
int main()
{{
    int *x, *flags, *out;
    cudaMalloc(&x, 64);
    cudaMalloc(&flags, 64);
    cudaMalloc(&out, 512);
    cudaMemset(flags, 0, 64);
{launches}
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(flags);
    cudaFree(out);
    return error;
}}
""", {name: kernel.races() for name, kernel in kernels.items()}
