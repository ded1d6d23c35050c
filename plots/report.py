#!/usr/bin/env python3
"""The chapter: what the steps did on this machine, and on any other whose result files are at hand.

usage: python3 plots/report.py RESULTS.csv... [--out DIR]

Takes the files that `./stepNN --csv` and bench/measure.sh write; those of other machines may be among them: each machine has
a column, or a table, of its own. Fills plots/chapter.md with tables, figures, code and verdicts and writes DIR/chapter.md,
DIR/chapter.html (one file that opens from disk) and DIR/figures (DIR: report, unless told otherwise). Measured, counted and
modelled figures keep their label. What the results do not tell is said to be missing, never made up.

A file that is damaged, or none of ours, is named with its line, and the rest of it is used. Exits 2 if nothing is left.
"""

import argparse
import difflib
import html
import pathlib
import re
import sys

import markdown

import claims
import explorables
import figures
import gallery
import results as reader
import tables
from pages import ROOT, STEPS, page, picture_of
from readme import IDEAS
from sources import judging
from tables import GIB, PUBLISHED, Table
from tables import read as read_whole
from traces import take_traces

# The step whose kernel a step's first kernel was made from.
MADE_FROM = {"step02": "step01", "step03": "step02", "step04": "step03", "step05": "step04", "step06": "step04"}
# A second picture for a step, and how to read it.
SECOND = {"step03": ("race", "Two threads of a kernel without its second barrier, instruction by instruction, until one reads a wrong value",
                     "Time runs down. One thread fills the tile again before the other has read its element."),
          "step05": ("two_halves", "idata and what the fine-grained kernel, the coarse-grained kernel and a transpose make of it, in four tiles",
                     "The fine-grained kernel turns each tile and moves none. The coarse-grained one moves each tile and turns none."),
          "step07": ("bytes_in_flight", "Effective bandwidth over the bytes that the loads of an SM have in flight: the model's curve, its roof, and the lesson kernels as points",
                     "Kernels on the curve wait for their loads. Kernels below it are held up by something else."),
          "step06": ("partition_traffic", "Traffic per partition over time: Cartesian and diagonal order on a GTX 280, Cartesian order with hashed addresses",
                     "Every column is a moment, the blocks that run together; every row a partition. One dark cell in a column is camping.")}
PUBLISHED_ON = ["GTX 280", "Tesla M2090", "Tesla K20X"]
# Kernels of Table 1 and 2 beside the lessons: the book's, on the GPU.
BOOK = ["transposeRow1D", "transposeCol1D", "transposeRow16", "transposeTile16", "transposeTile16Padded", "transposeDiagonal16", "transposeLoopingBlocks"]


def step_file(step):
    return ROOT / step / f"{step.split('_')[0]}.cu"


def functions(path, begin):
    """The function templates of a source file whose second line begins so, whole."""
    return re.findall(rf"^template <typename T>\n{begin}.*?^}}\n", path.read_text(), re.MULTILINE | re.DOTALL)


def neutral(kernel):
    """A kernel's lines without its name, which changes from step to step, and without remarks behind the code."""
    return re.sub(r"(?<=\S) +//.*", "", re.sub(r"(__global__ void )\w+", r"\1...", kernel)).splitlines()


def kernel_code(step):
    """The kernels of a step as Markdown, and what makes the first of them differ from the step it was made from."""
    kernels = functions(step_file(step), "__global__ void")
    text = "```cuda\n" + "\n".join(kernels) + "```\n"
    earlier = MADE_FROM.get(step.split("_")[0])
    if not earlier:
        return text
    (before,) = [s for s in STEPS if s.startswith(earlier)]
    old = functions(step_file(before), "__global__ void")[0]
    changed = difflib.unified_diff(neutral(old), neutral(kernels[0]), n=0, lineterm="")
    lines = [line for line in changed if not line.startswith(("---", "+++", "@@")) and line.strip("+-")]
    return text + f"\nWhat changes from step {int(earlier[4:])}:\n\n```diff\n" + "\n".join(lines) + "\n```\n"


def ratio(row, above, below):
    return f"{int(row[above]) / int(row[below]):.2f}" if row[above] and row[below] and int(row[below]) else "-"


