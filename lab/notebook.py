#!/usr/bin/env python3
"""Writes lab/transpose.ipynb, the walkthrough as a notebook, from the steps' pages and their exercises.

usage: python3 lab/notebook.py [--url URL] [--out FILE] [--check]

The notebook runs in Google Colab with its free GPU, or in any Jupyter. Its first cell clones the project and builds it; nothing else needs setting up.
--url: the git repository to clone, for a notebook that is opened alone. Without it, open the notebook inside the project.
--check writes nothing and exits 1 if the notebook is stale.
"""

import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
import whole  # noqa: E402: after its folder is known
from pages import ROOT, STEPS, page, picture_of  # noqa: E402

WELCOME = """# CUDA matrix transpose, step by step

Seven steps lead from a copy to a transpose at the speed of memory. Each step asks you to *predict* something, then runs it, then explains it. Write your
answers down before you run a cell. With a GPU (in Colab: *Runtime*, *Change runtime type*, *T4 GPU*), the notebook measures the kernels on it. Without
one, a simulator counts what they cost. Run the next cell first, once."""
SET_UP = '''URL = {url!r}  # where the project is; leave it empty if you opened this notebook inside the project

import os, pathlib, shutil, subprocess

here = next((p for p in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents] if (p / "step01_copy").is_dir()), None)
if here is None:
    if not URL:
        raise SystemExit("The project is not here. Set URL to its git repository, or open this notebook inside the project.")
    subprocess.run(["git", "clone", "--depth", "1", URL, "transpose"], check=True)
    here = pathlib.Path("transpose").resolve()
os.chdir(here)
if shutil.which("nvidia-smi") and not shutil.which("nvcc"):
    os.environ["PATH"] += ":/usr/local/cuda/bin"
subprocess.run(["make", "-s", "all"], check=True)
print(subprocess.run(["./step01", "--size", "256"], capture_output=True, text=True, check=True).stdout.split("\\n")[0])'''


def cell(number, kind, text):
    """One cell of nbformat 4.5; ids must be unique, and the same on every run."""
    common = {"cell_type": kind, "id": f"cell-{number:03}", "metadata": {}, "source": text.splitlines(keepends=True)}
    return common if kind == "markdown" else {**common, "execution_count": None, "outputs": []}


def cells_of(step):
    """(kind, text) of each cell."""
    begin, sections = page(step)
    short = step.split("_")[0]
    yield "markdown", f"#{begin}\n\n### The kernel\n\n{sections['The kernel']}\n\n### Predict\n\n{sections['Predict']}"
    commands, remarks = re.search(r"```sh\n(.*?)```(.*)", sections["Run"], re.DOTALL).groups()
    yield "code", f"%%bash\nmake -s {short}\n" + "\n".join(f"echo; echo '$ {line.split('#')[0].strip()}'; {line}" for line in commands.strip().splitlines())
    yield "markdown", f"{remarks.strip()}\n\n<details><summary><b>Explain</b>: open this after you have predicted and run</summary>\n\n{sections['Explain']}\n\n</details>"
    name, alt, words = picture_of(sections)
    yield "code", f'from IPython.display import SVG\n\nSVG("plots/figures/svg/{name}.svg")  # {alt}'
    yield "markdown", words
    yield "markdown", f"### Exercise\n\n{sections['Exercise']}\n\nEdit the next cell and run it. Then run the cell below it, which checks your kernel. Repeat as often as you like."
    for file in sorted((ROOT / step).glob("exercise*.cu")):
        yield "code", f"%%writefile {step}/{file.name}\n{file.read_text(encoding='utf-8').rstrip()}"
        yield "code", f"!make -s lab{file.stem.removeprefix('exercise') or short[4:]} || true"


def notebook(url):
    texts = [("markdown", WELCOME), ("code", SET_UP.format(url=url)), *(found for step in STEPS for found in cells_of(step))]
    cells = [cell(number, kind, text) for number, (kind, text) in enumerate(texts, 1)]
    return {"cells": cells, "metadata": {"accelerator": "GPU", "colab": {"provenance": []}, "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                         "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="the git repository to clone")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "lab/transpose.ipynb", metavar="FILE")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the notebook is stale")
    options = parser.parse_args()
    text = json.dumps(notebook(options.url), indent=1, ensure_ascii=False) + "\n"
    if options.check:
        fresh = options.out.exists() and options.out.read_text(encoding="utf-8") == text
        if not fresh:
            print(f"notebook.py: {options.out} is stale; run python3 lab/notebook.py", file=sys.stderr)
        return 0 if fresh else 1
    whole.write(options.out, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
