"""Figures in prose: each kind gives what the data say, and one that has drifted, or has no source, is noticed."""

import csv
import shutil
import sys

import pytest

from lessons import ROOT, run

sys.path.insert(0, str(ROOT / "plots"))
import quoted


def row(name, **values):
    """The last row of a committed file that has these values."""
    with (ROOT / name).open(newline="", encoding="utf-8") as lines:
        return [r for r in csv.DictReader(lines) if all(r[column] == value for column, value in values.items())][-1]


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
    expected = {
        "gbs transposeNaive float 16384": f"{float(naive['bandwidth_gbs']):.0f}",
        "ms transposeNaive float 16384x16384": f"{float(naive['time_median_ms']):.3g}",
        "bound float 16384": f"{2 * 16384 ** 2 * 4 / float(naive['dram_peak_gbs']) / 1e6:.2f}",
        "over transposeNaive float 16384":
            f"{float(naive['dram_peak_gbs']) / float(naive['bandwidth_gbs']):.1f}",
        "share transposeNaive float 16384": f"{float(naive['bandwidth_percent_of_memcpy']) / 100:.2f}",
        "percent transposeNaive float 16384": f"{float(naive['bandwidth_percent_of_memcpy']):.0f}",
        "times transposeNoBankConflicts transposeNaive float 16384":
            f"{float(padded['bandwidth_gbs']) / float(naive['bandwidth_gbs']):.1f}",
        "ahead cublasGeam double 16383x16381": f"{gbs['transposeLongPieces'] / gbs['cublasGeam']:.2f}",
        "peer cublasGeam double 16383x16381": f"{gbs['cublasGeam'] / gbs['cudaMemcpy']:.3f}",
        f"trial {trial} float 16384": f"{float(row('plots/data/h200_trials.csv', trial=trial, **at)['of_memcpy']):.3f}",
        "modelled transposeNaive": f"{float(modelled['model_bandwidth_gbs']):.1f}",
        "published W1": f"{float(published['value']) * 1.073741824:.1f}",
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


def test_a_drifted_figure_is_noticed(tmp_path):
    """In a copy of the pages and the data: --check names the page, and without it the figure is written."""
    for folder in ("plots", "common", "docs", "sim", "lab", "tests/data",
                   *(path.name for path in ROOT.glob("step*") if path.is_dir())):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.svg", "__pycache__"))
    page = tmp_path / "README.md"
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    figure = f"{quoted.number('ms transposeNaive float 16384')}<!-- = ms transposeNaive float 16384 -->"
    assert figure in text
    command = [sys.executable, tmp_path / "plots/readme.py"]
    page.write_text(text.replace(figure, "4.23<!-- = ms transposeNaive float 16384 -->"), encoding="utf-8")
    stale = run(*command, "--check")
    assert (stale.returncode, stale.stderr) == (1, "stale: README.md\n")
    assert run(*command).returncode == 0 and page.read_text(encoding="utf-8") == text
    page.write_text(text.replace("ms transposeNaive float 16384", "ms transposeNaif float 16384"),
                    encoding="utf-8")
    lost = run(*command, "--check")
    assert (lost.returncode == 1 and lost.stderr.startswith("readme.py: ") and "transposeNaif" in lost.stderr
            and len(lost.stderr.splitlines()) == 1)
