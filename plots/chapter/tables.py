"""The chapter's tables of results. Each is numbered and has a caption that names whoever measured, counted or
modelled."""

import results as reader
import tables as published
from figures import waterfall
from facts import IDEAS, LESSONS, RUNGS
from sources import judging
from sources.table import CLAIMS
from tables import GIB, Table

from . import numbers
from .numbers import cell, percent, sig

PUBLISHED_ON = ["GTX 280", "Tesla M2090", "Tesla K20X"]
GTX280 = "GeForce GTX 280"
FITTED = ("W1", "W2", "W4")  # rows of the whitepaper that the model of the GTX 280 is fitted to: plots/fit_gtx280.py
# The book's kernels, on the GPU.
BOOK = [
    "transposeRow1D", "transposeCol1D", "transposeRow16", "transposeTile16", "transposeTile16Padded",
    "transposeDiagonal16", "transposeLoopingBlocks"]
SERIAL = {
    "transposeSerialRead": "reads along rows", "transposeSerialWrite": "writes along rows",
    "transposeSerialBlocked": "square by square", "memcpy": "`memcpy`"}


def missing(what):
    return f"*Not in these results: {what}.*\n"


def numbered(key, caption, table, note=""):
    """A table as the text has it. table: a tables.Table, or text in its place."""
    body = table if isinstance(table, str) else table.markdown()
    return (f"<!-- table: {key} -->\n\n**Table.** {caption}\n\n{body.strip()}\n" + (f"\n{note}\n" if note else "")
            + "\n<!-- /table -->\n")


def ratio(row, above, below):
    return f"{int(row[above]) / int(row[below]):.2f}" if row[above] and row[below] and int(row[below]) else "-"


def beyond(figures):
    """{peak of the DRAM: whether one of these measured bandwidths is above it}: {} if none is."""
    return {float(f.row["dram_peak_gbs"]) for f in figures
            if f and f.row["dram_peak_gbs"] and f.value > float(f.row["dram_peak_gbs"])}


def marked(figure):
    """A bandwidth's cell; `*` where it is more than the DRAM can move."""
    return cell(figure) + ("*" if beyond([figure]) else "")


def footnote(figures):
    peaks = beyond(figures)
    if not peaks:
        return ""
    return f"\\* More than the peak of the card's DRAM, {sig(min(peaks))} GB/s: these bytes come from the L2 cache."


