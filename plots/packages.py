#!/usr/bin/env python3
"""Says whether this Python can make the chapter: whether it has the packages of plots/requirements.txt, or versions
that do.

usage: python3 plots/packages.py [--missing]

Exits 0 if it can, 1 if not. --missing prints the line that `make report` shows where pip cannot fetch the packages:
what is missing, and what to type.
"""

import importlib.util
import re
import sys
from importlib import metadata

import command_line

# The oldest versions that the chapter was made with: those of Debian 12. The figures need matplotlib 3.6. Debian's name
# of a package is python3- and its name.
OLDEST = {"matplotlib": (3, 6), "numpy": (1, 24), "markdown": (3, 4), "pygments": (2, 14)}


def lacking():
    """Names of the packages that are not there, or too old."""
    found = []
    for name, oldest in OLDEST.items():
        try:
            version = tuple(map(int, re.findall(r"\d+", metadata.version(name))[:2]))
        except metadata.PackageNotFoundError:
            version = None
        if version is None or version < oldest or importlib.util.find_spec(name) is None:
            found.append(name)
    return found


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--missing", action="store_true", help="print what is missing, and what to type")
    say = parser.parse_args().missing
    names = lacking()
    if names and say:
        versions = ", ".join(f"{name} {'.'.join(map(str, OLDEST[name]))}" for name in names)
        print(f"make report: python3 lacks {versions} (or newer), and pip cannot fetch them here. Type: sudo "
              "apt-get install "
              + " ".join(f"python3-{name}" for name in names), file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
