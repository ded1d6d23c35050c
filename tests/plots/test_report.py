"""The chapter: made of whatever results there are, with nothing made up and nothing from elsewhere."""

import csv
import re
import shlex
import shutil
import sys

import pytest

import chapters
from chapters import DATA, MEASURED
from lessons import LESSONS, ROOT, run
from samples import ALL
from chapter.references import REFERENCES  # plots is on the path of chapters
from gallery import gallery

PYTHON = shlex.quote(sys.executable)  # for a shell


@pytest.fixture(scope="module")
def without_gpu(tmp_path_factory):
    """What a machine without a GPU has: counts, models, and serial functions on a CPU of its own."""
    out = tmp_path_factory.mktemp("without")
    own = out / "own.csv"
    lines = (DATA / "h200_book.csv").read_text().splitlines(keepends=True)
    own.write_text("".join([lines[0], *(line for line in lines if ",cpu," in line)]).replace(
        "Intel(R) Xeon(R) Processor", "Some Other CPU"))
    assert chapters.write(out, own, DATA / "gtx280_model.csv", DATA / "counts.csv") == 0
    return out


def table_of(text, key):
    """(caption, heading, lines) of a table of the chapter's Markdown."""
    (block,) = re.findall(rf"^<!-- table: {re.escape(key)} -->\n\n(.*?)^<!-- /table -->", text,
                          re.MULTILINE | re.DOTALL)
    heading, *lines = [[c.strip() for c in line.strip("|").split("|")] for line in block.splitlines()
                       if line.startswith("|") and "---" not in line]
    return block.split("\n\n")[0], heading, lines


def test_chapter_has_every_part(chapter):
    text = (chapter / "chapter.md").read_text()
    assert "{{" not in text and "[[" not in text and "Not in these results" not in text
    headings = re.findall(r"^##+ (.*)$", text, re.MULTILINE)
    assert ([h for h in headings if h.startswith("Step ")] == [h for h in headings if re.match(r"Step [1-7]: ", h)]
            and sum(h.startswith("Step ") for h in headings) == 7)
    for heading in ("Abstract", "Contents", "A GPU in ten minutes", "The problem on a CPU", "Seven steps", "Results",
                    "A card of 2008", "The book's tables", "The bandwidth post's tables", "What the sources claim",
                    "What the sources got wrong", "Conclusions", "Exercises", "Glossary", "References"):
        assert heading in headings
    for key, title in (("book-9.1", "Book, Table 9.1: "), ("book-9.2", "Book, Table 9.2 as effective bandwidth"),
                       ("book-9.3", "Book, Table 9.3: "), ("post-kernels", "The bandwidth post's kernels: "),
                       ("post-blocks", "Its block shapes: "), ("post-profile", "Its profile: ")):
        assert title in table_of(text, key)[0]
    caption, _, lines = table_of(text, "claims")
    numbers = [line[0] for line in lines if line[0]]
    assert len(numbers) == 49 and {n.rstrip("abc") for n in numbers} == {str(n) for n in range(1, 41)}
    assert {line[3] for line in lines} <= {"**holds**", "**does not hold**", "**not decided here**"}
    for kernel in LESSONS:
        assert f"`{kernel}`" in text


def test_every_figure_and_table_has_a_number(chapter, without_gpu):
    """One numbering for each; nothing stands without one, and every link and every citation leads somewhere."""
    for out in (chapter, without_gpu):
        page = (out / "chapter.html").read_text()
        numbers = re.findall(r"<strong>(Figure|Table) (\d+)\.</strong>", page)
        for kind in ("Figure", "Table"):
            assert ([int(n) for k, n in numbers if k == kind]
                    == list(range(1, sum(k == kind for k, _ in numbers) + 1))), kind
        assert len(re.findall(r'<figure id="figure-', page)) == sum(k == "Figure" for k, _ in numbers)
        assert len(re.findall(r'<figure id="table-', page)) == sum(k == "Table" for k, _ in numbers)
        assert "<table" not in re.sub(r"<figure.*?</figure>", "", page, flags=re.DOTALL)
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids)) and set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
        cited = {int(n) for n in re.findall(r'<a href="#reference-\d+">\[(\d+)\]</a>', page)}
        assert cited == set(range(1, page.count(' id="reference-') + 1)) and len(cited) == len(REFERENCES)


