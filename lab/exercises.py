"""The lab's exercises: what is run, what is judged, what it is worth. It holds only data and judges. lab/check.py
compiles a submission, makes a Run of each run that a Check or Limit names, and hands them to its judge.

A kernel's cost is the total of all its launches for each 32 elements of the matrix. A warp has 32 lanes, and 32 floats
are 4 sectors. Results and cost are judged at shapes that students know and at others that are drawn for each run, of
every class: whole tiles, odd, thin, flat, aligned or not, and large.
"""

import math
from dataclasses import dataclass
from random import Random
from typing import Callable

from parts import STOPPED, Check, Exercise, Finding, Limit, ending, said

TYPES = ["float", "double", "int"]
MACHINE = "h200"

# width, height: of one element, of whole tiles, of primes, one off a power of two, flat and tall.
SHAPES = [(1, 1), (64, 64), (128, 128), (31, 33), (33, 31), (127, 129), (129, 127), (13, 97), (97, 13), (1, 200),
          (200, 1), (96, 40), (36, 260), (257, 67)]
SQUARES = [(64, 64), (128, 128), (256, 256)]
DOUBLES = [(64, 64), (128, 128), (33, 31), (127, 129), (97, 13)]
WHOLE = 32  # sides that are multiples of it have whole tiles
AT_EDGES = 2  # so many times the cost of whole tiles may be counted at other shapes
SMS = 132  # of the H200
MOST_SHARED = 48 * 1024  # bytes of static shared memory that nvcc allows a block

# ---- What a run shows ------------------------------------------------------------------------------------------

# The kinds of findings, causes before effects. A wrong index, for example, may make two threads write one element of
# odata.
SHARED_RACE = "race in shared memory"
CAUSES = ["host-access", "divergent-barrier", "misaligned-access", "out-of-bounds-load", "out-of-bounds-store",
          SHARED_RACE, "uninitialized-load", "store-to-input", "race"]
FILL_AND_EMPTY = "Filling the tile takes 1 wavefront per request and emptying it {}. The target is 1 and 1."


def cause(finding):
    """Its place among the causes."""
    kind = SHARED_RACE if finding.kind == "race" and finding.in_shared_memory else finding.kind
    return CAUSES.index(kind) if kind in CAUSES else len(CAUSES)


def forbidden(run):
    """The findings that are faults even where the result is right, causes before effects."""
    found = [finding for finding in run.findings if finding.costs_points]
    if run.row and number(run, "shared_bytes_per_block") > MOST_SHARED:
        found.append(Finding("shared-memory", f"shared memory: {number(run, 'shared_bytes_per_block'):.0f} bytes in a "
                             f"block, and nvcc allows {MOST_SHARED}", True))
    return sorted(found, key=cause)


def reports(run, *kinds):
    return [finding for finding in run.findings if finding.kind in kinds]


def first_trouble(run):
    """Why there is no verified result, in a few words."""
    # A wrong result explains a wrong index better than the race that it also causes.
    found = ([finding for finding in forbidden(run) if cause(finding) != CAUSES.index("race")]
             + reports(run, "wrong-result") + run.findings)
    if run.status in STOPPED:
        return STOPPED[run.status]
    return said(found[0].text, run.type) if found else ending(run.status)


def right(run):
    """Whether every element is right. (stays_clean judges what else the kernel does.)"""
    return run.row is not None or (
        run.status == 1 and bool(forbidden(run)) and not reports(run, "wrong-result", "host-access"))


def number(run, column):
    return float(run.row[column] or 0)


def blame(run, way, memory):
    """The load or store that costs most per request above the ideal, as the end of a sentence; '' where each is at its
    ideal."""
    def per_request(access, what):
        return float(f"{access[what] / access['requests']:.4g}")  # small differences are none

    sites = [(per_request(access, "units") / per_request(access, "ideal_units"),
              f"{access['file'].rsplit('/', 1)[-1]}:{access['line']}" if access["file"] else "an unknown line",
              access["diagnosis"]) for access in run.accesses if access["access"] in way and access["memory"] == memory]
    ratio, where, why = max(sites, default=(1, "", ""))
    return f"; look at {where}: {why}" if ratio > 1 else ""


