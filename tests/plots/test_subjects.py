"""The pages on subjects that belong to a step: what they print is what the programs print. What the page on
profiling says that a tool printed is what it printed."""

import csv
import re
import shlex
import sys

import pytest

from conftest import step
from lessons import ROOT

sys.path.insert(0, str(ROOT / "plots"))
import quoted
from facts import METRICS

PAGES = {path.stem: path for path in sorted(ROOT.glob("step*/*.md")) if path.stem not in ("README", "LOG", "VARIANTS")}
MACHINES = ["g80", "gtx280", "m2090", "k20x", "h200"]
PROFILED = [
    row for row in csv.DictReader((ROOT / "tests/data/h200_profile.csv").open())
    if (row["width"], row["height"], row["type"]) == ("2048", "2048", "float")]


def text(page):
    return PAGES[page].read_text()


def sections(page):
    """Headings, and what is below them. A # in a block of code is no heading."""
    plain = re.sub(r"^```.*?^```$", lambda code: re.sub("^#", " #", code[0], flags=re.MULTILINE), text(page),
                   flags=re.MULTILINE | re.DOTALL)
    return dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", plain, re.MULTILINE | re.DOTALL))


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$",
                      quoted.without_sources(text(page)), re.MULTILINE | re.DOTALL)


def simulated(command):
    program, *arguments = shlex.split(command, comments=True)
    assert re.fullmatch(r"\./step\d\d", program), command
    done = step(program[2:], *arguments)
    assert done.returncode == 0 and done.stderr == "", (command, done.stderr)
    return done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_page(page):
    """Every question is answered and run, every link is there, and a step's page and the README lead to it."""
    parts = sections(page)
    assert [name for name in parts if name != "The kernels"] == ["Predict", "Run", "Explain"]
    questions, answers = (re.findall(r"^(\d)\. ", parts[name], re.MULTILINE) for name in ("Predict", "Explain"))
    assert questions == answers and 2 <= len(questions) <= 4
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", text(page)):
        assert (PAGES[page].parent / link).exists(), link
    assert f"({page}.md)" in (PAGES[page].parent / "README.md").read_text()
    assert f"({PAGES[page].relative_to(ROOT)})" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_commands_run(page):
    """And print what the page shows. A line of dots stands for any lines."""
    commands = [line for block in blocks(page, "sh") for line in block.splitlines() if line]
    assert commands
    for command in commands:
        simulated(command)
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks(page, "console")), re.MULTILINE):
        printed, gap, at = simulated(command).splitlines(), False, 0
        for line in shown.splitlines():
            if line == "...":
                gap = True
                continue
            found = next((i for i in range(at, len(printed)) if printed[i].rstrip() == line), None)
            assert found is not None and (gap or found == at), (command, line)
            at, gap = found + 1, False


def test_quoted_lines_exist():
    sources = {" ".join(line.split()) for pattern in ("step*/*.cu", "bench/*.cu") for path in ROOT.glob(pattern)
               for line in path.read_text().splitlines()}
    for page in PAGES:
        for line in "".join(blocks(page, "cuda")).splitlines():
            assert " ".join(line.split()) in sources, line


def test_counts_of_the_rules_of_coalescing(tmp_path):
    """Every cell of the page's table is the cost of a load that the program counts."""
    rows = re.findall(r"^\| [\w ]+ \| `(\w+)` \| (.*) \|$", text("COALESCING"), re.MULTILINE)
    assert [kernel for kernel, _ in rows] == ["copy", "copyPermuted", "addMisaligned", "copyCol"]
    heading = re.search(r"^\| load \| kernel \| (.*) \|$", text("COALESCING"), re.MULTILINE)[1]
    assert re.findall(r"`(\w+)`", heading) == MACHINES
    capability = {
        line.split()[0]: re.search(r" (\d\.\d) ", line)[1]
        for line in step("step01", "--list-machines").stdout.split("\n\n")[0].splitlines()[1:]}
    assert re.findall(r"CC ([\d.]+)", heading) == [capability[machine] for machine in MACHINES]
    path = tmp_path / "counts.csv"
    counted = {}
    for machine in MACHINES:
        assert step("step01", "--machine", machine, "--kernel", ",".join(kernel for kernel, _ in rows), "--size", 256,
                    "--csv", path).returncode == 0
        for row in csv.DictReader(path.open()):
            each = int(row["global_load_transactions"]) / int(row["global_load_requests"])
            counted[row["kernel"], machine] = f"{each:.2f}"
    for kernel, cells in rows:
        assert cells.split(" | ") == [counted[kernel, machine] for machine in MACHINES], kernel


