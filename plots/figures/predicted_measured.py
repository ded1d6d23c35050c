"""The model's time of each lesson kernel against the measured one."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from .shared import (BLACK, BLUE, GREEN, GREY, LESSONS, MODEL_BAND, ORANGE, PURPLE, RED, SKY, canvas, dates,
                     one_machine, save, says, spread, squares, styled)

FILES = ["h200_steps.csv", "h200_model.csv"]


@styled
def draw(rows, stem):
    """The model's time against the measured one, for each lesson kernel, at the largest square that has both."""
    measured, machines = squares(rows, ["cuda"], "time_median_ms", LESSONS)
    models, modelled = squares(rows, ["sim"], "model_time_ms", LESSONS)
    if reason := one_machine(machines, "lesson kernels measured on a GPU"):
        return reason
    modelled = [m for m in modelled if machines[0].split()[-1].lower() in m.lower().split() or m == machines[0]]
    if not modelled:
        return f"no rows of a model of the {machines[0]} (./stepNN --device sim --machine)"
    models = {
        kernel: {n: r for n, r in sizes.items() if r["machine"] == modelled[0]} for kernel, sizes in models.items()}
    sizes = [set(measured.get(kernel, ())) & set(models.get(kernel, ())) for kernel in LESSONS]
    if not set.union(*sizes):
        return "no lesson kernel has both a measured time and a model's at one size"
    n = max(set.union(*sizes), key=lambda n: (sum(n in of for of in sizes), n))
    points = {
        k: (float(measured[k][n]["time_median_ms"]), float(models[k][n]["model_time_ms"]), models[k][n]["model_limit"])
        for k, of in zip(LESSONS, sizes)
        if n in of}

    limits = list(dict.fromkeys(limit for _, _, limit in points.values()))
    looks = dict(
        zip(limits, [("o", BLUE), ("^", GREEN), ("s", ORANGE), ("D", RED), ("v", PURPLE), ("P", SKY), ("X", BLACK)]))
    figure, [[whole, near]] = canvas(7, 4.15, 1, 2, left=0.62, right=1.38, bottom=1.65, top=0.3, wspace=0.6)
    every = [t for x, y, _ in points.values() for t in (x, y)]
    middle = np.median([x for x, _, _ in points.values()])
    close = [t for x, y, _ in points.values() if x < 1.5 * middle for t in (x, y)]
    for axes, values, margin in ((whole, every, 1.25), (near, close, 1.09)):
        low, high = min(values) / margin, max(values) * margin
        line = np.array([low, high])
        axes.fill_between(line, line * (1 - MODEL_BAND), line * (1 + MODEL_BAND), color="#E3E3E3", lw=0)
        for factor in (1 - MODEL_BAND, 1 + MODEL_BAND):
            axes.plot(line, line * factor, color="#8C8C8C", lw=0.8, ls=(0, (4, 3)))
        axes.plot(line, line, color="black", lw=1)
        axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal", xlabel="measured, ms")
        steps = ticks(low, high)
        axes.set_xticks(steps, [f"{t:g}" for t in steps])
        axes.set_yticks(steps, [f"{t:g}" for t in steps])
        axes.minorticks_off()
        axes.grid()
        for kernel, (x, y, limit) in points.items():
            if low <= x <= high and low <= y <= high:
                marker, colour = looks[limit]
                (point,) = axes.plot(x, y, marker, color=colour, ms=8, mec="black", mew=0.6, ls="none")
                says(point, f"{kernel}: {x:.3g} ms measured, {y:.3g} ms by the model, {100 * (y / x - 1):+.0f} %; "
                            f"{limit}")
    whole.set_ylabel("model, ms")
    whole.set_title("all lesson kernels")
    near.set_title("the framed corner")
    # Names: next to those that stand alone, outside the axes for all others.
    place(whole, {k: p for k, p in points.items() if p[0] >= 1.5 * middle}, False)
    place(near, {k: p for k, p in points.items() if p[0] < 1.5 * middle}, True)
    box = near.get_xlim() + near.get_ylim()
    whole.add_patch(Rectangle((box[0], box[2]), box[1] - box[0], box[3] - box[2], fill=False, ec="black", lw=0.8))
    handles = [
        Line2D([], [], marker=looks[limit][0], color=looks[limit][1], mec="black", mew=0.6, ms=8, ls="none")
        for limit in limits]
    handles += [Line2D([], [], color="black", lw=1), Patch(facecolor="#E3E3E3", edgecolor="#8C8C8C", ls="--")]
    figure.legend(handles, limits + ["model = measured", f"{100 * MODEL_BAND:.0f} % more or less"], loc="lower left",
                  bbox_to_anchor=(0.0, 0.055), ncols=2, frameon=False, title="what limits the kernel in the model",
                  alignment="left", title_fontsize=9.5, labelspacing=0.3, columnspacing=1.5)
    save(figure, stem, f"{n} × {n} float. Measured on one {machines[0]}, {dates(measured[k][n] for k in points)}; "
                       f"model of the {modelled[0]}.")
    return None


def ticks(low, high):
    """Three to six round values between low and high."""
    for digits in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9),
                   tuple(n / 10 for n in range(10, 100))):
        found = [
            digit * 10.0**power for power in range(-4, 4) for digit in digits if low <= digit * 10.0**power <= high]
        if len(found) >= 3:
            return found[::-(-len(found) // 6)]
    return [low, high]


def place(axes, points, outside):
    """Names next to points, apart from each other."""
    if not points:
        return
    ends = axes.transAxes.inverted()
    at = np.array([ends.transform(axes.transData.transform(p[:2])) for p in points.values()])
    for (kernel, _), (x, y), moved in zip(points.items(), at, spread(at[:, 1] - 1e-6 * at[:, 0], 0.08)):
        name = f"{LESSONS[kernel][0]} {kernel.removeprefix('transpose')}"
        # clear of the band, above it on the left or below it on the right
        left = not outside and x > 0.6
        at_text = (1.04, moved) if outside else (x - 0.12, y + 0.05) if left else (x + 0.1, y - 0.1)
        axes.annotate(name, (x, y), at_text, "axes fraction", "axes fraction", fontsize=9,
                      ha="right" if left else "left", va="center", annotation_clip=False, zorder=1.5,
                      arrowprops={"arrowstyle": "-", "lw": 0.6, "color": GREY, "shrinkB": 4, "shrinkA": 1,
                                  "relpos": (1 if left else 0, 0.5)})
