#!/usr/bin/env python3
"""Counts the wavefronts of random requests to shared memory on a GPU, and keeps a sample of them.

usage: python3 tools/wavefronts.py --out DIR [--requests 7200] [--seed 1]

A request is one load or store of 4, 8 or 16 bytes per lane, with any lanes active and any elements. tools/wavefronts.cu
runs each in a launch of its own, and Nsight Compute counts its wavefronts: 7200 take a minute. DIR/wavefronts.csv
has the rows that sample() chooses:

- For each clause of the rule in sim/core/sinks/rules.cpp (CLAUSES), requests on which the rule without it is wrong.
- For each kind and size of access, each way to choose lanes (LANES) and each pattern of elements (PATTERNS), one more.
- Every request on which the whole rule is wrong. It is printed, too, and the exit status is 1.

"elements" has the offsets of the active lanes, lowest lane first, divided by the bytes of an element. The first row has
date, machine and driver. tests/sim/rules.cpp compares the simulator's rules with such a file.
"""

import collections
import pathlib
import random
import sys
import tempfile

from gpu import expect, failures, machine, ncu
from lessons import METRICS, ROOT, run, write
import command_line

PROGRAM = ROOT / "build/tools/wavefronts"
SHARED_BYTES = 32768
KINDS = ("load", "store")
ALL = 0xffffffff
CLAUSES = ["loads share", "pairs", "pairs two apart", "idle lanes agree", "idle lanes of the first half",
           "lane 31 idle", "one element"]
OF_CLAUSE = 16  # requests of the sample for each clause, kind and size


def lanes_where(chosen):
    return sum(1 << lane for lane in range(32) if chosen(lane))


# Which lanes take part; r draws numbers.
LANES = {
    "full": lambda r: ALL,
    "half": lambda r: r.choice((0xffff, 0xffff0000)),
    "single": lambda r: 1 << r.randrange(32),
    "few": lambda r: sum(1 << lane for lane in r.sample(range(32), r.randint(2, 6))),
    "bit": lambda r: (lambda bit, flip: lanes_where(lambda lane: (lane ^ flip) & bit))(
        1 << r.randrange(5), r.randrange(32)),
    "every": lambda r: (lambda n: lanes_where(lambda lane: lane % n == 0))(r.randrange(2, 9)),
    "range": lambda r: (lambda a, b: ALL >> (31 - b) & ALL << a)(*sorted((r.randrange(32), r.randrange(32)))),
    "density": lambda r: (lambda share: lanes_where(lambda lane: r.random() < share))(r.random()),
    "in each part": lambda r: (lambda some: lanes_where(lambda lane: some >> lane % 8 & 1))(r.getrandbits(8)),
}


def table(r, different, near):
    elements = r.sample(range(max(near, different)), different)
    return lambda lane: r.choice(elements)


