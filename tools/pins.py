#!/usr/bin/env python3
"""Asks pip for every pinned package and every supported Python; needs a network:
.venv/bin/python tools/pins.py [--out FILE]

Run it after a change of a requirements file or of PYTHONS. It writes tests/repository/pins.csv, and a test compares the
pins with that file. Exit status: 0; 1 a pin has no version for a supported Python, and nothing is written.
"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile

from packaging.requirements import Requirement

from lessons import ROOT
import command_line

FILES = [ROOT / "plots/requirements.txt", ROOT / "lab/requirements.txt", ROOT / "tests/requirements.txt"]
STATEMENT = ROOT / "tests/repository/pins.csv"
# Every Python that a supported Debian or Ubuntu comes with.
PYTHONS = {
    "3.10": "Ubuntu 22.04", "3.11": "Debian 12", "3.12": "Ubuntu 24.04", "3.13": "Debian 13", "3.14": "Ubuntu 26.04"}


def pins(file):
    """The pins of a requirements file."""
    lines = [line.split("#")[0].strip() for line in file.read_text().splitlines()]
    return [Requirement(line) for line in lines if line]


def reasons(file):
    """The packages that a comment gives a reason for: '# names: reason'."""
    return {name for names in re.findall(r"^# ([\w, -]+): \w", file.read_text().lower(), re.MULTILINE)
            for name in names.split(", ")}


def chosen(python):
    """The pins for one Python, as name==version. pip evaluates markers for the Python that runs it, whatever
    --python-version says."""
    found = [pin for file in FILES for pin in pins(file)]
    # Two files may need the same package.
    return list(
        dict.fromkeys(f"{pin.name}{pin.specifier}" for pin in found
                      if not pin.marker or pin.marker.evaluate({"python_version": python})))


def statement():
    """The rows of tests/repository/pins.csv."""
    return [["python", "comes with", "pins"]] + [[python, system, " ".join(chosen(python))]
                                                 for python, system in PYTHONS.items()]


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=STATEMENT, metavar="FILE")
    options = parser.parse_args()
    missing = 0
    for python, system in PYTHONS.items():
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([
                sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                "--only-binary=:all:", "--python-version", python, "--dest", folder, *chosen(python)],
                                  capture_output=True, text=True)
        if done.returncode:
            missing = 1
            print(f"pins.py: Python {python} ({system}): {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    if not missing:
        with options.out.open("w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(statement())
    return missing


if __name__ == "__main__":
    sys.exit(main())