def cell(figure):
    """A figure in a table whose heading has the unit; a model's is marked."""
    if figure is None:
        return "-"
    digits = 3 if figure.unit == "ms" and figure.value < 100 else 0 if figure.value >= 1000 else 1
    return f"{figure.mark}{figure.value:.{digits}f}"


def missing(what):
    return f"*Not in these results: {what}.*\n"


class Chapter:
    """Fills the template. `machines`: those whose results are shown, GPUs first."""

    def __init__(self, results, out):
        self.results, self.out = results, out
        order = list(reader.BACKENDS)
        self.machines = sorted(results.machines(), key=lambda m: order.index(m.backend))
        self.cpus = [m for m in self.machines if m.backend == "cpu"]
        # With a clock, or with a model of times.
        self.gpus = [m for m in self.machines if m.backend != "cpu"
                     and any(reader.bandwidth(r) for r in results.rows if m.has(r))]
        self.published = read_whole(PUBLISHED)

    def label(self, machine):
        return {"cuda": f"{machine.name}, measured", "cpu": f"{machine.name}, one core", "sim": f"{machine.name}, model"}[machine.backend]

    def sides(self, machine, kernels=None):
        """n of the square matrices of floats that a machine has results for."""
        return sorted({int(r["width"]) for r in self.results.rows if machine.has(r)
                       and r["width"] == r["height"] and r["type"] == "float" and (kernels is None or r["kernel"] in kernels)})

    def best_side(self, machine):
        """The largest of them at which every lesson kernel has a bandwidth; None if there is none."""
        for n in reversed(self.sides(machine)):
            if all(reader.bandwidth(self.results.find(k, n, machine=machine)) for k in IDEAS):
                return n
        return None

    # What the template asks for.

    def about_machines(self):
        kinds = {"cuda": "Measured on", "cpu": "Measured on one core of", "sim": "Counted, and where there is a model modelled, for"}
        return "".join(f"- {kinds[m.backend]} {m.name}{', driver ' + m.driver if m.driver else ''}, {m.date[:10]}\n" for m in self.machines)

    def serial_code(self):
        code = functions(ROOT / "step02_naive/serial.cpp", "void transposeSerialRead")
        return "```cpp\n" + "\n".join(code) + "```\n"

    def table_serial(self):
        names = {"transposeSerialRead": "reads along rows", "transposeSerialWrite": "writes along rows", "transposeSerialBlocked": "block by block", "memcpy": "memcpy"}
        text = ""
        for machine in self.cpus:
            sides = self.sides(machine, names)
            lines = []
            for kernel, name in names.items():
                times = [reader.time(self.results.find(kernel, n, machine=machine)) for n in sides]
                lines.append([name] + [f"{1e6 * t.value / n / n:.2f}" if t else "-" for n, t in zip(sides, times)])
            text += Table(f"{self.label(machine)}: ns per element, n × n floats, measured", ["n"] + sides, lines).markdown()
        return text or missing("the serial functions, on a CPU")

    def table_steps(self):
        columns = [(m, n) for m, n in ((m, self.best_side(m)) for m in self.gpus) if n]
        if not columns:
            return missing("all steps at one size, on any machine")
        lines = []
        for kernel, idea in IDEAS.items():
            folder = next(s for s in STEPS if kernel in step_file(s).read_text())
            lines.append([int(folder[4:6]), f"`{kernel}`", idea] + [cell(reader.bandwidth(self.results.find(kernel, n, machine=m))) for m, n in columns])
        copies = [cell(reader.bandwidth(self.results.find("cudaMemcpy", n, machine=m))) for m, n in columns]
        if set(copies) != {"-"}:
            lines.insert(0, ["", "`cudaMemcpy`", "the card's own copy", *copies])
        return Table("Effective bandwidth in GB/s, floats", ["step", "kernel", "the idea"] + [f"{self.label(m)}, {n}²" for m, n in columns], lines, texts=3).markdown()

    def counts(self, kernels):
        rows = [r for r in self.results.rows if r["backend"] == "sim" and r["kernel"] in kernels and r["type"] == "float" and r["width"] == r["height"]]
        latest = {}
        for r in sorted(rows, key=lambda r: int(r["width"])):
            latest[r["machine"], r["kernel"]] = r
        lines = [[f"`{r['kernel']}`", f"{r['machine']}, {r['width']}²", r["global_load_requests"], ratio(r, "global_load_transactions", "global_load_requests"),
                  r["global_store_requests"], ratio(r, "global_store_transactions", "global_store_requests"), ratio(r, "shared_load_wavefronts", "shared_load_requests"),
                  ratio(r, "shared_store_wavefronts", "shared_store_requests"), r["busiest_partition_of_stores"] or "-"]
                 for r in sorted(latest.values(), key=lambda r: (kernels.index(r["kernel"]), r["machine"]))]
        if not lines:
            return missing("the simulator's counts of this step")
        return Table("Counted", ["kernel", "for", "loads", "cost", "stores", "cost", "tile loads cost", "tile stores cost", "busiest partition, stores"], lines,
                     "Requests of warps; their average cost is in sectors of 32 bytes (GTX 280: transactions) and, in the tile, in wavefronts.", texts=2).markdown()

    def times(self, kernels):
        lines = []
        for machine in self.gpus:
            n = self.best_side(machine) or max(self.sides(machine, kernels), default=None)
            for kernel in kernels:
                row = self.results.find(kernel, n, machine=machine) if n else None
                if reader.time(row):
                    share = f"{float(row['bandwidth_percent_of_memcpy']):.0f} %" if row["bandwidth_percent_of_memcpy"] else "-"
                    lines.append([f"`{kernel}`", f"{self.label(machine)}, {n}²", cell(reader.time(row)), cell(reader.bandwidth(row)), share, row["model_limit"] or "-"])
        if not lines:
            return missing("times of this step, measured or modelled")
        return Table("Measured and modelled", ["kernel", "on", "ms", "GB/s", "of cudaMemcpy", "limited by"], lines, texts=2).markdown()

    def steps(self):
        text = ""
        for step in STEPS:
            begin, sections = page(step)
            title, idea = begin.lstrip("# ").split("\n", 1)
            kernels = [k for k in IDEAS if re.search(rf"\b{k}\b\(", step_file(step).read_text())]
            text += f"### {title}\n\n{idea.strip()}\n\n{kernel_code(step)}\n#### Predict\n\n{sections['Predict']}\n\n"
            text += f"#### What happens\n\n{self.counts(kernels)}\n{self.times(kernels)}\n#### Explain\n\n{sections['Explain']}\n\n"
            name, picture, caption = picture_of(sections)
            if name not in ("bandwidth_steps", "predicted_measured"):  # they have a place of their own
                text += f"{self.figure(name, picture)}\n{caption}\n\n"
            if step.split("_")[0] in SECOND:
                name, picture, caption = SECOND[step.split("_")[0]]
                text += f"{self.figure(name, picture)}\n{caption}\n\n"
        return text

    def over_sides(self, what, title, unit):
        text = ""
        for machine in self.gpus:
            names = [*IDEAS, *BOOK]
            sides = [n for n in self.sides(machine, names) if n & (n - 1) == 0 and 256 <= n <= 8192]
            lines = []
            for kernel in ["cudaMemcpy", *names]:
                found = [what(self.results.find(kernel, n, machine=machine)) for n in sides]
                if any(found):
                    lines.append([f"`{kernel}`"] + [cell(f) for f in found])
            for cpu in self.cpus if machine.backend == "cuda" or len(self.gpus) == 1 or machine == self.gpus[0] else []:
                for kernel in ("transposeSerialRead", "transposeSerialWrite"):
                    found = [what(self.results.find(kernel, n, machine=cpu)) for n in sides]
                    if any(found):
                        lines.append([f"`{kernel}`, one core"] + [cell(f) for f in found])
            if lines and len(sides) > 1:
                text += Table(f"{title}: {unit}, n × n floats, {self.label(machine)}", ["n"] + sides, lines).markdown() + "\n"
        return text or missing("the steps at several sizes")

    def table_times(self):
        return self.over_sides(reader.time, "Table 1", "ms")

    def table_bandwidths(self):
        return self.over_sides(reader.bandwidth, "Table 2", "GB/s")

    def table_whitepaper(self):
        columns = [m for m in self.gpus if self.results.find("W5", 2048, machine=m)]
        rows = [r for r in self.published if r["source"] == "whitepaper" and r["quantity"] == "bandwidth"]
        lines = []
        for source_row in dict.fromkeys(r["source_row"] for r in rows):
            there = {r["machine"]: f"{float(r['value']) * GIB:.1f}" for r in rows if r["source_row"] == source_row}
            line = [next(r["kernel"] for r in rows if r["source_row"] == source_row)] + [there.get(m, "-") for m in PUBLISHED_ON]
            for m in columns:
                row = self.results.find(source_row, 2048, machine=m)
                line.append(cell(reader.bandwidth(row)))
                if m.backend == "cuda":
                    line.append(f"{float(row['one_launch_bandwidth_gbs']):.0f}" if row and row["one_launch_bandwidth_gbs"] else "-")
            lines.append(line)
        heading = ["kernel"] + [f"{m}, published" for m in PUBLISHED_ON]
        for m in columns:
            heading += [self.label(m)] + (["the same, passes in one launch"] if m.backend == "cuda" else [])
        return Table("Effective bandwidth in GB/s, 2048 × 2048 floats (published in GiB/s, converted)", heading, lines, tables.editions(rows)).markdown()

    def published_tables(self, make, rows):
        """The tables that tables.py makes of one source, for each machine that has times of these rows of it; without a GPU, its models."""
        text = ""
        for machine in [m for m in self.gpus if m.backend == "cuda"] or self.gpus:
            host = judging.host(self.results, machine)
            own = reader.Results([r for r in self.results.all if machine.has(r) or (host and host.has(r))], [])
            if any(reader.time(own.find(row, n, machine=machine)) for row, sides in rows.items() for n in sides):
                text += f"Here: {self.label(machine)}.\n\n" + "\n".join(table.markdown() for table in make(own)) + "\n"
        return text or missing("its kernels, timed on a GPU")

    def table_book(self):
        return self.published_tables(lambda own: tables.book(self.published, own), {"B7": judging.BOOK})

    def table_post(self):
        return self.published_tables(lambda own: tables.bandwidth_post(self.published, own, self.results), {"F1": [4096]})

    def gallery(self):
        try:
            faults = sorted(gallery.gallery(), key=lambda fault: int(fault.id[1:]))
        except RuntimeError as error:
            return missing(f"the gallery ({error})")
        return "\n".join(f"**{f.id}, `{f.kernel}`** ({f.source}; `./{f.program} --errata --kernel {f.kernel}`). {f.story}\n\n"
                         f"- Caught{' on {1} rows × {0} columns'.format(*f.shape) if f.shape else ''}: {f.finding}\n"
                         f"- Corrected: `{f.corrected}`: {f.verdict}\n" for f in faults)

    def claims(self):
        """A line per claim and machine that can tell; if none can, why not."""
        judged = {m: claims.judge(self.results, m) for m in self.gpus + self.cpus}
        if not judged:
            return missing("anything to judge the claims by")
        lines = []
        for verdicts in zip(*judged.values()):
            told = [(m, v) for m, v in zip(judged, verdicts) if v.verdict != "cannot be told here"]
            told = [(m, v) for m, v in told if m in self.cpus] or told  # what is said of a CPU is not its GPU's to tell
            reason = next((v for v in verdicts if v.figures and not v.sentence.startswith("Missing")), verdicts[0])
            for i, (machine, v) in enumerate(told or [(None, reason)]):
                lines.append([v.number, f"{v.claim} ({v.source})", self.label(machine) if machine else "-", f"**{v.verdict}**", v.sentence] if i == 0 else
                             ["", "", self.label(machine), f"**{v.verdict}**", v.sentence])
        return Table("", ["", "claim", "on", "verdict", "figures"], lines, texts=5).markdown()

    def exercises(self):
        return "".join(f"**Step {int(s[4:6])}.** {page(s)[1]['Exercise']}\n\n" for s in STEPS)

    def figure(self, name, text):
        """A figure if it was made; the reason why not otherwise."""
        if not self.no_figure[name]:
            return f"![{text}](figures/{name}.svg)\n"
        return missing(f"a figure ({self.no_figure[name]})")

    def fill(self, template):
        captions = {"bandwidth_steps": "Effective bandwidth of every step, beside the copies", "bandwidth_over_n": "Effective bandwidth over the side of the matrix",
                    "time_per_element": "Time per element over the side of the matrix", "predicted_measured": "The model's time of each step's kernel against the measured one"}
        # One GPU fits into a figure: the first. The others have their tables.
        gpus = [m.name for m in self.machines if m.backend == "cuda"]
        rows = [r for r in self.results.all if r["backend"] != "cuda" or r["machine"] == gpus[0]]
        self.explorables, undone = explorables.data()
        self.no_figure = figures.draw_all(self.out / "figures", dict.fromkeys(figures.FIGURES, rows), *take_traces(figures.RUNS),
                                            self.explorables, undone)
        what = {"machines": self.about_machines, "serial code": self.serial_code, "table serial": self.table_serial, "table steps": self.table_steps, "steps": self.steps,
                "table times": self.table_times, "table bandwidths": self.table_bandwidths, "table whitepaper": self.table_whitepaper, "table book": self.table_book,
                "table post": self.table_post, "gallery": self.gallery, "claims": self.claims, "exercises": self.exercises}

        def replace(match):
            name = match.group(1)
            return self.figure(name[7:], captions[name[7:]]) if name.startswith("figure ") else what[name]()

        return re.sub(r"\{\{(.*?)\}\}", replace, template)


