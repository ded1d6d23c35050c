"""The memories of a card: where each lies, its size, and what was measured of it."""

from matplotlib.patches import Rectangle

from .shared import GREY, canvas, save, styled

BENCHED = "h200_micro.csv"
# From the thread outwards: the size on an H200, the rows of BENCHED that are its latency and its bandwidth, and what
# makes GB/s of the latter.
MEMORIES = {
    "registers": ("256 KiB", "latency_registers", None, 0),
    "shared": ("228 KiB", "latency_shared", "wavefronts", 128e-9),
    "L1 cache": ("256 KiB,\nwith shared", "latency_l1", "l1_bandwidth", 1),
    "L2 cache": ("60 MiB", "latency_l2", "l2_bandwidth", 1),
    "global (DRAM)": ("141 GB", "latency_dram", "stream", 1),
}
BOXES = [(7, 31, 26, "#A9D5F2"), (37, 31, 26, "#BFE3D5"), (67, 31, 26, "#F6DCA5"), (5, 18.5, 90, "#F6DCA5"),
         (2.5, 3, 95, "#D9D9D9")]


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
    for (name, (size, latency, bandwidth, factor)), (x, y, wide, colour) in zip(MEMORIES.items(), BOXES, strict=True):
        measured = ((found.get(latency), "clocks"), (found.get(bandwidth, 0) * factor, "GB/s"))
        lines = [name, size, *([f"{value:.0f} {unit}" for value, unit in measured if value] or ["not measured"])]
        high = 9.5 if wide > 50 else 18
        axes.add_patch(Rectangle((x, y), wide, high, facecolor=colour, edgecolor="#404040", lw=0.8))
        axes.text(x + wide / 2, y + high / 2, (" · " if wide > 50 else "\n").join(lines), ha="center", va="center",
                  fontsize=12, linespacing=1.15)
    save(figure, stem, f"{rows[0]['machine']}, measured {rows[-1]['date_utc'][:7]} by bench/microbench.cu; "
                       "bandwidths of all SMs together. "
                       "Not to scale.")
