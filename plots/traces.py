"""Traces, as `./stepNN --device sim --trace FILE` writes them: every request of every warp, in numpy arrays.

    trace = read_trace("step04.csv", memory=["odata"])
    first = trace.select(block=(0, 0), warp=1, phase=1)
    first.offsets[0]    # bytes from the start of odata, of each lane; -1 where a lane is idle

One Trace holds the requests of one kernel on one machine, in the order of the file: blocks in launch order.
take_traces() runs the steps for them.
"""

import concurrent.futures
import pathlib
import re
import tempfile

import numpy as np

import simulated
from outside import printable

ROOT = pathlib.Path(__file__).resolve().parent.parent

COLUMNS = ("machine,kernel,type,width,height,block_x,block_y,warp,phase,access,memory,line,lane_bytes,lanes,"
           "offsets_bytes,units,partition")
LANES = 32
LARGEST = 1 << 48  # bytes of any memory
MEMORIES = ("idata", "odata", "shared")
ACCESSES = ("load", "store")


class Trace:
    """machine, kernel, type, width, height, path; and of each request, as arrays of one length:

    block (n, 2)     blockIdx.x and .y
    launch (n)       the block's number in launch order, from 0; counted before anything was left out
    warp, phase (n)  of the block; barriers that the block had passed
    access, memory   indices into ACCESSES and MEMORIES
    line (n)         of the source
    lane_bytes (n)   that each active lane asks for
    lanes (n)        mask of the active lanes
    offsets (n, 32)  in bytes, from the start of the memory, for each lane; -1: not active
    units (n)        what the request costs: transactions, lines or sectors of global, wavefronts of shared memory
    partition (n)    of the first active lane; -1: none
    """

    FIELDS = ("block", "launch", "warp", "phase", "access", "memory", "line", "lane_bytes", "lanes", "offsets", "units",
              "partition")

    def __init__(self, of, arrays):
        self.of = of
        self.machine, self.kernel, self.type, self.width, self.height, self.path = of
        for name in self.FIELDS:
            setattr(self, name, arrays[name])

    def __len__(self):
        return len(self.warp)

    @property
    def element_bytes(self):
        return {"char": 1, "half": 2, "double": 8, "double2": 16}.get(self.type, 4)

    @property
    def bytes(self):
        """What each request asks for."""
        return self.lane_bytes * (self.offsets >= 0).sum(axis=1)

    def select(self, memory=None, access=None, block=None, warp=None, phase=None, launch=None):
        """The requests that are all of this, as another Trace, which may be empty."""
        keep = np.ones(len(self), bool)
        if memory is not None:
            keep &= self.memory == MEMORIES.index(memory)
        if access is not None:
            keep &= self.access == ACCESSES.index(access)
        if block is not None:
            keep &= (self.block == block).all(axis=1)
        for name, value in (("warp", warp), ("phase", phase), ("launch", launch)):
            if value is not None:
                keep &= getattr(self, name) == value
        return Trace(self.of, {name: getattr(self, name)[keep] for name in self.FIELDS})


