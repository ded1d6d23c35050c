"""What is to be said after the sources' tables: each conclusion that a source draws from its table, held against the
figures of one machine.

book(results, machine) and post(results, machine) give a list in Markdown, a line for each conclusion, with the
published figures and those of the machine. A line without figures of the machine gives the published ones alone.
"""

import results as reader
from sources import published

K20C, CPU, GTX1050TI = "Tesla K20c", "one core of the CPU", "GTX 1050 Ti (notebook)"


class Times:
    """ms of kernels on one machine: published and here. A kernel is 'name' or 'name block'."""

    def __init__(self, source, card, results, machine, host=None):
        self.there, self.here = published.results(source), results
        self.card = {m.name: m for m in self.there.machines()}[card]
        self.machine, self.host = machine, host

    @staticmethod
    def ms(results, machine, kernel, side):
        name, _, block = kernel.partition(" ")
        row = results.find(name, side, block=block or None, machine=machine) if machine else None
        found = reader.time(row) if row else None
        return found.value if found else None

    def ratio(self, slow, fast, side):
        """How many times as fast `fast` is as `slow`: published, and here or None."""
        both = []
        for results, machine in ((self.there, self.card), (self.here, self.machine)):
            times = [self.ms(results, machine, kernel, side) for kernel in (slow, fast)]
            both.append(times[0] / times[1] if None not in times else None)
        return both

    def line(self, conclusion, slow, fast, sides, why=""):
        """The conclusion, the factors at these sizes there and here, and why they differ."""
        ratios = [(side, *self.ratio(slow, fast, side)) for side in sides]
        there = ", ".join(f"{r:.2f} at {side}" for side, r, _ in ratios if r)
        here = ", ".join(f"{r:.2f} at {side}" for side, _, r in ratios if r)
        text = f"- **{conclusion}** Speed of `{fast}` over `{slow}`: published {there}"
        text += f"; here {here}." if here else "."
        return text + (f" {why}" if why else "") + "\n"


def book(results, machine, host=None):
    """On the book's tables 9.1 to 9.3: its eight conclusions, and that of 9.7. machine: a GPU, and host: the CPU of its
    run, both of results.machines(), or None."""
    gpu, cpu = Times("book", K20C, results, machine), Times("book", CPU, results, host)
    left_out = "The times of the 1D kernels from 1024 on are those of 512 rows (E1)."
    ahead, told = (lead(*both) for both in ((gpu.there, gpu.card, cpu.card), (results, machine, host)))
    return "".join([
        cpu.line("1. On one core, contiguous reads and contiguous writes take the same time.", "transposeSerialRead",
                 "transposeSerialWrite", (256, 8192)),
        "- **2. A larger matrix takes longer for each byte, because it leaves the caches.** " + growth(cpu) + "\n",
        "- **3. The GPU is faster, the more so the larger the matrix.** Speed of `transposeTile16Padded` over "
        f"`transposeSerialRead`: published {ahead}" + (f"; here {told}." if told else ".") +
        " The copies to the device are left out. With them the book's CPU is ahead up to 2048 (E20).\n",
        gpu.line("4. On small matrices 2D blocks win.", "transposeRow1D", "transposeRow16", (256, 512)),
        gpu.line("5. Shared memory helps.", "transposeRow16", "transposeTile16", (256, 2048, 8192),
                 "Stores by columns touch 32 sectors each, and those from the tile touch 4."),
        gpu.line("6. Padding hardly helps.", "transposeTile16", "transposeTile16Padded", (256, 8192),
                 "A tile of 16 × 17 still has conflicts on 32 banks (E11)."),
        gpu.line("7. The diagonal order is slower, because nothing camps.", "transposeTile16Padded",
                 "transposeDiagonal16", (4096, 8192),
                 "The measurement stands. The book's reason for it does not (E32)."),
        gpu.line("8. From 1024 on 1D blocks win.", "transposeTile16Padded", "transposeCol1D", (1024, 8192), left_out),
        gpu.line("9.7. A fixed grid of looping blocks is faster.", "transposeTile32Padded", "transposeLoopingBlocks",
                 (4096, 8192), "The published kernel has a race (E2). The one here has the barrier."),
    ])


def lead(results, gpu, cpu):
    """How many times as fast the GPU is as the CPU, copies left out, at 256 and 8192; empty if not known."""
    times = [(Times.ms(results, cpu, "transposeSerialRead", n), Times.ms(results, gpu, "transposeTile16Padded", n), n)
             for n in (256, 8192)]
    return ", ".join(f"{slow / fast:.0f} at {n}" for slow, fast, n in times if slow and fast)


def growth(cpu):
    """ns for each element at 256 and at 8192, there and here."""
    def ns(results, machine):
        times = [Times.ms(results, machine, "transposeSerialRead", n) for n in (256, 8192)]
        return "" if None in times else " and ".join(f"{1e6 * t / n / n:.1f}" for t, n in zip(times, (256, 8192)))
    there, here = ns(cpu.there, cpu.card), ns(cpu.here, cpu.machine)
    return f"An element takes {there} ns at 256 and 8192, published" + (f"; {here} ns here." if here else ".")


def post(results, machine):
    """On the bandwidth post's tables, at 4096 x 4096."""
    t = Times("bandwidth post", GTX1050TI, results, machine)
    return "".join([
        t.line("Strided reads are cheaper than strided writes.", "transposeRow 32x32", "transposeCol 32x32", (4096,),
               "The post asks why, and guesses that latency is hidden better. The model here gives another reason. A "
               "sector that was read stays in the cache for the neighbouring reads, and each store to a line costs the "
               "L2 an access."),
        t.line("Unrolled, a transpose by columns is faster than the copy that was meant as the limit.",
               "copyRow 32x32", "transposeColUnrolled 32x32", (4096,),
               "Four loads of a thread are in flight instead of one. That copy is no limit, since it has one."),
        t.line("Unrolled by rows, too.", "copyRow 32x32", "transposeRowUnrolled 32x32", (4096,),
               "The published row timed the kernel by columns a second time (E5)."),
        t.line("Blocks of 32 x 16 are the best.", "transposeCol 32x8", "transposeCol 32x16", (4096,)),
        "- **The diagonal order is slower.** The post leaves open why. On its card addresses are hashed over the "
        "partitions (assumed), so that nothing camps and the order has nothing to mend. That it costs something may "
        "come from blocks whose reads share sectors, and which no longer run at the same time. This is not measured.\n",
    ])
