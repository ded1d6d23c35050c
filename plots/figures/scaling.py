"""Modelled time of a transpose on 2 to 4096 GPUs, and the model against measurements on two and four."""

import exchange

from .shared import BLACK, BLUE, GREEN, GREY, ORANGE, RED, canvas, dates, label_lines, mark, save, styled

BENCHED = "h100_gpus.csv"
COUNTS = (2, 4)  # of GPUs that were measured
GPUS = [1 << k for k in range(1, 13)]
ALONE = "one exchange, bytes alone"
WAYS = {"flat": ("one exchange among all", RED, "-"), "nodes": ("inside a node first", GREEN, "--"),
        "grid": ("rows of a grid first", BLUE, "-.")}
POINTS = {"copyToPeers": (GREY, "s"), "transposeToPeers": (BLACK, "*"), "sendMessages": (ORANGE, "o")}


@styled
def draw(rows, stem):
    found = {kernel: exchange.measured(rows, kernel) for kernel in POINTS}
    at_n = {(kernel, g): exchange.measured(rows, kernel, g).get(exchange.N) for kernel in POINTS for g in COUNTS}
    if missing := [kernel for kernel in POINTS
                   if len(found[kernel]) < 2 or not all(at_n[kernel, g] for g in COUNTS)]:
        return f"no rows of two sizes of {', '.join(missing)}"
    links = exchange.links()
    figure, [[above], [below]] = canvas(7, 7.1, 2, 1, left=0.72, right=2.1, bottom=0.98, top=0.3, hspace=0.85,
                                        height_ratios=[1.25, 1])
    nv, net = links[exchange.NVLINK], links[exchange.NETWORK]
    lines = {ALONE: ([exchange.bytes_alone_ms(g, found=links) for g in GPUS], GREY, ":")}
    lines |= {name: ([exchange.time_ms(way, g, found=links) for g in GPUS], colour, line)
              for way, (name, colour, line) in WAYS.items()}
    for times, colour, line in lines.values():
        above.plot(GPUS, times, color=colour, ls=line, lw=1.8)
    for kernel, (colour, marker) in POINTS.items():
        for g in COUNTS:
            ms = float(at_n[kernel, g]["time_median_ms"])
            mark(above, g, ms, marker, colour, f"{kernel}: {ms:.3g} ms measured on {g} GPUs")
    above.axvline(exchange.NODE, color="#BFBFBF", lw=0.8)
    beyond = f"{exchange.NODE} GPUs are a node. Beyond it,\na link has 1/{nv.gbs / net.gbs:.0f} of the bandwidth."
    above.text(exchange.NODE * 1.08, 24, beyond, fontsize=9, color=GREY)
    above.set(xscale="log", yscale="log", xlabel="GPUs", ylabel="ms", ylim=(0.02, 60))
    above.set_xscale("log", base=2)
    above.set_xticks(GPUS[::2], [str(g) for g in GPUS[::2]])
    above.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    above.minorticks_off()
    above.grid()
    label_lines(above, [(GPUS[-1], times[-1], name, colour) for name, (times, colour, _) in lines.items()], 2.6)
    above.set_title(f"{exchange.N} × {exchange.N} floats, modelled; points at 2 and 4 GPUs: measured", loc="left")

    sizes = sorted(n for n in set.intersection(*(set(of) for of in found.values())) if n & (n - 1) == 0)
    modelled = [sent_gbs(n, exchange.time_ms("flat", 2, n, found=links)) for n in sizes]
    below.plot(sizes, modelled, color=RED, lw=1.8)
    ends = [(sizes[-1], modelled[-1], "modelled", RED)]
    for kernel, (colour, marker) in POINTS.items():
        gbs = [float(found[kernel][n]["gbs_out_of_each_gpu"]) for n in sizes]
        below.plot(sizes, gbs, color=colour, lw=0.8, marker=marker, ms=9 if marker == "*" else 6, mec="white", mew=0.5)
        ends.append((sizes[-1], gbs[-1], kernel, colour))
        for n, value in zip(sizes, gbs):
            mark(below, n, value, marker, colour, f"{kernel}: {value:.0f} GB/s measured, {n} × {n} float")
    below.set_xscale("log", base=2)
    below.set_xticks(sizes, [str(n) for n in sizes])
    below.minorticks_off()
    below.set(ylim=(0, None), xlabel="n, of n × n floats over two GPUs", ylabel="GB/s out of each GPU")
    below.grid()
    label_lines(below, ends, 2.1)
    below.set_title("Two GPUs, modelled and measured", loc="left")
    any_row = next(iter(found["copyToPeers"].values()))
    save(figure, stem, f"Model: {nv.gbs:g} GB/s and {nv.latency_us:g} µs per message inside a node (NVLink), "
                       f"{net.gbs:g} GB/s and {net.latency_us:g} µs outside (InfiniBand NDR).\n"
                       f"Bandwidths are published, latencies assumed. Measured: {any_row['machine'].split()[1]}s, "
                       f"driver {any_row['driver']}, {dates([any_row])}.")
    return None


def sent_gbs(n, ms):
    """What leaves each of two GPUs, which keep half of the n × n floats."""
    return n * n * exchange.BYTES / 4 / (ms * 1e6)
