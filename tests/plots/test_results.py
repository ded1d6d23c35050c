"""The reader of result files: what it keeps, what it names, and which figures it gives under which label."""

import csv
import datetime
import sys

import pytest

from lessons import ROOT

sys.path.insert(0, str(ROOT / "plots"))
import results as reader

DATA = ROOT / "plots/data"
OURS = [DATA / f"h200_{name}.csv" for name in ("steps", "whitepaper", "book", "bandwidth", "peers")]
LINES = (DATA / "h200_whitepaper.csv").read_text().splitlines()
HEADING = LINES[0].split(",")


def changed(line, **cells):
    """A line of the file with some cells exchanged."""
    row = dict(zip(HEADING, LINES[line].split(",")), **cells)
    return ",".join(row.values())


def load(tmp_path, lines, end="\n"):
    path = tmp_path / "results.csv"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + end.encode())
    return reader.load([path])


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_committed_results_are_whole(path):
    found = reader.load([path])
    assert found.problems == []
    assert found.all == list(csv.DictReader(path.open()))


@pytest.mark.parametrize("line, words", [
    (LINES[2][:60], "too few values"),
    (LINES[2] + ",1", "too many values"),
    (LINES[2].replace("NVIDIA", '"NVIDIA'), "cannot be read"),
    (LINES[2].encode().replace(b"NVIDIA", b"NVIDI\xff"), "not UTF-8"),
    # Before Python 3.11, csv reads no line with a NUL in it.
    (b"\0" * 40, "too few values" if sys.version_info >= (3, 11) else "line contains NUL"),
    (LINES[0], "unknown back end 'backend'"),
    *((changed(2, **cells), words) for cells, words in [
        ({"time_median_ms": "fast"}, "time_median_ms is 'fast'"),
        ({"time_median_ms": "nan"}, "time_median_ms is 'nan'"),
        ({"bandwidth_gbs": "inf"}, "bandwidth_gbs is 'inf'"),
        ({"bandwidth_gbs": "1e999"}, "bandwidth_gbs is '1e999'"),
        ({"bandwidth_gbs": "-2338"}, "bandwidth_gbs is '-2338'"),
        ({"bandwidth_gbs": "2 338"}, "bandwidth_gbs is '2 338'"),
        ({"global_load_requests": "-"}, "global_load_requests is '-'"),
        ({"samples": "1_0"}, "samples is '1_0'"),
        ({"width": ""}, "width is ''"),
        ({"height": "0"}, "height is '0'"),
        ({"width": "2048.5"}, "width is '2048.5'"),
        ({"backend": "hip"}, "unknown back end 'hip'"),
        ({"verified": "no"}, "verified is 'no'"),
        ({"verified": ""}, "verified is ''"),
        ({"kernel": ""}, "no kernel"),
        ({"width": "2147483648"}, "expected a whole number from 1 to 2147400000"),
        ({"global_load_requests": "9" * 200}, "(200 characters): expected a whole number"),
        ({"block": "<script>"}, "block is '<script>': expected threads in x and y"),
        ({"machine": "x" * 201}, "expected at most 200 characters"),
        ({"machine": "a\x1b[2Jb"}, "machine is 'a\\x1b[2Jb': expected"),
        ({"machine": ""}, "no machine"),
        ({"date_utc": "yesterday"}, "date_utc is 'yesterday'"),
        ({"model_time_ms": "0.02"}, "back end cuda with a model_time_ms"),
        ({"backend": "sim"}, "back end sim with a time_median_ms"),
    ]),
])
def test_a_damaged_line_is_named_and_the_rest_kept(tmp_path, line, words):
    found = load(tmp_path, [*LINES[:2], line, *LINES[3:6]])
    (problem,) = found.problems
    assert problem.startswith(f"{tmp_path}/results.csv, line 3: ") and words in problem
    assert found.all == load(tmp_path, [*LINES[:2], *LINES[3:6]]).all and len(found.all) == 4


