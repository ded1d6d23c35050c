"""What the README shows is what the programs and the data say."""

import csv
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
