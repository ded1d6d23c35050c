"""The sectors that a warp's store touches, without a tile and with one."""

import numpy as np
from matplotlib.patches import Patch, Rectangle

from .shared import BLUE, canvas, counted_note, one, pitch, save, styled

TRACES = ["naive", "coalesced"]


def sectors(request, size=32):
    """The sectors that requests touch: {offset: [bytes used, as a mask]}."""
    touched = {}
    for offsets, lane_bytes in zip(request.offsets, request.lane_bytes):
        for offset in offsets[offsets >= 0].tolist():
            for at in range(offset, offset + int(lane_bytes)):
                touched.setdefault(at // size * size, np.zeros(size, bool))[at % size] = True
    return touched


def panel(axes, trace, memory, access, warp, title):
    """One request of a warp: the first 128 bytes of 32 rows of a matrix, and which of their bytes it touches."""
    touched = sectors(one(trace.select(memory, access, launch=0, warp=warp), 0))
    row_bytes = pitch(trace, memory)
    for row in range(32):
        for sector in range(4):
            used = touched.get(row * row_bytes + sector * 32)
            axes.add_patch(
                Rectangle((sector * 32, row), 32, 1, fc="white" if used is None else "#BFE1F5",
                          ec="#BDBDBD" if used is None else "#303030", lw=0.5, zorder=2 if used is None else 3))
            if used is not None:
                for word in range(8):
                    if used[4 * word:4 * word + 4].all():
                        axes.add_patch(
                            Rectangle((sector * 32 + 4 * word, row), 4, 1, fc=BLUE, ec="white", lw=0.4, zorder=4))
                axes.add_patch(Rectangle((sector * 32, row), 32, 1, fill=False, ec="#303030", lw=0.8, zorder=5))
    moved, used = 32 * len(touched), int(sum(mask.sum() for mask in touched.values()))
    axes.set(xlim=(0, 128), ylim=(32, 0), xlabel=f"byte within the row of {memory}", ylabel=f"row of {memory}")
    axes.set_xticks(range(0, 129, 32))
    axes.set_yticks([0, 8, 16, 24, 31])
    axes.tick_params(length=2)
    done = "read" if access == "load" else "written"
    axes.set_title(f"{title}\n{len(touched)} sectors, {used} of {moved} bytes {done}", pad=6)


def legend(figure, by_warp):
    figure.legend([Patch(facecolor=BLUE, edgecolor="white"), Patch(facecolor="#BFE1F5", edgecolor="#303030"),
                   Patch(facecolor="white", edgecolor="#BDBDBD")],
                  [by_warp, "rest of a touched sector", "not touched"], loc="lower left",
                  bbox_to_anchor=(0.0, 0.055), ncols=3, frameon=False, handlelength=1.4, columnspacing=1.3)


@styled
def draw(traces, stem):
    (naive, _), (coalesced, _) = (traces[name] for name in TRACES)
    figure, [panels] = canvas(7, 4.75, 1, 2, left=0.62, right=0.2, bottom=1.02, top=0.68, wspace=0.55)
    warp = 3
    for axes, trace, name in ((panels[0], naive, "step 2"), (panels[1], coalesced, "step 3")):
        panel(axes, trace, "odata", "store", warp, f"{name}: {trace.kernel}")
    legend(figure, "written by the warp")
    save(figure, stem, counted_note(naive, coalesced, more=f"One store of warp {warp}, 32 lanes."))