def test_contents_lead_to_every_section(chapter):
    page = (chapter / "chapter.html").read_text()
    contents = page[page.index('<h2 id="contents">'):page.index('<h2 id="where-the-numbers-come-from">')]
    sections = re.findall(r'<h[23] id="([^"]+)">', page)
    assert (re.findall(r'href="#([^"]+)"', contents)
            == [s for s in sections if s != "contents" and not s.startswith(("term-", "gpu-"))])
    assert re.search(r'<a href="#term-[\w-]+">', page), "the pages' terms lead to the glossary"


def test_answers_are_folded_and_stand_alone(chapter):
    page = (chapter / "chapter.html").read_text()
    assert page.count("<details>") == page.count("</details>") == 7 and "<details open" not in page
    for n in range(1, 8):
        section = page[page.index(f'<h3 id="step-{n}">'):]
        predict, explain, happens = map(section.index, ("<h4>Predict</h4>", "<details>", "<h4>What happens</h4>"))
        assert predict < explain < section.index("</details>") < happens


def test_chapter_has_every_exercise(chapter):
    text = (chapter / "chapter.md").read_text()
    section = text[text.index("## Exercises"):text.index("## Glossary")]
    files = sorted(ROOT.glob("step*/exercise*.cu"))
    assert len(files) == 9 == len(set(re.findall(r"`make lab(\d\d)`", section)))
    assert all(f"`{file.name}`" in section for file in files)


def test_each_step_says_before_after_and_why(chapter):
    text = (chapter / "chapter.md").read_text()
    rows = {r["kernel"]: float(r["bandwidth_gbs"]) for r in csv.DictReader((DATA / "h200_steps.csv").open())
            if (r["width"], r["height"], r["type"]) == ("16384", "16384", "float") and r["bandwidth_gbs"] and r["step"]}
    found = re.findall(r"\*\*Before:\*\* (\d+) GB/s \(`(\w+)`\)\. \*\*After:\*\* (\d+) GB/s \(`(\w+)`\), (.*?) "
                       r"\(NVIDIA H200, 16384² floats\)\. \*\*Why:\*\* (.*)",
                       text)
    assert len(found) == 7 and " → " not in text[text.index("## Seven steps"):text.index("## Results")]
    for old, before, new, after, words, why in found:
        assert (old, new) == (f"{rows[before]:.0f}", f"{rows[after]:.0f}") and len(why) > 40
        ratio = rows[after] / rows[before]
        assert ("slower" in words) == (ratio < 0.97) and ("times as fast" in words) == (ratio >= 1.03), words


def test_chapter_has_the_gallery_of_the_programs(chapter):
    """Every fault, its story and what the check says, as ./stepNN --errata prints them."""
    text = (chapter / "chapter.md").read_text()
    section = text[text.index("## What the sources got wrong"):text.index("## Conclusions")]
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
    rows = [
        r for r in csv.DictReader((DATA / "h200_steps.csv").open())
        if (r["kernel"], r["width"], r["type"]) == ("transposeDiagonal", "8192", "float")]
    newest = max(rows, key=lambda r: r["date_utc"])
    caption, heading, lines = table_of(text, "bandwidths")
    assert "GB/s" in caption and "NVIDIA H200 (driver 580" in caption
    (line,) = [line for line in lines if line[0] == "`transposeDiagonal`"]
    assert line[heading.index("8192")] == f"{float(newest['bandwidth_gbs']):.0f}"
    caption, heading, lines = table_of(text, "gtx280")
    rows = {r["source_row"]: r for r in csv.DictReader((DATA / "gtx280_model.csv").open())}
    for line, source_row in zip(lines, ("W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8")):
        row = rows[source_row]
        assert float(line[3]) == pytest.approx(float(row["model_bandwidth_gbs"]), rel=0.005)
        assert (line[5], line[6]) == tuple(f"{float(row[f'busiest_partition_of_{way}']):.2f}"
                                           for way in ("loads", "stores"))
    assert sum("(fitted)" in line[0] for line in lines) == 3


def test_counts_show_both_partitions_and_say_what_is_assumed(chapter):
    text = (chapter / "chapter.md").read_text()
    for n in range(1, 8):
        _, heading, lines = table_of(text, f"counts-{n}")
        assert heading[-2:] == ["busiest partition, loads", "stores"]
        for line in lines:
            assert all(cell.endswith(" (a)") == line[1].startswith("H200") for cell in line[-2:]), line


def test_no_table_puts_two_sizes_side_by_side(chapter):
    """A model's time stands next to a measured one of the same size only."""
    text = (chapter / "chapter.md").read_text()
    modelled = {r["width"] for r in csv.DictReader((DATA / "h200_model.csv").open())}
    for n in range(1, 8):
        _, heading, lines = table_of(text, f"times-{n}")
        for line in lines:
            side = re.search(r", (\d+)²$", line[1])[1]
            assert (line[heading.index("model, ms")] != "-") == (side in modelled)


