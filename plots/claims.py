#!/usr/bin/env python3
"""Fourteen claims that the sources make, judged from the results at hand.

usage: python3 plots/claims.py RESULTS.csv...

Takes the files that `./stepNN --csv` writes. For every machine in them, each claim holds, does not hold, or cannot be told
here, and the figures say why. Figures of the simulator's model are marked `model`. What cannot be read goes to stderr, one
line each, and the rest is judged; exits 2 if nothing is left.

How it is decided: two bandwidths give a ratio, and their spread (10th to 90th percentile of the samples) an interval around
it. If all of the interval is on one side of what the claim's words ask for, that is the verdict; otherwise it cannot be told.
Each threshold is what the word asks for at the least, and such that the figures the source drew its claim from pass.
"""

import argparse
import dataclasses
import functools
import math
import sys
import textwrap

import results as reader

HOLDS, FAILS, UNTOLD = "holds", "does not hold", "cannot be told here"

# The sizes that the sources measured at.
WHITEPAPER = 2048
POST = 4096
BOOK = (256, 512, 1024, 2048, 4096, 8192)
SMALL = (256, 512)          # of these and LARGE the book speaks; at SMALL a launch takes longer than the copying
ABOVE_1024 = (2048, 4096, 8192)
LARGE = (4096, 8192)

FASTER = 1.03               # less is a tie: nine in ten medians of separate runs on one H200 differ by less, whatever their spread
ALIKE = 1.10                # the book calls 0.638 and 0.600 ms the same; "hardly" and "about the same" are this near, either way
SIZEABLE = 1.20             # twice as far from 1 as what is alike
LITTLE = 0.80               # the whitepaper's 80.9 of 96.9 GiB/s with a tile and a barrier, 83 %, is its "little" cost
ORDER_OF_MAGNITUDE = 5      # in tens, five rounds to one of them and three to none; the whitepaper's own factor is 7.5
FOUR_TIMES = 4
TWO_TIMES = (math.sqrt(2), math.sqrt(8))  # nearer to two than to one or four, as ratios go; the post has 1.9
HALF = 1.0                  # to dominate is to take more than half of the whole: more than the rest

# What a model may be wrong by, as a factor: that of the GTX 280 against the published table (naive: +11 %), the rooflines,
# which are upper bounds, against the H200 (copyRow: +64 %).
MODEL_ERROR = {"GeForce GTX 280": 0.11}
ROOFLINE_ERROR = 0.65


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One claim, judged. verdict: HOLDS, FAILS or UNTOLD; figures: all that were looked at, as results.Figure."""
    number: int
    source: str
    claim: str
    verdict: str
    figures: list
    sentence: str


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a claim: what it says ('' if it is the whole), its verdict (None: not put to the test here), its figures."""
    topic: str
    verdict: str
    text: str


@dataclasses.dataclass(frozen=True)
class Ratio:
    """How many times as fast one is as another: value, and the interval it may lie in. blind: a model gives both the same,
    so either nothing differs or the model does not know what does. what: the kernel; how: the rest, in words."""
    value: float
    low: float
    high: float
    blind: bool
    what: str
    how: tuple


# Tests of a ratio, or of None if figures are missing: each gives a verdict.

def at_least(factor):
    return lambda r: UNTOLD if r is None or r.blind else HOLDS if r.low >= factor else FAILS if r.high < factor else UNTOLD


def less_than(factor):
    return lambda r: UNTOLD if r is None or r.blind else HOLDS if r.high < factor else FAILS if r.low >= factor else UNTOLD


def between(low, high):
    def test(r):
        if r is None:
            return UNTOLD
        return HOLDS if low <= r.low and r.high <= high else FAILS if r.high < low or r.low > high else UNTOLD
    return test


alike = between(1 / ALIKE, ALIKE)  # the same counts make the same time, in a model, too


def hardly(ratio):
    """Alike though something was done about it: a model that gives both the same may not know of what was done."""
    return UNTOLD if ratio and ratio.blind else alike(ratio)


def worst(verdicts):
    """All must hold; one that does not decides."""
    verdicts = list(verdicts)
    return next((v for v in (FAILS, UNTOLD, HOLDS) if v in verdicts), None)


def error_of(figure):
    """By what share of its value a figure may be off, either way."""
    return MODEL_ERROR.get(figure.machine, ROOFLINE_ERROR) / 2 if figure.label == "model" else figure.spread / 2


