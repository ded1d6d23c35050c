"""Result files are input: what is planted in them is shown and never run, what is damaged is named, machines are kept
apart; in any locale, on any output."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from conftest import NO_SIGNAL_IGNORED, assert_refused, needs
from lessons import ROOT, run

sys.path.insert(0, str(ROOT / "plots"))
import results as reader
import tables
import whole

DATA = ROOT / "plots/data"
PYTHON = sys.executable


def rows(name):
    return (DATA / f"h200_{name}.csv").read_text(encoding="utf-8").splitlines(keepends=True)


def test_a_column_that_is_missing_is_named(tmp_path):
    path = tmp_path / "results.csv"
    heading = rows("whitepaper")[0].strip().split(",")
    for column in reader.NEEDED:
        path.write_text(",".join("other" if name == column else name for name in heading) + "\n"
                        + "".join(rows("whitepaper")[1:]))
        (problem,) = reader.load([path]).problems
        assert problem == f"{path}, line 1: no column {column}: not a file that ./stepNN --csv wrote"
    assert_refused(run(PYTHON, ROOT / "plots/tables.py", "whitepaper", path), 2, f"no column {column}")


def test_what_spreadsheets_write(tmp_path):
    path = tmp_path / "results.csv"
    path.write_bytes(b"\xef\xbb\xbf" + "".join(rows("whitepaper")).replace("\n", "\r\n").encode())
    assert reader.load([path]).problems == [] and len(reader.load([path]).all) == len(rows("whitepaper")) - 1


def test_times_of_two_machines_are_never_divided(tmp_path):
    heading, *lines = rows("book")
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    here.write_text(heading + "".join(line for line in lines if "transposeLoopingBlocks" not in line))
    there.write_text(heading + "".join(
        line.replace("NVIDIA H200", "NVIDIA T4") for line in lines if "transposeLoopingBlocks" in line))
    out = run(PYTHON, ROOT / "plots/tables.py", "book", here, there).stdout
    assert [line for line in out.splitlines() if line.startswith("Here: measured on N")] == \
        [next(line for line in out.splitlines() if f"measured on NVIDIA {name}" in line) for name in ("H200", "T4")]
    for part in out.split("Here: measured on NVIDIA ")[1:]:
        last = part.split("The book's table 9.3")[1].split("\n\n")[1].splitlines()[1:]
        assert (len(last) == 6 and all(line.split()[-1] == "-" for line in last)
                and {line.split()[4] == "-" for line in last} == {part.startswith("T4")})
    # One machine, model and measurement: neither.
    assert not tables.comparable(
        *(reader.time(row) for row in (reader.load([here]).find("B7", 2048), reader.load([there]).find("B9", 2048))))


def test_any_output_and_any_locale(tmp_path):
    """A reader that has read enough, a full disk, and a locale in which nothing but ASCII can be decoded."""
    (tmp_path / "results.csv").write_text("".join(rows("whitepaper")).replace("NVIDIA", "NVIDIÄ"), encoding="utf-8")
    command = [PYTHON, ROOT / "plots/tables.py", "whitepaper", tmp_path / "results.csv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() == 1
    process.stderr.close()
    needs("/dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "tables.py: standard output cannot be written: No space left on device\n"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(command, env=environment, capture_output=True)
    expected = subprocess.run(command, capture_output=True).stdout.decode()
    assert done.returncode == 0 and done.stderr == b""
    assert done.stdout.decode() == expected.encode("ascii", "backslashreplace").decode()


# Files of ours.

TOGETHER = """import sys, whole
def main():
    with whole.together(sys.argv[1]) as folder:
        for i in range(100): (folder / str(i)).write_text(sys.argv[2])
        print("written", flush=True)
        sys.stdin.read()
sys.exit(whole.run(main, "test"))
"""


def together(folder, text):
    return subprocess.Popen([*NO_SIGNAL_IGNORED, PYTHON, "-c", TOGETHER, folder, text], cwd=ROOT / "plots", text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_files_that_belong_together_are_of_one_program(tmp_path):
    programs = [together(tmp_path, text) for text in "abc"]
    for program in programs:
        assert program.stdout.readline() == "written\n"
    assert not [name for name in os.listdir(tmp_path) if not name.startswith(".new-")]
    for program in programs:
        program.stdin.close()
    assert [program.wait(timeout=60) for program in programs] == [0, 0, 0]
    assert len(os.listdir(tmp_path)) == 100 and len({path.read_text() for path in tmp_path.iterdir()}) == 1


def test_a_program_that_is_stopped_leaves_nothing_half_written(tmp_path):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        program = together(tmp_path, "a")
        assert program.stdout.readline() == "written\n"
        program.send_signal(number)
        assert program.wait(timeout=60) != 0 and os.listdir(tmp_path) == []


def test_files_that_replace_others_keep_what_these_are(tmp_path):
    """Permissions, and links; a device gets the bytes."""
    mask = os.umask(0)
    os.umask(mask)
    for way in ("alone", "together"):
        folder = tmp_path / way
        whole.write(tmp_path / "first", "é\n")
        assert (tmp_path / "first").read_bytes() == b"\xc3\xa9\n"
        assert (tmp_path / "first").stat().st_mode & 0o777 == 0o666 & ~mask
        folder.mkdir()
        (folder / "old").write_text("old")
        (folder / "old").chmod(0o640)
        (folder / "link").symlink_to("target")
        if way == "alone":
            for name in ("old", "link"): whole.write(folder / name, b"new")
        else:
            with whole.together(folder) as new:
                for name in ("old", "link"): (new / name).write_text("new")
        assert sorted(os.listdir(folder)) == ["link", "old", "target"] and (folder / "link").is_symlink()
        assert (folder / "old").stat().st_mode & 0o777 == 0o640
        assert {path.read_text() for path in folder.iterdir()} == {"new"}
    whole.write(folder / "old", "all", mode=0o644)
    assert (folder / "old").stat().st_mode & 0o777 == 0o644
    whole.write("/dev/null", "nothing")


def test_a_file_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(pathlib.Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        whole.write(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file"]
    for bad in (tmp_path, tmp_path / "file/below", tmp_path / "none/file"):
        with pytest.raises(OSError, match=str(bad)):
            whole.write(bad, "")
    done = run(PYTHON, ROOT / "plots/tables.py", "book", DATA / "h200_book.csv", "--csv", tmp_path / "none/all.csv")
    assert_refused(done, 2, "tables.py: ", "none/all.csv: No such file or directory")
