#!/usr/bin/env python3
"""Whether the counts and findings of the simulator depend on the compiler.

usage: python3 tools/compilers.py [--work DIR] [--csv FILE] [--only NAME,...] [--jobs N] [--list]

Builds the kernels of all steps and their errata, of the tests (unusual, planted, faults, divergence, atomics_async) and
of the language with each compiler that this machine has. Runs the steps in three types and three shapes, the tests in
the smaller two shapes; where an emulator runs them, in the smallest. Compares every count, every finding and every row
of the language with those of the reference: g++ at -O1. Prints a table and each difference. Exits 1 if there is a
difference that REASONS and FINDING_REASONS do not name, or if something does not build. Not covered: exercises and
tests/sim/programs.

  --work DIR   copies of the tree are built there (default: a temporary folder); one that is there already is brought up
               to date
  --csv FILE   also write the table to FILE; configurations that do not run keep their rows
  --only NAME  these configurations, and the reference
  --jobs N     so many at once
  --list       the configurations that this machine has

Debian 12: apt-get install g++-11 clang-14 clang-19 g++-aarch64-linux-gnu qemu-user.
Takes about half an hour on two processors. Not compared: g++ at -O0. There it inlines no constructor, and the copy of a
structure has the place of its type.
"""

import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from lessons import ROOT
import command_line

STEPS = [f"step0{i}" for i in range(1, 8)]
TYPES = ["char", "half", "float", "double", "int", "double2"]
SIZES = [(1024, 96), (333, 555), (33, 65)]
LANGUAGE = sorted(f"tests/sim/language/{p.stem}" for p in (ROOT / "tests/sim/language").glob("*.cu"))
PLAIN = LANGUAGE + ["tests/sim/divergence", "tests/sim/atomics_async"]
TESTS = [
    "build/tests/steps/unit", "build/tests/sim/unusual/unusual",
    "build/tests/steps/planted"]

Configuration = collections.namedtuple("Configuration", "name cxx level runner")
ARM = "aarch64-linux-gnu-g++"
REFERENCE = Configuration("g++ -O1", "g++", "-O1", ())
# qemu keeps tables of all addresses that are reserved: the simulator takes fewer where there are fewer.
CONFIGURATIONS = [REFERENCE] + [Configuration(f"g++ {level}", "g++", level, ()) for level in ("-O2", "-O3")] + [
    Configuration("g++-11 -O1", "g++-11", "-O1", ()),
    Configuration("clang++-14", "clang++-14", "-O1", ()),
    Configuration("clang++-19", "clang++-19", "-O1", ()),
    Configuration("aarch64 g++ -O1", ARM, "-O1", ("qemu-aarch64", "-R", "64G", "-L", "/usr/aarch64-linux-gnu")),
]

# Differences that are right, and may be of no other kind: configurations, program, kernels or a part of the finding,
# why.
AGAIN = "loads each time, as the source says, what g++ 12 at -O1 loads only once because nothing can have changed it"
EITHER = "loads in either branch of condition ? a[i] : b[j], where g++ chooses the address and loads once"
REASONS = [
    ("clang.*", "build/tests/sim/unusual/unusual",
     "helperTwice|ownCells|poolDivided|poolOfTheLaunchDivided|prefixSumPlaces|sharedPlace|structOfATile|"
     "treeFindsTheLast|turnsByACounter",
     AGAIN),
    ("clang.*", "tests/sim/language/groups", "filter", AGAIN),
    ("clang.*", "tests/sim/language/numbers", "two_results", AGAIN),
    ("clang.*", "tests/sim/language/types", "variables", AGAIN),
    (r"g\+\+-11 -O1", "build/tests/sim/unusual/unusual", "poolOfTheLaunchDivided", AGAIN),
    ("clang.*", "build/tests/sim/unusual/unusual", "guardHoistedOnce", EITHER),
    ("clang.*", "tests/sim/divergence", "mergedTernary", EITHER),
]


def without_line(lines):
    return [re.sub(r":\d+, in", ", in", line) for line in lines]


def in_either_order(lines):
    """How often two places of a kernel raced, whichever came first; of a kernel's other lines all but the number of its
    places."""
    pairs, rest = collections.Counter(), []
    for line in lines:
        race = re.fullmatch(
            r"(.*): race: .* hazard in (.*), byte .* at (\S+) and thread .* at (\S+), with .* \((\d+) times\)", line)
        if race: pairs[race[1], race[2], frozenset(race.group(3, 4))] += int(race[5])
        else: rest.append(re.sub(r", at \d+ places of the kernel$", "", line))
    return pairs, rest


