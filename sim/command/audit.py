#!/usr/bin/env python3
"""What only the second witness saw (mk/witness.mk).

usage: python3 sim/command/audit.py HOOKS WITNESS    the files of --json of one program, compiled in both ways and run
                                                     with the same input

A place is a line of the source and whether it loads or stores. Each at which the hooks saw no access of a memory, and
the witness did, is printed, and each access that it was not allowed to make. Accesses to local memory are left out: the
hooks are not told of all of them. Exits 1 if there is one, 2 if the files cannot be compared.
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


# Findings that end a thread, which then comes to no further place.
ENDING = {"out-of-bounds-load", "out-of-bounds-store", "misaligned-access", "use-after-free", "host-pointer",
          "no-peer-access", "local-array", "store-to-input", "local-memory", "endless-loop", "kernel-failed"}


def ends_threads(account):
    return [found for found in account["findings"] if found["kind"] in ENDING]


def unseen(hooks, witness, exactly):
    """[(file, line, one sentence)] of what only the witness saw, of two accounts. `exactly`: also at places where the
    hooks have seen fewer bytes. A loop that waits for another thread may load more often in one of two runs."""
    counted, told = moved(hooks), []
    for key, number in sorted(moved(witness).items()):
        if number > counted[key] and (exactly or not counted[key]):
            file, line, access, memory = key
            missed = number - counted[key]
            told.append((file, line, f"{access}s {missed} bytes of {memory} memory that were not counted"))
    return told + [(found.get("file", ""), found.get("line", 0), found["text"]) for found in ends_threads(witness)]


def accounts(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        hooks, witness = map(accounts, sys.argv[1:])
        if any(map(ends_threads, hooks)):
            print("audit: the hooks have found accesses that end a thread; correct them first", file=sys.stderr)
            return 2
        told = [found for h, w in zip(hooks, witness, strict=True) for found in unseen(h, w, exactly=False)]
        places = len({place[:3] for account in hooks for place in moved(account)})
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"audit: no JSON of two runs of one program: {error}", file=sys.stderr)
        return 2
    for file, line, text in told:
        print(f"audit: {f'{file}:{line}: ' if line else ''}{text}")
    print(f"audit: {places} places, {len(told) or 'none'} that the hooks have not seen")
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main())
