"""The lab's exercises: what is run, what is judged, what it is worth. Data and judgements only: whoever
compiles and runs a submission makes a Run of each run a Check names, and hands them to its judge."""

import re
from dataclasses import replace

from parts import Check, Exercise

TYPES = ["float", "double"]
MACHINE = "h200"

# width, height: of one element, of whole tiles, of primes, one off a power of two, flat and tall.
SHAPES = [(1, 1), (64, 64), (128, 128), (31, 33), (33, 31), (127, 129), (129, 127), (13, 97), (97, 13), (1, 200), (200, 1),
          (96, 40), (36, 260), (257, 67)]
SQUARES = [(64, 64), (128, 128), (256, 256)]

# What a run says.

# Causes before effects: an index that is wrong may make two threads write one element of odata.
FORBIDDEN = ("the host accesses", "divergent barrier", "misaligned", "out-of-bounds", "hazard in shared memory", "uninitialized", "store to the input", "race:")


def said(line, run):
    """A finding without the kernel's name, with files by their last name, and elements by their place instead of their value."""
    line = re.sub(r"(?:[\w.~+-]*/)+([\w.-]+:\d+)", r"\1", re.sub(r"^\w+: (?=[\w -]+[:,]? )", "", line, count=1))
    line = re.sub(r"(expected|found) \S+ \[0x\w+\] \((idata row \d+, column \d+)\)", r"\1 \2", line)
    if "shared memory" in line:
        line = re.sub(r"\bbyte (-?\d+)", lambda byte: f"{byte[0]} ({run.type} number {int(byte[1]) // (8 if run.type == 'double' else 4)})", line, count=1)
    return line


def forbidden(run):
    """The lines that say what a kernel must not do, even where its result is right: causes before effects. They name a block, or the host."""
    lines = [line for line in run.findings if re.search(r"\bblock \(\d+, \d+, \d+\)|the host accesses", line)]
    return sorted(lines, key=lambda line: next((i for i, word in enumerate(FORBIDDEN) if word in line), len(FORBIDDEN)))


STOPPED = {
    "timeout": "stopped, because it computes for seconds where a right one takes a moment; does every loop end?",
    "memory": "stopped, because it asks for more memory than there is for it",
    "killed": "it crashed",
}


def first_trouble(run):
    """Why there is no verified result, in a few words."""
    # A wrong result says more of a wrong index than the race that it is, too.
    lines = [line for line in forbidden(run) if "hazard in odata" not in line] + [line for line in run.findings if "wrong result" in line] + run.findings
    if run.row is not None and not lines:
        return f"it produces a {run.row['produces']}"
    if run.status in STOPPED:
        return STOPPED[run.status]
    return said(lines[0], run) if lines else f"exit status {run.status}"


def right(run, produces):
    """Is every element as it should be? (What else the kernel does is a check of its own.)"""
    if run.row is not None:
        return run.row["produces"] == produces and run.row["verified"] == "yes"
    return run.status == 1 and bool(forbidden(run)) and not re.search("wrong result|the host accesses", " ".join(run.findings))


def verified(run, produces):
    return run.row is not None and right(run, produces)


SITE = re.compile(r"^  (load|store) of (global|shared) memory at (.*?)(?::(\d+))?(?:: .*)?\n"
                  r"    (\d+) requests? of .*?; ([\d.e+]+) (\w+) each, ideal ([\d.e+]+).*\n    (.*)$", re.MULTILINE)


def worst_site(run, way, memory):
    """The load or store that costs most per request: (where, cost, unit, diagnosis), or None."""
    sites = [(float(cost), f"{path.rsplit('/', 1)[-1]}:{line}" if line else path, unit, why)
             for kind, of, path, line, _, cost, unit, _, why in SITE.findall(run.explain) if kind == way and of == memory]
    if not sites:
        return None
    cost, where, unit, why = max(sites, key=lambda site: site[0])
    return where, cost, unit, why


def blame(run, way, memory):
    site = worst_site(run, way, memory)
    return f"; look at {site[0]}: {site[3]}" if site else ""


def number(run, column):
    return float(run.row[column] or 0)


# Judges. Each returns the function that a Check calls.

def gets_right(runs, produces):
    def judge(found):
        for key in runs:
            run = found[key]
            if not right(run, produces):
                wanted = "" if run.row is None else f", and a {produces} is asked for"
                return f"Not right at {run.shape} of {run.type}: {first_trouble(run)}{wanted}.".replace("?.", "?")
        return ""
    return judge


def gets_doubles_right(shapes, produces):
    """Right wherever it is for floats, so that one fault is not paid for twice; and at a square at least."""
    def judge(found):
        some = False
        for w, h in shapes:
            single, double = found[w, h, "float", MACHINE], found[w, h, "double", MACHINE]
            if right(single, produces) and not right(double, produces):
                return f"Right for floats, not for doubles, at {double.shape}: {first_trouble(double)}."
            some = some or (w == h and verified(double, produces))
        return "" if some else "Not right for doubles either."
    return judge


