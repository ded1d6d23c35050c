"""Kernels taken out of their sources, and what makes one differ from the one before it, its name and remarks apart."""

import difflib
import re

from pages import ROOT, STEPS

# The step whose kernel a step's first kernel was made from.
MADE_FROM = {"step02": "step01", "step03": "step02", "step04": "step03", "step06": "step04"}


def step_file(step):
    return ROOT / step / f"{step.split('_')[0]}.cu"


def functions(path, begin):
    """The function templates of a source file whose second line begins so, whole."""
    return re.findall(rf"^template <typename T[^>\n]*>\n{begin}.*?^}}\n", path.read_text(encoding="utf-8"),
                      re.MULTILINE | re.DOTALL)


def neutral(kernel):
    """A kernel's lines without its name, which changes from step to step, and without remarks behind the code."""
    return re.sub(r"(?<=\S) +//.*", "", re.sub(r"(__global__ void )\w+", r"\1...", kernel)).splitlines()


def kernels(step):
    """The kernels of a step as Markdown."""
    return "```cuda\n" + "\n".join(functions(step_file(step), "__global__ void")) + "```\n"


def kernel(name):
    """One kernel of a step as Markdown."""
    (found,) = (text for step in STEPS for text in functions(step_file(step), "__global__ void") if f" {name}(" in text)
    return f"```cuda\n{found}```\n"


def change(program):
    """What makes the first kernel of a step (step02) differ from that of the step it was made from, as Markdown."""
    old, new = (functions(step_file(step), "__global__ void")[0] for name in (MADE_FROM[program], program)
                for step in STEPS if step.startswith(name))
    changed = difflib.unified_diff(neutral(old), neutral(new), n=0, lineterm="")
    lines = [line for line in changed
             if not line.startswith(("---", "+++", "@@")) and line.strip("+-") and not re.match(r"- *//", line)]
    return "```diff\n" + "\n".join(lines) + "\n```\n"


def serial():
    return "```cpp\n" + "\n".join(functions(ROOT / "step02_naive/serial.cpp", "void transposeSerialRead")) + "```\n"