def test_a_file_cut_off(tmp_path):
    """Even where only the last digit is lost: what is left of it would pass for a value."""
    whole = LINES[3] + "352"[:3 * LINES[3].endswith(",")]
    for left, words in ((whole[:-1], "cut off"), (whole, "cut off"), (whole[:50], "too few values")):
        found = load(tmp_path, [*LINES[:3], left], end="")
        assert len(found.all) == 2 and len(found.problems) == 1 and "line 4: " + words in found.problems[0]


@pytest.mark.parametrize("text, words", [
    ("", ": no results in it"),
    ("\n", ": no results in it"),
    (LINES[0] + "\n", ": no results in it"),
    ("a,b\n1,2\n1,2,3\n", "line 1: no column backend"),
    (LINES[0].replace("verified", "checked") + "\n" + LINES[1] + "\n", "line 1: no column verified"),
    (LINES[0].replace("samples", "kernel") + "\n" + LINES[1] + "\n", "line 1: two columns called kernel"),
    ("\xff\xfe", "line 1: cannot be read"),
    ('"a\n', "line 1: cannot be read"),
])
def test_a_file_of_no_use(tmp_path, text, words):
    path = tmp_path / "other.csv"
    path.write_bytes(text.encode("latin-1"))
    found = reader.load([OURS[1], path])
    (problem,) = found.problems
    assert problem.startswith(str(path)) and words in problem
    assert len(found.all) == len(LINES) - 1


def test_no_file(tmp_path):
    found = reader.load([tmp_path / "none.csv", tmp_path])
    assert len(found.problems) == 2 and found.rows == []
    assert all(p.startswith(f"{tmp_path}") and ": cannot be read: " in p for p in found.problems)
    assert reader.load([]).problems == []


def test_the_newest_wins(tmp_path):
    rows = [changed(2, date_utc=f"2026-11-2{day}T00:00:00Z", bandwidth_gbs=gbs)
            for day, gbs in ((2, "10.0"), (3, "30.0"), (1, "20.0"), (3, "40.0"))]
    found = load(tmp_path,
                 [LINES[0], *rows,
                  changed(2, date_utc="2026-11-20T00:00:00Z", block="8x8", bandwidth_gbs="50.0")])
    assert [r["bandwidth_gbs"] for r in found.rows] == ["40.0", "50.0"] and len(found.all) == 5
    assert found.find("copy", 2048, block="")["bandwidth_gbs"] == "40.0"


def test_find():
    found = reader.load(OURS)
    gpu, cpu, sim = found.machines()
    assert found.find("W5", 2048)["kernel"] == "transposeNoBankConflicts"
    assert found.find("transposeCol", 4096, block="32x8")["block"] == "32x8"
    assert found.find("copy", 16384, type="double")["element_bytes"] == "8"
    assert (found.find("copy", 49152, 12288)["width"], found.find("copy", 49152)) == ("49152", None)
    assert found.find("F1", 4096)["backend"] == "cuda" and found.find("F1", 4096, machine=sim)["backend"] == "sim"
    assert found.find("F1", 4096, backends=["sim"])["machine"] == "H200"
    assert (found.find("F1", 4096, machine=cpu) is None and found.find("nothing", 4096) is None
            and found.find("W", 2048) is None)
    assert (found.find("B1", 256, machine=cpu)["kernel"] == "transposeSerialRead"
            and found.find("B1", 256, machine=gpu) is None)


def test_figures_have_labels():
    found = reader.load(OURS)
    gpu, _, sim = found.machines()
    timed, modelled = [found.find("F1", 4096, machine=machine) for machine in (gpu, sim)]
    assert [str(reader.bandwidth(row)) for row in (timed, modelled)] == ["1917 GB/s", "model 3137 GB/s"]
    assert [reader.time(row).label for row in (timed, modelled)] == ["measured", "model"]
    requests = reader.count(modelled, "global_load_requests")
    assert str(requests) == f"counted {modelled['global_load_requests']}" and requests.label == "counted"
    assert reader.count(timed, "global_load_requests") is None and reader.one_launch(timed) is None
    row = found.find("W1", 2048, machine=gpu, having="one_launch_bandwidth_gbs")
    assert str(reader.one_launch(row)) == f"{float(row['one_launch_bandwidth_gbs']):.0f} GB/s"


