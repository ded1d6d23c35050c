"""The tables of the subject pages and of the lab, from the committed measurements."""

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
    return read(DATA / name)


def compared(kernels, types):
    measured = {(r["kernel"], r["type"]): float(r["bandwidth_gbs"]) for r in rows_of("h200_steps.csv")
                if r["width"] == r["height"] == "16384" and r["bandwidth_gbs"]}
    return Table("", ["kernel", "elements of a thread", *types],
                 [[f"`{kernel}`", what, *(f"{measured[kernel, t]:.0f}" for t in types)]
                  for kernel, what in kernels.items()],
                 "GB/s, effective bandwidth, 16384², measured on an H200.", texts=2)


def widths():
    return compared(WIDTHS, ["char", "half", "float", "double"])


def constants():
    table = compared(CONSTANTS, ["float", "double"])
    table.rows[0][1] = "what it reads in addition to the vectors"
    return table


def timing():
    return Table("", ["how", "floats", "launches", "passes in each", "µs per pass", "GB/s"], [
        [r["method"].replace(";", ","), f"{r['width']}²", r["launches"], r["passes"], f"{float(r['us_per_pass']):.2f}",
         f"{float(r['bandwidth_gbs']):.0f}"] for r in rows_of("h200_timing.csv")], "H200, measured.")


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
        "(`git show bf794ff:tools/instructions.py`). LDG and STG load from and store to global memory, LDS and STS "
        "shared memory. Loads in a row: LDGs with no store between them.")


def transfers():
    rows = {(r["way"], r["memory"], int(r["bytes"])): float(r["bandwidth_gbs"]) for r in rows_of("h200_transfers.csv")}
    ways = [(way, memory) for way in ("to_device", "to_host") for memory in ("pageable", "pinned")]
    return Table(
        "", ["bytes", "to the GPU, pageable", "pinned", "to the host, pageable", "pinned"],
        [[bytes_text(size), *(f"{rows[way, memory, size]:.2f}" for way, memory in ways)]
         for size in sorted({size for _, _, size in rows})],
        "GB/s, H200 and its host, measured.\n\n![Bandwidth over the size of a copy, to the GPU and to the host: pinned "
        "memory above pageable](../plots/figures/svg/transfers.svg)")


BATCH_WAYS = ("a launch for each", "a graph of a launch for each", "one launch for all")


def batches():
    rows = {(int(r["n"]), r["trial"]): r for r in rows_of("h200_batches.csv")}
    lines = []
    for n in sorted({n for n, _ in rows}):
        tried = [rows[n, f"{way}, tile of 64 x 64, 16 warps"] for way in BATCH_WAYS]
        lines.append([f"{n}²", tried[0]["matrices"], *(f"{float(r['us_per_matrix']):.3g}" for r in tried),
                      *(f"{float(r['of_memcpy']):.3f}" for r in tried)])
    return Table("", ["floats", "matrices", *(f"µs per matrix, {way}" for way in BATCH_WAYS),
                      *(f"of cudaMemcpy, {way}" for way in BATCH_WAYS)],
                 lines, "H200, measured. `cudaMemcpy` copies all matrices at once.")


def pieces(name):
    """What bench/pieces.cu measured on an H100 (float, 16384²), as shares of cudaMemcpy's bandwidth in the same run.
    `order` shows each side of a transpose alone, `flight` fewer blocks on an SM, `lines` rows that begin elsewhere."""
    keys = ("side", "wide", "high", "blocks_per_sm", "order", "offset")
    rows = {tuple(r[k] for k in keys): f"{float(r['of_memcpy']):.2f}" for r in rows_of("h100_pieces.csv")
            if (r["type"], r["width"], r["tiles_per_block"], r["loads_first"]) == ("float", "16384", "1", "1")}

    def share(side, wide, high, blocks, order, offset=0):
        return rows.get((side, str(wide), str(high), str(blocks), order, str(offset)), NONE)
    orders = ("rows", "columns")
    if name == "order":
        heading = ["tile", "bytes of a piece of `idata`", "reads alone, rows", "reads alone, columns",
                   "bytes of a piece of `odata`", "writes alone, rows", "writes alone, columns"]
        lines = [[f"{wide} × {high}", f"{4 * wide}", *(share("read", wide, high, blocks, o) for o in orders),
                  f"{4 * high}", *(share("write", wide, high, blocks, o) for o in orders)]
                 for wide, high, blocks in ((32, 32, 8), (64, 32, 8), (32, 64, 8), (64, 64, 4), (128, 64, 4),
                                            (128, 128, 2))]
    elif name == "flight":
        heading = ["tile", "blocks on an SM", "KiB of loads on an SM, at most", *orders]
        lines = [[f"{side} × {side}", f"{blocks}", f"{blocks * side * side * 4 >> 10}",
                  *(share("transpose", side, side, blocks, o) for o in orders)]
                 for side, most in ((32, (2, 4, 6, 8, 16)), (64, (1, 2, 3, 4))) for blocks in most]
    else:
        heading = ["tile", *(f"{side} alone, pieces begin {start}" for side in ("reads", "writes")
                             for start in ("with a line", "with a sector", "inside a sector"))]
        lines = [[f"{wide} × {high}", *(share(side, wide, high, blocks, "columns", offset)
                                        for side in ("read", "write") for offset in (0, 8, 1))]
                 for wide, high, blocks in ((32, 32, 8), (64, 64, 4), (128, 64, 4))]
    return Table("", heading, lines, "H100, measured, float, 16384²: shares of `cudaMemcpy`'s bandwidth in the same "
                                     "run. A side alone moves half the bytes.")


