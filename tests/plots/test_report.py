"""The chapter: made of whatever results there are, with nothing made up and nothing from elsewhere."""

import csv
import html
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

import browser
import chapters
import explorables  # chapters knows its folder
from chapters import DATA, MEASURED
from lessons import LESSONS, ROOT, run
from gallery import gallery
from sources.table import CLAIMS
import results as reader
import tables

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


PARTS = ("chapter", "reference")
REFERENCES = re.findall("^- `[\\w-]+`: (.*)$", (ROOT / "plots/chapter.md").read_text(), re.MULTILINE)


def lesson(folder):
    return html.unescape((folder / "chapter.md").read_text())


def whole(folder):
    """The Markdown of both parts, with the texts from outside as they were."""
    return html.unescape("\n".join((folder / f"{part}.md").read_text() for part in PARTS))


def table_of(text, key):
    """(caption, heading, lines) of a table of the chapter's Markdown."""
    (block,) = re.findall(rf"^<!-- table: {re.escape(key)} -->\n\n(.*?)^<!-- /table -->", text,
                          re.MULTILINE | re.DOTALL)
    heading, *lines = [[c.strip() for c in line.strip("|").split("|")] for line in block.splitlines()
                       if line.startswith("|") and "---" not in line]
    return block.split("\n\n")[0], heading, lines


def test_chapter_has_every_part(chapter):
    text = whole(chapter)
    assert "{{" not in text and "[[" not in text and "Not in these results" not in text
    read, looked_up = (re.findall(r"^##+ (.*)$", (chapter / f"{part}.md").read_text(), re.MULTILINE) for part in PARTS)
    assert [h[:7] for h in read if h.startswith("Step ")] == [f"Step {n}." for n in range(1, 8)]
    assert read[:2] == ["Abstract", "Contents"] and read[-2:] == ["Conclusions", "References"]
    for heading in ("Contents", "A GPU in ten minutes", "The steps in numbers", "Over the size of the matrix",
                    "A card of 2008", "The book's tables", "The bandwidth post's tables", "What the sources claim",
                    "What the sources got wrong", "Exercises", "Glossary"):
        assert heading in looked_up
    for key in ("book-9.1", "book-9.2", "book-9.3", "post-kernels", "post-blocks", "post-profile"):
        assert table_of(text, key)[2]
    numbers = [re.fullmatch(r"\[(\w+)\]\(#claim-\1\)", line[0])[1] for line in table_of(text, "claims")[2]]
    assert numbers == [claim.number for claim in CLAIMS]
    assert all(f'<a id="claim-{number}"></a>**{number}.** ' in text for number in numbers)
    assert all(f"`{kernel}`" in text for kernel in LESSONS)
    exercises = text[text.index("\n## Exercises"):text.index("\n## Glossary")]
    files = sorted(ROOT.glob("step*/exercise*.cu"))
    assert len(files) == 9 == len(set(re.findall(r"`make lab(\d\d)`", exercises)))
    assert all(f"`{file.name}`" in exercises for file in files)
    section = text[text.index("\n## What the sources got wrong"):text.index("\n## Exercises")]
    for fault in gallery():  # its story and what the check says, as ./stepNN --errata prints them
        assert f"**{fault.id}, `{fault.kernel}`**" in section and fault.story in section and fault.finding in section
        assert f"- Corrected: `{fault.corrected}`: nothing to report" in section
    for title, body in zip(*[iter(re.split(r"^## (.*)$", lesson(chapter), flags=re.MULTILINE)[1:])] * 2):
        if re.match(r"Step [1-6]\.", title):  # the reader is asked before the numbers are shown
            assert "<details>" in body[body.index("**Predict.**"):body.index("<!-- table: step-")], title


def test_commits_of_the_figures_are_named(chapter):
    """Of each machine, beside its days and its driver."""
    for machine in reader.load(MEASURED).machines():
        (line,) = [line for line in lesson(chapter).splitlines()
                   if re.match(rf"- (Measured|Counted)\b.*: {re.escape(machine.name)} \(", line)]
        assert f"{machine.days}" in line and all(c in line for c in machine.commits), line
        assert "Its rows come from" in line if len(machine.commits) > 1 else "Commit " in line


