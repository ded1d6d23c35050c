#!/usr/bin/env python3
"""Writes lab/transpose.ipynb, the walkthrough as a notebook, from the steps' pages and their exercises.

usage: python3 lab/notebook.py [--url URL] [--out FILE]       (make notebook URL=URL)

The notebook runs in Google Colab with its free GPU, or in any Jupyter. Its first cell gets the project and builds it;
nothing else needs setting up. git ignores it, because it is made of the pages; `make handout` packs one.
--url: the git repository to clone, for a notebook that is opened alone. Without it, the first cell takes the project
from around the notebook, from transpose.zip next to it, or from the GitHub repository that Colab opened it from.
"""

import json
import pathlib
import posixpath
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
import cells
import command_line
import whole
from pages import ROOT, STEPS, captions, page

WELCOME = """# CUDA matrix transpose, step by step

Steps 1 to 7 lead from a copy to a transpose at the speed of memory. A link on a word leads to the glossary. If you
have never programmed a GPU, read [A GPU in ten minutes]({primer}) first. Each step asks you to *predict* something,
then runs it, then explains it. Write your
predictions into the cell for them before you run the step. With a GPU (in Colab: *Runtime*, *Change runtime type*, \
*T4 GPU*), the notebook measures the
kernels on it. Without one, a simulator counts what they cost. Run the next cell first, once. It gets the project and \
builds it, which takes a few minutes."""
SET_UP = '''URL = {url!r}  # the project's git repository; leave it empty if the project or its transpose.zip is \
next to this notebook

import json, os, pathlib, re, shutil, subprocess, sys, urllib.parse, urllib.request, zipfile

IN_COLAB = "google.colab" in sys.modules

def project():
    """The folder of the project, or None."""
    here = pathlib.Path.cwd()
    return next((p for p in [here, *here.parents, here / "transpose"] if (p / "step01_copy").is_dir()), None)

def opened_from():
    """The GitHub repository that Colab opened this notebook from, or ''. Colab tells its kernels so, but does \
not document it."""
    try:
        address = f"http://{{os.environ['COLAB_JUPYTER_IP']}}:{{os.environ['KMP_TARGET_PORT']}}/api/sessions"
        path = json.load(urllib.request.urlopen(address, timeout=5))[0]["path"]
        found = re.search(r"github(?:\\.com)?/([\\w.-]+/[\\w.-]+)/blob/", urllib.parse.unquote(path))
    except (KeyError, IndexError, TypeError, OSError, ValueError):
        found = None
    return f"https://github.com/{{found[1]}}" if found else ""

def run(*command, why):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, \
encoding="utf-8", errors="replace")
    if done.returncode:
        raise SystemExit(f"{{why}} It said: {{done.stdout.strip()[-2000:]}}")
    return done.stdout

if not (shutil.which("g++") and shutil.which("make")):
    raise SystemExit("g++ or make is missing. Install both, then run this cell again.")
if not project() and pathlib.Path("transpose.zip").is_file():
    zipfile.ZipFile("transpose.zip").extractall()
if not project():
    URL = URL or opened_from()
    if not URL:
        raise SystemExit("The project is not here. Set URL to its git repository, or " + \
("upload transpose.zip with the folder symbol on the left" if IN_COLAB else "open this notebook inside the project") + \
", then run this cell again.")
    run("git", "clone", "--depth", "1", "--", URL, "transpose", why=f"{{URL}} could not be cloned.")
if not project():
    raise SystemExit(f"{{URL or 'transpose.zip'}} has no folder step01_copy, so it is not this project.")
os.chdir(project())
sys.path.insert(0, str(pathlib.Path("lab").resolve()))
if shutil.which("nvidia-smi") and not shutil.which("nvcc"):
    os.environ["PATH"] += ":/usr/local/cuda/bin"
run("make", "-s", "all", why="The project could not be built.")
from cells import compare, hand_in, predict, show, try_edit
print(run("./step01", "--size", "256", why="step01 failed.").split("\\n")[0])'''

# The edits that the pages ask for: file, what is there, what to write, and the command to run then.
EDITS = {
    "step03_coalesced": ("step03_coalesced/step03.cu", "__syncthreads();", "// __syncthreads();",
                         "./step03 --size 256 --device sim"),
    "step04_padding": ("step04_padding/step04.cu", "TILE_DIM + 1]", "TILE_DIM + 2]", "./step04 --size 256 --explain"),
}
# Step 8 is not in the notebook, because Colab has one GPU. Its exercise needs none.
SPREAD = "step08_gpus"
LAST = (f"# Several GPUs\n\nRead step 8 first, which is not in this notebook. Its page is `{SPREAD}/README.md` in "
        "the project.")
HAND_IN = """## Hand in

Write your name between the quotation marks and run the cell. It packs your exercises and predictions into one file. \
In Colab, your browser downloads it."""