# ---- Shapes that are drawn ---------------------------------------------------------------------------------------

def of_small(seed):
    """A shape of each class, of one tile to some dozens: odd, thin, flat, of whole warps, and of whole vectors."""
    draw = Random(f"small {seed}").randrange
    return [(2 * draw(17, 150) + 1, 2 * draw(17, 150) + 1), (draw(2, 9), draw(300, 1500)),
            (draw(300, 1500), draw(2, 9)), (32 * (2 * draw(1, 5) + 1), 32 * (2 * draw(1, 5) + 1)),
            (4 * (2 * draw(5, 40) + 1), 4 * (2 * draw(5, 40) + 1))]


def of_large(seed):
    """Sides that no tile divides, and more than 1024 tiles of 32 x 32: more than exercise 6 has blocks."""
    draw = Random(f"large {seed}").randrange
    return 2 * draw(512, 600) + 1, 2 * draw(500, 540) + 1


def is_whole(run):
    return run.width % WHOLE == 0 and run.height % WHOLE == 0


# ---- Judges of the result --------------------------------------------------------------------------------------

def runs_of(shapes, *types, machines=(MACHINE,)):
    return [(w, h, t, machine) for machine in machines for t in types for w, h in shapes]


def all_or_nothing(judge):
    """Of a judge that returns a hint."""
    def judged(found):
        hint = judge(found)
        return (0, hint) if hint else (1, "")
    return judged


@dataclass
class Teacher:
    """What an exercise adds to the hints about its result."""
    # of a run that is not right: a number; of several, the one with the smallest is described
    order: Callable = lambda run: 0
    # of a run: the cause as the end of a sentence, or ''
    cause: Callable = lambda run: ""


def gets_right(runs, teacher=Teacher()):
    def judge(found):
        failed = [found[key] for key in runs if not right(found[key])]
        if not failed:
            return ""
        run = min(failed, key=teacher.order)
        return f"Not right at {run.shape} of {run.type}: {first_trouble(run)}{teacher.cause(run)}."
    return all_or_nothing(judge)


def gets_types_right(shapes, machines):
    """Right for doubles and ints wherever it is right for floats, so that one fault costs points once; and right for
    one square at least."""
    def judge(found):
        some = dict.fromkeys(TYPES[1:], False)
        for w, h, machine, type_ in [(w, h, m, t) for m in machines for w, h in shapes for t in TYPES[1:]]:
            if (w, h, type_, machine) not in found:
                continue
            single, other = found[w, h, "float", machine], found[w, h, type_, machine]
            if right(single) and not right(other):
                return f"Right for floats, not for {type_}s, at {other.shape}: {first_trouble(other)}."
            some[type_] = some[type_] or (w == h and other.row is not None)
        runs = [found[(*shapes[0], type_, machines[0])] for type_, holds in some.items() if not holds]
        troubles = (f"No right and clean result for {run.type}s at {run.shape}: {first_trouble(run)}." for run in runs)
        return next(troubles, "")
    return all_or_nothing(judge)


def stays_clean(runs, teacher=Teacher()):
    def judge(found):
        for key in runs:
            if faults := forbidden(found[key]):
                why = teacher.cause(found[key])
                return f"At {found[key].shape} of {found[key].type}: {said(faults[0].text, found[key].type)}{why}."
        if not any(right(found[key]) for key in runs if min(key[:2]) > 1):
            return "Not judged, because no result is right yet."
        return ""
    return all_or_nothing(judge)


RIGHT = {"squares": 4, "shapes": 6, "double": 4, "clean": 6}


