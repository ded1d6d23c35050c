"""To whom each GPU's data goes over time, in three orders of blocks."""

from matplotlib.patches import Patch, Rectangle

from .shared import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, YELLOW, canvas, save, styled

BENCHED = "sim_gpus_trace.csv"
ORDERS = {
    "transposePlain": "GPU 0 first, on every GPU", "transposePhases": "the next GPU first",
    "transposeToPeers": "all GPUs in turn, block by block"}
COLOURS = [SKY, ORANGE, GREEN, YELLOW, PURPLE, BLUE, RED, GREY]
NOBODY, SEVERAL = ".", "*"


@styled
def draw(rows, stem):
    if not rows:
        return "no rows of plots/receivers.py"
    if missing := [kernel for kernel in ORDERS if kernel not in {r["kernel"] for r in rows}]:
        return f"no rows of {', '.join(missing)}"
    first, gpus = rows[0], int(rows[0]["gpus"])
    if gpus > len(COLOURS):
        return f"{gpus} GPUs: there are colours for {len(COLOURS)}"
    windows = max(len(r["receivers"]) for r in rows)
    figure, panels = canvas(7, 1.55 + (0.95 + 0.2 * gpus) * len(ORDERS), len(ORDERS), 1, left=0.75, right=0.15,
                            bottom=1.18, top=0.32, hspace=0.42)
    for (axes,), (kernel, order) in zip(panels, ORDERS.items()):
        lines = sorted((r for r in rows if r["kernel"] == kernel), key=lambda r: int(r["sender"]))
        for y, line in enumerate(lines):
            for x, receiver in enumerate(line["receivers"]):
                if receiver == NOBODY:
                    continue
                several = receiver == SEVERAL
                axes.add_patch(
                    Rectangle((x, y), 1, 1, fc="white" if several else COLOURS[int(receiver, 16)], ec="white", lw=2))
                if several:
                    axes.add_patch(Rectangle((x + 0.03, y + 0.06), 0.94, 0.88, fc="white", ec=GREY, hatch="///",
                                             lw=0.5))
                else:
                    axes.text(x + 0.5, y + 0.53, receiver, ha="center", va="center", fontsize=9.5,
                              color="white" if COLOURS[int(receiver, 16)] in (BLUE, RED, GREY) else "black")
        axes.set(xlim=(0, windows), ylim=(gpus, 0))
        axes.set_xticks([])
        axes.set_yticks([y + 0.5 for y in range(gpus)], [f"GPU {g}" for g in range(gpus)])
        axes.tick_params(left=False)
        axes.set_title(f"{kernel}: {order}. Busiest receiver / mean = {float(lines[0]['busiest_receiver']):.2f}",
                       loc="left", pad=4)
        for spine in axes.spines.values():
            spine.set_visible(False)
    panels[-1][0].set_xlabel("time: windows of blocks that run together")
    keys = ([Patch(fc=COLOURS[g], label=f"to GPU {g}") for g in range(gpus)]
            + [Patch(fc="white", ec=GREY, hatch="///", label="to several")])
    figure.legend(handles=keys, loc="lower left", bbox_to_anchor=(0.08, 0.5 / figure.get_figheight()),
                  ncols=min(len(keys), 6), frameon=False, handlelength=1.2, columnspacing=1.1)
    save(figure, stem, f"Counted by the simulator for {gpus} × {first['machine'].removesuffix(' (simulated)')}; "
                       f"{first['width']} × {first['height']} {first['type']}.\n"
                       "A number is the GPU that gets more than half of what the row sends. An empty field sends "
                       "nothing.")
    return None