def cell(number, kind, text):
    """One cell of nbformat 4.5; ids must be unique, and the same on every run."""
    common = {"cell_type": kind, "id": f"cell-{number:03}", "metadata": {}, "source": text.splitlines(keepends=True)}
    return common if kind == "markdown" else {**common, "execution_count": None, "outputs": []}


def predictions_of(step):
    """The source of two cells: one to write the predictions down, one to compare them with the counts."""
    lines = [f"    {json.dumps(quantity.what)}: None," for quantity in cells.QUANTITIES[step]]
    return "\n".join([
        "# Your predictions, before you run anything: write a number in the place of each None.",
        f'predict("{step}", {{', *lines, "})"]), f'compare("{step}")'


FIGURE = re.compile(r"^!\[([^]]*)\]\(\.\./plots/figures/svg/(\w+)\.svg\)\n*(.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


def pictures_in(text):
    """[(name, what is to be seen, how to read it)] of the figures in a part of a page, each with the paragraph below
    it."""
    return [(name, seen, words.strip("*")) for seen, name, words in FIGURE.findall(text)]


def summary():
    """The figure of all steps, in the same form. No page of a step has it, because it answers questions of later
    ones."""
    return "bandwidth_steps", *captions()["bandwidth_steps"]


def linked(step, url):
    """From the target of a link on a step's page to its target in the notebook: a page of the project, which lies
    around the notebook or at `url`."""
    def target(there):
        path, _, anchor = posixpath.normpath(posixpath.join(step, there)).partition("#")
        if not path.endswith(".md") or path.startswith(("tests/", "lab/")): return None
        where = f"{url.removesuffix('.git').rstrip('/')}/blob/HEAD/{path}" if "github.com" in url else f"../{path}"
        return f"{where}#{anchor}" if anchor else where
    return target


def cells_of(step, url, text_of):
    """(kind, text) of each cell. text_of: from the file of an exercise to its text."""
    begin, sections = page(step, linked(step, url))
    short = step.split("_")[0]
    yield from text_and_pictures(f"#{begin}\n\n### The kernel\n\n{sections['The kernel']}\n\n### Predict\n\n"
                                 f"{sections['Predict']}")
    write_down, look = predictions_of(short)
    yield "code", write_down
    commands, remarks = re.search(r"```sh\n(.*?)```(.*)", sections["Run"], re.DOTALL).groups()
    yield "code", f'show("{short}", """\n{commands.strip()}\n""")'
    yield "markdown", remarks.strip()
    if step in EDITS:
        yield "code", ("# The edit, which the cell undoes "
                       f"afterwards.\ntry_edit({', '.join(json.dumps(word) for word in EDITS[step])})")
    yield "code", look
    yield from text_and_pictures(f"<details><summary><b>Explain</b>: open this after you have predicted and "
                                 f"run</summary>\n\n{sections['Explain']}\n\n</details>")
    yield from text_and_pictures(sections.get("Picture", ""))
    yield from exercises_of(step, "### Exercise", url, text_of)


def text_and_pictures(text):
    """The text, then its figures."""
    words = FIGURE.sub("", text).strip()
    if words: yield "markdown", words
    yield from shown(pictures_in(text))


def shown(figures):
    """Cells of figures. They are code, because not every notebook finds a file from its text."""
    for name, seen, below in figures:
        yield "code", f'from IPython.display import SVG\n\nSVG("plots/figures/svg/{name}.svg")  # {seen}'
        if below: yield "markdown", below


def exercises_of(step, heading, url, text_of):
    task = page(step, linked(step, url))[1]["Exercise"]
    yield "markdown", (f"{heading}\n\n{task}\n\nEdit the next cell and run it. Then run the cell below it, which "
                       "checks your kernel. Repeat as often as you like.")
    for file in sorted((ROOT / step).glob("exercise*.cu")):
        yield "code", f"%%writefile {step}/{file.name}\n{text_of(file).rstrip()}"
        yield "code", f"!make -s lab{file.stem.removeprefix('exercise') or step[4:6]} || true"


def written(file):
    return file.read_text(encoding="utf-8")


def notebook(url, text_of=written):
    """The file's text."""
    welcome = WELCOME.replace("{primer}", linked("lab", url)("../docs/GPU.md"))
    texts = [("markdown", welcome), ("code", SET_UP.format(url=url)),
             *(found for step in STEPS for found in cells_of(step, url, text_of)),
             *exercises_of(SPREAD, LAST, url, text_of),
             ("markdown", "# All steps"), *shown([summary()]), ("markdown", HAND_IN), ("code", 'hand_in("")')]
    made = {"cells": [cell(number, kind, text) for number, (kind, text) in enumerate(texts, 1)],
            "metadata": {"accelerator": "GPU", "colab": {"provenance": []},
                         "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}},
            "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--url", default="", help="the git repository to clone")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "lab/transpose.ipynb", metavar="FILE")
    options = parser.parse_args()
    whole.write(options.out, notebook(options.url))
    return 0


if __name__ == "__main__":
    sys.exit(whole.run(main, "notebook.py"))
