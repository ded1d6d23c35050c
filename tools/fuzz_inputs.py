#!/usr/bin/env python3
"""Damaged files for the programs that read results, and random command lines for the steps; all drawn from a seed.

usage: python3 tools/fuzz_inputs.py [--seed N] [--files N] [--lines N]

--files: so many copies of the committed results with a fault: cut off, bytes changed, a column gone, a cell replaced by
another or by a tag. tables.py and claims.py read each. --lines: so many random command lines of the steps' programs.
A fault is a traceback, a crash, an exit status that is none of ours, an error without a word, or of several lines from
a step, or a `nan` that is shown. Prints each fault and the counts. Exits 1 if there is one.
"""

import collections
import html.parser
import pathlib
import random
import re
import sys
import tempfile

from lessons import ROOT, STEPS, run
import command_line

FILES = sorted(path for path in (ROOT / "plots/data").glob("*.csv") if b",source_row," in path.read_bytes()[:200])
READERS = [["claims.py"], *(["tables.py", kind] for kind in ("whitepaper", "book", "bandwidth", "peers"))]
PLANTED = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))",
    "<a href='javascript:alert(1)'>a</a>", "a|b", "a\\|<b>", "`<script>alert(1)</script>",
    "a`|`<img src=x onerror=alert(1)>", "&lt;script&gt;", "$\\frac$", "*a*", "[a]: javascript:alert(1)",
    "**</td><script>alert(1)</script>**", "{{steps}}", "\\"]
CELLS = ["", "0", "-1", "1.5", "1e400", "-", "9" * 200, "0x10", " 1", "cuda", "\x1b[2J", "é", "x" * 5000]
NO_NUMBER = re.compile(r"(?<![\w-])(nan|inf)(?![\w-])", re.IGNORECASE)
VALUES = {
    "--size": ["1", "33", "33x65", "64,100x7", "0", "-1", "1x2x3", "99999999999999999999", ""],
    "--width": ["1", "x"], "--height": ["65", "2147483648"], "--type": ["char", "half", "nope"], "--reps": ["3", "0"],
    "--device": ["auto", "sim", "cuda", "tpu"], "--kernel": ["W1", "F3,C1", "copy", "W", "\x1b[2J", "A" * 3000],
    "--block": ["32x8", "7x5", "1x1024", "64x32", "0x8"], "--csv": ["a.csv", "/dev/null", "", "/nowhere/a.csv", "."],
    "--trace": ["t.csv", "a.csv", ""], "--peak": ["1000", "nan"], "--machine": ["g80", "é"]}
ALONE = ["--all", "--explain", "--print", "--once", "--errata", "--list", "--help", "--bogus", "-x", "stray", "--all=1"]


class Page(html.parser.HTMLParser):
    """The parts of a page that were planted and would be run."""

    def __init__(self):
        super().__init__()
        self.found, self.inside = [], False

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "script"
        self.found += [f"<{tag} {name}={value}>" for name, value in attributes
                       if name.startswith("on") or "javascript:" in (value or "").lower()]

    def handle_data(self, data):
        if self.inside and "alert(1)" in data: self.found.append("<script>" + data[:80])


class Fuzz:
    def __init__(self, seed):
        self.random, self.counts, self.faults = random.Random(seed), collections.Counter(), []
        self.folder = tempfile.TemporaryDirectory()

    def judged(self, done, how, most=1):
        """Counts a run, and reports it if it is a fault: also an error of more lines than `most`."""
        errors = done.stderr.splitlines()
        self.counts[f"status {done.returncode}"] += 1
        wrong = ("crash" if done.returncode not in (0, 1, 2, 3) or "Traceback" in done.stderr
                 else "message" if done.returncode > 1 and (not errors or not done.stdout and len(errors) > most)
                 else "injection" if "\x1b" in done.stdout + done.stderr
                 else "nan" if NO_NUMBER.search(done.stdout) else "")
        if wrong:
            self.counts[wrong] += 1
            self.faults.append(f"{wrong}: {how}: {done.returncode}: {done.stderr[-500:]}")
            print(self.faults[-1], flush=True)

    def damaged(self, data):
        draw, rows = self.random, [line.split(",") for line in data.decode().split("\n")]
        kind, row, c = draw.choice(["cut", "bytes", "column", "cell", "all cells"]), draw.choice(rows), 0
        if kind == "cut": return kind, data[:draw.randrange(len(data))]
        if kind == "bytes":
            changed = bytearray(data)
            for _ in range(draw.choice([1, 5, 100])): changed[draw.randrange(len(changed))] = draw.randrange(256)
            return kind, bytes(changed)
        c, text = draw.randrange(len(row)), draw.choice(CELLS + PLANTED)
        for changed in [row] if kind == "cell" else rows[kind != "column":]:
            if len(changed) > c: changed[c:c + 1] = [] if kind == "column" else [text]
        return f"{kind} {c}: {text!r}", "\n".join(map(",".join, rows)).encode()

    def run(self, files, lines):
        draw, path = self.random, pathlib.Path(self.folder.name, "damaged.csv")
        for _ in range(files):
            source, reader = draw.choice(FILES), draw.choice(READERS)
            how, data = self.damaged(source.read_bytes())
            path.write_bytes(data)
            self.judged(run(sys.executable, ROOT / "plots" / reader[0], *reader[1:], path),
                        f"{' '.join(reader)} {source.name}, {how}", 1000)
        for _ in range(lines):
            program, options = draw.choice(STEPS), ["--size", "40"]
            for _ in range(draw.choice([0, 1, 1, 2, 3, 5])):
                name = draw.choice([*VALUES, *ALONE])
                options += [name, draw.choice(VALUES[name])] if name in VALUES else [name]
            self.judged(run(ROOT / program, *options, cwd=self.folder.name), f"./{program} {options}")
        return self.counts


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=100, metavar="N")
    parser.add_argument("--lines", type=int, default=100, metavar="N")
    options = parser.parse_args()
    fuzz = Fuzz(options.seed)
    print(f"seed {options.seed}: {dict(fuzz.run(options.files, options.lines))}, {len(fuzz.faults)} faults")
    return 1 if fuzz.faults else 0


if __name__ == "__main__":
    sys.exit(main())
