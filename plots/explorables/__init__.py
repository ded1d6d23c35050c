"""The explorables: parts of the chapter's page that a reader operates.

Each stands in the place of a still figure, which remains for print and for a browser without JavaScript. NAME.js draws
it, from data that this module takes from the simulator: its traces, its machines, the race that it reports. rules.js
repeats the simulator's arithmetic, and a test compares the two; drawings.js draws what an access touches; shared.js
and controls.js have the controls. All of it goes into the page.
"""

import csv
import json
import pathlib
import re

import numpy as np

import simulated
from facts import PROGRAMS
from gallery import gallery
from traces import ACCESSES, MEMORIES, ROOT, take_traces

FOLDER = pathlib.Path(__file__).resolve().parent
DATA = ROOT / "plots/data"

# The still figure that each one replaces.
IN_PLACE_OF = {
    "way_through_the_tile": "warp", "banks": "banks", "partition_traffic": "partitions", "bytes_in_flight": "flight",
    "race": "race"}
# The page of a run (common/base/page.cpp) has the first three, too.
SOURCES = [*(ROOT / f"common/base/page/{name}.js" for name in ("shared", "rules", "drawings")),
           *(FOLDER / f"{name}.js" for name in ("controls", "warp", "banks", "partitions", "flight", "race", "page"))]

SIDE = 64  # of the matrices whose warps are followed
TYPES = ["char", "float", "double"]
WARPS = {(kernel, element): (program, ["--size", str(SIDE), "--type", element, "--kernel", kernel], None)
         for kernel, program in PROGRAMS.items() for element in TYPES}
STEP3 = "transposeCoalesced"
# the kernel of erratum E2, with its barrier
RACE = ("step04", ["--size", "1100x40", "--kernel", "transposeLoopingBlocks"], None)
MEASURED_AT = 16384
ORDERS = {
    "copy": "along rows", "transposeNoBankConflicts": "along rows", "transposeDiagonal": "along diagonals",
    "transposeLongPieces": "down columns"}


def machines():
    """What the simulator knows of its machines, oldest first."""
    _, rows = simulated.rows("step01", "--device", "sim", "--list-machines")
    numbers = ("major", "minor", "sms", "blocks_per_sm", "threads_per_sm", "shared_per_sm", "reserved_shared_per_block",
               "shared_unit", "partitions", "granularity")
    return {row["name"]: {
        "label": row["machine"], "peak": float(row["dram_peak_gbs"]), **{name: int(row[name]) for name in numbers},
        "hash": [[bit for bit in range(64) if int(mask, 16) >> bit & 1] for mask in row["hash"].split()],
        "assumed": row["assumed"] == "yes", "latency": float(row["latency_ns"]),  # 0: not known
        "latency_source": row["latency_source"]} for row in rows}


def source_of(program):
    (file,) = ROOT.glob(f"{program}_*/{program}.cu")
    return file.relative_to(ROOT)