def test_every_figure_and_table_has_a_number(chapter, without_gpu):
    """One numbering for each through both parts; nothing stands without one, and every link and every citation leads
    somewhere."""
    for out in (chapter, without_gpu):
        pages = {part: (out / f"{part}.html").read_text() for part in PARTS}
        page = "".join(pages.values())
        numbers = re.findall(r"<strong>(Figure|Table) (\d+)\.</strong>", page)
        for kind in ("Figure", "Table"):
            assert ([int(n) for k, n in numbers if k == kind]
                    == list(range(1, sum(k == kind for k, _ in numbers) + 1))), kind
        assert len(re.findall(r'<figure id="figure-', page)) == sum(k == "Figure" for k, _ in numbers)
        assert len(re.findall(r'<figure id="table-', page)) == sum(k == "Table" for k, _ in numbers)
        assert "<table" not in re.sub(r"<figure.*?</figure>", "", page, flags=re.DOTALL)
        ids = {part: re.findall(r' id="([^"]+)"', text) for part, text in pages.items()}
        for part, text in pages.items():
            assert len(ids[part]) == len(set(ids[part])) and set(re.findall(r'href="#([^"]+)"', text)) <= set(ids[part])
            for other, target in re.findall(r'href="(\w+)\.html#?([^"]*)"', text):
                assert other in PARTS and other != part and (not target or target in ids[other]), (other, target)
        cited = {int(n) for n in re.findall(r'<a href="(?:chapter\.html)?#reference-\d+">\[(\d+)\]</a>', page)}
        assert cited == set(range(1, page.count(' id="reference-') + 1)) and len(cited) == len(REFERENCES)


@pytest.mark.variety
@pytest.mark.skipif(not browser.CHROMIUM, reason=browser.NEEDED)
def test_lesson_is_short(chapter):
    """At most 25 printed pages of A4, and no page of more than 1.5 MB."""
    assert all((chapter / f"{part}.html").stat().st_size < 1_500_000 for part in PARTS)
    with browser.opened() as chromium:
        page = chromium.new_page()
        page.goto((chapter / "chapter.html").as_uri())
        assert 10 < len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 25


def test_each_step_says_before_after_and_why(chapter):
    text = whole(chapter)
    rows = {r["kernel"]: float(r["bandwidth_gbs"]) for r in csv.DictReader((DATA / "h200_steps.csv").open())
            if (r["width"], r["height"], r["type"]) == ("16384", "16384", "float") and r["bandwidth_gbs"] and r["step"]}
    found = re.findall(r"\*\*Before:\*\* (\d+) GB/s \(`(\w+)`\)\. \*\*After:\*\* (\d+) GB/s \(`(\w+)`\), (.*?) "
                       r"\(NVIDIA H200, 16384² floats\)\. \*\*Why:\*\* (.*)",
                       text)
    assert len(found) == 7 and " → " not in lesson(chapter)
    for old, before, new, after, words, why in found:
        assert (old, new) == (f"{rows[before]:.0f}", f"{rows[after]:.0f}") and len(why) > 40
        ratio = rows[after] / rows[before]
        assert ("slower" in words) == (ratio < 0.97) and ("times as fast" in words) == (ratio >= 1.03), words


def test_chapter_shows_the_figures_of_the_files(chapter):
    text = whole(chapter)
    rows = [
        r for r in csv.DictReader((DATA / "h200_steps.csv").open())
        if (r["kernel"], r["width"], r["type"]) == ("transposeDiagonal", "8192", "float")]
    newest = max(rows, key=lambda r: r["date_utc"])
    caption, heading, lines = table_of(text, "bandwidths")
    assert "GB/s" in caption and "NVIDIA H200 (driver 580" in caption
    (line,) = [line for line in lines if line[0] == "`transposeDiagonal`"]
    assert line[heading.index("8192")] == f"{float(newest['bandwidth_gbs']):.0f}"
    _, _, lines = table_of(text, "gtx280")
    rows = {r["source_row"]: r for r in csv.DictReader((DATA / "gtx280_model.csv").open())}
    for line, source_row in zip(lines, ("W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8")):
        assert float(line[3]) == pytest.approx(float(rows[source_row]["model_bandwidth_gbs"]), rel=0.005)


