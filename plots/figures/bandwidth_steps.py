"""Effective bandwidth of each step's lesson kernel, as bars."""

from matplotlib.patches import Patch

from .shared import (BLUE, COPY_ENGINE, GREY, LESSONS, canvas, measured_note, one_machine, one_size, save, says,
                     squares, styled)

FILES = ["h200_steps.csv"]


@styled
def draw(rows, stem):
    kernels = [COPY_ENGINE, *LESSONS]
    found, machines = squares(rows, ["cuda"], "bandwidth_gbs", kernels)
    if reason := one_machine(machines, "float squares, measured on a GPU"):
        return reason
    n, reason = one_size(found, kernels)
    if reason:
        return reason
    here = {kernel: sizes[n] for kernel, sizes in found.items()}
    gbs = {kernel: float(row["bandwidth_gbs"]) for kernel, row in here.items()}

    looks = {"copy": ("#BFBFBF", "////", "copy"), "transpose": (BLUE, None, "transpose"),
             "half": ("#A9D5F2", "\\\\\\\\", "half a transpose: elements or tiles stay in place")}
    figure, [[axes]] = canvas(7, 4.4, left=2.33, right=0.6, bottom=1.0, top=0.42)
    limit = max(gbs.values()) * 1.01
    for i, kernel in enumerate(kernels):
        produces = here[kernel]["produces"]
        colour, hatch, _ = looks[produces if produces in looks else "half"]
        (bar,) = axes.barh(i, gbs[kernel], 0.72, color=colour, hatch=hatch, edgecolor="#404040", linewidth=0.7)
        says(bar, f"{kernel}: {gbs[kernel]:.0f} GB/s measured, {n} × {n} float")
        axes.text(-0.012, i, LESSONS[kernel][0] if kernel in LESSONS else "–", transform=axes.get_yaxis_transform(),
                  va="center", ha="right")
        axes.text(1.1, i, f"{gbs[kernel]:.0f}", transform=axes.get_yaxis_transform(), va="center", ha="right")
    axes.axvline(gbs[COPY_ENGINE], color="black", lw=1.3, ls=(0, (4, 2)), zorder=4)
    axes.text(gbs[COPY_ENGINE], -0.62, COPY_ENGINE, ha="right", va="bottom", fontsize=9.5)
    axes.set_yticks(range(len(kernels)), kernels)
    axes.text(-0.012, 1.025, "step", transform=axes.transAxes, ha="right", fontsize=9.5, color=GREY)
    axes.text(1.1, 1.025, "GB/s", transform=axes.transAxes, ha="right", fontsize=9.5, color=GREY)
    axes.tick_params(axis="y", length=0, pad=20)
    axes.set(ylim=(len(kernels) - 0.45, -0.55), xlim=(0, limit),
             xlabel=f"effective bandwidth, GB/s ({n} × {n} float)")
    axes.grid(axis="x")
    figure.legend([Patch(facecolor=c, hatch=h, edgecolor="#404040") for c, h, _ in looks.values()],
                  [t for _, _, t in looks.values()], loc="lower left", bbox_to_anchor=(0.0, 0.055), ncols=3,
                  frameon=False, handlelength=1.6, columnspacing=1.4)
    save(figure, stem, measured_note(machines[0], here.values()))
    return None
