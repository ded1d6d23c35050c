#!/usr/bin/env python3
"""The tables that the sources published, beside what was measured here; and the steps beside libraries.

usage: python3 plots/tables.py whitepaper|book|bandwidth|peers RESULTS.csv... [--csv OUT.csv]

Takes the files that `./stepNN --csv` writes (`make table-whitepaper`, `table-book`, `table-bandwidth` and
`peers` run the programs and then this) and plots/published.csv. Prints published and measured figures side by side:
times in ms, bandwidths in GB/s = 10^9 bytes/s, every element counted as read once and written once.
Figures of the simulator's model are marked `model`; what was neither measured nor modelled is `-`.
--csv also writes all rows of the RESULTS into one file. Exits 2 on a file it cannot use.
"""

import math
import pathlib
import re
import sys

import whole  # first: Ctrl-C may come while the others are imported
import command_line
import results as reader
import spreadsheet

PUBLISHED = pathlib.Path(__file__).resolve().parent / "published.csv"
GIB = 1.073741824  # GB in a GiB
NOISE = f"! Too noisy to compare: the spread of the samples is above {100 * reader.TOO_NOISY:.0f} % of their median."


def fail(message):
    print(f"tables.py: {message}", file=sys.stderr)
    sys.exit(2)


def refuse(problems):
    """A table with holes where a file is damaged would pass for one of what was measured."""
    if problems:
        fail(problems[0] + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""))


def read(path):
    """The rows of a CSV file of any kind, which must be whole."""
    problems = []
    _, rows = reader.read(path, problems)
    refuse(problems)
    return [row for _, row in rows]


def machines(results):
    """What was measured where, a line each."""
    kinds = {"cuda": "measured on", "cpu": "measured on one core of", "sim": "counted and modelled for"}
    return [
        f"{kinds[m.backend]} {m.name}{', driver ' + m.driver if m.driver else ''}, {m.days}, "
        f"{m.of_commits}"
        for m in results.machines()]


def apart(results):
    """[Results] of which no two GPUs, hosts or simulated machines are in one: for each GPU, with its host and the
    counts made for it; without one, for each machine."""
    from sources import judging  # which knows the sources, and this module their tables

    found = {backend: [m for m in results.machines() if m.backend == backend] for backend in reader.BACKENDS}
    alone = []
    for machine in found["cuda"] or found["sim"] or found["cpu"]:
        own = [machine]
        if machine.backend != "cpu":
            own += found["cpu"] if len(found["cpu"]) < 2 else filter(None, [judging.host(results, machine)])
        if machine.backend == "cuda":
            own += found["sim"] if len(found["sim"]) < 2 else [m for m in found["sim"] if m.name in machine.name]
        alone.append(reader.Results([row for row in results.all if any(m.has(row) for m in own)], []))
    return alone


def comparable(*figures):
    """Whether figures are all there, and of one machine and kind: others are not to be divided or summed."""
    return all(figures) and len({(f.row["backend"], f.machine) for f in figures}) == 1


def sig(value):
    """Three significant digits, and no more behind the point than the results files have."""
    value = float(value)
    return f"{value:.{min(4, max(0, 2 - math.floor(math.log10(abs(value)))))}f}" if value else "0"


def time_ms(row):
    """A time to show, and the same as a number; a model's is marked."""
    figure = reader.time(row)
    return (f"{figure.mark}{sig(figure.value)}{figure.noise}", figure.value) if figure else ("-", None)


def bandwidth(row):
    figure = reader.bandwidth(row)
    return f"{figure.mark}{figure.value:.1f}{figure.noise}" if figure else "-"


class Table:
    """A title, a heading, lines of cells, and a note for below. texts: the columns that are no numbers, or how many are
    none, from the first on."""

    def __init__(self, title, heading, lines, note="", texts=1):
        self.title, self.note, self.texts = title, note, range(texts) if isinstance(texts, int) else texts
        self.rows = [[str(cell) for cell in line] for line in [heading, *lines]]

    def notes(self, between="\n"):
        noisy = any(re.search(r"\d!\*?$", cell) for line in self.rows[1:] for cell in line)
        return between.join(filter(None, [self.note, NOISE if noisy else ""]))

    def text(self):
        """For a terminal: columns as wide as they need to be."""
        widths = [max(len(line[i]) for line in self.rows) for i in range(len(self.rows[0]))]
        lines = ["  ".join(f"{c:<{w}}" if i in self.texts else f"{c:>{w}}"
                           for i, (c, w) in enumerate(zip(line, widths))).rstrip() for line in self.rows]
        return f"\n{self.title}\n\n" + "\n".join(lines) + "\n" + (f"\n{self.notes()}\n" if self.notes() else "")

    def markdown(self):
        heading, *lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in self.rows]
        title = [f"**{self.title}**\n"] if self.title else []
        rule = "|" + "".join("---|" if i in self.texts else "---:|" for i in range(len(self.rows[0])))
        return ("\n".join([*title, heading, rule, *lines])
                + ("\n\n" + self.notes("\n\n").replace("\n*", "\n\\*") if self.notes() else "") + "\n")


