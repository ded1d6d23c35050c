#!/usr/bin/env python3
"""The chapter: what the steps did on this machine, and on any other whose result files are at hand.

usage: python3 plots/report.py RESULTS.csv... [--out DIR] [--no-figures]

Takes the files that `./stepNN --csv` and plots/measure.sh write; those of other machines may be among them: each machine is a
column, or a table, of its own. Fills plots/chapter.md with tables, figures, code and verdicts and writes DIR/chapter.md,
DIR/chapter.html (one file, opens from disk) and DIR/figures/ (default of DIR: report). Measured, counted and modelled
figures keep their label. What the results do not tell is said to be missing, never made up.

A file that is damaged, or none of ours, is named with its line, and the rest of it is used. Exits 2 if nothing is left.
"""

import argparse
import base64
import difflib
import pathlib
import re
import sys

import claims
import results as reader
import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = sorted(path.name for path in ROOT.glob("step[0-9][0-9]_*"))
DIFFERS_LITTLE = {"step03": "step02", "step04": "step03"}  # steps whose diff to an earlier one is the lesson


def section(step, heading):
    """A section of a step's README: its text without the heading; empty if there is none."""
    text = (ROOT / step / "README.md").read_text()
    found = re.search(rf"^## {heading}\n+(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group(1).strip() if found else ""


def title_and_idea(step):
    text = (ROOT / step / "README.md").read_text()
    title, idea = re.match(r"# (.*?)\n+(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL).groups()
    return title, idea.strip()


def source(step):
    return ROOT / step / f"{step.split('_')[0]}.cu"


def functions(path, marker):
    """The functions of a source file that begin with this marker, whole, template line included."""
    return re.findall(rf"^template <typename T>\n{marker}.*?^}}\n", path.read_text(), re.MULTILINE | re.DOTALL)


def code(step):
    """The kernels of a step; where the step before is nearly the same, what changed."""
    short = step.split("_")[0]
    kernels = "\n".join(functions(source(step), "__global__ void"))
    before = DIFFERS_LITTLE.get(short)
    if not before:
        return f"```cuda\n{kernels}```\n"
    (other,) = [s for s in STEPS if s.startswith(before)]
    old = "\n".join(functions(source(other), "__global__ void"))
    lines = list(difflib.unified_diff(old.splitlines(), kernels.splitlines(), "a", "b", n=2, lineterm=""))[2:]
    return f"What changes from {before} to {short}:\n\n```diff\n" + "\n".join(lines) + "\n```\n"
