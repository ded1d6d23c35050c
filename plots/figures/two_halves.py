"""The two halves of a transpose: every tile turned where it stands, and every tile moved."""

import numpy as np

from .shared import canvas, counted_note, places, save, styled, wheel

TRACES = ["fine", "coarse", "padded"]


def came_from(trace):
    """Of every element of odata: (row, column) of the element of idata that the kernel brings there through its
    tile."""
    origin = np.full((trace.width, trace.height, 2), -1)
    for launch in range(int(trace.launch.max()) + 1):
        block = trace.select(launch=launch)
        loads, fills = block.select("idata", "load"), block.select("shared", "store")
        takes, stores = block.select("shared", "load"), block.select("odata", "store")
        held = dict(zip(fills.offsets.ravel().tolist(), places(trace, loads, "idata").tolist()))
        for at, (row, column) in zip(takes.offsets.ravel().tolist(), places(trace, stores, "odata").tolist()):
            origin[row, column] = held[at]
    return origin


@styled
def draw(traces, stem):
    of = {
        "idata": None, "fine-grained:\neach tile turned": "fine", "coarse-grained:\neach tile moved": "coarse",
        "transpose:\nboth": "padded"}
    side, dim = traces["fine"][0].width, 32
    figure, [panels] = canvas(7, 2.75, 1, 4, left=0.12, right=0.12, bottom=0.55, top=0.55, wspace=0.18)
    colours = wheel((side // dim) ** 2)
    for axes, (title, name) in zip(panels, of.items()):
        origin = came_from(traces[name][0]) if name else np.stack(np.mgrid[:side, :side], axis=-1)
        tile = origin[..., 0] // dim * (side // dim) + origin[..., 1] // dim
        shade = 1.04 - 0.42 * (origin[..., 1:] % dim) / (dim - 1)
        axes.imshow(np.clip(np.array(colours.colors)[tile] * shade, 0, 1), interpolation="nearest",
                    extent=(0, side, side, 0))
        for at in range(0, side + 1, dim):
            axes.axvline(at, color="black", lw=0.9)
            axes.axhline(at, color="black", lw=0.9)
        for row in range(0, side, dim):
            for column in range(0, side, dim):
                here = origin[row:row + dim, column:column + dim, 1] % dim
                right, down = (here[0, -1] > here[0, 0], here[-1, 0] > here[0, 0])
                axes.text(column + 0.5 * dim, row + 0.42 * dim, "ABCD"[tile[row, column]], ha="center", va="center",
                          fontsize=13, fontweight="bold")
                axes.annotate("", (column + dim * (0.78 if right else 0.5), row + dim * (0.92 if down else 0.78)),
                              (column + dim * (0.22 if right else 0.5), row + dim * (0.64 if down else 0.78)),
                              arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 1.2, "shrinkA": 0, "shrinkB": 0})
        axes.axis("off")
        axes.set_title(title, pad=5, fontsize=9.5)
    save(figure, stem, counted_note(*(traces[name][0] for name in TRACES),
                                    more="\nArrow and shade: the direction of the rows of idata."))
