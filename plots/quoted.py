#!/usr/bin/env python3
"""Writes the figures of the pages, in prose and in tables, from the committed data.

usage: python3 plots/quoted.py [--check]

--check writes nothing and exits 1 if a figure is not that of the data, naming the page.

One mark, which no reader sees, names the source of a figure. In prose it stands right behind the figure:
`3506<!-- = gbs transposeNoBankConflicts float 16384 -->`. In front of a table, it has a source for each column behind
the first, and the last one is for the rest of them:

    <!-- = | gbs {0} float {h} | share {0} float {h} -->

    | kernel | idea | 16384² | ... |

    A note below the table. <!-- end -->

Nothing between two bars is a column of text, and `+ type=half` is the source before with another value. {0} is the
row's cell in the first column, and {h} the column's heading: their code where they have some. A cell without a figure,
such as `-`, says that there are no such data, and a cell may have a mark of its own. Documents that are read elsewhere
leave out what stands up to `end`.

SHAPE is `16384`, `16384²` or `WIDTHxHEIGHT`. Behind the name of a source, `:3` asks for three digits behind the point,
and `:3g` for three in all. On an H200:

    gbs KERNEL TYPE SHAPE            effective bandwidth, GB/s
    ms KERNEL TYPE SHAPE             time of one pass
    bound TYPE SHAPE                 ms in which the DRAM's peak reads and writes such a matrix once: the lower bound
    over KERNEL TYPE SHAPE           the time of a kernel / that bound
    share KERNEL TYPE SHAPE          of cudaMemcpy's bandwidth in the same run, as 0.83; `percent` gives 83
    times KERNEL OTHER TYPE SHAPE    how many times as fast KERNEL is as OTHER
    ahead CONTENDER TYPE SHAPE       how many times as fast step 7 is as one of `make peers`, 1.05
    peer KERNEL TYPE SHAPE           its share of cudaMemcpy in `make peers`, 0.966. For both, SHAPE `large` gives the
                                     mean of large aligned matrices
    trial NAME TYPE SHAPE            a trial's share of cudaMemcpy, 0.975; NAME may have spaces
    timing SIDE HOW                  µs per pass that `./timing` gives, HOW as in its table: `events, many launches`
    scaling WHAT KEY...              a model of thousands of GPUs; exchange.py lists them
    ask EXERCISE                     % of cudaMemcpy two thirds of the way from a hand-out of the lab to its solution

On the GTX 280, 2048 × 2048 floats:

    published ROW                    GB/s, converted from the whitepaper's GiB/s; ROW: W1 to W8, or a kernel
    modelled KERNEL                  GB/s, this project's model

How far the model is from measured times, over the kernels that were HELD out (yes) or looked at (no):

    within CARD TYPE SHAPE HELD      how many are within 15 %, as 28 of 30; `mean` and `largest`: the error in %. With
                                     `elsewhere` for TYPE SHAPE, over the kernels of other programs

From any file of plots/data or tests/data:

    cell FILE COLUMN FORMAT KEY=VALUE...    the one row that has these values, with spaces as in a shell: "trial=one
                                            launch for all". COLUMN may be a metric of Nsight Compute. FORMAT: digits,
                                            and perhaps a factor or divisor: `0`, `1*1e-9`, `3/100`; or `,` for the
                                            text, thousands apart. at=TYPE SHAPE and wide×high=32 × 64 are several keys
"""

import functools
import pathlib
import re
import shlex
import sys

import whole  # first: Ctrl-C may come while the others are imported
import command_line
import exchange
from facts import METRICS
from tables import GIB, LARGE, mean, read

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [path for name in ("README.md", "docs/*.md", "sim/*.md", "step*/*.md", "lab/*.md")
         for path in sorted(ROOT.glob(name))]
NAMED = re.compile(r"(-?\d[\d,.]*\d|\d)(<!-- =\s([^>]*?)\s-->)")
TABLE = re.compile(r"^<!-- =\s([^>]*?)\s-->\n\n((?:\|[^\n]*\n)+)((?:(?!^<!-- =).)*?)<!-- end -->\n*",
                   re.DOTALL | re.MULTILINE)
CELL = re.compile(r"-?\d{1,3}(?: \d{3})+(?!\d)|-?\d[\d,.]*(?<=\d)(?: of \d+)?")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
COLUMNS = {metric: column for column, metric in METRICS.items()}


class Absent(ValueError):
    """The data have no such row."""


@functools.lru_cache
def rows(file):
    """The rows of a committed file, as dictionaries of text. `file`: its name without .csv."""
    path = next(
        (p for folder in ("plots/data", "tests/data", "plots") if (p := ROOT / folder / f"{file}.csv").is_file()), None)
    if path is None:
        raise ValueError(f"there is no {file}.csv in plots/data or tests/data")
    return read(path)


