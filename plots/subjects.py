"""The tables of the subject pages, from the committed measurements. What nobody measured yet is said to be so."""

import pathlib
import statistics

from facts import METRICS, RUNGS
from tables import Table, read

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "plots/data"
COUNTS = ROOT / "tests/data"
NONE = "-"

# The kernels that each table compares, and what tells them apart.
WIDTHS = {
    "copyRow": "one element per thread",
    "copyRowUnrolled": "four, one after the other",
    "copyRowRestrict": "four, with `__restrict__`",
    "copyLooping1D": "a fixed grid, in a loop",
    "copyLooping2D": "a fixed grid, in two loops",
    "copyVector": "four in one access, at most 16 bytes",
}
CONSTANTS = {
    "addAligned": "no factor",
    "addScaled": "a factor in global memory",
    "addScaledConstant": "a factor in constant memory",
    "addScaledByLane": "a factor per lane in constant memory",
}

# What a profiler counts that carries the lesson of a step, and of which kernels.
PROFILES = {
    "step01": (["copy", "copySharedMem", "copyCol"], ["load_requests", "load_sectors", "duration"]),
    "step02": (["transposeNaive", "transposeCol"], ["load_sectors", "store_sectors", "duration"]),
    "step03": (["transposeCoalesced", "transposeTile16"], ["store_sectors", "shared_load_wavefronts", "duration"]),
    "step04": (["transposeNoBankConflicts", "transposeTile16Padded"],
               ["store_sectors", "shared_load_wavefronts", "duration"]),
    "step05": (["transposeFineGrained", "transposeCoarseGrained"],
               ["store_sectors", "shared_load_wavefronts", "duration"]),
    "step06": (["transposeDiagonal", "transposeSwappedRoles"], ["store_sectors", "shared_load_wavefronts", "duration"]),
    "step07": (["transposeLongPieces"], ["dram_busy", "l2_fabric_busy", "duration"]),
}
MEASURED = {  # their columns in the data
    "load_requests": "global_load_requests", "load_sectors": "global_load_sectors",
    "store_sectors": "global_store_sectors", "shared_load_wavefronts": "shared_load_wavefronts",
    "duration": "duration_ns", "dram_busy": "dram_busy_percent", "l2_fabric_busy": "l2_fabric_busy_percent"}


def rows_of(name):
    """The rows of a file of plots/data; none, if it was not measured yet."""
    return read(DATA / name) if (DATA / name).exists() else []


def noted(cells, note, command):
    """The note of a table; where a cell is missing, also how to measure it."""
    return note + (f" {NONE}: not measured yet ({command})." if any(NONE in line for line in cells) else "")


def compared(kernels, types):
    measured = {(r["kernel"], r["type"]): r["bandwidth_gbs"]
                for r in read(DATA / "h200_steps.csv")
                if r["width"] == r["height"] == "16384"}
    lines = [[
        f"`{kernel}`", what, *(f"{float(measured[kernel, t]):.0f}" if (kernel, t) in measured else NONE
                               for t in types)]
             for kernel, what in kernels.items()]
    return Table(
        "", ["kernel", "elements of a thread", *types], lines,
        noted(lines, "GB/s, effective bandwidth, 16384², measured on an H200.", "`python3 tools/gpu.py --out DIR new`"),
        texts=2)


def widths():
    return compared(WIDTHS, ["char", "half", "float", "double"])


def constants():
    table = compared(CONSTANTS, ["float", "double"])
    table.rows[0][1] = "what it reads in addition to the vectors"
    return table


def timing():
    lines = [[
        r["method"].replace(";", ","), f"{r['width']}²", r["launches"], r["passes"], f"{float(r['us_per_pass']):.2f}",
        f"{float(r['bandwidth_gbs']):.0f}"] for r in rows_of("h200_timing.csv")] or [["all seven", *[NONE] * 5]]
    return Table("", ["how", "floats", "launches", "passes in each", "µs per pass", "GB/s"], lines,
                 noted(lines, "H200, measured.", "`make timing`"))


def bytes_text(count):
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count // size} {unit}"
    return f"{count} bytes"


