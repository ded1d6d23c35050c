"""The lab's notebook: what the pages say, every cell of it runs, and its first cell finds the project wherever it is
opened."""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile

import nbformat
import pytest
from nbclient import NotebookClient

from lessons import ROOT, STEPS, copy_built, run
from samples import ALL

sys.path[:0] = [str(ROOT / "plots"), str(ROOT / "lab")]
import cells
import notebook as writer
from pages import page

pytestmark = pytest.mark.variety
NOTEBOOK = nbformat.reads(writer.notebook(""), as_version=4)
SET_UP = NOTEBOOK.cells[1].source


def test_no_figure_answers_a_question_that_comes_later():
    sources = [cell.source for cell in NOTEBOOK.cells]
    at = lambda words: next(i for i, source in enumerate(sources) if words in source)  # noqa: E731
    assert at("svg/bandwidth_steps.svg") > at('compare("step07")')
    assert at('compare("step02")') < at("svg/sectors_naive.svg") < at('predict("step03"')
    assert not any("sectors_naive_coalesced" in source for source in sources[:at('compare("step03")')])


def test_commands_are_shown_without_their_remarks(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cells, "ROOT", tmp_path)
    (tmp_path / "Makefile").write_text("step09:\n\t@touch built\nbroken:\n\t@echo no rule; exit 1\n")
    cells.show("step09", "echo one   # 1: a remark\n\nls built; echo 'a#b'\n")
    assert capsys.readouterr().out == "$ echo one\none\n\n$ ls built; echo 'a#b'\nbuilt\na#b\n\n"
    cells.show("broken", "echo one")
    assert "no rule" in (said := capsys.readouterr().out) and "$" not in said


@pytest.fixture
def copy(tmp_path):
    """The project with what is built of it. The notebook edits and builds steps, which other tests run."""
    left_out = shutil.ignore_patterns(".git", ".venv", "results", "report", "__pycache__", "build", "tests", "*.png")
    shutil.copytree(ROOT, tmp_path / "project", ignore=left_out, symlinks=True)
    copy_built(tmp_path / "project", "lab", *(path.name for path in (ROOT / "build").glob("step*")))
    return tmp_path / "project"


def test_every_cell_runs(copy):
    done = run("make", "-s", "notebook", cwd=copy)
    assert done.returncode == 0, done.stderr
    notebook = nbformat.read(copy / "lab/transpose.ipynb", as_version=4)
    nbformat.validate(notebook)
    # A student's name and predictions.
    for cell in notebook.cells:
        cell.source = cell.source.replace('hand_in("")', 'hand_in("Ada Lovelace")').replace(
            '"sectors of a store": None',
            '"sectors of a store": 32').replace('"sectors of a load": None', '"sectors of a load": 5')
        if not ALL:
            cell.source = re.sub(r"--size (8192|4096|2048)\b", "--size 512", cell.source)
            # test_exercises.py grades what is handed out
            cell.source = re.sub(r"make -s lab0[^4]", "true", cell.source)
    before = {path: path.read_text() for path in copy.glob("step*/*.cu")}
    NotebookClient(notebook, timeout=600, kernel_name="python3",
                   resources={"metadata": {"path": str(copy / "lab")}}).execute()
    assert ({path: path.read_text().rstrip() for path in before}
            == {path: text.rstrip() for path, text in before.items()})
    outputs = ["".join(o.get("text", "") for o in cell.get("outputs", [])) for cell in notebook.cells]
    assert re.match("step01 on ", outputs[1])
    text = "\n".join(outputs)
    for step in STEPS:
        assert f"$ ./{step}" in text and f"\n{step} on " in text
    assert "Traceback" not in text and "not found" not in text
    # The picture of each step, and that of the summary.
    found = [o for cell in notebook.cells for o in cell.get("outputs", []) if "image/svg+xml" in o.get("data", {})]
    assert len(found) == len(STEPS) + 1
    assert "        32         32  right   sectors of a store\n" in text
    assert "         5          4  not so  sectors of a load\n" in text
    # The edits: without the barrier there is a race, and a padding of two takes two wavefronts. Both are undone.
    assert re.search(r"“__syncthreads\(\);” is now “// __syncthreads\(\);”.\n\$ \./step03 --size 256 --device "
                     r"sim\n(.*\n)*?.*race: .*(.*\n)*?The edit of step03_coalesced/step03.cu is undone",
                     text)
    assert re.search(r"is now “TILE_DIM \+ 2]”.\n(.*\n)*?.*; 2 wavefronts each", text)
    assert run(copy / "step03", "--size", 256, "--device", "sim", cwd=copy).returncode == 0
    with zipfile.ZipFile(copy / "results/handin-ada-lovelace.zip") as archive:
        assert archive.namelist() == [
            *sorted(str(path.relative_to(copy)) for path in copy.glob("step*/exercise*.cu")), "predictions.json",
            "name.txt"]
        assert (json.loads(archive.read("predictions.json"))["step02"]
                == {"sectors of a load": 5, "sectors of a store": 32})
        archive.extractall(copy / "class/ada")
    # What is handed in can be graded.
    done = run(sys.executable, copy / "lab/grade.py", copy / "class", "--exercise", 4, "--results", copy / "grades")
    assert "ada: lab04: 20 / 100" in done.stdout, done.stdout + done.stderr


