#!/usr/bin/env python3
"""What only the second witness saw (mk/witness.mk).

usage: python3 sim/command/audit.py HOOKS WITNESS    the files of --json of one program, compiled in both ways and run
                                                     with the same input

A place is a line of the source and whether it loads or stores. For each that moved more bytes of a memory than the
hooks counted there, and for each finding that the hooks do not have, a line is printed. Accesses to local memory are
left out: the hooks are not told of all of them. Exits 1 if there is one, 2 if a file is no such JSON.
"""

import collections
import json
import sys


def moved(account):
    """{(file, line, access, memory): bytes} of what --json wrote, of a program or of a step."""
    sums = collections.Counter()
    for kernel in account["kernels"]:
        for place in kernel.get("places", kernel.get("accesses")) or ():
            if place["memory"] != "local":
                key = place["file"], place["line"], place["access"], place["memory"]
                sums[key] += place["accesses"] * place["element_bytes"]
    return sums


def unseen(hooks, witness):
    """[(file, line, one sentence)] of what only the witness saw, of two accounts."""
    counted, told = moved(hooks), []
    for (file, line, access, memory), number in sorted(moved(witness).items()):
        if number > counted[file, line, access, memory]:
            told.append((file, line, f"{access}s {number - counted[file, line, access, memory]} bytes of {memory} "
                                     "memory that were not counted"))
    known = {found["kind"] for found in hooks["findings"]}
    return told + [(found.get("file", ""), found.get("line", 0), found["text"]) for found in witness["findings"]
                   if found["kind"] not in known]


def accounts(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        hooks, witness = map(accounts, sys.argv[1:])
        told = [found for pair in zip(hooks, witness, strict=True) for found in unseen(*pair)]
        places = len({place[:3] for account in hooks for place in moved(account)})
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"audit: no JSON of two runs of one program: {error}", file=sys.stderr)
        return 2
    for file, line, text in told:
        print(f"audit: {f'{file}:{line}: ' if line else ''}{text}")
    print(f"audit: {places} places, {len(told) or 'none'} with more than the hooks have seen")
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main())