class Bench:
    """The rows of one machine, floats; remembers the figures it gave and what it lacked."""

    def __init__(self, results, machine):
        self.results, self.machine = results, machine
        self.figures, self.missing = [], {}

    def figure(self, name, side, timed=False):
        """Of 'kernel' or 'kernel block': the bandwidth; timed, and on a CPU, the time, which has more digits there."""
        kernel, _, block = name.partition(" ")
        row = self.machine and self.results.find(kernel, side, block=block or None, machine=self.machine)
        found = reader.time(row) if timed or self.machine and self.machine.backend == "cpu" else reader.bandwidth(row)
        if found is None:
            self.missing.setdefault(name, {})[f"{side} x {side}"] = None
        elif all(found.row is not f.row for f in self.figures):
            self.figures.append(found)
        return found

    def lacks(self):
        """What is missing, in words: kernels that lack the same sizes together."""
        together = {}
        for name, shapes in self.missing.items():
            together.setdefault(", ".join(shapes), []).append(name)
        return "; ".join(f"{', '.join(names)} at {shapes}" for shapes, names in together.items())

    def fastest(self, names, side):
        """Of one name, or of the fastest of several: its figure; None if any is missing."""
        found = [self.figure(name, side) for name in ((names,) if isinstance(names, str) else names)]
        return None if None in found else max(found, key=rate)

    def compare(self, what, than, side, than_side=None):
        """The Ratio of two kernels, of the fastest of several, or of two sizes; None if a figure is missing."""
        return ratio(self.fastest(what, side), self.fastest(than, than_side or side))

    def part(self, topic, what, than, sides, test):
        """A claim that has to pass the test at each of these sizes."""
        ratios = [self.compare(what, than, side) for side in sides]
        return Part(topic, worst(map(test, ratios)), told(ratios))


def rate(figure):
    """Elements per ms, or bytes per ns: what is larger is faster."""
    return figure.value if figure.unit == "GB/s" else int(figure.row["width"]) * int(figure.row["height"]) / figure.value


def ratio(a, b):
    if a is None or b is None:
        return None
    value, blind = rate(a) / rate(b), a.label == b.label == "model" and a.value == b.value
    off = 0 if blind else error_of(a) + error_of(b)
    if a.shape == b.shape:
        who, where = f"as fast as {b.kernel} ", a.shape
        figures = f"{a} and {b}".replace(f" {a.unit}", "", a.label == "measured")
    else:
        who, where, figures = "as fast ", f"{a.shape} as at {b.shape}", f"{a} and {b}"
    how = f"at {where} ({figures}{'; the model knows no difference' if blind else ''})"
    return Ratio(value, value * (1 - off), value * (1 + off), blind, a.kernel, (times(value, off), who, how))


def times(value, off):
    return f"{value:.2f}" + (f" ± {value * off:.2f}" if value * off >= 0.005 else "")


def told(ratios):
    """Ratios in words: 'A is 1.82 times as fast as B at 4096 x 4096 (1895 and 1044 GB/s) and 1.80 times ...'."""
    parts, before = [], None
    for r in filter(None, ratios):
        factor, who, how = r.how
        parts.append(f"{factor} times {how}" if (r.what, who) == before else f"{r.what} is {factor} times {who}{how}")
        before = r.what, who
    return ", ".join(parts)


CLAIMS = []


def claim(number, source, words, about="GPU"):
    """Makes of a function from a Bench to Parts one from (results, machine) to a Verdict, and lists it in CLAIMS.

    machine is one of results.machines(). A claim about the CPU is judged on the machine's host: the CPU timed in the same
    run of a program as the GPU. A simulated GPU has none.
    """
    def decorate(parts_of):
        @functools.wraps(parts_of)
        def judged(results, machine):
            def verdict(what, figures, sentence):
                return Verdict(number, source, words, what, figures, sentence)

            if about == "GPU" and machine.backend == "cpu":
                return verdict(UNTOLD, [], f"This is a claim about GPUs, and {machine.name} is none.")
            if about == "CPU" and machine.backend == "sim":
                return verdict(UNTOLD, [], f"This is a claim about a CPU, and the simulated {machine.name} has no host.")
            bench = Bench(results, host(results, machine) if about == "CPU" else machine)
            parts = parts_of(bench)
            if bench.missing:
                return verdict(UNTOLD, bench.figures, f"Missing: {bench.lacks()}.")
            text = "; ".join((f"{p.topic}: {p.verdict or 'not put to the test here'}, " if p.topic else "") + p.text for p in parts)
            if parts[0].topic:  # kernels keep their names as they are
                text = text[0].upper() + text[1:]
            return verdict(worst(p.verdict for p in parts), bench.figures, text + ".")
        judged.claim = (number, source, words)
        CLAIMS.append(judged)
        return judged
    return decorate


