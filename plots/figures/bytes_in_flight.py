"""Effective bandwidth over the bytes that the loads of an SM have in flight."""

import numpy as np

from .shared import BLUE, GREY, LESSONS, canvas, says, save, spread, styled

EXPLORABLE = "flight"


PIECE = 1024  # bytes: a load of 4 bytes for each thread of a block of 256


def model(bytes_per_sm, sms, latency, roof):
    """GB/s by the queue of common/base/model.cpp: each KiB of loads waits for the latency, then for its turn at the
    memory, which reads and writes it as fast as a micro-benchmark copies, the roof."""
    serve, queue, rates = 2 * PIECE * sms / roof, 0, [0]
    for n in range(1, int(np.max(bytes_per_sm)) // PIECE + 2):
        here = serve * (1 + queue)
        rates.append(n / (latency + here))
        queue = rates[-1] * here
    return 2 * PIECE * sms * np.interp(np.asarray(bytes_per_sm, float) / PIECE, range(len(rates)), rates)


@styled
def draw(data, stem):
    figure, [[axes]] = canvas(7, 4.2, left=0.72, right=2.05, bottom=0.85, top=0.2)
    roof, needed = data["stream"], data["stream"] * data["latency"] / data["sms"]
    x = np.geomspace(2 ** 10, 2 ** 17, 200)
    axes.plot(x, model(x, data["sms"], data["latency"], roof), color=BLUE, lw=2.2)
    axes.plot([needed, needed], [0, roof], color=GREY, lw=1, ls=(0, (4, 3)))
    axes.text(needed * 1.04, roof * 0.05, f"needed: {needed / 1024:.1f} KiB", rotation=90, ha="left", va="bottom",
              fontsize=9)
    axes.text(x[0] * 1.05, roof * 1.015, f"a copy by a micro-benchmark: {roof:.0f} GB/s", va="bottom", fontsize=9)
    axes.plot([x[0], needed], [roof, roof], color=BLUE, lw=1, ls=(0, (4, 3)))
    top = 1.12 * max(roof, *(p["gbs"] for p in data["points"]))
    axes.set(xscale="log", xlim=(x[0], x[-1]), ylim=(0, top), xlabel="KiB that the loads of an SM have in flight",
             ylabel="effective bandwidth, GB/s")
    axes.set_xscale("log", base=2)
    axes.set_xticks([2 ** k for k in range(10, 18)], [2 ** k for k in range(8)])
    axes.grid()
    beyond = [p for p in data["points"] if p["bytes"] > needed]
    at = dict(zip((p["kernel"] for p in beyond), spread(np.array([p["gbs"] for p in beyond]) / top, 0.062)))
    for point in data["points"]:
        step, colour, marker, _ = LESSONS[point["kernel"]]
        (mark,) = axes.plot(point["bytes"], point["gbs"], marker, color=colour, ms=10 if marker == "*" else 8,
                            mec="black", mew=0.6)
        says(mark, f"{point['kernel']}: {point['gbs']:.0f} GB/s measured, {point['bytes'] / 1024:.0f} KiB in flight "
                   "on an SM")
        name = f"{step} {point['kernel'].removeprefix('transpose')}"
        if point["kernel"] not in at:
            axes.annotate(name, (point["bytes"], point["gbs"]), (0, -8), textcoords="offset points", fontsize=9,
                          va="top", ha="center")
            continue
        axes.annotate(name, (point["bytes"], point["gbs"]), (1.03, at[point["kernel"]]), "data", "axes fraction",
                      fontsize=9, va="center",
                      arrowprops={"arrowstyle": "-", "lw": 0.6, "color": GREY, "shrinkB": 5, "shrinkA": 1,
                                  "relpos": (0, 0.5)},
                      annotation_clip=False)
    save(figure, stem, f"Points: measured on one {data['card']}, {data['date'][:7]}, {data['side']} × "
                       f"{data['side']} float; their bytes in flight: counted.\n"
                       f"Line: model with {data['latency']:.0f} ns of latency. Its flat part, measured by "
                       "bench/microbench.cu, is no upper limit.")
