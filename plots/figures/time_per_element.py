"""Time per element over the side of the matrix, on one core of a CPU and on a GPU."""

import math

from .shared import (BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, canvas, dates, label_lines, mark, one_machine,
                     save, squares, styled)

FILES = ["h200_report.csv"]


@styled
def draw(rows, stem):
    serial = {"transposeSerialRead": ("serial, reads rows", RED, "v", "-"),
              "transposeSerialWrite": ("serial, writes rows", ORANGE, "^", "--"),
              "transposeSerialBlocked": ("serial, in blocks", PURPLE, "o", "-"),
              "memcpy": ("memcpy", GREY, "None", "-")}
    kernels = {"transposeRow16": ("naive, 16 × 16 threads", SKY, "s", "-"),
               "transposeTile16Padded": ("tile 16 × 17", GREEN, "P", "--"),
               "transposeNaive": ("2 transposeNaive", SKY, "D", ":"),
               "transposeNoBankConflicts": ("4 transposeNoBankConflicts", BLUE, "X", "-"),
               "transposeLongPieces": ("7 transposeLongPieces", BLACK, "*", "-"),
               "cudaMemcpy": ("cudaMemcpy", GREY, "None", "-")}
    cpu, cpus = squares(rows, ["cpu"], "time_median_ms", serial)
    gpu, gpus = squares(rows, ["cuda"], "time_median_ms", kernels)
    if reason := one_machine(gpus, "float squares measured on a GPU") if gpus or not cpus else None:
        return reason
    if len(cpus) > 1:
        return f"serial rows of several machines ({', '.join(cpus)})"
    if max((len(sizes) for found in (cpu, gpu) for sizes in found.values()), default=0) < 2:
        return "nothing was measured at two sizes"
    figure, [[axes]] = canvas(7, 4.7, left=0.8, right=2.12, bottom=0.98, top=0.15)
    ends, used, all_n = [], [], set()
    for found, looks in ((cpu, serial), (gpu, kernels)):
        for kernel, (name, colour, marker, line) in looks.items():
            if kernel in found:
                sizes = sorted(found[kernel])
                ns = [float(found[kernel][n]["time_median_ms"]) * 1e6 / n / n for n in sizes]
                used += found[kernel].values()
                all_n |= set(sizes)
                axes.plot(sizes, ns, color=colour, ls=line, lw=2.4 if marker == "None" else 1.5)
                for n, value in zip(sizes, ns):
                    mark(axes, n, value, marker, colour,
                         f"{kernel}: {value:.3g} ns per element measured, {n} × {n} float")
                ends.append((sizes[-1], ns[-1], name, colour))
    axes.set(xscale="log", yscale="log", xlabel="n, of n × n floats", ylabel="time per element, ns")
    axes.set_xscale("log", base=2)
    powers = sorted(n for n in all_n if n & (n - 1) == 0)
    axes.set_xticks(powers, [str(n) for n in powers])
    axes.minorticks_off()
    axes.grid()
    low, high = axes.get_ylim()
    decades = [10.0 ** k for k in range(-6, 6) if low <= 10.0 ** k <= high]
    axes.set_yticks(decades, [f"{t:g}" for t in decades])
    # Between the lines of the host and those of the GPU, at their right ends.
    ends_of = {text: [float(sizes[max(sizes)]["time_median_ms"]) * 1e6 / max(sizes) ** 2 for sizes in found.values()]
               for text, found in (("one core of a CPU", cpu), ("GPU", gpu)) if found}
    middle = math.sqrt(min(ends_of.get("one core of a CPU", [high])) * max(ends_of.get("GPU", [low])))
    if len(ends_of) == 2:
        axes.axhline(middle, color="black", lw=0.8)
    for text, factor in (("one core of a CPU", 1.4), ("GPU", 1 / 1.4)):
        if text in ends_of:
            axes.text(0.985, middle * factor, text, transform=axes.get_yaxis_transform(), fontsize=10,
                      fontweight="bold", color=GREY, va="center", ha="right")
    label_lines(axes, ends, 4.7 - 1.13)
    note = []
    if cpus:
        note.append(f"Measured: serial functions and memcpy on one core of {cpus[0].replace('(R)', '')},")
    note.append(f"{'kernels' if cpus else 'Measured:'} and cudaMemcpy on one {gpus[0]}" if gpus else "")
    save(figure, stem, "\n".join(note).rstrip(",\n") + f", {dates(used)}.")
    return None
