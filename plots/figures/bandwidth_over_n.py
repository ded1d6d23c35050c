"""Effective bandwidth over the side of the matrix."""

from .shared import (COPY_ENGINE, GREY, LESSONS, canvas, label_lines, mark, measured_note, one_machine, save, squares,
                     styled)
from .waterfall import RUNGS

FILES = ["h200_report.csv"]
SHARED_FROM = 1024  # n: below, the launch takes most of the time, and a share of the copy says nothing of the memory


@styled
def draw(rows, stem):
    found, machines = squares(rows, ["cuda"], "bandwidth_gbs", [*LESSONS, COPY_ENGINE])
    if reason := one_machine(machines, "float squares measured on a GPU"):
        return reason
    found = {kernel: {n: row for n, row in sizes.items() if row["memory"] == "DRAM" and n & (n - 1) == 0}
             for kernel, sizes in found.items()}
    found = {kernel: sizes for kernel, sizes in found.items() if len(sizes) > 1}
    if not any(kernel in found for kernel in LESSONS):
        return "no lesson kernel was measured at two powers of two out of the cache's reach"
    # The lower panel shows shares of it, for the kernels of the waterfall.
    copied = {n: row for n, row in found.get(COPY_ENGINE, {}).items() if n >= SHARED_FROM}
    copied = copied if len(copied) > 1 else {}
    figure, panels = canvas(7, 6.5 if copied else 4.4, 2 if copied else 1, left=0.72, right=2.15, bottom=0.98, top=0.2,
                            hspace=0.3, **({"height_ratios": [3, 2]} if copied else {}))
    axes = panels[0, 0]
    ends, used = [], []
    for kernel, (step, colour, marker, line) in {COPY_ENGINE: ("", GREY, "None", "-"), **LESSONS}.items():
        if kernel in found:
            sizes = sorted(found[kernel])
            gbs = [float(found[kernel][n]["bandwidth_gbs"]) for n in sizes]
            used += found[kernel].values()
            axes.plot(sizes, gbs, color=colour, ls=line, lw=2.4 if kernel == COPY_ENGINE else 1.5)
            for n, value in zip(sizes, gbs):
                mark(axes, n, value, marker, colour, f"{kernel}: {value:.0f} GB/s measured, {n} × {n} float")
            shares = {n: value / float(copied[n]["bandwidth_gbs"]) for n, value in zip(sizes, gbs)
                      if n in copied and kernel in (*RUNGS, COPY_ENGINE)}
            if shares:
                panels[1, 0].plot(shares.keys(), shares.values(), color=colour, ls=line,
                                  lw=2.4 if kernel == COPY_ENGINE else 1.5)
            for n, share in shares.items():
                mark(panels[1, 0], n, share, marker, colour, f"{kernel}: {share:.2f} of {COPY_ENGINE}, {n} × {n} float")
            ends.append((sizes[-1], gbs[-1], f"{step} {kernel}".strip(), colour))
    sizes = sorted({n for by_size in found.values() for n in by_size})
    for panel in panels[:, 0]:
        panel.set_xscale("log", base=2)
        panel.set_xticks(sizes, [str(n) for n in sizes])
        panel.minorticks_off()
        panel.set_ylim(0, None)
        panel.grid()
    axes.set_ylabel("effective bandwidth, GB/s")
    panels[-1, 0].set_xlabel("n, of n × n floats")
    if copied:
        panels[1, 0].set_xlim(axes.get_xlim())
        panels[1, 0].set_ylabel(f"as a share of {COPY_ENGINE}")
        panels[1, 0].text(0.02, 0.06, f"steps 2, 3, 4 and 7, from n = {SHARED_FROM} on", fontsize=9, color=GREY,
                          transform=panels[1, 0].transAxes)
    label_lines(axes, ends, axes.get_position().height * figure.get_figheight())
    save(figure, stem, measured_note(machines[0], used, "\nEach run passes through more matrices than the L2 holds."))
    return None
