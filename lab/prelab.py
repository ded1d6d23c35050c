"""Writes a student's pre-lab sheet: python3 lab/prelab.py NAME [--results FOLDER]

The sheet has questions whose numbers are drawn from the name. Case and spaces in the name do not matter. Students fill
in the answers and hand in the file. Prints the path of the sheet. Exit status: 0; 2 bad input.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # there is nothing to clean up, and the other imports take a moment

import hashlib
import os
import pathlib
import sys
import textwrap
from dataclasses import dataclass
from typing import Dict, List

import names
from words import definition

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "plots"))
import command_line
import whole

EXACT = 0


@dataclass
class Question:
    key: str
    title: str
    text: str            # with the names of its constants in braces
    unit: str            # of the answer
    tolerance: float     # relative; EXACT: a whole number
    constants: Dict[str, List]
    words: List[str]     # of the glossary, which the question uses
    page: str            # that explains them


QUESTIONS = [
    Question("stride", "Sectors of a load with a stride",
             "Lane k of a warp loads element {begin} + {stride} × k of an array. An element has {bytes} bytes, and the "
             "array begins where a sector begins. A sector has 32 bytes. How many sectors does this request touch?",
             "sectors", EXACT, {"bytes": [4, 8], "stride": [1, 2, 3], "begin": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13]},
             ["warp", "lane", "request", "sector"], "step01_copy/README.md"),
    Question("share", "Bytes that are used",
             "Lane k of a warp stores element {stride} × k of an array of {bytes}-byte elements, which begins where a "
             "sector begins. The store moves whole sectors of 32 bytes. What share of the bytes in these sectors does "
             "the warp ask for?",
             "percent", 0.01, {"bytes": [1, 2, 4, 8], "stride": [2, 3, 4, 5, 6, 7, 9, 10, 11, 12]},
             ["lane", "sector"], "step02_naive/README.md"),
    Question("requests", "Requests of a copy",
             "`copy` of step 1 runs on a matrix of {width} columns × {height} rows. Blocks of 32 × 8 threads copy "
             "tiles of 32 × 32 elements, and threads outside the matrix load nothing. How many load requests do all "
             "its warps make?",
             "requests", EXACT, {"width": [100, 130, 200, 225, 300, 333, 450, 500, 650, 700],
                                 "height": [72, 88, 104, 120, 136, 152, 168, 184, 200, 216]},
             ["block", "tile", "request"], "step01_copy/README.md"),
    Question("naive", "Sectors of the naive transpose",
             "`transposeNaive` of step 2 runs on a matrix of {width} columns × {height} rows, with elements of {bytes} "
             "bytes. A warp's lanes store down a column of the result. How many sectors do all its stores touch, "
             "if each request counts separately?",
             "sectors", EXACT, {"bytes": [4, 8], "width": [64, 96, 128, 160, 192, 224, 256],
                                "height": [72, 80, 88, 104, 112, 120, 136, 144]},
             ["lane", "sector"], "step02_naive/README.md"),
    Question("bank", "A column of a tile of floats",
             "A tile in shared memory has rows of {row} floats, unused ones included. A warp reads a column: lane k "
             "reads `tile[k][{column}]`. There are 32 banks, and a word has 4 bytes. How many wavefronts does the "
             "request take?",
             "wavefronts", EXACT, {"row": [33, 34, 36, 38, 40, 42, 44, 48, 52, 56, 64], "column": [3, 5, 7, 9, 11]},
             ["tile", "shared memory", "bank", "wavefront"], "step04_padding/README.md"),
    Question("double", "A column of a tile of doubles",
             "The elements are doubles, of two words each, and the rows of the tile have {row} of them. Lane k reads "
             "`tile[k][{column}]`. A wavefront delivers at most one word per bank. How many wavefronts does the "
             "request take?",
             "wavefronts", EXACT, {"row": [32, 33, 34, 36, 38, 40, 42, 44, 48, 56], "column": [1, 2, 4, 6, 8]},
             ["bank", "wavefront"], "step04_padding/README.md"),
    Question("partitions", "Partitions of the rows",
             "A card deals its memory out to {partitions} partitions in pieces of {piece} bytes: the first piece to "
             "partition 0, the next to partition 1, and so on in turn. A matrix of floats has {width} columns and "
             "begins in partition 0. In how many different partitions do its first 64 rows begin?",
             "partitions", EXACT, {"partitions": [6, 8], "piece": [256],
                                   "width": [512, 768, 1024, 1088, 1152, 1280, 1536, 1600, 1664, 1792, 2048]},
             ["partition"], "step06_diagonal/README.md"),
    Question("flight", "Bytes in flight",
             "A card's memory delivers {gbs} GB/s (1 GB = 10⁹ bytes), and a load takes {ns} ns. The card has {sms} "
             "multiprocessors. How many KiB (1 KiB = 1024 bytes) must each keep in flight on average to reach that "
             "bandwidth?",
             "KiB", 0.02, {"gbs": [320, 616, 900, 1555, 2039, 3350, 4800], "ns": [420, 480, 510, 560, 610, 650, 720],
                           "sms": [40, 68, 80, 108, 132]},
             ["in flight", "latency", "streaming multiprocessor"], "docs/GPU.md"),
    Question("occupancy", "Blocks on a multiprocessor",
             "A multiprocessor of an H200 holds at most 2048 threads, 32 blocks and 228 KiB of shared memory "
             "(1 KiB = 1024 bytes). Each block takes 1 KiB more than its tiles. A block of {threads} threads has "
             "{tiles} tiles of 32 × 33 {type}s ({bytes} bytes each). How many blocks fit at a time?",
             "blocks", EXACT,
             {"threads": [64, 128, 192, 256, 320, 384, 512], "tiles": [1, 2, 3, 4, 5], "type": ["float", "double"]},
             ["streaming multiprocessor", "block", "shared memory"], "docs/GPU.md"),
    Question("bandwidth", "Effective bandwidth",
             "A kernel transposes a matrix of {width} × {height} elements, {bytes} bytes each, in {ms} ms. What is its "
             "effective bandwidth in GB/s (1 GB = 10⁹ bytes)?",
             "GB/s", 0.01, {"bytes": [2, 4, 8], "width": [8192, 10000, 12288], "height": [6144, 8000, 9216, 16384],
                            "ms": [1.1, 1.3, 1.7, 1.9, 2.4, 3.1]},
             ["effective bandwidth"], "step01_copy/README.md"),
]
BYTES = {"float": 4, "double": 8}


def edition():
    """A sheet's questions, in short: an answer counts for those that it was asked."""
    return hashlib.sha256(repr(QUESTIONS).encode()).hexdigest()[:8]


