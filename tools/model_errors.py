#!/usr/bin/env python3
"""How far the model's times are from the measured ones.

usage: python3 tools/model_errors.py CARD [--sizes N,...] [--counted N] [--types float,double] [--csv FILE]
       python3 tools/model_errors.py CARD --elsewhere [--csv FILE]

CARD is h100 or h200, and plots/data has its measured times. The first form is for every kernel of steps 1 to 7, in
CARD_steps.csv. The simulator counts each for the machine of that name at N x N (--counted, default: 8192; a minute for
float on an idle core). Times of other --sizes (default: the same) are those times the ratio of the areas. The second
form is for the kernels of bench/elsewhere.cu, in CARD_elsewhere.csv, which the simulator runs (two minutes).

Prints model / measured for each kernel, and how many are within 15 %, the mean and the largest error: of the kernels of
steps 1 to 3, which whoever made the model looked at, and of those of steps 4 to 7 and from elsewhere, which were held
out. --csv writes a row for each kernel.
"""

import csv
import json
import pathlib
import statistics
import sys
import tempfile

from lessons import ROOT, is_for, kernels, make_try, run, write
import command_line

LOOKED_AT = {"step01", "step02", "step03"}
REPEATS = "transposeRepeated"  # finds its tile in the caches, and has no modelled time
NEAR = 0.15
COLUMNS = ["machine", "step", "kernel", "type", "width", "counted_width", "held_out", "measured_ms", "model_ms",
           "ratio", "limit", "next_limit"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def row_of(card, step, kernel, element, width, counted_width, ms, model_ms, limit, next_limit):
    return dict(zip(COLUMNS, [card, step, kernel, element, width, counted_width, "no" if step in LOOKED_AT else "yes",
                              ms, f"{model_ms:.4g}", f"{model_ms / ms:.2f}", limit, next_limit]))


def modelled(program, names, element, card, size):
    """The rows of the simulator for these kernels at size x size."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "counts.csv"
        done = run(ROOT / program, "--device", "sim", "--machine", card, "--kernel", ",".join(names), "--type", element,
                   "--size", size, "--csv", path)
        if done.returncode: sys.exit(done.stderr.strip())
        return [row for row in read(path) if row["model_time_ms"]]


def of_steps(card, sizes, counted, types):
    """A row for each kernel and size that was measured."""
    times = {(r["kernel"], r["type"], int(r["width"])): float(r["time_median_ms"])
             for r in read(ROOT / f"plots/data/{card}_steps.csv")
             if r["backend"] == "cuda" and r["width"] == r["height"]}
    for element in types:
        of_step = {}
        for kernel in kernels("lesson", "variant"):
            name, step = kernel["kernel"], kernel["program"]
            measured = any((name, element, n) in times for n in sizes)
            if measured and name != REPEATS and is_for(kernel, element) and step < "step08":
                of_step.setdefault(step, []).append(name)
        for step, names in of_step.items():
            for row in modelled(step, names, element, card, counted):
                for n in sizes:
                    ms = times.get((row["kernel"], element, n))
                    if not ms: continue
                    model_ms = float(row["model_time_ms"]) * (n / counted) ** 2
                    yield row_of(card, step, row["kernel"], element, n, counted, ms, model_ms, row["model_limit"],
                                 row["model_next_limit"])


def of_elsewhere(card):
    """A row for each kernel of bench/elsewhere.cu."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        done = make_try("bench/elsewhere.cu", "CPPFLAGS=-I.", "ARGS=--once",
                        f"SIM=--quiet --machine {card} --json {path}")
        if done.returncode: sys.exit(done.stderr.strip())
        model = {kernel["kernel"]: kernel for kernel in json.loads(path.read_text())["kernels"]}
    for row in read(ROOT / f"plots/data/{card}_elsewhere.csv"):
        kernel = model[row["kernel"]]
        yield row_of(card, "elsewhere", row["kernel"], "", "", "", float(row["time_median_ms"]),
                     kernel["model_time_ms"], kernel["model_limit"], kernel["model_next_limit"])


def summary(rows):
    errors = [abs(float(row["ratio"]) - 1) for row in rows]
    near = sum(error <= NEAR + 1e-9 for error in errors)
    return f"{near} of {len(errors)} within {NEAR:.0%}, mean {statistics.mean(errors):.1%}, largest {max(errors):.0%}"


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("card", choices=["h100", "h200"])
    parser.add_argument("--sizes")
    parser.add_argument("--counted", type=int, default=8192)
    parser.add_argument("--types", default="float,double")
    parser.add_argument("--elsewhere", action="store_true")
    parser.add_argument("--csv")
    given = parser.parse_args()
    sizes = [int(n) for n in (given.sizes or str(given.counted)).split(",")]
    rows = list(of_elsewhere(given.card) if given.elsewhere
                else of_steps(given.card, sizes, given.counted, given.types.split(",")))
    if not rows: sys.exit(f"model_errors: nothing was measured on {given.card} at {given.sizes}")
    for row in rows:
        print("{step:9} {kernel:26} {type:6} {width:>5} {measured_ms:9.4f} ms, model {model_ms:>8} ms, ratio {ratio}, "
              "{limit}".format(**row))
    groups = {}
    for row in rows: groups.setdefault((row["type"], row["width"], row["held_out"]), []).append(row)
    for (element, width, held_out), of_group in groups.items():
        print(f"{element} {width} {'held out' if held_out == 'yes' else 'looked at'}: {summary(of_group)}".lstrip())
    if given.csv: write(given.csv, rows)


if __name__ == "__main__":
    main()
