"""The memories of a card: where each lies, its size, and what was measured of it."""

from matplotlib.patches import Rectangle

import subjects

from .shared import GREY, canvas, save, styled

BENCHED = "h200_micro.csv"


@styled
def draw(rows, stem):
    found = {r["constant"]: float(r["value"]) for r in rows}
    figure, [[axes]] = canvas(7, 3.8, left=0.1, right=0.1, bottom=0.4, top=0.1)
    axes.set(xlim=(0, 100), ylim=(0, 60))
    axes.axis("off")
    for x, y, wide, high, colour, title in ((1, 1, 98, 58, "#FFFFFF", ""), (2.5, 17, 95, 40.5, "#EFEFEF", "the chip"),
                                            (5, 29.5, 90, 24, "#FFFFFF", "one multiprocessor (SM) of many")):
        if title:
            axes.add_patch(Rectangle((x, y), wide, high, facecolor=colour, edgecolor="#404040", lw=0.8))
            axes.text(x + 1, y + high - 0.8, title, va="top", fontsize=11, color=GREY)
    boxes = {
        "registers": (7, 31, 26), "shared": (37, 31, 26), "L1 cache": (67, 31, 26), "L2 cache": (5, 18.5, 90),
        "global (DRAM)": (2.5, 3, 95)}
    colours = dict(zip(boxes, ("#A9D5F2", "#BFE3D5", "#F6DCA5", "#F6DCA5", "#D9D9D9")))
    for name, (x, y, wide) in boxes.items():
        size = subjects.MEMORIES[name][3].replace(", with shared", ",\nwith shared").replace(" per SM", "")
        lines = [name, size, *subjects.measured_words(name, found)]
        high = 9.5 if wide > 50 else 18
        axes.add_patch(Rectangle((x, y), wide, high, facecolor=colours[name], edgecolor="#404040", lw=0.8))
        axes.text(x + wide / 2, y + high / 2, (" · " if wide > 50 else "\n").join(lines), ha="center", va="center",
                  fontsize=12, linespacing=1.15)
    save(figure, stem, f"{rows[0]['machine']}, measured {rows[-1]['date_utc'][:7]} by bench/microbench.cu; "
                       "bandwidths of all SMs together. "
                       "Not to scale.")