def exercises():
    """What hand-outs and solutions of the lab reach, and two thirds of the way between them, for instructors who grade
    bandwidth."""
    found = {}
    for row in read(COUNTS / "h200_lab.csv"):
        found.setdefault(int(row["exercise"]), {})[row["submission"]] = float(row["bandwidth_percent_of_memcpy"] or 0)

    def line(number):
        given, solved = found[number]["handed out"], found[number]["solved"]
        return [
            number, f"{given} %" if given else "wrong", f"{solved} %",
            f"{given + 2 / 3 * (solved - given):.0f} %" if solved > given + 1 else "no bandwidth"]
    return Table("", ["exercise", "handed out", "solved", "ask for"], map(line, sorted(found)),
                 "Shares of `cudaMemcpy`'s bandwidth, H200, measured. A hand-out with a wrong result has none. The "
                 "last column is two thirds of the way from the hand-out to the solution.")


# The kernels whose speed depends on what the compiler makes of them.
COMPILED = ["copy", "copyRowRestrict", "copySharedMem", *RUNGS]


def instructions():
    rows = {(r["kernel"], r["type"]): r for r in rows_of("instructions.csv")}
    kinds, types = ["ldg", "stg", "lds", "sts", "registers"], ["float", "double", "char"]
    return Table(
        "", ["kernel", *map(str.upper, kinds[:4]), "registers", *(f"loads in a row, {t}" for t in types)],
        [[f"`{kernel}`", *(rows[kernel, "float"][kind] for kind in kinds),
          *(rows[kernel, t]["loads_in_a_row"] for t in types)] for kernel in COMPILED],
        f"Instructions in a thread's machine code, float, nvcc {rows['copy', 'float']['nvcc']}, compute capability 9.0 "
        "(`python3 tools/instructions.py`). LDG and STG load from and store to global memory, LDS and STS shared "
        "memory. Loads in a row: LDGs with no store between them.")


def transfers():
    rows = {(r["way"], r["memory"], int(r["bytes"])): r["bandwidth_gbs"] for r in rows_of("h200_transfers.csv")}
    ways = [(way, memory) for way in ("to_device", "to_host") for memory in ("pageable", "pinned")]
    lines = [[bytes_text(size), *(f"{float(rows[way, memory, size]):.2f}" for way, memory in ways)]
             for size in sorted({size for _, _, size in rows})] or [["all", *[NONE] * 4]]
    return Table(
        "", ["bytes", "to the GPU, pageable", "pinned", "to the host, pageable", "pinned"], lines,
        noted(lines, "GB/s, H200 and its host, measured.", "`make transfers`") +
        ("\n\n![Bandwidth over the size of a copy, to the GPU and to the host: pinned memory above "
         "pageable](../plots/figures/svg/transfers.svg)" if rows else ""))


BATCH_TILE = ", tile of 64 x 64, 16 warps"
BATCH_WAYS = ("a launch for each", "a graph of a launch for each", "one launch for all")


def batches():
    rows = {(int(r["n"]), r["trial"]): r for r in rows_of("h200_batches.csv")}
    lines = [[f"{n}²", rows[n, BATCH_WAYS[0] + BATCH_TILE]["matrices"],
              *(f"{float(rows[n, way + BATCH_TILE]['us_per_matrix']):.3g}" for way in BATCH_WAYS),
              *(f"{float(rows[n, way + BATCH_TILE]['of_memcpy']):.3f}" for way in BATCH_WAYS)]
             for n in sorted({n for n, _ in rows})] or [["all", *[NONE] * 7]]
    return Table("",
                 ["floats", "matrices", *(f"µs per matrix, {way}" for way in BATCH_WAYS),
                  *(f"of cudaMemcpy, {way}" for way in BATCH_WAYS)],
                 lines, noted(lines, "H200, measured. `cudaMemcpy` copies all matrices at once.", "`make batches`"))


