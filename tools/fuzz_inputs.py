#!/usr/bin/env python3
"""Damaged files for the programs that read results, and random command lines for the steps; all drawn from a seed.

usage: python3 tools/fuzz_inputs.py [--seed N] [--files N] [--lines N] [--chapter] [--figures N]

--files: so many copies of the committed results, damaged: cut off, cells swapped, deleted or replaced, bytes changed,
tags and links planted. tables.py and claims.py read each, as a program would run them, but in this process; with
--chapter, report.py fills its chapter, too, and every Nth time (--figures) it draws. Traces are damaged in the same
way. --lines: so many random command lines of all options of the steps' programs.

Counts what must not be: a traceback, a crash, a hang, an exit status that is none of ours, an error of more than one
line, a file left behind, a `nan` or `inf` that is shown, and what a file planted and a page would run. Prints each, and
the counts; exits 1 if there is one. What it takes to repeat it is printed with it. grade.py reads no results.
"""

import collections
import contextlib
import html.parser
import io
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import traceback

from lessons import ROOT, STEPS
import command_line

sys.path.insert(0, str(ROOT / "plots"))
import claims
import results as reader
import tables
import traces
from outside import Terminal

DATA = ROOT / "plots/data"
FILES = sorted(path for path in DATA.glob("*.csv") if path.read_bytes().startswith(b"date_utc,"))
SECONDS = 60  # of a processor, that a command line may take: how busy the machine is does not matter
KINDS = ["whitepaper", "book", "bandwidth", "peers"]
PLANTED = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))",
    "![a](javascript:alert(1))", "<a href='javascript:alert(1)'>a</a>", "a|b", "a\\|<b>", "`<script>alert(1)</script>",
    "a`|`<img src=x onerror=alert(1)>", "&lt;script&gt;", "$\\frac$", "*a*", "[a]: javascript:alert(1)",
    "**</td><script>alert(1)</script>**", "{{steps}}", "\\"]
CELLS = [
    "", "0", "-1", "1.5", "1e3", "1e400", "1e-300", "nan", "inf", "-", "9" * 200, "0x10", "1_0", " 1", "yes", "cuda",
    "sim", "cpu", "float", "\x1b[2J", "é", "x" * 5000, "2026-11-21T00:00:00Z"]
NO_NUMBER = re.compile(r"(?<![\w-])(nan|inf)(?![\w-])", re.IGNORECASE)


class Page(html.parser.HTMLParser):
    """What of a page was planted and would be run."""

    def __init__(self):
        super().__init__()
        self.found, self.inside = [], False

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "script"
        for name, value in attributes:
            if name.startswith("on") or (name in ("href", "src", "xlink:href", "action", "formaction", "data") and
                                         "javascript:" in (value or "").lower()):
                self.found.append(f"<{tag} {name}={value}>")

    def handle_data(self, data):
        if self.inside and "alert(1)" in data:
            self.found.append("<script>" + data[:80])


