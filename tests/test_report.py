"""The chapter: made of whatever results there are, with nothing made up and nothing from elsewhere."""

import csv
import re
import shutil
import sys

import pytest

from lessons import LESSONS, ROOT, run

DATA = ROOT / "plots/data"
MEASURED = [DATA / f"h200_{name}.csv" for name in ("steps", "book", "whitepaper", "bandwidth", "model")] + [DATA / "gtx280_model.csv"]


def report(out, *files, timeout=120):
    return run(sys.executable, ROOT / "plots/report.py", *files, "--out", out, timeout=timeout)


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    done = report(out, *MEASURED)
    assert done.returncode == 0 and done.stderr == "" and done.stdout == f"{out}/chapter.html\n"
    return out


def test_chapter_has_every_part(chapter):
    text = (chapter / "chapter.md").read_text()
    assert "{{" not in text and "Not in these results" not in text
    headings = re.findall(r"^##+ (.*)$", text, re.MULTILINE)
    assert [h for h in headings if h.startswith("Step ")] == [h for h in headings if re.match(r"Step [1-7]: ", h)] and sum(h.startswith("Step ") for h in headings) == 7
    for heading in ("The problem on a CPU", "Seven steps", "Results", "The whitepaper's table", "What the sources claim", "What to remember", "Exercises"):
        assert heading in headings
    for title in ("Table 1", "Table 2", "Table 3"):
        assert f"**{title}: " in text
    claims = re.findall(r"^\| (\d+) \| .*? \| \*\*(holds|does not hold|cannot be told here)\*\* \|", text, re.MULTILINE)
    assert [int(n) for n, _ in claims] == list(range(1, 15))
    for kernel in LESSONS:
        assert f"`{kernel}`" in text


def test_chapter_shows_the_figures_of_the_files(chapter):
    text = (chapter / "chapter.md").read_text()
    rows = [r for r in csv.DictReader((DATA / "h200_steps.csv").open()) if (r["kernel"], r["width"], r["type"]) == ("transposeDiagonal", "8192", "float")]
    newest = max(rows, key=lambda r: r["date_utc"])
    (table,) = re.findall(r"\*\*Table 2: GB/s, n × n floats, NVIDIA H200, measured\*\*\n\n(.*?)\n\n", text, re.DOTALL)
    heading, *lines = [[c.strip() for c in line.strip("|").split("|")] for line in table.splitlines() if "---" not in line]
    (line,) = [line for line in lines if line[0] == "`transposeDiagonal`"]
    assert line[heading.index("8192")] == f"{float(newest['bandwidth_gbs']):.0f}"
    (table,) = re.findall(r"\*\*Effective bandwidth in GB/s, floats\*\*\n\n(.*?)\n\n", text, re.DOTALL)
    heading, *lines = [[c.strip() for c in line.strip("|").split("|")] for line in table.splitlines() if "---" not in line]
    column = heading.index("GeForce GTX 280, model, 2048²")
    assert [line[column] for line in lines if line[0]] == [f"model {float(r['model_bandwidth_gbs']):.1f}" for r in
                                                         csv.DictReader((DATA / "gtx280_model.csv").open()) if r["kernel"] in LESSONS]


def test_page_needs_nothing_else(chapter):
    page = (chapter / "chapter.html").read_text()
    assert page.count('src="data:image/svg+xml;base64,') == len(re.findall(r"<img", page)) == 10
    assert not re.search(r"(src|href)=\"(?!data:|#|https://developer\.nvidia\.com)", page) and "<script" not in page and "@import" not in page and "url(" not in page
    for name in ("bandwidth_steps", "banks", "partition_traffic", "time_per_element"):
        assert (chapter / f"figures/{name}.svg").stat().st_size > 1000 and (chapter / f"figures/{name}.png").stat().st_size > 1000


def test_several_machines_have_a_column_each(chapter, tmp_path):
    other = tmp_path / "other.csv"
    text = (DATA / "h200_whitepaper.csv").read_text().replace("NVIDIA H200", "Some Other GPU")
    other.write_text(text)
    assert report(tmp_path / "out", *MEASURED, other).returncode == 0
    (heading,) = re.findall(r"^\| kernel \| GTX 280, published .*$", (tmp_path / "out/chapter.md").read_text(), re.MULTILINE)
    assert "NVIDIA H200, measured" in heading and "Some Other GPU, measured" in heading and "GeForce GTX 280, model" in heading


def test_what_is_missing_is_said_and_never_made_up(tmp_path):
    only = tmp_path / "one.csv"
    lines = (DATA / "h200_steps.csv").read_text().splitlines(keepends=True)
    only.write_text(lines[0] + next(line for line in lines if "transposeDiagonal,W8" in line and ",2048,2048," in line))
    assert report(tmp_path / "out", only).returncode == 0
    text = (tmp_path / "out/chapter.md").read_text()
    assert text.count("Not in these results") > 8
    assert "nan" not in text and text.count("cannot be told here") >= 13


def test_damage_is_named_and_the_rest_is_used(tmp_path):
    damaged, foreign, cut = tmp_path / "damaged.csv", tmp_path / "foreign.csv", tmp_path / "cut.csv"
    lines = (DATA / "h200_steps.csv").read_text().splitlines(keepends=True)
    damaged.write_text("".join([*lines[:3], lines[3].replace(",cuda,", ",abacus,"), *lines[4:]]))
    foreign.write_text("a,b\n1,2\n")
    cut.write_text("".join(lines[:5])[:-40])
    done = report(tmp_path / "out", damaged, foreign, cut, tmp_path / "none.csv")
    assert done.returncode == 0 and done.stdout.endswith("chapter.html\n")
    told = done.stderr.splitlines()
    assert len(told) == 4 and all(line.startswith("report.py: ") for line in told)
    assert f"{damaged}, line 4" in told[0] and f"{foreign}, line 1" in told[1] and f"{cut}, line 5" in told[2] and "none.csv" in told[3]
    nothing = report(tmp_path / "nothing", foreign)
    assert nothing.returncode == 2 and "no results are left" in nothing.stderr and not (tmp_path / "nothing").exists()


def test_measuring_stops_where_a_step_fails(tmp_path):
    """plots/measure.sh, with steps that are none: no result is called one."""
    for name in ("plots", "out"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "plots/measure.sh", tmp_path / "plots/measure.sh")
    for n in range(1, 8):
        program = tmp_path / f"step0{n}"
        program.write_text("#!/bin/sh\necho step fails >&2\nexit 1\n")
        program.chmod(0o755)
    done = run(tmp_path / "plots/measure.sh", "out", cwd=tmp_path)
    assert done.returncode == 1 and "step fails" in done.stderr and done.stdout.startswith("[ 1/")
    assert not list((tmp_path / "out").glob("*.csv"))
    assert run(tmp_path / "plots/measure.sh", cwd=tmp_path).returncode != 0