def test_bandwidths_above_the_peak_have_a_footnote(chapter):
    text = (chapter / "chapter.md").read_text()
    for key in ("whitepaper", "bandwidths"):
        (block,) = re.findall(rf"^<!-- table: {key} -->(.*?)^<!-- /table -->", text, re.MULTILINE | re.DOTALL)
        above = [cell for cell in re.findall(r"\| +(\d{4,})(?= \|)", block.split("|---")[1]) if int(cell) > 4814]
        assert above == [] and ("* |" in block) == ("More than the peak of the card's DRAM" in block)


def test_no_word_of_the_model_in_cells(chapter):
    """What is modelled is said once, in a header or a caption."""
    text = (chapter / "chapter.md").read_text()
    for key in re.findall(r"<!-- table: ([\w.-]+) -->", text):
        _, _, lines = table_of(text, key)
        assert (key in ("claims", "gpu-1")
                or not any(re.match(r"model \d", cell) for line in lines for cell in line)), key


def test_without_a_gpu_the_committed_measurements_stand_in(without_gpu):
    """They are labelled with machine, driver and date, and never as this machine's; the CPU is this machine's own."""
    text = (without_gpu / "chapter.md").read_text()
    abstract = text[:text.index("## Contents")]
    assert re.search(
        r"Measured on NVIDIA H200 \(driver 580[\d.]+, 2026-\d\d-\d\d; committed with the project\)\. No GPU ran here",
        abstract)
    assert "- Measured, one core: Some Other CPU (2026-" in text and "Xeon" not in text.replace("Some Other CPU", "")
    assert not re.search(r"Some Other CPU \([^)]*committed", text)
    for caption in re.findall(r"^<a id=\"table-[^>]*></a>(.*NVIDIA H200.*)$", text, re.MULTILINE):
        assert "NVIDIA H200 (driver 580" in caption and "committed with the project)" in caption, caption
    assert text.count("Not in these results") == 0
    assert (table_of(text, "steps")[2] == table_of(text, "steps")[2]
            and "NVIDIA H200, 16384², GB/s" in table_of(text, "steps")[1])


def test_measured_here_is_not_called_committed(chapter):
    text = (chapter / "chapter.md").read_text()
    assert "; committed with the project" not in text and "No GPU ran" not in text


def test_page_needs_nothing_else(chapter):
    page = (chapter / "chapter.html").read_text()
    assert page.count('<figure class="still">') == page.count('<figure id="figure-') == 17 and "<img" not in page
    links = re.findall(r"(src|href)=\"(?!data:|#)([^\"]*)", page)
    assert ({kind for kind, _ in links} == {"href"}
            and {url for _, url in links} == set(re.findall(r"\]\((http[^)]*)\)", " ".join(REFERENCES.values()))))
    assert "@import" not in page and not re.search(r"url\((?!#)", page) and len(page) < 5_000_000
    names = re.findall(r' id="([^"]+)"', page)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(names)
    for name in ("bandwidth_steps", "waterfall", "banks", "partition_traffic", "time_per_element"):
        assert (chapter / f"figures/{name}.svg").stat().st_size > 1000
        assert (chapter / f"figures/{name}.png").stat().st_size > 1000 or not ALL
    assert ('<span class="k">__global__</span>' in page or '<span class="kr">__global__</span>' in page
            or re.search(r'<span class="\w+">__global__</span>', page))
    assert '<span class="gi">+' in page and '<span class="gd">-' in page


def test_several_machines_have_a_column_each(chapter, tmp_path):
    other = tmp_path / "other.csv"
    text = (DATA / "h200_whitepaper.csv").read_text().replace("NVIDIA H200", "Some Other GPU")
    other.write_text(text)
    assert chapters.write(tmp_path / "out", *MEASURED, other) == 0
    _, heading, _ = table_of((tmp_path / "out/chapter.md").read_text(), "whitepaper")
    assert "NVIDIA H200, measured" in heading and "Some Other GPU, measured" in heading
    assert "GTX 280, published" in heading


