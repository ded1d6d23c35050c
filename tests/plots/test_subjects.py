"""The pages on subjects that belong to a step: what they print is what the programs print, and their tables are those
of the data."""

import csv
import re
import shlex
import sys

import pytest

from conftest import step
from lessons import ROOT, run
from machine_files import capabilities, machine_file

sys.path.insert(0, str(ROOT / "plots"))
import subjects

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
                      re.sub(r"<!-- generated.*?<!-- end -->", "", text(page), flags=re.DOTALL),
                      re.MULTILINE | re.DOTALL)


def simulated(command):
    program, *arguments = shlex.split(command, comments=True)
    assert re.fullmatch(r"\./step\d\d", program), command
    done = step(program[2:], *arguments)
    assert done.returncode == 0 and done.stderr == "", (command, done.stderr)
    return done.stdout


def test_the_pages_are_these():
    assert list(PAGES) == [
        "BANDWIDTH", "TIMING", "COALESCING", "READONLY", "MEMORIES", "OCCUPANCY", "BATCHES", "SCALING"]


@pytest.mark.parametrize("page", PAGES)
def test_page(page):
    """Short; every question answered and run; every link there; and a step's page and the README lead to it."""
    parts = sections(page)
    assert [name for name in parts if name != "The kernels"] == ["Predict", "Run", "Explain"]
    questions, answers = (re.findall(r"^(\d)\. ", parts[name], re.MULTILINE) for name in ("Predict", "Explain"))
    assert questions == answers and 2 <= len(questions) <= 4
    for number in questions:
        run_for = [range(int(a), int(b or a) + 1)
                   for a, b in re.findall(r"# [^\n]*?(\d)(?: to (\d))?[:\n]", parts["Run"])]
        assert any(int(number) in numbers for numbers in run_for) or re.search(
            rf"# ([\d, ]*\b){number}\b|\([\w\s]*\b{number}\b|question {number}", parts["Run"]), number
    lines = re.sub(r"<!-- (?:= .*?|generated.*?<!-- end) -->", "", text(page), flags=re.DOTALL).splitlines()
    assert len(lines) <= 90 and all(len(line) <= 140 or line.startswith(("|", "!")) for line in lines)
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", text(page)):
        assert (PAGES[page].parent / link).exists(), link
    assert f"({page}.md)" in (PAGES[page].parent / "README.md").read_text()
    assert f"({PAGES[page].relative_to(ROOT)})" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_commands_run(page):
    commands = [line for block in blocks(page, "sh") for line in block.splitlines() if line]
    assert commands
    for command in commands:
        simulated(command)


@pytest.mark.parametrize("page", [page for page in PAGES if "```console" in text(page)])
def test_output_is_real(page):
    """A line of dots stands for any lines."""
    for block in blocks(page, "console"):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
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


@pytest.mark.parametrize("machine, of_x0", [("g80", "32 transactions each"), ("gtx280", "2 transactions each"),
                                            ("h200", "1 sector each")])
def test_one_element_for_all_lanes(machine, of_x0):
    """As the page says: by order a transaction per lane, by segment one for each half of the warp, then one sector."""
    out = step("step01", "--machine", machine, "--kernel", "addBroadcast", "--size", 256, "--explain").stdout
    assert re.search(r"T first = x\[0\];\n +\d+ requests of 32 x 4 bytes; (.*?),", out)[1] == of_x0


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


def test_what_the_pages_compute():
    assert ("2 × 256 × 256 × 4 bytes / 4813.8 GB/s = 0.109 µs" in text("TIMING")
            and f"{2 * 256 * 256 * 4 / 4813.8e3:.3f}" == "0.109")
    assert "340 ns × 141.7 GB/s = 48 kB" in text("BANDWIDTH") and round(340 * 141.7 / 1000) == 48
    steps = {(r["kernel"], r["width"], r["type"]): float(r["bandwidth_gbs"])
             for r in csv.DictReader((ROOT / "plots/data/h200_steps.csv").open())
             if r["bandwidth_gbs"]}
    assert ("`transposeColLdg` is as fast as `transposeCol`. Only a texture over a CUDA array is faster"
            in text("READONLY"))
    paths = {
        r["path"]: float(r["bandwidth_gbs"]) for r in csv.DictReader((ROOT / "plots/data/h200_readonly.csv").open())}
    array = paths.pop("texture; CUDA array")
    assert array > 1.2 * max(paths.values()) and max(paths.values()) < 1.05 * paths["plain"]
    assert (steps["transposeColLdg", "16384", "float"]
            == pytest.approx(steps["transposeCol", "16384", "float"], rel=0.01))