def stays_clean(runs, produces):
    def judge(found):
        for key in runs:
            if lines := forbidden(found[key]):
                return f"At {found[key].shape} of {found[key].type}: {said(lines[0], found[key])}."
        if not any(right(found[key], produces) for key in runs if min(key[:2]) > 1):
            return "Not judged while nothing is right."
        return ""
    return judge


def counted(key, produces, test):
    """A target: `test` sees a verified run and says what it misses; others have no counts to go by."""
    def judge(found):
        run = found[key]
        if not verified(run, produces):
            return f"Not judged without a right and clean result at {run.shape} of {run.type}."
        return test(run)
    return judge


def cost(way, memory, most):
    """At most so many sectors, or wavefronts, per request on average."""
    unit = "sectors" if memory == "global" else "wavefronts"
    counts = f"{memory}_{way}_{'transactions' if memory == 'global' else 'wavefronts'}"

    def test(run):
        requests = number(run, f"{memory}_{way}_requests")
        if not requests:
            return f"There is no {way} of {memory} memory at {run.shape}."
        each = number(run, counts) / requests
        return "" if each <= most else f"{each:.4g} {unit} per {way} of {memory} memory at {run.shape}; the target is {most}{blame(run, way, memory)}."
    return test


def in_all(column, most, way, what):
    def test(run):
        n = number(run, column)
        return "" if n <= most else f"{n:.0f} {what} at {run.shape}; the target is {most}{blame(run, way, 'global')}."
    return test


def shared_bytes(exactly, why):
    def test(run):
        n = int(number(run, "shared_bytes_per_block"))
        return "" if n == exactly else f"A block has {n} bytes of shared memory, and is to have {exactly}: {why}."
    return test


def both(*tests):
    return lambda run: next((hint for test in tests if (hint := test(run))), "")


def all_of(*judges):
    return lambda found: next((hint for judge in judges if (hint := judge(found))), "")


# What every exercise checks, and then its targets.

def runs_of(shapes, *types):
    return [(w, h, t, MACHINE) for t in types for w, h in shapes]


DOUBLES = [(64, 64), (128, 128), (33, 31), (127, 129), (97, 13)]
EVERY = runs_of(SHAPES, "float")
WATCHED = EVERY + runs_of(DOUBLES, "double")


def correctness(produces, squares, shapes, double, clean, more=()):
    """The checks of the result; `more`: further runs to be kept clean."""
    watched = WATCHED + list(more)
    return [
        Check("squares", squares, "Right for squares of whole tiles.", runs_of(SQUARES, "float"), gets_right(runs_of(SQUARES, "float"), produces)),
        Check("shapes", shapes, "Right for every shape, down to a single element.", EVERY, gets_right(EVERY, produces)),
        Check("double", double, "Right for doubles, too.", runs_of(DOUBLES, "float", "double"), gets_doubles_right(DOUBLES, produces)),
        Check("clean", clean, "No race, nothing out of bounds, nothing read that nobody wrote, no barrier that some threads miss.",
              watched, stays_clean(watched, produces)),
    ]


def of_a_whole_kernel(check, produces):
    """The exercise's main target, which a kernel that is wrong somewhere does not reach: it passes `shapes` and `clean`, too."""
    passes = all_of(gets_right(EVERY, produces), stays_clean(WATCHED, produces))

    def whole(found):
        return "Only for a kernel that passes `shapes` and `clean`, too." if passes(found) else ""
    return replace(check, runs=[*check.runs, *WATCHED], judge=all_of(check.judge, whole))


def target(name, points, what, produces, test, shape=(256, 256), type="float", machine=MACHINE, whole=False):
    key = (*shape, type, machine)
    check = Check(name, points, what, [key], counted(key, produces, test))
    return of_a_whole_kernel(check, produces) if whole else check


def first_exercise():
    t, rows, wide = "copy", 64, (1025, 64)
    return Exercise(1, "step01_copy", "copyAligned", t, correctness(t, 5, 10, 5, 10) + [
        target("loads", 30, "At 1025 x 64 loads touch at most 129 sectors a row.", t,
               in_all("global_load_transactions", 129 * rows, "load", "sectors of loads"), wide, whole=True),
        target("stores", 30, "At 1025 x 64 stores touch at most 129 sectors a row.", t,
               in_all("global_store_transactions", 129 * rows, "store", "sectors of stores"), wide, whole=True),
        target("requests", 10, "At 1025 x 64 there are at most 33 loads and 33 stores a row.", t,
               both(in_all("global_load_requests", 33 * rows, "load", "requests to load"),
                    in_all("global_store_requests", 33 * rows, "store", "requests to store")), wide),
    ])


def second_exercise():
    t, without = "transpose", shared_bytes(0, "this one is to do without")
    return Exercise(2, "step02_naive", "transposePatches", t, correctness(t, 5, 10, 5, 10) + [
        target("loads", 10, "At most 8 sectors per load of floats.", t, cost("load", "global", 8)),
        target("stores", 55, "4 sectors per store of floats, at most 8 per load, and no shared memory.", t, both(cost("store", "global", 4), cost("load", "global", 8), without), whole=True),
        target("memory", 5, "No shared memory.", t, without),
    ])


