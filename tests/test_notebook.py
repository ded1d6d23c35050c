"""The lab's notebook: what the pages say, and every cell of it runs."""

import re
import sys

import nbformat
from nbclient import NotebookClient

from lessons import ROOT, STEPS, run

NOTEBOOK = ROOT / "lab/transpose.ipynb"


def test_notebook_is_that_of_the_pages(tmp_path):
    assert run(sys.executable, ROOT / "lab/notebook.py", "--check").returncode == 0
    stale = tmp_path / "stale.ipynb"
    stale.write_text(NOTEBOOK.read_text().replace("Step 4", "Step 5", 1))
    done = run(sys.executable, ROOT / "lab/notebook.py", "--check", "--out", stale)
    assert done.returncode == 1 and "is stale" in done.stderr


def test_every_cell_runs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    before = {path: path.read_text() for path in ROOT.glob("step*/exercise*.cu")}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "lab")}}).execute()
    assert {path: path.read_text().rstrip() for path in before} == {path: text.rstrip() for path, text in before.items()}
    for path, text in before.items():
        path.write_text(text)
    outputs = ["".join(o.get("text", "") for o in cell.get("outputs", [])) for cell in notebook.cells]
    assert re.match("step01 on ", outputs[1])
    text = "\n".join(outputs)
    for step in STEPS:
        assert f"$ ./{step}" in text and f"\n{step} on " in text
    assert "Traceback" not in text and "not found" not in text
    assert sum("image/svg+xml" in o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", [])) == len(STEPS)


def test_alone_it_says_what_it_needs(tmp_path):
    source = "".join(nbformat.read(NOTEBOOK, as_version=4).cells[1].source)
    done = run(sys.executable, "-c", source, cwd=tmp_path)
    assert done.returncode == 1 and "Set URL to its git repository" in done.stderr
