"""Puts the chapter together, the lesson plots/chapter.md and the reference plots/reference.md, with every `{{part}}` in
its place."""

import functools
import re

import explorables
import figures
import gallery
from pages import EXERCISED, FIGURE, ROOT, STEPS, page, plain
from facts import LESSONS
from outside import markdown
from sources.judging import UNTOLD, judge
from sources.table import CLAIMS
from tables import Table
from traces import take_traces

from . import code, numbering
from .data import Shown
from .prose import Prose
from .tables import Tables, missing, numbered

GLOSSARY, PRIMER = ROOT / "docs/GLOSSARY.md", ROOT / "docs/GPU.md"
IN_THE_LESSON = (1, 2, 3, 4)  # steps whose kernels it shows, or what they change
TABLE = re.compile(r"^\|.*\n\|[-:| ]+\|\n(?:\|.*\n)+", re.MULTILINE)


def glossary_terms():
    """The glossary's section of terms; '' without a glossary."""
    found = re.search(r"^## Terms\n(.*?)(?=^## |\Z)",
                      GLOSSARY.read_text(encoding="utf-8") if GLOSSARY.exists() else "", re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def terms():
    """The anchors of the glossary."""
    return {numbering.slug(term) for term in re.findall(r"^### (.*)$", glossary_terms(), re.MULTILINE)}


def link(target, inside=None):
    """Where a link of a page leads in the chapter, or None. inside: the prefix of anchors of the page that has the
    link."""
    path, _, anchor = target.partition("#")
    if path.endswith("GLOSSARY.md") or (not path and inside == "term"):
        return (f"#term-{anchor}" if anchor in terms() else None) if anchor else "#glossary" if terms() else None
    if path.endswith("GPU.md") or (not path and inside == "gpu"):
        text = PRIMER.read_text(encoding="utf-8") if PRIMER.exists() else ""
        anchors = {numbering.slug(h) for h in re.findall(r"^##+ (.*)$", text, re.MULTILINE)}
        return f"#gpu-{anchor}" if anchor in anchors else "#a-gpu-in-ten-minutes" if PRIMER.exists() else None
    step = re.search(r"step0([1-7])_\w+/(README\.md)?$", path)
    return f"#step-{step[1]}" if step else None


def demoted(text, prefix):
    """The body of a page that becomes a section: its title is gone, other headings are of level 3 and can be linked to,
    tables have a caption."""
    text = re.sub(r"^# .*\n+", "", text)

    def caption(match):
        above = re.findall(r"^##+ (.*)$", text[:match.start()], re.MULTILINE)
        number = len(TABLE.findall(text[:match.start()])) + 1
        return numbered(f"{prefix}-{number}", f"{above[-1] if above else 'Overview'}.", match[0])
    text = TABLE.sub(caption, text)
    return numbering.outside_code(
        text,
        lambda part: re.sub(r"^(##+) (.*)$", lambda m: f'<a id="{prefix}-{numbering.slug(m[2])}"></a>\n\n### {m[2]}',
                            part, flags=re.MULTILINE))


def linked(template):
    """A template, whose links lead to files of the project, with links that lead to the same in the chapter."""
    def target(match):
        path, _, anchor = match[1].partition("#")
        if path.startswith("../"):
            return f"]({link(match[1])})"
        return f"](#{anchor})" if anchor else f"]({path.removesuffix('.md')}.html)"
    return re.sub(r"\]\(((?:\.\./)?[\w/]+\.md(?:#[\w-]+)?)\)", target, template)


def named(machine):
    return f"model of the {machine.name}" if machine.backend == "sim" else machine.name


def marked_names(text):
    """Names of CUDA's functions as code, which Markdown would take for bold type."""
    return re.sub(r"__\w+(?:\(\))?", r"`\g<0>`", text)


class Chapter:
    """given: results.Results; out: the folder that the figures go to."""

    def __init__(self, given, out):
        self.out = out
        self.shown = Shown(given)
        self.tables = Tables(self.shown)
        self.prose = Prose(self.shown, self.tables)
        self.placed = set()

    def draw(self):
        """Draws the figures. One GPU fits into a figure: the one of the headline, or the first."""
        machine = self.shown.headline[0] or next(iter(self.shown.gpus), None)
        rows = [plain for plain, row in zip(self.shown.plain, self.shown.results.all)
                if row["backend"] != "cuda" or machine.has(row)]
        self.explorables, undone = explorables.data()
        self.no_figure = figures.draw_all(self.out / "figures", dict.fromkeys(figures.FIGURES, rows),
                                          *take_traces(figures.RUNS), self.explorables, undone)

    def figure(self, match):
        """A figure of a page with its number, or why there is none. What follows `<!-- notice -->` in its caption says
        how to read it where it cannot be explored."""
        alt, name, caption = match.groups()
        if name in self.placed:
            return f"See [[figure {name}]].\n"
        self.placed.add(name)
        plots, _, notice = " ".join(caption.split()).partition(" <!-- notice --> ")
        begin = f"<!-- figure: {name} -->\n\n**Figure.** {plots}"
        if self.no_figure[name]:
            return f"{begin}\n\n{missing(f'a figure ({markdown(self.no_figure[name])})')}\n<!-- /figure -->\n"
        return (f"{begin} <!-- notice --> {notice} <!-- /notice -->\n\n![{alt}](figures/{name}.svg)\n\n"
                "<!-- /figure -->\n")

    def primer(self):
        """"A GPU in ten minutes", if the project has it."""
        if not PRIMER.exists():
            return ""
        text = plain(PRIMER.read_text(encoding="utf-8"), lambda target: link(target, "gpu"))
        return f"## A GPU in ten minutes\n\n{FIGURE.sub(self.figure, demoted(text, 'gpu')).strip()}\n"

    def glossary(self):
        if not terms():
            return ""
        return ("## Glossary\n\nNumbers are those of an NVIDIA H200 unless another card is "
                f"named.\n\n{demoted(plain(glossary_terms(), lambda target: link(target, 'term')), 'term').strip()}\n")

    def kernels(self):
        """Those of the steps that the lesson does not have in full."""
        return "\n".join(
            f"### The kernels of step {number}: "
            + " and ".join(f"`{lesson.kernel}`" for lesson in LESSONS if lesson.step == step)
            + f"\n\n{code.kernels(step)}"
            for step in STEPS for number in [int(step[4:6])] if number not in IN_THE_LESSON)

    def gallery(self):
        try:
            faults = sorted(gallery.gallery(), key=lambda fault: int(fault.id[1:]))
        except RuntimeError as error:
            return missing(f"the gallery ({markdown(error)})")
        return "\n".join(f"**{f.id}, `{f.kernel}`** ({f.source}; `./{f.program} --errata --kernel {f.kernel}`). "
                         f"{f.story}\n\n"
                         f"- Caught{' on {1} rows × {0} columns'.format(*f.shape) if f.shape else ''}: "
                         f"{markdown(f.finding)}\n"
                         f"- Corrected: `{f.corrected}`: {markdown(f.verdict)}\n" for f in faults)

    @functools.cached_property
    def judged(self):
        """For each claim: [(machine, verdict)...] of those that can tell; if none can, [(None, why not)]."""
        shown, found = self.shown, []
        judged = {m: [judge(claim, shown.results, m) for claim in CLAIMS]
                  for m in [*shown.gpus, *shown.models, *shown.cpus]}
        for verdicts in zip(*judged.values()):
            told = [(m, v) for m, v in zip(judged, verdicts) if v.verdict != UNTOLD]
            # what is said of a CPU is not its GPU's to tell
            told = [(m, v) for m, v in told if m in shown.cpus] or told
            reason = next((v for v in verdicts if v.figures and not v.sentence.startswith("Missing")), verdicts[0])
            found.append(told or [(None, reason)])
        return found

    def claims_in_short(self):
        return self.prose.claims([told[0][1] for told in self.judged])

    def claims(self):
        """A table with the verdicts, and below it a paragraph per claim with the figures behind them."""
        lines, figures_behind = [], ""
        for told in self.judged:
            claim, on = told[0][1].claim, {}
            for machine, v in told:
                on.setdefault(v.verdict, []).append(named(machine) if machine else "")
            words = [f"**{what}**" + (f" ({', '.join(names)})" if names[0] else "") for what, names in on.items()]
            lines.append([claim.number, claim.words, claim.source, ", ".join(words)])
            figures_behind += (f'<a id="claim-{claim.number}"></a>**{claim.number}.** '
                               + " ".join(filter(None, [*(v.sentence for _, v in told), claim.why])) + "\n\n")
        lines = [[marked_names(cell) for cell in line] for line in lines]
        caption = "The claims of the sources, with a verdict computed from the results above."
        note = ("A verdict holds for the whole interval after ±. It is the spread of the samples (10th to 90th "
                "percentile) or the error of the model. The figures behind each verdict stand below.")
        table = numbered("claims", caption, Table("", ["", "claim", "source", "verdict"], lines, texts=4), note)
        table = re.sub(r"^\| (\d+\w*) \|", r"| [\1](#claim-\1) |", table, flags=re.MULTILINE)
        return (self.claims_in_short() + "\n" + table
                + "\n### The figures behind the verdicts\n\nEach paragraph begins with the results here. After "
                  "*Published* it has the source's own figures, with the verdict on each of its cards. Where results "
                  f"are missing, it names the command that measures them.\n\n{marked_names(figures_behind)}")

    def exercises(self):
        return "".join(f"**Step {int(s[4:6])}.** {page(s, link)[1]['Exercise']}\n\n" for s in EXERCISED)

    def part(self, name):
        """What stands for {{NAME WORDS}}, made by the function of this name: of the part that a word before it says,
        or else of this class or Prose."""
        first, *words = name.split()
        of = {"table": self.tables, "about": self.prose, "code": code}.get(first)
        if of is None:
            of, words = self if hasattr(self, first) else self.prose, [first, *words]
        return getattr(of, words[0])(*words[1:])

    def fill(self, templates):
        """The parts of the chapter, {name: template}, as Markdown."""
        self.draw()
        filled = {name: re.sub(r"\{\{(?!contents)(.*?)\}\}", lambda m: self.part(m[1]),
                               FIGURE.sub(self.figure, linked(template))) for name, template in templates.items()}
        return {name: re.sub(r"\n{3,}", "\n\n", text) for name, text in numbering.whole(filled).items()}
