"""Each sentence with a "because" is shown by data, a program or a file: because.csv names the page, some words of the
sentence, and an expression that must be true. In an expression, {...} is a figure as quoted.py has it, or `row FILE
COLUMN KEY=VALUE...` for a cell of text; near() compares two figures, run() is what a step prints on the simulator, and
text() a file's text. `unknown` stands for a sentence that says that we do not know."""

import csv
import functools
import re
import sys

import pytest

from conftest import step
from lessons import ROOT

sys.path.insert(0, str(ROOT / "plots"))
import quoted

PAGES = ["README.md", "docs/GPU.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("step*/README.md"))]
with (ROOT / "tests/plots/because.csv").open(encoding="utf-8", newline="") as lines:
    ROWS = list(csv.DictReader(lines))


@functools.lru_cache
def run(command):
    done = step(*command.split())
    assert done.returncode == 0, done.stderr
    return done.stdout


def text(path):
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())


def near(a, b, by=0.01):
    return abs(a - b) <= by * abs(b)


def figure(source):
    kind, *words = source.split()
    if kind != "row":
        return quoted.number(source).replace(",", "")
    file, column, *keys = words
    return repr(quoted.only(file, **dict(key.split("=", 1) for key in keys))[column])


def prose(page):
    """The page without marks, and without the parts that explain no measurement."""
    plain = re.sub(r"<!--.*?-->", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    plain = re.sub(r"^## (?:Quick start|Exercise)\n.*?(?=^## |\Z)", "", plain, flags=re.MULTILINE | re.DOTALL)
    plain = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", plain)
    return " ".join(re.sub(r"[*_`]", "", plain).split())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['page']}: {row['claim'][:40]}")
def test_a_reason_is_shown(row):
    assert " ".join(re.sub("[*_`]", "", row["claim"]).split()) in prose(row["page"]), row["claim"]
    if row["shown"] == "unknown":
        return
    # a set in an expression holds no source, and has a space or a bracket first
    expression = re.sub(r"\{(\w+ [^{}()]*)\}", lambda m: figure(m[1]), row["shown"])
    assert eval(expression, {"near": near, "run": run, "text": text}), expression


@pytest.mark.parametrize("page", PAGES)
def test_every_reason_is_listed(page):
    """And what nobody knows is said so, once, in these words."""
    known = [re.sub("[*_`]", "", row["claim"]) for row in ROWS if row["page"] == page]
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Z(\d])", prose(page)):
        if re.search(r"\bbecause\b(?!\")", sentence):
            assert any(claim in sentence for claim in known), sentence
    assert len(re.findall("do not know", prose(page))) <= 1
    assert not re.search(r"hypothes|not known|\bprobably\b", prose(page))