def correctness(seed, more=(), points=RIGHT, machines=(MACHINE,), whole=(MACHINE,),
                shapes="every shape, down to a single element", teacher=Teacher()):
    """The checks of the result; `more`: further runs to be kept clean. `machines`: to run all of them on; `whole`:
    those that a square has whole tiles for. The large shape runs on the last of these."""
    small, large = of_small(seed), of_large(seed)
    if len(machines) > 1: small = small[:2]
    squares = runs_of(SQUARES, "float", machines=whole)
    every = runs_of([*SHAPES, *small], "float", machines=machines) + runs_of([large], "float", machines=whole[-1:])
    of_types = [*DOUBLES, small[0], small[-1]]
    doubles = runs_of(of_types, *TYPES[:2], machines=machines) + runs_of(of_types, *TYPES[2:], machines=machines[:1])
    watched = every + [key for key in doubles if key not in every] + list(more)
    return [
        Check("squares", points["squares"], "Right for squares of whole tiles.", squares,
              gets_right(squares)),
        Check("shapes", points["shapes"], f"Right for {shapes}.", every, gets_right(every, teacher)),
        Check("double", points["double"], "Right for doubles and ints.", doubles,
              gets_types_right(of_types, machines)),
        Check("clean", points["clean"],
              "No race, no access out of bounds, no load of uninitialized memory, no barrier that some threads miss.",
              watched, stays_clean(watched, teacher)),
    ]


# ---- Judges of the cost ----------------------------------------------------------------------------------------

COLUMNS = {
    "sectors of loads": (["global_load_transactions"], "load", "global"),
    "sectors of stores": (["global_store_transactions"], "store", "global"),
    "loads": (["global_load_requests"], "load", "global"),
    "stores": (["global_store_requests"], "store", "global"),
    "loads and stores": (["global_load_requests", "global_store_requests"], "", "global"),
    "wavefronts": (["shared_load_wavefronts", "shared_store_wavefronts"], "load, store", "shared"),
    "requests to the tile": (["shared_load_requests", "shared_store_requests"], "", "shared"),
    "warps": (["warps_launched"], "", ""),
    "waits of warps at barriers": (["barriers_of_warps"], "", ""),
    "bytes between GPUs": (["bytes_between_gpus"], "load, store", "peer"),
}


def count(run, what):
    return sum(number(run, column) for column in COLUMNS[what][0])


def per_32(run, what):
    return 32 * count(run, what) / (run.width * run.height)


def figure(n):
    return f"{n:.0f}" if n >= 1000 else f"{n:.3g}"


def progress(value, start, target):
    """From 0 at the start to 1 at the target; each halving is worth the same."""
    if value <= target * (1 + 1e-9):
        return 1.0
    return max(0.0, min(1.0, math.log(start / value) / math.log(start / target))) if value > 0 else 0.0


def with_result(found, keys):
    """The runs that can be judged, and why another cannot, or ''. (lab/check.py gives a quarter where one cannot.)"""
    runs = [found[key] for key in keys]
    missing = [f"Not judged without a right and clean result at {run.shape} of {run.type}: {first_trouble(run)}."
               for run in runs if not run.row]
    return [run for run in runs if run.row], (missing or [""])[0]


def cheaper(name, points, what, keys, column, start, target, value=per_32, unit=" for each 32 elements",
            hint="", despite=()):
    """The way from `start` to `target`, at the worst of the shapes with a result. Both are functions of a run, or
    numbers for whole tiles."""
    def judge(found):
        judged, missing = with_result(found, keys)
        worst = (1.0 if judged else 0.0, "")
        for run in judged:
            begin, end = start(run) if callable(start) else start, allowed(run, target)
            n = value(run, column)
            share = progress(n, begin, end)
            if share < worst[0]:
                of, memory = COLUMNS[column][1:] if column in COLUMNS else ("", "")
                worst = share, (f"{figure(n)} {column}{unit} at {run.shape}; the hand-out has {figure(begin)}, the "
                                f"target is {figure(end)}"
                                + (blame(run, of, memory) if memory else "") + (f"; {hint}" if hint else "") + ".")
        return worst[0], f"{worst[1]} {missing}".strip()
    return Check(name, points, what, keys, judge, despite)


def allowed(run, limit):
    """A limit that is a function of the run, or a number for whole tiles: those at the edges of a matrix cost more."""
    return limit(run) if callable(limit) else limit if is_whole(run) else AT_EDGES * limit