def test_the_8_series_suffers_less(tmp_path):
    """Six partitions where rows are 8192 bytes apart; as much as any where they are a multiple of 6 x 256."""
    path = tmp_path / "counts.csv"
    busiest = {}
    for machine in ("g80", "gtx280"):
        for side in (2048, 3072):
            assert step("step04", "--kernel", "W5", "--machine", machine, "--size", side, "--csv", path).returncode == 0
            (row,) = csv.DictReader(path.open())
            busiest[machine, side] = float(row["busiest_partition_of_stores"])
    assert busiest["g80", 2048] < 2 < 6 < busiest["gtx280", 2048] and busiest["g80", 3072] == 6


PROFILING = (ROOT / "docs/PROFILING.md").read_text()
# A command of the profiler and the table of what it printed.
PROFILE = re.compile(r"^```sh\nncu --clock-control none --kernel-name 'regex:\^\((.*)\)' \\\n    --metrics (.*) \\\n"
                     r"    \./(\w+) --device cuda --size (\d+) --once --kernel (.*)\n```\n\n"
                     r"<!-- = .* \"at=float (\d+)\" -->\n\n\| metric \|(.*)\|\n.*\n((?:\|.*\n)+)", re.MULTILINE)


def test_a_profile_has_what_its_command_prints():
    found = PROFILE.findall(PROFILING)
    assert [program for _, _, program, *_ in found] == ["step01", "step02", "step03", "step04", "step05", "step06",
                                                         "step07"]
    for names, metrics, _, size, kernels, side, heading, lines in found:
        assert names.split("|") == kernels.split(",") == re.findall(r"`(\w+)`", heading) and size == side
        assert metrics.split(",") == re.findall(r"^\| `(.*?)`", lines, re.MULTILINE)
        assert set(metrics.split(",")) <= set(METRICS.values())


def test_what_the_sanitizer_printed_is_on_the_page():
    with (ROOT / "tests/data/h200_sanitizer.csv").open() as lines:
        said = {(row["program"], row["tool"]): row["summary"] for row in csv.DictReader(lines)
                if (row["width"], row["height"]) == ("333", "555")}
    (ends,) = {tuple(said[f"step0{n} --all", tool] for tool in ("memcheck", "racecheck")) for n in range(1, 8)}
    assert f"they ended with `{ends[0]}` and `{ends[1]}`, for step01 to step07." in PROFILING
    assert re.findall(r"^compute-sanitizer --tool (\w+) .* --size 333x555 --once --all$", PROFILING, re.MULTILINE) == [
        "memcheck", "racecheck"]


def test_profiles_carry_their_lessons():
    """As docs/PROFILING.md says of the counts."""
    ideal = 2048 * 2048 // 32
    column = {}
    for _, _, program, _, kernels, *_ in PROFILE.findall(PROFILING):
        rows = [next(row for row in PROFILED if row["kernel"] == kernel) for kernel in kernels.split(",")]
        column[program] = {name: [int(row[of]) for row in rows] for name, of in {
            "load_requests": "global_load_requests", "load_sectors": "global_load_sectors",
            "store_sectors": "global_store_sectors", "shared_load_wavefronts": "shared_load_wavefronts",
            "duration": "duration_ns"}.items()}
    copies, naive = column["step01"], column["step02"]
    assert len(set(copies["load_requests"])) == 1
    assert copies["load_sectors"][0] == copies["load_sectors"][1] < copies["load_sectors"][2]
    assert naive["load_sectors"] == naive["store_sectors"][::-1] and len(set(naive["load_sectors"])) == 2
    for program in ("step03", "step04"):
        assert column[program]["store_sectors"] == [4 * ideal] * 2
        assert [wavefronts > ideal for wavefronts in column[program]["shared_load_wavefronts"]] == [program == "step03",
                                                                                                    True]
    for program in ("step05", "step06"):
        assert all(len(set(column[program][name])) == 1 for name in ("store_sectors", "shared_load_wavefronts"))
        assert max(column[program]["duration"]) < 1.05 * min(column[program]["duration"])
