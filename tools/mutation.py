#!/usr/bin/env python3
"""Mutation test: wrong versions of the steps' kernels, made by small changes of their text. The simulator must catch
them.

usage: python3 tools/mutation.py [--count N] [--seed S] [--kernels NAME,...] [--operators NAME,...] [--sizes WxH,...]
                                 [--csv FILE] [--jobs N] [--batch N] [--list] [--show ID]

Every mutant is a kernel with its launcher, under a name such as transposeNaive_m07, and has one change
(tools/mutants.py). The mutants are written to build/mutants/, many to a file, built by the Makefile's rule for that
folder, and run on the simulator in floats, each in a process with a time limit. What can happen to a mutant:

  diagnosed   the simulator names a line: a race, an access out of bounds, a barrier that some threads miss, ...
  wrong       only the comparison with the reference finds it
  counts      its result is right; its requests, transactions or conflicts differ from those of the unchanged kernel
  refused     it does not compile, or its launch is refused
  crashed     the program ends by a signal, or not within the time limit
  survived    it behaves like the unchanged kernel

The first four are caught. tests/data/mutants_equivalent.csv lists the survivors that a person has judged, each with the
reason. It names them by kernel, operator and change, so that lines may move. The score is caught / (all - judged
survivors). Exit status 1: a mutant crashed, or survived and is not judged.
"""

import collections
import concurrent.futures
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from mutants import OPERATORS, ROOT, all_units, describe, mutants_of, sample
import command_line

FOLDER = ROOT / "build/mutants"
JUDGED = ROOT / "tests/data/mutants_equivalent.csv"
# Whole tiles, parts of tiles, one column, one row, whole vectors in parts of tiles, more columns and more rows than
# some kernels have blocks for.
SIZES = ["64x64", "96x32", "333x555", "33x65", "1x100", "100x1", "100x36", "132x68", "1100x40", "40x1100"]
SECONDS = 20  # of one mutant, all sizes
CAUGHT = ["diagnosed", "wrong", "counts", "refused"]
MISSED = ["crashed", "survived"]

# wrong: the sizes with a wrong result. counts: the rows of the results file, or None where a result was wrong.
Outcome = collections.namedtuple("Outcome", "fate kinds wrong counts", defaults=([], [], None))


def write_batch(path, units, mutants):
    """One source file of originals, <kernel>_m00, and mutants. Returns the owner of each line."""
    files = list(dict.fromkeys([u.file for u in units] + [m.file for m in mutants]))
    lines, owners = [], {}

    def write(text, owner=None):
        for line in text.split("\n"):
            lines.append(line)
            owners[len(lines)] = owner

    write('// Written by tools/mutation.py.\n#include "common/step.h"')
    for include in dict.fromkeys(i for f in files for i in f.includes):
        write(include)
    write("template <typename T> constexpr bool tested = false;\ntemplate <> constexpr bool tested<float> = true;")
    for file in files:  # each has constants of its own
        write(f"\nnamespace {file.space} {{\n\n{file.prelude()}\n")
        for unit in units:
            if unit.file is file:
                write(unit.text("_m00", []))
        for mutant in mutants:
            if mutant.file is file:
                write(f"// {mutant.operator}: {mutant.change}", mutant.id)
                write(mutant.unit.text(mutant.id[len(mutant.kernel):], mutant.edits), mutant.id)
        write(f"}}  // namespace {file.space}")
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return owners


