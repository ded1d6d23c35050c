"""What tools/portability.py found (tests/data/portability.csv), and that it would notice a fault."""

import csv
import re

import portability
from lessons import ROOT, run

SCRIPT = ROOT / "tools/portability.py"
with (ROOT / "tests/data/portability.csv").open(newline="", encoding="utf-8") as file:
    TABLE = list(csv.DictReader(file))


def test_every_row_is_as_expected():
    expected = {row.name: row for row in portability.rows()}
    assert [row["row"] for row in TABLE] == list(expected), "run tools/portability.py again"
    for row in TABLE:
        of = expected[row["row"]]
        assert row["result"] == "ok" and row["status"] == row["status_expected"] == str(of.status), row
        assert (row["line"] and row["system"] and re.fullmatch(r"[0-9a-f]{10}", row["commit"])
                and re.fullmatch(r"\d{4}-\d\d-\d\d", row["date_utc"])), row


def test_no_mirror_is_in_the_table():
    assert not re.search(r"https?:|/tmp/\w+_", (ROOT / "tests/data/portability.csv").read_text(encoding="utf-8"))


def test_it_refuses_what_it_does_not_know():
    done = run("python3", SCRIPT, "--only", "no such row")
    assert done.returncode == 2
    assert done.stderr == "portability.py: --only no such row: no row is called so; --list has their names\n"
    assert run("python3", SCRIPT, "--list").stdout.splitlines() == [row.name for row in portability.rows()]


def test_scripts_are_bash():
    for row in portability.rows():
        done = run("bash", "-n", "-c", row.script)
        assert done.returncode == 0, (row.name, done.stderr)
