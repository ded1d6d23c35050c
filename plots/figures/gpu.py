"""The parts of a launch, and the parts of a GPU that run them."""

from matplotlib.patches import Rectangle

from .shared import BLUE, canvas, save, styled

TINT, SHARED, PLAIN = "#BFE1F5", "#FBE3D3", "#EFEFEF"


@styled
def draw(stem):
    figure, [[axes]] = canvas(7, 3.2, left=0.08, right=0.08, bottom=0.3, top=0.04)
    axes.set(xlim=(0, 100), ylim=(44, 0))
    axes.axis("off")

    def box(x, y, wide, high, fill="white", words="", edge="#404040", **font):
        axes.add_patch(Rectangle((x, y), wide, high, fc=fill, ec=edge, lw=0.8))
        axes.text(x + wide / 2, y + high / 2, words, ha="center", va="center", **font)

    def arrow(start, end):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "lw": 1.6, "color": BLUE, "shrinkA": 0,
                                                  "shrinkB": 0})

    for y, name, words, count in ((0, "grid", ": all blocks of a launch", 6), (15.5, "block", ": up to 32 warps", 8),
                                  (31, "warp", ": 32 threads, its lanes", 32)):
        title = axes.text(8 if y else 0, y + 2, name, va="center", fontsize=12, fontweight="bold")
        axes.annotate(words, (1, 0.5), xycoords=title, va="center", fontsize=12)
        wide = 42 / count
        for i in range(count):  # the first one is shown larger in the next row
            box(wide * i, y + 4.5, wide - (0.3 if count > 8 else 0.9), 6.5,
                BLUE if i == 0 and count < 32 else TINT, edge="none")
        if count < 32:
            arrow((wide / 2 - 0.4, y + 11), (wide / 2 - 0.4, y + 19.8))

    box(50, 0.5, 49.8, 33, PLAIN)
    axes.text(51.5, 3, "GPU: an H200 has 132 SMs", va="center", fontsize=12)
    for x, name in ((52, "SM 0"), (68, "SM 1"), (84, "… SM 131")):
        box(x, 5.5, 14.3, 17.5)
        axes.text(x + 7.15, 7.8, name, ha="center", va="center", fontsize=12, fontweight="bold")
        for i in range(2):
            box(x + 0.8 + 6.5 * i, 10.2, 6.2, 5.4, BLUE if x == 52 and i == 0 else TINT, "block", "none", fontsize=10.5,
                color="white" if x == 52 and i == 0 else "black")
        box(x + 0.8, 16.4, 12.7, 5.8, SHARED, "shared\nmemory", "none", fontsize=10.5, linespacing=0.95)
        arrow((x + 7.15, 23), (x + 7.15, 26.2))
    box(52, 26.2, 46.3, 5.8, words="L2 cache", fontsize=12)
    arrow((75.15, 32), (75.15, 36.6))
    box(50, 36.6, 49.8, 6, words="DRAM: global memory", fontsize=12)
    save(figure, stem, "Strong blue: a block, which one SM runs from beginning to end, and a warp of this block.")
