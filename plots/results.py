"""The one reader of result files: what `./stepNN --csv FILE` writes, one row per kernel, size and back end.

load(paths) keeps every row that is whole and names every line that is not; it makes no value up. A figure leaves here
only as a Figure, with its unit and with what it is: measured (a clock), counted (the simulator) or model (computed from
counts). Texts of a file leave here as they are: whoever has a markup escapes them (outside.py).
"""

import codecs
import csv
import dataclasses
import datetime
import functools
import os
import pathlib
import re
import stat

from outside import printable
from spreadsheet import unguarded

# What a column holds, and which of them a file must have: those that the programs here read. Others are left as they
# are.
TEXT = [
    "backend", "date_utc", "commit", "machine", "driver", "step", "kernel", "source_row", "produces", "type",
    "verified", "memory", "partition_map", "model_limit", "block", "one_launch_memory"]
COUNT = [
    "width", "height", "global_load_requests", "global_load_transactions", "global_store_requests",
    "global_store_transactions", "shared_load_requests", "shared_load_wavefronts", "shared_store_requests",
    "shared_store_wavefronts"]
NUMBER = [
    "time_median_ms", "time_spread_percent", "bandwidth_gbs", "bandwidth_percent_of_memcpy", "dram_peak_gbs",
    "coalesced_percent", "busiest_partition_of_loads", "busiest_partition_of_stores", "model_time_ms",
    "model_bandwidth_gbs", "one_launch_bandwidth_gbs", "first_launch_ms"]
NEEDED = [*TEXT, *COUNT, *NUMBER]
# The same of columns that a file need not have.
MORE_TEXT = ["model_time_over_copy_limit"]
MORE_COUNT = [
    "element_bytes", "samples", "passes_per_sample", "buffers", "working_set_bytes", "l2_bytes", "global_bytes_moved",
    "worst_conflict", "model_bursts", "model_scattered_bursts", "accesses", "one_launch_passes",
    "shared_bytes_per_block", "launches", "blocks_launched", "warps_launched", "barriers_of_warps"]
MORE_NUMBER = ["time_min_ms", "model_barriers", "one_launch_time_median_ms", "model_time_over_copy"]
TEXTS, COUNTS, NUMBERS = {*TEXT, *MORE_TEXT}, {*COUNT, *MORE_COUNT}, {*NUMBER, *MORE_NUMBER}
CHECKED = {*COUNTS, *NUMBERS, "backend", "date_utc", "block", "verified"}  # fault() knows all that may be in them
NONE = {"coalesced_percent": ("", "-")}  # what no value looks like there
DATE = "%Y-%m-%dT%H:%M:%SZ"
DIGITS = r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"
LEAST, MOST, LONGEST = 1e-12, 1e18, 200  # of a number that is not 0, in whatever unit; of characters in a text
MOST_SIDE = 2147400000  # as --size has it
# A wider spread, as a share of the median, is too noisy to compare.
TOO_NOISY = float((pathlib.Path(__file__).resolve().parent.parent / "common/base/too_noisy.inc").read_bytes())
DATA = pathlib.Path(__file__).resolve().parent / "data"
BACKENDS = ("cuda", "cpu", "sim")
KINDS = {"cuda": "GPUs", "cpu": "CPUs", "sim": "simulated machines"}
MEASURED = ["time_median_ms", "bandwidth_gbs"]
MODELLED = ["model_time_ms", "model_bandwidth_gbs"]


@dataclasses.dataclass(frozen=True)
class Machine:
    """What ran, or was simulated: all its drivers, and the dates (UTC, ISO 8601) of its newest and oldest row. commits:
    those of the project that its rows come from, the oldest first."""
    backend: str
    name: str
    driver: str
    date: str
    first: str
    commits: tuple

    @property
    def days(self):
        """'2026-11-22', or '2026-11-21 to 2026-11-22'."""
        return " to ".join(dict.fromkeys([self.first[:10], self.date[:10]]))

    @property
    def of_commits(self):
        """'commit A', or 'commits A and B'."""
        *most, last = self.commits
        return f"commits {', '.join(most)} and {last}" if most else f"commit {last}"

    def has(self, row):
        """Is it this machine that a row of a results table is about?"""
        return (row["backend"], row["machine"]) == (self.backend, self.name)