def test_what_is_missing_is_said_and_never_made_up(tmp_path):
    only = tmp_path / "one.csv"
    lines = (DATA / "h200_steps.csv").read_text().splitlines(keepends=True)
    only.write_text(lines[0] + next(line for line in lines if "transposeDiagonal,W8" in line and ",2048,2048," in line))
    assert chapters.write(tmp_path / "out", only) == 0
    text = (tmp_path / "out/chapter.md").read_text()
    assert text.count("Not in these results") > 8
    assert not re.search(r"\bnan\b|\bNone\b", text) and text.count("not decided here") >= 45
    before = text.split("## References")[0]
    for caption in ("(measurements committed with the project)", "(committed with the project)"):
        before = before.replace(caption, "")
    assert "committed with the project" not in before


def test_damage_is_named_and_the_rest_is_used(tmp_path, capsys):
    damaged, foreign, cut = tmp_path / "damaged.csv", tmp_path / "foreign.csv", tmp_path / "cut.csv"
    lines = (DATA / "h200_steps.csv").read_text().splitlines(keepends=True)
    damaged.write_text("".join([*lines[:3], lines[3].replace(",cuda,", ",abacus,"), *lines[4:]]))
    foreign.write_text("a,b\n1,2\n")
    cut.write_text("".join(lines[:5])[:-40])
    assert chapters.write(tmp_path / "out", damaged, foreign, cut, tmp_path / "none.csv") == 0
    said, told = capsys.readouterr()
    told = told.splitlines()
    assert said.endswith("chapter.html\n")
    assert len(told) == 4 and all(line.startswith("report.py: ") for line in told)
    assert (f"{damaged}, line 4" in told[0] and f"{foreign}, line 1" in told[1] and f"{cut}, line 5" in told[2]
            and "none.csv" in told[3])
    nothing = run(sys.executable, ROOT / "plots/report.py", foreign, "--out", tmp_path / "nothing")
    assert nothing.returncode == 2 and "no results are left" in nothing.stderr and not (tmp_path / "nothing").exists()


def test_measuring_stops_where_a_step_fails(tmp_path):
    """bench/measure.sh, with steps that are none: no result is called one."""
    for name in ("bench", "common", "out"):
        (tmp_path / name).mkdir()
    for name in ("bench/measure.sh", "common/lessons.csv"):
        shutil.copy(ROOT / name, tmp_path / name)
    for n in range(1, 8):
        program = tmp_path / f"step0{n}"
        program.write_text("#!/bin/sh\necho step fails >&2\nexit 1\n")
        program.chmod(0o755)
    done = run(tmp_path / "bench/measure.sh", "out", cwd=tmp_path)
    assert done.returncode == 1 and "step fails" in done.stderr and done.stdout.startswith("[ 1/")
    assert not list((tmp_path / "out").glob("*.csv"))
    assert run(tmp_path / "bench/measure.sh", cwd=tmp_path).returncode != 0


@pytest.fixture
def bare_project(tmp_path):
    """The rule of make report, with a report and measurements that only say that they ran; python(text) puts a python3
    first on PATH."""
    for name in ("plots", "bench", "bin"):
        (tmp_path / name).mkdir()
    for name in ("Makefile", "plots/packages.py", "plots/requirements.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "mk", tmp_path / "mk")
    (tmp_path / "plots/report.py").write_text("print('made')\n")
    script(tmp_path / "bench/measure.sh", "mkdir -p $1; touch $1/report_a.csv")

    def make(python):
        script(tmp_path / "bin/python3", python)
        environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path), "PIP_NO_INDEX": "1"}
        return run("make", "-s", "report", "NVCC=", cwd=tmp_path, env=environment, timeout=120)
    return tmp_path, make


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_python_with_the_packages_needs_no_network(bare_project):
    folder, make = bare_project
    done = make(f'exec {PYTHON} "$@"')
    assert done.returncode == 0 and done.stdout.endswith("made\n"), done.stderr
    assert not (folder / ".venv").exists()


def test_without_packages_and_network_one_line_says_what_to_type(bare_project):
    folder, make = bare_project
    done = make(f'case "$1" in plots/packages.py) exec {PYTHON} -S "$@";; *) exec {PYTHON} "$@";; esac')
    assert done.returncode != 0 and not (folder / ".venv").exists()
    told = ([line for line in done.stderr.splitlines() if not line.startswith("make")]
            + [line for line in done.stderr.splitlines() if line.startswith("make report")])
    assert told == ["make report: python3 lacks matplotlib 3.6, numpy 1.24, markdown 3.4, pygments 2.14 (or "
                    "newer), and pip cannot fetch them here. Type: sudo apt-get install "
                    "python3-matplotlib python3-numpy python3-markdown python3-pygments"]
