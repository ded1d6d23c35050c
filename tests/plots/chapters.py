"""Chapters, made in this process. What the simulator traces for them is traced once."""

import contextlib
import functools
import sys

import pytest

from lessons import ROOT
from samples import ALL

sys.path.insert(0, str(ROOT / "plots"))
import explorables
import figures
import report
import traces
from outside import Terminal
from chapter import template
from matplotlib.figure import Figure

DATA = ROOT / "plots/data"
MEASURED = ([DATA / f"h200_{name}.csv" for name in ("steps", "book", "whitepaper", "bandwidth", "model")]
            + [DATA / "gtx280_model.csv", DATA / "counts.csv"])


@functools.cache
def taken():
    """What figures.RUNS trace."""
    return traces.take_traces(figures.RUNS)


explored = functools.cache(explorables.data)


EMPTY = "<svg></svg>"


def write(out, *files, whole=ALL, drawn=False):
    """What `report.py FILES --out OUT` writes. Unless it is the whole, nothing is traced, and SVG files have nothing in
    them, but those of the files if `drawn`. Returns its exit status."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explorables, "data", explored if whole else
                      lambda: (dict.fromkeys(explorables.IN_PLACE_OF.values()), {}))
        patch.setattr(template, "take_traces", lambda _: taken() if whole else ({}, {}))
        if not whole:
            for module in [*figures.TRACED.values(), *figures.BENCHED.values(), *figures.EXPLORED.values()]:
                patch.setattr(module, "draw",
                              lambda _, path: path.with_name(path.name + ".svg").write_text(EMPTY) and None)
            if not drawn:
                patch.setattr(Figure, "savefig", lambda _, file, **__: file.write(EMPTY))
        patch.setattr(sys, "argv", ["report.py", *map(str, files), "--out", str(out)])
        with contextlib.redirect_stdout(Terminal(sys.stdout)), contextlib.redirect_stderr(Terminal(sys.stderr)):
            return report.main()