class Pieces:
    """What bench/pieces.cu measured on an H100 (float, 16384²), as shares of cudaMemcpy's bandwidth in the same run.
    `order` shows each side of a transpose alone, `flight` fewer blocks on an SM, `lines` rows that begin elsewhere."""

    def __init__(self, name):
        keys = ("side", "wide", "high", "tiles_per_block", "loads_first", "blocks_per_sm", "order", "offset")
        self.rows = {tuple(r[k] for k in keys): f"{float(r['of_memcpy']):.2f}" for r in rows_of("h100_pieces.csv")
                     if (r["type"], r["width"]) == ("float", "16384")}
        self.table = {"order": self.order, "flight": self.flight, "lines": self.lines}[name]()

    def order(self):
        tiles = [(32, 32, 8), (64, 32, 8), (32, 64, 8), (64, 64, 4), (128, 64, 4), (128, 128, 2)]
        lines = [[f"{wide} × {high}", f"{4 * wide}", *(self.one("read", wide, high, blocks, o) for o in ORDERS),
                  f"{4 * high}", *(self.one("write", wide, high, blocks, o) for o in ORDERS)]
                 for wide, high, blocks in tiles]
        return Table("", ["tile", "bytes of a piece of `idata`", "reads alone, rows", "reads alone, columns",
                          "bytes of a piece of `odata`", "writes alone, rows", "writes alone, columns"], lines, PIECES)

    def flight(self):
        lines = [[f"{side} × {side}", f"{blocks}", f"{blocks * side * side * 4 >> 10}",
                  *(self.one("transpose", side, side, blocks, o) for o in ORDERS)]
                 for side, most in ((32, (2, 4, 6, 8, 16)), (64, (1, 2, 3, 4))) for blocks in most]
        heading = ["tile", "blocks on an SM", "KiB of loads on an SM, at most", "rows", "columns"]
        return Table("", heading, lines, PIECES)

    def lines(self):
        tiles = [(32, 32, 8), (64, 64, 4), (128, 64, 4)]
        lines = [[f"{wide} × {high}", *(self.one(side, wide, high, blocks, "columns", offset)
                                        for side in ("read", "write") for offset in (0, 8, 1))]
                 for wide, high, blocks in tiles]
        starts = ["with a line", "with a sector", "inside a sector"]
        return Table("", ["tile", *(f"{side} alone, pieces begin {start}" for side in ("reads", "writes")
                                    for start in starts)], lines, PIECES)

    def one(self, side, wide, high, blocks, order, offset=0):
        return self.rows.get((side, str(wide), str(high), "1", "1", str(blocks), order, str(offset)), NONE)


ORDERS = ("rows", "columns")
PIECES = ("H100, measured, float, 16384²: shares of `cudaMemcpy`'s bandwidth in the same run. A side alone moves half "
          "the bytes.")


def readonly():
    steps = {r["kernel"]: r["bandwidth_gbs"] for r in read(DATA / "h200_steps.csv")
             if (r["width"], r["height"], r["type"]) == ("8192", "8192", "float")}
    paths = {r["path"].replace(";", ","): r["bandwidth_gbs"] for r in rows_of("h200_readonly.csv")}
    kernels = {
        "plain": "transposeCol", "__ldg()": "transposeColLdg", "__restrict__": "transposeColRestrict",
        "texture, linear memory": "", "texture, CUDA array": ""}
    def cell(found, key):
        return f"{float(found[key]):.0f}" if key in found else NONE

    lines = [[f"`{path}`" if path.startswith("__") else path, cell(steps, kernel) if kernel else "refused",
              cell(paths, path)] for path, kernel in kernels.items()]
    return Table("", ["loads", "kernel of step 2", "`./readonly`"], lines,
                 noted(lines, "GB/s, effective bandwidth of the transpose by columns, 8192² float, measured on an "
                              "H200.",
                       "`python3 tools/gpu.py --out DIR new`"))


# The memories of an H200, from the thread outwards: where, who sees it, how long it lives, its size, the rows of
# h200_micro.csv that are its latency and its bandwidth, and what makes GB/s of the latter.
MEMORIES = {
    "registers": ("in the SM", "one thread", "as the thread", "256 KiB per SM", "latency_registers", None, 0),
    "shared": ("in the SM", "one block", "as the block", "228 KiB per SM", "latency_shared", "wavefronts", 128e-9),
    "L1 cache": ("in the SM", "the SM's blocks", "until replaced", "256 KiB per SM, with shared", "latency_l1",
                 "l1_bandwidth", 1),
    "constant": ("in DRAM, cached in the SM", "all threads, to read", "as the program", "64 KiB", "latency_constant",
                 "constant_broadcast", 4e-9),
    "texture": ("in DRAM, through the L1", "all threads, to read", "as the allocation", "that of DRAM",
                "latency_texture", "texture_bandwidth", 1),
    "L2 cache": ("in the chip", "all threads", "until replaced", "60 MiB", "latency_l2", "l2_bandwidth", 1),
    "global (DRAM)": ("next to the chip", "all threads, and the host", "as the allocation", "141 GB", "latency_dram",
                      "stream", 1),
}


def measured_of(name, micro):
    """What was measured of one memory: its latency in clocks and in ns, and its GB/s; None for what was not. micro:
    {constant: its value}."""
    *_, latency, bandwidth, factor = MEMORIES[name]
    return micro.get(latency), micro.get(latency + "_ns"), micro[bandwidth] * factor if bandwidth in micro else None


def measured_words(name, micro):
    """The same in words, in two lines at most; that nothing was measured, where that is so."""
    clocks, _, gbs = measured_of(name, micro)
    return [f"{value:.0f} {unit}" for value, unit in ((clocks, "clocks"), (gbs, "GB/s")) if value] or ["not measured"]


