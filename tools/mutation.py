#!/usr/bin/env python3
"""Mutation test: wrong versions of the lessons, made by small changes of their text. The simulator must catch them.

usage: python3 tools/mutation.py [--count N] [--seed S] [--list] [--csv FILE]

A mutant is the file of a lesson with one match of an operator (OPERATORS, regular expressions) replaced. A batch is one
program with several mutants, each in a namespace, registered for floats as KERNEL_m07, and with the unchanged kernel as
KERNEL_m00. It is written to build/mutants and built by the Makefile's rule. Every mutant runs on the simulator in a
process with a time limit, in SIZES. Its fate:

  diagnosed   the simulator names a line: a race, an access out of bounds, a barrier that some threads miss, ...
  wrong       only the comparison with the reference finds it
  counts      its result is right; its requests, transactions or conflicts differ from those of the unchanged kernel
  refused     it does not compile, or its launch is refused
  survived    it behaves like the unchanged kernel; or it ends by a signal, or not within the time limit

tests/data/mutants_equivalent.csv has the survivors that a person has judged to be right, each with the reason. Exit
status 1: another one survived. --count N: so many mutants, operators in turn (default: all).
"""

import collections
import concurrent.futures
import csv
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from lessons import ROOT, run, write
import command_line

FOLDER = ROOT / "build/mutants"
JUDGED = ROOT / "tests/data/mutants_equivalent.csv"
FILES = sorted(path for path in ROOT.glob("step0[2-7]_*/step0?.cu"))
# Whole tiles, three tiles to a side, parts of tiles, one column, one row, parts of vectors, more columns and more rows
# than some kernels have blocks for.
SIZES = ["64x64", "70x70", "96x32", "333x555", "33x65", "1x100", "100x1", "132x68", "1100x40", "40x1100"]
SECONDS = 20  # of one mutant, all sizes
BATCH = 40  # mutants in one program

# Name: what it matches in the code, and what that becomes.
OPERATORS = {
    "< to <=": (r"(?<=\w) < (?=\w)", " <= "),
    "bound one less": (r" < (width|height)\b", r" < \1 - 1"),
    "bound of the other side": (r" < (width|height)\b", lambda m: " < " + other(m[1])),
    "drop the guard": (r"\bif \((?=[^;{]*(?:width|height))", "if (true || "),
    "drop half a guard": (r"(?<=\bif \()([^&;{]*) && ", "true && "),
    "+ to -": (r"(?<=[\w)\]]) \+ (?=[\w(])", " - "),
    "index off by one": (r"\b([io]data)\[", r"\1[1 + "),
    "x for y": (r"\b(blockIdx|threadIdx)\.([xy])", lambda m: m[1] + "." + other(m[2])),
    "wrong stride": (r"\* (width|height)\b", lambda m: "* " + other(m[1])),
    "drop a barrier": (r"__syncthreads\(\);", ""),
    "barrier of some threads": (r"__syncthreads\(\);", "if (threadIdx.x + threadIdx.y) __syncthreads();"),
    "barrier too early": (r"(?s)\n( *for [^{}]*?)__syncthreads\(\);", r"\n    __syncthreads();\1"),
    "swap tile indices": (r"\btile\[([^][]*)\]\[([^][]*)\](?! *;\n\n)", r"tile[\2][\1]"),
    "tile too small": (r"(?<=T tile\[)(\w+)\]", r"\1 - 1]"),
    "remove padding": (r"(T tile\[\w+\]\[\w+) \+ [^]]*\]", r"\1]"),
    "drop the last turn": (r"(for \(int \w = 0; \w < [^;]*)(; \w \+= )(\w+)\)", r"\1 - \3\2\3)"),
    "drop the first turn": (r"(for \(int \w = )0(; \w < [^;]*; \w \+= )(\w+)\)", r"\g<1>\3\2\3)"),
    "wrong step of a loop": (r"(for \([^;]*;[^;]*; \w \+= )(\w+)\)", r"\1 2 * \2)"),
    "wrong tile element": (r"= tile\[([^][]*)\]", r"= tile[(\1) ^ 1]"),
    "leave a cell unset": (r"\btile(?=\[[^][]*\]\[[^][]*\] =)", "if (threadIdx.x || threadIdx.y) tile"),
    "leave an element unwritten": (r"\bodata(?=\[[^;]*\] =)",
                                   "if (threadIdx.x || threadIdx.y || blockIdx.x || blockIdx.y) odata"),
    "no block for the rest": (r"\((\w+) \+ \w+ - 1\) /", r"(\1) /"),
    "narrow index": (r"\b([io]data)\[([^;=]*)\](?=;| =)", r"\1[short(\2)]"),
    "read the output": (r"= idata\[", "= odata["),
    "% to /": (r" % ", " / "),
}
Mutant = collections.namedtuple("Mutant", "file kernel operator line change text")