def editions(rows):
    """Where figures come from: a line for each edition, and what else one has to know of it."""
    return "Published in: " + "; ".join(dict.fromkeys(r["edition"] for r in rows)) + "."


def gbs(side, ms):
    """Effective bandwidth of a float matrix."""
    return 2 * side * side * 4 / ms / 1e6


def whitepaper(published, results):
    rows = [r for r in published if r["source"] == "whitepaper"]
    machines = ["GTX 280", "Tesla M2090", "Tesla K20X"]
    lines = []
    for source_row in dict.fromkeys(r["source_row"] for r in rows):
        mine = [r for r in rows if r["source_row"] == source_row]
        cells = [mine[0]["kernel"]]
        for machine in machines:
            (value,) = [r["value"] for r in mine if r["machine"] == machine and r["quantity"] == "bandwidth"]
            cells.append(f"{float(value) * GIB:.1f}")
        (inside,) = [r["value"] for r in mine if r["quantity"] != "bandwidth"]
        row = results.find(source_row, 2048)
        one = row["one_launch_bandwidth_gbs"] if row else ""
        lines.append(cells + [f"{float(inside) * GIB:.1f}", bandwidth(row), one or "-"])
    for row in results.rows:  # described in words there, without figures
        if set(row["source_row"].split()) & {"W9", "W10", "W11", "W12"} and \
                (row["type"], row["width"], row["height"]) == ("float", "2048", "2048"):
            lines.append([row["kernel"], "", "", "", "", bandwidth(row), row["one_launch_bandwidth_gbs"] or "-"])
    return [Table(
        "The whitepaper's table: effective bandwidth in GB/s, 2048 x 2048 float (published in GiB/s, converted)",
        ["kernel"] + [f"{m}, published" for m in machines] + ["GTX 280, passes inside*", "here", "here, one launch"],
        lines, editions([r for r in rows if r["quantity"] == "bandwidth"]) + "\n* "
               + "".join(dict.fromkeys(r["edition"] for r in rows if r["quantity"] != "bandwidth"))
               + ".\nHere, passes inside one launch are a deeper grid: no loop in the kernel, no race, and a matrix "
                 "that stays in the L2 if it fits.")]


