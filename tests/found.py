"""Findings as `make try` prints them, in the lines of a compiler."""

import re

LINE = re.compile(r"(?:(?P<file>[^:]+):(?P<line>\d+)(?::(?P<column>\d+))?|[^:]+): "
                  r"(?P<level>warning|error): (?P<text>.*) \[(?P<kind>[a-z-]+)\]")


def lines_of(done):
    """The parts of each line."""
    return [mark for line in done.stdout.splitlines() if (mark := LINE.fullmatch(line))]


def findings(done):
    """The sentences."""
    return [mark["text"] for mark in lines_of(done)]