def third_exercise():
    t, half = "transpose", shared_bytes(2048, "32 x 16 floats, no more and no less")
    return Exercise(3, "step03_coalesced", "transposeHalfTile", t, correctness(t, 5, 10, 5, 10) + [
        target("loads", 5, "4 sectors per load of floats.", t, cost("load", "global", 4)),
        target("stores", 55, "4 sectors per store of floats, with a tile of 32 x 16.", t, both(cost("store", "global", 4), half), whole=True),
        target("memory", 10, "2048 bytes of shared memory: a tile of 32 x 16 floats.", t, half),
    ])


def fourth_exercise():
    t, tall = "transpose", shared_bytes(2048, "16 x 32 floats, no padding and no larger tile")
    return Exercise(4, "step04_padding", "transposeSwizzledTall", t, correctness(t, 5, 10, 5, 10) + [
        target("sectors", 5, "4 sectors per load and store of floats.", t, both(cost("load", "global", 4), cost("store", "global", 4))),
        target("conflicts", 55, "1 wavefront per request to the tile, with a tile of 16 x 32.", t,
               both(cost("store", "shared", 1), cost("load", "shared", 1), tall), whole=True),
        target("memory", 10, "2048 bytes of shared memory: 16 x 32 floats, no padding.", t, tall),
    ])


def fifth_exercise():
    t, large = "tile-local transpose", shared_bytes(16384, "64 x 64 floats, no padding")
    return Exercise(5, "step05_decomposed", "turnTiles", t, correctness(t, 10, 15, 5, 10) + [
        target("sectors", 10, "4 sectors per load and store of floats.", t, both(cost("load", "global", 4), cost("store", "global", 4))),
        target("conflicts", 40, "1 wavefront per request to the tile, with a tile of 64 x 64.", t,
               both(cost("store", "shared", 1), cost("load", "shared", 1), large), whole=True),
        target("memory", 10, "16384 bytes of shared memory: 64 x 64 floats, no padding.", t, large),
    ])


def sixth_exercise():
    t = "transpose"
    camping, tall, looping = (2048, 2048, "float", "gtx280"), (1, 2100000, "float", MACHINE), (1100, 1060, "float", MACHINE)

    def partitions(run):
        for way in ("loads", "stores"):
            n = number(run, f"busiest_partition_of_{way}")
            if n > 1.1:
                return f"The busiest partition of the GTX 280 gets {n:.2f} times the mean of the {way}, and 1.1 is allowed: which tiles do blocks that run together take?"
        return ""
    right_when_tall = gets_right([looping, tall], t)
    return Exercise(6, "step06_diagonal", "transposeDiagonalLoop", t, correctness(t, 5, 10, 5, 15, [camping, looping]) + [
        Check("tall", 20, "Right for more tiles than CUDA allows blocks side by side in y, and for more tiles than there are blocks.",
              [looping, tall], right_when_tall),
        target("sectors", 10, "4 sectors per load and store of floats.", t, both(cost("load", "global", 4), cost("store", "global", 4))),
        target("conflicts", 10, "1 wavefront per request to the tile.", t, both(cost("store", "shared", 1), cost("load", "shared", 1))),
        of_a_whole_kernel(Check("partitions", 25, "At 2048 x 2048 the busiest partition of a GTX 280 gets at most 1.1 times the mean, of loads and of stores, and `tall` is passed.",
              [camping, looping, tall], all_of(counted(camping, t, partitions), right_when_tall)), t),
    ])


def seventh_exercise():
    t, even, wide = "copy", (256, 256, "float", MACHINE), (256, 256, "double", MACHINE)

    def few(vectors):
        return both(in_all("global_load_requests", vectors // 32, "load", "requests to load"),
                    in_all("global_store_requests", vectors // 32, "store", "requests to store"))

    def sectors(run):
        most = run.width * run.height * 4 // 32
        return both(in_all("global_load_transactions", most, "load", "sectors of loads"),
                    in_all("global_store_transactions", most, "store", "sectors of stores"))(run)
    return Exercise(7, "step07_in_flight", "copyVectorized", t, correctness(t, 5, 10, 5, 10) + [
        of_a_whole_kernel(Check("requests", 40, "Every request of a warp moves 32 vectors, of floats and of doubles.", [even, wide],
              all_of(counted(even, t, few(256 * 64)), counted(wide, t, few(256 * 128)))), t),
        target("height", 15, "The same for a height that is no whole number of vectors: a copy's rows are as long in odata.", t, few(64 * 64), (256, 63)),
        target("sectors", 5, "No sector is moved twice: 16 for each request.", t, sectors),
        target("tile", 10, "Through the tile, with at most 4 wavefronts for each request.", t, both(cost("store", "shared", 4), cost("load", "shared", 4))),
    ])


EXERCISES = {e.number: e for e in (first_exercise(), second_exercise(), third_exercise(), fourth_exercise(), fifth_exercise(),
                                   sixth_exercise(), seventh_exercise())}
