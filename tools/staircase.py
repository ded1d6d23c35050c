#!/usr/bin/env python3
"""Draws the floors of a folder, such as sim/core, by its includes and calls: python3 tools/staircase.py

A module is a header with its .cpp file. An arrow leads from one to another that it includes, calls or has a variable
of. Calls are read from the symbols of each file, compiled alone with CXX (g++), which takes half a minute. A call of a
virtual function leads to where the function is declared. The floors are those in the folder's README.md, which has a
row `| floor | folder, folder | ... |` for each; a folder without such rows has the floors that its headers' includes
make. Prints each floor, the arrows that run up and the circles. Exits 1 if there are any, 2 if a file does not compile.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from lessons import ROOT
import command_line

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


def module_of(path):
    return path.with_suffix("").as_posix()


def includes(folder):
    """{module: modules that it includes}, of the files in the folder. `folder`: a path from the root."""
    arrows = {}
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        module = module_of(path.relative_to(ROOT / folder))
        arrows.setdefault(module, set())
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            header = (path.parent / name).resolve()
            if (ROOT / folder).resolve() in header.parents:
                arrows[module].add(module_of(header.relative_to((ROOT / folder).resolve())))
    return {module: to - {module} for module, to in arrows.items()}


def symbols(source, scratch):
    """(defined, used): the symbols of a file. Raises CalledProcessError."""
    made = scratch / (source.relative_to(ROOT).as_posix().replace("/", "-") + ".o")
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++17", "-O0", "-w", "-I.", "-c", source, "-o", made],
                   cwd=ROOT, check=True)
    rows = [line.split() for line in subprocess.run(["nm", "-P", made], capture_output=True, text=True, check=True
                                                    ).stdout.splitlines()]
    return ({name for name, kind, *_ in rows if kind in "TDBR"}, {name for name, kind, *_ in rows if kind == "U"})


def calls(folder):
    """{module: modules whose functions it calls, or whose variables it uses}."""
    sources = sorted((ROOT / folder).rglob("*.cpp"))
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda source: symbols(source, pathlib.Path(scratch)), sources))
    modules = [module_of(source.relative_to(ROOT / folder)) for source in sources]
    owner = {name: module for module, (defined, _) in zip(modules, found) for name in defined}
    return {module: {owner[name] for name in used if name in owner} - {module}
            for module, (_, used) in zip(modules, found)}


def joined(*tables):
    arrows = collections.defaultdict(set)
    for table in tables:
        for module, to in table.items():
            arrows[module] |= to
    return dict(arrows)


def circles(arrows):
    """Groups of modules that reach each other."""
    def reached(start):
        seen, left = set(), [start]
        while left:
            for to in arrows.get(left.pop(), ()):
                if to not in seen:
                    seen.add(to)
                    left.append(to)
        return seen
    reach = {module: reached(module) for module in arrows}
    return sorted({tuple(sorted(other for other in reach[module] if module in reach.get(other, ())))
                   for module in arrows if module in reach[module]})


def floors(folder, arrows):
    """{module: the number of its floor}, from 1."""
    page = ROOT / folder / "README.md"
    rows = re.findall(r"^\| (\d+) \| ([\w, `]+?) \|", page.read_text(encoding="utf-8"), re.M) if page.exists() else []
    of = {name: int(floor) for floor, names in rows for name in re.findall(r"\w+", names)}
    if of:
        return {module: of[module.split("/")[0]] if "/" in module else 0 for module in arrows}
    headers = {module: {to for to in arrows[module] if re.search(rf'"(\w*/)*{to.split("/")[-1]}\.h"',
               (ROOT / folder / f"{module}.h").read_text(encoding="utf-8") if (ROOT / folder / f"{module}.h").exists()
               else "")} for module in arrows}

    def height(module, above=()):
        return 1 + max((height(to, (*above, module)) for to in headers[module] if to not in above), default=0)
    with_header = {m: height(m) for m in arrows if (ROOT / folder / f"{m}.h").exists()}
    return {m: with_header.get(m) or 1 + max((with_header.get(to, 0) for to in arrows[m]), default=0) for m in arrows}


def running_up(arrows, floor):
    return sorted((module, to) for module, targets in arrows.items() for to in targets if floor[to] > floor[module])


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("folder", nargs="?", default="sim/core", help="default: sim/core")
    parser.add_argument("--includes", action="store_true", help="look at includes alone, which needs no compiler")
    options = parser.parse_args()
    included = includes(options.folder)
    try:
        arrows = included if options.includes else joined(included, calls(options.folder))
    except subprocess.CalledProcessError as failed:
        print(f"staircase.py: {failed.cmd[-3]}: does not compile alone", file=sys.stderr)
        return 2
    floor = floors(options.folder, included)
    for number in sorted(set(floor.values()), reverse=True):
        print(f"{number:2}  {', '.join(module for module in sorted(floor) if floor[module] == number)}")
    up, round_ = running_up(arrows, floor), circles(arrows)
    print(f"{len(arrows)} modules, {len(set(floor.values()) - {0})} floors, {sum(map(len, arrows.values()))} arrows, "
          f"{len(up)} of them up, {len(round_)} circle{'s' * (len(round_) != 1)}")
    for module, to in up:
        print(f"up: {module} -> {to}")
    for circle in round_:
        print(f"circle: {', '.join(circle)}")
    return 1 if up or round_ else 0


if __name__ == "__main__":
    sys.exit(main())