# The first cell.

@pytest.fixture
def elsewhere(tmp_path):
    """(a folder without the project, an environment in which git and make only say what they were asked for)."""
    programs, empty = tmp_path / "programs", tmp_path / "empty"
    programs.mkdir()
    empty.mkdir()
    project = ("mkdir -p transpose/step01_copy transpose/lab && echo compare = hand_in = predict = show = try_edit = "
               "None > transpose/lab/cells.py && printf '#!/bin/sh\\necho step01 on a stub' > transpose/step01 && "
               "chmod +x transpose/step01")
    for name, script in {"git": f"echo git \"$@\" >> {tmp_path}/said\ncase $* in *missing*) echo no such repository; "
                                f"exit 1;; *other*) mkdir transpose; exit 0;; esac\n{project}",
                         "make": f"echo make \"$@\" >> {tmp_path}/said", "g++": "exit 0"}.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    return empty, {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path)}


def first_cell(folder, environment, source=SET_UP, colab=False):
    before = "import sys, types; sys.modules['google.colab'] = types.ModuleType('google.colab')\n" if colab else ""
    return subprocess.run([sys.executable, "-c", before + source], cwd=folder, env=environment, capture_output=True,
                          text=True)


def test_alone_it_says_what_it_needs(elsewhere):
    for colab, words in ((False, "open this notebook inside the project"), (True, "upload transpose.zip")):
        done = first_cell(*elsewhere, colab=colab)
        assert (done.returncode == 1 and len(done.stderr.splitlines()) == 1
                and "Set URL to its git repository" in done.stderr and words in done.stderr), done.stderr


def test_it_clones_the_project_from_a_url(elsewhere, tmp_path):
    out = tmp_path / "with_url.ipynb"
    assert run(sys.executable, ROOT / "lab/notebook.py", "--url", "https://example.org/it's.git", "--out",
               out).returncode == 0
    source = "".join(nbformat.read(out, as_version=4).cells[1].source)
    done = first_cell(*elsewhere, source=source)
    assert done.returncode == 0 and done.stdout == "step01 on a stub\n", done.stderr
    assert (tmp_path / "said").read_text().splitlines() == [
        "git clone --depth 1 -- https://example.org/it's.git transpose", "make -s all"]
    # A second run of the cell finds it.
    assert first_cell(*elsewhere).returncode == 0 and len((tmp_path / "said").read_text().splitlines()) == 3


@pytest.mark.parametrize("url, words",
                         [("https://example.org/missing", "could not be cloned. It said: no such repository"),
                          ("https://example.org/other", "is not this project")])
def test_a_url_of_something_else(elsewhere, url, words):
    done = first_cell(*elsewhere, source=SET_UP.replace("URL = ''", f"URL = {url!r}", 1))
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and words in done.stderr, done.stderr


@pytest.mark.parametrize("path, url", [
    ("fileId=https%3A%2F%2Fgithub.com%2Fsomebody%2Fgpu-course%2Fblob%2Fmain%2Flab%2Ftranspose.ipynb",
     "https://github.com/somebody/gpu-course"),
    ("/github/somebody/gpu.course/blob/a/branch/lab/transpose.ipynb", "https://github.com/somebody/gpu.course"),
    ("fileId=1AbCdEf", None), (None, None)])
