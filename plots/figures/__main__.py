"""python3 plots/figures: the folder of the package is on the path, and the package is wanted."""

import pathlib
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)

import whole  # first: Ctrl-C may come while the others are imported
import figures

sys.exit(whole.run(figures.main, "figures"))