# Of findings: a function of these kernels' lines that must give the same.
FINDING_REASONS = [
    ("clang.*", "build/tests/steps/faults", "deepStack_faulty", without_line,
     "says that a function begins at its brace, where g++ says at its name"),
    ("clang.*", "build/tests/steps/planted",
     "copy_forgetBarrier|transpose_forgetBarrier|fine_forgetBarrier|coarse_forgetBarrier", in_either_order,
     "loads and stores an element of 16 bytes in parts in another order, and either of two that race may come first"),
]
# The same counts at another place.
CALLER = ("names the kernel's line for the copy of a pipeline, where g++ names the call of the kernel; the cause is "
          "not known")
PLACE_REASONS = [
    ("clang.*", "tests/sim/language/memory", "shared_pipeline", CALLER),
    ("clang.*", "tests/sim/language/orders", "stagesOfAPipeline", CALLER),
    ("aarch64.*", "tests/sim/language/memory", "roles",
     "names the call of the kernel for the copy of a pipeline, where g++ for x86-64 names the kernel's line; the "
     "cause is not known"),
]
OF_LOADS = re.compile(".*_load_.*|accesses|global_bytes_moved|coalesced_percent|worst_conflict|busiest_partition_of_loa"
                      "ds|model_time_over_copy(_limit)?")

# When, and from which sources.
VOLATILE = {"date_utc", "commit"}


