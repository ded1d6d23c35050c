"""The figures: what the steps reach, and why, drawn from results and from traces.

usage: python3 plots/figures OUTDIR

Writes every figure as OUTDIR/NAME.svg. Bandwidths and times come from the files that `./stepNN --csv` wrote, in
plots/data. What warps do is asked of the simulator: `./stepNN --trace` is run from the root of the
repository, on small matrices where they show enough; build the steps first (`make all`).

A module per figure, named like it; shared.py has what they share. A module says what it needs: FILES of plots/data,
TRACES by their names in RUNS, what a program of bench/ measured (BENCHED), the data of an EXPLORABLE, or none of them.
Its draw() takes rows, dictionaries as csv.DictReader gives them, or {name: (Trace, blocks that run at a time)}, or
those data, and the path of the file to write, without .svg. It returns None, or, where rows are missing, the reason why
there is no such figure; it has then written nothing. The file depends on nothing but the arguments: no date, no random
name.
"""

import html
import pathlib
import re

import command_line
import explorables
import results as reader
from tables import read
from traces import take_traces

from . import (bandwidth_over_n, bandwidth_steps, banks, block_orders, bytes_in_flight, explorable, gpu, memories,
               partition_traffic, partitions_2048, predicted_measured, race, receivers, scaling, sectors_naive,
               sectors_naive_coalesced, time_per_element, transfers, transpose, two_halves, waterfall,
               way_through_the_tile)
from .shared import DATA

ALL = {
    module.__name__.split(".")[-1]: module
    for module in (gpu, transpose, bandwidth_steps, waterfall, bandwidth_over_n, time_per_element, predicted_measured,
                   way_through_the_tile, sectors_naive, sectors_naive_coalesced, banks, explorable, two_halves,
                   partitions_2048, partition_traffic, receivers, block_orders, bytes_in_flight, race, memories,
                   transfers, scaling)}
FIGURES = {name: module for name, module in ALL.items() if hasattr(module, "FILES")}
TRACED = {name: module for name, module in ALL.items() if hasattr(module, "TRACES")}
BENCHED = {name: module for name, module in ALL.items() if hasattr(module, "BENCHED")}
EXPLORED = {name: module for name, module in ALL.items() if hasattr(module, "EXPLORABLE")}
ALONE = {name: module for name, module in ALL.items()
         if not {"FILES", "TRACES", "BENCHED", "EXPLORABLE"} & set(vars(module))}

PLAIN = "gtx280"
RUNS = {  # name: step's program, its options, what of the trace is needed
    "naive": ("step02", ["--size", "64"], None),
    "coalesced": ("step03", ["--size", "64"], None),
    "padded": ("step04", ["--size", "64"], None),
    "swizzled": ("step04", ["--size", "64", "--kernel", "transposeSwizzled"], None),
    "fine": ("step05", ["--size", "64", "--kernel", "transposeFineGrained"], None),
    "coarse": ("step05", ["--size", "64", "--kernel", "transposeCoarseGrained"], None),
    "order4": ("step04", ["--size", "256"], ("idata", "odata")),
    "order6": ("step06", ["--size", "256"], ("idata", "odata")),
    "order7": ("step07", ["--size", "512"], ("idata", "odata")),
    "camped": ("step04", ["--size", "2048", "--machine", PLAIN], ("idata", "odata")),
    "spread": ("step06", ["--size", "2048", "--machine", PLAIN], ("idata", "odata")),
    "hashed": ("step04", ["--size", "2048", "--machine", "v100"], ("odata",)),
}


def load_rows():
    """{figure: its rows} of plots/data."""
    return {name: reader.load([DATA / file for file in module.FILES]).all for name, module in FIGURES.items()}


def draw_all(folder, rows, taken, failed, made, undone):
    """Writes every figure that can be into the folder; {figure: None, or why there is none}. rows: of load_rows; taken,
    failed: of take_traces; made, undone: of explorables.data."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    reasons = {name: module.draw(rows[name], folder / name) for name, module in FIGURES.items()}
    for name, module in TRACED.items():
        missing = [failed[need] for need in module.TRACES if need in failed]
        reasons[name] = missing[0] if missing else module.draw(taken, folder / name)
    for name, module in BENCHED.items():
        reasons[name] = module.draw(read(DATA / module.BENCHED), folder / name)
    for name, module in ALONE.items():
        reasons[name] = module.draw(folder / name)
    for name, module in EXPLORED.items():
        reasons[name] = (undone[module.EXPLORABLE] if module.EXPLORABLE in undone
                         else module.draw(made[module.EXPLORABLE], folder / name))
    for name in reasons:
        if not reasons[name]:
            titled(folder / f"{name}.svg", ALL[name].__doc__)
    return reasons


def titled(path, title):
    """Gives an SVG file a title, for whoever has it read aloud."""
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(<svg\b[^>]*>)", lambda m: f"{m[1]}\n <title>{html.escape(title)}</title>", text, count=1),
                    encoding="utf-8")


def main():
    parser = command_line.parser(__doc__, prog="figures")
    parser.add_argument("folder", metavar="OUTDIR")
    folder = parser.parse_args().folder
    reasons = draw_all(folder, load_rows(), *take_traces(RUNS), *explorables.data())
    for name, reason in reasons.items():
        print(f"{name}: {'not drawn: ' + reason if reason else 'drawn'}")
    return 0
