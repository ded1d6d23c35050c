#!/usr/bin/env python3
"""Writes the tables of the READMEs from the committed data, between their markers.

usage: python3 plots/readme.py [--check]

Every README's `<!-- generated: NAME -->` ... `<!-- end -->` is filled with what NAME stands for: `steps`, the lesson of every step,
or `results stepNN`, all kernels of one step. The figures come from plots/data and plots/published.csv. --check writes nothing
and exits 1 if a README is stale, naming it.
"""

import argparse
import pathlib
import re
import sys

from tables import GIB, PUBLISHED, Table, read

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "plots/data"
MARKED = re.compile(r"(<!-- generated: ([\w ]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
IDEAS = {
    "copy": "a copy moves the same bytes as a transpose: the speed limit",
    "copySharedMem": "the same through shared memory",
    "transposeNaive": "the transpose written down: a warp writes 32 rows at once",
    "transposeCoalesced": "turn a tile in shared memory: rows in, rows out",
    "transposeNoBankConflicts": "one unused column spreads the tile over all banks",
    "transposeFineGrained": "half of it: every tile turned where it stands",
    "transposeCoarseGrained": "the other half: every tile moved, none turned",
    "transposeDiagonal": "tiles in diagonal order, which saved a GTX 280 in 2009",
    "transposeInFlight": "a larger tile, all loads in flight at once, and blocks that write side by side",
}
NOTE = ("GB/s, effective bandwidth of float matrices; GTX 280: 2048 × 2048, published and this project's model of it; H200: measured, 16384 × 16384, "
        "and as a share of its own `cudaMemcpy` in the same run")


class Data:
    """The committed rows that the READMEs show."""

    def __init__(self):
        self.measured = {(r["kernel"], r["width"], r["type"]): r for r in read(DATA / "h200_steps.csv") if r["bandwidth_gbs"] and r["step"]}
        self.modelled = {r["kernel"]: r for r in read(DATA / "gtx280_model.csv")}
        self.published = {r["source_row"]: float(r["value"]) * GIB for r in read(PUBLISHED)
                          if r["source"] == "whitepaper" and r["machine"] == "GTX 280" and r["quantity"] == "bandwidth"}

    def cells(self, kernel):
        """GTX 280 published, GTX 280 modelled, H200 measured, share of cudaMemcpy; `-` for what there is not."""
        here, model = self.measured.get((kernel, "16384", "float")), self.modelled.get(kernel)
        published = [self.published[row] for row in (model or here)["source_row"].split() if row in self.published]
        return [f"{published[0]:.1f}" if published else "-",
                f"{float(model['model_bandwidth_gbs']):.1f}" if model else "-",
                f"{float(here['bandwidth_gbs']):.0f}" if here else "-",
                f"{float(here['bandwidth_percent_of_memcpy']) / 100:.2f}" if here else "-"]

    def kernels(self, step):
        """Those of one step that were measured or modelled, the lesson first."""
        rows = [*self.modelled.values(), *self.measured.values()]
        names = dict.fromkeys(r["kernel"] for r in rows if r["step"].startswith(step))
        return sorted(names, key=lambda name: name not in IDEAS)


HEADING = ["GTX 280, published", "GTX 280, model", "H200, measured", "of cudaMemcpy"]


def steps(data):
    lines = []
    for kernel, idea in IDEAS.items():
        folder = data.modelled[kernel]["step"]
        lines.append([f"[{int(folder[4:6])}]({folder}/README.md)", idea, f"`{kernel}`", *data.cells(kernel)])
    return Table("", ["step", "the idea", "kernel", *HEADING], lines, NOTE + ".", texts=3)


def results(data, step):
    return Table("", ["kernel", *HEADING], [[f"`{kernel}`", *data.cells(kernel)] for kernel in data.kernels(step)], NOTE + ".")


def fill(text, data):
    """A README's text with its generated parts as they should be."""
    def replace(match):
        begin, name, _, end = match.groups()
        words = name.split()
        if words == ["steps"]:
            table = steps(data)
        elif words[0] == "results" and len(words) == 2:
            table = results(data, words[1])
        else:
            sys.exit(f"readme.py: nothing is called {name}")
        return f"{begin}\n{table.markdown()}\n{end}"
    return MARKED.sub(replace, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a README is stale")
    check = parser.parse_args().check
    data, stale = Data(), []
    for path in [ROOT / "README.md", *sorted(ROOT.glob("step*/README.md"))]:
        text = path.read_text()
        fresh = fill(text, data)
        if fresh != text:
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                path.write_text(fresh)
    if stale:
        print(("stale: " if check else "written: ") + ", ".join(stale), file=sys.stderr if check else sys.stdout)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
