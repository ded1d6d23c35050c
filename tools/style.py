#!/usr/bin/env python3
"""How the pages are written: colons between clauses, and phrases that the house style forbids.

usage: python3 tools/style.py [PAGE.md...]

Prints the sentences of all pages, or of those named, that have a colon in the middle or such a phrase. A sentence is
prose: of paragraphs, list items and captions. Code, headings, tables and their notes are none. Exits 1 if a page
has a phrase, or a colon in more than one sentence of ten.
"""

import pathlib
import re
import sys

from lessons import ROOT
import command_line
import quoted

COLONS = 0.1

PHRASES = [
    r"(?:is|are|was|be) told", r"told as", r"under way", r"as it is\b(?! [a-z]+ed)", r"what is left", r"the like\b",
    r"so it does", r"of its own\b", r"\bnobody\b", r"\bsomebody\b", r"what [\w `]{1,30} says? of", r"goes? the way of",
    r"has it that", r"to be had", r"at hand\b", r"\bbe it\b", r"in vain", r"\bbesides?\b", r"wherefore", r"thereby",
    r"\breckon", r"a higher tile|higher than wide", r"until then", r"for nothing", r"difference to\b"]
FORBIDDEN = re.compile("|".join(PHRASES), re.IGNORECASE)


def pages():
    """Every page in English that a user reads."""
    return sorted(path for pattern in ("*.md", "docs/[A-Z]*.md", "step*/*.md", "lab/*.md", "plots/*.md",
                                       "plots/data/*.md", "tests/data/*.md", "common/**/*.md", "sim/*.md", "bench/*.md",
                                       ".github/*.md")
                  for path in ROOT.glob(pattern))


def paragraphs(text):
    """The prose of a page, a paragraph or list item each, without marks."""
    text = re.sub(r"<!--.*?-->", "", quoted.TABLE.sub("", text), flags=re.DOTALL)
    text = re.sub(r"^```.*?^```", "\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\{\{.*?\}\}", "", text)
    text = re.sub(r"^(?:    +(?![-*\d]).*|#.*|\|.*|<.*)$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        block = re.sub(r"^\s*(?:[-*]|\d+\.) +", "", block)
        block = re.sub(r"[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", "", " ".join(block.split()))
        if block:
            yield block


def sentences(text):
    """The sentences of a page. A colon or semicolon at a paragraph's end introduces what follows."""
    for block in paragraphs(text):
        for sentence in re.split(r"(?<=[.!?])[)\"]?\s+(?=[A-Z\d(\"“ÄÖÜ])", block):
            if len(re.findall(r"[^\W_]+", sentence)) >= 3:
                yield sentence


def joins_clauses(sentence):
    """Whether a colon stands in its middle that introduces no list, formula or piece of code."""
    return any(not re.match(r":\s+(?:CODE\b|[^.;]*,[^.]*\b(?:and|or)\b|\d|[\w ]{1,20}$)", sentence[m.start():])
               for m in re.finditer(r":(?=\s\S)", sentence))


def judge(text):
    """(share of sentences with a colon, [(why, sentence)...] to look at, the number of phrases)."""
    every = list(sentences(text))
    colons = [("colon", s) for s in every if joins_clauses(s)]
    phrases = [(f"“{m[0]}”", s) for s in every for m in FORBIDDEN.finditer(s)]
    return len(colons) / max(1, len(every)), colons + phrases, len(phrases)


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    over = False
    for path in parser.parse_args().pages or pages():
        try:
            share, remarks, phrases = judge(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            sys.exit(f"style.py: {path}: {error}")
        over |= share > COLONS or phrases > 0
        for why, sentence in remarks:
            print(f"{path}: {why}: {sentence}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
