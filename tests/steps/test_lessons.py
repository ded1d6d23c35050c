"""The lesson is the difference: neighbouring steps differ by their optimization and nothing else."""

import difflib
import re

import pytest

import facts
from lessons import LESSONS, ROOT, kernels


def code(path):
    """The lines of a lesson without comments and blank lines, its kernel's names made neutral."""
    text = re.sub(r"//.*", "", (ROOT / path).read_text())
    for kernel in LESSONS:
        text = re.sub(rf"\b{kernel}\b", "KERNEL_NAME", text)
    text = re.sub(r'(KERNEL\(KERNEL_NAME, )"[^"]*"', r'\1"ROW"', text)
    text = re.sub(r"\blaunch[A-Z]\w*", "LAUNCHER", text)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def changes(before, after):
    return [line for line in difflib.unified_diff(code(before), code(after), n=0, lineterm="")
            if not line.startswith(("---", "+++", "@@"))]


def test_padding_is_one_line():
    assert changes("step03_coalesced/step03.cu", "step04_padding/step04.cu") == [
        "-    __shared__ T tile[TILE_DIM][TILE_DIM];",
        "+    __shared__ T tile[TILE_DIM][TILE_DIM + 1];",
    ]


def test_diagonal_is_the_block_reordering():
    lines = changes("step04_padding/step04.cu", "step06_diagonal/step06.cu")
    removed = [line[1:].strip() for line in lines if line[0] == "-"]
    added = [line[1:].strip() for line in lines if line[0] == "+"]
    # What goes is blockIdx where tiles are located; what comes back in its place is bx and by.
    assert sorted(re.sub(r"\bblockIdx\.([xy])", r"b\1", line) for line in removed) == \
        sorted(line for line in added if "TILE_DIM" in line)
    assert all(re.search(r"\b(bx|by|bid|width == height|else)\b", line) or line in "{}" for line in added), added


def test_naive_is_the_copy_with_one_index_changed():
    copy = code("step01_copy/step01.cu")
    first_kernel = copy[:copy.index(next(line for line in copy if line.startswith("KERNEL(")))]
    naive = code("step02_naive/step02.cu")
    lines = [line for line in difflib.unified_diff(first_kernel, naive, n=0, lineterm="")
             if line[0] in "+-" and not line.startswith(("---", "+++")) and "KERNEL(" not in line]
    assert lines == [
        "-            odata[size_t(y + j) * width + x] = idata[size_t(y + j) * width + x];",
        "+            odata[size_t(x) * height + (y + j)] = idata[size_t(y + j) * width + x];",
    ]


@pytest.mark.parametrize("path", sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("step*_*/*.c*")))
def test_a_step_knows_nothing_of_back_ends(path):
    text = (ROOT / path).read_text()
    directives = re.findall(r"^#\s*(\w+) (.*)", text, re.MULTILINE)
    assert directives[-1] == ("include", '"../common/step.h"')
    assert all(name == "include" and (file[0] == "<" and path.endswith(".cpp")) for name, file in directives[:-1])
    step = path.split("_")[0]
    number = re.search(r"/exercise(\d*)\.cu", path)
    assert (f"make lab{number[1] or step[4:]}" if number else f"make {step} && ./{step}") in text
    assert max(len(line) for line in text.splitlines()) <= 120


def test_the_list_of_lessons_is_that_of_the_programs():
    """Each lesson has a row of common/lessons.csv, in the order of the steps, and each row is a lesson; the programs
    give its idea."""
    listed = [(row["step"], row["kernel"], row["idea"]) for row in kernels("lesson")]
    assert listed == [tuple(lesson) for lesson in facts.LESSONS]
    assert all(idea for *_, idea in listed) and not any(row["idea"] for row in kernels("variant", "faulty"))