def make(targets):
    """Makes them all. Returns the messages of what failed."""
    # The options of the make that runs this test, but not its pool of jobs.
    flags = " ".join(f for f in os.environ.get("MAKEFLAGS", "").split() if not f.startswith(("--jobserver", "-j")))
    done = subprocess.run(["make", "-s", "-k", *targets], cwd=ROOT, env={**os.environ, "MAKEFLAGS": flags},
                          capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def build(batches):
    """batches: {name: (units, mutants)}. Builds build/mutants/<name>, and returns the ids of the mutants that do not
    compile."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    refused = set()
    while True:
        owners = {name: write_batch(FOLDER / f"{name}.cu", units, [m for m in mutants if m.id not in refused])
                  for name, (units, mutants) in batches.items()}
        errors = make([f"build/mutants/{name}" for name in batches])
        if not errors:
            return refused
        blamed = {owners[name].get(int(line)) for name, line in re.findall(r"build/mutants/(\w+)\.cu:(\d+):", errors)
                  if name in owners} - {None}
        if not blamed - refused:
            sys.exit(f"mutation.py: the mutants do not build:\n{errors}")
        refused |= blamed


def counts_of(path):
    """The rows of a results file, without what differs from run to run and from name to name."""
    if not path.exists():
        return None
    rows = list(csv.DictReader(path.open()))
    return [{c: cell for c, cell in row.items() if c not in ("date_utc", "commit", "step", "kernel", "source_row")}
            for row in rows]


def outcome(program, kernel, sizes, folder):
    """Runs one kernel of a program. Its fate is right where nothing is amiss: the counts then decide."""
    results = folder / f"{kernel}.csv"
    command = [str(program), "--device", "sim", "--kernel", kernel, "--size", ",".join(sizes), "--csv", str(results)]
    try:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Outcome("crashed", [f"not done after {SECONDS} s"])
    said = re.findall(rf"^\w+: {kernel}: (.*)$", done.stderr, re.MULTILINE)
    # A diagnosis names a line. Its kind is how it begins: "race: read-after-write", "out-of-bounds load".
    kinds = sorted({re.match(r"race: \S+|[^:,\d]*?(?= of \d|[:,\d])", s)[0] for s in said if re.search(r"\.cu:\d+", s)})
    tables = re.split(r"^idata: ", done.stdout, flags=re.MULTILINE)[1:]
    wrong = [size for size, table in zip(sizes, tables) if re.search(rf"^{kernel}\s.*\bWRONG\b", table, re.MULTILINE)]
    if done.returncode not in (0, 1, 2):
        return Outcome("crashed", [f"exit status {done.returncode}", *kinds], wrong)
    if kinds:
        return Outcome("diagnosed", kinds, wrong)
    if done.returncode == 1:
        return Outcome("wrong", [], wrong)
    if done.returncode == 2 or any(s.startswith("the kernel asks for") for s in said):
        return Outcome("refused", said)
    return Outcome("right", [], [], counts_of(results))


def read_judged():
    with JUDGED.open(newline="") as file:
        return list(csv.DictReader(file))


def judges(row, mutant):
    """Is this row of the judgements about this mutant? A * stands for anything."""
    return (mutant.operator == row["operator"] and row["kernel"] in ("*", mutant.kernel)
            and row["change"] in ("*", mutant.change) and row["occurrence"] in ("*", str(mutant.occurrence)))


def reason(mutant, judged):
    """Why this mutant may survive, or None."""
    return next((row["reason"] for row in judged if judges(row, mutant)), None)


def run(units, mutants, sizes, jobs, batch_size, name):
    """[(mutant, outcome)] of all mutants. The unchanged kernels must be right."""
    batches, placed = {}, set()
    for first in range(0, len(mutants), batch_size):
        some = mutants[first:first + batch_size]
        # An original is in the batch of its first mutant.
        fresh = [u for u in units if u.kernel in {m.kernel for m in some} - placed]
        placed |= {u.kernel for u in fresh}
        batches[f"{name}_{len(batches)}"] = (fresh, some)
    start = time.monotonic()
    refused = build(batches)
    built = time.monotonic()
    tasks = [(program, f"{u.kernel}_m00") for program, (fresh, _) in batches.items() for u in fresh]
    tasks += [(program, m.id) for program, (_, some) in batches.items() for m in some if m.id not in refused]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outcomes = pool.map(lambda task: outcome(FOLDER / task[0], task[1], sizes, pathlib.Path(folder)), tasks)
        done = {kernel: what for (_, kernel), what in zip(tasks, outcomes)}
    print(f"built {len(mutants) - len(refused)} mutants in {built - start:.0f} s, ran them in "
          f"{time.monotonic() - built:.0f} s: {', '.join(sizes)}")
    rows = []
    for mutant in mutants:
        original = done[f"{mutant.kernel}_m00"]
        if original.fate != "right":
            sys.exit(f"mutation.py: {mutant.kernel}, unchanged, is not right: {original.fate}: "
                     f"{', '.join(original.kinds)}")
        what = Outcome("refused", ["does not compile"]) if mutant.id in refused else done[mutant.id]
        if what.fate == "right":
            what = what._replace(fate="survived" if what.counts == original.counts else "counts")
        rows.append((mutant, what))
    return rows


def print_table(rows, judged):
    print(f"\n{'operator':<27}{'all':>6}" + "".join(f"{fate:>11}" for fate in CAUGHT + MISSED) + f"{'judged':>9}")
    for operator in [*OPERATORS, "all"]:
        some = [(m, what.fate) for m, what in rows if operator in ("all", m.operator)]
        if not some:
            continue
        fates = collections.Counter(fate for _, fate in some)
        forgiven = sum(fate == "survived" and reason(m, judged) is not None for m, fate in some)
        print(f"{operator:<27}{len(some):>6}" + "".join(f"{fates[fate] or '-':>11}" for fate in CAUGHT + MISSED) +
              f"{forgiven or '-':>9}")
    caught, due = sum(fates[fate] for fate in CAUGHT), len(rows) - forgiven
    share = f", {100 * caught / due:.1f} %" if due else ""
    print(f"\nscore: {caught} of {due} caught{share}; {fates['counts']} of them by their counts alone")
    kinds = collections.Counter(kind for _, what in rows if what.fate == "diagnosed" for kind in what.kinds)
    if kinds:
        print("diagnoses and the number of mutants: " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()))


def print_missed(rows, judged):
    """Returns the mutants that were missed and are not judged."""
    missed, forgiven = [], collections.defaultdict(list)
    print()
    for mutant, what in rows:
        if what.fate == "survived" and reason(mutant, judged):
            forgiven[reason(mutant, judged)].append(mutant)
        elif what.fate in MISSED:
            missed.append(mutant)
            print(f"{what.fate}, NOT JUDGED: "
                  f"{describe(mutant)}{' (' + ', '.join(what.kinds) + ')' if what.kinds else ''}")
    for why, some in forgiven.items():
        print(f"survived, judged: {describe(some[0])}{f', and {len(some) - 1} more' if len(some) > 1 else ''}\n    "
              f"{why}")
    for row in judged:
        fates = {what.fate for mutant, what in rows if judges(row, mutant)}
        if fates and "survived" not in fates:
            print(f"judged, and caught all the same: {row['kernel']} {row['operator']} {row['change']}: take the "
                  f"row out of {JUDGED.relative_to(ROOT)}")
    return missed


def write_csv(path, rows, judged):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([
            "mutant", "operator", "file", "line", "change", "occurrence", "fate", "diagnoses", "wrong_at", "judged"])
        for m, what in rows:
            writer.writerow([m.id, m.operator, m.file.path.relative_to(ROOT), m.line, m.change, m.occurrence, what.fate,
                             "; ".join(what.kinds), " ".join(what.wrong), reason(m, judged) or ""])


def main():
    parser = command_line.parser(
        __doc__, epilog="Exit status 1: a mutant was missed that tests/data/mutants_equivalent.csv does not "
        "judge.")
    parser.add_argument("--count", type=int, help="so many mutants, from all operators in turn (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: %(default)s)")
    parser.add_argument("--kernels", help="only of these kernels: transposeNaive,transposeCoalesced")
    parser.add_argument("--operators", help="only by these operators: 'drop a barrier,wrong stride'")
    parser.add_argument("--sizes", default=",".join(SIZES), help="the matrices (default: %(default)s)")
    parser.add_argument("--csv", type=pathlib.Path, help="write what happened to each mutant to this file")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="programs that run at once (default: %(default)s)")
    parser.add_argument("--batch", type=int, help="mutants in one source file (default: each job's share, at most 60)")
    parser.add_argument("--list", action="store_true", help="list the mutants, and stop")
    parser.add_argument("--show", metavar="ID", help="print the text of one mutant, and stop")
    options = parser.parse_args()

    units = all_units()
    mutants = list(mutants_of(units))
    chosen = {}
    for option, value, known in (("kernels", options.kernels, [u.kernel for u in units]),
                                 ("operators", options.operators, list(OPERATORS))):
        chosen[option] = value.split(",") if value else known
        for name in chosen[option]:
            if name not in known:
                sys.exit(f"mutation.py: --{option} {name}: expected one of {', '.join(known)}")
    if options.show:
        for mutant in mutants:
            if mutant.id == options.show:
                print(f"// {describe(mutant)}\n{mutant.unit.text(mutant.id[len(mutant.kernel):], mutant.edits)}")
                return
        sys.exit(f"mutation.py: --show {options.show}: expected an id of --list")
    mutants = [m for m in mutants if m.kernel in chosen["kernels"] and m.operator in chosen["operators"]]
    if options.count:
        mutants = sample(mutants, options.count, options.seed)
    if options.list:
        for mutant in mutants:
            print(describe(mutant))
        print(f"{len(mutants)} mutants of {len({m.kernel for m in mutants})} kernels by "
              f"{len({m.operator for m in mutants})} operators")
        return

    # Two runs at once do not share files, unless they are of the same mutants.
    name = (f"sample_{options.count}_{options.seed}" if options.count
            else "some" if options.kernels or options.operators else "all")
    batch = options.batch or max(1, min(60, -(-len(mutants) // options.jobs)))
    rows = run(units, mutants, options.sizes.split(","), options.jobs, batch, name)
    judged = read_judged()
    if options.csv:
        write_csv(options.csv, rows, judged)
    print_table(rows, judged)
    if print_missed(rows, judged):
        sys.exit(1)


if __name__ == "__main__":
    main()
