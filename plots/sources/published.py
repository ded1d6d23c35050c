"""plots/published.csv as results of the machines that it names: the claims are judged by them, too."""

import functools
import pathlib

import results as reader

PATH = pathlib.Path(__file__).resolve().parent.parent / "published.csv"
TO_OURS = {"GiB/s": ("bandwidth_gbs", 1.073741824), "ms": ("time_median_ms", 1), "s": ("time_median_ms", 1e3)}
KERNELS = {
    "W1": "copy", "W2": "copySharedMem", "W3": "transposeNaive", "W4": "transposeCoalesced",
    "W5": "transposeNoBankConflicts", "W6": "transposeFineGrained", "W7": "transposeCoarseGrained",
    "W8": "transposeDiagonal", "B1": "transposeSerialRead", "B2": "transposeSerialWrite", "B3": "transposeRow1D",
    "B4": "transposeCol1D", "B5": "transposeRow16", "B6": "transposeTile16", "B7": "transposeTile16Padded",
    "B8": "transposeDiagonal16", "B9": "transposeLoopingBlocks", "F1": "copyRow", "F2": "copyCol", "F3": "transposeRow",
    "F4": "transposeCol", "F5": "transposeRowUnrolled", "F6": "transposeColUnrolled", "F9": "transposeCol"}
# Published once in a comparison of kernels and once in one of blocks; and a gpu_2_2 with the tile of its rival.
OURS_BUT = {("block shapes", "F9", "32x32"): None, ("9.3", "B7", ""): "transposeTile32Padded"}


@functools.cache
def figures():
    """All rows, as dictionaries of text."""
    problems = []
    _, rows = reader.read(PATH, problems)
    if problems:
        raise ValueError(problems[0])
    return [row for _, row in rows]


def results_row(r, kernel, share=1):
    """A published time or bandwidth as a row of a results file; share: of a time, so much."""
    column, factor = TO_OURS[r["unit"]]
    cpu = r["machine"].endswith("CPU")
    # Half a unit of the last digit printed, either way.
    spread = 100 * 10.0 ** -len(r["value"].partition(".")[2]) / float(r["value"])
    value = float(r["value"]) * factor * share
    moved = 2 * 4 * int(r["side"]) ** 2 / 1e6
    return {**dict.fromkeys(reader.NEEDED, ""), "backend": "cpu" if cpu else "cuda", "machine": r["machine"],
            "kernel": kernel, "source_row": r["source_row"], "type": "float", "width": r["side"], "height": r["side"],
            "verified": "yes", "time_spread_percent": f"{spread:.4f}", "commit": r["source"], "remark": r["remark"],
            "block": r["block"] if r["source_row"].startswith("F") else "", "printed": "yes",
            "time_median_ms": repr(value if column == "time_median_ms" else moved / value),
            "bandwidth_gbs": repr(value if column == "bandwidth_gbs" else moved / value)}


@functools.cache
def results(source):
    """What one source published of kernels that are here, too."""
    rows = []
    for r in figures():
        if r["source"] != source or r["quantity"] not in ("bandwidth", "time") or not r["side"]:
            continue
        kernel = OURS_BUT.get((r["table"], r["source_row"], r["block"]), KERNELS.get(r["source_row"]))
        if r["source_row"] == "B10":  # there and back, in one figure
            rows += [results_row(r, name, 0.5) for name in ("hostToDevice", "deviceToHost")]
        elif kernel:
            rows.append(results_row(r, kernel))
    inside = {r["source_row"]: r for r in figures()
              if r["source"] == source and r["quantity"] == "bandwidth, passes inside the kernel"}
    for row in rows:
        r = inside.get(row["source_row"])
        if r and r["machine"] == row["machine"]:
            row.update(one_launch_bandwidth_gbs=repr(float(r["value"]) * TO_OURS["GiB/s"][1]), one_launch_memory="DRAM")
    return reader.Results(rows, [])


def quote(source, table):
    """All that a table has, in words."""
    return ", ".join(f"{r['kernel']} {r['quantity'] + ' ' if 'throughput' in r['quantity'] else ''}{r['value']} "
                     f"{r['unit']}"
                     for r in figures() if (r["source"], r["table"]) == (source, table))