def warp_requests(trace):
    """The requests of a trace, warp by warp: sites are [access, memory, line, bytes of a lane, barriers passed]; a
    request is [site, first offset, step], with the mask of its lanes behind it where some are idle, or [site, offsets]
    where they are no fixed step apart."""
    sites, blocks, warps = {}, {}, {}
    columns = zip(trace.access.tolist(), trace.memory.tolist(), trace.line.tolist(), trace.lane_bytes.tolist(),
                  trace.phase.tolist())
    for i, key in enumerate(columns):
        site = sites.setdefault(key, len(sites))
        block = blocks.setdefault(tuple(trace.block[i].tolist()), len(blocks))
        offsets = trace.offsets[i]
        active = np.flatnonzero(offsets >= 0)
        steps = np.unique(np.diff(offsets[active]) // np.diff(active)) if len(active) > 1 else np.array([0])
        if len(steps) == 1 and (offsets[active] == offsets[active[0]] + steps[0] * (active - active[0])).all():
            first = int(offsets[active[0]] - steps[0] * active[0])
            request = [site, first, int(steps[0])] + ([int(trace.lanes[i])] if len(active) < 32 else [])
        else:
            request = [site, offsets.tolist()]
        warps.setdefault(f"{block},{trace.warp[i]}", []).append(request)
    return {"sites": [[ACCESSES[access], MEMORIES[memory], line, size, phase]
                      for access, memory, line, size, phase in sites],
            "blocks": [list(b) for b in blocks], "warps": warps}


def tile_row(trace):
    """Elements in a row of the tile; 0 without a tile. Where a warp takes a column, its lanes are a row apart; else
    neighbouring warps of a block fill neighbouring rows."""
    tile = trace.select("shared", launch=0)
    if not len(tile):
        return 0
    apart = int(np.diff(tile.offsets[(tile.offsets >= 0).all(axis=1)], axis=1).max())
    if apart == trace.element_bytes:
        apart = int(np.diff(np.unique(tile.offsets[:, 0])).min())
    return apart // trace.element_bytes


def follow_a_warp(taken):
    kernels = {}
    for kernel, program in PROGRAMS.items():
        source = source_of(program)
        lines = (ROOT / source).read_text(encoding="utf-8").splitlines()
        types = {}
        for element in TYPES:
            trace, _ = taken[kernel, element]
            types[element] = {**warp_requests(trace), "row": tile_row(trace)}
        numbers = sorted({site[2] for of in types.values() for site in of["sites"]})
        kernels[kernel] = {
            "file": str(source), "lines": {number: lines[number - 1].strip() for number in numbers}, "types": types}
    return {"side": SIDE, "kernels": kernels}


def bytes_in_flight(taken, machine):
    """The lesson kernels on the card that was measured: bytes that the loads of an SM have in flight, and GB/s."""
    micro = {row["constant"]: row for row in csv.DictReader((DATA / "h200_micro.csv").open(encoding="utf-8"))}
    measured = [
        row for row in csv.DictReader((DATA / "h200_steps.csv").open(encoding="utf-8"))
        if row["type"] == "float" and row["width"] == row["height"] == str(MEASURED_AT) and row["kernel"] in PROGRAMS]
    points = []
    for row in sorted(measured, key=lambda row: list(PROGRAMS).index(row["kernel"])):
        trace, resident = taken[row["kernel"], "float"]
        loads, batches, block = load_batches(trace)
        threads = resident // machine["sms"] * block
        points.append({
            "kernel": row["kernel"], "step": int(row["step"][4:6]), "threads": threads, "loads": loads / batches,
            "bytes": threads * loads / batches * trace.element_bytes, "gbs": float(row["bandwidth_gbs"])})
    return {
        "card": measured[0]["machine"], "date": measured[0]["date_utc"][:10], "side": MEASURED_AT, "machine": "h200",
        "sms": machine["sms"], "points": points, "stream": float(micro["stream"]["value"]),
        "latency": machine["latency"]}


def partitions_over_time(taken):
    """What the kernels' blocks are like that the page lets run: side of their tile, threads, shared memory, and their
    order."""
    kernels = {}
    for kernel, order in ORDERS.items():
        trace, _ = taken[kernel, "float"]
        _, (row,) = simulated.rows(PROGRAMS[kernel], "--device", "sim", "--kernel", kernel, "--size", str(SIDE))
        first, reads = trace.select(launch=0), trace.select("idata", "load", launch=0)
        kernels[kernel] = {
            "order": order, "tile": int(reads.offsets.max()) // trace.element_bytes // trace.width + 1,
            "threads": 32 * (int(first.warp.max()) + 1), "shared": int(row["shared_bytes_per_block"]),
            "transposes": row["produces"] == "transpose"}
    return {"kernels": kernels, "machine": taken["copy", "float"][0].machine}


def load_batches(trace):
    """Loads of a warp from global memory, the groups of them that no store to it comes between, and the threads of a
    block."""
    first = trace.select(launch=0)
    of_warp = first.select(warp=0)
    accesses = of_warp.access[of_warp.memory != MEMORIES.index("shared")] == ACCESSES.index("load")
    batches = int(accesses[0]) + int((~accesses[:-1] & accesses[1:]).sum())
    return int(accesses.sum()), batches, 32 * (int(first.warp.max()) + 1)


def race_of(trace, source, threads, missing):
    """What two threads of a block do: (line, access, memory, offset) one after the other, the barriers between. Of
    their elements, those that lie in places of the tile that both access. `missing`: the barrier that is left out."""
    programs = []
    for x, y in threads:
        mine = trace.select(launch=0, warp=(y * 32 + x) // 32)
        program, phase = [], 0
        for i in range(0, len(mine), 2):  # a load, and the store of what was loaded
            program += ["barrier"] * int(mine.phase[i] - phase)
            phase = int(mine.phase[i])
            pair = [[int(mine.line[k]), ACCESSES[mine.access[k]], MEMORIES[mine.memory[k]],
                     int(mine.offsets[k, x % 32])] for k in (i, i + 1)]
            if pair[0][3] >= 0:
                program.append(pair)
        programs.append(program)
    place = lambda pair: next(step[3] for step in pair if step[2] == "shared")  # noqa: E731
    both = set.intersection(*({place(part) for part in program if part != "barrier"} for program in programs))
    kept = [[step for part in program
             for step in ([part] if part == "barrier" else part if place(part) in both else [])]
            for program in programs]
    lines = source.read_text(encoding="utf-8").splitlines()
    numbers = sorted({step[0] for program in kept for step in program if step != "barrier"})
    return {
        "width": trace.width, "height": trace.height, "row": tile_row(trace), "kernel": trace.kernel,
        "missing": missing, "lines": {number: lines[number - 1].strip() for number in numbers},
        "threads": [{"thread": thread, "program": program} for thread, program in zip(threads, kept)]}


def races(step3, looping):
    """Step 3's kernel without its barrier; and the kernel with a loop that was published without its second one, with
    the two threads that the simulator reports."""
    (finding,) = [fault.finding for fault in gallery() if fault.kernel == "transposeLoopingRace"]
    found = re.match(
        r"race: (?P<hazard>[\w-]+) hazard in shared memory \(tile\), byte (?P<byte>\d+): "
        r"thread \((?P<reader>\d+, \d+), 0\) reads at .*? and thread \((?P<writer>\d+, \d+), 0\) writes",
        finding)
    reported = [tuple(map(int, found[name].split(", "))) for name in ("writer", "reader")]
    return [race_of(step3, ROOT / source_of(PROGRAMS[step3.kernel]), [(3, 0), (0, 3)], 0),
            {**race_of(looping, ROOT / "step04_padding/variants.cu", reported, 1), "hazard": found["hazard"],
             "byte": int(found["byte"])}]


def data():
    """({explorable: its data}, {explorable: why there is none})."""
    taken, failed = take_traces({**WARPS, "race": RACE})
    try:
        known = machines()
    except RuntimeError as error:
        return {}, {name: str(error) for name in IN_PLACE_OF.values()}
    made, reasons = {"machines": known}, {}
    for name, make, needs in (("warp", lambda: follow_a_warp(taken), WARPS), ("banks", lambda: {}, ()),
                              ("partitions", lambda: partitions_over_time(taken), WARPS),
                              ("flight", lambda: bytes_in_flight(taken, known["h200"]), WARPS),
                              ("race", lambda: races(taken[STEP3, "float"][0], taken["race"][0]), [*WARPS, "race"])):
        missing = [failed[need] for need in needs if need in failed]
        if missing:
            reasons[name] = missing[0]
        else:
            made[name] = make()
    return made, reasons


def style():
    return (FOLDER / "style.css").read_text(encoding="utf-8")


def embedded(made):
    """The data as JSON that a script element can hold."""
    return json.dumps(made, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def script():
    """The program that brings a page to life with the data in its element "explorables"."""
    programs = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    return f'\n(() => {{\n"use strict";\n{programs}\n}})();\n'
