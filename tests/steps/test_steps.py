"""Every step has a page for readers: the same sections, code that is in its files, commands that run."""

import csv
import re
import shlex

import pytest

from conftest import step
from lessons import LESSONS, ROOT, STEPS
from samples import ALL

SECTIONS = ["The kernel", "Predict", "Run", "Explain", "Profile", "Picture", "Exercise"]
FOLDERS = {path.name[:6]: path for path in ROOT.glob("step[0-9][0-9]_*")}
TEXT = {program: (FOLDERS[program] / "README.md").read_text() for program in STEPS}

pytestmark = pytest.mark.parametrize("program", STEPS)


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def sections(program):
    """The page's sections: their headings and what is below them. A # in a block of code is no heading."""
    text = re.sub(r"^```.*?^```$", lambda code: re.sub("^#", " #", code[0], flags=re.MULTILINE), TEXT[program],
                  flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"^###", text, re.MULTILINE)
    return dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))


def commands(program):
    """The commands of the Run section, without their comments."""
    for block in blocks(sections(program)["Run"], "sh"):
        for line in block.splitlines():
            if command := shlex.split(line, comments=True):
                yield command


def normalised(line):
    return " ".join(line.split())


def test_sections(program):
    headings = list(sections(program))
    assert headings in (SECTIONS, SECTIONS + ["History"])
    titles = re.findall(r"^# .*$", re.sub(r"^```.*?^```$", "", TEXT[program], flags=re.MULTILINE | re.DOTALL),
                        re.MULTILINE)
    (title,) = titles
    assert re.match(rf"# Step {int(program[-2:])}: \w", title) and TEXT[program].startswith(title)
    assert 2 <= len(re.findall(r"^\d\. ", sections(program)["Predict"], re.MULTILINE)) <= 4


def test_every_question_is_answered(program):
    numbers = {part: re.findall(r"^(\d)\. ", sections(program)[part], re.MULTILINE) for part in ("Predict", "Explain")}
    assert numbers["Predict"] == numbers["Explain"]
    for number in numbers["Predict"]:
        assert re.search(rf"# ([\d, ]*\b){number}\b|[Qq]uestions? [^.]*\b{number}\b", sections(program)["Run"]), number


def test_page_is_short(program):
    """Two screens, beside the tables."""
    lines = re.sub(r"<!-- (?:= .*?|generated.*?<!-- end) -->", "", TEXT[program], flags=re.DOTALL).splitlines()
    assert len(lines) <= 100
    for line in lines:
        assert len(line) <= 120 or line.startswith("!["), line


def test_quoted_lines_exist(program):
    real = {normalised(line) for path in FOLDERS[program].glob("*.cu") for line in path.read_text().splitlines()}
    quoted = blocks(TEXT[program], "cuda")
    assert quoted
    for line in "".join(quoted).splitlines():
        assert normalised(line) in real or not line.strip(), line


def test_commands_run(program):
    found, printed = list(commands(program)), ""
    assert any(name == f"./{program}" for name, *_ in found)
    # Every program it runs, the page says how to build; the README says it of the steps' own.
    assert all(name == f"./{program}" or re.search(rf"`make [^`]*{name[2:]}", sections(program)["Run"])
               for name, *_ in found)
    for name, *arguments in found:
        assert re.fullmatch(r"\./step\d\d", name), name
        shown = arguments if ALL else [re.sub("^(8192|4096)$", "1024", argument) for argument in arguments]
        done = step(name[2:], *shown)
        assert done.returncode == 0 and done.stderr == "", (name, arguments, done.stderr)
        printed += done.stdout
        # what the model says there is committed, and test_machines.py holds it to the programs
        if {"8192", "4096"} & {*arguments} and not ALL:
            printed += "".join(row["model_limit"]
                               for row in csv.DictReader((ROOT / "plots/data/h200_model.csv").open())
                               if LESSONS[row["kernel"]] == name[2:])
    # What the page says that the model says, it says.
    for limit in re.findall(r"`((?:DRAM|L2)[^`]*)`", sections(program)["Explain"]):
        assert limit in printed, limit


def test_generated_tables_have_a_place(program):
    marks = re.findall(r"^<!-- (.*) -->$", TEXT[program], re.MULTILINE)
    tables = ["rungs"] * (program == "step07") + [f"results {program}", f"profile {program}"]
    assert marks == [mark for table in tables for mark in (f"generated: {table}", "end")]
    assert len(re.findall(r"<!--(?! = )", TEXT[program])) == len(marks)
    assert "<!-- generated" in sections(program)["Explain"] and "<!-- generated" in sections(program)["Profile"]


def test_picture_and_links(program):
    (picture,) = re.findall(r"^!\[(.+)\]\((\.\./plots/figures/svg/\w+\.svg)\)$",
                            sections(program)["Picture"], re.MULTILINE)
    assert len(picture[0]) > 40  # says what is to be seen
    for link in re.findall(r"(?<!!)\[[^]]*\]\((?!http)([^)#]+)\)", re.sub(r"!\[.*", "", TEXT[program])):
        assert (FOLDERS[program] / link).exists(), link