def read_trace(path, kernel=None, memory=MEMORIES, access=ACCESSES):
    """The requests of one kernel, or only those of some memories and accesses. ValueError: a file that is no trace, or
    holds several kernels and `kernel` names none of them, or requests of none."""
    of, launch, last, rows, number = None, -1, None, [], 1
    with open(path, encoding="utf-8", errors="replace") as file:
        if file.readline().rstrip("\n") != COLUMNS:
            raise ValueError(f"{printable(path)}: not a file that ./stepNN --trace wrote: its first line is another")
        try:
            for number, text in enumerate(file, 2):
                cells = text.rstrip("\n").split(",")
                if len(cells) != 17:
                    raise ValueError(f"{len(cells)} values where 17 were expected")
                if kernel is not None and cells[1] != kernel:
                    continue
                if of is None:
                    of = cells[:5]
                elif cells[:5] != of:
                    raise ValueError(f"another kernel, machine or matrix than before it ({', '.join(cells[:5])}): "
                                     "name one kernel, and trace one size at a time")
                if cells[5:7] != last:
                    last = cells[5:7]
                    launch += 1
                if cells[10] in memory and cells[9] in access:
                    rows.append(request(launch, *cells[5:]))
            if of is None:
                raise ValueError("no requests" + (f" of {kernel}" if kernel else "") + " up to here")
            of = (*of[:3], int(of[3]), int(of[4]), str(path))
        except ValueError as error:
            raise ValueError(f"{printable(path)}, line {number}: {printable(error)}") from None
    columns = list(zip(*rows)) or [()] * (len(REQUEST) + 1)
    arrays = {name: np.array(column, int) for name, column in zip(REQUEST, columns)}
    arrays["block"] = np.stack([arrays.pop("block_x"), arrays.pop("block_y")], axis=1)
    arrays["offsets"] = offsets(arrays["lanes"], arrays.pop("first"), arrays.pop("step"), columns[-1])
    return Trace(of, arrays)


REQUEST = ("launch", "block_x", "block_y", "warp", "phase", "access", "memory", "line", "lane_bytes", "lanes", "units",
           "partition", "first", "step")


def request(launch, block_x, block_y, warp, phase, access, memory, line, lane_bytes, lanes, offsets, units, partition):
    """One line's numbers, as in REQUEST, and after them the offsets, if they are listed one by one."""
    mask = int(lanes, 16)
    first, colon, step = offsets.partition(":")
    listed = None if colon else [int(value) for value in offsets.split()]
    if listed is not None and len(listed) != mask.bit_count():
        raise ValueError(f"{len(listed)} offsets of {mask.bit_count()} lanes")
    numbers = (launch, int(block_x), int(block_y), int(warp), int(phase),
               ACCESSES.index(access), MEMORIES.index(memory), int(line), int(lane_bytes), mask, int(units),
               int(partition or -1), int(first) if colon else 0, int(step) if colon else 0)
    if max(numbers + tuple(listed or ())) >= LARGEST or min(numbers + tuple(listed or ())) <= -LARGEST:
        raise ValueError("a number that is none of a trace")
    return (*numbers, listed)


def offsets(lanes, first, step, listed):
    """Of each lane of each request: its offset in bytes, or -1."""
    active = (lanes[:, None] >> np.arange(LANES) & 1).astype(bool)
    rank = np.cumsum(active, axis=1) - 1  # a lane's place among the active ones
    found = np.where(active, first[:, None] + step[:, None] * rank, -1)
    for i, values in enumerate(listed):
        if values is not None:
            found[i, active[i]] = values
    return found


def run_trace(run, folder):
    """(Trace, blocks that run at a time) of a run: (program, its options, the memories that are needed, or None for
    all). RuntimeError: the program is not there, or fails."""
    program, options, memories = run
    with tempfile.TemporaryDirectory(dir=folder) as own:
        path = pathlib.Path(own) / "trace.csv"
        said = simulated.run(program, "--device", "sim", "--explain", "--trace", path, *options)
        trace = read_trace(path, **({"memory": memories} if memories else {}))
    resident = re.search(r"^  occupancy: .*; (\d+) on all \d+ SMs$", said, re.MULTILINE)
    return trace, int(resident[1]) if resident else None


def take_traces(runs):
    """{name: (Trace, blocks at a time)}, and {name: why there is none}, of runs by name. Each in a process of its
    own."""
    taken, failed = {}, {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(2) as pool:
        size = {
            name: max(map(int, options[options.index("--size") + 1].split("x")))
            for name, (_, options, _) in runs.items()}
        waiting = {name: pool.submit(run_trace, runs[name], folder) for name in sorted(runs, key=lambda n: -size[n])}
        for name, future in waiting.items():
            try:
                taken[name] = future.result()
            except (RuntimeError, ValueError, OSError) as error:
                failed[name] = str(error)
    return taken, failed
