"""Figures in prose, held to the data that they come from.

A page names the source of a figure in a comment right behind it, which no reader sees: `3506<!-- = gbs
transposeNoBankConflicts float 16384 -->`. readme.py writes the figure afresh, and its --check finds one that has
drifted. SHAPE is `16384` (a square) or `WIDTHxHEIGHT`. On an H200:

    gbs KERNEL TYPE SHAPE            effective bandwidth, GB/s
    ms KERNEL TYPE SHAPE             time of one pass
    bound TYPE SHAPE                 ms in which the DRAM's peak reads and writes such a matrix once: the lower bound
    over KERNEL TYPE SHAPE           the time of a kernel / that bound
    share KERNEL TYPE SHAPE          of cudaMemcpy's bandwidth in the same run, as 0.83; `percent` gives 83
    times KERNEL OTHER TYPE SHAPE    how many times as fast KERNEL is as OTHER
    ahead CONTENDER TYPE SHAPE       how many times as fast step 7 is as one of `make peers`, 1.05
    peer KERNEL TYPE SHAPE           a kernel's or library's share of cudaMemcpy in `make peers`, 0.966; SHAPE `large`:
                                     the mean of large aligned matrices
    trial NAME TYPE SHAPE            a trial's share of cudaMemcpy, 0.975; NAME may have spaces
    timing SIDE HOW                  µs per pass of the copy that `make timing` times, HOW as in its table: `events,
                                     many launches`

On the GTX 280, 2048 × 2048 floats:

    published ROW                    GB/s, converted from the whitepaper's GiB/s; ROW: W1 to W8
    modelled KERNEL                  GB/s, this project's model

On thousands of GPUs, 65536 × 65536 floats (exchange.py):

    scaling ms WAY GPUS              modelled ms of one transpose; WAY: flat, nodes or grid
    scaling bytes GPUS               the same of the flat way, without latencies
    scaling messages WAY GPUS        messages that a GPU sends
    scaling network WAY GPUS         how much of a GPU's data goes over the network, 1.00 for all of it once
    scaling kB GPUS                  size of a message of the flat way
    scaling even LINK                kB of a message whose bytes take as long as its latency
    scaling gbs LINK                 a link's GB/s, published; `scaling latency LINK`: its µs, assumed
    scaling start KERNEL             µs that a kernel takes on two GPUs before the first byte, from two measured sizes

From any file of plots/data or tests/data:

    cell FILE COLUMN FORMAT KEY=VALUE...    the one row that has these values; FORMAT: digits behind the point, and a
                                            factor if any: `0`, `1*1e-9`; with spaces, as in a shell: "trial=one launch
                                            for all"
"""

import functools
import pathlib
import re
import shlex

import exchange
from tables import GIB, LARGE, mean, read

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMED = re.compile(r"(-?\d[\d,.]*\d|\d)(<!-- = (.*?) -->)")


@functools.lru_cache
def rows(file):
    """The rows of a committed file, as dictionaries of text. `file`: its name without .csv."""
    path = next(
        (p for folder in ("plots/data", "tests/data", "plots") if (p := ROOT / folder / f"{file}.csv").is_file()), None)
    if path is None:
        raise ValueError(f"there is no {file}.csv in plots/data or tests/data")
    return read(path)


def only(file, **values):
    """The one row of a file that has these values. ValueError if there is none, or if several differ in more than their
    date."""
    found = [r for r in rows(file) if all(r.get(column) == value for column, value in values.items())]
    if len(found) != 1:
        raise ValueError(f"{file}: {len(found)} rows have " + ", ".join(f"{c} = {v}" for c, v in values.items()))
    return found[0]


def at(element, shape):
    width, _, height = shape.partition("x")
    return {"type": element, "width": width, "height": height or width}


