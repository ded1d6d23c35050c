"""The pinned packages: each with its reason, and one version of each for every supported Python."""

import csv
import os
import sys

import parso

from lessons import ROOT, run
from pins import FILES, PYTHONS, STATEMENT, chosen, pins, reasons, statement
from samples import some


def test_every_pin_has_its_reason():
    for file in FILES:
        names = {pin.name for pin in pins(file)}
        assert names and names <= reasons(file), file


def test_every_python_has_one_version_of_every_package():
    names = sorted({pin.name for file in FILES for pin in pins(file)})
    for python in PYTHONS:
        assert sorted(pin.split("==")[0] for pin in chosen(python)) == names, python


def test_pip_was_asked_for_these_pins():
    with STATEMENT.open(newline="") as file:
        assert list(csv.reader(file)) == statement(), "run .venv/bin/python tools/pins.py"


def test_a_pin_without_a_version_is_reported(tmp_path):
    out, asked = tmp_path / "pins.csv", dict(some(PYTHONS.items(), 3))
    program = (f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import pins; pins.PYTHONS = {asked!r}; "
               "sys.exit(pins.main())")
    done = run(sys.executable, "-c", program, "--out", out, env={**os.environ, "PIP_NO_INDEX": "1"})
    assert done.returncode == 1 and not out.exists()
    lines = done.stderr.splitlines()
    assert len(lines) == len(asked) and all("No matching distribution found" in line for line in lines), done.stderr


def test_the_oldest_python_reads_every_file():
    """Ubuntu 22.04 could not read a[b, *c], which is of Python 3.11. The grammar leaves out `match` and parentheses
    around several `with` items, too."""
    grammar = parso.load_grammar(version=min(PYTHONS, key=lambda python: tuple(map(int, python.split(".")))))
    assert list(grammar.iter_errors(grammar.parse("a[b, *c]\n")))
    for path in sorted([
            *ROOT.glob("plots/**/*.py"), *ROOT.glob("lab/*.py"), *ROOT.glob("bench/*.py"), *ROOT.glob("step*/**/*.py"),
            *ROOT.glob("tests/**/*.py"), *ROOT.glob("tools/*.py")]):
        errors = list(grammar.iter_errors(grammar.parse(path.read_text(encoding="utf-8"))))
        assert errors == [], (path, errors[0].start_pos, errors[0].message)