def test_no_value_is_made_of_nothing(tmp_path):
    found = load(tmp_path, [LINES[0], changed(2, time_median_ms="0.0000", bandwidth_gbs=""),
                            changed(3, backend="sim", time_median_ms="", bandwidth_gbs="", coalesced_percent="-")])
    assert (found.problems == []
            and [f(row) for row in found.rows for f in (reader.time, reader.bandwidth)] == [None] * 4)
    assert reader.count(found.rows[1], "coalesced_percent") is None


STEPS_ROWS = [row for path in (ROOT / "plots/data").glob("h*.csv") if "peers" not in path.name
              for _, row in reader.read(path, [])[1] if row.get("backend") == "cuda" and row.get("bandwidth_gbs")
              and "time_spread_percent" in row]


def test_the_limit_of_noise_is_that_of_the_data():
    """Of large matrices, every kernel of a step can be compared; of small ones, some cannot."""
    large = [row for row in STEPS_ROWS if int(row["width"]) * int(row["height"]) >= 1024 ** 2
             and "Host" not in row["kernel"] and "ToDevice" not in row["kernel"]]
    assert len(large) > 1000 and max(float(row["time_spread_percent"]) for row in large) < 100 * reader.TOO_NOISY
    small = [row for row in STEPS_ROWS if int(row["width"]) <= 512]
    assert max(float(row["time_spread_percent"]) for row in small) > 100 * reader.TOO_NOISY


@pytest.mark.parametrize("date", [
    "9999-99-21T00:00:00Z", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-22T24:00:00Z",
    "2026-11-22T00:60:00Z", "0000-11-22T00:00:00Z"])
def test_a_date_that_is_none(tmp_path, date):
    found = load(tmp_path, [LINES[0], changed(2, date_utc=date)])
    assert not found.all and f"date_utc is '{date}': expected YYYY-MM-DDThh:mm:ssZ" in found.problems[0]


def in_hours(hours):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (now + datetime.timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_date_in_the_future(tmp_path):
    """It would be newer than all that is measured from now on. Clocks that differ by some minutes are usual."""
    found = load(tmp_path, [LINES[0], changed(2, date_utc=in_hours(0.5)), changed(2, date_utc="9998-12-31T00:00:00Z")])
    assert len(found.all) == 1 and found.problems[0].endswith(
        "date_utc is '9998-12-31T00:00:00Z', which is in the future: the clock of that machine is wrong")


def test_joins_are_said(tmp_path):
    """Rows of several commits, drivers or machines."""
    alone = load(tmp_path, [LINES[0], changed(2, commit="aaa")])
    assert alone.joined() == [] and alone.machines()[0].of_commits == "commit aaa"
    found = load(tmp_path, [
        LINES[0], changed(2, commit="bbb", date_utc="2026-11-20T00:00:00Z"),
        changed(2, commit="aaa", date_utc="2026-11-19T00:00:00Z", driver="1.0"), changed(2, commit="bbb"),
        changed(2, machine="Other", commit="aaa")])
    driver = next(csv.DictReader([LINES[0], LINES[2]]))["driver"]
    first = found.machines()[0]
    assert (first.days, first.of_commits) == (f"2026-11-19 to {first.date[:10]}", "commits aaa and bbb")
    assert found.joined() == [
        f"{first.name}: rows of commits aaa and bbb and of drivers 1.0, {driver}, {first.days}, are taken together",
        f"2 GPUs: {first.name}, Other; their rows are kept apart"]