def only(file, **values):
    """The one row of a file that has these values. Absent: there is none. ValueError: there are several."""
    found = [r for r in rows(file)
             if all(r.get(column, "").replace(";", ",") == value.replace(";", ",") for column, value in values.items())]
    if len(found) != 1:
        asked = ", ".join(f"{c} = {v}" for c, v in values.items())
        raise (ValueError if found else Absent)(f"{file}: {len(found)} rows have {asked}")
    return found[0]


def place(words):
    """(what stands in front, {type, width, height}) of a text that ends in a type and a shape."""
    found = re.fullmatch(r"(.*?) ?\b(\w+) (?:(large)|(\d+)(?:²| ?[x×] ?(\d+))?)", words)
    if not found:
        raise ValueError("a type or a shape is missing")
    name, element, large, width, height = found.groups()
    return name, {"type": element, "width": large or width, "height": large or height or width}


def step(kernel, at):
    """A kernel's row of the H200, of the steps' own runs; of several the last."""
    found = [r for r in rows("h200_steps")
             if r["kernel"] == kernel and r["bandwidth_gbs"] and all(r[c] == v for c, v in at.items())]
    if not found:
        raise Absent(f"h200_steps: no {kernel}, {', '.join(at.values())}")
    return found[-1]


def of_step(column):
    return lambda kernel, at: float(step(kernel, at)[column])


def bound(_, at):
    """The fewest ms that one pass could take at the peak of the card's DRAM."""
    row = step("cudaMemcpy", at)
    return 2e-6 * int(row["width"]) * int(row["height"]) * int(row["element_bytes"]) / float(row["dram_peak_gbs"])


def times(kernels, at):
    kernel, other = (float(step(name, at)["bandwidth_gbs"]) for name in kernels.split())
    return f"{kernel / other:.0f}" if kernel >= 20 * other else f"{kernel / other:.1f}"


def against(above, below, at):
    """The ratio of two bandwidths of `make peers`, at one shape or as the mean of the large ones."""
    shapes = ([dict(zip(("width", "height"), shape.split(" x "))) for shape in LARGE] if at["width"] == "large"
              else [{}])
    return mean([float(only("h200_peers", kernel=above, **at | shape)["bandwidth_gbs"])
                 / float(only("h200_peers", kernel=below, **at | shape)["bandwidth_gbs"]) for shape in shapes])


def ask(exercise):
    given, solved = (float(only("h200_lab", exercise=exercise, submission=what)["bandwidth_percent_of_memcpy"] or 0)
                     for what in ("handed out", "solved"))
    if solved <= given + 1:
        raise Absent(f"h200_lab: the solution of exercise {exercise} gains nothing")
    return given + 2 / 3 * (solved - given)


def published(name):
    """GB/s that the whitepaper published for a row of its table or for a kernel, on a GTX 280."""
    names = next((r["source_row"].split() for file in ("gtx280_model", "h200_steps") for r in rows(file)
                  if r["kernel"] == name), [name])
    found = [r for r in rows("published") if (r["source"], r["machine"], r["quantity"]) == (
        "whitepaper", "GTX 280", "bandwidth") and r["source_row"] in names]
    if not found:
        raise Absent(f"published: no {name}")
    return float(found[0]["value"]) * GIB


def errors(card, *words):
    """How far modelled times are from measured ones, as parts of them."""
    at = {"type": "", "width": ""} if words[0].endswith("elsewhere") else place(" ".join(words[:-1]))[1]
    found = [abs(float(r["ratio"]) - 1) for r in rows("model_errors")
             if [r[c] for c in ("machine", "type", "width", "held_out")] == [
                 card.lower(), at["type"], at["width"], words[-1]]]
    if not found:
        raise Absent(f"model_errors: no {card} {' '.join(words)}")
    return found


def keys(words):
    """{column: value} of words such as width=256² and wide×high=32 × 64."""
    found = {}
    for word in words:
        names, value = word.split("=", 1)
        if names == "at":
            found |= place(value)[1]
        elif "×" in names:
            found |= zip(names.split("×"), value.split(" × "), strict=True)
        else:
            number, _, unit = value.removesuffix("²").partition(" ")
            found[names] = str(int(number) * UNITS[unit]) if unit in UNITS else value.removesuffix("²")
    return found


def cell(file, column, form, *words):
    found = only(file, **keys(words))[COLUMNS.get(column, column)]
    if not found:
        raise Absent(f"{file}: {column} is empty")
    return (f"{int(found):,}".replace(",", " ") if found.isdigit() else found) if form == "," else shown(found, form)


def shown(value, form):
    """A number as text; form: digits behind the point, or `3g`, and perhaps a factor or a divisor."""
    digits, _, factor, _, divisor = re.fullmatch(r"(\d+g?)(\*(.+))?(/(.+))?", form).groups()
    value = float(value) * float(factor or 1) / float(divisor or 1)
    return f"{value:.{digits}{'' if digits.endswith('g') else 'f'}}"


