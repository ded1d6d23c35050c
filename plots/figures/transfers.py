"""Bandwidth of copies between host and GPU over their size."""

from .shared import BLUE, ORANGE, canvas, dates, label_lines, save, styled

BENCHED = "h200_transfers.csv"


def bytes_text(count):
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count // size} {unit}"
    return f"{count} bytes"


@styled
def draw(rows, stem):
    figure, [[axes]] = canvas(7, 4.2, left=0.72, right=2.0, bottom=0.8, top=0.15)
    ends = []
    for way, colour, name in (("to_device", BLUE, "to the GPU"), ("to_host", ORANGE, "to the host")):
        for memory, marker, line in (("pinned", "o", "-"), ("pageable", "s", "--")):
            points = sorted(
                (int(r["bytes"]), float(r["bandwidth_gbs"])) for r in rows if (r["way"], r["memory"]) == (way, memory))
            axes.plot(*zip(*points), color=colour, marker=marker, ls=line, lw=1.5, ms=5)
            ends.append((*points[-1], f"{name}, {memory}", colour))
    axes.set_xscale("log", base=2)
    sizes = sorted({int(r["bytes"]) for r in rows})[::2]
    axes.set_xticks(sizes, [bytes_text(size) for size in sizes])
    axes.minorticks_off()
    axes.set(ylim=(0, None), xlabel="bytes of one copy", ylabel="GB/s")
    axes.grid()
    label_lines(axes, ends, 4.2 - 0.95)
    save(figure, stem, f"Measured on one {rows[0]['machine']} and its host, {dates(rows)}.")
