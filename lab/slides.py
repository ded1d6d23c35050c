#!/usr/bin/env python3
"""Writes the slides of the lesson of 90 minutes: python3 lab/slides.py [--out FILE] (default: report/slides.html)

They follow the plan in lab/README.md, and take code, pictures and exercise from the steps' pages, words from the
glossary and figures from plots/data. A word is defined and a question asked before anything that uses or answers it.
The file needs no network. Keys: right, space or page down for the next slide; left or page up for the last
one; home and end. Printed, each slide is a page. Exit status: 0; 2 if the guide, a page or the data lacks what a slide
shows.
"""

import html
import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
import command_line
import notebook
import policy
import quoted
import whole
from chapter import markup
from chapter.page import inline
from facts import LESSONS
from pages import ROOT, STEPS, captions, page, plain
from words import definition

GUIDE = ROOT / "lab/README.md"
SHAPE = ("float", "16384")
COUNTED_AT = {"type": "float", "width": "2048", "height": "2048"}
# Figures that no step's page has: at the beginning of a step, and after the answer to its last question.
BEFORE = {"step01_copy": ("gpu", "A launch starts a grid of blocks. Each block runs on one SM, in warps of 32 "
                                 "threads."),
          "step02_naive": ("transpose", "A transpose exchanges rows and columns. Element (x, y) of `idata` becomes "
                                        "element (y, x) of `odata`.")}
AFTER = {"step03_coalesced": ("race", "The barrier of `step03.cu` is taken out. Nothing makes one warp wait for "
                                      "another, so a read can come before the write that it needs.")}


@dataclass
class Slide:
    kind: str       # the class of its element
    title: str
    text: str       # Markdown
    foot: str = ""  # where in the plan
    figure: str = ""


@dataclass
class Part:
    """A line of the plan."""
    begin: int   # minute
    end: int
    what: str
    asked: list  # [(question, answer)]; the last line of the plan has text instead
    text: str


def plan(guide):
    """The parts of the lesson of 90 minutes. ValueError: the guide has no such table."""
    match = re.search(r"^\*\*90 minutes\.\*\*.*?\n\n((?:\|[^\n]*\n)+)", guide, re.MULTILINE | re.DOTALL)
    if not match:
        raise ValueError(f"{GUIDE.relative_to(ROOT)}: no table follows **90 minutes.**")
    parts, begin = [], 0
    for line in match[1].splitlines()[2:]:
        minutes, what, ask = [cell.strip() for cell in plain(line).strip("|").split("|")]
        asked = re.findall(r'"([^"]+)" \(((?:[^()]|\([^()]*\))*)\)', ask)
        parts.append(Part(begin, begin + int(minutes), what, asked, ask))
        begin = parts[-1].end
    return parts


def sentence(text):
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".?!" else ".")


def code_of(sections, name):
    """The first block of code of a section."""
    return textwrap.dedent(re.search(r"```\w*\n(.*?)```", sections[name], re.DOTALL)[1]).rstrip()


def commands(code):
    """The same commands, each below its remark: lines are short, and letters large. The numbers of the page's questions
    go, because the slides ask fewer."""
    pairs = [re.match(r"(.*?)(?:\s+# (.*))?$", line).groups() for line in code.splitlines()]
    remarks = [re.sub(r"^\d(, \d)*(: |$)", "", remark or "") for _, remark in pairs]
    return "\n".join(f"# {remark}\n{command}" if remark else command for (command, _), remark in zip(pairs, remarks))


def words_of(part):
    """The words that a part of the plan brings."""
    return [word for word in part.what.partition(": ")[2].split(", ") if word]


def lessons_of(step):
    """The kernels that the programs of this step and those before it are about, in order."""
    until = STEPS.index(step)
    return [lesson.kernel for lesson in LESSONS if lesson.step in STEPS[:until + 1]]


def mean_cost(row, above, below):
    return f"{int(row[above]) / int(row[below]):.0f}" if int(row[below]) else "-"


