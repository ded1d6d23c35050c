"""The chapter: made of whatever results there are, with nothing made up and nothing from elsewhere."""

import csv
import re
import shutil
import sys

import pytest

from lessons import LESSONS, ROOT, run

sys.path.insert(0, str(ROOT / "plots"))
from gallery import gallery  # noqa: E402: after its folder is known

DATA = ROOT / "plots/data"
MEASURED = [DATA / f"h200_{name}.csv" for name in ("steps", "book", "whitepaper", "bandwidth", "model")] + [DATA / "gtx280_model.csv", DATA / "counts.csv"]


def report(out, *files, timeout=600):
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
    for heading in ("The problem on a CPU", "Seven steps", "Results", "The whitepaper's table", "The book's tables", "The bandwidth post's tables",
                    "What the sources claim", "What the sources got wrong", "What to remember", "Exercises"):
        assert heading in headings
    for title in ("Table 1", "Table 2", "The book's table 9.1", "The book's table 9.2", "The book's table 9.3", "The bandwidth post's kernels", "Its block shapes", "Its profile"):
        assert len(re.findall(rf"^\*\*{title}\b", text, re.MULTILINE)) == 1
    claims = re.findall(r"^\| (\d+[a-c]?) \| .*? \| \*\*(holds|does not hold|cannot be told here)\*\* \|", text, re.MULTILINE)
    assert len(claims) == 49 and {n.rstrip("abc") for n, _ in claims} == {str(n) for n in range(1, 41)}
    for kernel in LESSONS:
        assert f"`{kernel}`" in text


def test_chapter_has_the_gallery_of_the_programs(chapter):
    """Every fault, its story and what the check says, as ./stepNN --errata prints them."""
    text = (chapter / "chapter.md").read_text()
    section = text[text.index("## What the sources got wrong"):text.index("## What to remember")]
    for fault in gallery():
        assert f"**{fault.id}, `{fault.kernel}`**" in section and fault.story in section and fault.finding in section
        assert f"- Corrected: `{fault.corrected}`: nothing to report" in section
    assert len(re.findall(r"^\*\*E\d+, ", section, re.MULTILINE)) == len(gallery())


def test_chapter_shows_the_tables_as_they_are_published(chapter):
    """The same cells as tables.py prints, from the same files."""
    text = (chapter / "chapter.md").read_text()
    for row in csv.DictReader((ROOT / "plots/published.csv").open()):
        if row["table"] in ("9.1", "9.3") or row["table"] == "throughput":
            assert re.search(rf"\| {re.escape(row['value'])} \|", text), row
    assert "| gpu_1_1, published | 7.4 | 8.6 | 27.3 | 77.1 | 191.5 | 267.2* |" in text
    assert text.count("Published in: ") == 7 and "\n\\* timed while racing (erratum E2)." in text


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
    assert page.count('<figure class="still">') == 13 and "<img" not in page
    assert not re.search(r"(src|href)=\"(?!data:|#|https://developer\.nvidia\.com)", page) and "@import" not in page and not re.search(r"url\((?!#)", page)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)) and set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)) <= {pair for i in ids for pair in ((i, ""), ("", i))}
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
    assert "nan" not in text and text.count("cannot be told here") >= 45


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
    """bench/measure.sh, with steps that are none: no result is called one."""
    for name in ("bench", "out"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "bench/measure.sh", tmp_path / "bench/measure.sh")
    for n in range(1, 8):
        program = tmp_path / f"step0{n}"
        program.write_text("#!/bin/sh\necho step fails >&2\nexit 1\n")
        program.chmod(0o755)
    done = run(tmp_path / "bench/measure.sh", "out", cwd=tmp_path)
    assert done.returncode == 1 and "step fails" in done.stderr and done.stdout.startswith("[ 1/")
    assert not list((tmp_path / "out").glob("*.csv"))
    assert run(tmp_path / "bench/measure.sh", cwd=tmp_path).returncode != 0
