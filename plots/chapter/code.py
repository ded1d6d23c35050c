"""Kernels taken out of their sources, and what makes one differ from the one before it."""

import difflib
import re

from pages import ROOT, STEPS

# The step whose kernel a step's first kernel was made from.
MADE_FROM = {"step02": "step01", "step03": "step02", "step04": "step03", "step05": "step04", "step06": "step04"}


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
    """The kernels of a step as Markdown, and what makes the first of them differ from the step it was made from."""
    found = functions(step_file(step), "__global__ void")
    text = "```cuda\n" + "\n".join(found) + "```\n"
    earlier = MADE_FROM.get(step.split("_")[0])
    if not earlier:
        return text
    (before,) = [s for s in STEPS if s.startswith(earlier)]
    old = functions(step_file(before), "__global__ void")[0]
    changed = difflib.unified_diff(neutral(old), neutral(found[0]), n=0, lineterm="")
    lines = [line for line in changed if not line.startswith(("---", "+++", "@@")) and line.strip("+-")]
    return text + f"\nWhat changes from step {int(earlier[4:])}:\n\n```diff\n" + "\n".join(lines) + "\n```\n"


def serial():
    return "```cpp\n" + "\n".join(functions(ROOT / "step02_naive/serial.cpp", "void transposeSerialRead")) + "```\n"