@dataclasses.dataclass(frozen=True, eq=False)
class Figure:
    """One value of one row. label: 'measured', 'model' or 'counted'; unit: 'GB/s', 'ms', or of counts ''."""
    value: float
    unit: str
    label: str
    row: dict

    @property
    def kernel(self):
        return self.row["kernel"] + (f" {self.row['block']}" if self.row["block"] else "")

    @property
    def shape(self):
        return f"{self.row['width']} x {self.row['height']}"

    @property
    def machine(self):
        return self.row["machine"]

    @property
    def spread(self):
        """From the 10th to the 90th percentile of the samples, as a share of the median; 0 where there is none."""
        return float(self.row["time_spread_percent"] or 0) / 100 if self.label == "measured" else 0.0

    @property
    def noisy(self):
        """Is it too noisy to compare? What is in print has no samples: its spread is that of rounding."""
        return self.spread > TOO_NOISY and not self.row.get("printed")

    @property
    def noise(self):
        """What stands behind the value: ! if it is too noisy to compare."""
        return "!" if self.noisy else ""

    @property
    def mark(self):
        """What stands before the value: the label, unless it was measured."""
        return "" if self.label == "measured" else self.label + " "

    def __str__(self):
        digits = f"{self.value:.4g}" if self.value < 1e4 else f"{self.value:.0f}"
        return f"{self.mark}{digits}{self.noise} {self.unit}".rstrip()


def _timed(row, column, unit):
    if row is None:
        return None
    column, label = (("model_" + column.replace("_median", ""), "model") if row["backend"] == "sim"
                     else (column, "measured"))
    return Figure(float(row[column]), unit, label, row) if float(row[column] or 0) > 0 else None


def time(row):
    """A row's time in ms as a Figure; None if there is no row, or no time in it (0.0000 is too short to be one)."""
    return _timed(row, "time_median_ms", "ms")


def bandwidth(row):
    """A row's effective bandwidth in GB/s = 10^9 bytes/s as a Figure; None if there is none."""
    return _timed(row, "bandwidth_gbs", "GB/s")


def one_launch(row):
    """The same of many passes inside one launch, measured; None if there is none."""
    value = row and row["backend"] == "cuda" and float(row["one_launch_bandwidth_gbs"] or 0)
    return Figure(value, "GB/s", "measured", row) if value else None


def count(row, column):
    """What the simulator counted, as a Figure; None if there is no row, or no count in it."""
    counted = row and row["backend"] == "sim" and row[column] not in NONE.get(column, ("",))
    return Figure(float(row[column]), "", "counted", row) if counted else None


def identity(row):
    """Rows alike in all of these are one result, measured again."""
    return tuple(row[name] for name in ("backend", "machine", "kernel", "type", "width", "height", "block"))


def newest(rows):
    """Of several alike the newest, the later one of equal date."""
    found = {}
    for row in rows:
        old = found.get(identity(row))
        if old is None or row["date_utc"] >= old["date_utc"]:
            found[identity(row)] = row
    return list(found.values())


