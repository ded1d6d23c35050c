"""The lesson kernels and the shapes they are tested on. No dependencies: tests and scripts share it."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Every lesson kernel: its step's program, its row in the table of sources, what it produces.
LESSONS = {
    "copy": ("step01", "W1", "copy"),
    "copySharedMem": ("step01", "W2", "copy"),
    "transposeNaive": ("step02", "W3", "transpose"),
    "transposeCoalesced": ("step03", "W4", "transpose"),
    "transposeNoBankConflicts": ("step04", "W5", "transpose"),
    "transposeFineGrained": ("step05", "W6", "tile-local transpose"),
    "transposeCoarseGrained": ("step05", "W7", "tile-moved copy"),
    "transposeDiagonal": ("step06", "W8", "transpose"),
    "transposeInFlight": ("step07", "-", "transpose"),  # beyond the sources
}
STEPS = sorted({program for program, _, _ in LESSONS.values()})
TYPES = ["char", "half", "float", "double", "int", "double2"]
NUMBERS = ["float", "double", "int"]  # of kernels that compute

# width, height
SHAPES = [
    (1, 1), (2, 1), (1, 2), (1, 31), (1, 32), (1, 33), (31, 1), (32, 1), (33, 1), (1, 1000), (1000, 1),
    (31, 31), (32, 32), (33, 33), (31, 33), (33, 31), (32, 64), (64, 32), (63, 65), (65, 63),
    (7, 11), (13, 97), (97, 13), (127, 127), (128, 128), (129, 129), (101, 211), (257, 131),
    (5, 2003), (2003, 5), (40, 1024), (1024, 40), (36, 100), (100, 36), (512, 32),
]

# Planted wrong kernels: tests/planted.cu has one of each fault for each kind, and their right twins.
KINDS = ["copy", "transpose", "fine", "coarse"]
TWINS = ["right", "rightThroughTile"]
# The fault, and what the report must say of it (a regular expression): on a GPU, on the simulator.
FAULTS = {
    "forgetBarrier": ("no element of the input|as in idata row", "race: read-after-write hazard .* writes at tests/planted.cu:.* reads at tests/planted.cu:"),
    "writeNothing": ("never written",) * 2,
    "wrongKind": ("found .* \\((as in )?idata row",) * 2,
    "dropLastRow": ("never written",) * 2,
    "dropLastColumn": ("never written",) * 2,
    "swapTwo": (": 2 of 6700 elements differ",) * 2,
    "offByOneTile": ("found .* \\((as in )?idata row",) * 2,
    "writeBehind": ("written out of bounds: .* bytes, the first . bytes past the end of the matrix",
                    "out-of-bounds store of .* bytes at byte (6700|13400|26800|53600|107200) of odata: thread .* at tests/planted.cu:"),
    "writeInFront": ("written out of bounds: .* bytes, the first .* bytes before the start of the matrix",
                     "out-of-bounds store of (.*) bytes at byte -\\1 of odata: thread .* at tests/planted.cu:"),
    "overwriteInput": ("differ", "store to the input, of .* bytes at byte .* at tests/planted.cu:"),
    "rightOnce": (": 1 of 6700 elements differ",) * 2,
}


# Every row of the sources' kernels, and every published fault.
SOURCE_ROWS = [f"W{i}" for i in range(1, 13)] + [f"B{i}" for i in range(1, 11)] + [f"F{i}" for i in range(1, 10)] + \
    [f"C{i}" for i in range(1, 5)] + ["R1"]
ERRATA = [f"E{i}" for i in range(1, 12)]


def kernels(*parts):
    """What the programs list: dictionaries of step, program, kernel, part, on, produces, rows (a list)."""
    found = []
    for program in STEPS:
        header, *lines = run(ROOT / program, "--list").stdout.splitlines()
        starts = [header.index(name) for name in ("step", "kernel", "part", "on ", "produces", "source rows")]
        for line in lines:
            cells = [line[a:b].strip() for a, b in zip(starts, starts[1:] + [None])]
            entry = dict(zip(["step", "kernel", "part", "on", "produces", "rows"], cells), program=program)
            entry["rows"] = entry["rows"].split()
            if not parts or entry["part"] in parts:
                found.append(entry)
    return found


def is_for(kernel, element):
    """Those that add elements are for the types that C++ adds."""
    return element not in ("half", "double2") or not kernel["produces"].startswith("sum")


def gallery():
    """What `./stepNN --errata` shows: (program, erratum, kernel or check, the text below, its lines joined)."""
    for program in STEPS:
        done = run(ROOT / program, "--errata")
        assert done.returncode == 0 and done.stderr == "", done.stderr
        for id_, kernel, text in re.findall(r"^(E\d+)  (\w+), .*\n((?:    .*\n)+)", done.stdout, re.MULTILINE):
            yield program, id_, kernel, re.sub(r"\n? {4}", " ", text)


def run(*command, cwd=ROOT, env=None, timeout=120):
    """Runs a program and returns its CompletedProcess, output as text. Never raises on failure."""
    return subprocess.run([str(c) for c in command], cwd=cwd, env=env, timeout=timeout,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