def test_colab_tells_where_it_was_opened_from(elsewhere, tmp_path, path, url):
    class Sessions(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/api/sessions" else 404)
            self.end_headers()
            self.wfile.write(json.dumps([{"path": path}]).encode())

        def log_message(self, *_):
            pass
    with http.server.HTTPServer(("127.0.0.1", 0), Sessions) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        folder, environment = elsewhere
        done = first_cell(folder,
                          {**environment, "COLAB_JUPYTER_IP": "127.0.0.1", "KMP_TARGET_PORT": str(server.server_port)},
                          colab=True)
        server.shutdown()
    if url:
        assert (done.returncode == 0 and (tmp_path / "said").read_text().splitlines()[0]
                == f"git clone --depth 1 -- {url} transpose"), done.stderr
    else:
        assert done.returncode == 1 and "Set URL" in done.stderr


def test_it_unpacks_the_hand_out(elsewhere, tmp_path):
    assert run(sys.executable, ROOT / "lab/pack.py", elsewhere[0] / "transpose.zip").returncode == 0
    with zipfile.ZipFile(elsewhere[0] / "transpose.zip") as archive:
        assert {"transpose/lab/transpose.ipynb", "transpose/lab/cells.py",
                "transpose/lab/names.py"} <= set(archive.namelist())
    done = first_cell(*elsewhere)
    assert (tmp_path / "said").read_text() == "make -s all\n" and "step01" in done.stderr  # it is not built here


# What the cells call.

@pytest.fixture
def predictions(tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "PREDICTIONS", tmp_path / "results/predictions.json")


ANSWERS = {
    "step01": [32768, 4, 5], "step02": [4, 32, 22.2, 8, 32], "step03": [4, 4, 4096], "step04": [32, 1, 1, 2],
    "step05": [4, 4, 1], "step06": [1.07, 1], "step07": [32768, 4, 16640]}


@pytest.mark.parametrize("step", STEPS)
def test_predictions_are_compared_with_counts(step, predictions, capsys):
    """The answers of the pages, under Explain."""
    quantities = [quantity.what for quantity in cells.QUANTITIES[step]]
    cells.predict(step, {what: None for what in quantities})
    cells.compare(step)
    said = capsys.readouterr().out
    assert (said.startswith(f"0 of {len(quantities)} predictions are saved. Write")
            and said.count("\n         - ") == len(quantities) and "right" not in said)
    cells.predict(step, dict(zip(quantities, ANSWERS[step], strict=True)))
    cells.compare(step)
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0] == f"{len(quantities)} of {len(quantities)} predictions are saved."
            and [line.split()[2] for line in lines[2:]] == ["right"] * len(quantities)), lines


def test_what_a_prediction_is(predictions, tmp_path):
    for mine, words in (({"sectors": 4}, "is not a prediction of step02"),
                        ({"sectors of a load": "4"}, "'4' is not a number"),
                        ({"sectors of a load": float("nan")}, "not a number")):
        with pytest.raises(SystemExit, match=words):
            cells.predict("step02", mine)
    (tmp_path / "results").mkdir()
    cells.PREDICTIONS.write_text("{damaged")
    cells.predict("step02", {"sectors of a load": 4})
    assert cells.saved() == {"step02": {"sectors of a load": 4}}


def test_an_edit_is_undone(tmp_path, monkeypatch, capsys):
    """Also if the build fails; and it is not tried on a file that is not the original."""
    monkeypatch.setattr(cells, "ROOT", tmp_path)
    (tmp_path / "program.cu").write_text("a b a c")
    (tmp_path / "Makefile").write_text("program:\n\t@grep -q b program.cu && cp program.cu program\n.PHONY: program\n")
    with pytest.raises(SystemExit, match="“a” 2 times"):
        cells.try_edit("program.cu", "a", "x", "cat program")
    cells.try_edit("program.cu", "c", "x", "cat program; echo")
    assert ("$ cat program; echo\na b a x\n" in capsys.readouterr().out
            and (tmp_path / "program.cu").read_text() == (tmp_path / "program").read_text() == "a b a c")
    cells.try_edit("program.cu", "b", "x", "echo not run")
    assert "$ echo" not in capsys.readouterr().out and (tmp_path / "program.cu").read_text() == "a b a c"


def test_names_of_those_who_hand_in(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cells, "ROOT", tmp_path)
    cells.hand_in(" ")
    assert ("Write your name between the quotation marks" in capsys.readouterr().out
            and not (tmp_path / "results").exists())
    cells.hand_in("../../Zo\u00eb $(x)")
    assert os.listdir(tmp_path / "results") == ["handin-zo\u00eb-x.zip"]
