"""Stores per partition over time."""

import matplotlib
import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap

from .shared import CARTESIAN, DIAGONAL, canvas, counted_note, save, styled, unfit

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
    """Stores per partition over time, as heat maps."""
    panels_of = [
        (order, *traces[name]) for order, name in ((CARTESIAN, "camped"), (DIAGONAL, "spread"), (CARTESIAN, "hashed"))]
    if reason := unfit(*((t, ("odata", "store")) for _, t, _ in panels_of)):
        return reason
    if any((t.partition < 0).all() for _, t, _ in panels_of):
        return "a machine in the traces has no partitions"
    if not all(resident for _, _, resident in panels_of):
        return "how many blocks run at a time is not known"
    figure, panels = canvas(7, 1.1 + 1.5 * len(panels_of), len(panels_of), 1, left=0.62, right=0.9, bottom=0.88,
                            top=0.3, hspace=0.62)
    levels = [0, 0.25, 0.75, 1.5, 3, 6, max(t.partition.max() + 1 for _, t, _ in panels_of)]
    colours = ListedColormap(matplotlib.colormaps["Blues"](np.linspace(0, 1, len(levels) - 1)))
    norm = BoundaryNorm(levels, len(levels) - 1)
    for (axes,), (name, trace, resident) in zip(panels, panels_of):
        moved = traffic(trace, resident)
        share = moved / moved.mean(axis=1, keepdims=True)
        shown = axes.imshow(share.T, cmap=colours, norm=norm, aspect="auto", interpolation="nearest",
                            extent=(-0.5, len(share) - 0.5, share.shape[1] - 0.5, -0.5))
        axes.set_title(f"{name}, {trace.machine}{', ' + MAPS[trace.machine] if trace.machine in MAPS else ''}: "
                       f"busiest / mean = {busiest(moved):.2f}",
                       loc="left", pad=4)
        axes.set_yticks(range(0, share.shape[1], max(1, share.shape[1] // 8)))
        axes.set(ylabel="partition", xlabel=f"window of {resident} blocks, in launch order")
        axes.xaxis.labelpad = 1
        axes.spines[["top", "right"]].set_visible(True)
    top, bottom = panels[0, 0].get_position(), panels[-1, 0].get_position()
    bar = figure.colorbar(shown, cax=figure.add_axes([top.x1 + 0.02, bottom.y0, 0.025, top.y1 - bottom.y0]))
    bar.set_label("bytes stored / mean of the partitions")
    bar.ax.set_yticks(levels, [f"{level:g}" for level in levels])
    bar.ax.minorticks_off()
    bar.ax.tick_params(length=0)
    hashed = [trace.machine for _, trace, _ in panels_of if MAPS.get(trace.machine) == HASHED]
    save(
        figure, stem,
        counted_note(*(t for _, t, _ in panels_of),
                     more=f"\nThe hash of the {hashed[0]} is that of Jain et al., RTAS 2019." if hashed else ""))
    return None