def numbers(step):
    """Counts and bandwidths of the lessons up to this step, as Markdown. Wavefronts are counted from step 4 on, which
    asks about them. ValueError: they are not in the data."""
    tile = step >= "step04"
    lines = [
        f"| kernel | sectors per load | per store |{' wavefronts per tile load |' if tile else ''} GB/s | "
        "of `cudaMemcpy` |", f"|---|--:|--:|{'--:|' if tile else ''}--:|--:|"]
    for kernel in lessons_of(step):
        counts, (gbs, share) = quoted.only("h200_profile", kernel=kernel, **COUNTED_AT), (
            quoted.number(f"{kind} {kernel} {' '.join(SHAPE)}") for kind in ("gbs", "share"))
        costs = [mean_cost(counts, f"global_{way}_sectors", f"global_{way}_requests") for way in ("load", "store")]
        if tile: costs += [mean_cost(counts, "shared_load_wavefronts", "shared_load_instructions")]
        lines.append(f"| `{kernel}` | {' | '.join(costs)} | **{gbs}** | {share} |")
    return "\n".join(lines) + ("\n\nH200. GB/s: measured, 16384 × 16384 float. Counts: Nsight Compute, 2048 × 2048 "
                               "float.")


def gain_of(step):
    """What a step gains, and why: the line in bold at the top of its page."""
    opening = page(step)[0].lstrip("# ").partition("\n")[2]
    found = re.search(r"^\*\*.*?(?=\n\n|\Z)", opening.strip(), re.MULTILINE | re.DOTALL)[0]
    return re.sub(r"[*]", "", quoted.without_sources(found)).replace("\n", " ")


def figures_of(step):
    """[(figure, what it shows, words)] of the figures of a step's page."""
    return notebook.pictures_in("\n\n".join(page(step)[1].values()))


def pictured(figures, step, foot):
    """The slide of a step's figure, if it has one there."""
    if step in figures:
        name, words = figures[step]
        yield Slide("picture", captions()[name][0], words, foot, name)


def slides_of_step(step, part, foot):
    begin, sections = page(step)
    title = begin.lstrip("# ").partition("\n")[0]
    words = words_of(part)
    yield Slide("part", title,
                "\n\n".join([f"Minutes {part.begin} to {part.end}", *([f"New: {', '.join(words)}"] if words else [])]),
                foot)
    yield from pictured(BEFORE, step, foot)
    if words:
        yield Slide("words", "New words", "\n".join(["| | |", "|---|---|", *(
            f"| **{word}** | {definition(word)} |" for word in words)]), foot)
    yield Slide("code", "The kernel", f"```\n{code_of(sections, 'The kernel')}\n```", foot)
    for question, answer in part.asked:
        yield Slide("question", "Predict", question, foot)
        yield Slide("answer", question, sentence(answer), foot)
    yield from pictured(AFTER, step, foot)
    yield Slide("code", "Run", f"```\n{commands(code_of(sections, 'Run'))}\n```\n\n`{step}/README.md` asks more about "
                               "this output, and answers it.", foot)
    for name, seen, words in figures_of(step):
        yield Slide("picture", seen, words, foot, name)
    yield Slide("numbers", gain_of(step), numbers(step), foot)


def summary(steps):
    """The last slides: every step's bandwidth in one picture, and the idea that changed it."""
    name, seen, words = notebook.summary()
    yield Slide("picture", seen, words, "summary", name)
    rows = []
    for step in steps:
        idea = [lesson.idea for lesson in LESSONS if lesson.step == step][-1]
        rows.append(f"| {int(step[4:6])} | {gain_of(step).partition(' (')[0]} | {sentence(idea)} |")
    yield Slide("summary", f"Summary: {len(steps)} steps, one idea each",
                "\n".join(["| step | H200, measured | the idea |", "|--:|---|---|", *rows]) +
                "\n\n16384 × 16384 float. First count what a warp asks for, then look at the time.", "summary")


