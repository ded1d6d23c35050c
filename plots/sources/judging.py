"""How a claim is judged: from figures to ratios, from ratios to verdicts, from verdicts to a sentence.

A row of table.py has a rule, a function from a Bench (one machine's figures) to a Part, or to several, which must all
hold. Most compare two kernels: two bandwidths give a ratio, and their spread (10th to 90th percentile of the samples)
an interval around it. If all of the interval is on one side of what the claim's words ask for, that is the verdict;
otherwise it is not decided. The source's own figures are judged by the same rule. A model's figures have the model's
error in place of the spread. docs/SOURCES.md has the rules for the sizes and the thresholds.
"""

import math
from typing import Callable, NamedTuple

import results as reader
from sources import published

HOLDS, FAILS, UNTOLD = "holds", "does not hold", "not decided here"

# The sizes that the sources measured at.
WHITEPAPER = 2048
POST = 4096
BOOK = (256, 512, 1024, 2048, 4096, 8192)
SMALL = (256, 512)          # of these and LARGE the book speaks; at SMALL a launch takes longer than the copying
FROM_1024 = (1024, 2048, 4096, 8192)
LARGE = (4096, 8192)        # also where it compares two kernels and names no size

# less is a tie: nine in ten medians of separate runs on one H200 differ by less, whatever their spread
FASTER = 1.03
# the book calls 0.638 and 0.600 ms the same; "hardly" and "about the same" are this near, either way
ALIKE = 1.10
SIZEABLE = 1.20             # twice as far from 1 as what is alike
SLIGHTLY = 1.01
LITTLE = 1 / ALIKE          # to cost little is to be about the same; the whitepaper has 81.1 of 81.6 GiB/s
FEW_PERCENT = 0.95


def around(factor, step):
    """The ratios nearer to a factor than to the next one below or above, which is `step` times as far."""
    return factor / math.sqrt(step), factor * math.sqrt(step)


ORDER_OF_MAGNITUDE = around(10, 10)[0]   # at least so many times: nearer to ten than to one
ALMOST_TWO_ORDERS = around(100, 10)[0]   # nearer to two orders than to one
TWO_TIMES = around(2, 2)                 # nearer to two than to one or four; the post has 1.9
A_QUARTER = around(1 / 4, 2)             # nearer to a quarter than to a half or an eighth
FOUR_TIMES = 4              # "over four times"
HALF = 1.0                  # to dominate is to take more than half of the whole: more than the rest
NOISE = (f" The figures with ! are too noisy to compare: their spread is above {100 * reader.TOO_NOISY:.0f} %. The "
         "verdict holds for all of it.")
CAMPED = 2.0                # times the mean in the busiest partition
SPREAD_OUT = 1.2            # times the mean, at most

# What a model may be wrong by, as a factor: that of the GTX 280 against the published table (naive: +11 %), the
# rooflines, which are upper bounds, against the H200 (copyRow: +64 %).
MODEL_ERROR = {"GeForce GTX 280": 0.11}
ROOFLINE_ERROR = 0.65


class Claim(NamedTuple):
    """run: the command that measures or counts what the rule needs; "": that of the source's table. about: a claim
    about the CPU is judged on the machine's host, the CPU timed in the same run of a program as the GPU; a simulated
    GPU has none. quoted: tables of plots/published.csv that have the source's figures, where they are not those of a
    kernel that is here. errata: faults of the gallery that the claim rests on. why: what explains the verdict.
    concerns: the machines that it is about, in words, and a part of their names; (): all."""
    number: str
    source: str
    words: str
    rule: Callable
    run: str = ""
    about: str = "GPU"
    quoted: tuple = ()
    errata: tuple = ()
    why: str = ""
    concerns: tuple = ()

    @property
    def command(self):
        return self.run or next(command for source, command in TABLES.items() if self.source.startswith(source))


TABLES = {"whitepaper": "make table-whitepaper", "book": "make table-book", "bandwidth post": "make table-bandwidth",
          "coalescing notes": ""}


class Verdict(NamedTuple):
    """One claim, judged. verdict: HOLDS, FAILS or UNTOLD; figures: all that were looked at, as results.Figure."""
    claim: Claim
    verdict: str
    figures: list
    sentence: str


class Part(NamedTuple):
    """A part of a claim: its verdict, its figures in words, and in as few of them as can be; what it says ('': the
    whole claim)."""
    verdict: str
    text: str
    brief: str = ""
    topic: str = ""


class Ratio(NamedTuple):
    """How many times as fast one is as another: value, and the interval it may lie in. blind: a model gives both the
    same, so either nothing differs or the model does not know what does. what: the kernel; how: the rest, in words;
    printed: both are figures of one table of a source."""
    value: float
    low: float
    high: float
    blind: bool = False
    what: str = ""
    how: tuple = ()
    printed: bool = False


# Tests of a ratio, or of None if figures are missing: each gives a verdict.

def at_least(factor):
    return lambda r: (UNTOLD if r is None or r.blind
                      else HOLDS if r.low >= factor else FAILS if r.high < factor else UNTOLD)


