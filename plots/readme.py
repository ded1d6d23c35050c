#!/usr/bin/env python3
"""Writes the tables of the READMEs and of the log from the committed data, between their markers.

usage: python3 plots/readme.py [--check]

Every page's `<!-- generated: NAME -->` ... `<!-- end -->` is filled with what NAME stands for (GENERATED, at the end
of this file). In a table whose heading begins with `tried`, the cells under a type and a shape are filled with the
trial that its row names. A figure in prose is followed by a comment that names its source (quoted.py). The figures come
from plots/data and plots/published.csv.
--check writes nothing and exits 1 if a page is stale, naming it.
"""

import functools
import pathlib
import re
import sys

import whole  # first: Ctrl-C may come while the others are imported
import command_line
import exchange
import quoted
import results as reader
import subjects
from facts import IDEAS, LESSONS, PROGRAMS, RUNGS
from fit_gtx280 import FITTED
from tables import GIB, LARGE, PUBLISHED, Table, mean, ratio_table, read

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "plots/data"
MARKED = re.compile(r"(<!-- generated: ([\w ]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PAGES = [
    ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("sim/*.md")),
    *sorted(ROOT.glob("step*/*.md")), *sorted(ROOT.glob("lab/*.md"))]
NOTE = ("Effective bandwidth of float matrices in GB/s. GTX 280, 2048 × 2048: published figures, converted from "
        "GiB/s, and this project's model; "
        "† the model is fitted to this row. H200, 16384 × 16384: measured, and as a share of `cudaMemcpy` in the "
        "same run")


@functools.cache
def committed():
    """What the tables of the steps show, by kernel: measured, modelled, and by row of the table of sources:
    published."""
    return ({r["kernel"]: r for r in read(DATA / "h200_steps.csv")
             if r["bandwidth_gbs"] and r["step"] and (r["width"], r["type"]) == ("16384", "float")},
            {r["kernel"]: r for r in read(DATA / "gtx280_model.csv")},
            {r["source_row"]: float(r["value"]) * GIB for r in read(PUBLISHED)
             if r["source"] == "whitepaper" and r["machine"] == "GTX 280" and r["quantity"] == "bandwidth"})


def cells_of(kernel):
    """GTX 280 published, GTX 280 modelled († fitted), H200 measured, share of cudaMemcpy; `-` where there is none."""
    measured, modelled, published = committed()
    here, model = measured.get(kernel), modelled.get(kernel)
    there = [published[row] for row in (model or here)["source_row"].split() if row in published]
    return [f"{there[0]:.1f}" if there else "-",
            f"{float(model['model_bandwidth_gbs']):.1f}" + "†" * (kernel in FITTED) if model else "-",
            f"{float(here['bandwidth_gbs']):.0f}" if here else "-",
            f"{float(here['bandwidth_percent_of_memcpy']) / 100:.2f}" if here else "-"]


HEADING = ["GTX 280, published", "GTX 280, model", "H200, measured", "of cudaMemcpy"]


def steps():
    """The lessons between the lower bound and cudaMemcpy. Each has its time, and how many times the bound that is."""
    def line(number, idea, kernel):
        row = quoted.step(kernel, "float", "16384")
        ms, least = quoted.bound(kernel, "float", "16384")
        return [number, idea, f"`{kernel}`", f"{ms:.2f}", f"{ms / least:.2f}", f"{float(row['bandwidth_gbs']):.0f}",
                f"{float(row['bandwidth_percent_of_memcpy']) / 100:.2f}"]
    copies = quoted.step("cudaMemcpy", "float", "16384")
    peak = float(copies["dram_peak_gbs"])
    lines = [["", "the lower bound, at the peak of the memory", "",
              f"{quoted.bound('cudaMemcpy', 'float', '16384')[1]:.2f}", "1.00", f"{peak:.0f}",
              f"{peak / float(copies['bandwidth_gbs']):.2f}"],
             *(line(f"[{lesson.number}]({lesson.step}/README.md)", lesson.idea, lesson.kernel) for lesson in LESSONS),
             line("", "CUDA's own copy", "cudaMemcpy")]
    note = ("H200, float, 16384 × 16384, measured: time, time / lower bound, effective bandwidth, share of "
            "`cudaMemcpy`'s.")
    return Table("", ["step", "the idea", "kernel", "ms", "× the bound", "GB/s", "of cudaMemcpy"], lines, note, texts=3)


# What each page discusses, and the kernels of other steps that it compares with: at most six rows.
SHOWN = {
    "step01": ["copy", "copySharedMem", "copyVector", "copyRow", "addAligned", "addMisaligned"],
    "step02": ["copy", "transposeNaive", "transposeRow", "transposeCol"],
    "step03": ["copySharedMem", "transposeNaive", "transposeCoalesced"],
    "step04": ["copySharedMem", "transposeCoalesced", "transposeNoBankConflicts"],
    "step05": ["copySharedMem", "transposeFineGrained", "transposeCoarseGrained", "transposeNoBankConflicts"],
    "step06": ["transposeNoBankConflicts", "transposeDiagonal", "transposeSwappedRoles", "transposePaddedPitch"],
}


