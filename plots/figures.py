#!/usr/bin/env python3
"""The figures: what the steps reach, and why, drawn from results and from traces.

usage: python3 plots/figures.py OUTDIR [--results FILES...]

Writes every figure as OUTDIR/NAME.svg and .png. Bandwidths and times come from the files that `./stepNN --csv` writes:
those of plots/data, or FILES. What warps do is asked of the simulator: `./stepNN --trace` is run from the root of the
repository, on small matrices where they show enough; build the steps first (`make all`).

A function per figure: it takes rows, dictionaries as csv.DictReader gives them, or traces (traces.py), and the path of
the files to write, without .svg and .png. It returns None, or, where what it needs is missing, the reason why there is no
such figure; it has then written nothing. The files depend on nothing but the arguments: no date, no random name.
"""

import argparse
import concurrent.futures
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402: after the choice of Agg
from matplotlib.colors import BoundaryNorm, ListedColormap, to_rgb  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.patches import Circle, ConnectionPatch, Patch, Rectangle  # noqa: E402

import results as reader  # noqa: E402
from traces import read_trace  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "plots/data"

# Okabe and Ito's colours, which colour-blind readers tell apart.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = \
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#595959"

# The lesson kernels: step, and how their lines look.
LESSONS = {
    "copy": (1, GREY, "s", "--"),
    "copySharedMem": (1, GREY, "D", ":"),
    "transposeNaive": (2, RED, "v", "-"),
    "transposeCoalesced": (3, ORANGE, "o", "-"),
    "transposeNoBankConflicts": (4, GREEN, "^", "-"),
    "transposeFineGrained": (5, SKY, "<", "-."),
    "transposeCoarseGrained": (5, PURPLE, ">", "-."),
    "transposeDiagonal": (6, BLUE, "X", "--"),
    "transposeInFlight": (7, BLACK, "*", "-"),
}
COPY_ENGINE = "cudaMemcpy"
MODEL_BAND = 0.13  # how far the model of the H200 is from the measurement, at most

STYLE = {
    "font.family": "DejaVu Sans", "font.size": 10, "axes.titlesize": 10.5, "axes.labelsize": 10, "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5, "legend.fontsize": 9.5, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "grid.color": "#D9D9D9", "grid.linewidth": 0.7, "figure.facecolor": "white", "savefig.facecolor": "white", "hatch.linewidth": 0.8,
    "svg.fonttype": "path", "svg.hashsalt": "figures", "path.simplify": True, "figure.dpi": 150, "savefig.dpi": 150,
}
NOTE = {"fontsize": 9, "color": GREY, "ha": "left", "va": "bottom"}


def styled(draw):
    """A figure function, with the style in force while it draws."""
    def drawn(*arguments, **options):
        with matplotlib.rc_context(STYLE):
            try:
                return draw(*arguments, **options)
            finally:
                plt.close("all")
    drawn.__name__, drawn.__doc__ = draw.__name__, draw.__doc__
    return drawn


def canvas(width, height, rows=1, columns=1, *, left, right, bottom, top, wspace=0.0, hspace=0.0, **options):
    """A figure and its axes; margins and the space between in inches."""
    figure = plt.figure(figsize=(width, height))
    wide, high = (width - left - right - (columns - 1) * wspace) / columns, (height - bottom - top - (rows - 1) * hspace) / rows
    grid = figure.add_gridspec(rows, columns, left=left / width, right=1 - right / width, bottom=bottom / height, top=1 - top / height,
                               wspace=wspace / wide, hspace=hspace / high, **options)
    return figure, np.array([[figure.add_subplot(grid[i, j]) for j in range(columns)] for i in range(rows)])


def save(figure, stem, note):
    """Writes the figure and, below it, where its figures come from."""
    figure.text(0.08 / figure.get_figwidth(), 0.06 / figure.get_figheight(), note, **NOTE)
    figure.savefig(f"{stem}.svg", metadata={"Date": None, "Creator": None})
    figure.savefig(f"{stem}.png", metadata={"Software": None})


# Rows of results.

def squares(rows, backends, quantity, kernels=None, machine=None):
    """{kernel: {n: row}} of n x n floats that have the quantity; and the machines. Of several rows of one kernel and size,
    as cudaMemcpy has, beside every step, the median of those of the latest commit, the lower of two."""
    several, machines = {}, set()
    for row in rows:
        if row["backend"] in backends and row["type"] == "float" and row["width"] == row["height"] and row[quantity] \
                and (kernels is None or row["kernel"] in kernels) and machine in (None, row["machine"]):
            several.setdefault(row["kernel"], {}).setdefault(int(row["width"]), []).append(row)
            machines.add(row["machine"])
    return {kernel: {n: typical(same, quantity) for n, same in sizes.items()} for kernel, sizes in several.items()}, sorted(machines)


