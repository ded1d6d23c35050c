"""Stores per partition over time, and how unequal they are in other orders and on another card."""

import matplotlib
import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap

from .shared import BLUE, CARTESIAN, DIAGONAL, canvas, counted_note, save, styled

TRACES = ["camped", "spread", "hashed"]


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
def draw(traces, stem):
    panels_of = [
        (order, *traces[name]) for order, name in ((CARTESIAN, "camped"), (DIAGONAL, "spread"), (CARTESIAN, "hashed"))]
    figure, [[axes], [below]] = canvas(7, 4.5, 2, 1, left=0.62, right=0.9, bottom=0.9, top=0.3, hspace=0.8,
                                       height_ratios=[1.7, 1])
    levels = [0, 0.25, 0.75, 1.5, 3, 6, max(t.partition.max() + 1 for _, t, _ in panels_of)]
    colours = ListedColormap(matplotlib.colormaps["Blues"](np.linspace(0, 1, len(levels) - 1)))
    norm = BoundaryNorm(levels, len(levels) - 1)
    name, trace, resident = panels_of[0]
    moved = traffic(trace, resident)
    share = moved / moved.mean(axis=1, keepdims=True)
    shown = axes.imshow(share.T, cmap=colours, norm=norm, aspect="auto", interpolation="nearest",
                        extent=(-0.5, len(share) - 0.5, share.shape[1] - 0.5, -0.5))
    axes.set_title(f"{name}, {trace.machine}{', ' + MAPS[trace.machine] if trace.machine in MAPS else ''}", loc="left",
                   pad=4)
    axes.set_yticks(range(0, share.shape[1], max(1, share.shape[1] // 8)))
    axes.set(ylabel="partition", xlabel=f"window of {resident} blocks, in launch order")
    axes.xaxis.labelpad = 1
    axes.spines[["top", "right"]].set_visible(True)
    box = axes.get_position()
    bar = figure.colorbar(shown, cax=figure.add_axes([box.x1 + 0.02, box.y0, 0.025, box.y1 - box.y0]))
    bar.set_label("stored / mean")
    bar.ax.set_yticks(levels, [f"{level:g}" for level in levels])
    bar.ax.minorticks_off()
    bar.ax.tick_params(length=0)
    for i, (name, trace, resident) in enumerate(panels_of):
        unequal = busiest(traffic(trace, resident))
        below.barh(i, unequal, 0.66, color=BLUE, edgecolor="#404040", linewidth=0.7)
        inside = unequal > 4
        below.text(unequal + (-0.1 if inside else 0.1), i, f"{unequal:.2f}: {name}, {trace.machine}", va="center",
                   ha="right" if inside else "left", fontsize=9, color="white" if inside else "black")
    below.set(xlim=(0, 8), ylim=(len(panels_of) - 0.45, -0.55),
              xlabel="traffic of the busiest partition / mean of all")
    below.set_yticks([])
    below.grid(axis="x")
    hashed = [trace.machine for _, trace, _ in panels_of if MAPS.get(trace.machine) == HASHED]
    save(
        figure, stem,
        counted_note(*(t for _, t, _ in panels_of),
                     more=f"\nThe hash of the {hashed[0]} is that of Jain et al., RTAS 2019." if hashed else ""))