def at_most(keys, column, most, value=per_32, unit=" for each 32 elements", why=""):
    """What exceeds this divides the points for cost."""
    def judge(found):
        worst = (1.0, "")
        for key in keys:
            run = found[key]
            if not run.row:
                continue  # the check itself says so
            n, limit = value(run, column), allowed(run, most)
            if n > limit * (1 + 1e-9) and n / max(limit, 1e-9) > worst[0]:
                way, memory = COLUMNS[column][1:] if column in COLUMNS else ("", "")
                worst = n / limit, (f"{figure(n)} {column}{unit} at {run.shape}, and the task needs "
                                    f"{figure(limit)}{why}") + (blame(run, way, memory) if way else "")
        return worst
    return Limit(keys, judge)


def condition(keys, holds, divisor=4):
    """A further condition of the task; `holds` returns the hint for a run that breaks it, or ''."""
    def judge(found):
        for key in keys:
            if found[key].row and (hint := holds(found[key])):
                return divisor, hint
        return 1, ""
    return Limit(keys, judge)


def shared(least, most, what):
    def holds(run):
        n = int(number(run, "shared_bytes_per_block"))
        return "" if least <= n <= most else f"a block has {n} bytes of shared memory, and the task asks for {what}"
    return holds


def no_local(keys):
    """An array that is indexed at run time is a tile in memory, too, and costs what one costs."""
    def holds(run):
        # An access with an index that differs between threads explains most.
        local = [access for access in run.accesses if access["memory"] == "local"]
        at = next((access for access in local if "threads" in access["diagnosis"]), next(iter(local), ""))
        return at and (f"{at['file'].rsplit('/', 1)[-1]}:{at['line']} accesses an array in local memory, and the task "
                       f"moves each element once: {at['diagnosis']}")
    return condition(keys, holds)


def through_tile(keys):
    """A wavefront holds 32 floats at most. A few of the elements may stay where they are."""
    def holds(run):
        return next((f"the task asks for a tile that each element is {does}, at {run.shape}" for way, does in
                     (("store", "stored to"), ("load", "loaded from"))
                     if number(run, f"shared_{way}_wavefronts") * 32 < 0.9 * run.width * run.height), "")
    return condition(keys, holds)


def launches(keys, most=1):
    return at_most(keys, "launches", most if callable(most) else lambda run: most,
                   value=lambda run, _: number(run, "launches"), unit="")


def too_few_blocks(run, tiles=SMS):
    """A block runs on one SM. A matrix with more tiles than a GPU has SMs is to use them all. '' where it does."""
    n = number(run, "blocks_launched")
    return "" if n >= min(SMS, math.floor(tiles)) else (
        f"{n:.0f} block{'s'[:n != 1]} at {run.shape}, and an H200 has {SMS} SMs: a block runs on one of them, the "
        "others idle; give each tile a block")


def enough_blocks(keys):
    return condition(keys, lambda run: too_few_blocks(run, run.width * run.height / 128**2))


def needs(keys, sectors=("loads", "stores"), barriers=2, warps=1, launched=1):
    """What any solution of whole tiles needs for each 32 elements: one warp, one request each way, 4 sectors, two
    requests to the tile."""
    return [
        at_most(keys, "warps", warps),
        at_most(keys, "loads", 1, why=", with all 32 lanes active"),
        at_most(keys, "stores", 1, why=", with all 32 lanes active"),
        *[at_most(keys, f"sectors of {way}", 4) for way in sectors],
        at_most(keys, "requests to the tile", 2),
        at_most(keys, "waits of warps at barriers", barriers),
        launches(keys, launched),
        no_local(keys),
    ]


def cost_shapes(seed):
    """The shape that the pages name, a drawn one of whole tiles for every exercise, and the large one."""
    width, height = Random(seed).sample(range(3, 17), 2)
    return runs_of([(256, 256), (64 * width, 64 * height), of_large(seed)], "float")


# ---- The exercises ---------------------------------------------------------------------------------------------