def host(results, machine):
    """The CPU of a GPU's host: timed in the same run, so with the same date and commit; the newest. None if there is none."""
    if machine.backend == "cpu":
        return machine
    runs = {(r["date_utc"], r["commit"]) for r in results.all if machine.has(r)}
    names = {r["machine"] for r in results.all if r["backend"] == "cpu" and (r["date_utc"], r["commit"]) in runs}
    return max((m for m in results.machines() if m.backend == "cpu" and m.name in names), key=lambda m: m.date, default=None)


@claim(1, "whitepaper", "Coalescing alone makes the naive transpose faster by an order of magnitude.")
def coalescing_is_an_order_of_magnitude(bench):
    return [bench.part("", "transposeCoalesced", "transposeNaive", [WHITEPAPER], at_least(ORDER_OF_MAGNITUDE))]


@claim(2, "whitepaper", "A detour through shared memory, with a barrier, costs the copy little.")
def shared_memory_and_a_barrier_cost_little(bench):
    return [bench.part("", "copySharedMem", "copy", [WHITEPAPER], at_least(LITTLE))]


@claim(3, "whitepaper", "Without bank conflicts hardly anything is gained while partitions camp, and a good deal once they do not.")
def bank_conflicts_hide_behind_camping(bench):
    # Whether partitions camp shows in what the diagonal order gains.
    gain = bench.compare("transposeDiagonal", "transposeNoBankConflicts", WHITEPAPER)
    camps = at_least(SIZEABLE)(gain)
    camped = bench.part("while partitions camp, hardly anything",
                        "transposeNoBankConflicts", "transposeCoalesced", [WHITEPAPER], hardly)
    if camps != HOLDS:
        verdict, so = (None, "nothing camps") if camps == FAILS else (UNTOLD, "it is open whether anything camps")
        camped = Part(camped.topic, verdict, f"{told([gain])}, so that {so}; {camped.text}")
    return [camped, bench.part("in the diagonal order, a good deal",
                               "transposeDiagonal", "transposeDiagonalUnpadded", [WHITEPAPER], at_least(SIZEABLE))]


@claim(4, "whitepaper", "Transposing inside the tiles costs nothing, moving the tiles costs all that a transpose loses to the copy.")
def the_cost_is_in_where_tiles_go(bench):
    gap = bench.compare("copySharedMem", "transposeNoBankConflicts", WHITEPAPER)
    # Like the copy or like the transpose: no answer, if those two are alike.
    there_is_one = Part("the copy and the transpose differ, so that there is a cost",
                        HOLDS if at_least(ALIKE)(gap) == HOLDS else UNTOLD, told([gap]))
    return [bench.part("Fine-grained runs like the copy", "transposeFineGrained", "copySharedMem", [WHITEPAPER], alike),
            bench.part("coarse-grained runs like the transpose", "transposeCoarseGrained", "transposeNoBankConflicts", [WHITEPAPER], alike),
            there_is_one]


@claim(5, "whitepaper", "On a GTX 280 the diagonal order is over four times as fast as the Cartesian; from Fermi on it is no help.")
def the_diagonal_order_helps_only_before_fermi(bench):
    old = bench.machine.name.endswith("GTX 280")
    topic, test = ("Over four times on a GTX 280", at_least(FOUR_TIMES)) if old else ("No help on this later GPU", less_than(FASTER))
    return [bench.part(topic, "transposeDiagonal", "transposeNoBankConflicts", [WHITEPAPER], test)]


@claim(6, "book 1", "On one core of a CPU it makes no difference whether reads or writes are contiguous.", about="CPU")
def serial_reads_and_writes_take_the_same_time(bench):
    return [bench.part("", "transposeSerialWrite", "transposeSerialRead", BOOK, alike)]


@claim(7, "book 2", "The CPU takes longer for each byte once the matrix has outgrown its caches.", about="CPU")
def the_cpu_slows_down_outside_its_caches(bench):
    ratios = [bench.compare(kernel, kernel, BOOK[0], BOOK[-1]) for kernel in ("transposeSerialRead", "transposeSerialWrite")]
    return [Part("", worst(map(at_least(SIZEABLE), ratios)), told(ratios))]


@claim(8, "book 4, 8", "Small matrices want 2D blocks; above 1024 1D blocks win, from 4096 on those that write contiguously.")
def one_dimension_wins_on_large_matrices(bench):
    one, naive, tiled = ("transposeRow1D", "transposeCol1D"), "transposeRow16", ("transposeTile16", "transposeTile16Padded")
    return [bench.part("Small, 2D beats 1D", (naive, *tiled), one, SMALL, at_least(FASTER)),
            bench.part("above 1024, 1D beats naive 2D", one, naive, ABOVE_1024, at_least(FASTER)),
            bench.part("above 1024, 1D beats tiled 2D", one, tiled, ABOVE_1024, at_least(FASTER)),
            bench.part("from 4096 on, of the 1D contiguous writes win", "transposeCol1D", "transposeRow1D", LARGE, at_least(FASTER))]