class Results:
    """all: every good row, in the order of the files, as dictionaries of text; rows: of several alike the newest, the
    later one of equal date; problems: what was left out, 'FILE, line N: what is wrong'."""

    def __init__(self, rows, problems):
        self.all, self.problems = rows, problems
        self.rows = newest(rows)

    @property
    def rows(self):
        return self._rows

    @rows.setter
    def rows(self, rows):
        self._rows, self._found = rows, {}

    def machines(self):
        """Every back end and machine, once, in the order of the files."""
        found = {}
        for row in self.all:
            found.setdefault((row["backend"], row["machine"]), []).append(row)
        for rows in found.values():
            rows.sort(key=lambda r: r["date_utc"])
        return [Machine(*key, ", ".join(sorted({r["driver"] for r in rows if r["driver"]})), rows[-1]["date_utc"],
                        rows[0]["date_utc"], tuple(dict.fromkeys(r["commit"] or "unknown" for r in rows)))
                for key, rows in found.items()]

    def joined(self):
        """A line for each machine whose rows are not of one commit and driver, and one for several machines of a
        kind."""
        lines = [f"{m.name}: rows of {m.of_commits}"
                 + (f" and of drivers {m.driver}" if ", " in m.driver else "") + f", {m.days}, are taken together"
                 for m in self.machines() if len(m.commits) > 1 or ", " in m.driver]
        for backend, kind in KINDS.items():
            names = [m.name for m in self.machines() if m.backend == backend]
            if len(names) > 1:
                lines.append(f"{len(names)} {kind}: {', '.join(names)}; their rows are kept apart")
        return lines

    def _index(self, having):
        """{(back end, name or source row, width, height, type): its rows}, made once."""
        if having not in self._found:
            found = self._found[having] = {}
            for row in newest(row for row in self.all if row[having]) if having else self.rows:
                for name in {row["kernel"], *row["source_row"].split()}:
                    found.setdefault((row["backend"], name, int(row["width"]), int(row["height"]), row["type"]),
                                     []).append(row)
        return self._found[having]

    def find(self, name, width, height=None, type="float", block=None, machine=None, backends=BACKENDS, having=None):
        """The row of a kernel, given by its name or its row in the table of sources; None if there is none.

        height: None for a square. block: None for whichever comes first. machine: one of machines(), or None for the
        first that has such a row, back ends in the order given. having: a column that not all runs fill; the newest
        that did.
        """
        index = self._index(having)
        for backend in [machine.backend] if machine else backends:
            for row in index.get((backend, name, width, height or width, type), []):
                if block in (None, row["block"]) and (machine is None or machine.name == row["machine"]):
                    return row
        return None


def read(path, problems):
    """(heading, [(line number, row)]) of any CSV file without line breaks in its cells; adds to problems what is left
    out."""
    def problem(what, line=None):
        problems.append(printable(f"{path}{f', line {line}' if line else ''}: {what}"))

    try:
        with open(path, "rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
                problem("cannot be read: not a file")
                return [], []
            lines = file.read().removeprefix(codecs.BOM_UTF8).split(b"\n")
    except (OSError, ValueError) as error:  # ValueError: a name that is none
        problem(f"cannot be read: {getattr(error, 'strerror', error)}")
        return [], []
    heading, rows = [], []
    for number, line in enumerate(lines, 1):
        # Line by line, so that damage to one, a lost quote say, does not swallow the next.
        try:
            text = line.decode().rstrip("\r")
            cells = next(csv.reader([text], strict=True), [])
        except UnicodeDecodeError:
            problem("cannot be read: bytes that are not UTF-8", number)
            cells = None
        except csv.Error as error:
            problem(f"cannot be read: {error}", number)
            cells = None
        if not heading:
            if not cells:
                if cells == []:
                    problem("no results in it")
                return [], []
            heading = cells
            if len(set(heading)) < len(heading):
                twice = next(name for name in heading if heading.count(name) > 1)
                problem(f"two columns called {twice}", number)
                return [], []
        elif cells:
            if len(cells) != len(heading):
                problem(f"too {'many' if len(cells) > len(heading) else 'few'} values: {len(cells)}, not "
                        f"{len(heading)}", number)
            elif number == len(lines):  # its last value may lack digits
                problem("cut off: no end of the line", number)
            else:
                rows.append((number, dict(zip(heading, cells))))
    return heading, rows


def quoted(text):
    """As a message has it: on one line, and not too long."""
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}... ({len(text)} characters)"