def permuted_parts(r, part, apart):
    orders = [r.sample(range(part), part) for _ in range(32 // part)]
    return lambda lane: orders[lane // part][lane % part] + lane // part * apart


# The element of each lane; `across` elements lie side by side in the banks.
PATTERNS = {
    "one element": lambda r, across: (lambda at: lambda lane: at)(r.randrange(128)),
    "strided": lambda r, across: (lambda stride, flip: lambda lane: stride * (lane ^ flip))(
        r.choice((1, 1, 2, 3, 5, 8, 16, 17, 32, 33)), r.choice((0, 0, r.randrange(32)))),
    "repeated": lambda r, across: (lambda group, row, some: lambda lane: lane // group * row + lane % some)(
        r.choice((1, 2, 4, 8, 16, 32)), r.choice((0, 1, 1, 2, 4, 8, 33)), r.randint(1, 16)),
    "permuted": lambda r, across: r.sample(range(32), 32).__getitem__,
    "permuted parts": lambda r, across: permuted_parts(r, r.choice((4, 8, 16)), r.choice((0, 0, 1, 4, 16))),
    "near pairs": lambda r, across: (lambda bit, near: lambda lane: near[lane & ~bit])(
        r.choice((1, 2)), [r.randrange(across) for _ in range(32)]),
    "table": lambda r, across: table(r, r.randint(1, 32), r.choice((4, 16, 64, 512))),
    "rows and banks": lambda r, across: (lambda some, rows: lambda lane: r.choice(some) + r.randrange(rows) * across)(
        r.sample(range(across), r.randint(1, across)), r.choice((1, 2, 3, 8))),
    "columns in order": lambda r, across: (lambda rows: lambda lane: lane % across + r.randrange(rows) * across)(
        r.choice((1, 2, 4))),
    "wild": lambda r, across: lambda lane: r.randrange(SHARED_BYTES // 16),
}


def random_request(r, kind):
    size, lanes, pattern = r.choice((4, 8, 8, 8, 16, 16, 16)), r.choice(list(LANES)), r.choice(list(PATTERNS))
    mask = LANES[lanes](r) or 1 << r.randrange(32)
    at, first = PATTERNS[pattern](r, 128 // size), r.choice((0, 0, r.randrange(64)))
    elements = [(first + at(lane)) % (SHARED_BYTES // size) for lane in range(32) if mask >> lane & 1]
    return {"pattern": f"{lanes}/{pattern}", "kind": kind, "bytes": size, "lanes": f"0x{mask:08x}",
            "elements": " ".join(map(str, elements))}


def rule(request, without=None):
    """The wavefronts by the rule in sim/core/sinks/rules.cpp, or by the rule without one of its CLAUSES."""
    size, mask = int(request["bytes"]), int(request["lanes"], 16)
    load, together = request["kind"] == "load", 32 if size == 4 else 128 // size
    numbers = map(int, request["elements"].split())
    at = {lane: next(numbers) for lane in range(32) if mask >> lane & 1}
    if load and size == 16 and len(set(at.values())) == 1 and without != "one element":
        return 1 + (len(at) > 16)

    def passes(lanes):
        """The most words that a bank has to give to these lanes."""
        words = {at[lane] * size // 4 + n for lane in lanes if lane in at for n in range(size // 4)}
        return max(collections.Counter(word % 32 for word in words).values(), default=0)

    def share(lanes):
        """Whether both halves of these lanes may be served by one wavefront."""
        first = size == 16 and 0 in lanes
        if not load or together == 32 or without == "loads share": return False
        if first and 31 not in at and without != "lane 31 idle": return True

        def agree(lane, other):
            if lane in at and other in at: return at[lane] == at[other]
            if first and without != "idle lanes of the first half": return (lane in at) == (other in at)
            return without != "idle lanes agree" or (lane in at) == (other in at)
        apart = {"pairs": [2], "pairs two apart": [1]}.get(without, [1, 2])
        return any(all(agree(lane, lane ^ n) for lane in lanes) for n in apart)

    total, first = 0, 0
    while first < 32:
        both, half = range(first, first + 2 * together), range(first, first + together)
        shared = (first % (2 * together) == 0 and passes(half) and passes(both[together:]) and share(both)
                  and passes(both) == 1)
        total += 1 if shared else passes(half)
        first += 2 * together if shared else together
    return total


def sample(rows):
    """The rows of a table that the file's opening names, in their order."""
    reasons, chosen = collections.Counter(), []
    for row in rows:
        access, (lanes, *pattern) = (row["kind"], row["bytes"]), row["pattern"].split("/")
        count, whole = int(row["wavefronts"]), rule(row)
        found = [(*access, clause) for clause in CLAUSES if rule(row, clause) != whole]
        once = [(*access, "lanes", lanes), (*access, "pattern", *pattern)]
        if (count != whole or any(reasons[reason] < OF_CLAUSE for reason in found)
                or any(not reasons[reason] for reason in once)):
            reasons.update(found + once)
            chosen.append(row)
    return chosen


def text(requests):
    """The file that the program reads: for each request its kind, bytes and lanes, and the offsets of all lanes."""
    lines = []
    for request in requests:
        mask, numbers = int(request["lanes"], 16), map(int, request["elements"].split())
        offsets = [next(numbers) * int(request["bytes"]) if mask >> lane & 1 else 0 for lane in range(32)]
        lines.append(" ".join(map(str, [request["kind"], request["bytes"], request["lanes"], *offsets])) + "\n")
    return "".join(lines)


def count(requests):
    """Runs the requests under ncu, and sets the wavefronts of each."""
    names = {kind: METRICS[f"shared_{kind}_wavefronts"] for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "requests.txt"
        file.write_text(text(requests))
        rows, done = ncu(names.values(), PROGRAM, file, options=["--cache-control", "none"], timeout=3000)
    counted = [{}, {}]
    for row in rows:
        counted[row["Metric Name"] == names["store"]][int(row["ID"])] = int(row["Metric Value"])
    expect(done.returncode == 0 and len(counted[0]) == len(counted[1]) == len(requests),
           f"exit {done.returncode}, {len(requests)} requests: {done.log[-500:]} {done.stderr[-500:]}")
    for id_, request in enumerate(requests):
        request["wavefronts"] = counted[request["kind"] == "store"].get(id_, 0)


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--requests", type=int, default=7200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    built = run("make", "-s", "ARCH=native", PROGRAM.relative_to(ROOT), timeout=300)
    if built.returncode:
        sys.exit(built.stdout + built.stderr)
    r = random.Random(options.seed)
    requests = [random_request(r, KINDS[n % 2]) for n in range(options.requests)]
    count(requests)
    for request in requests:
        expect(rule(request) == request["wavefronts"], f"the rule has {rule(request)}: {request}")
    rows, about = sample(requests), machine()
    write(options.out / "wavefronts.csv", [{**(dict.fromkeys(about, "") if n else about), **row}
                                           for n, row in enumerate(rows)])
    print(f"{len(requests)} requests, {len(rows)} of them in {options.out / 'wavefronts.csv'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
