"""The pages of the steps, in parts, for documents that are read away from the repository: the chapter and the
notebook."""

import pathlib
import re

import quoted

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The steps whose kernels run on one GPU. Each has an exercise of its own number. Step 8 has exercise 9, and several
# GPUs.
STEPS = sorted(path.parent.name for path in ROOT.glob("step[0-9][0-9]_*/exercise.cu"))
# All steps with an exercise, which runs without GPUs, however many it is for.
EXERCISED = sorted({path.parent.name for path in ROOT.glob("step[0-9][0-9]_*/exercise*.cu")})
LINK = re.compile(r"(?<!!)\[([^]]*)\]\((?!http)([^)]*)\)")
# A figure with the text for who does not see it, its name, and the caption in italics below.
FIGURE = re.compile(r"^!\[([^]]*)\]\((?:\.\./)*(?:plots/)?figures/svg/(\w+)\.svg\)$"
                    r"(?:\n\n\*((?:[^*]|\*[\w ]+\*)+)\*$)?", re.MULTILINE)


def plain(text, link=None):
    """A page's text without what only the repository needs: the tables of figures, their sources, and the links but for
    those that `link` knows. It gives the target in the document for one in the repository, or None."""
    where = link or (lambda target: None)
    return LINK.sub(lambda m: f"[{m[1]}]({where(m[2])})" if where(m[2]) else m[1], quoted.without_sources(text))


def captions():
    """{figure: (its text for who does not see it, its caption)} of the chapter and of the page about GPUs."""
    return {name: (alt, " ".join(caption.replace("<!-- notice --> ", "").split()))
            for page in ("plots/chapter.md", "plots/reference.md", "docs/GPU.md")
            for alt, name, caption in FIGURE.findall((ROOT / page).read_text(encoding="utf-8"))}


def page(step, link=None):
    """(title and what stands below it, {heading: section}) of a step's README.md, plain. `step`: the folder's name."""
    begin, *rest = re.split(r"^## (.*)\n",
                            plain((ROOT / step / "README.md").read_text(encoding="utf-8"), link),
                            flags=re.MULTILINE)
    return begin.strip(), {heading: body.strip() for heading, body in zip(rest[::2], rest[1::2])}
