"""A chapter, made in this process and in little time: what the simulator traces is small and made once, and the pictures are SVG alone."""

import functools
import pathlib
import sys

import pytest

from lessons import ROOT

sys.path.insert(0, str(ROOT / "plots"))
import figures  # noqa: E402: after its folder is known
import report  # noqa: E402
import traces  # noqa: E402
from chapter import template  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


def small(options):
    return ["256" if option == "2048" else option for option in options]


@functools.cache
def taken():
    return traces.take_traces({name: (program, small(options), memories) for name, (program, options, memories) in figures.RUNS.items()})


def write(out, *files):
    """What `report.py FILES --out OUT` writes, but for the figures' PNG files and the sizes of what is traced. Returns its exit status."""
    of_svg = Figure.savefig

    def savefig(figure, path, **options):
        return of_svg(figure, path, **options) if options.get("format") == "svg" else pathlib.Path(path).write_bytes(b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "take_traces", lambda _: taken())
        patch.setattr(Figure, "savefig", savefig)
        patch.setattr(sys, "argv", ["report.py", *map(str, files), "--out", str(out)])
        return report.main()