def named(kernel, step):
    """A kernel's name in the table of a step; with the number of its own step where that is another one."""
    own = PROGRAMS.get(kernel, step)
    return f"`{kernel}`" + (f", step {int(own[4:])}" if own != step else "")


def results(step):
    """The kernels of SHOWN. A column of the GTX 280 is there if it has a figure for each, and the model's only if none
    of them was fitted."""
    cells = [cells_of(kernel) for kernel in SHOWN[step]]
    kept = [i for i in range(4) if not any(line[i] == "-" or line[i].endswith("†") for line in cells)]
    notes = {0: "GTX 280: 2048 × 2048, converted from GiB/s.", 1: "GTX 280: 2048 × 2048, this project's model.",
             2: "H200: 16384 × 16384."}
    return Table("", ["kernel", *(HEADING[i] for i in kept)],
                 [[named(kernel, step), *(line[i] for i in kept)] for kernel, line in zip(SHOWN[step], cells)],
                 " ".join(["GB/s, float.", *(notes[i] for i in kept if i in notes)]))


def variants(step):
    """All kernels of a step that were measured or modelled, the lesson first, with the columns that have a figure."""
    if step == "step08":
        return spread(None, SPREAD_AT)
    measured, modelled, _ = committed()
    kernels = sorted(dict.fromkeys(r["kernel"] for r in [*modelled.values(), *measured.values()]
                                   if r["step"].startswith(step)), key=lambda name: name not in IDEAS)
    cells = [cells_of(kernel) for kernel in kernels]
    kept = [i for i in range(4) if any(line[i] != "-" for line in cells)]
    gtx280 = NOTE if 0 in kept else NOTE.replace("published figures, converted from GiB/s, and this", "this")
    return Table("", ["kernel", *(HEADING[i] for i in kept)],
                 [[f"`{kernel}`", *(line[i] for i in kept)] for kernel, line in zip(kernels, cells)], gtx280 + ".")


def at(element, width, height):
    return f"{element} {width}²" if width == height else f"{element} {width} × {height}"


def share(gbs, copy):
    return f"{float(gbs) / float(copy):.3f}"


CARDS_AT = [(card, element) for card in ("H200", "H100") for element in ("float", "double")]


def cards():
    """From step 4 to step 7 on two cards: shares of cudaMemcpy in the same run."""
    def cell(kernel, card, element):
        row = quoted.only(f"{card.lower()}_steps", kernel=kernel, **quoted.at(element, "16384"))
        return share(row["bandwidth_percent_of_memcpy"], 100)
    lines = [[f"`{kernel}`", idea, *(cell(kernel, *where) for where in CARDS_AT)]
             for kernel, idea in {"copySharedMem": "a copy, step 1", **RUNGS}.items()]
    return Table("", ["kernel", "what it adds", *(", ".join(where) for where in CARDS_AT)], lines,
                 "16384², measured: bandwidth as a share of `cudaMemcpy`'s in the same run.", texts=2)


def ahead():
    """Step 7's bandwidth over that of each library: the mean of large aligned matrices, and the other shapes."""
    measured = reader.load([DATA / "h200_peers.csv"])
    others = ["2048 x 2048", "16383 x 16381", "10007 x 6007", "10008 x 6008"]
    names = list(dict.fromkeys(r["kernel"] for r in measured.rows if r["step"] == "peers"))
    lines = {name: [] for name in ["cudaMemcpy", *names]}
    for element in ("float", "double"):
        found = ratio_table(measured, element)[1]
        ours = found.get("transposeLongPieces", {})
        for name, cells in lines.items():
            ratios = {shape: ours[shape] / gbs for shape, gbs in found.get(name, {}).items() if shape in ours}
            cells.append(f"{mean([ratios[s] for s in LARGE]):.2f}" if set(LARGE) <= set(ratios) else "-")
            cells.extend(f"{ratios[s]:.2f}" if s in ratios else "-" for s in others)
    shapes = [at(element, *map(int, s.split(" x "))) if s in others else f"{element}, large*"
              for element in ("float", "double") for s in ["", *others]]
    return Table(
        "", ["step 7 over", *shapes], [[f"`{name}`", *cells] for name, cells in lines.items()],
        "H200, measured in one run for each type: how many times as fast step 7 is. * geometric mean of " +
        ", ".join(s.replace("x", "×") for s in LARGE) + ".")


NARROW_AT = [(element, *shape) for element in ("char", "half")
             for shape in ((16384, 16384), (32768, 32768), (16383, 16381))]