def step(kernel, element, shape):
    """A kernel's row of the H200, of the steps' own runs; of several the last, as in the tables."""
    found = [
        r for r in rows("h200_steps")
        if r["kernel"] == kernel and r["bandwidth_gbs"] and all(r[c] == v for c, v in at(element, shape).items())]
    if not found:
        raise ValueError(f"h200_steps: no {kernel}, {element}, {shape}")
    return found[-1]


def bound(kernel, element, shape):
    """(ms of one pass, the fewest ms that it could take at the peak of the card's DRAM)."""
    row = step(kernel, element, shape)
    return (float(row["time_median_ms"]),
            2e-6 * int(row["width"]) * int(row["height"]) * int(row["element_bytes"]) / float(row["dram_peak_gbs"]))


def ratio(value):
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}"


def cell(file, column, form, *keys):
    digits, _, factor = form.partition("*")
    return f"{float(only(file, **dict(key.split('=', 1) for key in keys))[column]) * float(factor or 1):.{digits}f}"


def ahead(contender, element, shape):
    ours, theirs = (float(only("h200_peers", kernel=name, **at(element, shape))["bandwidth_gbs"])
                    for name in ("transposeLongPieces", contender))
    return f"{ours / theirs:.2f}"


def peer(kernel, element, shape):
    shapes = [s.replace(" ", "") for s in LARGE] if shape == "large" else [shape]
    theirs, copies = ([float(only("h200_peers", kernel=name, **at(element, s))["bandwidth_gbs"])
                       for s in shapes]
                      for name in (kernel, "cudaMemcpy"))
    return f"{mean([gbs / copy for gbs, copy in zip(theirs, copies)]):.3f}"


def published(row):
    """GB/s that the whitepaper published for a row of its table, on a GTX 280."""
    found = only("published", source="whitepaper", machine="GTX 280", quantity="bandwidth", source_row=row)
    return f"{float(found['value']) * GIB:.1f}"


KINDS = {
    "gbs": lambda *key: f"{float(step(*key)['bandwidth_gbs']):.0f}",
    "ms": lambda *key: f"{float(step(*key)['time_median_ms']):.3g}",
    "bound": lambda *at: f"{bound('cudaMemcpy', *at)[1]:.2f}",
    "over": lambda *key: f"{bound(*key)[0] / bound(*key)[1]:.1f}",
    "share": lambda *key: f"{float(step(*key)['bandwidth_percent_of_memcpy']) / 100:.2f}",
    "percent": lambda *key: f"{float(step(*key)['bandwidth_percent_of_memcpy']):.0f}",
    "times": lambda kernel, other, *at:
        ratio(float(step(kernel, *at)["bandwidth_gbs"]) / float(step(other, *at)["bandwidth_gbs"])),
    "ahead": ahead,
    "peer": peer,
    "trial": lambda *key: f"{float(only('h200_trials', trial=' '.join(key[:-2]), **at(*key[-2:]))['of_memcpy']):.3f}",
    "timing": lambda side, *how:
        f"{float(only('h200_timing', method=' '.join(how).replace(',', ';'), width=side)['us_per_pass']):.2f}",
    "published": published,
    "modelled": lambda kernel: f"{float(only('gtx280_model', kernel=kernel, width='2048')['model_bandwidth_gbs']):.1f}",
    "scaling": lambda what, *key: exchange.QUOTED[what](*key),
    "cell": cell,
}


def number(source):
    """The figure that a comment stands for, as text. ValueError says what it names and is not there."""
    kind, *words = shlex.split(source)
    if kind not in KINDS:
        raise ValueError(f"no figure is called {kind}")
    try:
        return KINDS[kind](*words)
    except (TypeError, KeyError) as error:
        raise ValueError(f"`{source}`: {error}") from None


def fill(text):
    """The same text with each named figure as it should be."""
    return NAMED.sub(lambda match: number(match[3]) + match[2], text)


def without_sources(text):
    """The same text for a reader elsewhere: the comments are gone."""
    return re.sub(r"<!-- = .*? -->", "", text)