def other(name):
    return {"width": "height", "height": "width", "x": "y", "y": "x"}[name]


def source(file):
    """The text of a file without comments and includes, its lines where they were."""
    return re.sub(r"//.*|^#include .*", "", file.read_text(), flags=re.MULTILINE)


def mutants():
    """Every mutant, in a fixed order. Two operators may make one text: the first has it."""
    found, seen = [], set()
    for file in FILES:
        code = source(file)
        kernels = [(m.start(), m[1]) for m in re.finditer(r"^KERNEL\((\w+),", code, re.MULTILINE)]
        for operator, (pattern, becomes) in OPERATORS.items():
            for match in re.finditer(pattern, code):
                if "__global__ void" in code[code.rfind("\n", 0, match.start()):match.start()]: continue
                text = code[:match.start()] + match.expand(becomes) + code[match.end():] if isinstance(becomes, str) \
                    else code[:match.start()] + becomes(match) + code[match.end():]
                if text == code or text in seen: continue
                seen.add(text)
                line = code.count("\n", 0, match.start(1) if "(?s)" in pattern else match.start())
                before, after = code.split("\n"), text.split("\n")
                kernel = next((name for end, name in kernels if match.start() < end), None)
                if kernel and "static_assert" not in before[line]:
                    found.append(Mutant(file, kernel, operator, line + 1,
                                        f"{before[line].strip()} => {after[line].strip()}", text))
    return found


def sample(every, count, seed):
    """So many mutants, operators in turn."""
    draw, by_operator = random.Random(seed), collections.defaultdict(list)
    for mutant in every: by_operator[mutant.operator].append(mutant)
    for some in by_operator.values(): draw.shuffle(some)
    turns = [some[n] for n in range(len(every)) for some in by_operator.values() if n < len(some)]
    return turns[:count]


def copy(text, kernel, name):
    """The text in a namespace, with one kernel registered, for floats."""
    (produces, launcher), = re.findall(rf'^KERNEL\({kernel}, "[^"]*", (.*), (\w+)\)$', text, re.MULTILINE)
    body = re.sub(r"^KERNEL\(.*$", "", text, flags=re.MULTILINE)
    return f"""namespace {name} {{
{body}
template <typename T>
void floats(T* odata, const T* idata, int width, int height)
{{
    if constexpr (std::is_same_v<T, float>) {launcher}(odata, idata, width, height);
}}
KERNEL({name}, "-", {produces}, floats)
}}  // namespace {name}
"""