def readonly():
    steps = {r["kernel"]: r["bandwidth_gbs"] for r in rows_of("h200_steps.csv")
             if (r["width"], r["height"], r["type"]) == ("8192", "8192", "float")}
    paths = {r["path"].replace(";", ","): r["bandwidth_gbs"] for r in rows_of("h200_readonly.csv")}
    kernels = {
        "plain": "transposeCol", "__ldg()": "transposeColLdg", "__restrict__": "transposeColRestrict",
        "texture, linear memory": "", "texture, CUDA array": ""}
    return Table("", ["loads", "kernel of step 2", "`./readonly`"],
                 [[f"`{path}`" if path.startswith("__") else path,
                   f"{float(steps[kernel]):.0f}" if kernel else "refused", f"{float(paths[path]):.0f}"]
                  for path, kernel in kernels.items()],
                 "GB/s, effective bandwidth of the transpose by columns, 8192² float, measured on an H200.")


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
    micro = {r["constant"]: float(r["value"]) for r in rows_of("h200_micro.csv")}
    lines = []
    for name, (where, who, life, size, _, bandwidth, _) in MEMORIES.items():
        clocks, ns, gbs = (f"{value:.0f}" if value else NONE for value in measured_of(name, micro))
        lines.append([name, where, who, life, size, clocks, ns, gbs if bandwidth else ""])
    return Table(
        "", ["memory", "where", "seen by", "lives", "size, H200", "latency, clocks", "latency, ns", "bandwidth, GB/s"],
        lines, "H200. Sizes: CUDA C Programming Guide and the driver. Latencies and bandwidths: measured by "
               "`bench/microbench.cu`, bandwidths of all SMs together; of constant memory, 4 bytes for a whole warp.",
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


def profile(step):
    """The command of a profiler for one step, and the lines of what it prints that carry the lesson."""
    kernels, names = PROFILES[step]
    # How busy the memory is was asked of large matrices.
    side, file = ("16384", DATA / "h200_limits.csv") if "dram_busy" in names else ("2048", COUNTS / "h200_profile.csv")
    counts = {r["kernel"]: r for r in read(file) if (r["width"], r["height"], r["type"]) == (side, side, "float")}
    lines = [[f"`{METRICS[MEASURED[name]]}`", *(spaced(counts[kernel][MEASURED[name]]) for kernel in kernels)]
             for name in names]
    table = Table("", ["metric", *(f"`{kernel}`" for kernel in kernels)], lines, f"{side}² float.")
    return (f"```sh\nncu --clock-control none --kernel-name 'regex:^({'|'.join(kernels)})' \\\n"
            f"    --metrics {','.join(METRICS[MEASURED[name]] for name in names)} \\\n"
            f"    ./{step} --device cuda --size {side} --once --kernel {','.join(kernels)}\n```\n\n{table.markdown()}")


def sanitizer():
    """The commands of compute-sanitizer, and the last lines that it printed for every step."""
    tools = ("memcheck", "racecheck")
    found = {(r["program"], r["tool"]): r["summary"] for r in read(COUNTS / "h200_sanitizer.csv")
             if (r["width"], r["height"]) == ("333", "555")}
    (ends,) = {tuple(found[f"{step} --all", tool] for tool in tools) for step in PROFILES}
    commands = "\n".join(f"compute-sanitizer --tool {tool} ./step04 --device cuda --size 333x555 --once --all"
                         for tool in tools)
    first, *_, last = PROFILES
    return (f"```sh\n{commands}\n```\n\nOn the H200 they ended with {' and '.join(f'`{end}`' for end in ends)}, "
            f"for {first} to {last}.\n")