def first_exercise():
    def wide(seed):
        random = Random(seed)
        return runs_of([(1025, 64), (2 * random.randrange(300, 700) + 1, 8 * random.randrange(5, 12)),
                        of_large(seed)], "float")

    def pieces(run, of, begin_late):
        """The sectors that warps touch, summed over all rows. Warps begin where the row begins, or at a sector
        boundary."""
        total = 0
        for row in range(run.height):
            begin = row * run.width
            for first in [begin] if begin_late else range(begin, begin + run.width, 32):
                last = min(first + (run.width if begin_late else 32), begin + run.width) - 1
                total += last // of - first // of + 1
        return total

    def whole(run, column):
        return count(run, column)

    def start(run):
        return pieces(run, 8, False)

    def target(run):
        return pieces(run, 8, True)

    def requests(run):
        return run.height * math.ceil((run.width + 31) / 32)

    def costs(seed):
        keys = wide(seed)
        return [
            cheaper(way, 40, f"From 5 sectors for a warp's {way[:-1]} to 4.", keys, f"sectors of {way}", start,
                    target, value=whole, unit="") for way in ("loads", "stores")]

    def limits(seed):
        keys = wide(seed)
        return [at_most(keys, way, requests, value=whole, unit="") for way in ("loads", "stores")] + [
            at_most(keys, "warps", lambda run: 2 * requests(run), value=whole, unit=""), launches(keys, 2),
            at_most(keys, "requests to the tile", lambda run: 2 * requests(run), value=whole, unit=""),
            at_most(keys, "waits of warps at barriers", lambda run: 4 * requests(run), value=whole, unit=""),
            enough_blocks(keys)]
    return Exercise(1, "step01_copy", "copyAligned", "copy", "copies", lambda seed: correctness(seed), costs, limits)


def of_one_cost(number, folder, kernel, cost, limits, teacher=Teacher(), produces="transpose",
                registers="transposes"):
    """An exercise whose 80 points for cost are for one count at whole tiles. `cost`: the check's name and text, the
    column, and its number in the hand-out and at the target; `limits`: a function of the runs."""
    name, what, column, start, target = cost

    def costs(seed):
        return [cheaper(name, 80, what, cost_shapes(seed), column, start, target)]

    def all_limits(seed):
        keys = cost_shapes(seed)
        return [*limits(keys), enough_blocks(keys)]
    return Exercise(number, folder, kernel, produces, registers,
                    lambda seed: correctness(seed, teacher=teacher), costs, all_limits)


def second_exercise():
    return of_one_cost(
        2, "step02_naive", "transposePatches",
        ("stores", "From 32 sectors for a store of 32 floats to 4, with at most 8 for a load.", "sectors of stores", 32,
         4),
        lambda keys: [*needs(keys, sectors=()), at_most(keys, "sectors of loads", 8),
                      condition(keys, shared(0, 0, "none"))])


def third_exercise():
    return of_one_cost(
        3, "step03_coalesced", "transposeHalfTile",
        ("stores", "From 32 sectors for a store of 32 floats to 4.", "sectors of stores", 32, 4),
        lambda keys: [*needs(keys, sectors=["loads"]), through_tile(keys),
                      condition(keys, shared(2048, 2048, "2048: a tile of 32 x 16 floats"))])


def fourth_exercise():
    return of_one_cost(
        4, "step04_padding", "transposeSwizzledTall",
        ("conflicts", FILL_AND_EMPTY.format(16), "wavefronts", 17, 2),
        lambda keys: [*needs(keys), through_tile(keys),
                      condition(keys, shared(2048, 2048, "2048: 16 x 32 floats, and no padding"))])


def fifth_exercise():
    side = 64

    def stays(run):
        """Of a wrong element that has no mirror image: it belongs where it was."""
        wrong = next((finding.wrong for finding in run.findings if finding.wrong), None)
        if not wrong:
            return ""
        (row, column), source = wrong["element"], wrong["expected"]
        my, mx = row // side * side + column % side, column // side * side + row % side
        if source != [row, column] or (my < run.height and mx < run.width):
            return ""
        return (f"; the element at row {row}, column {column} belongs in its place: its mirror image in the tile, row "
                f"{my}, column {mx}, lies outside the matrix of {run.height} rows and {run.width} columns")

    # Padding removes the conflicts, which is most of the way. It costs 256 bytes that the task does not allow.
    return of_one_cost(
        5, "step05_decomposed", "turnTiles",
        ("conflicts", FILL_AND_EMPTY.format(32), "wavefronts", 33, 2),
        lambda keys: [*needs(keys, barriers=1, warps=0.5), through_tile(keys),
                      condition(keys, shared(1, 16384, "16384: 64 x 64 floats, and no padding"), divisor=2),
                      condition(keys, shared(1, 16640, "16384: 64 x 64 floats, and no padding"))],
        Teacher(cause=stays), "tile-local transpose", "transposes_each_tile(64)")