STYLE = """
p, li { overflow-wrap: anywhere; }
body { font: 17px/1.55 Georgia, 'Times New Roman', serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 54rem; padding: 1rem; }
h1, h2, h3, h4, table, th, td { font-family: Helvetica, Arial, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { margin-top: 2rem; }
pre, .table { overflow-x: auto; } .table table { min-width: 32rem; } pre { background: var(--code); padding: .7rem; font-size: 13px; line-height: 1.4; }
code { font-family: Menlo, Consolas, monospace; font-size: .88em; } pre code { font-size: inherit; }
table { border-collapse: collapse; font-size: 13px; margin: .5rem 0 1rem; } th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { border-bottom: 2px solid var(--muted); text-align: left; } td[style] { white-space: nowrap; } img { max-width: 100%; height: auto; display: block; margin: 1rem auto; }
"""


def inline(name, path, text, caption):
    """A figure as a part of a page, where its names are its own. An explorable in its place takes the caption's place, too."""
    svg = path.read_text(encoding="utf-8")
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg[svg.index("<svg"):])
    svg = re.sub(r'(<image\b[^>]*?) id="[^"]*"', r"\1", svg)  # two panels may show the same
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{html.escape(text)}"', 1)
    explorable = explorables.IN_PLACE_OF.get(name)
    if not explorable:
        return f'<figure class="still">{svg}</figure>{caption or ""}'
    return f'<div class="explorable" data-explorable="{explorable}"><figure class="still">{svg}<figcaption>{caption or ""}</figcaption></figure></div>'


