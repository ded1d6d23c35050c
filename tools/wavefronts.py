#!/usr/bin/env python3
"""Counts the wavefronts of random requests to shared memory on a GPU.

usage: python3 tools/wavefronts.py --out DIR [--requests 7200 | --file FILE] [--seed 1] [--again FILE] [--seconds 200]
                                   [--dry-run]

A request is one load or store of 4, 8 or 16 bytes per lane, with any lanes active and any offsets. The result is
DIR/wavefronts.csv, a row per request. Its column "elements" has the offsets of the active lanes, divided by the bytes
of an element. Only the first row has a date, a machine and a driver: the others ran in the same minutes.
build/tests/sim/rules compares the simulator's rules with such a file.

tools/wavefronts.cu runs the requests, and Nsight Compute counts the wavefronts of a launch. One launch per request
would take too long, so a launch has four loads and four stores. The first of each four runs once, the others 64, 64^2
and 64^3 times. A request takes at most 32 wavefronts, so the digits of the launch's sum to the base 64 are the
wavefronts of its requests. Three checks guard this: some of the requests also run alone in a launch; the requests of
FILE, an earlier result, run again; and for a part of the launches Nsight Compute counts the instructions.

Runs on a machine with a GPU, the CUDA Toolkit and Nsight Compute. Stops after about so many seconds and writes the
rows that it has. --dry-run writes the requests to standard output and runs nothing. Exits 1 if anything is not as it
should be, and says what.
"""

import csv
import io
import pathlib
import random
import sys
import tempfile
import time

from gpu import expect, failures, machine, write
from lessons import METRICS, ROOT, run
import command_line

PROGRAM = ROOT / "build/tools/wavefronts"
SHARED_BYTES = 32768
BASE, DIGITS = 64, 4
KINDS = ("load", "store")
ALONE = 100  # requests that also run alone
CHUNK = 150  # launches per run of ncu
ALL = 0xffffffff


def lanes_where(chosen):
    return sum(1 << lane for lane in range(32) if chosen(lane))