class Fuzz:
    def __init__(self, seed, chapter=False, figures=0):
        self.random, self.counts, self.faults = random.Random(seed), collections.Counter(), []
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.report = None
        if chapter:
            from chapter import page, template
            self.report, self.page, self.figures = template, page, figures

    def fault(self, kind, what, how):
        self.counts[kind] += 1
        self.faults.append(f"{kind}: {what}\n{how}")
        print(self.faults[-1], flush=True)

    # Files.

    def cell(self, name):
        draw = self.random
        if name in reader.TEXTS and draw.random() < 0.6:
            return draw.choice(PLANTED)
        # A machine may be called nan; that would look like a figure.
        return draw.choice([cell for cell in CELLS + PLANTED if name not in reader.TEXTS or cell not in ("nan", "inf")])

    def damaged(self, data):
        """The file's bytes with one to four faults in them, and what they are."""
        draw, done = self.random, []
        for _ in range(draw.choice([1, 1, 2, 4])):
            lines = data.decode("utf-8", "surrogateescape").split("\n")
            heading = lines[0].split(",")
            kind = draw.choice([
                "cut", "bytes", "line", "swap", "column", "rename", "cell", "cell", "cell", "everywhere", "everywhere",
                "mark", "ends"])
            n, c = draw.randrange(len(lines)), draw.randrange(len(heading))
            cells = lines[n].split(",")
            if kind == "cut":
                data = data[:draw.randrange(len(data) + 1)]
            elif kind == "bytes":
                changed = bytearray(data)
                for _ in range(draw.choice([1, 5, 100])):
                    changed[draw.randrange(len(changed) or 1):][:0] = b""
                    if changed:
                        changed[draw.randrange(len(changed))] = draw.choice(
                            [0, 10, 13, 34, 44, 60, 128, 255, draw.randrange(256)])
                data = bytes(changed)
            else:
                if kind == "line":
                    lines[n:n + 1] = draw.choice([[], [lines[n]] * 2, [lines[n] + ",1"],
                                                  [lines[n][:draw.randrange(len(lines[n]) + 1)]]])
                elif kind == "swap":
                    a, b = draw.randrange(len(cells)), draw.randrange(len(cells))
                    cells[a], cells[b] = cells[b], cells[a]
                    lines[n] = ",".join(cells)
                elif kind == "column":
                    lines = [",".join(row[:c] + row[c + 1:]) for row in (line.split(",") for line in lines)]
                elif kind == "rename":
                    heading[c] = draw.choice([heading[draw.randrange(len(heading))], "", *PLANTED])
                    lines[0] = ",".join(heading)
                elif kind == "cell" and n:
                    cells[min(c, len(cells) - 1)] = self.cell(heading[c])
                    lines[n] = ",".join(cells)
                elif kind == "everywhere":
                    name = draw.choice([heading[c], "machine", "driver", "kernel", "block", "model_limit", "type"])
                    if name in heading:
                        c, text = heading.index(name), self.cell(name)
                        text = '"' + text.replace('"', '""') + '"' if "," in text else text
                        lines[1:] = [
                            ",".join([*row[:c], text, *row[c + 1:]]) if len(row) > c else ",".join(row)
                            for row in (line.split(",") for line in lines[1:])]
                data = "\n".join(lines).encode("utf-8", "surrogateescape")
                data = (b"\xef\xbb\xbf" + data if kind == "mark" else data.replace(b"\n", draw.choice([b"\r\n", b"\r"]))
                        if kind == "ends" else data)
            done.append(kind)
        return data, ", ".join(done)

    def runs(self, name, call, how, statuses=(0, 2)):
        """What a program prints, run in this process."""
        out, errors = io.StringIO(), io.StringIO()
        self.counts["runs"] += 1
        try:
            with contextlib.redirect_stdout(Terminal(out)), contextlib.redirect_stderr(Terminal(errors)):
                status = call()
        except SystemExit as end:
            status = end.code
        except BaseException:
            if isinstance(sys.exc_info()[1], KeyboardInterrupt):
                raise
            self.fault("traceback", name, how + traceback.format_exc())
            return ""
        if (status or 0) not in statuses:
            self.fault("status", f"{name}: {status}", how)
        said = out.getvalue() + errors.getvalue()
        if "\x1b" in said:
            self.fault("injection", f"{name}: a control character on the terminal", how)
        if status == 2 and not errors.getvalue().strip():
            self.fault("status", f"{name}: 2 without a word", how)
        if match := NO_NUMBER.search(re.sub(r"^\S+\.py: .*$", "", said, flags=re.MULTILINE)):
            self.fault("nan", f"{name}: {said[max(0, match.start() - 60):match.end() + 20]!r}", how)
        return out.getvalue()

    def command(self, module, *arguments):
        def call():
            before, sys.argv = sys.argv, [module.__name__, *map(str, arguments)]
            try:
                return module.main()
            finally:
                sys.argv = before
        return call

    def file(self, number):
        source = self.random.choice(FILES)
        data, what = self.damaged(source.read_bytes())
        path = self.path / "damaged.csv"
        path.write_bytes(data)
        others = self.random.sample(FILES, self.random.choice([0, 0, 1]))
        how = f"  file {number}: {source.name}: {what}" + "".join(f", and {other.name}" for other in others) + "\n"
        self.counts["files"] += 1
        self.runs("claims.py", self.command(claims, path, *others), how)
        name = next((kind for kind in KINDS if kind in source.name), None) or self.random.choice(KINDS)
        for kind in {name, self.random.choice(KINDS)}:
            self.runs(f"tables.py {kind}", self.command(tables, kind, path, *others, "--csv", self.path / "all.csv"),
                      how)
        left = {entry.name for entry in self.path.iterdir()} - {"damaged.csv", "all.csv", "trace.csv"}
        if left:
            self.fault("left", str(left), how)
        if self.report:
            self.runs("report.py", lambda: self.chapter([path, *others], number, how), how)

    def chapter(self, paths, number, how):
        results = reader.load(paths)
        if not results.rows:
            print("nothing", file=sys.stderr)
            return 2
        report = self.report
        draws = self.figures and number % self.figures == 0
        (self.path / "figures").mkdir(exist_ok=True)
        before = report.figures.draw_all, report.take_traces, report.explorables.data

        def draw(folder, rows, *_):
            names = [*report.figures.FIGURES, *report.figures.TRACED, *report.figures.BENCHED, *report.figures.EXPLORED,
                     *report.figures.ALONE]
            drawn = {
                name: module.draw(rows[name], self.path / "figures" / name)
                for name, module in report.figures.FIGURES.items()} if draws else {}
            return {name: drawn.get(name, "not drawn here") for name in names}

        report.figures.draw_all, report.take_traces = draw, lambda runs: ({}, {})
        report.explorables.data = lambda: ({}, {})
        try:
            chapter = report.Chapter(results, self.path)
            parts = chapter.fill({name: (ROOT / f"plots/{name}.md").read_text(encoding="utf-8")
                                  for name in ("chapter", "reference")})
            page = "".join(self.page.to_html(text, self.path, chapter.explorables) for text in parts.values())
        finally:
            report.figures.draw_all, report.take_traces, report.explorables.data = before
            for entry in (self.path / "figures").iterdir():
                entry.unlink()
            (self.path / "figures").rmdir()
        self.counts["chapters"] += 1
        self.counts["drawn"] += bool(draws)
        found = Page()
        found.feed(page)
        for what in dict.fromkeys(found.found):
            self.fault("injection", f"report.py: {what}", how)
        return 0

    def trace(self, number):
        path = self.path / "trace.csv"
        if not hasattr(self, "whole"):
            subprocess.run([ROOT / "step04", "--device", "sim", "--size", "64", "--trace", path],
                           stdout=subprocess.DEVNULL, check=True)
            self.whole = path.read_bytes()
        data, what = self.damaged(self.whole)
        path.write_bytes(data)
        self.counts["traces"] += 1
        try:
            traces.read_trace(path)
        except ValueError:
            pass
        except Exception:
            self.fault("traceback", "read_trace", f"  trace {number}: {what}\n" + traceback.format_exc())

    # Command lines.

    def names(self, program):
        listed = subprocess.run([ROOT / program, "--list"], capture_output=True, text=True,
                                check=True).stdout.splitlines()[1:]
        return [line.split()[1] for line in listed] + [
            row for line in listed for row in line.split()[-1:] if re.fullmatch(r"[WBFCRE]\d+", row)]

    def options(self, program):
        draw = self.random
        if not hasattr(self, "known"):
            self.known = {name: self.names(name) for name in STEPS}
        good = draw.random() < 0.6  # each option by itself is right

        def some(one):
            return ",".join(one() for _ in range(draw.choice([1, 1, 1, 2, 3])))

        def side():
            return draw.choice(["1", "2", "31", "32", "33", "64", "100", "129"] if good or draw.random() < 0.8 else [
                "0", "-1", "abc", "", "1e9", "2147483648", "99999999999999999999", "3x", "x3", "1x2x3", "3000000000",
                "²"])

        def of(right, wrong):
            return lambda: draw.choice(right if good or draw.random() < 0.7 else wrong)

        odd = ["", "nope", "-", "--", "\n", "\x1b[2J", b"\xff\xfe", "é", "%s%n", "A" * 3000, "../x"]
        values = {
            "--size": lambda: some(lambda: draw.choice([side(), f"{side()}x{side()}"])),
            "--width": side, "--height": side,
            "--type": of(["char", "half", "float", "double", "int", "double2"], odd),
            "--seed": of(["1", "65536"], ["0", "-1", "2000000001", "x"]),
            "--reps": of(["1", "2", "3"], ["0", "-1", "100001", "x"]),
            "--device": of(["auto", "sim"], ["cuda", "tpu", ""]),
            "--kernel": lambda: (some(lambda: draw.choice(self.known[program])) if good or draw.random() < 0.7
                                 else draw.choice([*odd, "W", "B", "F"])),
            "--block": lambda: some(of(["32x8", "16x16", "1x1", "7x5", "1024x1", "1x1024"],
                                       ["64x32", "0x8", "32", "x", "1025x1", "-1x2"])),
            "--csv": of(["a.csv", "b.csv", "link.csv", "/dev/null", "é \n.csv"], ["", ".", "/nowhere/a.csv", "folder"]),
            "--trace": of(["t.csv", "a.csv", "link.csv", "/dev/null"], ["", "folder", "./a.csv"]),
            "--peak": of(["1000", "1e-9"], ["0", "-1", "nan", "inf", "1e400", "x"]),
            "--machine": of(["g80", "gtx280", "h200", "v100", "t4", "a100"], odd),
            "--sweep": of(["film"], ["", "books"])}
        names = [name for name in values if not good or name not in ("--width", "--height", "--sweep", "--block")]
        line = []
        for _ in range(draw.choice([0, 1, 2, 2, 3, 3, 4, 5, 8])):
            if draw.random() < 0.35:
                line.append(draw.choice(
                    ["--all", "--explain", "--explain", "--print"] if good or draw.random() < 0.5
                    else ["--once", "--one-launch", "--errata", "--list", "--list-machines", "--help", "--bogus", "-x",
                          "stray", "--size", "--all=1", "--"]))
            else:
                name = draw.choice(names)
                value = values[name]()
                # an abbreviation, perhaps of several
                name = name[:draw.randrange(4, len(name) + 1)] if draw.random() < 0.03 else name
                line += [name, value] if draw.random() < 0.9 or isinstance(value, bytes) else [f"{name}={value}"]
        if good and draw.random() < 0.1:
            line += draw.choice([["--width", "33", "--height", "65"], ["--block", "32x8", "--all"], ["--list"],
                                 ["--list-machines"], ["--help"], ["--errata"]])
        if not any(isinstance(word, str) and word.startswith(("--si", "--wi")) for word in line):
            line += ["--size", "40"]
        return line

    def line(self, number):
        program = self.random.choice(STEPS)
        options = [word if isinstance(word, bytes) else word.encode() for word in self.options(program)]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "folder").mkdir()
            (folder / "old.csv").write_text("old\n")
            (folder / "link.csv").symlink_to("old.csv")
            how = f"  line {number}: ./{program} " + " ".join(repr(word)[1:] for word in options) + "\n"
            self.counts["lines"] += 1
            try:
                done = subprocess.run([os.fsencode(ROOT / program), *options], cwd=folder, stdin=subprocess.DEVNULL,
                                      capture_output=True, timeout=1800,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
            except subprocess.TimeoutExpired:
                return self.fault("hang", "it waits", how)
            if done.returncode == -signal.SIGXCPU or done.returncode == -signal.SIGKILL:
                return self.fault("hang", f"more than {SECONDS} s of a processor", how)
            self.counts[f"status {done.returncode}"] += 1
            errors = done.stderr.decode("utf-8", "replace")
            if done.returncode < 0:
                self.fault("crash", f"signal {-done.returncode}", how + errors)
            elif done.returncode > 3:
                self.fault("status", str(done.returncode), how + errors)
            if "terminate called" in errors or "what()" in errors or "\x1b" in errors:
                self.fault("message", errors[:300], how)
            if done.returncode in (2, 3) and not errors.strip():
                self.fault("message", "no word", how)
            if done.returncode in (2, 3) and not done.stdout and len(errors.splitlines()) != 1:
                self.fault("message", f"{len(errors.splitlines())} lines", how + errors[:500])
            if NO_NUMBER.search(done.stdout.decode("utf-8", "replace")):
                self.fault("nan", "on standard output", how)
            written = {entry.name for entry in folder.iterdir()} - {"folder", "old.csv", "link.csv"}
            old = (folder / "old.csv").read_text()
            if (written or old != "old\n" or list((folder / "folder").iterdir())) and done.returncode:
                self.fault("left", f"{written} after status {done.returncode}", how + errors)
            if (not (folder / "link.csv").is_symlink() or any(not (folder / name).is_file() for name in written)
                or any(name.encode() not in b" ".join(options) for name in written)):
                self.fault("left", str(written), how)
            for name in [*written, "old.csv"]:
                text = (folder / name).read_text()
                if not text.endswith("\n") or "\n\n" in text or NO_NUMBER.search(text) or not (
                        text == "old\n" or text.startswith(("date_utc,", "machine,", "name,", "step,", "id,"))):
                    self.fault("file", f"{name}: {text[:100]!r}", how)

    def run(self, files, lines):
        for number in range(files):
            self.file(number)
            self.trace(number)
        for number in range(lines):
            self.line(number)
        self.folder.cleanup()
        return self.counts


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=100, metavar="N")
    parser.add_argument("--lines", type=int, default=100, metavar="N")
    parser.add_argument("--chapter", action="store_true")
    parser.add_argument("--figures", type=int, default=0, metavar="N")
    options = parser.parse_args()
    fuzz = Fuzz(options.seed, options.chapter, options.figures)
    counts = fuzz.run(options.files, options.lines)
    print(f"seed {options.seed}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())) +
          f"; {len(fuzz.faults)} that must not be")
    return 1 if fuzz.faults else 0


if __name__ == "__main__":
    sys.exit(main())
