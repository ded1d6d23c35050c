#!/usr/bin/env python3
"""How the pages are written, in figures: the lengths of sentences, colons between clauses, and phrases that shared
style forbids.

usage: python3 tools/style.py [--sentences] [PAGE.md...]

For each page, or those named: its sentences, their mean length in words, the share with a colon in the middle, and the
phrases found. A sentence is prose: of paragraphs, list items and captions. Code, tables, headings and generated parts
are none. --sentences prints those with a colon and those with a phrase. Exits 1 if a page has a phrase, or a colon in
more than one sentence of ten. No length is a limit: whoever reads a page aloud hears it.
"""

import pathlib
import re
import sys

from lessons import ROOT
import command_line

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
    text = re.sub(r"<!-- generated.*?<!-- end -->", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
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


def words(sentence):
    """How many words a sentence has; a number and its unit, and a piece of code, are one each."""
    return len(re.findall(r"[^\W_][\w’'.,²³×%-]*", sentence))


def joins_clauses(sentence):
    """Whether a colon stands in its middle that introduces no list, formula or piece of code."""
    return any(not re.match(r":\s+(?:CODE\b|[^.;]*,[^.]*\b(?:and|or)\b|\d|[\w ]{1,20}$)", sentence[m.start():])
               for m in re.finditer(r":(?=\s\S)", sentence))


def judge(text):
    """(number of sentences, mean words, share with a colon, [phrase found...], [(why, sentence)...])."""
    every = list(sentences(text))
    remarks = [("colon", s) for s in every if joins_clauses(s)]
    remarks += [(f"“{m[0]}”", s) for s in every for m in FORBIDDEN.finditer(s)]
    mean = sum(map(words, every)) / len(every) if every else 0
    return len(every), mean, sum(map(joins_clauses, every)) / max(1, len(every)), [
        m[0] for s in every for m in FORBIDDEN.finditer(s)], remarks


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--sentences", action="store_true", help="print the sentences to look at")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    over, total, length, colons = False, 0, 0, 0
    print("sentences   words   colons   phrases   page")
    for path in arguments.pages or pages():
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            sys.exit(f"style.py: {path}: {error}")
        count, mean, share, phrases, remarks = judge(text)
        over |= share > COLONS or bool(phrases)
        total, length, colons = total + count, length + count * mean, colons + count * share
        print(f"{count:9}   {mean:5.1f}   {100 * share:4.0f} %   {len(phrases):7}   "
              f"{path.resolve().relative_to(ROOT) if path.resolve().is_relative_to(ROOT) else path}")
        for why, sentence in remarks if arguments.sentences else []:
            print(f"    {why}: {sentence}")
    print(f"{total:9}   {length / max(1, total):5.1f}   {100 * colons / max(1, total):4.0f} %             all")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