def typical(rows, quantity):
    latest = max(rows, key=lambda row: row["date_utc"])["commit"]
    rows = sorted((row for row in rows if row["commit"] == latest), key=lambda row: float(row[quantity]))
    return rows[(len(rows) - 1) // 2]


def one_machine(machines, what):
    """Why these rows make no figure, or None."""
    if not machines:
        return f"no rows of {what}"
    if len(machines) > 1:
        return f"rows of several machines ({', '.join(machines)}): name one of them"
    return None


def dates(rows):
    return ", ".join(sorted({row["date_utc"][:7] for row in rows}))


def measured_note(machine, rows, more=""):
    drivers = sorted({row["driver"] for row in rows if row["driver"]})
    return f"Measured on one {machine}{', driver ' + ', '.join(drivers) if drivers else ''}, {dates(rows)}.{' ' + more if more else ''}"


def spread(positions, gap):
    """The positions, moved apart as little as it takes to leave a gap between any two; order is kept."""
    order = np.argsort(positions, kind="stable")
    groups = []  # [sum of (position - index * gap), members]
    for index, i in enumerate(order):
        groups.append([positions[i] - index * gap, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, members = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += members
    moved = np.concatenate([np.full(members, total / members) for total, members in groups]) + np.arange(len(order)) * gap
    result = np.empty(len(order))
    result[order] = moved
    return result


def label_lines(axes, ends, inches_high):
    """Names of lines at their right ends: (x, y, text, colour) in data coordinates."""
    to_axes = axes.transData + axes.transAxes.inverted()
    points = np.array([to_axes.transform((x, y)) for x, y, _, _ in ends])
    for (x, y), at, (_, _, text, colour) in zip(points, spread(points[:, 1], 0.175 / inches_high), ends):
        axes.annotate(text, (x, y), (1.055, at), "axes fraction", "axes fraction", va="center", ha="left", fontsize=9.5,
                      color="black", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.8, "shrinkA": 1, "shrinkB": 5, "relpos": (0, 0.5)})


@styled
def bandwidth_steps(rows, stem, machine=None):
    """Effective bandwidth of each step's lesson kernel, as bars, against the copy and cudaMemcpy; where nothing was measured on
    a GPU, what the model of one says."""
    kernels, quantity = [COPY_ENGINE, *LESSONS], "bandwidth_gbs"
    found, machines = squares(rows, ["cuda"], quantity, kernels, machine)
    measured = bool(machines)
    if not measured:
        kernels, quantity = list(LESSONS), "model_bandwidth_gbs"
        _, machines = squares(rows, ["sim"], quantity, kernels, machine)
        found, machines = squares(rows, ["sim"], quantity, kernels, machines[0] if machines else None)
    if reason := one_machine(machines, "float squares, measured on a GPU or modelled"):
        return reason
    if missing := [k for k in kernels if k not in found]:
        return f"no rows of {', '.join(missing)}"
    common = set.intersection(*(set(sizes) for sizes in found.values()))
    if not common:
        return f"no size that all of {', '.join(kernels)} have results for"
    n = 16384 if 16384 in common else max(common)
    here = {kernel: sizes[n] for kernel, sizes in found.items()}
    gbs = {kernel: float(row[quantity]) for kernel, row in here.items()}

    looks = {"copy": ("#BFBFBF", "////", "copy"), "transpose": (BLUE, None, "transpose"),
             "half": ("#A9D5F2", "\\\\\\\\", "half a transpose: elements or tiles stay in place")}
    figure, [[axes]] = canvas(7, 4.4, left=2.33, right=0.6, bottom=1.0, top=0.42)
    limit = max(gbs.values()) * 1.01
    for i, kernel in enumerate(kernels):
        produces = here[kernel]["produces"]
        colour, hatch, _ = looks[produces if produces in looks else "half"]
        axes.barh(i, gbs[kernel], 0.72, color=colour, hatch=hatch, edgecolor="#404040", linewidth=0.7)
        axes.text(1.1, i, f"{gbs[kernel]:.{0 if measured else 1}f}", transform=axes.get_yaxis_transform(), va="center", ha="right")
    for kernel, line in ([(COPY_ENGINE, "-")] if measured else []) + [("copy", (0, (4, 2)))]:
        axes.axvline(gbs[kernel], color="black", lw=1.3, ls=line, zorder=4)
        axes.text(gbs[kernel], -0.62, kernel, ha="right", va="bottom", fontsize=9.5)
    axes.set_yticks(range(len(kernels)), [f"{kernel}   {LESSONS[kernel][0] if kernel in LESSONS else '–'}" for kernel in kernels])
    axes.text(-0.012, 1.025, "step", transform=axes.transAxes, ha="right", fontsize=9.5, color=GREY)
    axes.text(1.1, 1.025, "GB/s", transform=axes.transAxes, ha="right", fontsize=9.5, color=GREY)
    axes.tick_params(axis="y", length=0)
    axes.set(ylim=(len(kernels) - 0.45, -0.55), xlim=(0, limit), xlabel=f"effective bandwidth, GB/s ({n} × {n} float{'' if measured else ', model'})")
    axes.grid(axis="x")
    figure.legend([Patch(facecolor=c, hatch=h, edgecolor="#404040") for c, h, _ in looks.values()], [t for _, _, t in looks.values()],
                  loc="lower left", bbox_to_anchor=(0.0, 0.055), ncols=3, frameon=False, handlelength=1.6, columnspacing=1.4)
    save(figure, stem, measured_note(machines[0], here.values()) if measured else f"The model of the {machines[0]}: not measured.")
    return None


@styled
def bandwidth_over_n(rows, stem, machine=None):
    """Effective bandwidth of each lesson kernel and of cudaMemcpy over n."""
    found, machines = squares(rows, ["cuda"], "bandwidth_gbs", [*LESSONS, COPY_ENGINE], machine)
    if reason := one_machine(machines, "float squares measured on a GPU"):
        return reason
    found = {kernel: {n: row for n, row in sizes.items() if row["memory"] == "DRAM" and n & (n - 1) == 0} for kernel, sizes in found.items()}
    found = {kernel: sizes for kernel, sizes in found.items() if len(sizes) > 1}
    if not any(kernel in found for kernel in LESSONS):
        return "no lesson kernel was measured at two powers of two out of the cache's reach"
    figure, [[axes]] = canvas(7, 4.4, left=0.72, right=2.15, bottom=0.8, top=0.15)
    ends, used = [], []
    for kernel, (step, colour, marker, line) in {COPY_ENGINE: ("", GREY, "None", "-"), **LESSONS}.items():
        if kernel in found:
            sizes = sorted(found[kernel])
            gbs = [float(found[kernel][n]["bandwidth_gbs"]) for n in sizes]
            used += found[kernel].values()
            axes.plot(sizes, gbs, color=colour, marker=marker, ls=line, lw=2.4 if kernel == COPY_ENGINE else 1.5,
                      ms=9 if marker == "*" else 6, mec="white", mew=0.5)
            ends.append((sizes[-1], gbs[-1], f"{step} {kernel}".strip(), colour))
    axes.set_xscale("log", base=2)
    sizes = sorted({n for by_size in found.values() for n in by_size})
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.minorticks_off()
    axes.set(ylim=(0, None), xlabel="n, of n × n floats", ylabel="effective bandwidth, GB/s")
    axes.grid()
    label_lines(axes, ends, 4.4 - 0.95)
    save(figure, stem, measured_note(machines[0], used, "Matrices of more than the L2 together."))
    return None


@styled
def time_per_element(rows, stem, machine=None):
    """Time per element over n of serial functions on one core and of kernels, both axes logarithmic."""
    serial = {"transposeSerialRead": ("serial, reads rows", RED, "v", "-"),
              "transposeSerialWrite": ("serial, writes rows", ORANGE, "^", "--"),
              "transposeSerialBlocked": ("serial, in blocks", PURPLE, "o", "-"),
              "memcpy": ("memcpy", GREY, "None", "-")}
    kernels = {"transposeRow16": ("naive, 16 × 16 threads", SKY, "s", "-"),
               "transposeTile16Padded": ("tile 16 × 17", GREEN, "P", "--"),
               "transposeNaive": ("2 transposeNaive", SKY, "D", ":"),
               "transposeNoBankConflicts": ("4 transposeNoBankConflicts", BLUE, "X", "-"),
               "transposeInFlight": ("7 transposeInFlight", BLACK, "*", "-"),
               "cudaMemcpy": ("cudaMemcpy", GREY, "None", "-")}
    cpu, cpus = squares(rows, ["cpu"], "time_median_ms", serial)
    gpu, gpus = squares(rows, ["cuda"], "time_median_ms", kernels, machine)
    if reason := one_machine(gpus, "float squares measured on a GPU") if gpus or not cpus else None:
        return reason
    if len(cpus) > 1:
        return f"serial rows of several machines ({', '.join(cpus)})"
    if max((len(sizes) for found in (cpu, gpu) for sizes in found.values()), default=0) < 2:
        return "nothing was measured at two sizes"
    figure, [[axes]] = canvas(7, 4.7, left=0.8, right=2.12, bottom=0.98, top=0.15)
    ends, used, all_n = [], [], set()
    for found, looks in ((cpu, serial), (gpu, kernels)):
        for kernel, (name, colour, marker, line) in looks.items():
            if kernel in found:
                sizes = sorted(found[kernel])
                ps = [float(found[kernel][n]["time_median_ms"]) * 1e9 / n / n for n in sizes]
                used += found[kernel].values()
                all_n |= set(sizes)
                axes.plot(sizes, ps, color=colour, marker=marker, ls=line, lw=2.4 if marker == "None" else 1.5, ms=9 if marker == "*" else 6,
                          mec="white", mew=0.5)
                ends.append((sizes[-1], ps[-1], name, colour))
    axes.set(xscale="log", yscale="log", xlabel="n, of n × n floats", ylabel="time per element, ps")
    axes.set_xscale("log", base=2)
    powers = sorted(n for n in all_n if n & (n - 1) == 0)
    axes.set_xticks(powers, [str(n) for n in powers])
    axes.minorticks_off()
    axes.grid()
    low, high = axes.get_ylim()
    decades = [10.0 ** k for k in range(-3, 9) if low <= 10.0 ** k <= high]
    axes.set_yticks(decades, [f"{t:g}" for t in decades])
    # Between the lines of the host and those of the GPU, at their right ends.
    ends_of = {text: [float(sizes[max(sizes)]["time_median_ms"]) * 1e9 / max(sizes) ** 2 for sizes in found.values()]
               for text, found in (("one core of the host", cpu), ("GPU", gpu)) if found}
    middle = math.sqrt(min(ends_of.get("one core of the host", [high])) * max(ends_of.get("GPU", [low])))
    for text, factor in (("one core of the host", 1.6), ("GPU", 1 / 1.6)):
        if text in ends_of:
            axes.text(0.985, middle * factor, text, transform=axes.get_yaxis_transform(), fontsize=10, fontweight="bold", color=GREY, va="center", ha="right")
    label_lines(axes, ends, 4.7 - 1.13)
    note = []
    if cpus:
        note.append(f"Measured: serial functions and memcpy on one core of {cpus[0].replace('(R)', '')},")
    note.append(f"{'kernels' if cpus else 'Measured:'} and cudaMemcpy on one {gpus[0]}" if gpus else "")
    save(figure, stem, "\n".join(note).rstrip(",\n") + f", {dates(used)}.")
    return None


@styled
def predicted_measured(rows, stem, machine=None):
    """The model's time against the measured one, for each lesson kernel, at the largest square that has both."""
    measured, machines = squares(rows, ["cuda"], "time_median_ms", LESSONS, machine)
    models, modelled = squares(rows, ["sim"], "model_time_ms", LESSONS)
    if reason := one_machine(machines, "lesson kernels measured on a GPU"):
        return reason
    modelled = [m for m in modelled if machines[0].split()[-1].lower() in m.lower().split() or m == machines[0]]
    if not modelled:
        return f"no rows of a model of the {machines[0]} (./stepNN --device sim --machine)"
    models = {kernel: {n: r for n, r in sizes.items() if r["machine"] == modelled[0]} for kernel, sizes in models.items()}
    sizes = [set(measured.get(kernel, ())) & set(models.get(kernel, ())) for kernel in LESSONS]
    if not set.union(*sizes):
        return "no lesson kernel has both a measured time and a model's at one size"
    n = max(set.union(*sizes), key=lambda n: (sum(n in of for of in sizes), n))
    points = {k: (float(measured[k][n]["time_median_ms"]), float(models[k][n]["model_time_ms"]), models[k][n]["model_limit"])
              for k, of in zip(LESSONS, sizes) if n in of}

    limits = list(dict.fromkeys(limit for _, _, limit in points.values()))
    looks = dict(zip(limits, [("o", BLUE), ("^", GREEN), ("s", ORANGE), ("D", RED), ("v", PURPLE), ("P", SKY), ("X", BLACK)]))
    figure, [[whole, near]] = canvas(7, 4.15, 1, 2, left=0.62, right=1.38, bottom=1.65, top=0.3, wspace=0.6)
    every = [t for x, y, _ in points.values() for t in (x, y)]
    middle = np.median([x for x, _, _ in points.values()])
    close = [t for x, y, _ in points.values() if x < 1.5 * middle for t in (x, y)]
    for axes, values, margin in ((whole, every, 1.25), (near, close, 1.09)):
        low, high = min(values) / margin, max(values) * margin
        line = np.array([low, high])
        axes.fill_between(line, line * (1 - MODEL_BAND), line * (1 + MODEL_BAND), color="#E3E3E3", lw=0)
        for factor in (1 - MODEL_BAND, 1 + MODEL_BAND):
            axes.plot(line, line * factor, color="#8C8C8C", lw=0.8, ls=(0, (4, 3)))
        axes.plot(line, line, color="black", lw=1)
        axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal", xlabel="measured, ms")
        steps = [t for t in (0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 50) if low <= t <= high]
        steps = [t for t in steps if high / low < 2 or t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)]
        axes.set_xticks(steps, [f"{t:g}" for t in steps])
        axes.set_yticks(steps, [f"{t:g}" for t in steps])
        axes.minorticks_off()
        axes.grid()
        for kernel, (x, y, limit) in points.items():
            if low <= x <= high and low <= y <= high:
                marker, colour = looks[limit]
                axes.plot(x, y, marker, color=colour, ms=8, mec="black", mew=0.6, ls="none")
    whole.set_ylabel("model, ms")
    whole.set_title("all lesson kernels")
    near.set_title("the framed corner")
    # Names: on the left of those that stand alone, on the right of all others.
    place(whole, {k: p for k, p in points.items() if p[0] >= 1.5 * middle}, -1)
    place(near, {k: p for k, p in points.items() if p[0] < 1.5 * middle}, 1)
    box = near.get_xlim() + near.get_ylim()
    whole.add_patch(Rectangle((box[0], box[2]), box[1] - box[0], box[3] - box[2], fill=False, ec="black", lw=0.8))
    handles = [Line2D([], [], marker=looks[limit][0], color=looks[limit][1], mec="black", mew=0.6, ms=8, ls="none") for limit in limits]
    handles += [Line2D([], [], color="black", lw=1), Patch(facecolor="#E3E3E3", edgecolor="#8C8C8C", ls="--")]
    figure.legend(handles, limits + ["model = measured", f"within {100 * MODEL_BAND:.0f} %"], loc="lower left", bbox_to_anchor=(0.0, 0.055),
                  ncols=2, frameon=False, title="what the model says limits the kernel", alignment="left", title_fontsize=9.5,
                  labelspacing=0.3, columnspacing=1.5)
    save(figure, stem, f"{n} × {n} float. Measured on one {machines[0]}, {dates(measured[k][n] for k in points)}; model of the {modelled[0]}, which is a roofline.")
    return None


def place(axes, points, side):
    """Names beside points, apart from each other."""
    if not points:
        return
    ends = axes.transAxes.inverted()
    at = np.array([ends.transform(axes.transData.transform(p[:2])) for p in points.values()])
    for (kernel, _), (x, y), moved in zip(points.items(), at, spread(at[:, 1] - 1e-6 * at[:, 0], 0.08)):
        name = f"{LESSONS[kernel][0]} {kernel.removeprefix('transpose')}"
        axes.annotate(name, (x, y), (x - 0.055 if side < 0 else max(at[:, 0].max(), x) + 0.06, moved), "axes fraction", "axes fraction", fontsize=9,
                      ha="right" if side < 0 else "left", va="center", arrowprops={"arrowstyle": "-", "lw": 0.6, "color": GREY, "shrinkB": 5, "shrinkA": 1},
                      annotation_clip=False, zorder=1.5)


# Traces.

def unfit(*wanted):
    """Why these traces make no figure, or None: (trace, what must be in it: (memory, access) ...) each."""
    for trace, *needed in wanted:
        if trace is None:
            return "a trace is missing"
        for memory, access in needed:
            if not len(trace.select(memory, access)):
                return f"{trace.path}: no {access}s of {memory} in the trace"
    return None


def counted_note(*traces, more=""):
    machines = list(dict.fromkeys(trace.machine for trace in traces))
    matrices = list(dict.fromkeys(f"{trace.width} × {trace.height} {trace.type}" for trace in traces))
    return f"Traced and counted by the simulator for the {', '.join(machines)}; {', '.join(matrices)}.{' ' + more if more else ''}"


def pitch(trace, memory):
    """Bytes from one row to the next; of odata, if it is the transposed matrix."""
    return (trace.width if memory == "idata" else trace.height) * trace.element_bytes


def places(trace, request, memory):
    """(row, column) of the elements that a request touches, lane by lane."""
    offsets = request.offsets[request.offsets >= 0]
    return np.stack([offsets // pitch(trace, memory), offsets % pitch(trace, memory) // trace.element_bytes], axis=1)


def one(trace, index):
    """A single request, as a trace of one."""
    keep = np.zeros(len(trace), bool)
    keep[index] = True
    return type(trace)(trace.of, {name: getattr(trace, name)[keep] for name in trace.FIELDS})


def the_way(trace, block, warp, nth):
    """What becomes of the rows of a tile. {carrier: {memory: [(row, column) of each lane]}}: `reads`, the elements of the nth
    row that the warp reads, and `writes`, those of the nth row that it writes; the tile's places are byte offsets."""
    tile = trace.select(block=block)
    loads, fills = tile.select("idata", "load"), tile.select("shared", "store")
    takes, stores = tile.select("shared", "load"), tile.select("odata", "store")
    came_from = dict(zip(fills.offsets.ravel().tolist(), map(tuple, places(trace, loads, "idata").tolist())))
    goes_to = dict(zip(takes.offsets.ravel().tolist(), map(tuple, places(trace, stores, "odata").tolist())))
    row, fill = (np.flatnonzero(of.warp == warp)[nth] for of in (loads, fills))
    take, store = (np.flatnonzero(of.warp == warp)[nth] for of in (takes, stores))
    filled, taken = fills.offsets[fill].tolist(), takes.offsets[take].tolist()
    return {"reads": {"idata": list(map(tuple, places(trace, one(loads, row), "idata").tolist())), "tile": filled, "odata": [goes_to[at] for at in filled]},
            "writes": {"idata": [came_from[at] for at in taken], "tile": taken, "odata": list(map(tuple, places(trace, one(stores, store), "odata").tolist()))}}


def shades(colour, count=32):
    """From a light tint of the colour to the colour itself."""
    rgb = np.array(to_rgb(colour))
    return [tuple(1 - (1 - rgb) * share) for share in np.linspace(0.28, 1, count)]


def tile_pitch(trace):
    """Bytes between the rows of the tile in shared memory: between the first elements of what one warp fills in one go and
    another in the next."""
    fills = trace.select("shared", "store", launch=0)
    starts = np.unique(np.where(fills.offsets >= 0, fills.offsets, np.iinfo(np.int64).max).min(axis=1))
    return int(np.diff(starts).min())


@styled
def way_through_the_tile(trace, stem):
    """The way of a warp's elements: rows of idata, rows of the tile, barrier, columns of the tile, rows of odata."""
    if reason := unfit((trace, ("idata", "load"), ("shared", "store"), ("shared", "load"), ("odata", "store"))):
        return reason
    block, warp, nth = tuple(trace.block[trace.launch == min(1, trace.launch.max())][0].tolist()), 4, 1
    if any((trace.select(memory, access, block=block, warp=warp).lanes != 0xFFFFFFFF).any() or len(trace.select(memory, access, block=block, warp=warp)) <= nth
           for memory, access in (("idata", "load"), ("shared", "store"), ("shared", "load"), ("odata", "store"))):
        return f"{trace.path}: warp {warp} of block {block} moves no {nth + 1} full rows through a tile"
    ways = the_way(trace, block, warp, nth)
    row_bytes = tile_pitch(trace)
    dim = len(ways["reads"]["tile"])
    wide = row_bytes // trace.element_bytes
    figure, [panels] = canvas(7, 3.92, 1, 3, left=0.5, right=0.12, bottom=1.16, top=0.62, wspace=0.38)
    sizes = {"idata": (trace.height, trace.width), "tile": (dim, wide), "odata": (trace.width, trace.height)}
    colours = {"reads": BLUE, "writes": RED}
    corners = {"tile": (0, 0)}
    for axes, (name, (rows, columns)) in zip(panels, sizes.items()):
        image = np.ones((rows, columns, 3))
        cells = {who: [divmod(at // trace.element_bytes, wide) for at in way[name]] if name == "tile" else way[name] for who, way in ways.items()}
        if name != "tile":
            corner = corners[name] = tuple(min(cell[i] for cells_of in cells.values() for cell in cells_of) // dim * dim for i in (0, 1))
            image[corner[0]:corner[0] + dim, corner[1]:corner[1] + dim] = to_rgb("#EAEAEA")
        else:
            image[:, :dim] = to_rgb("#EAEAEA")
        for who, of in cells.items():
            for lane, (cell, shade) in enumerate(zip(of, shades(colours[who], dim))):
                image[cell] = shade
        axes.imshow(image, interpolation="nearest", extent=(0, columns, rows, 0), aspect="auto")
        axes.set_xlabel("column", labelpad=1)
        axes.set_xticks([0, dim, 2 * dim][:2 if name == "tile" else 3])
        axes.set_yticks([0, dim, 2 * dim][:2 if name == "tile" else 3])
        axes.spines[["top", "right"]].set_visible(True)
        if name != "tile":
            for at in range(dim, columns, dim):
                axes.axvline(at, color="#A0A0A0", lw=0.7)
            for at in range(dim, rows, dim):
                axes.axhline(at, color="#A0A0A0", lw=0.7)
        elif wide > dim:
            axes.add_patch(Rectangle((dim, 0), wide - dim, dim, fill=False, hatch="////", ec="#909090", lw=0))
        for who, of in cells.items():
            rows_of, columns_of = [c[0] for c in of], [c[1] for c in of]
            axes.add_patch(Rectangle((min(columns_of), min(rows_of)), max(columns_of) - min(columns_of) + 1, max(rows_of) - min(rows_of) + 1,
                                     fill=False, ec="black", lw=0.9, ls="-" if who == "reads" else (0, (2.5, 1.5))))
    panels[0].set_ylabel("row", labelpad=1)
    titles = ("idata", f"tile[{dim}][{wide}], shared memory" if wide == dim else f"tile[{dim}][{dim} + {wide - dim}], shared", "odata")
    for axes, title in zip(panels, titles):
        axes.set_title(title, pad=22)
    for axes, text in ((panels[0], f"warp {warp} reads this row"), (panels[2], f"warp {warp} writes this row")):
        axes.text(0.5, 1.03, text, transform=axes.transAxes, ha="center", fontsize=9.5)
    panels[1].text(0.5, 1.03, "a row in, barrier, a column out", transform=panels[1].transAxes, ha="center", fontsize=9.5)
    for (left, right), who, label in (((0, 1), "reads", "phase 0"), ((1, 2), "writes", "phase 1")):
        ends = []
        for index, end in ((left, max), (right, min)):
            name = list(sizes)[index]
            cells = [divmod(at // trace.element_bytes, wide) for at in ways[who]["tile"]] if name == "tile" else ways[who][name]
            cell = end(cells, key=lambda c: c[1])
            if who == "writes" and name == "tile":
                cell = cells[len(cells) // 2]
            ends.append((cell[1] + (1 if index == left else 0), cell[0] + 0.5))
        figure.add_artist(ConnectionPatch(ends[0], ends[1], "data", "data", axesA=panels[left], axesB=panels[right], arrowstyle="-|>", mutation_scale=13,
                                          color=colours[who], lw=1.8, ls="-" if who == "reads" else (0, (4, 2)), zorder=10))
    handles = [Patch(facecolor=shades(colours[who])[20], edgecolor="black", ls="-" if who == "reads" else (0, (2.5, 1.5))) for who in ways]
    figure.legend(handles, [f"before the barrier: a row that warp {warp} reads (lane 0 light, lane {dim - 1} dark), and where it ends",
                            f"after the barrier: a column that warp {warp} takes, where it came from, and the row it writes"],
                  loc="lower left", bbox_to_anchor=(0.0, 0.06), frameon=False, handlelength=1.6, fontsize=9)
    save(figure, stem, counted_note(trace, more=f"Block ({block[0]}, {block[1]}) of {trace.kernel}."))
    return None


def sectors(request, size=32):
    """The sectors that requests touch: {offset: [bytes used, as a mask]}."""
    touched = {}
    for offsets, lane_bytes in zip(request.offsets, request.lane_bytes):
        for offset in offsets[offsets >= 0].tolist():
            for at in range(offset, offset + int(lane_bytes)):
                touched.setdefault(at // size * size, np.zeros(size, bool))[at % size] = True
    return touched


@styled
def sectors_naive_coalesced(naive, coalesced, stem):
    """The sectors of odata that one warp's store touches, and the bytes of them that it uses."""
    if reason := unfit((naive, ("odata", "store")), (coalesced, ("odata", "store"))):
        return reason
    figure, [panels] = canvas(7, 4.75, 1, 2, left=0.62, right=0.12, bottom=1.02, top=0.68, wspace=0.55)
    warp = 3
    for axes, trace, name in ((panels[0], naive, "step 2"), (panels[1], coalesced, "step 3")):
        stores = trace.select("odata", "store", launch=0, warp=warp)
        request = one(stores, 0)
        touched = sectors(request)
        row_bytes = pitch(trace, "odata")
        for row in range(32):
            for sector in range(4):
                used = touched.get(row * row_bytes + sector * 32)
                axes.add_patch(Rectangle((sector * 32, row), 32, 1, fc="white" if used is None else "#BFE1F5", ec="#BDBDBD" if used is None else "#303030",
                                         lw=0.5, zorder=2 if used is None else 3))
                if used is not None:
                    for word in range(8):
                        if used[4 * word:4 * word + 4].all():
                            axes.add_patch(Rectangle((sector * 32 + 4 * word, row), 4, 1, fc=BLUE, ec="white", lw=0.4, zorder=4))
                    axes.add_patch(Rectangle((sector * 32, row), 32, 1, fill=False, ec="#303030", lw=0.8, zorder=5))
        moved, used = 32 * len(touched), int(sum(mask.sum() for mask in touched.values()))
        axes.set(xlim=(0, 128), ylim=(32, 0), xlabel="byte within the row of odata", ylabel="row of odata")
        axes.set_xticks(range(0, 129, 32))
        axes.set_yticks([0, 8, 16, 24, 31])
        axes.tick_params(length=2)
        axes.set_title(f"{name}: {trace.kernel}\n{len(touched)} sectors, {used} of {moved} bytes used", pad=6)
    figure.legend([Patch(facecolor=BLUE, edgecolor="white"), Patch(facecolor="#BFE1F5", edgecolor="#303030"), Patch(facecolor="white", edgecolor="#BDBDBD")],
                  ["written by the warp", "in the same sector: moved, not used", "not touched"], loc="lower left", bbox_to_anchor=(0.0, 0.055), ncols=3,
                  frameon=False, handlelength=1.4, columnspacing=1.3)
    save(figure, stem, counted_note(naive, coalesced, more=f"One store of warp {warp}, 32 lanes."))
    return None


def banks(trace, warp=0, count=32):
    """(bank of each element (row, column) of block 0's tile, [(row, column) of each lane] that the warp's first load from the
    tile takes, what that load costs in wavefronts)."""
    first = trace.select(launch=0)
    loads, fills, takes = first.select("idata", "load"), first.select("shared", "store"), first.select("shared", "load", warp=warp)
    cells = places(trace, loads, "idata")
    offsets = fills.offsets[fills.offsets >= 0]
    bank = np.full(cells.max(axis=0) + 1, -1)
    bank[cells[:, 0], cells[:, 1]] = offsets // 4 % count
    there = dict(zip(offsets.tolist(), map(tuple, cells.tolist())))
    return bank, [there[at] for at in takes.offsets[0].tolist() if at >= 0], int(takes.units[0])


@styled
def bank_maps(unpadded, padded, swizzled, stem):
    """The bank of every element of the tile, and what a warp that reads a column meets there, for three layouts."""
    if reason := unfit(*((t, ("idata", "load"), ("shared", "store"), ("shared", "load")) for t in (unpadded, padded, swizzled))):
        return reason
    figure, panels = canvas(7, 4.72, 2, 3, left=0.62, right=0.78, bottom=0.78, top=0.62, wspace=0.22, hspace=0.48, height_ratios=[2.6, 1])
    warp = 5
    names = ("unpadded: tile[32][32]", "padded: tile[32][33]", "swizzled: c at c ^ r")
    for (upper, lower), trace, name in zip(panels.T, (unpadded, padded, swizzled), names):
        bank, column, wavefronts = banks(trace, warp)
        rows, columns = bank.shape
        image = upper.imshow(bank, cmap="cividis", vmin=-0.5, vmax=31.5, interpolation="nearest", extent=(0, columns, rows, 0), aspect="auto")
        for row, at in column:
            upper.add_patch(Rectangle((at, row), 1, 1, fc="white", ec="black", lw=0.5))
        upper.set_xticks([0, 8, 16, 24, 31])
        upper.set_yticks([0, 8, 16, 24, 31])
        upper.spines[["top", "right"]].set_visible(True)
        upper.set_title(f"{name}\n{wavefronts} wavefront{'s' if wavefronts > 1 else ''}", pad=5)
        upper.set_xlabel("column c of the tile", labelpad=1)
        met = np.bincount([bank[cell] for cell in column], minlength=32)
        lower.bar(range(32), met, 0.9, color=GREY)
        lower.set(xlim=(-0.6, 31.6), ylim=(0, 34), xlabel="bank")
        crowded = int(met.argmax())
        lower.text(15.5 if met.max() == 1 else crowded + 2, 24, "1 lane in each bank" if met.max() == 1 else f"{met.max()} lanes in bank {crowded}",
                   ha="center" if met.max() == 1 else "left", va="center", fontsize=9.5)
        lower.set_xticks([0, 8, 16, 24, 31])
        lower.set_yticks([1, 16, 32])
        lower.grid(axis="y")
    panels[0, 0].set_ylabel("row r of the tile")
    panels[1, 0].set_ylabel("lanes")
    for axes in panels[:, 1:].ravel():
        axes.tick_params(labelleft=False)
    box = panels[0, 2].get_position()
    bar = figure.colorbar(image, cax=figure.add_axes([box.x1 + 0.014, box.y0, 0.02, box.height]), ticks=[0, 8, 16, 24, 31])
    bar.set_label("bank", labelpad=2)
    save(figure, stem, counted_note(unpadded, padded, swizzled, more=f"White: the column that warp {warp} reads."))
    return None


def tiles(trace, memory):
    """Of every block, in launch order: (row, column) of its tile in the matrix, in tiles, and the partition of the tile's first
    element."""
    access = "load" if memory == "idata" else "store"
    requests = trace.select(memory, access)
    first = np.where(requests.offsets >= 0, requests.offsets, np.iinfo(np.int64).max).min(axis=1)
    order = np.lexsort((first, requests.launch))
    heads = order[np.unique(requests.launch[order], return_index=True)[1]]  # of each launch, the request that begins first
    row, column = first[heads] // pitch(trace, memory), first[heads] % pitch(trace, memory) // trace.element_bytes
    starts = np.unique(np.concatenate([row, column]))
    side = int(np.diff(starts).min()) if len(starts) > 1 else 1
    return np.stack([row // side, column // side], axis=1), requests.partition[heads]


def ordered_map(name, count):
    """A colour map of as many steps, which get darker or lighter from one to the next."""
    return ListedColormap(matplotlib.colormaps[name](np.linspace(0, 1, count)))


@styled
def partitions_2048(traces, resident, stem):
    """The partition of every tile of idata and odata, and the tiles that the blocks which run first touch; a row of panels for
    each trace: (name, Trace). `resident`: blocks that run at a time."""
    if not traces:
        return "a trace is missing"
    if reason := unfit(*((t, ("idata", "load"), ("odata", "store")) for _, t in traces)):
        return reason
    if any((t.partition < 0).all() for _, t in traces):
        return f"the {traces[0][1].machine} has no partitions in the trace"
    if not resident:
        return "how many blocks run at a time is not known"
    count = int(max(t.partition.max() for _, t in traces)) + 1
    figure, panels = canvas(7, 1.05 + 3.0 * len(traces), len(traces), 2, left=0.62, right=0.85, bottom=0.86, top=0.45, wspace=0.22, hspace=0.72)
    colours = ordered_map("Blues", count + 2).colors[:count]
    panels = list(panels)
    for line, (name, trace) in zip(panels, traces):
        for axes, memory in zip(line, ("idata", "odata")):
            cells, partition = tiles(trace, memory)
            image = np.full(cells.max(axis=0) + 1, -1)
            image[cells[:, 0], cells[:, 1]] = partition
            shown = axes.imshow(image, cmap=ListedColormap(colours), norm=BoundaryNorm(np.arange(count + 1) - 0.5, count), interpolation="nearest",
                                extent=(0, image.shape[1], image.shape[0], 0), aspect="auto")
            for row, column in cells[:resident]:
                axes.add_patch(Rectangle((column + 0.1, row + 0.1), 0.8, 0.8, fc=ORANGE, ec="black", lw=0.4))
            busy = np.bincount(partition[:resident], minlength=count)
            read = "read" if memory == "idata" else "written"
            spots = np.flatnonzero(busy)
            where = f"partition {spots[0]} alone" if len(spots) == 1 else f"{len(spots)} partitions"
            axes.set_title(f"{name}, {memory}: {read}\nfrom {where}" if memory == "idata" else f"{name}, {memory}: {read}\nto {where}", pad=5)
            axes.set_xticks([0, 16, 32, 48, 64])
            axes.set_yticks([0, 16, 32, 48, 64])
            axes.spines[["top", "right"]].set_visible(True)
            if line is panels[-1]:
                axes.set_xlabel(f"column of tiles of {memory}")
        line[0].set_ylabel("row of tiles")
        line[1].tick_params(labelleft=False)
    top, bottom = panels[0][1].get_position(), panels[-1][1].get_position()
    bar = figure.colorbar(shown, cax=figure.add_axes([top.x1 + 0.02, bottom.y0, 0.025, top.y1 - bottom.y0]), ticks=range(count))
    bar.set_label("partition of the tile's first element")
    bar.ax.minorticks_off()
    bar.ax.tick_params(length=0)
    trace = traces[0][1]
    save(figure, stem, counted_note(trace, more=f"\nOrange: the tiles of the first {resident} blocks, as many as run at a time."))
    return None


def traffic(trace, resident, memory="odata", access="store"):
    """Bytes asked for, (windows, partitions): of as many blocks at a time as run at a time, in launch order."""
    requests = trace.select(memory, access)
    moved = np.zeros((int(trace.launch.max()) // resident + 1, int(trace.partition.max()) + 1))
    np.add.at(moved, (requests.launch // resident, requests.partition), requests.bytes)
    return moved


def busiest(moved):
    """The busiest partition's traffic over the mean, over all windows."""
    return moved.max(axis=1).sum() / moved.mean(axis=1).sum()


# Where a machine's map from addresses to partitions comes from.
HASHED = "hashed"
MAPS = {"GeForce GTX 280": "plain address bits", "GeForce GTX 1080": HASHED, "Tesla V100": HASHED}


@styled
def partition_traffic(panels_of, stem):
    """Stores per partition over time, as heat maps: (name, Trace, blocks that run at a time) for each panel."""
    if not panels_of:
        return "a trace is missing"
    if reason := unfit(*((t, ("odata", "store")) for _, t, _ in panels_of)):
        return reason
    if any((t.partition < 0).all() for _, t, _ in panels_of):
        return "a machine in the traces has no partitions"
    if not all(resident for _, _, resident in panels_of):
        return "how many blocks run at a time is not known"
    figure, panels = canvas(7, 1.1 + 1.5 * len(panels_of), len(panels_of), 1, left=0.62, right=0.9, bottom=0.88, top=0.3, hspace=0.62)
    worst = max(t.partition.max() + 1 for _, t, _ in panels_of)
    for (axes,), (name, trace, resident) in zip(panels, panels_of):
        moved = traffic(trace, resident)
        share = moved / moved.mean(axis=1, keepdims=True)
        shown = axes.imshow(share.T, cmap="Blues", vmin=0, vmax=worst, aspect="auto", interpolation="nearest",
                            extent=(-0.5, len(share) - 0.5, share.shape[1] - 0.5, -0.5))
        axes.set_title(f"{name}, {trace.machine}{', ' + MAPS[trace.machine] if trace.machine in MAPS else ''}: busiest / mean = {busiest(moved):.2f}",
                       loc="left", pad=4)
        axes.set_yticks(range(0, share.shape[1], max(1, share.shape[1] // 8)))
        axes.set(ylabel="partition", xlabel=f"window of {resident} blocks, in launch order")
        axes.xaxis.labelpad = 1
        axes.spines[["top", "right"]].set_visible(True)
    top, bottom = panels[0, 0].get_position(), panels[-1, 0].get_position()
    bar = figure.colorbar(shown, cax=figure.add_axes([top.x1 + 0.02, bottom.y0, 0.025, top.y1 - bottom.y0]))
    bar.set_label("bytes stored / mean of the partitions")
    hashed = [trace.machine for _, trace, _ in panels_of if MAPS.get(trace.machine) == HASHED]
    save(figure, stem, counted_note(*(t for _, t, _ in panels_of), more=f"\nThe hash of the {hashed[0]} is that of Jain et al., RTAS 2019." if hashed else ""))
    return None


@styled
def block_orders(named, stem, arrows=12):
    """The order in which blocks walk the tiles of idata, which they read, and of odata, which they write: a column of panels
    for each (name, Trace)."""
    if not named:
        return "a trace is missing"
    if reason := unfit(*((t, ("idata", "load"), ("odata", "store")) for _, t in named)):
        return reason
    figure, panels = canvas(7, 5.3, 2, len(named), left=0.35, right=0.12, bottom=0.55, top=0.4, wspace=0.22, hspace=0.2)
    for column, (name, trace) in zip(panels.T, named):
        for axes, memory in zip(column, ("idata", "odata")):
            cells, _ = tiles(trace, memory)
            rows, columns = cells.max(axis=0) + 1
            image = np.full((rows, columns), np.nan)
            image[cells[:, 0], cells[:, 1]] = np.arange(len(cells))
            axes.imshow(image, cmap=ordered_map("Blues", 256), vmin=-0.1 * len(cells), vmax=1.9 * len(cells), interpolation="nearest", extent=(0, columns, rows, 0), aspect="equal")
            for at in range(1, columns):
                axes.axvline(at, color="white", lw=0.8)
            for at in range(1, rows):
                axes.axhline(at, color="white", lw=0.8)
            for number, (r, c) in enumerate(cells[:arrows + 1]):
                axes.add_patch(Circle((c + 0.5, r + 0.5), 0.3, fc="white", ec="none", zorder=4))
            for (r, c), (r2, c2) in zip(cells[:arrows], cells[1:arrows + 1]):
                away = np.array([c2 - c, r2 - r]) / math.hypot(c2 - c, r2 - r) * 0.3
                axes.annotate("", (c2 + 0.5 - away[0], r2 + 0.5 - away[1]), (c + 0.5 + away[0], r + 0.5 + away[1]), zorder=3,
                              arrowprops={"arrowstyle": "-|>", "color": RED, "lw": 1.2, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7})
            for number, (r, c) in enumerate(cells):
                axes.text(c + 0.5, r + 0.5, str(number), ha="center", va="center_baseline", fontsize=9, zorder=6)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.spines[:].set_visible(False)
        column[0].set_title(name, pad=5)
    for axes, text in zip(panels[:, 0], ("tiles of idata, read", "tiles of odata, written")):
        axes.set_ylabel(text)
    save(figure, stem, counted_note(*(t for _, t in named), more="Numbers: launch order.\nArrows: from each of the first blocks to the next."))
    return None


# From the command line.

PLAIN, CARTESIAN, DIAGONAL = "gtx280", "Cartesian order", "diagonal order"
RUNS = {  # name: step's program, its options, what of the trace is needed
    "naive": ("step02", ["--size", "64"], None),
    "coalesced": ("step03", ["--size", "64"], None),
    "padded": ("step04", ["--size", "64"], None),
    "swizzled": ("step04", ["--size", "64", "--kernel", "transposeSwizzled"], None),
    "order4": ("step04", ["--size", "256"], ("idata", "odata")),
    "order6": ("step06", ["--size", "256"], ("idata", "odata")),
    "order7": ("step07", ["--size", "512"], ("idata", "odata")),
    "camped": ("step04", ["--size", "2048", "--machine", PLAIN], ("idata", "odata")),
    "spread": ("step06", ["--size", "2048", "--machine", PLAIN], ("idata", "odata")),
    "hashed": ("step04", ["--size", "2048", "--machine", "gtx1080"], ("odata",)),
}


def run_trace(name, folder):
    """(Trace, blocks that run at a time) of one of RUNS. RuntimeError: the program is not there, or fails."""
    program, options, memories = RUNS[name]
    path = pathlib.Path(folder) / f"{name}.csv"
    try:
        done = subprocess.run([ROOT / program, "--device", "sim", "--explain", "--trace", path, *options], cwd=ROOT, capture_output=True, text=True)
    except OSError as error:
        raise RuntimeError(f"./{program} cannot be run ({error.strerror}): make all") from None
    if done.returncode != 0:
        raise RuntimeError(f"./{program} {' '.join(options)}: {done.stderr.strip() or 'failed'}")
    trace = read_trace(path, **({"memory": memories} if memories else {}))
    path.unlink()
    resident = re.search(r"memory partitions, (\d+) blocks at a time", done.stdout)
    return trace, int(resident[1]) if resident else None


def take_traces(names):
    """{name: (Trace, blocks at a time)}, and {name: why there is none}. Each in a process of its own."""
    taken, failed = {}, {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(2) as pool:
        waiting = {name: pool.submit(run_trace, name, folder) for name in sorted(names, key=lambda n: -max(map(int, RUNS[n][1][1].split("x"))))}
        for name, future in waiting.items():
            try:
                taken[name] = future.result()
            except (RuntimeError, ValueError, OSError) as error:
                failed[name] = str(error)
    return taken, failed


# What each figure needs: files of plots/data, or traces; and how it is called with them.
FIGURES = {
    "bandwidth_steps": (["h200_steps.csv"], bandwidth_steps),
    "bandwidth_over_n": (["h200_report.csv"], bandwidth_over_n),
    "time_per_element": (["h200_report.csv"], time_per_element),
    "predicted_measured": (["h200_steps.csv", "h200_model.csv"], predicted_measured),
}
TRACED = {
    "way_through_the_tile": (["padded"], lambda t, stem: way_through_the_tile(t["padded"][0], stem)),
    "sectors_naive_coalesced": (["naive", "coalesced"], lambda t, stem: sectors_naive_coalesced(t["naive"][0], t["coalesced"][0], stem)),
    "banks": (["coalesced", "padded", "swizzled"], lambda t, stem: bank_maps(t["coalesced"][0], t["padded"][0], t["swizzled"][0], stem)),
    "partitions_2048": (["camped", "spread"], lambda t, stem: partitions_2048(
        [(CARTESIAN, t["camped"][0]), (DIAGONAL, t["spread"][0])], t["camped"][1], stem)),
    "partition_traffic": (["camped", "spread", "hashed"], lambda t, stem: partition_traffic(
        [(CARTESIAN, *t["camped"]), (DIAGONAL, *t["spread"]), (CARTESIAN, *t["hashed"])], stem)),
    "block_orders": (["order4", "order6", "order7"], lambda t, stem: block_orders(
        [("step 4: Cartesian", t["order4"][0]), ("step 6: diagonal", t["order6"][0]), ("step 7: down the columns", t["order7"][0])], stem)),
}


def read_rows(paths):
    """The rows of results files. ValueError: one of them is none, or damaged."""
    loaded = reader.load(paths)
    if loaded.problems:
        raise ValueError(loaded.problems[0])
    return loaded.all


def load_rows(results=None):
    """{figure: its rows}, from plots/data or from the files in `results` instead."""
    given = read_rows(results or [])
    return {name: given if results else read_rows([DATA / file for file in files]) for name, (files, _) in FIGURES.items()}


def draw_all(folder, rows, taken, failed):
    """Writes every figure that can be into the folder; {figure: None, or why there is none}. rows: of load_rows; taken, failed:
    of take_traces."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    reasons = {name: draw(rows[name], folder / name) for name, (_, draw) in FIGURES.items()}
    for name, (needs, draw) in TRACED.items():
        missing = [failed[need] for need in needs if need in failed]
        reasons[name] = missing[0] if missing else draw(taken, folder / name)
    return reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="OUTDIR")
    parser.add_argument("--results", nargs="+", metavar="FILES", help="results to draw, instead of those in plots/data")
    options = parser.parse_args()
    try:
        rows = load_rows(options.results)
        reasons = draw_all(options.folder, rows, *take_traces(RUNS))
    except (OSError, ValueError) as error:
        print(f"figures.py: {error}", file=sys.stderr)
        sys.exit(2)
    for name, reason in reasons.items():
        print(f"{name}: {'not drawn: ' + reason if reason else 'drawn'}")


if __name__ == "__main__":
    main()
