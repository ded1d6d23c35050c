#!/usr/bin/env python3
"""Shows the counts of the simulator next to those of Nsight Compute, kernel by kernel.

COUNTS.csv is what the simulator wrote (simcuda --csv, SIM='--csv FILE' of make try), NCU.csv what `ncu --csv` printed
for the same program and arguments; docs/PROFILING.md has the command. Both are added up over the launches of a kernel
in one shape. Exit status: 0, also where counts differ; 2 for a file that cannot be read.
"""

import collections
import csv
import io
import re
import sys

import command_line
from facts import NCU


class BadFile(Exception):
    pass


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from None


def whole(text, where):
    """ncu separates groups of three digits, as in 131,072; some languages write 131.072."""
    plain = re.sub(r"(?<=\d)[,.'\u202f\xa0](?=\d{3}(\D|$))", "", text)
    if not re.fullmatch(r"\d{1,18}", plain):
        raise BadFile(f"{where} is {text!r}; expected a whole number, as ncu --print-units base prints it")
    return int(plain)


def kernel_name(name):
    """void k<(int)32, float>(T2 *) and k<32, float> are k<32,float>."""
    name = re.sub(r"\(anonymous namespace\)::|<unnamed>::|\([a-z ]+\)(?=[\d-])", "", name)
    depth, end = 0, len(name)
    for i, letter in enumerate(name):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:
            end = i
            break
    name = name[:end].strip()
    for pattern, new in ((r"\bconst\b|\s(?=[*&])|(?<=[,<])\s+|\s+(?=>)", ""), (r"^.* (?=[\w:]+(<|$))", ""),
                         (r"(?<=\d)[uUlL]+\b| ", ""), (r"\btrue\b", "1"), (r"\bfalse\b", "0")):
        name = re.sub(pattern, new, name)
    return name


def theirs(path):
    """{(kernel, grid, block): {metric: sum}} of ncu's page raw, or of one row for each metric."""
    text = read(path)
    begin = re.search(r'^"?ID"?,', text, re.M)
    if not begin:
        failed = re.search(r"==ERROR== .*", text)
        raise BadFile(f"{path}: " + (f"Nsight Compute failed: {failed[0]}" if failed else
                                     "no table of Nsight Compute; expected what ncu --csv prints"))
    rows = csv.DictReader(io.StringIO(text[begin.start():]))
    lacking = {"Kernel Name", "Grid Size", "Block Size"} - set(rows.fieldnames)
    if lacking:
        raise BadFile(f"{path}: no column {min(lacking)!r}; expected what ncu --csv prints")
    wanted = {row.metric for row in NCU if row.count}
    found = collections.defaultdict(collections.Counter)
    for number, row in enumerate(rows):
        if not row["ID"]:  # the units
            continue
        where = f"{path}: row {number}"
        if None in row or None in row.values():
            raise BadFile(f"{where}: not as many cells as the heading has; is the file whole?")
        shape = [tuple(map(int, re.findall(r"\d+", row[name]))) for name in ("Grid Size", "Block Size")]
        counts = found[(kernel_name(row["Kernel Name"]), *shape)]
        cells = {row["Metric Name"]: row["Metric Value"]} if "Metric Name" in row else row
        for metric in wanted & cells.keys():
            if cells[metric] not in ("", "n/a"):
                counts[metric] += whole(cells[metric], f"{where}: {metric}")
    return found


def ours(path):
    """{(kernel, grid, block): {count: sum}} of the simulator's CSV file."""
    found = collections.defaultdict(collections.Counter)
    rows = csv.DictReader(io.StringIO(read(path)))
    if "requests" not in (rows.fieldnames or ()):
        raise BadFile(f"{path}: no counts; expected what the simulator's --csv writes")
    for row in rows:
        grid, block = (tuple(int(row[f"{what}_{axis}"]) for axis in "xyz") for what in ("grid", "block"))
        counts = found[kernel_name(row["kernel"]), grid, block]
        blocks, threads = int(row["blocks_run"]), block[0] * block[1] * block[2]
        counts["threads"], counts["warps"] = blocks * threads, blocks * -(-threads // 32)
        name = f"{row['memory']} {row['access']}"
        counts[f"{name} requests"] += int(row["requests"])
        counts[f"{name} {row['unit']}"] += int(row["units"])
        counts[f"{name} conflicts"] += int(row["units"]) - int(row["ideal_units"])
    return found


def measured(metrics, count):
    """The card's count, by the first of the ways to it whose metrics the file has; None: by none."""
    for way in "123":
        names = [row.metric for row in NCU if row.count == count and row.way == way]
        if any(name in metrics for name in names):
            return sum(metrics[name] for name in names if name in metrics)
    return None


def table(key, card, simulator):
    """The lines of one kernel, and how many counts were compared and differ."""
    kernel, grid, block = key
    lines = [f"{kernel}<<<{grid}, {block}>>>", f"{'':32}{'Nsight Compute':>16}{'simulator':>16}{'difference':>20}"]
    compared = differ = 0
    for count in dict.fromkeys(row.count for row in NCU if row.count):
        they = measured(card, count)
        we = simulator[count] if not count.startswith("registers") else None
        if they is None or not (they or we):
            continue
        text = "-"
        if we is not None:
            text = "0" if they == we else f"{we - they:+}" + (f" ({100 * (we - they) / they:+.3g} %)" if they else "")
            compared, differ = compared + 1, differ + (they != we)
        lines.append(f"  {count:30}{they:16}{'-' if we is None else we:>16}{text:>20}")
    return lines, compared, differ


def main(arguments):
    parser = command_line.parser(__doc__, prog="ncu_join.py")
    parser.add_argument("counts", metavar="COUNTS.csv")
    parser.add_argument("ncu", metavar="NCU.csv")
    options = parser.parse_args(arguments)
    try:
        simulator, card = ours(options.counts), theirs(options.ncu)
    except BadFile as error:
        print(f"ncu_join.py: {error}", file=sys.stderr)
        return 2
    for key in card.keys() - simulator.keys():  # arguments that a launch leaves open are in the card's name alone
        plain = key[0].split("<")[0], *key[1:]
        if plain in simulator and plain not in card:
            card[plain] = card.pop(key)
    compared = differ = 0
    both = [key for key in simulator if key in card]
    for key in both:
        lines, n, off = table(key, card[key], simulator[key])
        compared, differ = compared + n, differ + off
        print("\n".join(lines), end="\n\n")
    for who, keys in (("the simulator", simulator.keys() - card.keys()), ("the card", card.keys() - simulator.keys())):
        for kernel, grid, block in sorted(keys):
            print(f"only {who} has {kernel}<<<{grid}, {block}>>>")
    print(f"{len(both)} kernels, {differ} of {compared} counts differ")
    if differ:
        print("sim/README.md says what nvcc merges and repeats, and what else makes counts differ.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