def test_without_a_gpu_the_committed_measurements_stand_in(without_gpu):
    """They are labelled with machine, driver and date, and never as this machine's; the CPU is this machine's own."""
    text = whole(without_gpu)
    abstract = lesson(without_gpu)[:lesson(without_gpu).index("## Contents")]
    days = r"2026-\d\d-\d\d( to 2026-\d\d-\d\d)?"
    assert re.search(rf"Measured on NVIDIA H200 \(driver 580[\d.]+, {days}; committed with the project\)\. No GPU ran "
                     "here", abstract)
    assert "- Measured, one core: Some Other CPU (2026-" in text and "Xeon" not in text.replace("Some Other CPU", "")
    assert not re.search(r"Some Other CPU \([^)]*committed", text)
    for caption in re.findall(r"^<a id=\"table-[^>]*></a>(.*NVIDIA H200.*)$", text, re.MULTILINE):
        assert "NVIDIA H200 (driver 580" in caption and "committed with the project)" in caption, caption
    assert text.count("Not in these results") == 0
    assert "NVIDIA H200, 16384², GB/s" in table_of(text, "steps")[1]


def test_page_needs_nothing_else(chapter):
    pages = {part: (chapter / f"{part}.html").read_text() for part in PARTS}
    assert sum(page.count('<figure class="still">') for page in pages.values()) == 20
    assert [page.count('class="explorable"') for page in pages.values()] == [5, 0]
    for page in pages.values():
        assert page.count('<figure class="still">') == page.count('<figure id="figure-') and "<img" not in page
        links = re.findall(r"(src|href)=\"(?!data:|#|(?:chapter|reference)\.html)([^\"]*)", page)
        assert {kind for kind, _ in links} <= {"href"}
        assert {url for _, url in links} <= set(re.findall(r"\]\((http[^)]*)\)", " ".join(REFERENCES)))
        assert "@import" not in page and not re.search(r"url\((?!#)", page)
    assert re.search(r'<span class="\w+">__global__</span>', pages["chapter"])
    assert '<span class="gi">+' in pages["chapter"] and '<span class="gd">-' in pages["chapter"]
    text = whole(chapter)
    assert "; committed with the project" not in text and "No GPU ran" not in text