AT_A_SHAPE = {  # (digits, what gives the figure)
    "gbs": ("0", of_step("bandwidth_gbs")),
    "ms": ("3g", of_step("time_median_ms")),
    "bound": ("2", bound),
    "over": ("1", lambda *key: of_step("time_median_ms")(*key) / bound(*key)),
    "share": ("2/100", of_step("bandwidth_percent_of_memcpy")),
    "percent": ("0", of_step("bandwidth_percent_of_memcpy")),
    "times": ("", times),
    "ahead": ("2", lambda other, at: against("transposeLongPieces", other, at)),
    "peer": ("3", lambda kernel, at: against(kernel, "cudaMemcpy", at)),
    "trial": ("3", lambda name, at: only("h200_trials", trial=name, **at)["of_memcpy"]),
}
ELSEWHERE = {
    "timing": ("2", lambda side, *how: only("h200_timing", method=" ".join(how), width=side)["us_per_pass"]),
    "ask": ("0", ask),
    "published": ("1", published),
    "modelled": ("1", lambda kernel: only("gtx280_model", kernel=kernel, width="2048")["model_bandwidth_gbs"]),
    "within": ("", lambda *key: f"{sum(e <= 0.15 + 1e-9 for e in errors(*key))} of {len(errors(*key))}"),
    "mean": ("1*100", lambda *key: sum(errors(*key)) / len(errors(*key))),
    "largest": ("0*100", lambda *key: max(errors(*key))),
    "scaling": ("", lambda what, *key: exchange.QUOTED[what](*key)),
    "cell": ("", cell),
}


def number(source):
    """The figure that a source stands for. ValueError, or Absent, says what it names and is not there."""
    return figure(shlex.split(source))


def figure(source):
    """The same of a list of words."""
    kind, _, asked = source[0].partition(":")
    if kind not in AT_A_SHAPE | ELSEWHERE:
        raise ValueError(f"no figure is called {kind}")
    form, made = (AT_A_SHAPE | ELSEWHERE)[kind]
    try:
        value = made(*(place(" ".join(source[1:])) if kind in AT_A_SHAPE else source[1:]))
        return shown(value, re.sub(r"^\d+g?", asked, form) if asked else form) if form else value
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise (Absent if isinstance(error, Absent) else ValueError)(f"`{' '.join(source)}`: {error}") from None


def sources_of(mark):
    """The words of the source of each column."""
    found = []
    for source in map(shlex.split, mark.split("|")):
        if source[:1] == ["+"]:
            changed = tuple(word.split("=")[0] + "=" for word in source)
            before = next(filter(None, reversed(found)))
            source = [word for word in before if not word.startswith(changed)] + source[1:]
        found.append(source)
    return found


def fill_table(match):
    """The same table with the figures of its columns as they should be."""
    sources, body = sources_of(match[1]), match[2]
    heading, rule, *lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in body.splitlines()]

    def label(text):
        code = re.search(r"`([^`]+)`", text)
        return code[1] if code else text.strip()

    for line in lines:
        names = {f"{{{i}}}": label(text) for i, text in enumerate(line)}
        for i, text in enumerate(line[1:], 1):
            source = sources[min(i, len(sources)) - 1]
            if not source or "<!-- = " in text:
                continue
            names["{h}"] = label(heading[i])
            try:
                new = figure([re.sub(r"\{\w\}", lambda m: names.get(m[0], m[0]), word) for word in source])
            except Absent:
                if CELL.search(text): raise
            else:
                line[i] = CELL.sub(new, text, count=1) if CELL.search(text) else f" {new} "
    return match[0].replace(body, "".join(f"|{'|'.join(line)}|\n" for line in (heading, rule, *lines)))


def fill(text):
    """A page's text with its figures as they should be. ValueError: a source names nothing, or has no figure."""
    lost = re.search("<!-- =.*", NAMED.sub("", TABLE.sub(lambda match: match[2] + match[3], text)))
    if lost:
        raise ValueError(f"no figure stands in front of {lost[0]}, and no table with an end below it")
    return NAMED.sub(lambda match: number(match[3]) + match[2], TABLE.sub(fill_table, text))


def without_sources(text):
    """The same text for a reader elsewhere: without the marks and the tables that have one."""
    return re.sub(r"<!-- =\s[^>]*?-->", "", TABLE.sub("", text))


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a figure is stale")
    check = parser.parse_args().check
    stale = []
    for path in PAGES:
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        try:
            fresh = fill(text)
        except (ValueError, IndexError) as error:
            sys.exit(f"quoted.py: {name}: {error}")
        if fresh != text:
            stale.append(name)
            if not check:
                whole.write(path, fresh)
    if stale:
        print(("stale: " if check else "written: ") + ", ".join(stale), file=sys.stderr if check else sys.stdout)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(whole.run(main, "quoted.py"))
