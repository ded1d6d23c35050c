"""What the figures share: the style, colours, rows of results and requests of traces."""

import functools
import html
import io
import pathlib
import re

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap

import facts
import whole

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "plots/data"

# Okabe and Ito's colours, which colour-blind readers tell apart.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = \
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#595959"

# How the lines of the lesson kernels look, in the order of the list of lessons: colour, marker, line. Those of a new
# lesson are like the last.
LOOKS = [(GREY, "s", "--"), (GREY, "D", ":"), (RED, "v", "-"), (ORANGE, "o", "-"), (GREEN, "^", "-"), (SKY, "<", "-."),
         (PURPLE, ">", "-."), (BLUE, "X", "--"), (BLACK, "*", "-")]
LESSONS = {lesson.kernel: (lesson.number, *LOOKS[min(i, len(LOOKS) - 1)]) for i, lesson in enumerate(facts.LESSONS)}
COPY_ENGINE = "cudaMemcpy"
MODEL_BAND = 0.10  # how far the model of the H200 is from the measurement, at most

# What figures are laid out with, and what a browser takes where it is missing. The others are as wide or narrower, so
# that text still fits.
FONT, FONTS = "DejaVu Sans", "'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif"

STYLE = {
    "font.family": FONT, "font.size": 10, "axes.titlesize": 10.5, "axes.labelsize": 10, "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5, "legend.fontsize": 9.5, "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "grid.color": "#D9D9D9", "grid.linewidth": 0.7, "figure.facecolor": "white",
    "savefig.facecolor": "white", "hatch.linewidth": 0.8, "svg.fonttype": "none", "svg.hashsalt": "figures",
    "path.simplify": True, "figure.dpi": 150, "savefig.dpi": 150,
    "text.parse_math": False,  # a machine may be called $x$
}
NOTE = {"fontsize": 9, "color": GREY, "ha": "left", "va": "bottom"}


def styled(draw):
    """A figure function, with the style in force while it draws."""
    @functools.wraps(draw)
    def drawn(*arguments, **options):
        with matplotlib.rc_context(STYLE):
            try:
                return draw(*arguments, **options)
            finally:
                plt.close("all")
    return drawn


def canvas(width, height, rows=1, columns=1, *, left, right, bottom, top, wspace=0.0, hspace=0.0, **options):
    """A figure and its axes; margins and the space between in inches."""
    figure = plt.figure(figsize=(width, height))
    wide = (width - left - right - (columns - 1) * wspace) / columns
    high = (height - bottom - top - (rows - 1) * hspace) / rows
    grid = figure.add_gridspec(rows, columns, left=left / width, right=1 - right / width, bottom=bottom / height,
                               top=1 - top / height, wspace=wspace / wide, hspace=hspace / high, **options)
    return figure, np.array([[figure.add_subplot(grid[i, j]) for j in range(columns)] for i in range(rows)])


def says(artist, text):
    """What a point is: shown by a browser beside the pointer."""
    artist.figure.said = [*getattr(artist.figure, "said", []), text]
    artist.set_gid(f"says{len(artist.figure.said)}")


def plain(svg):
    """The same SVG with its fonts named once. A browser without the first one takes the next."""
    svg = re.sub(rf"font-family: '{FONT}'(?:; )?", "", svg)
    svg = svg.replace(f"'{FONT}'", FONTS)  # older versions of matplotlib have the family among other properties
    svg = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", svg)
    return re.sub(r"(<svg\b)", lambda m: f'{m[1]} font-family="{FONTS}"', svg, count=1)


def save(figure, stem, note):
    """Writes the figure and, below it, where its figures come from."""
    figure.text(0.08 / figure.get_figwidth(), 0.06 / figure.get_figheight(), note, **NOTE)
    svg = io.StringIO()
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    text = plain(svg.getvalue())
    for number, said in enumerate(getattr(figure, "said", []), 1):
        text = text.replace(
            f'<g id="says{number}">', f'<g id="says{number}" '
            f'data-say="{html.escape(said)}"><title>{html.escape(said)}</title>', 1)
    described = html.escape(" ".join(note.split()))
    whole.write(f"{stem}.svg", re.sub(r"(<svg\b[^>]*>)", lambda m: f"{m[1]}\n <desc>{described}</desc>", text, count=1))


def mark(axes, x, y, marker, colour, text, size=6):
    """A point of a line, which says what it is."""
    (point,) = axes.plot(x, y, marker if marker != "None" else ".", color=colour, ms=9 if marker == "*" else size,
                         mec="white", mew=0.5, ls="none", zorder=3)
    says(point, text)


# How blocks walk the tiles.
CARTESIAN, DIAGONAL = "Cartesian order", "diagonal order"


# Rows of results.

def squares(rows, backends, quantity, kernels=None):
    """{kernel: {n: row}} of n x n floats that have the quantity; and the machines. Of several rows of one kernel and
    size, as cudaMemcpy has, beside every step, the median of those of the latest commit, the lower of two."""
    several, machines = {}, set()
    for row in rows:
        if row["backend"] in backends and row["type"] == "float" and row["width"] == row["height"] and row[quantity] \
                and (kernels is None or row["kernel"] in kernels):
            several.setdefault(row["kernel"], {}).setdefault(int(row["width"]), []).append(row)
            machines.add(row["machine"])
    return {kernel: {n: typical(same, quantity) for n, same in sizes.items()}
            for kernel, sizes in several.items()}, sorted(machines)