def version(cxx):
    return subprocess.run([cxx, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


def available():
    return [c for c in CONFIGURATIONS if shutil.which(c.cxx) and (not c.runner or shutil.which(c.runner[0]))]


def sizes(configuration):
    return SIZES[-1:] if configuration.runner else SIZES


def copy_tree(folder):
    """The sources that git knows or does not ignore, as they are now. Those that have not changed keep their times."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"], check=True,
                           capture_output=True).stdout
    names = list(filter(None, names.decode().split("\0")))
    for file in folder.rglob("*"):  # what the project has no more is no part of a wildcard either
        name = file.relative_to(folder)
        if file.is_file() and name.parts[0] != "build" and str(name) not in names: file.unlink()
    for name in names:
        source, copy = ROOT / name, folder / name
        if not source.is_file() or copy.exists() and copy.read_bytes() == source.read_bytes(): continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        copy.chmod(source.stat().st_mode)


def build(configuration, folder):
    """Returns what failed, or an empty text."""
    options = [
        "NVCC=", "JOBS=1", f"CXX={configuration.cxx}", "HOSTCXX=g++", f"SIM_O={configuration.level}", "CXXFLAGS=-O1"]
    targets = STEPS + TESTS + [f"build/try/{p}" for p in PLAIN]
    done = subprocess.run(["make", "-k", "-s", *options, *targets], cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr[-3000:]


class Results:
    """What the programs said: counts and findings by (program, kernel), rows of the language by name."""

    def __init__(self):
        self.counts, self.findings = collections.defaultdict(list), collections.defaultdict(list)
        self.rows, self.seconds = {}, 0


def run_all(configuration, folder):
    results = Results()
    began = time.time()
    table, report = folder / "counts.csv", folder / "report.json"

    def run(program, *arguments, options=None):
        table.unlink(missing_ok=True)
        environment = dict(os.environ, **({"SIM_OPTIONS": options} if options else {}))
        try:
            return subprocess.run([*configuration.runner, f"./{program}", *map(str, arguments)], cwd=folder,
                                  env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", timeout=900)
        except (OSError, subprocess.TimeoutExpired) as failed:
            return subprocess.CompletedProcess([], 99, "", f"{type(failed).__name__}")

    def read(program, kernel, *key):
        if not table.exists(): return
        for row in csv.DictReader(open(table)):
            if row.get("backend", "sim") != "sim": continue  # what the host did is measured
            counts = tuple((column, value) for column, value in row.items() if column not in VOLATILE)
            results.counts[(program, row[kernel], *key)].append(counts)

    def note(program, what, done):
        """The findings, and how it ended."""
        lines = [
            line for line in done.stderr.splitlines() if not line.startswith("qemu:") and ": not written" not in line]
        results.findings[program, what] += [f"exit status {done.returncode}", *lines]

    for program in STEPS + ["build/tests/sim/unusual/unusual", "build/tests/steps/planted"]:
        for element in TYPES:
            for width, height in sizes(configuration):
                if program not in STEPS and (width, height) == SIZES[0]: continue
                size = f"{width}x{height}"
                done = run(program, "--device", "sim", "--all", "--type", element, "--size", size, "--csv", table)
                read(program, "kernel", element, size)
                note(program, f"{element} {size}", done)
        if program in STEPS:
            done = run(program, "--errata")
            note(program, "--errata", done)
            results.findings[program, "--errata"] += done.stdout.splitlines()
    note("unit", "", run("build/tests/steps/unit"))
    for program in PLAIN:
        report.unlink(missing_ok=True)
        done = run(f"build/try/{program}", options=f"--quiet --csv {table} --json {report}")
        read(program, "kernel")
        for line in done.stdout.splitlines():
            row = re.fullmatch(r"ROW (.*) (ok|WRONG)", line)
            if row: results.rows[program, row[1]] = row[2]
        note(program, "", done)
        # The compilers name other columns of a line.
        found = json.loads(report.read_text())["findings"] if report.exists() else []
        results.findings[program, ""] += [f"{f['kernel']}: {f['text']} ({f['count']} times)" for f in found]
    results.seconds = time.time() - began
    return results


def only_more_loads(ours, theirs):
    """Whether two lists of rows differ in their loads alone, and the second has more of them."""
    if ours and "access" in dict(ours[0]):
        stores = [[row for row in rows if dict(row)["access"] != "load"] for rows in (ours, theirs)]
        loads = [
            sum(int(dict(row)["requests"]) for row in rows if dict(row)["access"] == "load") for rows in (ours, theirs)]
        return stores[0] == stores[1] and loads[0] < loads[1]
    if len(ours) != len(theirs):
        return False
    cells = [(a, x, y) for left, right in zip(ours, theirs) for (a, x), (_, y) in zip(left, right)]
    return (all(x == y or OF_LOADS.fullmatch(a) for a, x, y in cells)
            and all(int(x) <= int(y) for a, x, y in cells if a.endswith("_load_requests")))


def without_places(rows):
    return sorted([cell for cell in row if cell[0] not in ("file", "line")] for row in rows)


def reason(configuration, key, what, expected, got):
    """Why a difference is right: what it is of, and the reason; or None."""
    if what == "counts":
        kernel = re.sub("<.*", "", key[1])
        for name, where, kernels, why in REASONS:
            if (re.fullmatch(name, configuration.name) and re.fullmatch(where, key[0])
                    and re.fullmatch(kernels, kernel)
                    and only_more_loads(sorted(expected.counts[key]), sorted(got.counts[key]))):
                return kernel, why
        for name, where, kernels, why in PLACE_REASONS:
            if (re.fullmatch(name, configuration.name) and re.fullmatch(where, key[0])
                    and re.fullmatch(kernels, kernel)
                    and without_places(expected.counts[key]) == without_places(got.counts[key])):
                return kernel, why
    if what == "findings":
        for name, where, kernels, kept, why in FINDING_REASONS:
            def differing(lines):
                theirs = [line for line in lines if re.search(rf"\b({kernels}): ", line)]
                return kept(theirs), [line for line in lines if line not in theirs]
            if re.fullmatch(name, configuration.name) and re.fullmatch(where, key[0]) \
                    and differing(expected.findings[key]) == differing(got.findings[key]):
                return kernels.replace("|", " "), why
    return None


def described(ours, theirs):
    """The first few columns that differ between two lists of rows."""
    if len(ours) != len(theirs): return f"{len(theirs)} rows instead of {len(ours)}"
    columns = [f"{a}: {y} instead of {x}" + (f" (line {dict(left)['line']})" if "line" in dict(left) else "")
               for left, right in zip(ours, theirs) for (a, x), (_, y) in zip(left, right) if x != y]
    return "; ".join(columns[:4])


def compare(expected, got):
    """Yields (key, the kind of what differs, what differs)."""
    for key in sorted(set(expected.counts) | set(got.counts)):
        ours, theirs = sorted(expected.counts.get(key, [])), sorted(got.counts.get(key, []))
        if ours != theirs: yield key, "counts", described(ours, theirs)
    for key in sorted(set(expected.findings) | set(got.findings)):
        ours, theirs = expected.findings.get(key, []), got.findings.get(key, [])
        if ours == theirs: continue
        ours, theirs = collections.Counter(ours), collections.Counter(theirs)
        missing, more = ours - theirs, theirs - ours
        text = ("".join(f"\n      - {line}" for line in list(missing)[:4])
                + "".join(f"\n      + {line}" for line in list(more)[:4]))
        yield key, "findings", text or "the order differs"
    for key in sorted(set(expected.rows) | set(got.rows)):
        if got.rows.get(key) != "ok": yield key, "row", got.rows.get(key, "missing")


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    configurations = available()
    if options.list:
        for c in configurations: print(f"{c.name:16} {version(c.cxx)}")
        return 0
    if options.only:
        wanted = options.only.split(",")
        unknown = set(wanted) - {c.name for c in configurations}
        if unknown: sys.exit(f"--only {','.join(sorted(unknown))}: not on this machine; it has "
                             f"{', '.join(c.name for c in configurations)}")
        configurations = [c for c in configurations if c is REFERENCE or c.name in wanted]
    if REFERENCE not in configurations: sys.exit("g++ is missing: apt-get install g++")
    with tempfile.TemporaryDirectory() as temporary:
        return check(configurations, (options.work or pathlib.Path(temporary)).resolve(), options.csv, options.jobs)


def part_of(results, configuration):
    """What of the reference's results this configuration is to have."""
    left_out = ({f"{width}x{height}" for width, height in SIZES}
                - {f"{width}x{height}" for width, height in sizes(configuration)})
    def kept(table): return {key: value for key, value in table.items() if not left_out & set(" ".join(key).split())}
    part = Results()
    part.counts, part.findings, part.rows = kept(results.counts), kept(results.findings), results.rows
    return part


def check(configurations, work, table, jobs):
    header = [
        "configuration", "compiler", "kernel rows", "equal", "runs", "findings equal", "language rows", "ok",
        "explained", "seconds"]
    lines, unexplained, reference = [], 0, None
    folders = {c: work / re.sub(r"\W+", "_", c.name) for c in configurations}
    for folder in folders.values(): copy_tree(folder)  # all at once: others may be working on the tree
    def build_and_run(c): return build(c, folders[c]), run_all(c, folders[c])
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    # an emulator takes longest
    done = {c: pool.submit(build_and_run, c) for c in sorted(configurations, key=lambda c: not c.runner)}
    for configuration in configurations:
        failed, got = done[configuration].result()
        print(configuration.name)
        if failed: print(f"  does not build:\n{failed}")
        reference = reference or got
        expected = part_of(reference, configuration)
        differences = list(compare(expected, got))
        reasons = collections.defaultdict(set)
        explained = 0
        for key, what, text in differences:
            of, why = reason(configuration, key, what, expected, got) or (None, None)
            if why: reasons[why].add(of)
            explained += why is not None
            print(f"  {' '.join(key)}: {what}: {text}" + (f"\n      explained: {why}" if why else ""))
        unexplained += len(differences) - explained + bool(failed)
        kinds = collections.Counter(what for _, what, _ in differences)
        lines.append([configuration.name, version(configuration.cxx), len(expected.counts),
                      len(expected.counts) - kinds["counts"], len(expected.findings),
                      len(expected.findings) - kinds["findings"], len(expected.rows), len(expected.rows) - kinds["row"],
                      explained, round(got.seconds)])
        print("  " + ", ".join(f"{name} {value}" for name, value in zip(header[2:], lines[-1][2:])), flush=True)
        if table: write(table, ["date_utc", *header, "reasons"],
                        [time.strftime("%Y-%m-%d", time.gmtime()), *lines[-1],
                         "; ".join(f"{' '.join(sorted(reasons[why]))}: {why}" for why in sorted(reasons))])
    widths = [max(len(str(row[i])) for row in [header, *lines]) for i in range(len(header))]
    print()
    for row in [header, *lines]: print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())
    return 1 if unexplained else 0


def write(table, header, line):
    """Puts the line of one configuration in its place."""
    rows = ({row["configuration"]: [row.get(name, "") for name in header] for row in csv.DictReader(open(table))}
            if table.exists() else {})
    rows[line[1]] = line
    with open(table, "w", newline="") as file:
        lines = [header, *(rows[c.name] for c in CONFIGURATIONS if c.name in rows)]
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    sys.exit(main())
