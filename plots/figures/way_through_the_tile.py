"""The way of a warp's elements through the tile."""

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import ConnectionPatch, Patch, Rectangle

from .shared import BLUE, RED, canvas, counted_note, one, places, save, styled, tile_pitch

TRACES = ["coalesced"]


def the_way(trace, block, warp, nth):
    """What becomes of the rows of a tile. {carrier: {memory: [(row, column) of each lane]}}: `reads`, the elements of
    the nth row that the warp reads, and `writes`, those of the nth row that it writes; the tile's places are byte
    offsets."""
    tile = trace.select(block=block)
    loads, fills = tile.select("idata", "load"), tile.select("shared", "store")
    takes, stores = tile.select("shared", "load"), tile.select("odata", "store")
    came_from = dict(zip(fills.offsets.ravel().tolist(), map(tuple, places(trace, loads, "idata").tolist())))
    goes_to = dict(zip(takes.offsets.ravel().tolist(), map(tuple, places(trace, stores, "odata").tolist())))
    row, fill = (np.flatnonzero(of.warp == warp)[nth] for of in (loads, fills))
    take, store = (np.flatnonzero(of.warp == warp)[nth] for of in (takes, stores))
    filled, taken = fills.offsets[fill].tolist(), takes.offsets[take].tolist()
    return {"reads": {"idata": list(map(tuple, places(trace, one(loads, row), "idata").tolist())), "tile": filled,
                      "odata": [goes_to[at] for at in filled]},
            "writes": {"idata": [came_from[at] for at in taken], "tile": taken,
                       "odata": list(map(tuple, places(trace, one(stores, store), "odata").tolist()))}}


def shades(colour, count=32):
    """From a light tint of the colour to the colour itself."""
    rgb = np.array(to_rgb(colour))
    return [tuple(1 - (1 - rgb) * share) for share in np.linspace(0.28, 1, count)]


@styled
def draw(traces, stem):
    trace, _ = traces["coalesced"]
    block, warp, nth = tuple(trace.block[trace.launch == min(1, trace.launch.max())][0].tolist()), 4, 1
    ways = the_way(trace, block, warp, nth)
    row_bytes = tile_pitch(trace)
    dim = len(ways["reads"]["tile"])
    wide = row_bytes // trace.element_bytes
    figure, [panels] = canvas(7, 4.1, 1, 3, left=0.62, right=0.12, bottom=1.34, top=0.62, wspace=0.38)
    sizes = {"idata": (trace.height, trace.width), "tile": (dim, wide), "odata": (trace.width, trace.height)}
    colours = {"reads": BLUE, "writes": RED}
    corners = {"tile": (0, 0)}
    for axes, (name, (rows, columns)) in zip(panels, sizes.items()):
        image = np.ones((rows, columns, 3))
        cells = {who: [divmod(at // trace.element_bytes, wide) for at in way[name]] if name == "tile" else way[name]
                 for who, way in ways.items()}
        if name != "tile":
            corner = corners[name] = tuple(
                min(cell[i] for cells_of in cells.values() for cell in cells_of) // dim * dim for i in (0, 1))
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
            axes.add_patch(Rectangle((min(columns_of), min(rows_of)), max(columns_of) - min(columns_of) + 1,
                                     max(rows_of) - min(rows_of) + 1,
                                     fill=False, ec="black", lw=0.9, ls="-" if who == "reads" else (0, (2.5, 1.5))))
    panels[0].set_ylabel("row", labelpad=3)
    titles = ("idata",
              f"tile[{dim}][{wide}], shared memory" if wide == dim else f"tile[{dim}][{dim} + {wide - dim}], shared",
              "odata")
    for axes, title in zip(panels, titles):
        axes.set_title(title, pad=22)
    for axes, text in ((panels[0], f"warp {warp} reads this row"), (panels[2], f"warp {warp} writes this row")):
        axes.text(0.5, 1.03, text, transform=axes.transAxes, ha="center", fontsize=9.5)
    panels[1].text(0.5, 1.03, "a row in, barrier, a column out", transform=panels[1].transAxes, ha="center",
                   fontsize=9.5)
    for (left, right), who, label in (((0, 1), "reads", "phase 0"), ((1, 2), "writes", "phase 1")):
        ends = []
        for index, end in ((left, max), (right, min)):
            name = list(sizes)[index]
            cells = ([divmod(at // trace.element_bytes, wide) for at in ways[who]["tile"]] if name == "tile"
                     else ways[who][name])
            cell = end(cells, key=lambda c: c[1])
            if who == "writes" and name == "tile":
                cell = cells[len(cells) // 2]
            ends.append((cell[1] + (1 if index == left else 0), cell[0] + 0.5))
        figure.add_artist(
            ConnectionPatch(ends[0], ends[1], "data", "data", axesA=panels[left], axesB=panels[right], arrowstyle="-|>",
                            mutation_scale=13, color=colours[who], lw=1.8, ls="-" if who == "reads" else (0, (4, 2)),
                            zorder=10))
    handles = [
        Patch(facecolor=shades(colours[who])[20], edgecolor="black", ls="-" if who == "reads" else (0, (2.5, 1.5)))
        for who in ways]
    figure.legend(handles, [f"before the barrier: warp {warp} copies a row of idata into a row of the tile",
                            f"after the barrier: warp {warp} copies a column of the tile into a row of odata"],
                  loc="lower left", bbox_to_anchor=(0.0, 0.09), frameon=False, handlelength=1.6, fontsize=9)
    save(figure, stem,
         counted_note(trace,
                      more=f"\nBlock ({block[0]}, {block[1]}) of {trace.kernel}. Faint: lane 0; strong: lane {dim - 1}."
                           " Other warps move the two thin columns."))
