"""Figures in prose and in tables: each kind gives what the data say, and one that has drifted, or has no source, is
noticed. A table of kernels has all that were measured."""

import csv
import re
import shutil
import sys

import pytest

from lessons import ROOT, run

sys.path.insert(0, str(ROOT / "plots"))
import quoted
from facts import LESSONS
from fit_gtx280 import FITTED


def rows(name):
    with (ROOT / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def row(name, **values):
    """The last row of a committed file that has these values."""
    return [r for r in rows(name) if all(r[column] == value for column, value in values.items())][-1]


def test_each_kind_gives_what_the_data_say():
    at = {"type": "float", "width": "16384", "height": "16384"}
    naive, padded = (row("plots/data/h200_steps.csv", kernel=kernel, **at)
                     for kernel in ("transposeNaive", "transposeNoBankConflicts"))
    peers = {
        name: row("plots/data/h200_peers.csv", kernel=name, type="double", width="16383", height="16381")
        for name in ("transposeLongPieces", "cublasGeam", "cudaMemcpy")}
    gbs = {name: float(r["bandwidth_gbs"]) for name, r in peers.items()}
    trial = "elements, 64 x 64, 16 warps"
    modelled = row("plots/data/gtx280_model.csv", kernel="transposeNaive", width="2048")
    published = row("plots/published.csv", machine="GTX 280", source_row="W1", quantity="bandwidth")
    batch = {"n": "128", "trial": "one launch for all, tile of 64 x 64, 16 warps"}
    percent = {r["submission"]: float(r["bandwidth_percent_of_memcpy"]) for r in rows("tests/data/h200_lab.csv")
               if r["exercise"] == "8"}
    wrong = [abs(float(r["ratio"]) - 1) for r in rows("plots/data/model_errors.csv")
             if [r[c] for c in ("machine", "type", "width", "held_out")] == ["h200", "double", "16384", "yes"]]
    expected = {
        "gbs transposeNaive float 16384": f"{float(naive['bandwidth_gbs']):.0f}",
        "ms transposeNaive float 16384x16384": f"{float(naive['time_median_ms']):.3g}",
        "bound float 16384": f"{2 * 16384 ** 2 * 4 / float(naive['dram_peak_gbs']) / 1e6:.2f}",
        "over transposeNaive float 16384":
            f"{float(naive['dram_peak_gbs']) / float(naive['bandwidth_gbs']):.1f}",
        "share transposeNaive float 16384": f"{float(naive['bandwidth_percent_of_memcpy']) / 100:.2f}",
        "share:3 transposeNaive 'float 16384²'": f"{float(naive['bandwidth_percent_of_memcpy']) / 100:.3f}",
        "percent transposeNaive float 16384": f"{float(naive['bandwidth_percent_of_memcpy']):.0f}",
        "times transposeNoBankConflicts transposeNaive float 16384":
            f"{float(padded['bandwidth_gbs']) / float(naive['bandwidth_gbs']):.1f}",
        "ahead cublasGeam double 16383x16381": f"{gbs['transposeLongPieces'] / gbs['cublasGeam']:.2f}",
        "peer cublasGeam double 16383x16381": f"{gbs['cublasGeam'] / gbs['cudaMemcpy']:.3f}",
        f"trial {trial} float 16384": f"{float(row('plots/data/h200_trials.csv', trial=trial, **at)['of_memcpy']):.3f}",
        "modelled transposeNaive": f"{float(modelled['model_bandwidth_gbs']):.1f}",
        "published W1": f"{float(published['value']) * 1.073741824:.1f}",
        "published copy": f"{float(published['value']) * 1.073741824:.1f}",
        "within H200 double 16384² yes": f"{sum(w <= 0.15 for w in wrong)} of {len(wrong)}",
        "mean H200 double 16384² yes": f"{100 * sum(wrong) / len(wrong):.1f}",
        "largest H200 double 16384² yes": f"{100 * max(wrong):.0f}",
        "ask 8": f"{(percent['handed out'] + 2 * percent['solved']) / 3:.0f}",
        "cell h200_profile gpu__time_duration.sum , kernel=copy 'at=float 2048'": "11 200",
        "cell h200_transfers us 1 way=to_host memory=pinned 'bytes=16 KiB'":
            f"{float(row('plots/data/h200_transfers.csv', way='to_host', memory='pinned', bytes='16384')['us']):.1f}",
        'cell h200_batches us_per_matrix 1*1e3 n=128 "trial=one launch for all, tile of 64 x 64, 16 warps"':
            f"{float(row('plots/data/h200_batches.csv', **batch)['us_per_matrix']) * 1e3:.1f}",
    }
    assert {source: quoted.number(source) for source in expected} == expected


def test_a_figure_is_written_and_its_source_hidden():
    right = quoted.number("gbs copy float 16384")
    text = "It is {}<!-- = gbs copy float 16384 --> GB/s, not 12."
    assert quoted.fill(text.format("1.5")) == quoted.fill(text.format("1,234")) == text.format(right)
    assert quoted.without_sources(text.format(right)) == f"It is {right} GB/s, not 12."


@pytest.mark.parametrize("source, words", [("gb copy float 16384", "no figure is called gb"),
                                           ("gbs copy float", "missing"),
                                           ("ask 1", "gains nothing"),
                                           ("published W99", "no W99"),
                                           ("gbs copi float 16384", "no copi, float, 16384"),
                                           ("gbs copy float 16385", "no copy, float, 16385"),
                                           ("cell none value 0 a=b", "no none.csv"),
                                           ("cell h200_micro valu 0 constant=stream", "valu"),
                                           ("cell h200_micro value 0 constant=strea", "0 rows have constant = strea"),
                                           ("cell h200_micro value x constant=stream", ""),
                                           ("cell h200_peers bandwidth_gbs 0 type=float", "rows have type = float")])
def test_what_is_not_there_is_named(source, words):
    with pytest.raises(ValueError, match=words):
        quoted.number(source)


TABLE = """<!-- = | gbs {0} float {h} | share:3 {0} float 16384 -->

| kernel | idea 1 | 16384² | share |
|---|---|---:|---:|
| `copy`, step 1 | 7 | 1 | 0.5† |
| `nothing` | 8 | - | - |
| [copyVector](x.md) | 9 | 5<!-- = gbs copy float 8192 --> | - |

A note with 3. <!-- end -->
"""


def test_a_table_is_filled_by_column():
    """From its rows and headings. Columns of text, notes and what stands around a figure stay."""
    filled = quoted.fill(TABLE.replace("[copyVector](x.md)", "`copyVector`"))
    gbs, share, own, vector = (quoted.number(source) for source in (
        "gbs copy float 16384", "share:3 copy float 16384", "gbs copy float 8192", "share:3 copyVector float 16384"))
    assert f"| `copy`, step 1 | 7 | {gbs} | {share}† |\n| `nothing` | 8 | - | - |\n" in filled
    assert f"| 9 | {own}<!-- = gbs copy float 8192 --> | {vector} |\n\nA note with 3. <!-- end -->" in filled
    assert quoted.sources_of('a x=1 y=2 | | + "x=3 4"') == [["a", "x=1", "y=2"], [], ["a", "y=2", "x=3 4"]]
    assert quoted.fill(filled) == filled and quoted.without_sources(f"a\n\n{filled}b") == "a\n\nb"


@pytest.mark.parametrize("text, words", [
    (TABLE.replace("| 8 | -", "| 8 | 3"), "no nothing, float, 16384"), (TABLE.replace("<!-- end -->", ""), "no table"),
    (TABLE.replace("| kernel", "\n| kernel"), "no table"), (TABLE.replace("{h}", "{9}"), "9"),
    ("Many<!-- = gbs copy float 16384 --> GB/s", "no figure stands in front of"),
    ("It is 3 <!-- = gbs copy float 16384 -->", "no figure stands in front of")])
def test_a_mark_that_holds_nothing_is_named(text, words):
    with pytest.raises(ValueError, match=words):
        quoted.fill(text)


def test_the_pages_have_the_figures_of_the_data():
    done = run(sys.executable, ROOT / "plots/quoted.py", "--check")
    assert done.returncode == 0, done.stderr


def test_a_drifted_figure_is_noticed(tmp_path):
    """In a copy of the pages and the data, in prose, in a table and in the data. --check names the page, and without it
    the figure is written."""
    for folder in ("plots", "common", "docs", "sim", "lab", "tests/data",
                   *(path.name for path in ROOT.glob("step*") if path.is_dir())):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.svg", "__pycache__"))
    (tmp_path / "README.md").write_text((ROOT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, tmp_path / "plots/quoted.py"]
    figure = f"{quoted.number('ms transposeNaive float 16384')}<!-- = ms transposeNaive float 16384 -->"
    drifted = {"README.md": (figure, "4.23<!-- = ms transposeNaive float 16384 -->"),
               "step04_padding/README.md": ("| 17.8 |", "| 17.9 |"),
               "step07_long_pieces/LOG.md": ("| 0.972 |", "| - |")}
    texts = {name: (tmp_path / name).read_text(encoding="utf-8") for name in drifted}
    for name, (right, wrong) in drifted.items():
        assert right in texts[name]
        (tmp_path / name).write_text(texts[name].replace(right, wrong, 1), encoding="utf-8")
    stale = run(*command, "--check")
    assert (stale.returncode, stale.stderr) == (1, f"stale: {', '.join(drifted)}\n")
    assert run(*command).stdout == f"written: {', '.join(drifted)}\n"
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in drifted} == texts
    page, text = tmp_path / "README.md", texts["README.md"]
    page.write_text(text.replace("ms transposeNaive float 16384", "ms transposeNaif float 16384"), encoding="utf-8")
    lost = run(*command, "--check")
    assert (lost.returncode == 1 and lost.stderr.startswith("quoted.py: README.md: ") and "transposeNaif" in lost.stderr
            and len(lost.stderr.splitlines()) == 1)
    page.write_text(text, encoding="utf-8")
    data = tmp_path / "plots/data/h200_transfers.csv"
    was = data.read_text(encoding="utf-8")
    data.write_text(was.replace("to_device,pinned,1024,8.008,5.8,0.128", "to_device,pinned,1024,9.008,5.8,0.228"),
                    encoding="utf-8")
    stale = run(*command, "--check")
    assert (stale.returncode, stale.stderr) == (1, "stale: step01_copy/TIMING.md\n")
    fresh = run(*command)
    changed = (tmp_path / "step01_copy/TIMING.md").read_text(encoding="utf-8")
    assert fresh.returncode == 0 and "   9.0<!-- = cell h200_transfers us" in changed and "| 0.14 | 0.23 |" in changed


def kernels(file, **values):
    return {r["kernel"] for r in rows(f"plots/data/{file}.csv") if all(r[c] == value for c, value in values.items())}


ROWS = {  # (a page, a part of the mark of its table): the rows that the data have for it
    **{(f"{step}/VARIANTS.md", "gbs"): {
        *kernels("gtx280_model", step=step),
        *(kernels("h200_steps", step=step, type="float", width="16384") - kernels("h200_steps", bandwidth_gbs=""))}
       for step in dict.fromkeys(lesson.step for lesson in LESSONS) if step != "step08_gpus"},
    ("step08_gpus/VARIANTS.md", "h100_gpus"): kernels("h100_gpus", processes="1"),
    ("docs/PEERS.md", "ahead"): {"cudaMemcpy", *kernels("h200_peers", step="peers")},
    ("docs/PEERS.md", "h100_peers"): {
        "transposeLongPieces", "transposeVectorized", *kernels("h100_peers", step="peers")}}


@pytest.mark.parametrize("page, part", ROWS)
def test_a_table_has_every_kernel_of_its_data(page, part):
    (lines,) = [match[2] for match in quoted.TABLE.finditer((ROOT / page).read_text(encoding="utf-8"))
                if part in match[1]]
    found = re.findall(r"^\| `(.*?)`", lines, re.MULTILINE)
    assert len(found) > 1 and sorted(found) == sorted(ROWS[page, part])


def test_the_tables_of_the_lessons():
    """The README's has the ideas of common/lessons.csv, and a dagger marks the rows that the model is fitted to."""
    table = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [(line[0], line[1], line[2]) for line in re.findall(
        r"^\| \[(\d)\]\(step.*?\) \| (.*?) \| `(\w+)` \|", table, re.MULTILINE)] == [
            (str(lesson.number), lesson.idea, lesson.kernel) for lesson in LESSONS if lesson.program != "step08"]
    daggers = [kernel for path in sorted(ROOT.glob("step*/VARIANTS.md"))
               for kernel in re.findall(r"^\| `(\w+)` .*†", path.read_text(encoding="utf-8"), re.MULTILINE)]
    assert sorted(daggers) == sorted(FITTED)