def sixth_exercise():
    looping, tall = (1100, 1060, "float", MACHINE), (1, 40001, "float", MACHINE)

    # Of the hand-out's order, with its race mended.
    given = {(1024, 1024): 5.3, (1536, 1024): 3.9, (1024, 1536): 5.3, (2048, 1024): 6.7, (1024, 2048): 5.3}

    def camping(seed):
        # Rows in idata and in odata are whole rounds of the eight partitions.
        return [(*shape, "float", "gtx280") for shape in ((1024, 1024), Random(seed).choice(list(given)[1:]))]

    def start(run):
        return given[run.width, run.height]

    diagonal = "let blocks that run together take tiles of different rows and of different columns"

    def busiest(run, _):
        return max(number(run, "busiest_partition_of_loads"), number(run, "busiest_partition_of_stores"))

    def costs(seed):
        # At the first shape each block has one tile and does not loop, so the order is judged before the race is
        # mended, and earns all of its points then.
        keys = camping(seed)
        return [
            cheaper(
                "partitions", 40, "At 1024 x 1024 on a GTX 280, from 5.3 times the mean traffic in the busiest "
                "partition to 1.25 times.", keys[:1], "times the mean traffic in the busiest partition", start, 1.25,
                value=busiest, unit="", hint=diagonal, despite=("clean", "shapes", "tall")),
            cheaper("looping", 20, "The same for a larger matrix, whose blocks take several tiles each.", keys[1:],
                    "times the mean traffic in the busiest partition", start, 1.25, value=busiest, unit="",
                    hint=diagonal)]

    def grid(run):
        n = number(run, "blocks_launched")
        return "" if n == 1024 else f"{n:.0f} blocks at {run.shape}, and the task asks for 32 x 32"

    # A matrix with more tiles than CUDA allows blocks takes seconds to simulate. This grid is the same for every
    # matrix.
    def loops(found):
        wrong = gets_right([looping, tall])(found)[1]
        return wrong or next(
            (f"{hint}." for key in (looping, tall) if found[key].row and (hint := grid(found[key]))), "")

    def limits(seed):
        keys = cost_shapes(seed)
        return ([limit for limit in needs(keys)[1:]]
                + [at_most(keys, "wavefronts", 2), condition(camping(seed), grid), condition([looping], grid)])

    # The barrier is half of the task: 30 points, in clean and tall. The order of the tiles is the other half.
    points = {"squares": 4, "shapes": 4, "double": 2, "clean": 10}
    more = Check("tall", 20, "Right for more tiles than blocks, with 32 x 32 blocks for every shape.", [looping, tall],
                 all_or_nothing(loops))
    return Exercise(6, "step06_diagonal", "transposeDiagonalLoop", "transpose", "transposes",
                    lambda seed: [*correctness(seed, [looping], points), more], costs, limits)


