"""The bank of every element of the tile, in three layouts."""

import numpy as np
from matplotlib.patches import Rectangle

from .shared import GREY, canvas, counted_note, places, save, styled, tile_pitch, wheel

TRACES = ["coalesced", "padded", "swizzled"]


def layout(trace, warp=0, count=32):
    """(bank of each element (row, column) of block 0's tile, [(row, column) of each lane] that the warp's first load
    from the tile takes, what that load costs in wavefronts)."""
    first = trace.select(launch=0)
    loads, fills = first.select("idata", "load"), first.select("shared", "store")
    takes = first.select("shared", "load", warp=warp)
    cells = places(trace, loads, "idata")
    offsets = fills.offsets[fills.offsets >= 0]
    bank = np.full(cells.max(axis=0) + 1, -1)
    bank[cells[:, 0], cells[:, 1]] = offsets // 4 % count
    there = dict(zip(offsets.tolist(), map(tuple, cells.tolist())))
    return bank, [there[at] for at in takes.offsets[0].tolist() if at >= 0], int(takes.units[0])


@styled
def draw(traces, stem):
    unpadded, padded, swizzled = (traces[name][0] for name in TRACES)
    warp, shown = 5, 11  # of the rows and columns, the first ones and the last
    figure, panels = canvas(7, 5.0, 2, 3, left=0.5, right=0.2, bottom=0.95, top=0.62, wspace=0.3, hspace=0.5,
                            height_ratios=[2.3, 1])
    names = ("unpadded: tile[32][32]", "padded: tile[32][32 + 1]", "swizzled: in column c ^ r")
    colours = wheel(32)
    for (upper, lower), trace, name in zip(panels.T, (unpadded, padded, swizzled), names):
        bank, column, wavefronts = layout(trace, warp)
        rows, columns = bank.shape
        pad = tile_pitch(trace) // trace.element_bytes - columns
        at = [*range(shown), None, columns - 2, columns - 1] + ["pad"] * pad
        down = [*range(shown), None, rows - 1]
        cells = {
            (y, x): (r, c) for y, r in enumerate(down) for x, c in enumerate(at) if None not in (r, c) and c != "pad"}
        image = np.ones((len(down), len(at), 3))
        for (y, x), cell in cells.items():
            image[y, x] = colours(bank[cell])[:3]
            upper.text(x + 0.5, y + 0.53, str(bank[cell]), ha="center", va="center", fontsize=6.3,
                       fontweight="bold" if cell in column else "normal")
        upper.imshow(image, interpolation="nearest", extent=(0, len(at), len(down), 0), aspect="auto")
        for where, ends in ((at.index(None), "vertical"), (down.index(None), "horizontal")):
            upper.text(*((where + 0.5, 0.5 * shown) if ends == "vertical" else (0.5 * shown, where + 0.5)), "· · ·",
                       rotation=ends, ha="center", va="center", fontsize=8, color=GREY)
        if pad:
            upper.add_patch(
                Rectangle((len(at) - pad, 0), pad, len(down), fc="white", ec="#909090", hatch="//////", lw=0.4))
        for top, high in ((0, shown), (len(down) - 1, 1)):
            upper.add_patch(Rectangle((at.index(column[0][1]), top), 1, high, fill=False, ec="black", lw=1.8, zorder=5))
        upper.set(xlim=(0, 15), ylim=(len(down), 0), xlabel="column c of the tile")
        upper.xaxis.labelpad = 1
        upper.set_xticks([i + 0.5 for i, c in enumerate(at) if c in (0, 5, 10, columns - 1)],
                         [str(c) for c in at if c in (0, 5, 10, columns - 1)])
        upper.set_yticks([i + 0.5 for i, r in enumerate(down) if r in (0, 5, 10, rows - 1)],
                         [str(r) for r in down if r in (0, 5, 10, rows - 1)])
        upper.tick_params(length=0)
        upper.spines[:].set_visible(False)
        upper.set_title(f"{name}\n{wavefronts} wavefront{'s' if wavefronts > 1 else ''}", pad=5, fontsize=9.5)
        met = np.bincount([bank[cell] for cell in column], minlength=32)
        lower.bar(range(32), met, 0.9, color=GREY)
        lower.set(xlim=(-0.6, 31.6), ylim=(0, 34), xlabel="bank")
        crowded = int(met.argmax())
        lower.text(15.5 if met.max() == 1 else crowded + 2, 24,
                   "1 lane in each bank" if met.max() == 1 else f"{met.max()} lanes in bank {crowded}",
                   ha="center" if met.max() == 1 else "left", va="center", fontsize=9.5)
        lower.set_xticks([0, 8, 16, 24, 31])
        lower.set_yticks([1, 16, 32])
        lower.grid(axis="y")
    panels[0, 0].set_ylabel("row r of the tile")
    panels[1, 0].set_ylabel("lanes")
    for axes in panels[:, 1:].ravel():
        axes.tick_params(labelleft=False)
    save(figure, stem, counted_note(unpadded, padded, swizzled,
                                    more=f"\nNumber and colour: the bank. Framed: the column that warp {warp} reads. "
                                         "Hatched: the padding."))
