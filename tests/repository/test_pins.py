"""The pinned packages: each with its reason, one version of each for every supported Python, and hashes for all."""

import re
import sys

import parso
import pytest
from packaging.requirements import Requirement

from lessons import ROOT, run
from pins import LOCKS, PROCESSORS, PYTHONS, lock, written


def chosen(room):
    """The packages that a person wrote for a room."""
    lines = [line.split("#")[0].strip() for line in written(room).read_text().splitlines()]
    return [Requirement(line) for line in lines if line]


def reasons(room):
    """The packages that a comment gives a reason for: '# names: reason'."""
    return {name for names in re.findall(r"^# ([\w, -]+): \w", written(room).read_text().lower(), re.MULTILINE)
            for name in names.split(", ")}


def locked(room):
    """[(the requirement, its hashes, who wants it)] of a room's requirements.txt, as uv writes it."""
    entries = re.findall(r"^(\S.*?) \\\n((?:    --hash=\S+(?: \\)?\n)+)((?:    #.*\n)+)", lock(room).read_text(),
                         re.MULTILINE)
    return [(Requirement(pin), re.findall(r"--hash=sha256:([0-9a-f]{64})\b", hashes), wanted)
            for pin, hashes, wanted in entries]


def versions(pins, python, processor):
    """{package: its version} for a Python on Linux."""
    system = {"python_version": python, "python_full_version": f"{python}.1", "platform_machine": processor,
              "sys_platform": "linux", "implementation_name": "cpython"}
    found = [pin for pin in pins if not pin.marker or pin.marker.evaluate(system)]
    assert len(found) == len({pin.name for pin in found}), (python, found)
    return {pin.name: str(pin.specifier) for pin in found}


SYSTEMS = [(python, processor) for python in PYTHONS for processor in PROCESSORS]


def test_every_pin_has_its_reason():
    for room in LOCKS:
        pins = chosen(room)
        assert pins and {pin.name for pin in pins} <= reasons(room), room
        assert all(re.fullmatch(r"==[\d.]+", str(pin.specifier)) for pin in pins), room


@pytest.mark.parametrize("room", LOCKS)
def test_a_lock_is_that_of_what_was_written(room):
    entries = locked(room)
    for python, processor in SYSTEMS:
        wanted = {}
        for other in LOCKS[room]: wanted |= versions(chosen(other), python, processor)
        direct = [pin for pin, _, who in entries if re.search(r" -r \w+/requirements\.in$", who, re.MULTILINE)]
        assert versions(direct, python, processor) == wanted, f"{room}, Python {python}, {processor}: make pins"


@pytest.mark.parametrize("room", LOCKS)
def test_a_lock_has_a_hash_of_everything_and_no_address(room):
    text, entries = lock(room).read_text(), locked(room)
    assert len(entries) == len(re.findall(r"^[\w-]", text, re.MULTILINE)) and all(hashes for _, hashes, _ in entries)
    assert sum(len(hashes) for _, hashes, _ in entries) == text.count("--hash=")
    assert "://" not in text and "index" not in text.replace("make pins", "")
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for pin, _, _ in entries)


def test_the_tests_have_the_versions_of_the_other_rooms():
    for python, processor in SYSTEMS:
        everything = versions([pin for pin, _, _ in locked("tests")], python, processor)
        for room in ("plots", "lab"):
            own = versions([pin for pin, _, _ in locked(room)], python, processor)
            assert own.items() <= everything.items(), (room, python, processor)


def pins_with(tmp_path, uv, *arguments):
    """tools/pins.py in a folder, with rooms and a script in the place of uv; no uv if there is no script."""
    for room in LOCKS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "requirements.in").touch()
        (tmp_path / room / "requirements.txt").write_text("old\n")
    if uv:
        (tmp_path / "uv").write_text(f"#!/bin/sh\n{uv}\n")
        (tmp_path / "uv").chmod(0o755)
    program = (f"import pathlib, sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import pins; "
               f"pins.ROOT = pathlib.Path({str(tmp_path)!r}); pins.UV = pins.ROOT / 'uv'; sys.exit(pins.main())")
    done = run(sys.executable, "-c", program, *arguments)
    return done, {(tmp_path / room / "requirements.txt").read_text() for room in LOCKS}


NEW = 'while [ "$1" ]; do if [ "$1" = --output-file ]; then echo new > "$2"; fi; shift; done'


def test_what_uv_resolves_is_written(tmp_path):
    done, texts = pins_with(tmp_path, NEW)
    assert (done.returncode, done.stderr, texts) == (0, "", {"new\n"})


def test_a_lock_that_differs_is_named(tmp_path):
    done, texts = pins_with(tmp_path, NEW, "--check")
    assert done.returncode == 1 and texts == {"old\n"}
    assert done.stderr.splitlines() == [f"pins.py: {room}/requirements.txt differs; type make pins" for room in LOCKS]


def test_a_package_without_a_wheel_is_named_and_nothing_is_written(tmp_path):
    fails = 'case "$*" in *"3.11 "*aarch64*tests.txt) echo "no wheel" >&2; exit 1;; esac\n'
    done, texts = pins_with(tmp_path, fails + NEW)
    assert done.returncode == 1 and texts == {"old\n"}
    assert done.stderr == "pins.py: tests/requirements.in: Debian 12, Python 3.11, aarch64: no wheel\n"


def test_a_pin_that_cannot_be_resolved_is_named_and_nothing_is_written(tmp_path):
    done, texts = pins_with(tmp_path, 'echo "no version" >&2; exit 1')
    assert done.returncode == 1 and texts == {"old\n"}
    assert done.stderr.splitlines() == [f"pins.py: {room}/requirements.in: no version" for room in LOCKS]


def test_without_uv_one_line_says_what_to_type(tmp_path):
    done, texts = pins_with(tmp_path, None)
    assert (done.returncode, texts) == (2, {"old\n"})
    assert done.stderr == f"pins.py: {tmp_path}/uv is missing; type make pins\n"


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
