"""Puts the chapter together: plots/chapter.md with every `{{part}}` in its place."""

import re

import claims
import explorables
import figures
import gallery
from pages import EXERCISED, ROOT, STEPS, page, picture_of, plain
from facts import LESSONS
from sources.judging import UNTOLD
from tables import Table
from traces import take_traces

from . import code, numbering
from .captions import CAPTIONS, ELSEWHERE, FURTHER
from .data import Shown
from .prose import Prose
from .tables import Tables, missing, numbered

GLOSSARY, PRIMER = ROOT / "docs/GLOSSARY.md", ROOT / "docs/GPU.md"
TABLE = re.compile(r"^\|.*\n\|[-:| ]+\|\n(?:\|.*\n)+", re.MULTILINE)
# the caption in italics below
FIGURE = re.compile(r"^!\[([^]]*)\]\((?:\.\./)*plots/figures/svg/(\w+)\.svg\)$(?:\n\n\*([^*]+)\*$)?", re.MULTILINE)


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
        rows = [r for r in self.shown.results.all if r["backend"] != "cuda" or machine.has(r)]
        self.explorables, undone = explorables.data()
        self.no_figure = figures.draw_all(self.out / "figures", dict.fromkeys(figures.FIGURES, rows),
                                          *take_traces(figures.RUNS), self.explorables, undone)

    def figure(self, name, notice=None):
        """A figure with its caption, or why there is none. notice: how to read it, if the caption's own words are not
        to say so."""
        if name in self.placed:
            return f"See [[figure {name}]].\n"
        self.placed.add(name)
        caption = CAPTIONS[name]
        begin = f"<!-- figure: {name} -->\n\n**Figure.** {caption.plots}"
        words = notice or caption.notice
        if self.no_figure[name]:
            return f"{begin}\n\n{missing(f'a figure ({self.no_figure[name]})')}\n<!-- /figure -->\n"
        return (f"{begin} <!-- notice --> {' '.join(words.split())} <!-- /notice "
                f"-->\n\n![{caption.alt}](figures/{name}.svg)\n\n<!-- /figure -->\n")

    def figures_of(self, text):
        """The text of a page with its figures as the chapter's."""
        return FIGURE.sub(lambda m: self.figure(m[2], m[3]) if m[2] in CAPTIONS else "", text)

    def primer(self):
        """"A GPU in ten minutes", if the project has it."""
        if not PRIMER.exists():
            return ""
        text = plain(PRIMER.read_text(encoding="utf-8"), lambda target: link(target, "gpu"))
        return f"## A GPU in ten minutes\n\n{self.figures_of(demoted(text, 'gpu')).strip()}\n"

    def glossary(self):
        if not terms():
            return ""
        return ("## Glossary\n\nNumbers are those of an NVIDIA H200 unless another card is "
                f"named.\n\n{demoted(plain(glossary_terms(), lambda target: link(target, 'term')), 'term').strip()}\n")

    def steps(self):
        text = ""
        for step in STEPS:
            short, number = step.split("_")[0], int(step[4:6])
            begin, sections = page(step, link, lambda name: self.tables.rungs() if name == "rungs" else "")
            title, idea = begin.lstrip("# ").split("\n", 1)
            # The page's line of GB/s is an H200's; the chapter's own is that of the machine shown.
            idea = "\n\n".join(
                part for part in idea.strip().split("\n\n") if not (part.startswith("**") and "→" in part))
            kernels = [lesson.kernel for lesson in LESSONS if lesson.step == step]
            text += (f'<a id="step-{number}"></a>\n\n### {title}\n\n{idea.strip()}\n\n{self.prose.step(number)}\n\n'
                     f'{self.figures_of(sections["The kernel"])}\n\n'
                     f"#### The whole kernel\n\n{code.kernels(step)}\n#### Predict\n\n{sections['Predict']}\n\n"
                     '<details>\n<summary>Explain<span class="screen">: open it when you have written your answers '
                     f'down</span></summary>\n\n{self.figures_of(sections["Explain"])}\n\n'
                     f"</details>\n\n#### What happens\n\n{self.tables.counts(number, kernels)}\n"
                     f"{self.tables.times(number, kernels)}\n")
            name, _, words = picture_of(sections)
            for figure, notice in ((name, words), *((further, None) for further in FURTHER.get(short, ()))):
                if figure not in ELSEWHERE:
                    text += f"{self.figure(figure, notice)}\n"
        return text

    def gallery(self):
        try:
            faults = sorted(gallery.gallery(), key=lambda fault: int(fault.id[1:]))
        except RuntimeError as error:
            return missing(f"the gallery ({error})")
        return "\n".join(f"**{f.id}, `{f.kernel}`** ({f.source}; `./{f.program} --errata --kernel {f.kernel}`). "
                         f"{f.story}\n\n"
                         f"- Caught{' on {1} rows × {0} columns'.format(*f.shape) if f.shape else ''}: {f.finding}\n"
                         f"- Corrected: `{f.corrected}`: {f.verdict}\n" for f in faults)

    def claims(self):
        """A line per claim and machine that can tell; if none can, why not."""
        shown = self.shown
        judged = {m: claims.judge(shown.results, m) for m in [*shown.gpus, *shown.models, *shown.cpus]}
        caption = ("The claims of the sources, with a verdict computed from the results above and the figures that "
                   "decide it.")
        if not judged:
            return numbered("claims", caption, missing("anything to judge the claims by"))
        lines, first = [], []
        for verdicts in zip(*judged.values()):
            told = [(m, v) for m, v in zip(judged, verdicts) if v.verdict != UNTOLD]
            # what is said of a CPU is not its GPU's to tell
            told = [(m, v) for m, v in told if m in shown.cpus] or told
            reason = next((v for v in verdicts if v.figures and not v.sentence.startswith("Missing")), verdicts[0])
            first.append(told[0][1] if told else reason)
            for i, (machine, v) in enumerate(told or [(None, reason)]):
                on = "-" if not machine else f"{machine.name}, model" if machine.backend == "sim" else machine.name
                line = [v.number if i == 0 else "", f"{v.claim} ({v.source})" if i == 0 else "", on,
                        f"**{v.verdict if v.verdict != UNTOLD else 'not decided here'}**", v.sentence]
                lines.append([re.sub(r"__\w+(?:\(\))?", r"`\g<0>`", cell) for cell in line])
        note = ("An interval after ± is the spread of the samples (10th to 90th percentile) or the error of the "
                "model. A verdict holds for the whole interval.")
        return self.prose.claims(first) + "\n" + numbered(
            "claims", caption, Table("", ["", "claim", "on", "verdict", "figures"], lines, texts=5), note)

    def exercises(self):
        return "".join(f"**Step {int(s[4:6])}.** {page(s, link)[1]['Exercise']}\n\n" for s in EXERCISED)

    def part(self, name):
        tables, prose = self.tables, self.prose
        parts = {
            "abstract": prose.abstract, "machines": prose.machines, "primer": self.primer, "glossary": self.glossary,
            "serial code": code.serial, "table serial": tables.serial, "table steps": tables.steps, "steps": self.steps,
            "table sizes": tables.sizes, "table whitepaper": tables.whitepaper, "table gtx280": tables.gtx280,
            "table book": tables.book, "table post": tables.post, "gallery": self.gallery, "claims": self.claims,
            "exercises": self.exercises, "conclusions": prose.conclusions}
        kind, _, which = name.partition(" ")
        if kind == "figure":
            return self.figure(which)
        return getattr(prose, which)() if kind == "about" else parts[name]()

    def fill(self, template):
        """The chapter as Markdown."""
        self.draw()
        text = re.sub(r"\{\{(?!contents|references)(.*?)\}\}", lambda m: self.part(m[1]), template)
        text, found = numbering.headings(numbering.cite(numbering.number(text)))
        return re.sub(r"\n{3,}", "\n\n", text.replace("{{contents}}", numbering.contents(found)))