class Tables:
    """shown: data.Shown."""

    def __init__(self, shown):
        self.shown, self.results = shown, shown.results
        self.published = published.read(published.PUBLISHED)

    def serial(self):
        caption = "Serial transposes on one core of a CPU: ns per element, n × n floats."
        text = ""
        for i, machine in enumerate(self.shown.cpus):
            sides = self.shown.sides(machine, SERIAL)
            lines = []
            for kernel, name in SERIAL.items():
                times = [reader.time(self.shown.row(kernel, n, machine)) for n in sides]
                lines.append([name] + [sig(1e6 * t.value / n / n) + t.noise if t else "-"
                                       for n, t in zip(sides, times)])
            text += numbered("serial" if i == 0 else f"serial-{i + 1}", f"{caption} {self.shown.measured(machine)}",
                             Table("", ["n", *sides], lines)) + "\n"
        return text or numbered("serial", caption, missing("the serial functions, on a CPU"))

    def steps(self):
        """The lesson of every step, on each GPU that was measured at a size that all have."""
        caption = "The seven steps: effective bandwidth, and its share of `cudaMemcpy`'s bandwidth in the same run."
        columns = [(m, n) for m, n in ((m, self.shown.best_side(m)) for m in self.shown.gpus) if n]
        if not columns:
            return numbered("steps", caption, missing("all steps at one size, measured on a GPU"))
        lines = []
        for number, (kernel, idea) in self.lessons():
            cells = [
                c for m, n in columns for row in [self.shown.row(kernel, n, m)]
                for c in (cell(reader.bandwidth(row)), percent(row))]
            lines.append([number, idea, f"`{kernel}`", *cells])
        copies = [c for m, n in columns for c in (cell(reader.bandwidth(self.shown.row("cudaMemcpy", n, m))), "100 %")]
        lines.append(["", "CUDA's own copy, from device to device", "`cudaMemcpy`", *copies])
        heading = [c for m, n in columns for c in (f"{m.name}, {n}², GB/s", "of `cudaMemcpy`")]
        return numbered("steps",
                        f"{caption} Matrices of floats. " + " ".join(self.shown.measured(m) for m, _ in columns),
                        Table("", ["step", "the idea", "kernel", *heading], lines, texts=3))

    # The kernels of a step in the lesson, the one it is compared with first.
    LADDER = {
        1: ("copy", "copySharedMem"), 2: ("copy", "transposeNaive"), 3: ("transposeNaive", "transposeCoalesced"),
        4: ("transposeCoalesced", "transposeNoBankConflicts"),
        5: ("copySharedMem", "transposeFineGrained", "transposeCoarseGrained", "transposeNoBankConflicts"),
        6: ("transposeNoBankConflicts", "transposeDiagonal")}
    WAVEFRONTS_FROM = 3  # the step that explains them

    def step(self, number):
        """A step's kernels in the lesson: counted, predicted and measured, next to each other and at one size."""
        number = int(number)
        kernels, machine = self.LADDER[number], self.shown.headline[0] or next(iter(self.shown.gpus), None)
        model = self.shown.model_of(machine) if machine else None
        sides = set(self.shown.sides(machine, kernels)) if machine else set()
        both = sides & set(self.shown.sides(model, kernels)) if model else set()
        n = max(both or sides, default=None)
        caption = f"Step {number}, predicted and measured."
        if not n:
            return numbered(f"step-{number}", caption, missing("times of this step, measured on a GPU"))
        lines = []
        for kernel in kernels:
            counted, told = self.shown.counted(kernel), self.shown.row(kernel, n, model) if both else None
            row = self.shown.row(kernel, n, machine)
            line = [f"`{kernel}`", *(self.each(counted, *of) for of in (
                ("global_load_transactions", "global_load_requests"),
                ("global_store_transactions", "global_store_requests"),
                ("shared_load_wavefronts", "shared_load_requests"))[:2 if number < self.WAVEFRONTS_FROM else 3])]
            lines.append([*line, cell(reader.time(told)), cell(reader.time(row)), cell(reader.bandwidth(row)),
                          percent(row)])
        heading = ["kernel", "sectors per load", "sectors per store", "wavefronts per load of the tile"]
        heading = heading[:3 if number < self.WAVEFRONTS_FROM else 4]
        text = (f"Step {number} at {n}² floats. Counted for an H200: the cost of one request. Predicted: the model's "
                f"time. {self.shown.measured(machine)}")
        return numbered(f"step-{number}", text,
                        Table("", [*heading, "predicted, ms", "measured, ms", "measured, GB/s", "of `cudaMemcpy`"],
                              lines))

    @staticmethod
    def each(row, above, below):
        """What one request costs on average, as short as it goes; - where none was counted."""
        return f"{int(row[above]) / int(row[below]):.3g}" if row and int(row[below] or 0) else "-"

    @staticmethod
    def lessons():
        return [(lesson.number, (lesson.kernel, lesson.idea)) for lesson in LESSONS]

    def counts(self):
        """What the simulator counts for the lesson kernels, for every machine that it simulated."""
        kernels = list(IDEAS)
        caption = "Counted by the simulator: the requests of all warps, and what one request costs on average."
        rows = [
            row for kernel in kernels for machine in self.shown.models
            for row in [self.shown.row(kernel, self.shown.counted_side(machine), machine)] if row]
        lines = [[f"`{r['kernel']}`", f"{r['machine']}, {r['width']}²", numbers.count(r["global_load_requests"]),
                  ratio(r, "global_load_transactions", "global_load_requests"),
                  numbers.count(r["global_store_requests"]),
                  ratio(r, "global_store_transactions", "global_store_requests"),
                  ratio(r, "shared_load_wavefronts", "shared_load_requests"),
                  ratio(r, "shared_store_wavefronts", "shared_store_requests"),
                  *(self.busiest(r, way) for way in ("loads", "stores"))] for r in rows]
        if not lines:
            return numbered("counts", caption, missing("the simulator's counts"))
        note = ("Costs are in sectors of 32 bytes for global memory (GTX 280: transactions), and in wavefronts for "
                "the tile, the array in shared memory. "
                "The best is 4 sectors and 1 wavefront for floats. A GTX 280 serves half a warp at a time, and its "
                "best is 2 and 2. "
                "Busiest partition: the traffic of the busiest memory partition / the mean of all (step 6).")
        if any(r["partition_map"] == "assumed" for r in rows):
            note += (" (a): for this card it is assumed which address lies in which partition. The other counts do "
                     "not depend on it.")
        heading = [
            "kernel", "counted for", "loads", "each costs", "stores", "each costs", "tile loads cost",
            "tile stores cost", "busiest partition, loads", "stores"]
        return numbered("counts", caption, Table("", heading, lines, texts=2), note)

    @staticmethod
    def busiest(row, way):
        value = row[f"busiest_partition_of_{way}"]
        return (f"{float(value):.2f}" + (" (a)" if row["partition_map"] == "assumed" else "")) if value else "-"

    def times(self):
        """Measured times of the lesson kernels and, at the largest size that both have, the model's time next to the
        measured one."""
        kernels = list(IDEAS)
        caption = "Time of the lesson kernels, measured, and the model's time at the same size."
        lines, machines, models = [], [], []
        for machine in self.shown.gpus:
            model = self.shown.model_of(machine)
            best = self.shown.best_side(machine) or max(self.shown.sides(machine, kernels), default=None)
            both = max(set(self.shown.sides(machine, kernels))
                       & set(self.shown.sides(model, kernels)), default=None) if model else None
            for kernel in kernels:
                for n in dict.fromkeys(n for n in (best, both) if n):
                    row = self.shown.row(kernel, n, machine)
                    told = self.shown.row(kernel, n, model) if model else None
                    if reader.time(row):
                        lines.append([f"`{kernel}`", f"{machine.name}, {n}²", cell(reader.time(row)),
                                      cell(reader.bandwidth(row)), percent(row),
                                      cell(reader.time(told)), (told["model_limit"] if told else "") or "-"])
                        machines.append(machine)
                        models += [model] if told else []
        if not lines:
            return numbered("times", caption, missing("times of the steps, measured on a GPU"))
        text = ("Measured: time and effective bandwidth, n × n floats. "
                + " ".join(self.shown.measured(m) for m in dict.fromkeys(machines)))
        heading = ["kernel", "on", "ms", "GB/s", "of `cudaMemcpy`"]
        if models:
            text += " The last two columns are the simulator's model at the same size."
            return numbered("times", text,
                            Table("", [*heading, "model, ms", "limit in the model"], lines, texts=(0, 1, 6)))
        return numbered("times", text, Table("", heading, [line[:5] for line in lines], texts=2))

    def rungs(self):
        """Step 7's four ideas, one by one, where they were measured."""
        machine, n = self.shown.headline
        rows = {kernel: self.shown.row(kernel, n, machine) for kernel in RUNGS} if machine else {}
        if not rows or not all(rows.values()):
            return numbered("rungs", "From step 4 to step 7, one more idea per line.", missing(
                f"the four ideas one by one; `./step07 --device cuda --all --size {n or 16384}` measures them"))
        lines = [[f"`{kernel}`", idea, cell(reader.time(rows[kernel])), cell(reader.bandwidth(rows[kernel])),
                  percent(rows[kernel])] for kernel, idea in RUNGS.items()]
        return numbered("rungs", f"From step 4 to step 7, one more idea per line: {n}² floats. "
                                 f"{self.shown.measured(machine)}",
                        Table("", ["kernel", "what it adds", "ms", "GB/s", "of `cudaMemcpy`"], lines, texts=2)) + "\n"

    def over_sides(self, key, what, title):
        """A table per machine: kernels over n. cudaMemcpy's line is last, and a bandwidth above the DRAM's peak has its
        footnote."""
        text = ""
        for machine in self.shown.gpus:
            names = [*IDEAS, *BOOK]
            sides = [n for n in self.shown.sides(machine, names) if n & (n - 1) == 0]
            every = {
                kernel: [what(self.shown.row(kernel, n, machine)) for n in sides] for kernel in [*names, "cudaMemcpy"]}
            lines = [[f"`{kernel}`", *map(marked if key == "bandwidths" else cell, found)]
                     for kernel, found in every.items()
                     if any(found)]
            if lines and len(sides) > 1:
                text += numbered(
                    key if not text else f"{key}-{len(text)}", f"{title}, n × n floats. {self.shown.measured(machine)}",
                    Table("", ["n", *sides], lines),
                    footnote([f for found in every.values() for f in found]) if key == "bandwidths" else "") + "\n"
        return text or numbered(key, f"{title}, n × n floats.", missing("the steps at several sizes"))

    def sizes(self):
        return self.over_sides("bandwidths", reader.bandwidth, "Effective bandwidth in GB/s at each side n of the "
                                                               "matrix, for the steps' kernels, the book's kernels "
                                                               "and `cudaMemcpy`")

    def whitepaper_rows(self):
        """{row of the table of sources: (name, {card: GB/s})} of the whitepaper's table."""
        found = {}
        for r in self.published:
            if r["source"] == "whitepaper" and r["quantity"] == "bandwidth":
                found.setdefault(r["source_row"], (r["kernel"], {}))[1][r["machine"]] = float(r["value"]) * GIB
        return found

    def whitepaper(self):
        caption = "The whitepaper's table and the same kernels today: effective bandwidth in GB/s, 2048 × 2048 floats."
        columns = [m for m in self.shown.gpus if self.results.find("W5", 2048, machine=m)]
        lines, inside = [], []
        for source_row, (name, there) in self.whitepaper_rows().items():
            line = [name] + [sig(there[m]) if m in there else "-" for m in PUBLISHED_ON]
            for m in columns:
                row = self.results.find(source_row, 2048, machine=m)
                once = reader.one_launch(
                    self.results.find(source_row, 2048, machine=m, having="one_launch_bandwidth_gbs"))
                inside.append(once)
                line += [marked(reader.bandwidth(row)), marked(once)]
            lines.append(line)
        heading = ["kernel"] + [f"{m}, published" for m in PUBLISHED_ON]
        for m in columns:
            heading += [f"{m.name}, measured", "the same, passes in one launch"]
        rows = [r for r in self.published if r["source"] == "whitepaper" and r["quantity"] == "bandwidth"]
        notes = (["Published in GiB/s, converted to GB/s. " + published.editions(rows)]
                 + [note for note in [footnote(inside)] if note])
        if not columns:
            notes.append(missing("the whitepaper's kernels, measured on a GPU").strip())
        return numbered("whitepaper", " ".join([caption, *(self.shown.measured(m) for m in columns)]),
                        Table("", heading, lines), "\n\n".join(notes))

    def gtx280(self):
        """The model of the GTX 280 held against what was published for the card."""
        caption = ("GeForce GTX 280, 2048 × 2048 floats: effective bandwidth published and modelled, and the "
                   "busiest partition's traffic / the mean, counted.")
        machine = next((m for m in self.shown.models if m.name == GTX280), None)
        lines = []
        for source_row, (name, there) in self.whitepaper_rows().items() if machine else ():
            row = self.results.find(source_row, 2048, machine=machine)
            model = reader.bandwidth(row)
            if model:
                off = numbers.deviation(model.value / there["GTX 280"])
                lines.append([name + (" (fitted)" if source_row in FITTED else ""), row["model_limit"],
                              sig(there["GTX 280"]), cell(model), off,
                              self.busiest(row, "loads"), self.busiest(row, "stores")])
        row = machine and self.results.find("transposeLongPieces", 2048, machine=machine)
        if row and reader.bandwidth(row):
            lines.append(["step 7 of this project", row["model_limit"], "-", cell(reader.bandwidth(row)), "-",
                          self.busiest(row, "loads"), self.busiest(row, "stores")])
        if not lines:
            return numbered("gtx280", caption, missing("the simulator's model of the GTX 280 at 2048²"))
        return numbered("gtx280", caption,
                        Table("",
                              ["kernel", "limit in the model", "published, GB/s", "model, GB/s", "deviation",
                               "busiest partition, loads", "stores"],
                              lines, texts=2),
                        "The model's three constants are fitted to the rows marked *fitted*. The other rows are its "
                        "predictions.")

    def of_source(self, source, make, rows, keys, captions):
        """The tables that tables.py makes of one source, for each GPU that has times of these rows of it. keys: what
        the first machine's are called."""
        text = ""
        for machine in self.shown.gpus:
            host = judging.host(self.results, machine) or (next(iter(self.shown.cpus), None)
                                                           if self.shown.is_committed(machine) else None)
            own = reader.Results([r for r in self.results.all if machine.has(r) or (host and host.has(r))], [])
            if not any(reader.time(own.find(row, n, machine=machine)) for row, sides in rows.items() for n in sides):
                continue
            here = f"Here: {self.shown.source(machine)}" + (f", and one core of {self.shown.source(host)}"
                                                            if host and "book" in keys[0] else "") + "."
            for key, table in zip(keys, make(own)):
                title = table.title.replace("The book's table", "Book, Table").replace(" x ", " × ")
                table.title, table.note, note = "", "", table.note
                # a line's name is to hold wherever the table is sorted
                for above, line in zip(table.rows[1:], table.rows[2:]):
                    if line[0].strip() == "here":
                        line[0] = above[0].replace("published", "here")
                text += numbered(key if f"<!-- table: {key} -->" not in text else f"{key}-{len(text)}",
                                 f"{title}. {here}", table, note.replace("\n*", "\n\n\\*")) + "\n"
        numbers = [f"[{claim.number}](#claim-{claim.number})" for claim in CLAIMS
                   if claim.source.startswith(source) and claim.command == judging.TABLES[source]]
        return (text or "".join(numbered(key, caption, missing("its kernels, timed on a GPU")) + "\n"
                                for key, caption in zip(keys, captions))) + (
            "The conclusions that the source draws from these tables are judged below, with the figures behind each "
            f"and what explains it: {', '.join(numbers)} of [[table claims]].\n")

    def book(self):
        return self.of_source("book", lambda own: published.book(self.published, own), {"B7": judging.BOOK},
                              ["book-9.1", "book-9.2", "book-9.3"],
                              ["Book, Table 9.1.", "Book, Table 9.2, as effective bandwidth.", "Book, Table 9.3."])

    def post(self):
        return self.of_source(
            "bandwidth post", lambda own: published.bandwidth_post(self.published, own, self.results), {"F1": [4096]},
            ["post-kernels", "post-blocks", "post-profile"],
            ["The bandwidth post's kernels.", "The bandwidth post's block shapes.", "The bandwidth post's profile."])

    def ideas(self):
        """[(idea, ms before, ms after)] of the waterfall; [] where it was not measured."""
        machine, n = self.shown.headline
        times = [self.shown.ms(kernel, n, machine) for kernel in waterfall.RUNGS] if machine else []
        return [(idea, before, after) for idea, before, after in zip([*waterfall.RUNGS.values()][1:], times, times[1:])]