def is_date(text):
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", text):
        return False
    try:
        datetime.datetime.strptime(text, DATE)
        return True
    except ValueError:
        return False


@functools.cache
def latest():
    """The latest date that a row may have: an hour from now, as clocks differ. A clock that is behind the project's
    measurements is wrong."""
    dates = [(datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).strftime(DATE)]
    for path in DATA.glob("*.csv"):
        dates += [row.get("date_utc", "") for _, row in read(path, [])[1]]
    return max(dates)


def in_the_future(date):
    return date > datetime.datetime.now(datetime.timezone.utc).strftime(DATE) and date > latest()


def fault(row):
    """What is wrong with a row of ours; None if nothing is."""
    if row["backend"] not in BACKENDS:
        return f"unknown back end {quoted(row['backend'])}: expected one of {', '.join(BACKENDS)}"
    for name, text in row.items():
        if name in TEXTS:
            if len(text) > LONGEST or not text.isprintable():
                return f"{name} is {quoted(text)}: expected at most {LONGEST} characters that can be shown"
        elif name in ("width", "height"):
            if not re.fullmatch("[1-9][0-9]{0,9}", text) or int(text) > MOST_SIDE:
                return f"{name} is {quoted(text)}: expected a whole number from 1 to {MOST_SIDE}"
        elif text in NONE.get(name, ("",)):
            continue
        elif name in COUNTS:
            if not re.fullmatch("[0-9]{1,18}", text):
                return f"{name} is {quoted(text)}: expected a whole number of at most 18 digits"
        elif name in NUMBERS:
            if not re.fullmatch(DIGITS, text) or not (float(text) == 0 or LEAST <= float(text) <= MOST):
                return f"{name} is {quoted(text)}: expected a number, 0 or from {LEAST} to {MOST}"
    shortest = float(row.get("time_min_ms") or 0)
    if (shortest >= 1e-3 and row["time_median_ms"] and float(row["time_median_ms"])
            and not shortest <= float(row["time_median_ms"]) <= 1000 * shortest):
        return (f"time_median_ms is {row['time_median_ms']}, and time_min_ms is {row['time_min_ms']}: one of them is "
                "no such time")
    for name in ("machine", "kernel", "type"):
        if not row[name]:
            return f"no {name}"
    if not re.fullmatch("([0-9]{1,4}x[0-9]{1,4})?", row["block"]):
        return f"block is {quoted(row['block'])}: expected threads in x and y, such as 32x8, or nothing"
    if not is_date(row["date_utc"]):
        return f"date_utc is {quoted(row['date_utc'])}: expected YYYY-MM-DDThh:mm:ssZ"
    if in_the_future(row["date_utc"]):
        return f"date_utc is {quoted(row['date_utc'])}, which is in the future: the clock of that machine is wrong"
    if row["verified"] != "yes":
        return f"verified is {quoted(row['verified'])}: its result was wrong, or never checked"
    for name in MEASURED if row["backend"] == "sim" else MODELLED:
        if row[name]:
            return f"back end {row['backend']} with a {name}: measured and modelled figures mixed"
    return None


def load(paths):
    """Results of all files. Never raises for what is in them, or for a file that is not there: that goes to
    problems."""
    good, problems = [], []
    for path in paths:
        before = len(problems)
        heading, rows = read(path, problems)
        missing = [name for name in NEEDED if name not in heading]
        if heading and missing:
            del problems[before:]  # of the lines of a foreign file nothing need be said
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            problems.append(printable(f"{path}, line 1: no column {', '.join(missing[:5])}{more}: not a file "
                                 "that ./stepNN --csv wrote"))
            continue
        for number, row in rows:
            row = {name: unguarded(text) if "'" in text else text for name, text in row.items()}
            what = fault(row)
            if what:
                problems.append(printable(f"{path}, line {number}: {what}"))
            else:
                good.append(row)
        if heading and not rows and len(problems) == before:
            problems.append(printable(f"{path}: no results in it"))
    return Results(good, problems)
