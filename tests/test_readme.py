"""What the README shows is what the programs and the data say."""

import csv
import math
import re

from lessons import LESSONS, ROOT, run

README = (ROOT / "README.md").read_text()


def test_bandwidths_are_the_measured_ones():
    measured = {row["kernel"]: float(row["bandwidth_gbs"]) for row in csv.DictReader((ROOT / "plots/data/h200_steps.csv").open())
                if row["width"] == "16384" and row["type"] == "float" and row["machine"] == "NVIDIA H200" and row["bandwidth_gbs"]}
    shown = dict(re.findall(r"^\|.*\| `(\w+)` \| (\d+) \|$", README, re.MULTILINE))
    assert list(shown) == list(LESSONS)
    for kernel, gbs in shown.items():
        assert int(gbs) == round(measured[kernel]), kernel
    (memcpy,) = re.findall(r"`cudaMemcpy`\) reaches (\d+) GB/s", README)
    memcpys = [float(row["bandwidth_gbs"]) for row in csv.DictReader((ROOT / "plots/data/h200_steps.csv").open())
               if row["kernel"] == "cudaMemcpy" and row["width"] == "16384" and row["type"] == "float"]
    assert min(memcpys) - 1 <= int(memcpy) <= max(memcpys) + 1


def test_log_of_step_7_is_what_was_measured():
    log = (ROOT / "step07_vectorized/README.md").read_text()
    trials = {row["trial"]: float(row["of_memcpy"]) for row in csv.DictReader((ROOT / "plots/data/h200_trials.csv").open())
              if (row["type"], row["width"], row["height"]) == ("float", "16384", "16384")}
    found = {re.split(" \\| ", line)[0]: [float(n) for n in re.findall(r"0\.\d+", line)] for line in log.splitlines() if line.startswith("| ")}
    for begin, names in {
        "| a plain copy": ["copy, 8 vectors of 1024 threads"],
        "| 64 × 64 tile": ["columns"],
        "| the same along the rows": ["rows"],
        "| 2, 4, 8, 16, 32 columns": [f"{n} columns at once" for n in (2, 4, 8, 16, 32)],
        "| two tiles per block": ["two tiles per block"],
        "| registers capped": ["columns, at least 8 blocks"],
        "| the same tile with single elements": ["elements, tile 64, 512 threads"],
        "| a tile of 32": [f"elements, tile 32, {n} threads" for n in (256, 128)],
    }.items():
        (numbers,) = [n for tried, n in found.items() if tried.startswith(begin)]
        assert numbers == [round(trials[name], 3) for name in names], begin
    rows = list(csv.DictReader((ROOT / "plots/data/h200_step07.csv").open()))
    for element, text in (("float", r"float (\S+) to (\S+), geometric mean ([\d.]+)"), ("double", r"double (\S+) to (\S+), mean ([\d.]+)\.")):
        shares = [float(r["of_memcpy"]) for r in rows if r["kernel"] == "transposeVectorized" and r["type"] == element
                  and (r["width"], r["height"]) not in (("2048", "2048"), ("16383", "16381"), ("10007", "6007"))]
        assert len(shares) == 6
        told = [float(n) for n in re.search(text, log).groups()]
        assert told == [round(n, 3) for n in (min(shares), max(shares), math.prod(shares) ** (1 / 6))]


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