def deck(guide):
    """All slides, in order."""
    parts = plan(guide)
    yield Slide("part title", "CUDA matrix transpose", "Memory of a GPU, step by step: predict, run, explain\n\n"
                "Next slide: → or a click. Back: ←")
    lines = [f"| {part.begin} | {part.what[:1].upper() + part.what[1:]} |" for part in parts]
    yield Slide("plan", f"{parts[-1].end} minutes", "\n".join(["| minute | |", "|--:|---|", *lines]))
    taught = []
    for part in parts:
        foot = f"{part.what.partition(':')[0]}, minutes {part.begin} to {part.end}"
        match = re.match(r"(step|exercise) (\d)", part.what)
        (step,) = [s for s in STEPS if match and s.startswith(f"step{int(match[2]):02}_")] or [None]
        if match and match[1] == "step":
            taught.append(step)
            yield from slides_of_step(step, part, foot)
        elif match:
            yield Slide("part", f"Exercise {match[2]}", f"Minutes {part.begin} to {part.end}", foot)
            yield Slide("exercise", f"Exercise {match[2]}", f"`{step}/exercise.cu`\n\n{page(step)[1]['Exercise']}",
                        foot)
        else:
            yield Slide("question", sentence(part.what).rstrip("."), sentence(part.text), foot)
    yield from summary(taught)


STYLE = """
* { box-sizing: border-box; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
:root { --ink: #1a1a1a; --muted: #595959; --line: #d0d0d0; --blue: #0072b2; --code: #f3f3ef; }
html { font: min(2.6vw, 4.6vh)/1.35 Helvetica, Arial, sans-serif; color: var(--ink); background: #fff; }
body { margin: 0; }
.slide { position: relative; width: 100vw; height: 100vh; padding: 1.4rem 2rem 1.6rem; overflow: hidden; display: flex;
  flex-direction: column; justify-content: center; }
.live .slide { display: none; } .live .slide.now { display: flex; }
h1 { font-size: 1.35rem; line-height: 1.2; margin: 0 0 .8rem; color: var(--blue); } p { margin: .4rem 0; }
footer { position: absolute; left: 2rem; right: 2rem; bottom: .4rem; display: flex; justify-content: space-between;
  font-size: max(.5rem, 11px); color: var(--muted); }
.part { text-align: center; } .part h1 { font-size: 2.4rem; } .part p { font-size: 1.2rem; color: var(--muted); }
.title p:last-of-type { font-size: .7rem; margin-top: 2rem; }
.question h1 { color: var(--muted); } .question p { font-size: 2rem; line-height: 1.3; }
.answer h1 { color: var(--muted); font-weight: normal; }
.answer p { font-size: 2.2rem; line-height: 1.25; color: var(--blue); font-weight: bold; }
.exercise p { font-size: 1.15rem; }
code { font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .9em; background: var(--code);
  padding: 0 .15em; }
pre { background: var(--code); border-left: .25rem solid var(--blue); margin: 0; padding: .8rem 1rem;
  font-size: min(1rem, calc((100vw - 6.4rem) / (var(--columns) * .61)), calc((100vh - 7.3rem) / (var(--lines) * 1.3)));
  line-height: 1.3; }
pre + p { font-size: .7rem; color: var(--muted); margin-top: .8rem; }
pre code { font-size: 1em; padding: 0; }
table { border-collapse: collapse; font-size: .82rem; width: 100%; }
th, td { padding: .22rem .5rem; border-bottom: 1px solid var(--line); text-align: left; }
th { color: var(--muted); font-size: .7rem; vertical-align: bottom; }
.numbers p, .numbers h1 { font-size: 1.1rem; }
.numbers p { font-size: .62rem; color: var(--muted); margin-top: .8rem; }
.plan table { font-size: 1.05rem; }
.words table { font-size: .85rem; }
.summary table { font-size: .95rem; } .words td, .summary td { vertical-align: top; }
.words td:first-child { white-space: nowrap; width: 1%; color: var(--blue); }
.summary td:nth-child(2) { white-space: nowrap; }
.summary p { font-size: .85rem; color: var(--muted); margin-top: .8rem; }
.plan th, .words th { display: none; }
.plan td:first-child { width: 4rem; color: var(--muted); }
.numbers tbody tr:last-child { background: #e3f1fa; }
.picture { padding: .6rem 1rem 1.4rem; }
.picture svg { flex: 1; min-height: 0; width: 100%; } /* all that its words leave */
.picture p { font-size: .75rem; margin: .3rem 0 0; text-align: center; }
@media print {
  @page { size: 1280px 720px; margin: 0; } html { font-size: 33px; } .title p:last-of-type { display: none; }
  .slide, .live .slide { display: flex; width: 1280px; height: 720px; break-after: page; break-inside: avoid; }
  pre { font-size: min(1rem, calc(1068px / (var(--columns) * .61)), calc(479px / (var(--lines) * 1.3))); }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
@media screen and (max-width: 40rem) { /* a telephone: letters that can be read, a picture above its words */
  html { font-size: 15px; }
  .slide { padding: 1rem 1rem 2rem; overflow-y: auto; justify-content: safe center; }
  .part h1 { font-size: 1.8rem; } .question p, .answer p { font-size: 1.5rem; }
  pre { font-size: 11px; overflow-x: auto; }
  .picture svg { flex: none; height: auto; } .picture p { font-size: 1rem; }
  .numbers table { font-size: 11px; } .numbers th, .numbers td { padding: .2rem; }
  .numbers th, .numbers p { font-size: 10px; } .numbers th code { overflow-wrap: anywhere; }
}
"""
SCRIPT = """
const slides = [...document.querySelectorAll(".slide")];
document.body.classList.add("live");
let now = 1;
function go(n) {
  now = Math.min(Math.max(n || 1, 1), slides.length);
  history.replaceState(null, "", "#" + now);
  slides.forEach((slide, i) => slide.classList.toggle("now", i === now - 1));
}
const asked = () => go(parseInt(location.hash.slice(1)));
const moves = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, Enter: 1,
                ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Backspace: -1, Home: -Infinity, End: Infinity };
addEventListener("keydown", event => {
  if (!(event.key in moves) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  go(now + moves[event.key]);
});
addEventListener("click", event => {
  if (!getSelection().toString()) go(now + (event.clientX < innerWidth / 3 ? -1 : 1));
});
addEventListener("hashchange", asked);
asked();
"""


