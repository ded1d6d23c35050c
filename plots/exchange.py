"""A model of what a transpose costs on many GPUs, and what was measured on two and four. step08_gpus/SCALING.md has
more.

A message takes its link `latency + bytes / bandwidth`, and a GPU sends one message after the other on each of its two
links: NVLINK to the GPUs of its node, NETWORK to all others. Both work at the same time. Bandwidths and latencies are
those of common/links.h. Packing, unpacking, the transposes inside a GPU, the start of a program, and cables that
several nodes share cost nothing here.
"""

import pathlib
import re
from typing import NamedTuple

from tables import read

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINKS, MEASURED = ROOT / "common/links.h", ROOT / "plots/data/h100_gpus.csv"

NODE, NVLINK, NETWORK = 8, "nvlink4", "ndr"  # GPUs of a node, and the links inside it and between nodes
N, BYTES = 65536, 4                          # of the matrix that the page and the figure show: N × N floats
SMALL = 8192                                 # and of a small one: the difference gives the cost that no byte causes


class Link(NamedTuple):
    gbs: float
    latency_us: float

    def ms(self, messages, size):
        """Of so many messages of so many bytes."""
        return messages * (self.latency_us * 1e-3 + size / (self.gbs * 1e6))


def links(text=None):
    """{name: Link} of step 8's table. ValueError: it has none that this can read."""
    found = {
        name: Link(float(gbs), float(latency)) for name, gbs, latency in re.findall(
            r'\{"(\w+)", ([\d.]+), ([\d.]+), "', text if text is not None else LINKS.read_text(encoding="utf-8"))}
    if missing := [name for name in (NVLINK, NETWORK) if name not in found]:
        raise ValueError(f"common/links.h: no {' and no '.join(missing)}")
    return found


def neighbours(group, stride):
    """(In its node, elsewhere) of the other members of a GPU's group, whose numbers are `stride` apart. Both are powers
    of two."""
    near = min(group, max(1, NODE // stride)) - 1
    return near, group - 1 - near


def phase_ms(group, stride, held, found):
    """Each GPU sends every other member of its group an equal part of the bytes that it has, `held`."""
    near, far = neighbours(group, stride)
    return max(found[NVLINK].ms(near, held / group), found[NETWORK].ms(far, held / group))


def phases(way, gpus):
    """(Members, stride) of the groups that exchange, one phase after the other."""
    row = {"flat": gpus, "nodes": min(gpus, NODE), "grid": 1 << (gpus.bit_length() - 1) // 2}[way]
    return [(row, 1), (gpus // row, row)]


def time_ms(way, gpus, n=N, element=BYTES, found=None):
    """Modelled time of a transpose of n × n elements. way: flat, nodes (inside a node, then between nodes) or grid
    (rows, then columns of a nearly square grid of GPUs). gpus: a power of two."""
    return sum(phase_ms(*phase, n * n * element / gpus, found or links()) for phase in phases(way, gpus))


def bytes_alone_ms(gpus, n=N, element=BYTES, found=None):
    """The same for one flat exchange, without latencies."""
    return time_ms("flat", gpus, n, element,
                   {name: link._replace(latency_us=0) for name, link in (found or links()).items()})


def message_bytes(gpus, n=N, element=BYTES):
    """Of each message of the flat exchange."""
    return n * n * element / gpus ** 2


def even_bytes(link):
    """The size of a message that spends as much time on latency as on its bytes."""
    return link.latency_us * 1e-6 * link.gbs * 1e9


def measured(rows, kernel, gpus=2):
    """{n: row} of a kernel's squares of floats on so many GPUs of one process."""
    return {int(r["width"]): r for r in rows
            if (r["kernel"], r["gpus"], r["processes"], r["type"]) == (kernel, str(gpus), "1", "float")
            and r["width"] == r["height"]}


def start_ms(rows, kernel):
    """What a kernel's time is without a byte: the straight line through the small and the large matrix."""
    of = measured(rows, kernel)
    (small, few), (large, many) = ((float(of[n]["time_median_ms"]), float(of[n]["crossing_bytes_of_a_gpu"]))
                                   for n in (SMALL, N))
    return small - (large - small) * few / (many - few)


# Figures of quoted.py: `scaling ms grid 256`. For 65536 × 65536 floats; WAY: flat, nodes or grid.
#     ms WAY GPUS          modelled ms of one transpose
#     bytes GPUS           the same of the flat way, without latencies
#     messages WAY GPUS    messages that a GPU sends
#     network WAY GPUS     how much of a GPU's data goes over the network, 1.00 for all of it once
#     kB GPUS              size of a message of the flat way
#     even LINK            kB of a message whose bytes take as long as its latency
#     gbs LINK             a link's GB/s, published
#     latency LINK         its µs, assumed
#     start KERNEL         µs that a kernel takes on two GPUs before the first byte, from two measured sizes
QUOTED = {
    "ms": lambda way, gpus: f"{time_ms(way, int(gpus)):.3g}",
    "bytes": lambda gpus: f"{bytes_alone_ms(int(gpus)):.3g}",
    "messages": lambda way, gpus: str(sum(group - 1 for group, _ in phases(way, int(gpus)))),
    "network": lambda way, gpus: f"{sum(neighbours(*phase)[1] / phase[0] for phase in phases(way, int(gpus))):.2f}",
    "kB": lambda gpus: f"{message_bytes(int(gpus)) / 1e3:.3g}",
    "even": lambda link: f"{even_bytes(links()[link]) / 1e3:.3g}",
    "gbs": lambda link: f"{links()[link].gbs:g}",
    "latency": lambda link: f"{links()[link].latency_us:g}",
    "start": lambda kernel: f"{1e3 * start_ms(read(MEASURED), kernel):.0f}",
}