def narrow():
    """Elements of 1 and 2 bytes: the shares of cudaMemcpy's bandwidth that step 7, its vectors and libraries reach."""
    measured = reader.load([DATA / "h100_peers.csv"])

    def cell(kernel, element, width, height):
        row = measured.find(kernel, width, height, type=element, backends=["cuda"])
        return share(row["bandwidth_percent_of_memcpy"], 100) if row else "-"
    names = ["transposeLongPieces", "transposeVectorized",
             *dict.fromkeys(r["kernel"] for r in measured.rows if r["step"] == "peers")]
    return Table("", ["transpose", *(at(*shape) for shape in NARROW_AT)],
                 [[f"`{name}`", *(cell(name, *shape) for shape in NARROW_AT)] for name in names],
                 "H100, measured: effective bandwidth as a share of `cudaMemcpy`'s in the same run.")


def limits():
    def line(row):
        return [f"`{row['kernel']}`", at(row["type"], int(row["width"]), int(row["height"])), row["dram_busy_percent"],
                row["l2_fabric_busy_percent"], f"{int(row['l2_requests']) / 1e6:.1f}",
                *(f"{int(row[f'dram_{way}_bytes']) / 1e9:.3f}" for way in ("read", "write"))]

    return Table("",
                 ["kernel", "matrix", "DRAM busy, %", "L2 fabric busy, %", "L2 requests, millions", "DRAM read, GB",
                  "DRAM written, GB"],
                 map(line, read(DATA / "h200_limits.csv")), "H200, Nsight Compute.", texts=2)


def fill_trials(text):
    """The same text with the measured cells of its tables of trials as they should be."""
    trials = {(r["trial"], at(r["type"], int(r["width"]), int(r["height"]))): r["of_memcpy"]
              for r in read(DATA / "h200_trials.csv")}
    heading, lines = None, []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            heading = None
        elif cells[0] == "tried":
            heading = cells
        elif heading and not line.startswith("|--"):
            shares = (share(
                trials.get((cells[0].strip("`"), where)) or sys.exit(f"readme.py: no trial {cells[0]} of {where}"), 1)
                      for where in heading[2:])
            line = "| " + " | ".join([*cells[:2], *shares]) + " |"
        lines.append(line + "\n")
    return "".join(lines)


SPREAD_AT = [("float", 16384, 16384), ("float", 65536, 65536), ("float", 16383, 16381), ("double", 16384, 16384)]
SPREAD_SHOWN = (
    ["transposeToPeers", "transposePacked", "transposePlain", "transposePhases", "storeToPeers"],
    [("float", 16384, 16384), ("float", 32768, 32768), ("float", 16383, 16381)])


def spread(kernels, shapes, counts=(2, 4)):
    """Step 8: every way's share of copies between the GPUs, in both directions at once, in its own run. kernels: None
    for all. counts: of GPUs."""
    rows = {(r["kernel"], int(r["gpus"]), r["type"], int(r["width"]), int(r["height"])): r
            for r in read(exchange.MEASURED) if r["processes"] == "1"}
    kernels = kernels or dict.fromkeys(kernel for kernel, *_ in rows if kernel != "copyToPeers")
    columns = [(gpus, *shape) for gpus in counts for shape in shapes]
    lines = [[f"`{kernel}`", *(share(rows[(kernel, *column)]["percent_of_peer_copies"], 100) for column in columns)]
             for kernel in kernels]
    copies = [float(rows[("copyToPeers", *column)]["gbs_out_of_each_gpu"]) for column in columns]
    lines.append(["`copyToPeers`, GB/s", *(f"{gbs:.0f}" for gbs in copies)])
    return Table("", ["kernel", *(f"{gpus} GPUs, {at(*shape)}" for gpus, *shape in columns)], lines,
                 "H100s with NVLink, measured: the time of `copyToPeers`, copies of what must cross in "
                 "all directions at once, over that of the kernel in the same run. The last line is what leaves each "
                 "GPU.")


# The function that makes what stands between markers, a Table or Markdown, by its name. It takes the words behind the
# name.
GENERATED = {
    "steps": steps, "results": results, "variants": variants, "cards": cards, "ahead": ahead,
    "narrow": narrow, "gpus": lambda: spread(*SPREAD_SHOWN), "limits": limits,
    **{made.__name__: made for made in (
        subjects.profile, subjects.sanitizer, subjects.pieces, subjects.widths, subjects.constants, subjects.timing,
        subjects.batches, subjects.transfers, subjects.readonly, subjects.memories, subjects.exercises, subjects.errors,
        subjects.instructions)}}


def fill(text):
    """A page's text with its generated parts as they should be."""
    def replace(match):
        begin, name, _, end = match.groups()
        what, *words = name.split()
        if what not in GENERATED:
            sys.exit(f"readme.py: nothing is called {name}")
        made = GENERATED[what](*words)
        return f"{begin}\n{made if isinstance(made, str) else made.markdown()}\n{end}"
    try:
        return quoted.fill(fill_trials(MARKED.sub(replace, text)))
    except ValueError as error:
        sys.exit(f"readme.py: {error}")


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is stale")
    check = parser.parse_args().check
    stale = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        fresh = fill(text)
        if fresh != text:
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                whole.write(path, fresh)
    if stale:
        print(("stale: " if check else "written: ") + ", ".join(stale), file=sys.stderr if check else sys.stdout)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(whole.run(main, "readme.py"))