def faster(r):
    """By more than what separate runs differ by; of two figures of one table in print, by more than their rounding."""
    return at_least(1 if r and r.printed else FASTER)(r)


def found(test):
    """For a claim that there is something: that it was not found among a few does not refute it."""
    return lambda r: HOLDS if test(r) == HOLDS else UNTOLD


def negated(test):
    return lambda r: {HOLDS: FAILS, FAILS: HOLDS, UNTOLD: UNTOLD}[test(r)]


def less_than(factor):
    return negated(at_least(factor))


def between(low, high):
    def test(r):
        if r is None:
            return UNTOLD
        return HOLDS if low <= r.low and r.high <= high else FAILS if r.high < low or r.low > high else UNTOLD
    return test


alike = between(1 / ALIKE, ALIKE)  # the same counts make the same time, in a model, too
unlike = negated(alike)


def sighted(test):
    """The test, for something that was done about a time: a model that gives both the same may not know of what was
    done."""
    return lambda ratio: UNTOLD if ratio and ratio.blind else test(ratio)


hardly = sighted(alike)
slightly = sighted(between(SLIGHTLY, ALIKE))


def worst(verdicts):
    """All must hold; one that does not decides."""
    verdicts = list(verdicts)
    return next((v for v in (FAILS, UNTOLD, HOLDS) if v in verdicts), UNTOLD)


def verdict_of(truth):
    return HOLDS if truth else FAILS


def error_of(figure):
    """By what share of its value a figure may be off, either way."""
    return MODEL_ERROR.get(figure.machine, ROOFLINE_ERROR) / 2 if figure.label == "model" else figure.spread / 2


def interval(value, off):
    """(low, high) of what may be off by a share of itself. By all of itself, it may be anything, and tells nothing."""
    return (value * (1 - off), value * (1 + off)) if off < 1 else (-math.inf, math.inf)


def noise(off):
    """What to do where something may be off by all of itself, the sum of two shares; '' if it is not."""
    return " (too noisy: run again on an idle machine)" if off >= 1 else ""


class Bench:
    """The rows of one machine; remembers the figures it gave and what it lacked. Kernels go by 'name', 'name block' or
    'type name'."""

    def __init__(self, results, machine, host=None):
        self.results, self.machine = results, machine
        self.figures, self.missing = [], {}
        if host:
            self.host = Bench(results, host(results, machine))
            self.host.figures, self.host.missing = self.figures, self.missing

    def row(self, name, side, having=None):
        element = next((t for t in ("char",) if name.startswith(t + " ")), "float")
        kernel, _, block = name.removeprefix(element + " ").partition(" ")
        return self.machine and self.results.find(kernel, side, type=element, block=block or None, machine=self.machine,
                                                  having=having)

    def keep(self, found, name, side):
        """What was found, on record; or that nothing was."""
        if found is None:
            self.missing.setdefault(name, {})[f"{side} x {side}"] = None
        elif all(found.row is not f.row or found.value != f.value for f in self.figures):
            self.figures.append(found)
        return found

    def figure(self, name, side, timed=False):
        """The bandwidth of a kernel; timed, and on a CPU, the time, which has more digits there."""
        row = self.row(name, side)
        cpu = self.machine and self.machine.backend == "cpu"
        return self.keep(reader.time(row) if timed or cpu else reader.bandwidth(row), name, side)

    def inside(self, name, side):
        """The bandwidth of many passes inside one launch."""
        return self.keep(reader.one_launch(self.row(name, side, "one_launch_bandwidth_gbs")), f"{name} --one-launch",
                         side)

    def count(self, name, side, column):
        """What the simulator counted; None on a machine that is not simulated."""
        return self.keep(reader.count(self.row(name, side), column), f"the simulator's {column} of {name}", side)

    def busiest(self, name, side):
        """Of the partitions, over the mean: of loads, of stores."""
        return [
            self.keep(reader.count(self.row(name, side), f"busiest_partition_of_{way}"),
                      f"the simulator's partitions of {name}", side) for way in ("loads", "stores")]

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


def rate(figure):
    """Elements per ms, or bytes per ns: what is larger is faster."""
    return (figure.value if figure.unit == "GB/s"
            else int(figure.row["width"]) * int(figure.row["height"]) / figure.value)


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
    return Ratio(value, *interval(value, off), blind, a.kernel, (times(value, off), who, how),
                 all(f.row.get("printed") for f in (a, b)))


def of_ratios(ratios, test, topic=""):
    return Part(worst(map(test, ratios)), told(ratios), ", ".join(f"{r.value:.2f}" for r in ratios if r) + " times",
                topic)


def times(value, off):
    if noise(off):
        return f"{value:.2f}{noise(off)}"
    return f"{value:.2f}" + (f" ± {value * off:.2f}" if value * off >= 0.005 else "")


def told(ratios):
    """Ratios in words: 'A is 1.82 times as fast as B at 4096 x 4096 (1895 and 1044 GB/s) and 1.80 times ...'."""
    parts, before = [], None
    for r in filter(None, ratios):
        factor, who, how = r.how
        parts.append(f"{factor} times {how}" if (r.what, who) == before else f"{r.what} is {factor} times {who}{how}")
        before = r.what, who
    return ", ".join(parts)