def element(slide, number, of):
    body = markup.to_html(slide.text)
    if slide.figure:
        body = inline(slide.figure, ROOT / f"plots/figures/svg/{slide.figure}.svg", slide.title) + f"<div>{body}</div>"
    lines = slide.text.split("```")[1].strip().splitlines() if slide.kind == "code" else [" "]
    title = markup.to_html(slide.title).removeprefix("<p>").removesuffix("</p>")
    heading = "" if slide.figure else f"<h1>{title}</h1>"
    return (f'<section class="slide {slide.kind}" id="slide-{number}" style="--columns: {max(map(len, lines))}; '
            f'--lines: {len(lines)}">\n{heading}\n{body}\n'
            f"<footer><span>{html.escape(slide.foot)}</span><span>{number} / {of}</span></footer>\n</section>")


def to_html(slides):
    """One page that needs nothing else."""
    body = "\n".join(element(slide, number, len(slides)) for number, slide in enumerate(slides, 1))
    return ('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"{policy.meta([STYLE], [SCRIPT], attributes=True)}\n"
            f"<title>{html.escape(slides[0].title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n"
            f"<script>{SCRIPT}</script>\n</body>\n</html>\n")


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "report/slides.html", metavar="FILE")
    options = parser.parse_args()
    text = to_html(list(deck(GUIDE.read_text(encoding="utf-8"))))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    whole.write(options.out, text)
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(whole.run(main, "slides", ValueError))