def memories():
    micro = {r["constant"]: float(r["value"]) for r in read(DATA / "h200_micro.csv")}
    lines = []
    for name, (where, who, life, size, _, bandwidth, _) in MEMORIES.items():
        clocks, ns, gbs = (f"{value:.0f}" if value else NONE for value in measured_of(name, micro))
        lines.append([name, where, who, life, size, clocks, ns, gbs if bandwidth else ""])
    return Table(
        "", ["memory", "where", "seen by", "lives", "size, H200", "latency, clocks", "latency, ns", "bandwidth, GB/s"],
        lines,
        noted(lines,
              "H200. Sizes: CUDA C Programming Guide and the driver. Latencies and bandwidths: measured by "
              "`bench/microbench.cu`, bandwidths of all SMs together; of constant memory, 4 bytes for a whole warp.",
              "`make microbench`"),
        texts=5)


def errors():
    """How far the model's times are from the measured ones: kernels that were looked at, and those held out."""
    def near(rows):
        if not rows: return ["", "", ""]
        off = [abs(float(r["ratio"]) - 1) for r in rows]
        return [f"{sum(e <= 0.15 + 1e-9 for e in off)} of {len(off)}", f"{100 * statistics.mean(off):.1f}",
                f"{100 * max(off):.0f}"]

    groups = {}
    for row in read(DATA / "model_errors.csv"):
        groups.setdefault((row["machine"], row["type"], row["width"]), []).append(row)
    lines = [[card.upper(), f"{element} {width}²" if width else "from elsewhere",
              *near([r for r in rows if r["held_out"] == "no"])[:2], *near([r for r in rows if r["held_out"] == "yes"])]
             for (card, element, width), rows in groups.items()]
    return Table("", ["card", "kernels", "steps 1 to 3: within 15 %", "mean error, %", "held out: within 15 %",
                      "mean error, %", "largest, %"], lines,
                 "Modelled times, compared with measured ones. Held out: steps 4 to 7, and kernels from elsewhere. "
                 "Counted at 4096² and 8192². Larger sizes have the counts of 8192², scaled by the area.", texts=2)


def spaced(number):
    """Thousands apart."""
    return f"{int(number):,}".replace(",", " ") if number.isdigit() else number


class Profile:
    """The command of a profiler for one step, and the lines of what it prints that carry the lesson."""

    def __init__(self, step):
        self.step = step

    def markdown(self):
        kernels, names = PROFILES[self.step]
        # How busy the memory is was asked of large matrices.
        side, file = (("16384", DATA / "h200_limits.csv") if "dram_busy" in names
                      else ("2048", COUNTS / "h200_profile.csv"))
        counts = {r["kernel"]: r for r in read(file) if (r["width"], r["height"], r["type"]) == (side, side, "float")}
        lines = [[f"`{METRICS[MEASURED[name]]}`", *(spaced(counts[kernel][MEASURED[name]]) for kernel in kernels)]
                 for name in names]
        table = Table("", ["metric", *(f"`{kernel}`" for kernel in kernels)], lines, f"{side}² float.")
        command = "\n".join([
            f"ncu --clock-control none --kernel-name 'regex:^({'|'.join(kernels)})' \\",
            f"    --metrics {','.join(METRICS[MEASURED[name]] for name in names)} \\",
            f"    ./{self.step} --device cuda --size {side} --once --kernel {','.join(kernels)}"])
        return f"```sh\n{command}\n```\n\n{table.markdown()}"


class Sanitizer:
    """The commands of compute-sanitizer, and the last lines that it printed for every step."""

    def markdown(self):
        tools = ("memcheck", "racecheck")
        found = {(r["program"].removesuffix(" --all"), r["tool"]): r["summary"]
                 for r in read(COUNTS / "h200_sanitizer.csv")
                 if (r["width"], r["height"]) == ("333", "555") and r["tool"] in tools
                    and r["program"] in [f"{step} --all" for step in PROFILES]}
        (ends,) = {tuple(found[step, tool] for tool in tools) for step in PROFILES}
        commands = "\n".join(f"compute-sanitizer --tool {tool} ./step04 --device cuda --size 333x555 --once --all"
                             for tool in tools)
        first, *_, last = PROFILES
        return (f"```sh\n{commands}\n```\n\nOn the H200 they ended with {' and '.join(f'`{end}`' for end in ends)}, "
                f"for {first} to {last}.\n")