def seventh_exercise():
    def vector(run):
        return 2 if run.type == "double" else 4

    def no_vectors(run):
        return "" if run.width % vector(run) == 0 else (
            f"; a row of {run.width} {run.type}{'s'[:run.width != 1]} is no whole number of vectors of "
            f"{vector(run)}: check that copyElements is launched for this width")

    def telling(run):
        """A vector where none may begin says most. A launch that is refused says least: for a narrow matrix, a grid of
        0 blocks follows from a launch of vectors where none fit."""
        return 0 if reports(run, "misaligned-access") else 2 if reports(run, "refused-launch") else 1

    def shapes(seed):
        random = Random(seed)
        width, height = of_large(seed)
        # The last has edges: its sides are multiples of 4, and not of 8. A warp's 32 vectors are 128 floats.
        return (runs_of([(256, 256), (128 * random.randrange(2, 4), 64), (width & ~7 | 4, height & ~7 | 4)], "float"),
                runs_of([(256, 63), (128 * random.randrange(1, 4), random.randrange(61, 200, 2))], "float"),
                runs_of([(256, 256), (64 * random.randrange(2, 6), 96)], "double"))

    def costs(seed):
        even, odd, double = shapes(seed)
        hint = "if each thread moves a Vector<T>, one request moves 32 of them"
        return [
            cheaper("requests", 50, "From 1 load and 1 store for each 32 floats to a quarter of that.", even,
                    "loads and stores", 2, 0.5, hint=hint),
            cheaper(
                "height", 15, "The same for a height that is not a multiple of a vector's length; a copy's "
                "rows keep their length.", odd, "loads and stores", 2, lambda run: 0.5 *
                (run.height + 3) / run.height, hint=hint),
            cheaper("doubles", 15, "The same for doubles, to half.", double, "loads and stores", 2, 1, hint=hint)]

    def limits(seed):
        even, odd, double = shapes(seed)
        keys = even + odd

        return [at_most(keys, "sectors of loads", 4.2), at_most(keys, "sectors of stores", 4.2),
                at_most(keys + double, "warps", lambda run: 1.5 / vector(run), why=", with a vector for each thread: "
                        "divide the grid by the vector's length"),
                at_most(keys, "wavefronts", 2.1), at_most(keys, "waits of warps at barriers", 1),
                launches(keys + double), through_tile(even), enough_blocks(keys)]
    return Exercise(7, "step07_long_pieces", "copyVectorized", "copy", "copies",
                    lambda seed: correctness(seed, teacher=Teacher(telling, no_vectors)), costs, limits)


# Of a resource that limits the modelled time: what to do about it.
REMEDIES = {
    "L2: lines touched by stores": "let the lanes of a warp store side by side",
    "L1: lines touched by loads": "let the lanes of a warp load side by side",
    "shared-memory wavefronts": "look for bank conflicts in the tile",
    "latency: loads in flight": "let each thread start several loads before its first store",
    "start of blocks": "let each block do more",
    "DRAM, scattered stores": "let the blocks that run together store next to each other",
    "DRAM, local memory": "index local arrays in loops that nvcc can unroll",
    "DRAM, halves of lines": "let each block use whole lines of 128 bytes",
    "DRAM bandwidth": "load and store each element once, and let the blocks that run together store next to each other",
}


def of_a_copy(run):
    """The modelled bandwidth in percent of a copy's. The model has a full grid; of fewer blocks than SMs, the others
    idle."""
    return 100 / number(run, "model_time_over_copy") * min(1, number(run, "blocks_launched") / SMS)


def between(percent, start, target):
    """The share of the way from `start` to `target`."""
    return max(0.0, min(1.0, (percent - start) / (target - start)))


def eighth_exercise():
    start, target = 11.8, 93

    def shapes(seed):
        random = Random(seed)
        return runs_of([(8192, 512), (2 * random.randrange(4000, 4200) + 1, 2 * random.randrange(270, 284) + 1),
                        (32 * random.randrange(50, 60), 32 * random.randrange(40, 50))], "float")

    def costs(seed):
        def judge(found):
            judged, missing = with_result(found, shapes(seed))
            if not judged:
                return 0.0, missing
            run = min(judged, key=of_a_copy)
            limit = run.row["model_time_over_copy_limit"]
            share = between(of_a_copy(run), start, target)
            why = too_few_blocks(run) or f"limited by {limit}; {REMEDIES.get(limit, 'look at CHECK=--explain')}"
            hint = "" if share == 1 else (f"{of_a_copy(run):.1f} % of a copy's bandwidth at {run.shape}, by the model; "
                                          f"the hand-out has {start} %, the target is {target} %; {why}.")
            return share, f"{hint} {missing}".strip()

        return [
            Check("speed", 80, f"From {start} % of a copy's bandwidth to {target} %, by the model of the H200.",
                  shapes(seed), judge)]

    def limits(seed):
        # What the model does not count.
        keys = shapes(seed)
        return [at_most(keys, "warps", 1.3), at_most(keys, "waits of warps at barriers", 2.6),
                launches(keys, 2)]

    return Exercise(8, "step07_long_pieces", "transposeFast", "transpose", "transposes", lambda seed: correctness(seed),
                    costs, limits, "exercise08.cu",
                    lambda percent, wanted: between(percent, start, wanted))


