"""What the README shows is what the programs and the data say."""

import functools
import re
import shutil
import sys

import style
from lessons import ROOT, run

README = (ROOT / "README.md").read_text()
OUTPUT = (ROOT / "docs/OUTPUT.md").read_text()
GPU_PAGE = (ROOT / "docs/GPU.md").read_text()
GLOSSARY = (ROOT / "docs/GLOSSARY.md").read_text()


def test_tables_are_those_of_the_data():
    done = run(sys.executable, ROOT / "plots/readme.py", "--check")
    assert done.returncode == 0, done.stderr


def test_a_stale_table_is_noticed(tmp_path):
    copy = tmp_path / "project"
    shutil.copytree(ROOT / "plots", copy / "plots", ignore=shutil.ignore_patterns("*.svg", "__pycache__"))
    shutil.copytree(ROOT / "tests/data", copy / "tests/data")
    for path in [ROOT / "README.md", *ROOT.glob("step*/*.md"),
                 *(ROOT / "common" / name for name in ("links.h", "lessons.csv", "base/too_noisy.inc")),
                 ROOT / "plots/ncu_metrics.csv"]:
        (copy / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        (copy / path.relative_to(ROOT)).write_text(path.read_text())
    page = copy / "step04_padding/README.md"
    page.write_text(page.read_text().replace("| 17.8 |", "| 17.9 |", 1))
    done = run(sys.executable, copy / "plots/readme.py", "--check")
    assert (done.returncode, done.stderr) == (1, "stale: step04_padding/README.md\n")
    assert run(sys.executable, copy / "plots/readme.py").stdout == "written: step04_padding/README.md\n"
    assert page.read_text() == (ROOT / "step04_padding/README.md").read_text()


def test_example_output_is_real():
    (block,) = re.findall(r"^```\n(step04 on .*?)^```", README, re.MULTILINE | re.DOTALL)
    real = run(ROOT / "step04", "--device", "sim").stdout
    assert block.splitlines()[1:] == real.splitlines()[1:]


def test_example_of_a_wrong_result_is_real():
    (line,) = re.findall(r"^planted: .*$", OUTPUT, re.MULTILINE)
    done = run(ROOT / "build/tests/steps/planted", "--device", "sim", "--kernel", "transpose_dropLastColumn",
               "--type", "int", "--width", 67, "--height", 100)
    assert done.stderr.strip() == line


@functools.cache
def anchors(path):
    """What the headings of a page can be linked by, as GitHub names them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    titles = [
        re.sub(r"<!--.*?-->|[`*]|\]\([^)]*\)", "", title).strip().lower()
        for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def test_every_link_leads_somewhere():
    """To a file of the project, and to a heading where it names one."""
    wrong = []
    for page in style.pages():
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            if not target.exists() or anchor and anchor not in anchors(target):
                wrong.append(f"{page.relative_to(ROOT)}: {link}")
    assert not wrong


def test_the_first_program_is_the_one_that_runs():
    """tests/sim/test_try.py runs it; the page names what it prints."""
    (block,) = re.findall(r"^```cuda\n(.*?)^```", GPU_PAGE, re.MULTILINE | re.DOTALL)
    assert block == (ROOT / "tests/sim/programs/first.cu").read_text()


def test_every_column_is_in_the_glossary():
    names = set(re.findall(r"`(\w+)`", GLOSSARY[GLOSSARY.index("### Files of `--csv`"):]))
    columns, trace, table, model = ((ROOT / "common" / file).read_text()
                                    for file in ("results_csv.cpp", "trace_lines.cpp", "tables.cpp", "model_table.cpp"))
    last = re.search(r'trace_columns = "(.*?)\\n"', (ROOT / "common/base/traced_request.h").read_text())[1]
    found = re.findall(r'^ +\{"(\w+)",', columns, re.MULTILINE)
    traced = (re.search(r'"(machine,kernel,.*?,)"', trace)[1] + last).split(",")
    assert {"date_utc", "busiest_receiver"} <= set(found) and traced[0] == "machine" and traced[-1] == "partition"
    assert set(found) | set(traced) <= names
    printed = GLOSSARY[GLOSSARY.index("### Printed by the steps: counts"):]
    headings = re.findall(r'\{("(?:kernel|published GB/s|one launch GB/s)".*?)\}', table + model, re.DOTALL)
    assert len(headings) == 6
    for line in headings:
        for column in re.findall(r'"([^"]+)"', line):
            assert f"`{column}`" in printed or column == "% of " or f"`{column}` (" in printed, column
