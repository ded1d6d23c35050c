#!/usr/bin/env python3
"""How far the model's times are from the measured ones, for every kernel of steps 1 to 7.

usage: python3 tools/model_errors.py CARD [--size N] [--types float,double] [--csv FILE]

CARD is h100 or h200: plots/data/CARD_steps.csv has its measured times. The simulator counts each kernel for the machine
of that name at N x N (default: 8192; two minutes for float on an idle core). Prints model / measured for each kernel,
and how many are within 15 %, the mean and the largest error: of the kernels of steps 1 to 3, which whoever made the
model looked at, and of those of steps 4 to 7, which were held out. --csv writes a row for each kernel.
"""

import csv
import io
import pathlib
import statistics
import sys
import tempfile

from lessons import ROOT, is_for, kernels, run
import command_line
import whole

LOOKED_AT = {"step01", "step02", "step03"}
NEAR = 0.15
COLUMNS = ["machine", "step", "kernel", "type", "width", "held_out", "measured_ms", "model_ms", "ratio", "limit",
           "next_limit"]


def measured(card, size):
    """{(kernel, type): ms} of a card at size x size."""
    with open(ROOT / f"plots/data/{card}_steps.csv", encoding="utf-8") as file:
        return {(r["kernel"], r["type"]): float(r["time_median_ms"]) for r in csv.DictReader(file)
                if r["backend"] == "cuda" and r["width"] == r["height"] == str(size)}


def modelled(program, names, element, card, size):
    """The rows of the simulator for these kernels."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "counts.csv"
        done = run(ROOT / program, "--device", "sim", "--machine", card, "--kernel", ",".join(names), "--type", element,
                   "--size", size, "--csv", path)
        if done.returncode: sys.exit(done.stderr.strip())
        with open(path, encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if row["model_time_ms"]]


def compared(card, size, types):
    """A row of COLUMNS for each kernel that was measured and is modelled."""
    times = measured(card, size)
    for element in types:
        of_step = {}
        for kernel in kernels("lesson", "variant"):
            if is_for(kernel, element) and (kernel["kernel"], element) in times and kernel["program"] < "step08":
                of_step.setdefault(kernel["program"], []).append(kernel["kernel"])
        for program, names in of_step.items():
            for row in modelled(program, names, element, card, size):
                ms = times[row["kernel"], element]
                yield [card, program, row["kernel"], element, size, "no" if program in LOOKED_AT else "yes", ms,
                       row["model_time_ms"], f"{float(row['model_time_ms']) / ms:.2f}", row["model_limit"],
                       row["model_next_limit"]]


def summary(rows, held_out):
    errors = [abs(float(row[COLUMNS.index("ratio")]) - 1) for row in rows
              if row[COLUMNS.index("held_out")] == held_out]
    near = sum(error <= NEAR + 1e-9 for error in errors)
    return (f"{'held out' if held_out == 'yes' else 'looked at'}: {near} of {len(errors)} within {NEAR:.0%}, "
            f"mean {statistics.mean(errors):.1%}, largest {max(errors):.0%}")


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("card", choices=["h100", "h200"])
    parser.add_argument("--size", default="8192")
    parser.add_argument("--types", default="float,double")
    parser.add_argument("--csv")
    given = parser.parse_args()
    rows = list(compared(given.card, given.size, given.types.split(",")))
    if not rows: sys.exit(f"model_errors: nothing was measured on {given.card} at {given.size}")
    for row in rows: print("{1} {2:26} {3:6} {6:9.4f} ms, model {7} ms, ratio {8}, {9}".format(*row))
    for held_out in ("no", "yes"): print(summary(rows, held_out))
    if given.csv:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
        whole.write(given.csv, text.getvalue())


if __name__ == "__main__":
    main()