def only_if(condition, why_not, part):
    """A part that is put to the test only where a condition holds."""
    return (part if condition == HOLDS
            else Part(UNTOLD, f"not put to the test: {why_not}; {part.text}", part.brief, part.topic))


def words_of(parts):
    text = "; ".join(f"{p.topic}: {p.verdict}, {p.text}" if p.topic else p.text for p in parts)
    return text[0].upper() + text[1:] if parts[0].topic else text  # kernels keep their names as they are


# Rules.

def compare(what, than, sides, test, topic=""):
    """The ratio of two kernels has to pass the test at each of these sizes."""
    each = sides if isinstance(sides, tuple) else (sides,)
    return lambda bench: of_ratios([bench.compare(what, than, side) for side in each], test, topic)


def both(*rules):
    return lambda bench: [rule(bench) for rule in rules]


def partitions(truth, text, *places):
    """Of the busiest partition of some kernels' loads and stores, by a map that is published; the others are
    assumed. places: (kernel, side)."""
    def judged(bench):
        found = [figure for name, side in places for figure in bench.busiest(name, side)]
        if None in found:
            return Part(UNTOLD, "")
        assumed = any(f.row["partition_map"] != "published" for f in found)
        words = "; ".join(f"{name} at {side} x {side}: loads {loads.value:.2f}, stores {stores.value:.2f}"
                          for (name, side), loads, stores in zip(places, found[::2], found[1::2]))
        return Part(
            UNTOLD if assumed else verdict_of(truth(*(f.value for f in found))),
            f"{text}; counted, traffic of the busiest partition over the mean: {words}" +
            ("; which address lies where is assumed" if assumed else ""))
    return judged


# From parts to a Verdict.

def parts_of(claim, bench):
    parts = claim.rule(bench)
    return parts if isinstance(parts, list) else [parts]


def in_print(claim):
    """What the source itself has on its claim: by its own figures, or quoted."""
    source = next(name for name in TABLES if claim.source.startswith(name))
    found = [f"{table}: {published.quote(source, table)}" for table in claim.quoted]
    for machine in [] if claim.quoted else published.results(source).machines():
        bench = Bench(published.results(source), machine, host)
        parts = parts_of(claim, bench)
        if bench.missing or (machine.backend == "cpu") != (claim.about == "CPU") or not parts[0].brief:
            continue
        verdict = worst(p.verdict for p in parts)
        faults = sorted({f.row["remark"].partition(":")[0] for f in bench.figures if f.row["remark"].startswith("E")})
        found.append(f"{machine.name}, " + "; ".join(f"{p.topic}: {p.brief}" if p.topic else p.brief for p in parts) +
                     ("" if verdict == UNTOLD else f": {verdict}") +
                     (f" (erratum {', '.join(faults)})" if faults else ""))
    return (f"Published by the {source}: {'; '.join(found)}." if found else "Published without figures.") + (
        f" See the gallery: {', '.join(claim.errata)}." if claim.errata else "")


def foreign(claim, machine):
    """What a claim is about that this machine is not, as a sentence; or None."""
    if claim.about == "GPU" and machine.backend == "cpu":
        return f"This is a claim about GPUs, and {machine.name} is none."
    if claim.about == "CPU" and machine.backend == "sim":
        return f"This is a claim about a CPU, and the simulated {machine.name} has no host."
    if claim.concerns and claim.concerns[1] not in machine.name:
        return f"This is a claim about {claim.concerns[0]}, and {machine.name} is none of them."
    return None


def judge(claim, results, machine):
    """The Verdict on a claim, of the results of one of results.machines()."""
    if of_others := foreign(claim, machine):
        return Verdict(claim, UNTOLD, [], of_others)
    bench = Bench(results, host(results, machine) if claim.about == "CPU" else machine, host)
    parts = parts_of(claim, bench)
    name = bench.machine.name if bench.machine else machine.name
    if bench.missing:
        return Verdict(claim, UNTOLD, bench.figures,
                       f"Missing for {name}: {bench.lacks()}. Run `{claim.command}`. {in_print(claim)}")
    kind = "simulated" if machine.backend == "sim" else "measured"
    noisy = NOISE if any(f.noisy for f in bench.figures) else ""
    return Verdict(claim, worst(p.verdict for p in parts), bench.figures,
                   f"{name}, {kind}: {words_of(parts)}.{noisy} {in_print(claim)}")


def host(results, machine):
    """The CPU of a GPU's host: timed in the same run, so with the same date and commit; the newest. None if there is
    none."""
    if machine is None or machine.backend == "cpu":
        return machine
    runs = {(r["date_utc"], r["commit"]) for r in results.all if machine.has(r)}
    names = {r["machine"] for r in results.all if r["backend"] == "cpu" and (r["date_utc"], r["commit"]) in runs}
    return max((m for m in results.machines() if m.backend == "cpu" and m.name in names), key=lambda m: m.date,
               default=None)