def to_html(text, folder, made):
    """One page that needs nothing else: figures, and what makes them explorable, inside it."""
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists"])
    body = body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
    body = re.sub(r'<p><img alt="([^"]*)" src="figures/(\w+)\.svg" /></p>(\n<p>(?!<img).*?</p>)?',
                  lambda m: inline(m.group(2), folder / f"figures/{m.group(2)}.svg", html.unescape(m.group(1)), m.group(3)), body, flags=re.DOTALL)
    title = html.escape(text.split("\n")[0].lstrip("# "))
    return (f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{title}</title>\n<style>{STYLE}{explorables.style()}</style>\n</head>\n<body>\n{body}\n{explorables.script(made)}</body>\n</html>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULTS.csv")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "report", metavar="DIR")
    options = parser.parse_args()
    results = reader.load(options.results)
    for problem in results.problems:
        print(f"report.py: {problem}", file=sys.stderr)
    if not results.rows:
        print("report.py: no results are left to report", file=sys.stderr)
        return 2
    (options.out / "figures").mkdir(parents=True, exist_ok=True)
    chapter = Chapter(results, options.out)
    text = chapter.fill((ROOT / "plots/chapter.md").read_text())
    (options.out / "chapter.md").write_text(text)
    (options.out / "chapter.html").write_text(to_html(text, options.out, chapter.explorables))
    print((options.out / "chapter.html").resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
