"""A transpose, and where rows and columns lie in linear memory."""

from matplotlib.patches import Patch, Rectangle

from .shared import GREY, canvas, save, styled

ROWS, COLUMNS = 3, 5
ROW, COLUMN = 1, 3  # of idata, the ones that are coloured
BOTH, ROW_TINT, COLUMN_TINT, PLAIN = "#CBB4D4", "#A9D5F2", "#F3C5A0", "#F4F4F4"


def tint(row, column):
    if row == ROW:
        return BOTH if column == COLUMN else ROW_TINT
    return COLUMN_TINT if column == COLUMN else PLAIN


def letter(row, column):
    return "abcdefghijklmno"[row * COLUMNS + column]


@styled
def draw(stem):
    figure, [[axes]] = canvas(7, 4.3, left=0.1, right=0.1, bottom=0.75, top=0.1)
    axes.set(xlim=(0, 34), ylim=(17.2, 0))
    axes.axis("off")

    def cell(x, y, row, column, wide=1.7, high=1.25):
        axes.add_patch(Rectangle((x, y), wide, high, fc=tint(row, column), ec="#404040", lw=0.8))
        axes.text(x + wide / 2, y + high / 2, letter(row, column), ha="center", va="center", fontsize=10)

    for name, left, rows, columns, of in (("idata", 3.2, ROWS, COLUMNS, lambda r, c: (r, c)),
                                          ("odata", 22.5, COLUMNS, ROWS, lambda r, c: (c, r))):
        axes.text(left + columns * 0.85, 0.75, f"{name}, {rows} × {columns}", ha="center", va="center")
        for row in range(rows):
            axes.text(left - 0.5, 2.6 + row * 1.25, str(row), ha="center", va="center", fontsize=9, color=GREY)
            for column in range(columns):
                cell(left + column * 1.7, 2 + row * 1.25, *of(row, column))
        for column in range(columns):
            axes.text(left + column * 1.7 + 0.85, 1.65, str(column), ha="center", va="center", fontsize=9, color=GREY)
    axes.annotate("", (20.7, 4), (13.2, 4), arrowprops={"arrowstyle": "-|>", "lw": 1.5, "color": "black"})
    axes.text(16.9, 3.4, "transpose", ha="center", va="center")
    axes.text(16.9, 4.8, "odata[c][r] = idata[r][c]", ha="center", va="center", fontsize=9)

    for name, top, of in (("idata", 10.2, lambda i: divmod(i, COLUMNS)),
                          ("odata", 14.2, lambda i: divmod(i, ROWS)[::-1])):
        axes.text(3.4, top + 0.65, name, ha="right", va="center")
        for i in range(ROWS * COLUMNS):
            cell(4 + i * 1.95, top, *of(i), wide=1.95, high=1.3)
            axes.text(4 + i * 1.95 + 0.975, top + 1.85, str(i), ha="center", va="center", fontsize=8.5, color=GREY)
    axes.text(4, 9.6, f"In memory, row after row: element (r, c) of idata is idata[r * {COLUMNS} + c].", va="center",
              fontsize=9.5)
    axes.text(4, 13.6, f"Element (c, r) of odata is odata[c * {ROWS} + r].", va="center", fontsize=9.5)
    figure.legend([Patch(fc=ROW_TINT, ec="#404040"), Patch(fc=COLUMN_TINT, ec="#404040")],
                  [f"row {ROW} of idata: together in idata, spread out in odata",
                   f"column {COLUMN} of idata: spread out in idata, together in odata"],
                  loc="lower left", bbox_to_anchor=(0.0, 0.06), frameon=False, handlelength=1.4, labelspacing=0.3)
    save(figure, stem, "A drawing, not a measurement.")