@claim(9, "book 5, 6", "Shared memory makes the 2D transpose faster; padding the tile hardly matters for large matrices.")
def shared_memory_helps_and_padding_hardly(bench):
    return [bench.part("Shared memory helps", "transposeTile16", "transposeRow16", LARGE, at_least(FASTER)),
            bench.part("padding hardly matters", "transposeTile16Padded", "transposeTile16", LARGE, hardly)]


@claim(10, "book 7", "The diagonal order makes the book's transpose slower.")
def the_diagonal_order_is_slower(bench):
    return [bench.part("", "transposeTile16Padded", "transposeDiagonal16", LARGE, at_least(FASTER))]


@claim(11, "book 9.7", "A fixed grid of blocks that loop over the tiles is faster than a block for each tile.")
def looping_blocks_are_faster(bench):
    return [bench.part("", "transposeLoopingBlocks", "transposeTile16Padded", LARGE, at_least(FASTER))]


@claim(12, "bandwidth post, coalescing notes", "Strided reads are cheaper than strided writes, thanks to the cache; by about two times.")
def strided_reads_beat_strided_writes(bench):
    columns, rows = "transposeCol 32x32", "transposeRow 32x32"
    found = bench.compare(columns, rows, POST)
    return [Part("Strided reads are cheaper", at_least(FASTER)(found), told([found])),
            Part("about two times", between(*TWO_TIMES)(found), found and f"{found.value:.2f} times")]


@claim(13, "bandwidth post", "The unrolled transposes outrun the copy meant as their upper bound; by columns, blocks of 32 x 16 are best.")
def unrolled_transposes_beat_the_copy(bench):
    others = tuple(f"transposeCol {block}" for block in ("32x32", "32x8", "64x16", "64x8", "128x8"))
    return [bench.part("Unrolled by rows beats copyRow", "transposeRowUnrolled 32x32", "copyRow 32x32", [POST], at_least(FASTER)),
            bench.part("unrolled by columns beats copyRow", "transposeColUnrolled 32x32", "copyRow 32x32", [POST], at_least(FASTER)),
            bench.part("32x16 is the best block", "transposeCol 32x16", others, [POST], at_least(FASTER))]


@claim(14, "book 17.9", "Getting the matrix to the device and back takes most of the time.")
def copies_to_the_device_dominate(bench):
    verdicts, texts = [], []
    for side in BOOK:
        figures = [bench.figure(name, side, timed=True) for name in ("hostToDevice", "deviceToHost", "transposeTile16Padded")]
        if None not in figures:
            there, back, kernel = figures
            copies = there.value + back.value
            value, off = copies / kernel.value, max(error_of(there), error_of(back)) + error_of(kernel)
            verdicts.append(at_least(HALF)(Ratio(value, value * (1 - off), value * (1 + off), False, "", ())))
            texts.append(f"{100 * copies / (copies + kernel.value):.0f} % of the whole at {there.shape} "
                         f"({there} there, {back} back, {kernel} to transpose)")
    return [Part("", worst(verdicts), "hostToDevice and deviceToHost take " + ", ".join(texts))]


def judge(results, machine):
    """All claims, in order, on one of results.machines(): 14 Verdicts."""
    return [judged(results, machine) for judged in CLAIMS]


def show(results, machine):
    kinds = {"cuda": "measured", "cpu": "one core, measured", "sim": "simulated: figures of its model"}
    driver = f", driver {machine.driver}" if machine.driver else ""
    print(f"{machine.name}, {kinds[machine.backend]}{driver}, {machine.date[:10]}\n")
    for v in judge(results, machine):
        print(textwrap.fill(f"{v.number:>2}  {v.verdict:<19}  {v.claim} ({v.source})", 125, subsequent_indent=" " * 25))
        print(textwrap.fill(v.sentence, 125, initial_indent=" " * 25, subsequent_indent=" " * 25) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULTS.csv")
    results = reader.load(parser.parse_args().results)
    for problem in results.problems:
        print(f"claims.py: {problem}", file=sys.stderr)
    if not results.rows:
        print("claims.py: nothing is left to judge", file=sys.stderr)
        sys.exit(2)
    for machine in results.machines():
        show(results, machine)


if __name__ == "__main__":
    main()
