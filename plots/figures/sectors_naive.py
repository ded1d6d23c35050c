"""The sectors that a load and a store of the naive transpose touch."""

from .sectors_naive_coalesced import legend, panel
from .shared import canvas, counted_note, save, styled

TRACES = ["naive"]


@styled
def draw(traces, stem):
    naive, _ = traces["naive"]
    figure, [panels] = canvas(7, 4.75, 1, 2, left=0.62, right=0.2, bottom=1.02, top=0.68, wspace=0.55)
    warp = 3
    for axes, memory, access in ((panels[0], "idata", "load"), (panels[1], "odata", "store")):
        panel(axes, naive, memory, access, warp, f"a {access} of {naive.kernel}")
    legend(figure, "read or written by the warp")
    save(figure, stem, counted_note(naive, more=f"A load and a store of warp {warp}, 32 lanes."))
