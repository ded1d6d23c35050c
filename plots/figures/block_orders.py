"""The order in which blocks walk the tiles."""

import math

import numpy as np

from .shared import RED, canvas, save, styled, tiles

TRACES = ["order4", "order6", "order7"]


@styled
def draw(traces, stem, arrows=12):
    named = [(name, traces[run][0]) for name, run in (("step 4: Cartesian", "order4"), ("step 6: diagonal", "order6"),
                                                      ("step 7: down columns", "order7"))]
    figure, panels = canvas(7, 5.3, 2, len(named), left=0.35, right=0.12, bottom=0.55, top=0.4, wspace=0.22, hspace=0.2)
    for column, (name, trace) in zip(panels.T, named):
        for axes, memory in zip(column, ("idata", "odata")):
            cells, _ = tiles(trace, memory)
            rows, columns = cells.max(axis=0) + 1
            image = np.full((rows, columns), np.nan)
            image[cells[:, 0], cells[:, 1]] = np.arange(len(cells))
            axes.imshow(image, cmap="Blues", vmin=-0.1 * len(cells), vmax=1.9 * len(cells), interpolation="nearest",
                        extent=(0, columns, rows, 0), aspect="equal")
            for at in range(1, columns):
                axes.axvline(at, color="white", lw=0.8)
            for at in range(1, rows):
                axes.axhline(at, color="white", lw=0.8)
            for (r, c), (r2, c2) in zip(cells[:arrows], cells[1:arrows + 1]):
                if max(abs(r2 - r), abs(c2 - c)) > 1:  # an arrow across other tiles would strike their numbers
                    continue
                away = np.array([c2 - c, r2 - r]) / math.hypot(c2 - c, r2 - r) * 0.33
                axes.annotate(
                    "", (c2 + 0.5 - away[0], r2 + 0.5 - away[1]), (c + 0.5 + away[0], r + 0.5 + away[1]), zorder=3,
                    arrowprops={
                        "arrowstyle": "-|>", "color": RED, "lw": 1.2, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7})
            for number, (r, c) in enumerate(cells):
                axes.text(c + 0.5, r + 0.5, str(number), ha="center", va="center_baseline", fontsize=9, zorder=6)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.spines[:].set_visible(False)
        column[0].set_title(name, pad=5)
    for axes, text in zip(panels[:, 0], ("tiles of idata, read", "tiles of odata, written")):
        axes.set_ylabel(text)
    sizes = {}
    for name, t in named:
        sizes.setdefault(f"{t.width} × {t.height} {t.type}", []).append(name.split(":")[0])
    save(figure, stem, f"Traced by the simulator for the {named[0][1].machine}; "
                       f"{'; '.join(size + ' in ' + ' and '.join(names) for size, names in sizes.items())}.\nNumbers "
                       "and shades: launch order. Arrows: from a block to the next, where they are "
                       "neighbours.")