def ninth_exercise():
    # GPUs that have no rows of a small matrix, and numbers that no side is a multiple of.
    machines = [f"{gpus} x {MACHINE}" for gpus in (1, 2, 3, 5, 8)]

    # Of the hand-out's order: what the busiest GPU receives, over the mean. Each GPU has whole tiles.
    given = {(2048, 2048, 4): 3.5, (1920, 1440, 3): 2.8, (1920, 1920, 5): 3.88, (1920, 1728, 6): 3.66,
             (2016, 1792, 7): 3.33}

    def shapes(seed):
        # A T4 runs few blocks at a time, so the order of the blocks shows in a small matrix.
        return [
            (w, h, "float", f"{gpus} x t4") for w, h, gpus in (next(iter(given)), Random(seed).choice(list(given)[1:]))]

    def crossing(run):
        """Bytes that have to cross: all but each GPU's own columns of its own rows."""
        def part(n, g):
            return n * (g + 1) // run.gpus - n * g // run.gpus
        return 4 * (run.width * run.height - sum(part(run.width, g) * part(run.height, g) for g in range(run.gpus)))

    def sent(run, column="bytes between GPUs"):
        return count(run, column) / crossing(run)

    def busiest(run, _):
        return number(run, "busiest_receiver")

    def by_rows(run):
        return sent(run) <= 2

    def conflicts(keys):
        check = cheaper("conflicts", 15, FILL_AND_EMPTY.format(32), keys,
                        "wavefronts", 33, 2)

        def judge(found):
            # A kernel without a tile has no conflicts, and gains nothing by that.
            if not all(by_rows(found[key]) for key in keys if found[key].row):
                return 0, "Not judged while more than 2 bytes cross for each byte that has to."
            return check.judge(found)
        return Check(check.name, check.points, check.what, check.runs, judge)

    def costs(seed):
        keys = shapes(seed)
        return [
            cheaper("crossing", 40, "From 8 bytes between GPUs for each byte that has to cross to 1.", keys,
                    "bytes between GPUs", 8, 1, value=sent, unit=" for each byte that has to cross"),
            cheaper(
                "receivers", 25, "At 2048 x 2048 on four T4s, from 3.5 times the mean traffic into the "
                "busiest GPU to 1.05 times.", keys, "times the mean traffic into the busiest GPU",
                lambda run: given[run.width, run.height, run.gpus], 1.05, value=busiest, unit="",
                hint="let the GPUs begin with different receivers"),
            conflicts(keys)]

    # The simulator knows in which order blocks begin. A block that takes several tiles would hide the order of the
    # tiles.
    def one_tile(run):
        least, n = run.width * run.height / 1024, number(run, "blocks_launched")
        return "" if n >= least else (f"{n:.0f} blocks at {run.shape}, and the task asks for a block for each 32 x 32 "
                                      f"elements: {least:.0f}")

    def what_stays(run):
        n = per_32(run, "sectors of stores")
        return "" if n <= 4 * (1 + 1e-9) or not by_rows(run) else (
            f"{figure(n)} sectors of stores for each 32 elements at {run.shape}, and the task "
            f"needs 4, also where elements stay on their GPU{blame(run, 'store', 'global')}")

    def limits(seed):
        keys = shapes(seed)
        return [*needs(keys, sectors=["loads"], launched=lambda run: run.gpus),
                condition(keys, shared(0, 4096, "at most 4096: a tile of 32 x 32 floats")),
                condition(keys, one_tile), condition(keys, what_stays)]

    def right(seed):
        return correctness(seed, machines=machines, whole=machines[:2],
                           shapes="every shape and for 1, 2, 3, 5 and 8 GPUs")

    return Exercise(9, "step08_gpus", "transposeExchange", "transpose", "transposes", right, costs, limits,
                    "exercise09.cu", gpus=3)


EXERCISES = {
    e.number: e for e in (first_exercise(), second_exercise(), third_exercise(), fourth_exercise(), fifth_exercise(),
                          sixth_exercise(), seventh_exercise(), eighth_exercise(), ninth_exercise())}