def typical(rows, quantity):
    latest = max(rows, key=lambda row: row["date_utc"])["commit"]
    rows = sorted((row for row in rows if row["commit"] == latest), key=lambda row: float(row[quantity]))
    return rows[(len(rows) - 1) // 2]


def one_machine(machines, what):
    """Why these rows make no figure, or None."""
    if not machines:
        return f"no rows of {what}"
    if len(machines) > 1:
        return f"rows of several machines ({', '.join(machines)})"
    return None


def one_size(found, kernels):
    """(n, None) for the n x n that all kernels have, 16384 before the largest; or (None, why there is none). `found`:
    {kernel: {n: row}}."""
    if missing := [kernel for kernel in kernels if kernel not in found]:
        return None, f"no rows of {', '.join(missing)}"
    common = set.intersection(*(set(found[kernel]) for kernel in kernels))
    if not common:
        return None, f"no size that all of {', '.join(kernels)} have results for"
    return (16384 if 16384 in common else max(common)), None


def dates(rows):
    return ", ".join(sorted({row["date_utc"][:7] for row in rows}))


def measured_note(machine, rows, more=""):
    drivers = sorted({row["driver"] for row in rows if row["driver"]})
    return (f"Measured on one {machine}{', driver ' + ', '.join(drivers) if drivers else ''}, "
            f"{dates(rows)}.{' ' + more if more else ''}")


def spread(positions, gap):
    """The positions, moved apart as little as it takes to leave a gap between any two; order is kept."""
    order = np.argsort(positions, kind="stable")
    groups = []  # [sum of (position - index * gap), members]
    for index, i in enumerate(order):
        groups.append([positions[i] - index * gap, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, members = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += members
    moved = (np.concatenate([np.full(members, total / members) for total, members in groups])
             + np.arange(len(order)) * gap)
    result = np.empty(len(order))
    result[order] = moved
    return result


def label_lines(axes, ends, inches_high):
    """Names of lines at their right ends: (x, y, text, colour) in data coordinates."""
    to_axes = axes.transData + axes.transAxes.inverted()
    points = np.array([to_axes.transform((x, y)) for x, y, _, _ in ends])
    for (x, y), at, (_, _, text, colour) in zip(points, spread(points[:, 1], 0.175 / inches_high), ends):
        axes.annotate(
            text, (x, y), (1.055, at), "axes fraction", "axes fraction", va="center", ha="left", fontsize=9.5,
            color="black", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.8, "shrinkA": 1, "shrinkB": 5, "relpos": (0, 0.5)})


# Traces.

def counted_note(*traces, more=""):
    machines = list(dict.fromkeys(trace.machine for trace in traces))
    matrices = list(dict.fromkeys(f"{trace.width} × {trace.height} {trace.type}" for trace in traces))
    return (f"Traced and counted by the simulator for the {', '.join(machines)}; "
            f"{', '.join(matrices)}.{' ' + more if more else ''}")


def pitch(trace, memory):
    """Bytes from one row to the next; of odata, if it is the transposed matrix."""
    return (trace.width if memory == "idata" else trace.height) * trace.element_bytes


def places(trace, request, memory):
    """(row, column) of the elements that a request touches, lane by lane."""
    offsets = request.offsets[request.offsets >= 0]
    return np.stack([offsets // pitch(trace, memory), offsets % pitch(trace, memory) // trace.element_bytes], axis=1)


def one(trace, index):
    """A single request, as a trace of one."""
    keep = np.zeros(len(trace), bool)
    keep[index] = True
    return type(trace)(trace.of, {name: getattr(trace, name)[keep] for name in trace.FIELDS})


def tile_pitch(trace):
    """Bytes between the rows of the tile in shared memory: between the first elements of what one warp fills in one go
    and another in the next."""
    fills = trace.select("shared", "store", launch=0)
    starts = np.unique(np.where(fills.offsets >= 0, fills.offsets, np.iinfo(np.int64).max).min(axis=1))
    return int(np.diff(starts).min())


def tiles(trace, memory):
    """Of every block, in launch order: (row, column) of its tile in the matrix, in tiles, and the partition of the
    tile's first element."""
    access = "load" if memory == "idata" else "store"
    requests = trace.select(memory, access)
    first = np.where(requests.offsets >= 0, requests.offsets, np.iinfo(np.int64).max).min(axis=1)
    order = np.lexsort((first, requests.launch))
    # of each launch, the request that begins first
    heads = order[np.unique(requests.launch[order], return_index=True)[1]]
    row, column = first[heads] // pitch(trace, memory), first[heads] % pitch(trace, memory) // trace.element_bytes
    starts = np.unique(np.concatenate([row, column]))
    side = int(np.diff(starts).min()) if len(starts) > 1 else 1
    return np.stack([row // side, column // side], axis=1), requests.partition[heads]


def wheel(count):
    """As many light colours, each unlike its neighbours; the last is next to the first again."""
    turn = 2 * np.pi * np.arange(count)[:, None] / count + np.array([0, -2, 2]) * np.pi / 3
    return ListedColormap(0.8 + 0.17 * np.cos(turn))
