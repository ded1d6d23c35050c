#!/usr/bin/env python3
"""Writes compile_commands.json, by which editors and clangd know how each file is compiled.

usage: make compile_commands.json

Asks make for the commands of all steps, the CUDA runtime and the tests' programs (make -n -B). A room of the harness or
of the simulator is compiled as one unit; here each of its files has the unit's options. A kernel file has those of the
simulator.
"""

import json
import re
import shlex
import subprocess
import sys

from lessons import ROOT
import command_line

TARGETS = [
    "all", "build/sim/runtime.o", "build/tests/steps/unit", "build/tests/steps/planted",
    "build/tests/sim/unusual/unusual"]


def commands():
    """The words of each command that compiles, without the script that runs it."""
    done = subprocess.run(["make", "-n", "-B", "V=1", "NVCC=", *TARGETS], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"compile_commands: make fails: {done.stderr.strip()}")
    for line in done.stdout.replace("\\\n", " ").splitlines():
        match = re.match(r"(?:ba)?sh mk/(?:whole\.sh (?:-d )?|kernel\.sh )\S+ (.*)", line)
        if match:
            words = shlex.split(match[1])
            yield words[:words.index("--")] if "--" in words else words


def entries():
    for words in commands():
        files = [word for word in words if re.fullmatch(r"[\w/]+\.(cpp|cu)", word)]
        options = [word for n, word in enumerate(words)
                   if word not in files and not (word == "-include" and words[n + 1] in files) and word != "/dev/null"]
        for file in files:
            yield {"directory": str(ROOT), "file": file, "arguments": [*options, file]}


def main():
    command_line.parser(__doc__).parse_args()
    found = list(entries())
    (ROOT / "compile_commands.json").write_text(json.dumps(found, indent=1) + "\n")
    print(f"compile_commands.json: {len(found)} files")


if __name__ == "__main__":
    main()
