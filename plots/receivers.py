#!/usr/bin/env python3
"""Writes to whom each GPU's data goes over time, as `./step08 --explain` prints it, into a CSV file.

usage: python3 plots/receivers.py FILE [--gpus G] [--size N]

Runs ./step08 on simulated T4s (build it first: make step08) and writes a row for each order of blocks and each sending
GPU. The column `receivers` has a character for each window of blocks that run together: the number of the GPU that more
than half of the bytes go to, `*` where none gets more than half, `.` where nothing crosses. Exits 2 if the program is
missing or fails.
"""

import csv
import io
import pathlib
import re
import sys

import whole  # first: Ctrl-C may come while the others are imported
import command_line
import simulated

KERNELS = ["transposePlain", "transposePhases", "transposeToPeers"]
RUN = ["date_utc", "commit", "backend", "machine", "gpus", "kernel", "type", "width", "height", "busiest_receiver"]
COLUMNS = [*RUN, "sender", "receivers"]


def pictures(text):
    """{kernel: [the receivers of GPU 0, of GPU 1, ...]} of what the program prints."""
    return {
        kernel: re.findall(r"^    GPU \d+ +(\S+)$", lines, re.MULTILINE) for kernel, lines in re.findall(
            r"^  (\w+): to whom each GPU's data goes.*\n((?:    GPU \d+ .*\n)+)", text, re.MULTILINE)}


def run(gpus, size):
    """The file's rows. RuntimeError: the program is not there, or fails, or prints something else."""
    said, counts = simulated.rows("step08", "--device", "sim", "--machine", "t4", "--gpus", str(gpus), "--size",
                                  str(size), "--kernel", ",".join(KERNELS), "--explain")
    found, rows = pictures(said), {row["kernel"]: row for row in counts}
    if any(len(found.get(kernel, [])) != gpus or kernel not in rows for kernel in KERNELS):
        raise RuntimeError("./step08 --explain printed no picture for some kernel")
    return [{**{column: rows[kernel][column] for column in RUN}, "sender": sender, "receivers": receivers}
            for kernel in KERNELS for sender, receivers in enumerate(found[kernel])]


def main():
    parser = command_line.parser(__doc__, prog="receivers.py")
    parser.add_argument("file", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--gpus", metavar="G", type=int, default=4)
    parser.add_argument("--size", metavar="N", type=int, default=4096)
    options = parser.parse_args()
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(run(options.gpus, options.size))
    whole.write(options.file, text.getvalue())


if __name__ == "__main__":
    sys.exit(whole.run(main, "receivers.py", RuntimeError))
