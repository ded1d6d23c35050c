"""Pictures of the slides that show a principle and no data: a store down a column, a race, a padding.

Each function returns an SVG with real text. The colours are those of plots/figures.
"""

import html

BLUE, ORANGE, SKY, INK, MUTED, LINE = "#0072b2", "#d55e00", "#bfe1f5", "#1a1a1a", "#595959", "#bdbdbd"


def box(x, y, width, height, fill="#fff", stroke=INK, **more):
    rest = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return (f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{stroke}"'
            f'{rest}/>')


def text(x, y, words, size=15, fill=INK, anchor="middle", **more):
    rest = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" text-anchor="{anchor}"{rest}>'
            f"{html.escape(words)}</text>")


def arrow(x1, y1, x2, y2, colour=INK):
    return (f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{colour}" stroke-width="2.5" fill="none" '
            f'marker-end="url(#head-{colour[1:]})"/>')


def picture(name, width, height, says, parts):
    heads = "".join(
        f'<marker id="{name}-head-{colour[1:]}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="5" markerHeight="5" '
        f'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{colour}"/></marker>'
        for colour in (INK, BLUE, ORANGE))
    drawn = "".join(parts).replace("url(#head-", f"url(#{name}-head-")  # names are a whole document's
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{html.escape(says)}" data-drawing="{name}" font-family="Helvetica, Arial, sans-serif">'
            f"<defs>{heads}</defs>{drawn}</svg>")


def store():
    """Eight lanes store down a column: each touches another sector."""
    size, parts = 30, [text(16, 26, "odata: a box is a sector of 32 bytes, which is 8 floats", 16, INK, "start")]
    for r in range(8):
        for sector in range(2):
            parts += [box(70 + 250 * sector, 44 + 38 * r, 8 * size, size, SKY if sector == 0 else "#fff",
                          BLUE if sector == 0 else LINE)]
        parts += [box(70 + 2 * size, 44 + 38 * r, size, size, BLUE, "none"),
                  text(60, 65 + 38 * r, f"lane {r}", 14, INK, "end")]
    parts += [text(70 + 2.5 * size, 44 + 38 * 8 + 14, "…", 20),
              text(16, 392, "32 lanes touch 32 sectors. Each sector moves 32 bytes for 4.", 16, INK, "start")]
    return picture("store", 590, 406, "Lanes store down a column of odata. Each lane's float lies in another sector.",
                   parts)


def race():
    """Threads (0, 3) and (3, 0) of step 3 without its barrier, over time: the read comes before the write."""
    parts = [text(20, 30, "Step 3 without __syncthreads(). Time runs down.", 16, INK, "start")]
    for x, name, warp in ((20, "thread (3, 0)", "warp 0"), (400, "thread (0, 3)", "warp 3")):
        parts += [text(x + 165, 66, name, 17, font_weight="bold"), text(x + 165, 86, warp, 14, MUTED),
                  f'<path d="M{x + 165} 96V330" stroke="{LINE}" stroke-width="2"/>']

    def step(x, y, words, colour, fill):
        return [box(x, y, 330, 36, fill, colour, rx=5),
                text(x + 165, y + 23, words, 15, font_family="Menlo, Consolas, DejaVu Sans Mono, monospace")]
    parts += step(20, 106, "tile[0][3] = idata[...]", LINE, "#fff") + step(20, 182, "odata[...] = tile[3][0]", ORANGE,
                                                                           "#fbe3d3")
    parts += step(400, 258, "tile[3][0] = idata[...]", BLUE, SKY)
    parts += [text(365, 176, "too early", 15, ORANGE), arrow(424, 256, 330, 222, ORANGE),
              text(20, 350, "Warps run in no fixed order. Thread (3, 0) reads tile[3][0] before thread (0, 3) has "
                   "written it.", 15, INK, "start")]
    return picture("race", 760, 366, "Without the barrier, thread (3, 0) reads tile[3][0] before thread (0, 3) of "
                   "another warp has written it.", parts)


def padding():
    """The banks of a corner of step 4's tile, without the padding and with it, and the column that a warp reads."""
    parts, wide, high = [], 46, 40
    for x, row, title in ((60, 32, "tile[32][32]: 32 wavefronts"), (500, 33, "tile[32][32 + 1]: 1 wavefront")):
        parts += [text(x + 4 * wide, 24, title, 20, font_weight="bold")]
        for r in range(8):
            for c in range(8):
                read = c == 5
                fill = "#fff" if not read else "#fbe3d3" if row == 32 else SKY
                parts += [box(x + wide * c, 40 + high * r, wide, high, fill, LINE),
                          text(x + wide * c + wide / 2, 67 + high * r, str((r * row + c) % 32), 20,
                               INK if read else MUTED, font_weight="bold" if read else "normal")]
            parts += [text(x - 12, 67 + high * r, str(r), 16, MUTED, "end")]
        parts += [box(x + 5 * wide, 40, wide, 8 * high, "none", ORANGE if row == 32 else BLUE, stroke_width=4),
                  text(x + 5.5 * wide, 386, "…", 22), text(x + 8 * wide + 16, 40 + 4 * high, "…", 22)]
    return picture("padding", 900, 396, "The banks of the first 8 rows and columns of a tile. Without padding, column "
                   "5 lies in bank 5. With it, each row's word lies in another bank.", parts)


DRAWINGS = {"store": store, "race": race, "padding": padding}
