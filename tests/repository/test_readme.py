"""What the README shows is what the programs and the data say."""

import functools
import re

import style
from lessons import ROOT, run

README = (ROOT / "README.md").read_text()
OUTPUT = (ROOT / "docs/OUTPUT.md").read_text()
GPU_PAGE = (ROOT / "docs/GPU.md").read_text()
GLOSSARY = (ROOT / "docs/GLOSSARY.md").read_text()


def shows(page, printed):
    """Whether the page's example is what step 4 prints. The first line names the machine, and it may be another."""
    (block,) = re.findall(r"^```\n(step04 on .*?)^```", page, re.MULTILINE | re.DOTALL)
    return block.splitlines()[1:] == printed.splitlines()[1:]


def test_example_output_is_real():
    """And each digit below the first line counts, on the page and in what the program prints."""
    real = run(ROOT / "step04", "--device", "sim").stdout
    assert shows(README, real)
    digits = [m.start() for m in re.finditer(r"\d", real) if m.start() > real.index("\n")]
    assert len(digits) > 20
    for at in digits:
        assert not shows(README, real[:at] + str((int(real[at]) + 1) % 10) + real[at + 1:])


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