def book(published, results):
    rows = [r for r in published if r["source"] == "book"]
    sides = sorted({int(r["side"]) for r in rows if r["table"] == "9.1"})
    names = {}
    for r in rows:
        if r["table"] == "9.1":
            names.setdefault(r["source_row"], r["kernel"])

    def there(table, source_row, side):
        (value,) = [r["value"] for r in rows
                    if r["table"] == table and r["source_row"] == source_row and int(r["side"]) == side]
        return float(value)

    def here(source_row, side):
        """Text and number; the round trip of B10 is the sum of two rows."""
        if source_row != "B10":
            return time_ms(results.find(source_row, side))
        ways = [reader.time(results.find(kernel, side)) for kernel in ("hostToDevice", "deviceToHost")]
        if not comparable(*ways):
            return "-", None
        total = sum(way.value for way in ways)
        return f"{ways[0].mark}{sig(total)}{max(way.noise for way in ways)}", total

    (peak,) = [float(r["value"]) for r in rows if r["quantity"] == "DRAM peak"]

    def there_gbs(source_row, side):
        """More than the memory's peak is marked: it cannot be."""
        value = gbs(side, there("9.1", source_row, side))
        return f"{value:.1f}" + ("*" if value > peak else "")

    times, bandwidths = [], []
    for source_row, name in names.items():
        times.append([f"{name}, published"] + [f"{there('9.1', source_row, n):.3f}" for n in sides])
        times.append(["  here"] + [here(source_row, n)[0] for n in sides])
        bandwidths.append([f"{name}, published"] + [there_gbs(source_row, n) for n in sides])
        cells = [here(source_row, n) for n in sides]
        bandwidths.append(["  here"] + [
            ("model " if t.startswith("model") else "") + f"{gbs(n, ms):.1f}" + "!" * t.endswith("!") if ms else "-"
            for n, (t, ms) in zip(sides, cells)])
    for kernel, label in (("transposeSerialBlocked", "serial, blocked: here"),
                          ("hostToDevicePinned", "to the device, pinned: here"),
                          ("deviceToHostPinned", "to the host, pinned: here")):
        cells = [time_ms(results.find(kernel, n)) for n in sides]
        if any(ms for _, ms in cells):
            times.append([label] + [t for t, _ in cells])
            bandwidths.append([label] + [
                f"{gbs(n, ms) / (2 if 'pinned' in label else 1):.1f}" + "!" * t.endswith("!") if ms else "-"
                for n, (t, ms) in zip(sides, cells)])
    tables = [Table("The book's table 9.1: ms, n x n float; published: Tesla K20c and its host", ["n"] + sides, times,
                    editions(r for r in rows if r["table"] == "9.1")
                    + " Published gpu_1_0 and gpu_1_1 transpose 512 rows only (erratum E1). memcpy is to the "
                      "device and back, from pageable memory."),
              Table("The book's table 9.2 as effective bandwidth: GB/s, each element read once and written once "
                    "(the book prints MiB per ms and counts each byte once)",
                    ["n"] + sides, bandwidths,
                    editions(r for r in rows if r["table"] == "9.2") + " Computed from the times of table 9.1."
                    f"\n* more than the peak of the card's memory, {peak:.0f} GB/s: most rows were left out (errata "
                    "E1, E21).")]
    lines = []
    for n in sides:
        one, loop = there("9.3", "B7", n), there("9.3", "B9", n)
        per_tile, looping = (results.find(name, n) for name in ("transposeTile32Padded", "B9"))
        timed = [reader.time(row) for row in (per_tile, looping)]
        lines.append([n, f"{one:.3f}", f"{loop:.3f}", f"{one / loop:.2f}", time_ms(per_tile)[0], time_ms(looping)[0],
                      f"{timed[0].value / timed[1].value:.2f}" if comparable(*timed) else "-"])
    return tables + [Table(
        "The book's table 9.3: ms, one block per tile (gpu_2_2) and a fixed grid of looping blocks (gpu_2_2_1); here: "
        "both with a tile of 32 x 33 and 32 x 32 threads",
        ["n", "per tile, published", "looping, published*", "ratio", "per tile, here", "looping, here", "ratio"], lines,
        editions(r for r in rows if r["table"] == "9.3")
        + " Its gpu_2_2 is evidently not the one of table 9.1 (erratum E22).\n* timed while racing (erratum E2).")]


def bandwidth_post(published, results, counts=None):
    """counts: results that have the simulator's counts, if others do."""
    rows = [r for r in published if r["source"] == "bandwidth post"]
    lines = []
    for r in rows:
        if r["table"] == "kernels":
            ms = float(r["value"]) * 1e3
            row = results.find(r["source_row"], 4096, block="32x32")
            lines.append([r["kernel"] + (" (E5: the kernel by columns)" if r["remark"].startswith("E5") else ""),
                          f"{ms:.3f}", f"{gbs(4096, ms):.1f}", time_ms(row)[0], bandwidth(row)])
    for source_row, label in (("F7", "row, diagonal"), ("F8", "col, diagonal")):
        row = results.find(source_row, 4096)
        lines.append([label, "-", "-", time_ms(row)[0], bandwidth(row)])
    tables = [
        Table(
            "The bandwidth post's kernels: 4096 x 4096 float, blocks of 32 x 32; published: a notebook's "
            "GTX 1050 Ti (112 GB/s)", ["kernel", "ms, published", "GB/s", "ms, here", "GB/s"], lines,
            editions(r for r in rows if r["table"] == "kernels"))]
    lines = []
    for r in rows:
        if r["table"] == "block shapes" and r["quantity"] == "time":
            ms = float(r["value"]) * 1e3
            row = results.find("F9", 4096, block=r["block"])
            lines.append([r["block"], f"{ms:.3f}", f"{gbs(4096, ms):.1f}", time_ms(row)[0], bandwidth(row)])
    tables.append(
        Table("Its block shapes: naive by columns, 4096 x 4096 float",
              ["block", "ms, published", "GB/s", "ms, here", "GB/s"], lines,
              editions(r for r in rows if r["table"] == "block shapes") + " Means of three trials."))
    lines = []
    for source_row in dict.fromkeys(r["source_row"] for r in rows if r["table"] == "throughput"):
        cells = []
        for what in ("load", "store"):
            (r,) = [r for r in rows if r["source_row"] == source_row and r["quantity"] == f"{what} throughput"]
            timed = results.find(source_row, 4096, block="32x32")
            counted = (counts or results).find(source_row, 4096, block="32x32", backends=["sim"])
            text, ms = time_ms(timed)
            mark = "model " if text.startswith("model") else ""
            cells += [
                r["value"],
                f"{mark}{int(counted[f'global_{what}_transactions']) * 32 / ms / 1e6:.1f}" if ms and counted else "-"]
        lines.append([r["kernel"]] + cells)
    return tables + [Table("Its profile: GB/s that loads and stores moved; published: nvprof; here: sectors "
                           "counted by the simulator x 32 bytes / the time above",
                           ["kernel", "loads, published", "here", "stores, published", "here"], lines,
                           editions(r for r in rows if r["table"] == "throughput")
                           + " By it, copyRow loads twice the bytes that it stores, though it copies, so its "
                             "published loads are doubtful.")]