def built(batches):
    """{program: {name: (file, kernel, text)}} is built; gives the names of those that do not compile."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    refused = set()
    while True:
        owners = {}
        for program, entries in batches.items():
            lines = ["// Written by tools/mutation.py.", '#include "common/step.h"', "#include <type_traits>"]
            for name, (_, kernel, text) in entries.items():
                if name in refused: continue
                added = copy(text, kernel, name).split("\n")
                owners |= {(program, str(len(lines) + n + 1)): name for n in range(len(added))}
                lines += added
            path = FOLDER / f"{program}.cu"
            if not path.exists() or path.read_text() != "\n".join(lines): path.write_text("\n".join(lines))
        done = subprocess.run(["make", "-s", "-k", *(f"build/mutants/{program}" for program in batches)], cwd=ROOT,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        blamed = {owners.get(at) for at in re.findall(r"build/mutants/(\w+)\.cu:(\d+):", done.stderr)} - {None}
        if not done.returncode: return refused
        if not blamed - refused: sys.exit(f"mutation.py: the mutants do not build:\n{done.stderr[-3000:]}")
        refused |= blamed


def counts(path):
    """The rows of a results file, without what differs from name to name and from run to run."""
    left_out = ("date_utc", "commit", "step", "kernel", "source_row")
    return [{c: cell for c, cell in row.items() if c not in left_out} for row in csv.DictReader(path.open())]


def ran(program, name, folder):
    """(fate, detail): the detail of a right result is its counts."""
    results = pathlib.Path(folder) / f"{name}.csv"
    try:
        done = run(FOLDER / program, "--device", "sim", "--kernel", name, "--size", ",".join(SIZES), "--csv", results,
                   timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "survived", f"not done after {SECONDS} s"
    said = re.findall(rf"^\w+: {name}: (.*)$", done.stderr, re.MULTILINE)
    lines = [text for text in said if re.search(r"\.cu:\d+", text)]
    if done.returncode not in (0, 1, 2): return "survived", f"exit status {done.returncode}"
    if lines: return "diagnosed", re.match(r"race: \S+|[^:,\d]*?(?= of \d|[:,\d])", lines[0])[0]
    if done.returncode == 1: return "wrong", ""
    if done.returncode == 2 or said: return "refused", (said or [done.stderr])[0][:80]
    return "right", counts(results)


def judged(some):
    """[(mutant, fate, detail, the reason of a judgement or "")]"""
    reasons = {(row["kernel"], row["change"]): row["reason"] for row in csv.DictReader(JUDGED.open(newline=""))}
    unchanged = {f"{mutant.kernel}_m00": (mutant.file, mutant.kernel, source(mutant.file)) for mutant in some}
    entries = {**unchanged, **{f"{m.kernel}_m{n:02}": (m.file, m.kernel, m.text) for n, m in enumerate(some, 1)}}
    names = list(entries)
    batches = {f"batch_{len(some)}_{n // BATCH}": {name: entries[name] for name in names[n:n + BATCH]}
               for n in range(0, len(names), BATCH)}
    refused = built(batches)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(
            len(os.sched_getaffinity(0))) as pool:
        tasks = [(program, name) for program, those in batches.items() for name in those if name not in refused]
        fates = dict(zip((name for _, name in tasks), pool.map(lambda task: ran(*task, folder), tasks)))
    for name in unchanged:
        if fates[name][0] != "right": sys.exit(f"mutation.py: {name}, which is unchanged, is not right: {fates[name]}")
    for n, mutant in enumerate(some, 1):
        fate, detail = fates.get(f"{mutant.kernel}_m{n:02}", ("refused", "does not compile"))
        if fate == "right":
            fate, detail = "survived" if detail == fates[f"{mutant.kernel}_m00"][1] else "counts", ""
        yield mutant, fate, detail, reasons.get((mutant.kernel, mutant.change), "") if fate == "survived" else ""


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    every = mutants()
    some = sample(every, options.count, options.seed) if options.count else every
    if options.list:
        for m in some: print(f"{m.file.relative_to(ROOT)}:{m.line}: {m.kernel}: {m.operator}: {m.change}")
        print(f"{len(some)} mutants of {len({m.kernel for m in some})} kernels")
        return 0
    rows = list(judged(some))
    fates = collections.Counter(fate for _, fate, *_ in rows)
    missed = [row for row in rows if row[1] == "survived" and not row[3]]
    for m, _, detail, _ in missed:
        print(f"survived, NOT JUDGED: {m.file.relative_to(ROOT)}:{m.line}: {m.operator}: {m.change} {detail}")
    if options.csv:
        write(options.csv, [{"kernel": m.kernel, "operator": m.operator, "line": m.line, "change": m.change,
                             "fate": fate, "detail": detail, "judged": reason} for m, fate, detail, reason in rows])
    forgiven = fates["survived"] - len(missed)
    print(", ".join(f"{fate} {n}" for fate, n in fates.most_common()))
    print(f"score: {len(rows) - fates['survived']} of {len(rows) - forgiven} caught; {forgiven} survivors are judged")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
