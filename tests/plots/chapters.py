"""Chapters, made in this process. What the simulator traces for them is traced once."""

import contextlib
import functools
import sys

import pytest

from lessons import ROOT

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


def small(options):
    return ["256" if option == "2048" else option for option in options]


@functools.cache
def taken(whole):
    """What figures.RUNS trace; unless it is the whole, no matrix is larger than 512 squared."""
    return traces.take_traces({
        name: (program, options if whole else small(options), memories)
        for name, (program, options, memories) in figures.RUNS.items()})


explored = functools.cache(explorables.data)


@contextlib.contextmanager
def pictures(*kinds):
    """Of the pictures that are saved, only these kinds ("svg", "png") are drawn; the others have nothing in them."""
    save = Figure.savefig

    def savefig(figure, file, **options):
        if options["format"] in kinds: save(figure, file, **options)
        elif options["format"] == "svg": file.write("<svg></svg>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", savefig)
        yield


def write(out, *files, whole=False, drawn=False):
    """What `report.py FILES --out OUT` writes, but with empty PNG files; unless it is the whole, only the figures of
    the files are drawn, and their SVG files are empty, too, unless `drawn`. Returns its exit status."""
    with pictures(*(["svg"] if whole or drawn else [])), pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "take_traces", lambda _: taken(whole))
        patch.setattr(explorables, "data", explored)
        # not drawn from the files
        for module in () if whole else [*figures.TRACED.values(), *figures.BENCHED.values(),
                                        *figures.EXPLORED.values()]:
            patch.setattr(module, "draw",
                          lambda _, path: path.with_name(path.name + ".svg").write_text("<svg></svg>") and None)
        patch.setattr(sys, "argv", ["report.py", *map(str, files), "--out", str(out)])
        with contextlib.redirect_stdout(Terminal(sys.stdout)), contextlib.redirect_stderr(Terminal(sys.stderr)):
            return report.main()