def test_sizes_of_the_memories():
    """Those of the machine table."""
    card, limits = machine_file("h200"), capabilities()["9.0"]
    sizes = {name: size for name, (_, _, _, size, *_) in subjects.MEMORIES.items()}
    assert ((sizes["global (DRAM)"], sizes["L2 cache"], sizes["shared"])
            == (card["dram"], card["l2"], f"{limits['shared_per_sm']} KiB per SM"))
    assert sizes["registers"] == f"{int(limits['registers_per_sm']) * 4 >> 10} KiB per SM"


def test_what_is_not_measured_says_so(monkeypatch, tmp_path):
    """Every table of the pages: a dash where a row is missing, and how to measure it; none where all rows are there."""
    micro = list(csv.DictReader((ROOT / "plots/data/h200_micro.csv").open()))
    names = {r["constant"] for r in micro}
    wanted = ({f"{latency}{unit}" for *_, latency, _, _ in subjects.MEMORIES.values() for unit in ("", "_ns")}
              | {b for *_, b, _ in subjects.MEMORIES.values() if b})
    program = (ROOT / "bench/microbench.cu").read_text()
    for name in wanted:
        chased = name.removeprefix("latency_").removesuffix("_ns")
        assert f'"{name}"' in program or f'latency("{chased}"' in program, name
    assert ("not measured yet" in subjects.memories().note) == bool(wanted - names)
    (tmp_path / "h200_micro.csv").write_text("constant,value\n" + "".join(f"{name},2\n" for name in wanted))
    monkeypatch.setattr(subjects, "DATA", tmp_path)
    assert "not measured" not in subjects.memories().note and not any("-" in line for line in subjects.memories().rows)
    for table, file in ((subjects.timing, "timing"), (subjects.transfers, "transfers")):
        assert not (tmp_path / f"h200_{file}.csv").exists() and f"not measured yet (`make {file}`)" in table().note
    (tmp_path / "h200_timing.csv").write_text("method,width,launches,passes,us_per_pass,bandwidth_gbs\nevents; one "
                                              "launch,256,1,1,2.5,210\n")
    assert (subjects.timing().rows[1:] == [["events, one launch", "256²", "1", "1", "2.50", "210"]]
            and "not measured" not in subjects.timing().note)


@pytest.mark.parametrize("program", subjects.PROFILES)
def test_profiles_carry_their_lessons(program):
    """As docs/PROFILING.md says of the counts."""
    kernels, _ = subjects.PROFILES[program]
    rows = [next(row for row in PROFILED if row["kernel"] == kernel) for kernel in kernels]
    column = {name: [int(row[of]) for row in rows] for name, of in subjects.MEASURED.items() if of in rows[0]}
    equal = {name for name, values in column.items() if len(set(values)) == 1}
    if program == "step01":
        assert ("load_requests" in equal
                and column["load_sectors"][0] == column["load_sectors"][1] < column["load_sectors"][2])
    elif program == "step02":
        assert (column["load_sectors"] == column["store_sectors"][::-1] and "load_sectors" not in equal
                and "duration" not in equal)
    elif program in ("step03", "step04"):
        ideal = 2048 * 2048 // 32
        assert column["store_sectors"] == [4 * ideal] * 2
        assert [wavefronts > ideal for wavefronts in column["shared_load_wavefronts"]] == [program == "step03", True]
    elif program in ("step05", "step06"):
        assert ({"store_sectors", "shared_load_wavefronts"} <= equal
                and max(column["duration"]) < 1.05 * min(column["duration"]))


def test_programs_of_bench_need_a_gpu():
    """Where nvcc built them: one line, and status 3. Without nvcc, make says so."""
    for program in ("microbench", "timing", "transfers", "readonly", "batches", "pieces"):
        done = run("make", program, "NVCC=")
        assert done.returncode == 2 and done.stderr.startswith(f"make {program}: needs nvcc and a GPU\n")