# Out of the caches' reach, aligned: what is true of large matrices in general.
LARGE = ["4096 x 4096", "8192 x 8192", "16384 x 16384", "32768 x 32768", "16512 x 16512", "49152 x 12288"]


def ratio_table(results, element):
    """(shapes, {kernel: {shape: GB/s}}, {(kernel, shape): '!' if it is noisy}) of one type, measured ones alone; the
    copy comes first."""
    found, shapes, noise = {}, {}, {}
    for r in results.rows:
        if r["type"] == element and float(r["bandwidth_gbs"] or 0):
            shape = f"{r['width']} x {r['height']}"
            shapes[shape] = None
            found.setdefault(r["kernel"], {})[shape] = float(r["bandwidth_gbs"])
            noise[r["kernel"], shape] = reader.bandwidth(r).noise
    return list(shapes), found, noise


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def peers(_, results):
    note = "* geometric mean of " + ", ".join(LARGE) + ". Absent, or without such a type: -"
    contenders = {r["kernel"] for r in results.rows if r["step"] == "peers"}
    tables = []
    for element in ("char", "half", "float", "double", "int", "double2"):
        shapes, found, noise = ratio_table(results, element)
        if "cudaMemcpy" not in found:
            continue
        copy = found.pop("cudaMemcpy")
        large = [s for s in LARGE if s in shapes]

        def line(name, ratios):
            have = [ratios[s] for s in large if s in ratios]
            return ([name] + [f"{ratios[s]:.3f}{noise.get((name, s), '')}" if s in ratios else "-" for s in shapes]
                    + [f"{mean(have):.3f}" if have and len(have) == len(large) else "-"])

        lines = [["cudaMemcpy, GB/s"] + [f"{copy[s]:.0f}" if s in copy else "-" for s in shapes] + [""]]
        lines += [line(kernel, {s: gbs / copy[s] for s, gbs in speeds.items() if s in copy})
                  for kernel, speeds in found.items()]
        ours, cublas = found.get("transposeLongPieces", {}), found.get("cublasGeam", {})
        if ours and cublas:
            lines.append(line("step 7 / cublasGeam", {s: ours[s] / cublas[s] for s in ours if s in cublas}))
        others = [speeds for kernel, speeds in found.items() if kernel in contenders]
        if ours and others:
            lines.append(line("step 7 / best contender",
                              {s: ours[s] / max(speeds.get(s, 0) for speeds in others) for s in ours
                               if any(s in speeds for speeds in others)}))
        tables.append(Table(f"{element}, width x height of idata: shares of cudaMemcpy's bandwidth on the device, "
                            "in one run", ["", *shapes, "mean*"], lines))
    if tables:
        tables[-1].note = note
    return tables


def main():
    tables = {"whitepaper": whitepaper, "book": book, "bandwidth": bandwidth_post, "peers": peers}
    parser = command_line.parser(__doc__)
    parser.add_argument("table", choices=tables)
    parser.add_argument("results", nargs="+", metavar="RESULTS.csv")
    parser.add_argument("--csv", metavar="OUT.csv", help="also write all rows of the results into one file")
    options = parser.parse_args()
    results = reader.load(options.results)
    refuse(results.problems)
    for number, own in enumerate(apart(results)):
        print("\n" * bool(number) + "".join(f"Here: {line}\n" for line in machines(own)), end="")
        for table in tables[options.table](read(PUBLISHED), own):
            print(table.text(), end="")
    if options.csv:
        names = list(dict.fromkeys(name for row in results.all for name in row))
        whole.write(options.csv, spreadsheet.table([names, *([row.get(name, "") for name in names]
                                                             for row in results.all)]))


if __name__ == "__main__":
    sys.exit(whole.run(main, "tables.py"))
