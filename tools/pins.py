#!/usr/bin/env python3
"""Writes the pinned packages of Python, with those that come along and the hashes of all; needs a network: make pins

usage: python3 tools/pins.py [--check] [--upgrade]

A person writes a room's requirements.in: the packages that the room uses, each with a version and a reason. uv resolves
it for every supported Python at once and writes requirements.txt beside it, which pip installs with --require-hashes.
tests/requirements.txt has the packages of plots and lab, too, in the same versions. Then uv is asked whether every file
can be installed on every system of PYTHONS and PROCESSORS without a compiler.

Exit status: 0; 1 a package cannot be had for a system, or with --check a file differs, and nothing is written; 2 uv is
not there.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from lessons import ROOT
import command_line
import whole

# Rooms, and whose packages their file has.
LOCKS = {"plots": ["plots"], "lab": ["lab"], "tests": ["plots", "lab", "tests"], "tools": ["tools"]}
# Every Python that a supported Debian or Ubuntu comes with.
PYTHONS = {
    "3.10": "Ubuntu 22.04", "3.11": "Debian 12", "3.12": "Ubuntu 24.04", "3.13": "Debian 13", "3.14": "Ubuntu 26.04"}
PROCESSORS = ["x86_64", "aarch64"]
UV = pathlib.Path(sys.executable).parent / "uv"


def written(room):
    return ROOT / room / "requirements.in"


def lock(room):
    return ROOT / room / "requirements.txt"


def uv(*arguments):
    """The lines that uv complains with; none if it does not."""
    done = subprocess.run([UV, "pip", *arguments], cwd=ROOT, capture_output=True, text=True)
    return (done.stderr.strip() or "uv fails").splitlines() if done.returncode else []


def resolve(folder, upgrade):
    """Writes a lock for each room into the folder, as ROOM.txt. Packages that come along keep the version that they
    have, unless there is a reason to change it. Returns complaints."""
    complaints = []
    for room, rooms in LOCKS.items():
        new = folder / f"{room}.txt"
        if lock(room).exists(): shutil.copy(lock(room), new)
        said = uv("compile", "--quiet", "--universal", "--python-version", min(PYTHONS, key=order), "--generate-hashes",
                  "--custom-compile-command", "make pins", *(["--upgrade"] if upgrade else []), "--output-file", new,
                  *(written(other).relative_to(ROOT) for other in rooms))
        complaints += [f"{room}/requirements.in: {line}" for line in said]
    return complaints


def order(python):
    return [*map(int, python.split("."))]


def installable(folder):
    """Complaints about systems for which a file has no wheels."""
    complaints = []
    for room in LOCKS:
        for python, system in PYTHONS.items():
            for processor in PROCESSORS:
                said = uv("install", "--quiet", "--dry-run", "--target", folder / "none", "--python-version", python,
                          "--python-platform", f"{processor}-manylinux_2_28", "--only-binary", ":all:",
                          "--require-hashes", "--requirements", folder / f"{room}.txt")
                if said: complaints.append(f"{room}/requirements.in: {system}, Python {python}, {processor}: "
                                           f"{' '.join(' '.join(said).split())}")
    return complaints


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, and compare")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions of packages that come along")
    options = parser.parse_args()
    if not UV.exists():
        print(f"pins.py: {UV} is missing; type make pins", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        complaints = resolve(folder, options.upgrade) or installable(folder)
        texts = {} if complaints else {room: (folder / f"{room}.txt").read_text(encoding="utf-8") for room in LOCKS}
    stale = [room for room, text in texts.items() if not lock(room).exists() or lock(room).read_text() != text]
    if options.check: complaints += [f"{room}/requirements.txt differs; type make pins" for room in stale]
    for line in complaints: print(f"pins.py: {line}", file=sys.stderr)
    if complaints: return 1
    for room in stale: whole.write(lock(room), texts[room])
    return 0


if __name__ == "__main__":
    sys.exit(main())
