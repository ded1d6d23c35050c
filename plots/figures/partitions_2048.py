"""The partition of every tile, and the tiles that run first."""

import numpy as np
from matplotlib.colors import BoundaryNorm
from matplotlib.patches import Rectangle

from .shared import CARTESIAN, DIAGONAL, canvas, counted_note, save, styled, tiles, wheel

TRACES = ["camped", "spread"]


@styled
def draw(traces, stem):
    resident = traces["camped"][1]
    traces = [(CARTESIAN, traces["camped"][0]), (DIAGONAL, traces["spread"][0])]
    count = int(max(t.partition.max() for _, t in traces)) + 1
    figure, panels = canvas(7, 1.05 + 3.0 * len(traces), len(traces), 2, left=0.62, right=0.85, bottom=0.86, top=0.45,
                            wspace=0.22, hspace=0.72)
    panels = list(panels)
    for line, (name, trace) in zip(panels, traces):
        for axes, memory in zip(line, ("idata", "odata")):
            cells, partition = tiles(trace, memory)
            image = np.full(cells.max(axis=0) + 1, -1)
            image[cells[:, 0], cells[:, 1]] = partition
            shown = axes.imshow(image, cmap=wheel(count), norm=BoundaryNorm(np.arange(count + 1) - 0.5, count),
                                interpolation="nearest", extent=(0, image.shape[1], image.shape[0], 0), aspect="auto")
            for row, column in cells[:resident]:
                axes.add_patch(Rectangle((column, row), 1, 1, fill=False, ec="black", lw=0.8))
            busy = np.bincount(partition[:resident], minlength=count)
            read = "read" if memory == "idata" else "written"
            spots = np.flatnonzero(busy)
            where = f"partition {spots[0]} alone" if len(spots) == 1 else f"{len(spots)} partitions"
            axes.set_title(
                f"{name}, {memory}: {read}\nfrom {where}"
                if memory == "idata" else f"{name}, {memory}: {read}\nto {where}", pad=5)
            axes.set_xticks([0, 16, 32, 48, 64])
            axes.set_yticks([0, 16, 32, 48, 64])
            axes.spines[["top", "right"]].set_visible(True)
            if line is panels[-1]:
                axes.set_xlabel(f"column of tiles of {memory}")
        line[0].set_ylabel("row of tiles")
        line[1].tick_params(labelleft=False)
    top, bottom = panels[0][1].get_position(), panels[-1][1].get_position()
    bar = figure.colorbar(shown, cax=figure.add_axes([top.x1 + 0.02, bottom.y0, 0.025, top.y1 - bottom.y0]),
                          ticks=range(count))
    bar.set_label("partition of the tile's first element")
    bar.ax.minorticks_off()
    bar.ax.tick_params(length=0)
    trace = traces[0][1]
    save(figure, stem,
         counted_note(trace, more=f"\nOutlined: the tiles of the first {resident} blocks, as many as run at a time."))
