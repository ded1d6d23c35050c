#!/usr/bin/env python3
"""Lists the lines of code with more than 120 columns: python3 tools/columns.py

Prints FILE:LINE: how many. Exits 1 if there is one. All files of the checkout are read but texts, pictures and data.
"""

import subprocess
import sys

from lessons import ROOT
import command_line

COLUMNS = 120
NO_CODE = (".md", ".csv", ".svg", ".ipynb", ".json", ".cff", "LICENSE")


def long_lines(name):
    """(number, columns) of each long line of a file of the checkout."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [(number, len(line)) for number, line in enumerate(lines, 1) if len(line) > COLUMNS]


def main():
    command_line.parser(__doc__).parse_args()
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\0") if name and not name.endswith(NO_CODE) and (ROOT / name).is_file()]
    found = [f"{name}:{number}: {columns} columns, at most {COLUMNS}"
             for name in names for number, columns in long_lines(name)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
