"""Time that each idea saves, from the naive transpose to the copy."""

from matplotlib.patches import Patch

from .shared import (BLUE, COPY_ENGINE, GREY, LESSONS, RED, canvas, measured_note, one_machine, one_size, save, says,
                     squares, styled)

FILES = ["h200_steps.csv"]
RUNGS = {
    "transposeNaive": "naive", "transposeCoalesced": "coalesced", "transposeNoBankConflicts": "padded",
    "transposeLongPieces": "longer pieces"}
SAVED = "#C9DFEE"


@styled
def draw(rows, stem):
    kernels = [*RUNGS, COPY_ENGINE]
    found, machines = squares(rows, ["cuda"], "time_median_ms", kernels)
    if reason := one_machine(machines, "float squares, measured on a GPU"):
        return reason
    n, reason = one_size(found, kernels)
    if reason:
        return reason
    ms = [float(found[kernel][n]["time_median_ms"]) for kernel in kernels]

    figure, [[axes]] = canvas(7, 3.3, left=1.75, right=1.75, bottom=1.0, top=0.35)
    for i, (kernel, time, before) in enumerate(zip(kernels, ms, [None, *ms])):
        copy = kernel == COPY_ENGINE
        (bar,) = axes.barh(i, time, 0.66, color="#BFBFBF" if copy else BLUE, edgecolor="#404040", linewidth=0.7)
        says(bar, f"{kernel}: {time:.3g} ms measured, {n} × {n} float")
        if not copy: bar.set_url(f"#step-{LESSONS[kernel][0]}")
        if before is not None and not copy:
            saved = before - time
            (part,) = axes.barh(i, saved, 0.66, time, color=SAVED if saved >= 0 else RED, hatch="////",
                                edgecolor="#7FA6C4", linewidth=0.7)
            says(part, f"{RUNGS[kernel]} {'saves' if saved >= 0 else 'costs'} {abs(saved):#.2g} ms of {before:.3g} ms")
            axes.text(1.42, i, f"{'−' if saved >= 0 else '+'}{abs(saved):#.2g}", transform=axes.get_yaxis_transform(),
                      va="center", ha="right", color=GREY)
            axes.plot([before, before], [i - 0.67, i - 0.33], color=GREY, lw=0.8)
        axes.text(1.18, i, f"{time:#.3g}", transform=axes.get_yaxis_transform(), va="center", ha="right")
    axes.text(1.18, 1.03, "time, ms", transform=axes.transAxes, ha="right", fontsize=9.5, color=GREY)
    axes.text(1.42, 1.03, "saved, ms", transform=axes.transAxes, ha="right", fontsize=9.5, color=GREY)
    axes.set_yticks(range(len(kernels)), [
        f"step {LESSONS[k][0]}: {RUNGS[k]}" if k in RUNGS else k for k in kernels])
    axes.tick_params(axis="y", length=0)
    axes.set(ylim=(len(kernels) - 0.45, -0.55), xlim=(0, 1.02 * max(ms)), xlabel=f"time, ms ({n} × {n} float)")
    axes.grid(axis="x")
    figure.legend([
        Patch(facecolor=BLUE, edgecolor="#404040"),
        Patch(facecolor=SAVED, hatch="////", edgecolor="#7FA6C4"),
        Patch(facecolor="#BFBFBF", edgecolor="#404040")],
                  ["the transpose takes", "the idea saves", "a copy of the same bytes"], loc="lower left",
                  bbox_to_anchor=(0.0, 0.07), ncols=3, frameon=False, handlelength=1.6, columnspacing=1.4)
    save(figure, stem, measured_note(machines[0], [found[kernel][n] for kernel in kernels]))
    return None
