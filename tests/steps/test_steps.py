"""Every step has a page for readers: the same sections, code that is in its files, commands that run, one small table,
and a question from page to page. What is not on it is in VARIANTS.md, a sentence for each kernel, and in
docs/PROFILING.md."""

import csv
import re
import shlex
import sys

import pytest

from conftest import step
from lessons import LESSONS, ROOT, STEPS
from samples import ALL

sys.path.insert(0, str(ROOT / "plots"))
import quoted

SECTIONS = ["The kernel", "Predict", "Run", "Explain", "Picture", "Exercise", "Next"]
FOLDERS = {path.name[:6]: path for path in sorted(ROOT.glob("step[0-9][0-9]_*"))}
EVERY = list(FOLDERS)  # with step 8, whose kernels need several GPUs
TEXT = {program: (FOLDERS[program] / "README.md").read_text() for program in EVERY}

of_one_gpu = pytest.mark.parametrize("program", STEPS)
of_all = pytest.mark.parametrize("program", EVERY)


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


def visible(text):
    """Without the sources of figures."""
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


@of_one_gpu
def test_sections(program):
    assert list(sections(program)) == SECTIONS
    titles = re.findall(r"^# .*$", re.sub(r"^```.*?^```$", "", TEXT[program], flags=re.MULTILINE | re.DOTALL),
                        re.MULTILINE)
    (title,) = titles
    assert re.match(rf"# Step {int(program[-2:])}: \w", title) and TEXT[program].startswith(title)
    assert 2 <= len(re.findall(r"^\d\. ", sections(program)["Predict"], re.MULTILINE)) <= 4


def lines_of(code):
    return [normalised(line) for line in code.splitlines() if line.strip()]


@of_all
def test_listings_are_complete(program):
    """Lines that follow each other on the page do so in a file of the step. Where some are left out, there is a …"""
    real = [lines_of(path.read_text()) for path in FOLDERS[program].glob("*.cu")]
    (listing,) = blocks(TEXT[program], "cuda")
    for part in re.split("^…$", listing, flags=re.MULTILINE):
        lines = lines_of(part)
        assert any(lines == file[at:at + len(lines)] for file in real for at in range(len(file))), part


@of_one_gpu
def test_commands_run(program):
    (make, *built), *found = commands(program)
    printed = ""
    assert any(name == f"./{program}" for name, *_ in found)
    # The first line builds every program that the page runs.
    assert make == "make" and {name[2:] for name, *_ in found} == set(built)
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


@of_all
def test_one_table_of_six_rows(program):
    """Each page has one table, of what its text discusses. Columns without figures are left out."""
    assert re.findall(r"<!--(?! =\s).*", TEXT[program]) == ["<!-- end -->"]
    assert len(quoted.TABLE.findall(sections(program)["Explain"])) == 1
    without_code = re.sub(r"^```.*?^```$", "", TEXT[program], flags=re.MULTILINE | re.DOTALL)
    _, _, *rows = [line for line in without_code.splitlines() if line.startswith("|")]
    assert 2 <= len(rows) <= 6
    said = quoted.without_sources(TEXT[program])
    for row in rows:  # by its name, or as the kernel of its step; the page itself is about its own lesson
        kernel = re.match(r"\| `(\w+)`", row)[1]
        lesson_of = LESSONS.get(kernel, "")
        assert (kernel in said or lesson_of == program
                or lesson_of and re.search(rf"\b[Ss]tep {int(lesson_of[-2:])}\b", said)), row
    if program not in ("step07", "step08"):
        assert not any("| - |" in row for row in rows)


@of_all
def test_every_other_kernel_has_a_sentence(program, tmp_path):
    """VARIANTS.md says of each kernel that is neither a lesson nor faulty what it shows, and has the table of all."""
    path = FOLDERS[program] / "VARIANTS.md"
    text, listed = path.read_text(), tmp_path / "list.csv"
    assert step(program, "--list", "--csv", listed).returncode == 0
    kernels = [row["kernel"] for row in csv.DictReader(listed.open())
               if row["step"] == FOLDERS[program].name and row["role"] not in ("lesson", "faulty")]
    items = dict(re.findall(r"^- `(\w+)`((?:[^\n]|\n  )+)", text, re.MULTILINE))
    assert list(items) == re.findall(r"^- `(\w+)`", text, re.MULTILINE) and sorted(items) == sorted(kernels)
    for kernel, words in items.items():
        assert len(visible(words).split()) >= 6 and words.rstrip().endswith((".", "µs.", "GB/s.")), kernel
    assert "(VARIANTS.md" in TEXT[program]
    for line in quoted.without_sources(text).splitlines():
        assert len(line) <= 140, line


@of_all
def test_picture_and_links(program):
    (picture,) = re.findall(r"^!\[(.+)\]\((\.\./plots/figures/svg/\w+\.svg)\)$",
                            sections(program)["Picture"], re.MULTILINE)
    assert len(picture[0]) > 40  # says what is to be seen
    for link in re.findall(r"(?<!!)\[[^]]*\]\((?!http)([^)#]+)\)", re.sub(r"!\[.*", "", TEXT[program])):
        assert (FOLDERS[program] / link).exists(), link