def test_text_stands_out_from_what_is_behind_it():
    """4.5 : 1, as WCAG 2 asks of text, in the light scheme and in the dark one."""
    light, dark = (dict(re.findall(r"--([\w-]+): #(\w+)", text)) for text in re.findall(
        r":root \{(.*?)\}", explorables.style(), re.DOTALL)[:2])

    def luminance(colour):
        digits = colour if len(colour) == 6 else re.sub("(.)", r"\1\1", colour)
        channels = [int(c, 16) / 255 for c in re.findall("..", digits)]
        return sum(share * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4)
                   for share, c in zip((0.2126, 0.7152, 0.0722), channels))
    for colours in (light, {**light, **dark}):
        for text, behind in itertools.product(("ink", "muted", "blue", "warm-ink"), ("paper", "panel", "code")):
            low, high = sorted(map(luminance, (colours[text], colours[behind])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (text, behind)


def test_a_model_stands_next_to_what_was_measured_at_its_size_and_noise_is_marked(chapter):
    text = whole(chapter)
    modelled = {r["width"] for r in csv.DictReader((DATA / "h200_model.csv").open())}
    _, heading, lines = table_of(text, "times")
    for line in lines:
        assert (line[heading.index("model, ms")] != "-") == (re.search(r", (\d+)²$", line[1])[1] in modelled)
    marked = [block for block in re.findall(r"^<!-- table: .*?^<!-- /table -->", text, re.MULTILINE | re.DOTALL)
              if re.search(r"\d!\*? \|", block)]
    assert len(marked) >= 4 and all(tables.NOISE in block for block in marked)
    assert text.count(tables.NOISE) == len(marked)


def test_several_machines_have_a_column_each(chapter, tmp_path):
    other = tmp_path / "other.csv"
    text = (DATA / "h200_whitepaper.csv").read_text().replace("NVIDIA H200", "Some Other GPU")
    other.write_text(text)
    assert chapters.write(tmp_path / "out", *MEASURED, other) == 0
    _, heading, _ = table_of(whole(tmp_path / "out"), "whitepaper")
    assert "NVIDIA H200, measured" in heading and "Some Other GPU, measured" in heading
    assert "GTX 280, published" in heading


def test_what_is_missing_is_said_and_never_made_up(tmp_path):
    only = tmp_path / "one.csv"
    lines = (DATA / "h200_steps.csv").read_text().splitlines(keepends=True)
    only.write_text(lines[0] + next(line for line in lines if "transposeDiagonal,W8" in line and ",2048,2048," in line))
    assert chapters.write(tmp_path / "out", only) == 0
    text = whole(tmp_path / "out")
    assert text.count("Not in these results") > 8 and "Not in these results" in lesson(tmp_path / "out")
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
    assert told.pop().startswith("report.py: NVIDIA H200: rows of commits ")
    assert len(told) == 4 and all(line.startswith("report.py: ") for line in told)
    assert (f"{damaged}, line 4" in told[0] and f"{foreign}, line 1" in told[1] and f"{cut}, line 5" in told[2]
            and "none.csv" in told[3])
    nothing = run(sys.executable, ROOT / "plots/report.py", foreign, "--out", tmp_path / "nothing")
    assert nothing.returncode == 2 and "no results are left" in nothing.stderr and not (tmp_path / "nothing").exists()


STEP = """for last; do :; done
case "$*" in
*--csv*) sleep ${SLOW:-0}; echo "$RUN" > "$last" ;;
*) exit 1 ;;  # it is asked for a GPU
esac"""


def measuring(folder, step):
    """bench/measure.sh, and in the place of all steps one script."""
    for name in ("bench", "common"): (folder / name).mkdir(exist_ok=True)
    for name in ("bench/measure.sh", "bench/folder.sh", "common/lessons.csv"):
        shutil.copy(ROOT / name, folder / name)
    for n in range(1, 8):
        script(folder / f"step0{n}", step)


def test_two_measure_at_once(tmp_path):
    """Each reports its own results, and all of them, in whatever moment the other begins and ends. A run that is
    interrupted is called incomplete, and one with a step that fails ends there."""
    measuring(tmp_path, STEP)

    def begin(name, slow):
        return subprocess.Popen(["bash", "bench/measure.sh", "report", "out", "cat"], cwd=tmp_path, text=True,
                                env={**os.environ, "RUN": name, "SLOW": slow}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
    runs = [begin(name, slow) for name, slow in (("a", "0.05"), ("b", "0.02"), ("c", "0"))]
    said = [run.communicate(timeout=120)[0].splitlines() for run in runs]
    for name, lines in zip("abc", said):
        begun = [line for line in lines if line.startswith("[")]
        assert len(begun) > 20 and lines.count(name) == len(begun), lines
    folders = list((tmp_path / "out").iterdir())
    assert len(folders) == 3 and all(folder.name.startswith("report-") for folder in folders)
    assert {len({file.read_text() for file in folder.iterdir()}) for folder in folders} == {1}
    stopped = begin("d", "0.1")
    while len(list(tmp_path.glob("out/*/*.csv"))) == sum(len(list(f.iterdir())) for f in folders): time.sleep(0.05)
    stopped.send_signal(signal.SIGTERM)
    said = stopped.communicate(timeout=60)[1]
    (folder,) = tmp_path.glob("out/incomplete-report-*")
    assert stopped.returncode == 143 and said == f"the results so far are in out/{folder.name}\n"
    measuring(tmp_path, "echo step fails >&2\nexit 1")
    failed = begin("e", "0")
    assert "step fails" in failed.communicate(timeout=60)[1] and failed.returncode == 1


@pytest.fixture
def bare_project(tmp_path):
    """The rule of make report, with a report and measurements that only say that they ran; python(text) puts a python3
    first on PATH."""
    for name in ("plots", "bench", "bin"):
        (tmp_path / name).mkdir()
    for name in ("packages.py", "command_line.py", "requirements.txt"):
        shutil.copy(ROOT / "plots" / name, tmp_path / "plots" / name)
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "mk", tmp_path / "mk")
    (tmp_path / "plots/report.py").write_text("print('made')\n")
    script(tmp_path / "bench/measure.sh", "shift 2; exec \"$@\" a.csv")

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
