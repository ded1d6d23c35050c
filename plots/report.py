#!/usr/bin/env python3
"""Writes the chapter: what the steps do on this machine, and on any other whose result files are given.

usage: python3 plots/report.py RESULTS.csv... [--out DIR]

Takes the files that `./stepNN --csv` and bench/measure.sh write. Files of other machines may be among them: each
machine has a column, or a table, of its own. Fills plots/chapter.md, the lesson, and plots/reference.md with tables,
figures, code and verdicts and writes DIR/chapter.html, DIR/reference.html (two files that open from disk and link to
each other), the same as Markdown, and DIR/figures (DIR: report, unless --out names another). Measured, counted and
modelled figures keep their label. If no GPU ran, the H200 measurements that are committed with the project take the
GPU's place, labelled so. What is missing is named and never made up.

A damaged file, or one of another kind, is named with its line, and the rest of it is used. Exits 2 if nothing is left.
"""

import pathlib
import sys

import whole  # first: Ctrl-C may come while the others are imported
import command_line
import results as reader
from chapter.page import to_html
from chapter.template import Chapter
from pages import ROOT

PARTS = ("chapter", "reference")


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULTS.csv")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "report", metavar="DIR")
    options = parser.parse_args()
    results = reader.load(options.results)
    for problem in results.problems:
        print(f"report.py: {problem}", file=sys.stderr)
    for line in results.joined():
        print(f"report.py: {line}", file=sys.stderr)
    if not results.rows:
        print("report.py: no results are left to report", file=sys.stderr)
        return 2
    with whole.together(options.out) as folder:
        chapter = Chapter(results, folder)
        parts = chapter.fill({name: (ROOT / f"plots/{name}.md").read_text(encoding="utf-8") for name in PARTS})
        for name, text in parts.items():
            whole.write(folder / f"{name}.md", text)
            whole.write(folder / f"{name}.html", to_html(text, folder, chapter.explorables))
    print((options.out / "chapter.html").resolve())
    return 0


if __name__ == "__main__":
    sys.exit(whole.run(main, "report.py"))