def random_lanes(r):
    """(name, mask): which lanes take part, at least one."""
    bit, warp, part = 1 << r.randrange(5), r.randrange(32), r.choice((4, 8, 16))
    every, phase, density = r.randrange(2, 9), r.randrange(8), r.random()
    first, last = sorted((r.randrange(32), r.randrange(32)))
    in_each, parts = r.getrandbits(part) or 1, r.sample(range(32 // part), r.randint(1, 32 // part))
    name = r.choice(("full",) * 5 +
                    ("half", "parts", "single", "few", "bit", "every", "range", "density", "density", "in each part"))
    mask = {
        "full": ALL,
        "half": r.choice((0xffff, 0xffff0000)),
        "parts": lanes_where(lambda lane: lane // part in parts),
        "single": 1 << r.randrange(32),
        "few": sum(1 << lane for lane in r.sample(range(32), r.randint(2, 6))),
        "bit": lanes_where(lambda lane: (lane ^ warp) & bit),
        "every": lanes_where(lambda lane: lane % every == phase % every),
        "range": lanes_where(lambda lane: first <= lane <= last),
        "density": lanes_where(lambda lane: r.random() < density),
        "in each part": lanes_where(lambda lane: in_each >> lane % part & 1),
    }[name]
    return name, mask or 1 << r.randrange(32)


def one_element(r, size):
    at = r.randrange(128)
    return lambda lane: at


def strided(r, size):
    stride, first = r.choice((1, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33)), r.randrange(16)
    swap = r.choice((0, 0, r.randrange(32)))
    return lambda lane: first + stride * (lane ^ swap)


def repeated(r, size):
    """Groups of lanes, each on a row of a few elements."""
    group, row = r.choice((1, 2, 4, 8, 16, 32)), r.choice((0, 1, 1, 2, 4, 8, 33))
    some, step = r.choice((1, 2, 3, 4, 5, 6, 7, 8, 12, 16)), r.choice((1, 1, 1, 2, 4, 8))
    warp = r.randrange(8)
    return lambda lane: (32 * warp + lane) // group * row + lane % some * step


def wrapped(r, size):
    warp, some, around = r.randrange(32), r.randrange(2, 12), r.choice((31, 32, 33, 40))
    return lambda lane: (32 * warp + lane % some) % around


def permuted(r, size):
    order = r.sample(range(32), 32)
    return lambda lane: order[lane]


def permuted_parts(r, size):
    """The same few elements in each part of the warp, each part in an order of its own."""
    part, apart = r.choice((4, 8, 16)), r.choice((0, 0, 0, 1, 4, 8, 16))
    orders = [r.sample(range(part), part) for _ in range(32 // part)]
    return lambda lane: orders[lane // part][lane % part] + lane // part * apart


def table(r, size):
    """1 to 32 different elements, and each lane has any of them."""
    different = r.randint(1, 32)
    elements = r.sample(range(r.choice([n for n in (4, 8, 16, 32, 64, 128, 512, 2048) if n >= different])), different)
    chosen = [r.choice(elements) for _ in range(32)]
    return lambda lane: chosen[lane]


def table_per_part(r, size):
    part, near = r.choice((2, 4, 8, 16)), r.choice((1, 2, 4, 8, 16, 32))
    chosen = [r.randrange(near) for _ in range(32 // part)]
    step = r.choice((0, 1, 1, 2))
    return lambda lane: chosen[lane // part] * r.choice((1, 1, 1, 2)) + lane % part * step


def rows_and_banks(r, size):
    """Few banks, few rows: many lanes meet in a bank."""
    across = 128 // size
    columns, rows = r.randint(1, across), r.choice((1, 2, 2, 3, 4, 8))
    width = r.sample(range(across), columns)
    return lambda lane: r.choice(width) + r.randrange(rows) * across


def columns_in_order(r, size):
    """A lane's bank is that of a row in order; its row is any of a few."""
    across, rows, swap = 128 // size, r.choice((2, 2, 3, 4)), r.choice((0, 0, r.randrange(32)))
    part = r.choice((1, 1, 2, 4, 8, 16))
    row = [r.randrange(rows) for _ in range(32)]
    return lambda lane: (lane ^ swap) % across + row[lane // part] * across


def wild(r, size):
    return lambda lane: r.randrange(SHARED_BYTES // size)


PATTERNS = [
    one_element, strided, strided, repeated, repeated, repeated, wrapped, permuted, permuted_parts, permuted_parts,
    table, table, table, table_per_part, table_per_part, rows_and_banks, rows_and_banks, columns_in_order,
    columns_in_order, wild]


def random_request(r, kind):
    size = r.choice((4, 4, 8, 8, 8, 8, 8, 16, 16, 16, 16, 16))
    name, lanes = random_lanes(r)
    first, second = r.choice(PATTERNS), r.choice(PATTERNS)
    at, other = first(r, size), second(r, size)
    names, use_other = first.__name__, 0
    if r.randrange(5) == 0:  # a mixture of two patterns
        use_other = r.getrandbits(32) & random_lanes(r)[1]
        names += "+" + second.__name__
    base = r.choice((0, 0, r.randrange(64)))
    offsets = [(base + (other if use_other >> lane & 1 else at)(lane)) * size % SHARED_BYTES for lane in range(32)]
    return {
        "pattern": f"{name}/{names}", "kind": kind, "bytes": size, "lanes": f"0x{lanes:08x}",
        "offsets": " ".join(map(str, offsets))}


def reported_requests(kind):
    """Shared words and idle lanes, of which the first rules were wrong."""
    cases = []
    for warp in range(8):
        cases += [(16, "one element", ALL, lambda lane: 5),
                  (16, "bit 1/one element", lanes_where(lambda lane: (lane ^ warp) & 2), lambda lane: 5),
                  (16, "every fourth/one element", lanes_where(lambda lane: lane % 4 == 1), lambda lane: warp),
                  (16, "bit 2/a row of 8 per warp", lanes_where(lambda lane: (lane ^ warp) & 4),
                   lambda lane: warp + lane % 8),
                  (16, "t / 2 + t % 4", random.Random(warp).getrandbits(32), lambda lane:
                   (32 * warp + lane) // 2 + lane % 4),
                  (8, "t % 3 around 33", ALL, lambda lane: (32 * warp + (32 * warp + lane) % 3) % 33)]
        cases[-6:] = [
            (size, name, mask, [at(lane) * size for lane in range(32)]) for size, name, mask, at in cases[-6:]]
    return [{
        "pattern": name, "kind": kind, "bytes": size, "lanes": f"0x{mask:08x}", "offsets": " ".join(map(str, offsets))}
            for size, name, mask, offsets in cases]


def random_requests(seed, count):
    """As many loads as stores, in turn."""
    r = random.Random(seed)
    requests = [request for pair in zip(*map(reported_requests, KINDS)) for request in pair]
    return (requests + [random_request(r, KINDS[i % 2]) for i in range(max(0, count - len(requests)))])[:count]


def compact(requests):
    """The requests as they are written to a file: the elements of the active lanes, lowest lane first."""
    rows = []
    for request in requests:
        lanes, size = int(request["lanes"], 16), int(request["bytes"])
        offsets = [int(offset) for offset in request["offsets"].split()]
        row = {"elements" if key == "offsets" else key: value for key, value in request.items()}
        elements = [offsets[lane] // size for lane in range(32) if lanes >> lane & 1]
        rows.append({**row, "elements": " ".join(map(str, elements))})
    return rows


def requests_of(path):
    """The requests of a file that compact() made, or of an earlier one that has the offsets of all lanes."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if "elements" in row:
            lanes, elements = int(row["lanes"], 16), iter(row.pop("elements").split())
            offsets = [int(next(elements)) * int(row["bytes"]) if lanes >> lane & 1 else 0 for lane in range(32)]
            row["offsets"] = " ".join(map(str, offsets))
    return rows


def without_results(rows):
    return [{key: row.get(key, "") for key in ("pattern", "kind", "bytes", "lanes", "offsets")} for row in rows]


def pack(requests, digits=DIGITS):
    """Launches: [[(repeats, request)]], up to so many loads and stores each."""
    of_kind = {kind: [request for request in requests if request["kind"] == kind] for kind in KINDS}
    return [[(BASE ** i, request) for kind in KINDS for i, request in enumerate(of_kind[kind][first:first + digits])]
            for first in range(0, max(map(len, of_kind.values())), digits)]


def text(launches):
    """The file that the program reads."""
    return "".join(f"{number} {repeats} {request['kind']} {request['bytes']} {request['lanes']} {request['offsets']}\n"
                   for number, launch in enumerate(launches) for repeats, request in launch)


def count(launches, count_instructions):
    """Runs the launches under ncu, and sets each request's wavefronts. Says whether all launches were counted."""
    names = {kind: METRICS[f"shared_{kind}_wavefronts"] for kind in KINDS}
    instructions = {kind: METRICS[f"shared_{kind}_instructions"] for kind in KINDS if count_instructions}
    with tempfile.TemporaryDirectory() as folder:
        file, log = pathlib.Path(folder) / "requests.txt", pathlib.Path(folder) / "ncu.csv"
        file.write_text(text(launches))
        done = run("ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--print-units", "base",
                   "--log-file", log,
                   "--metrics", ",".join([*names.values(), *instructions.values()]), PROGRAM, file, timeout=500)
        said = log.read_text() if log.exists() else ""
    counted = {}
    for row in csv.DictReader(io.StringIO(said[said.find('"ID"'):])):
        if row.get("Metric Name"):
            counted.setdefault(int(row["ID"]), {})[row["Metric Name"]] = int(row["Metric Value"].replace(",", ""))
    if done.returncode or len(counted) != len(launches):
        expect(False, f"exit {done.returncode}, {len(launches)} launches and {len(counted)} counts: {said[-500:]} "
                      f"{done.stdout[-500:]} {done.stderr[-500:]}")
        return False
    for (_, values), launch in zip(sorted(counted.items()), launches):
        for kind in KINDS:
            mine = [(repeats, request) for repeats, request in launch if request["kind"] == kind]
            if count_instructions:
                expect(values[instructions[kind]] == sum(repeats for repeats, _ in mine),
                       f"{values[instructions[kind]]} {kind} instructions of {mine}")
            left = values[names[kind]]
            for _, request in mine:
                left, request["wavefronts"] = divmod(left, BASE)
                expect(1 <= request["wavefronts"] <= 32, f"{request['wavefronts']} wavefronts of {request}")
            expect(left == 0, f"{left} wavefronts too many in the launch of {mine}")
    return True


def same_again(what, requests, before):
    """Compares the wavefronts of requests that were counted twice."""
    different = [(one, other["wavefronts"])
                 for one, other in zip(requests, before)
                 if one["wavefronts"] != int(other["wavefronts"])]
    print(f"{what}: {len(requests)} requests, {len(requests) - len(different)} with the same wavefronts", flush=True)
    expect(not different, f"{what}: {different[:10]}")


def measure(options, requests):
    start = time.monotonic()
    before = requests_of(options.again) if options.again else []
    built = run("make", "-s", "ARCH=sm_90", PROGRAM.relative_to(ROOT), timeout=300)
    if built.returncode:
        sys.exit(built.stdout + built.stderr)
    about = machine()
    print(f"built in {time.monotonic() - start:.0f} s on {about}", flush=True)
    begin = time.monotonic()
    twice = requests[::max(1, len(requests) // ALONE)]
    alone = [dict(request) for request in twice]
    if not count([[(1, request)] for request in alone], True):
        return
    print(f"{len(alone)} launches of one request: {time.monotonic() - begin:.1f} s", flush=True)

    launches = pack(requests)
    bounds = [0, 20, *range(CHUNK, len(launches), CHUNK), len(launches)]
    for first, end in zip(bounds, bounds[1:]):
        began = time.monotonic()
        if not count(launches[first:end], first == 0):
            break
        took = time.monotonic() - began
        print(f"launches {first} to {end - 1}: {took:.1f} s", flush=True)
        if time.monotonic() + took - start > options.seconds:
            break
    measured = [request for request in requests if "wavefronts" in request]
    expect(len(measured) == len(requests), f"{len(measured)} requests of {len(requests)} in {options.seconds} s")
    if not measured:
        return
    nothing = dict.fromkeys(about, "")
    rows = [{**(nothing if case else about), "case": case, **row} for case, row in enumerate(compact(measured))]
    write(options.out / "wavefronts.csv", rows)
    print(f"{len(measured)} requests: {options.out / 'wavefronts.csv'}", flush=True)
    both = [(one, other) for one, other in zip(alone, twice) if "wavefronts" in other]
    same_again("alone in a launch", *zip(*both))

    if before and time.monotonic() - start < options.seconds:
        again = without_results(before)
        if count(pack(again), False):
            same_again(f"{options.again} of {before[0]['machine']}", again, before)


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--requests", type=int, default=7200, help="default: 7200")
    parser.add_argument("--file", type=pathlib.Path, help="a CSV file with the requests, instead of random ones")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--again", type=pathlib.Path, metavar="FILE",
                        help="an earlier result, whose requests are counted again")
    parser.add_argument("--seconds", type=float, default=200, help="default: 200")
    parser.add_argument("--dry-run", action="store_true", help="print the requests, run nothing")
    options = parser.parse_args()
    if options.file:
        requests = without_results(requests_of(options.file))
    else:
        requests = random_requests(options.seed, options.requests)
    if options.dry_run:
        sys.stdout.write(text(pack(requests)))
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    measure(options, requests)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
