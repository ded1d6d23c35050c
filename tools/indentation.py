#!/usr/bin/env python3
"""Checks that statements of C++ and CUDA are indented as clang-format does it; --fix indents them so.

    python3 tools/indentation.py [--fix] [FILE...]      without FILE: all of the project's

Where a line breaks, and what stands under what, is for the author: tables, launches and kernels are laid out by hand
here. So clang-format runs with no limit of columns, and its answer counts where it begins a line with the same token
and ends it with the same one, and where the line begins a statement: behind `;`, `{`, `}` or `:`, or behind a line that
begins with `if`, `for`, `while`, `else` or `do`. What stands between `// clang-format off` and `on` is not looked at.

make lint calls it, with the clang-format of tests/requirements.txt, because each version lays out some lines in its own
way."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG_FORMAT = ROOT / ".venv/bin/clang-format"
HEAD = re.compile(r"\s*(\} )?(if|for|while|else|do)\b")
# These would add or move words.
STYLE = "BasedOnStyle: InheritParentConfig\nColumnLimit: 0\nFixNamespaceComments: false\nSortUsingDeclarations: false\n"


def lines_of(text):
    """{number of the line's first character, without white space: (number of the line, the line)}"""
    lines, at = {}, 0
    for number, line in enumerate(text.split("\n")):
        line = re.sub(r"\s*\\$", "", line)  # the end of a line in a macro
        bare = "".join(line.split())
        if bare:
            lines[at] = (number, line)
        at += len(bare)
    return lines


def indent(line):
    return len(line) - len(line.lstrip(" "))


def statements(text):
    """{number of the line's first character: number of the line} of the lines that begin a statement."""
    found, before = {}, ";"
    for at, (number, line) in lines_of(text).items():
        comment = line.lstrip().startswith("//")  # it may go on behind a statement
        if not comment and (before[-1] in ";{}:" or HEAD.match(before)):
            found[at] = number
        code = re.sub(r"\s*//.*", "", line)
        if code.startswith("#"):
            before = ";"
        elif code.strip():
            before = code
    return found


def indentations(text, formatted):
    """{number of a line: the indentation that it should have} for each statement that both begin a line with."""
    ours, theirs = lines_of(text), lines_of(formatted)
    pairs = {number: (ours[at][1], theirs.get(at, (0, ""))[1]) for at, number in statements(text).items()}
    return {number: indent(other) for number, (line, other) in pairs.items() if line.split() == other.split()}


def fixed(text, wanted):
    """The text with these indentations. What is not known moves with the line above it."""
    lines, shift = text.split("\n"), 0
    for number, line in enumerate(lines):
        if number in wanted:
            shift = wanted[number] - indent(line)
        if line.strip() and not line.startswith("#"):
            lines[number] = " " * max(0, indent(line) + shift) + line.lstrip(" ")
    return "\n".join(lines)


def formatted_texts(files):
    """The text of each file as clang-format lays it out."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:  # below the project's .clang-format
        copies = [pathlib.Path(folder, f"{number}{file.suffix}") for number, file in enumerate(files)]
        pathlib.Path(folder, ".clang-format").write_text(STYLE)
        for file, copy in zip(files, copies):
            shutil.copy(file, copy)
        subprocess.run([CLANG_FORMAT, "-i", *copies], check=True)
        return [copy.read_text(encoding="utf-8") for copy in copies]


def main(arguments):
    fix = "--fix" in arguments
    files = [pathlib.Path(name).resolve() for name in arguments if name != "--fix"]
    if not files:
        listed = subprocess.run(["git", "ls-files", "*.cpp", "*.h", "*.cu", "*.cuh"], cwd=ROOT, check=True,
                                capture_output=True, text=True).stdout
        files = [ROOT / name for name in listed.split()]
    right = True
    for file, formatted in zip(files, formatted_texts(files)):
        text = file.read_text(encoding="utf-8")
        lines = text.split("\n")
        wanted = indentations(text, formatted)
        wrong = [number for number, columns in wanted.items() if indent(lines[number]) != columns]
        if wrong and fix:
            file.write_text(fixed(text, wanted), encoding="utf-8")
            continue
        for number in wrong:
            right = False
            name = os.path.relpath(file, ROOT)
            print(f"{name}:{number + 1}: indented by {indent(lines[number])}, and clang-format says "
                  f"{wanted[number]}; type python3 tools/indentation.py --fix {name}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