def constants(name, question):
    """What is drawn for a person."""
    found = {key: names.drawn(name, f"{question.key} {key}", choices) for key, choices in question.constants.items()}
    return {"bytes": BYTES[found["type"]], **found} if "type" in found else found


def words_of_sheet():
    """A line for each word of the questions, in the order of their first use."""
    return "\n".join(
        textwrap.fill(f"- **{word}**: {definition(word)}", 110, subsequent_indent="  ")
        for word in dict.fromkeys(word for question in QUESTIONS for word in question.words))


def sheet(name):
    parts = [f"""# Pre-lab: predictions

Name: {names.in_markdown(names.readable(name))}
Edition: {edition()}

Calculate the answers with pencil and paper before the lab. The numbers are drawn from your name, so your
neighbour has others. Write one number behind each colon after "Answer", with a point for decimals and without a
formula. Hand in this file.

## Words

The questions use these words. Each question names the page that explains them.

{words_of_sheet()}
"""]
    for number, question in enumerate(QUESTIONS, 1):
        how = "a whole number" if question.tolerance == EXACT else f"within {100 * question.tolerance:g} %"
        parts.append(
            f"## {number}. "
            f"{question.title}\n\n{textwrap.fill(question.text.format(**constants(name, question)), 110)}\n\n"
            f"Words: {', '.join(question.words)}. Page: {question.page}\n\nAnswer "
            f"{number} ({question.unit}, {how}):\n")
    return "\n".join(parts)


def file_of(name):
    """The name of a person's sheet. ValueError: the name has no letter or digit."""
    if not names.slug(name):
        raise ValueError('no name is given; write it with at least one letter: make prelab NAME="Ada Lovelace"')
    return f"{names.slug(name)}.md"


def names_in(path):
    """The names in a file, one on each line, whatever bytes it holds."""
    lines = path.read_bytes().decode("utf-8-sig", "surrogateescape").splitlines()
    return [line for line in lines if line.strip()]


def write_sheet(name, folder):
    """(whether it was written, its path for people to read). A sheet that exists may have answers, and stays."""
    path = os.path.join(os.fsencode(folder), file_of(name).encode())  # UTF-8, whatever the locale
    new = not os.path.lexists(path)
    if new:
        os.makedirs(folder, exist_ok=True)
        whole.write(path, sheet(name))
    return new, path.decode("utf-8", "backslashreplace")


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("name", metavar="NAME", nargs="?")
    parser.add_argument("--names", type=pathlib.Path, metavar="FILE",
                        help="write a sheet for each line of a file instead; one that exists stays")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "results/prelab", metavar="FOLDER",
                        help="where the sheets go; default: results/prelab")
    options = parser.parse_args()
    if options.names is not None:
        status = 0
        for name in names_in(options.names):
            try:
                new, shown = write_sheet(name, options.results)
                print(shown if new else f"{shown} exists, and stays")
            except ValueError:
                print(f"prelab: {ascii(name)[:80]}: no name; write it with at least one letter", file=sys.stderr)
                status = 2
        return status
    new, shown = write_sheet(options.name or "", options.results)
    if not new:
        print(f"prelab: {shown} exists and may have answers; move it away, or fill it in", file=sys.stderr)
        return 2
    print(shown)
    return 0


if __name__ == "__main__":
    sys.exit(whole.run(main, "prelab", ValueError))
