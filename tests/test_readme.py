"""What the README shows is what the programs and the data say."""

import csv
import itertools
import math
import re
import shutil
import sys

from lessons import ROOT, run

README = (ROOT / "README.md").read_text()


def test_tables_are_those_of_the_data():
    done = run(sys.executable, ROOT / "plots/readme.py", "--check")
    assert done.returncode == 0, done.stderr


def test_a_stale_table_is_noticed(tmp_path):
    copy = tmp_path / "project"
    shutil.copytree(ROOT / "plots", copy / "plots", ignore=shutil.ignore_patterns("*.svg", "__pycache__"))
    for path in [ROOT / "README.md", *ROOT.glob("step*/README.md")]:
        (copy / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        (copy / path.relative_to(ROOT)).write_text(path.read_text())
    page = copy / "step04_padding/README.md"
    page.write_text(page.read_text().replace("| 17.8 |", "| 17.9 |", 1))
    done = run(sys.executable, copy / "plots/readme.py", "--check")
    assert (done.returncode, done.stderr) == (1, "stale: step04_padding/README.md\n")
    assert run(sys.executable, copy / "plots/readme.py").stdout == "written: step04_padding/README.md\n"
    assert page.read_text() == (ROOT / "step04_padding/README.md").read_text()


LOG = (ROOT / "step07_in_flight/LOG.md").read_text()


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def log_tables():
    """Tables of step 7's log: lists of rows of cells, the heading first."""
    lines = [line for line in LOG.splitlines() if line.startswith("|") and not line.startswith("|---")]
    tables = []
    for line in lines:
        if cells(line)[0] in ("tried", "`make peers`"):
            tables.append([])
        tables[-1].append(cells(line))
    return tables


def shape(text):
    """'float 16384²' or '49152 × 12288': the width and height, as the CSV files have them."""
    numbers = re.findall(r"\d{4,}", text)
    return (numbers * 2)[:2] if "²" in text else numbers


def test_trials_of_step_7_are_what_was_measured():
    trials = {(r["trial"], r["type"], r["width"], r["height"]): float(r["of_memcpy"]) for r in csv.DictReader((ROOT / "plots/data/h200_trials.csv").open())}
    told = 0
    for heading, *rows in log_tables()[:-1]:
        for name, _, *shares in rows:
            for column, share in zip(heading[2:], shares, strict=True):
                assert share == f"{trials[(name.strip('`'), column.split()[0], *shape(column))]:.3f}", (name, column)
                told += 1
    assert told > 90


def test_results_of_step_7_are_what_was_measured():
    gbs = {(r["kernel"], r["type"], r["width"], r["height"]): float(r["bandwidth_gbs"])
           for r in csv.DictReader((ROOT / "plots/data/h200_peers.csv").open()) if r["bandwidth_gbs"]}
    names = {"step 7": "transposeInFlight", "cuBLAS": "cublasGeam"}
    heading, *rows = log_tables()[-1]
    assert [row[0] for row in rows] == [f"{t}: {n}" for t, n in itertools.product(["float", "double", "int"], names) if (t, n) != ("int", "cuBLAS")]
    of = {}
    for label, *shares in rows:
        element, name = label.split(": ")
        of[element, name] = [gbs[(names[name], element, *shape(s))] / gbs[("cudaMemcpy", element, *shape(s))] for s in heading[1:]]
        assert shares == [f"{share:.3f}" for share in of[element, name]], label
    large = {t: of[t, "step 7"][1:7] for t in ("float", "double")}
    means = {t: math.prod(shares) ** (1 / 6) for t, shares in large.items()}
    ahead = {t: [a / b - 1 for a, b in zip(of[t, "step 7"], of[t, "cuBLAS"])] for t in large}
    text = " ".join(LOG.split())
    assert f"none is below {min(min(large['float']), min(large['double'])):.3f}; the geometric mean is {means['float']:.3f} in float and {means['double']:.3f} in double" in text
    assert ("by {:.0f} to {:.0f} % in float, by {:.0f} to {:.0f} % in double".format(*(100 * f(ahead[t]) for t in large for f in (min, max)))) in text
    slow = [gbs[(k, "float", *shape(s))] / gbs[("cudaMemcpy", "float", *shape(s))] for k in ("PyTorch", "CuPy") for s in heading[1:]]
    assert f"{min(slow):.2f} to {max(slow):.2f} in float" in text


def test_limits_of_step_7_are_what_was_profiled():
    rows = {(r["kernel"], r["type"], r["width"]): r for r in csv.DictReader((ROOT / "plots/data/h200_limits.csv").open())}
    text = " ".join(LOG.split())
    aligned = [rows["transposeInFlight", t, "16384"] for t in ("float", "double")]
    anywhere, copy = rows["transposeInFlight", "float", "16383"], rows["copySharedMem", "double", "16384"]
    assert all(int(float(r["dram_busy_percent"]) + 0.5) in (85, 86) for r in aligned) and "busy for 85 %" in text
    assert round(float(copy["dram_busy_percent"])) == 88 and "for 88 %" in text
    assert all(round(float(r["l2_fabric_busy_percent"])) == 90 for r in aligned) and "is 90 % busy" in text
    assert round(float(anywhere["l2_fabric_busy_percent"])) == 93 and "it is 93 %" in text
    requests = [round(int(r["l2_requests"]) / 1e6) for r in (anywhere, aligned[0])]
    assert "{} million requests to the L2 instead of {}".format(*requests) in text
    assert int(aligned[0]["dram_read_bytes"]) < 1.001 * 16384 * 16384 * 4


def test_example_output_is_real():
    (block,) = re.findall(r"^```\n(step04 on .*?)^```", README, re.MULTILINE | re.DOTALL)
    real = run(ROOT / "step04", "--device", "sim").stdout
    assert block.splitlines()[1:] == real.splitlines()[1:]


def test_example_of_a_wrong_result_is_real():
    (line,) = re.findall(r"^planted: .*$", README, re.MULTILINE)
    done = run(ROOT / "build/tests/planted", "--device", "sim", "--kernel", "transpose_dropLastColumn",
               "--type", "int", "--width", 67, "--height", 100)
    assert done.stderr.strip() == line


def test_example_of_a_race_is_real():
    (block,) = re.findall(r"^```\n(E2  .*?)^```", README, re.MULTILINE | re.DOTALL)
    assert run(ROOT / "step04", "--errata", "--kernel", "E2").stdout == block + "\n"


def test_commands_and_links_exist():
    assert "make test" in README and "make step04 && ./step04" in README
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
