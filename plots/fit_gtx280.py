#!/usr/bin/env python3
"""Fits the three constants of the GTX 280's memory model to three rows of the whitepaper's table.

usage: python3 plots/fit_gtx280.py            (after `make all`; prints the constants, in ns)

The rows: copy, shared-memory copy and coalesced transpose at 2048 x 2048 float. The simulator counts, for
the partition that takes longest in each window of resident blocks, its bursts of 32 bytes, the scattered
ones among the writes, and how often all resident blocks meet a barrier; time is linear in the three. The
other five rows of the table are not used.
"""

import csv
import pathlib
import sys

import whole  # first: Ctrl-C may come while the others are imported
import command_line
import simulated

ROOT = pathlib.Path(__file__).resolve().parent.parent
FITTED = {"copy": ("step01", "W1"), "copySharedMem": ("step01", "W2"), "transposeCoalesced": ("step03", "W4")}


def published_gibs(source_row):
    """The GTX 280's bandwidth at 2048 x 2048 in the whitepaper's table, in GiB/s."""
    with (ROOT / "plots/published.csv").open(encoding="utf-8") as file:
        (value,) = [float(row["value"]) for row in csv.DictReader(file)
                    if (row["machine"], row["source_row"], row["quantity"]) == ("GTX 280", source_row, "bandwidth")]
    return value


def counted(kernel, program):
    """(bursts, scattered bursts, barriers) of one pass, from the program's own CSV."""
    _, (row,) = simulated.rows(program, "--device", "sim", "--machine", "gtx280", "--size", "2048", "--kernel", kernel)
    return [float(row[c]) for c in ("model_bursts", "model_scattered_bursts", "model_barriers")]


def main():
    import numpy as np  # --help does without it

    command_line.parser(__doc__).parse_args()
    matrix = [counted(kernel, program) for kernel, (program, _) in FITTED.items()]
    ns = [2 * 2048 * 2048 * 4 / (published_gibs(row) * 2**30) * 1e9 for _, row in FITTED.values()]
    burst, scattered, barrier = np.linalg.solve(matrix, ns)
    print(f"burst {burst:.4f} ns, scattered {scattered:.4f} ns, barrier {barrier:.1f} ns")


if __name__ == "__main__":
    sys.exit(whole.run(main, "fit_gtx280.py", RuntimeError))
