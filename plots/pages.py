"""The pages of the steps, in parts, for documents that are read away from the repository: the chapter and the notebook."""

import pathlib
import re

import quoted

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = sorted(path.name for path in ROOT.glob("step[0-9][0-9]_*"))


def page(step):
    """(title and what stands below it, {heading: section}) of a step's README.md, without its generated parts and its
    links into the repository. `step`: the folder's name."""
    text = re.sub(r"<!-- generated.*?<!-- end -->\n*", "", quoted.without_sources((ROOT / step / "README.md").read_text()), flags=re.DOTALL)
    text = re.sub(r"(?<!!)\[([^]]*)\]\((?!http)[^)]*\)", r"\1", text)
    begin, *rest = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return begin.strip(), {heading: body.strip() for heading, body in zip(rest[::2], rest[1::2])}


def picture_of(sections):
    """(name, what is to be seen, how to read it) of the figure in a page's section Picture."""
    return (re.match(r"!\[(?P<seen>.*?)\]\(\.\./plots/figures/svg/(?P<name>\w+)\.svg\)\n*(?P<words>.*)", sections["Picture"], re.DOTALL)
            .group("name", "seen", "words"))
