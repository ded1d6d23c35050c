"""The command line of every program in Python: -h and --help print the program's own text, --version its version.

    parser = command_line.parser(__doc__)      # an argparse.ArgumentParser
"""

import argparse
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def version():
    """The version of the project, as CITATION.cff has it; unknown if that file is not there."""
    try:
        found = re.search(r"^version: *(\S+)", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else "unknown"


def commit():
    """The commit of the checkout, as the Makefile asks for it; unknown outside of one."""
    try:
        done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=10", "--exclude", "*"],
                              capture_output=True, text=True, encoding="utf-8", errors="replace")
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


class Version(argparse.Action):
    """Prints "report.py 1.0.0 (commit 0123456789)", as the programs in C++ do. git is asked only then."""

    def __init__(self, option_strings, dest, **_):
        super().__init__(option_strings, dest, nargs=0, help="print the version and the commit, and exit")

    def __call__(self, parser, *_):
        print(f"{parser.prog} {version()} (commit {commit()})")
        parser.exit()


def parser(text, **more):
    """A parser with these options. The lines of `text`, a program's docstring, stay as they are."""
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter, **more)
    made.add_argument("--version", action=Version)
    return made
