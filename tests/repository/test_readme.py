"""What the README shows is what the programs and the data say."""

import csv
import functools
import re
import shutil
import sys

import style
from lessons import ROOT, run

README = (ROOT / "README.md").read_text()
OUTPUT, PEERS = ((ROOT / "docs" / page).read_text() for page in ("OUTPUT.md", "PEERS.md"))
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


def test_a_stale_log_is_noticed(tmp_path):
    """A trial's cell, and a trial that was never measured."""
    shutil.copytree(ROOT / "plots", tmp_path / "plots", ignore=shutil.ignore_patterns("*.svg", "__pycache__"))
    log = tmp_path / "step07_long_pieces/LOG.md"
    log.parent.mkdir()
    for name in ("common/lessons.csv", "common/base/too_noisy.inc", "plots/ncu_metrics.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "README.md").write_text("")
    real = (ROOT / "step07_long_pieces/LOG.md").read_text()
    (row,) = re.findall(r"^\| `stores: in bulk` .*$", real, re.MULTILINE)
    log.write_text(real.replace(row, re.sub(r"0\.\d{3} \|$", "0.123 |", row)))
    assert run(sys.executable, tmp_path / "plots/readme.py", "--check").stderr == "stale: step07_long_pieces/LOG.md\n"
    assert run(sys.executable, tmp_path / "plots/readme.py").returncode == 0 and log.read_text() == real
    log.write_text(real.replace(row, row.replace("in bulk", "by hand")))
    assert run(sys.executable,
               tmp_path / "plots/readme.py").stderr == "readme.py: no trial `stores: by hand` of float 16384²\n"


def test_memcpy_is_a_kernel():
    """As the log says: it waits while another kernel holds every SM."""
    gbs = {r["trial"]: float(r["bandwidth_gbs"]) for r in csv.DictReader((ROOT / "plots/data/h200_trials.csv").open())
           if r["type"] == "bytes"}
    alone, held = "cudaMemcpy, alone", "cudaMemcpy, while a kernel holds every SM: it waits"
    assert list(gbs) == [alone, held]
    log = (ROOT / "step07_long_pieces/LOG.md").read_text()
    assert "`cudaMemcpy` from device to device is a kernel here" in log
    assert f"{gbs[alone]:.0f} GB/s alone and {gbs[held]:.0f} GB/s while it waits" in " ".join(log.split())


def test_the_rule_for_two_columns_is_what_the_trials_say():
    """In tiles of 16 kB, large elements: two columns at once gain where rows of idata are an odd multiple of 128 kB
    apart, and gain nothing elsewhere."""
    tiles = {"double": ("32 x 64", 8), "double2": ("32 x 32", 16)}
    of = {(r["type"], r["width"], r["height"], r["trial"]): float(r["of_memcpy"] or 0)
          for r in csv.DictReader((ROOT / "plots/data/h200_trials.csv").open())}
    gains = {True: [], False: []}
    for (element, width, height, trial), share in of.items():
        tile, size = tiles.get(element, ("", 0))
        if trial == f"elements, {tile}, 16 warps" and int(width) % 128 == 0 and int(width) >= 8192:
            gains[int(width) * size % (256 << 10) == 128 << 10].append(
                of[element, width, height, trial + ", half a matrix apart"] / share)
    assert len(gains[True]) == 4 and min(gains[True]) > 1.01 and len(gains[False]) == 7 and max(gains[False]) < 1.005


def least_and_most(file, element, chosen):
    """Step 7's shares of cudaMemcpy's bandwidth, at the shapes for which chosen(width, height) holds."""
    gbs = {(r["kernel"], r["type"], int(r["width"]), int(r["height"])): float(r["bandwidth_gbs"])
           for r in csv.DictReader((ROOT / "plots/data" / file).open()) if r["bandwidth_gbs"]}
    found = [speed / gbs["cudaMemcpy", of, width, height] for (kernel, of, width, height), speed in gbs.items()
             if kernel == "transposeLongPieces" and of == element and chosen(width, height)]
    return min(found), max(found)


def test_what_the_log_says_is_reached():
    log = " ".join((ROOT / "step07_long_pieces/LOG.md").read_text().split())

    def large(width, height):
        return width % 128 == height % 128 == 0 and width >= 4096

    def odd(width, height):
        return width % 128 != 0

    def least(chosen):
        return [least_and_most("h200_peers.csv", element, chosen)[0] for element in ("float", "double", "int")]

    assert "the least share is {:.3f} in float, {:.3f} in double and {:.3f} in int".format(*least(large)) in log
    assert "Where rows begin anywhere, the least shares are {:.3f}, {:.3f} and {:.3f}".format(*least(odd)) in log
    low, high = least_and_most("h100_step07.csv", "float", lambda w, h: large(w, h) and w != 16512)
    low_odd, high_odd = least_and_most("h100_step07.csv", "float", odd)
    worst, _ = least_and_most("h100_step07.csv", "float", lambda w, h: w == h == 16512)
    assert (f"float has {low:.3f} to {high:.3f}, but {worst:.3f} at 16512². On matrices that are not aligned it has "
            f"{low_odd:.2f} to {high_odd:.2f}") in log
    low, high = least_and_most("h100_step07.csv", "double", large)
    low_odd, high_odd = least_and_most("h100_step07.csv", "double", odd)
    assert f"Double has {low:.3f} to {high:.3f} and {low_odd:.2f} to {high_odd:.2f}" in log


def test_who_is_ahead_of_step_7():
    """The shapes that the log names, and no others."""
    gbs = {(r["kernel"], r["type"], r["width"], r["height"]): float(r["bandwidth_gbs"])
           for r in csv.DictReader((ROOT / "plots/data/h200_peers.csv").open())
           if r["bandwidth_gbs"] and (r["step"] == "peers" or r["kernel"] == "transposeLongPieces")}
    ratios = {key: gbs[("transposeLongPieces", *key[1:])] / speed for key, speed in gbs.items()
              if key[0] != "transposeLongPieces"}
    assert {key for key, ratio in ratios.items() if ratio < 1} == {
        *(("torch.compile", element, "49152", "12288") for element in ("float", "double", "int")),
        ("Triton", "float", "16512", "16512"), ("Triton", "double", "16384", "16384")}
    assert len([1 for key, ratio in ratios.items() if key[0] == "Triton" and 1 <= ratio < 1.002]) == 7


def test_how_far_ahead_step_7_is():
    gbs = {(r["kernel"], r["type"], r["width"], r["height"]): float(r["bandwidth_gbs"])
           for r in csv.DictReader((ROOT / "plots/data/h200_peers.csv").open()) if r["bandwidth_gbs"]}
    (block,) = re.findall(r"generated: ahead -->\n\n(.*?)\n\n", PEERS, re.DOTALL)
    heading, _, *lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
    assert {line[0].strip("`") for line in lines} >= {"cudaMemcpy", "cublasGeam", "PyTorch", "CuPy", "JAX"}
    for kernel, *cells in lines:
        for column, cell in zip(heading[1:], cells, strict=True):
            element, *shape = re.findall(r"[a-z]+|\d{4,}", column)
            if shape == ["large"]:
                continue
            ours, other = (gbs.get((k, element, shape[0], shape[-1]))
                           for k in ("transposeLongPieces", kernel.strip("`")))
            assert cell == (f"{ours / other:.2f}" if ours and other else "-"), (kernel, column)


def test_example_output_is_real():
    (block,) = re.findall(r"^```\n(step04 on .*?)^```", README, re.MULTILINE | re.DOTALL)
    real = run(ROOT / "step04", "--device", "sim").stdout
    assert block.splitlines()[1:] == real.splitlines()[1:]


def test_example_of_a_wrong_result_is_real():
    (line,) = re.findall(r"^planted: .*$", OUTPUT, re.MULTILINE)
    done = run(ROOT / "build/tests/steps/planted", "--device", "sim", "--kernel", "transpose_dropLastColumn",
               "--type", "int", "--width", 67, "--height", 100)
    assert done.stderr.strip() == line


def test_the_readme_is_a_walk_of_one_sitting():
    """It leads through all steps, each with its page, and a picture comes before the first command."""
    lines = README.splitlines()
    assert len(lines) <= 190
    walk = README[README.index("## The walk"):README.index("## What a step prints")]
    found = re.findall(r"^\*\*\[Step (\d)\]\((step\d\d_\w+)/README\.md\)", walk, re.MULTILINE)
    assert [int(number) for number, _ in found] == list(range(1, 9))
    assert all((ROOT / page).is_dir() for _, page in found)
    assert README.index("![") < README.index("```sh")
    assert len(re.findall("generated: ", README)) == 1
    assert "| step | the idea | kernel | ms | × the bound | GB/s | of cudaMemcpy |" in README


def test_the_two_programs_differ_as_told():
    """In comments, names, and one line of code."""
    (programs,) = re.findall(r"`diff\s(\S+)\s(\S+)`", README)
    code = []
    for path in programs:
        text = re.sub(r"//.*", "", (ROOT / path).read_text())
        text = re.sub(r"\w*(?:Coalesced|NoBankConflicts)\b|\"W[45]\"", "NAME", text)
        code.append([" ".join(line.split()) for line in text.splitlines() if line.strip()])
    (changed,) = [pair for pair in zip(*code, strict=True) if pair[0] != pair[1]]
    assert changed == ("__shared__ T tile[TILE_DIM][TILE_DIM];", "__shared__ T tile[TILE_DIM][TILE_DIM + 1];")


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
