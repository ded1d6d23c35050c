"""Files are whole or not there: what happens to them when descriptors are closed, the disk is full, memory runs out or
the program is killed."""

import csv
import os
import resource
import shutil
import signal
import subprocess

import pytest

from conftest import assert_refused, needs, step
from lessons import ROOT, computing, run
from samples import some

STEP = str(ROOT / "step04")


def whole(path, lines):
    """A file of results: its heading, and so many rows."""
    text = path.read_text()
    return (text.startswith("date_utc,") and text.endswith("\n")
            and len(list(csv.DictReader(text.splitlines()))) == lines)


@pytest.mark.parametrize("closed, status", [("2>&-", 0), ("<&- >&- 2>&-", 2)])
def test_a_closed_descriptor_is_no_place_for_text(closed, status, tmp_path):
    """What is printed would go to the file that got the descriptor's number. That nobody can read it is a fault of its
    own."""
    done = subprocess.run(
        ["sh", "-c", f'"$0" --device sim --size 32 --csv results.csv --trace trace.csv {closed}', STEP], cwd=tmp_path)
    assert done.returncode == status
    assert whole(tmp_path / "results.csv", 1)
    trace = (tmp_path / "trace.csv").read_text().splitlines()
    assert (trace[0].startswith("machine,kernel,")
            and all(line.startswith("H200,transposeNoBankConflicts,") for line in trace[1:]) and len(trace) == 129)
    assert sorted(os.listdir(tmp_path)) == ["results.csv", "trace.csv"]


def test_two_files_have_two_places(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "old.csv").write_text("old")
    (tmp_path / "same.csv").symlink_to("old.csv")
    (tmp_path / "none.csv").symlink_to("new.csv")
    for one, other in (("a.csv", "a.csv"), ("a.csv", "./folder/../a.csv"), ("folder/a.csv", "link/a.csv"),
                       ("old.csv", "same.csv"), ("none.csv", "new.csv")):
        assert_refused(step("step04", "--csv", one, "--trace", other, cwd=tmp_path), 2,
                       "--csv and --trace name the same file", "a name of its own")
    assert ((tmp_path / "old.csv").read_text() == "old"
            and sorted(os.listdir(tmp_path)) == ["folder", "link", "none.csv", "old.csv", "same.csv"])
    assert step("step04", "--size", 32, "--csv", "/dev/null", "--trace", "/dev/null").returncode == 0


@pytest.mark.parametrize("target", ["../folder/new.csv", "other"])
def test_a_link_to_a_file_that_is_not_there(target, tmp_path):
    """It stays a link, and the file that it names is made."""
    here = tmp_path / "here"
    for folder in (here, here / "folder", tmp_path / "folder"):
        folder.mkdir()
    (here / "other").symlink_to("folder/new.csv")
    (here / "link.csv").symlink_to(target.format(tmp_path))
    assert step("step04", "--size", 32, "--csv", here / "link.csv").returncode == 0
    assert (here / "link.csv").is_symlink() and whole(here / "link.csv", 1)
    assert not (here / "link.csv").resolve().is_symlink() and (here / "other").is_symlink()


def test_both_files_or_none(tmp_path):
    needs("/dev/full")
    assert_refused(step("step04", "--size", 32, "--csv", tmp_path / "a.csv", "--trace", "/dev/full"), 2,
                   "--trace /dev/full", "No space left")
    assert_refused(step("step04", "--size", 32, "--csv", "/dev/full", "--trace", tmp_path / "a.csv"), 2,
                   "--csv /dev/full", "No space left")
    assert os.listdir(tmp_path) == []


def test_a_file_that_grows_too_large_is_not_there(tmp_path):
    old = tmp_path / "trace.csv"
    old.write_text("old")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 21, 1 << 21))

    done = subprocess.run([STEP, "--device", "sim", "--trace", old], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, preexec_fn=limit)
    assert_refused(done, 2, f"--trace {old}: cannot be written: File too large")
    assert old.read_text() == "old" and os.listdir(tmp_path) == ["trace.csv"]


def wait_for(process, words):
    for line in process.stdout:
        if words in line:
            return line
    raise AssertionError(f"it ended without {words!r}")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_is_killed_leaves_nothing(number, tmp_path):
    """In the middle of writing."""
    process = subprocess.Popen([STEP, "--device", "sim", "--size", "4096", "--csv", tmp_path / "results.csv", "--trace",
                                tmp_path / "trace.csv"],
                               stdout=subprocess.PIPE, text=True)
    said = wait_for(process, "--trace ")
    assert said == f"--trace {tmp_path}/trace.csv: transposeNoBankConflicts: 2097152 requests, about 190.8 MB\n"
    computing(process, 0.5)
    process.send_signal(number)
    process.communicate(timeout=600)
    assert process.returncode == -number and os.listdir(tmp_path) == []


def test_a_trace_that_the_disk_has_no_room_for_does_not_begin(tmp_path):
    """statvfs() as of a disk that is nearly full."""
    disk = preloaded(tmp_path, "int statvfs(const char* path, struct statvfs* disk) { (void)path; disk->f_bavail = 2; "
                               "disk->f_frsize = 4096; return 0; }")
    done = step("step04", "--size", 64, "--trace", "trace.csv", cwd=tmp_path, env=disk)
    assert_refused(done, 2, "--trace trace.csv: the 512 requests of transposeNoBankConflicts take about 44.5 kB",
                   "room for 8.2 kB", "smaller matrix")
    assert not (tmp_path / "trace.csv").exists()


def preloaded(tmp_path, function):
    """The environment of programs for which the C library has this function."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler called gcc or cc")
    source, library = tmp_path / "preloaded.c", tmp_path / "preloaded.so"
    source.write_text("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <fcntl.h>\n#include "
                      "<stdarg.h>\n#include <sys/statvfs.h>\n" + function + "\n")
    assert run(compiler, "-shared", "-fPIC", "-o", library, source, "-ldl").returncode == 0
    source.unlink()
    return {**os.environ, "LD_PRELOAD": str(library)}


@pytest.mark.variety
@pytest.mark.parametrize("program, arguments", [("step04", ["--size", "1024"]),
                                                ("step02", ["--size", "300", "--explain"]),
                                                ("step04", ["--size", "500", "--trace", "trace.csv"])])
def test_memory_that_runs_out_is_an_error(program, arguments, tmp_path):
    """Wherever it happens: on the main thread, on a second one, on a fiber. A line, or it sufficed."""
    statuses = set()
    for limit in some(range(60000, 260000, 5000), 2):  # KiB
        done = subprocess.run([ROOT / program, "--device", "sim", *arguments, "--csv", "results.csv"], cwd=tmp_path,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit * 1024, limit * 1024)))
        statuses.add(done.returncode)
        assert done.returncode in (0, 2, 127), (limit, done)  # 127: not even the libraries could be loaded
        if done.returncode == 2:
            assert len(done.stderr.splitlines()) == 1 and ("out of memory on the host" in done.stderr or
                                                           "GB of memory" in done.stderr), (limit, done.stderr)
        assert (done.returncode == 0) == (tmp_path / "results.csv").exists()
        for path in tmp_path.iterdir():
            assert path.name in ("results.csv", "trace.csv")
            path.unlink()
    assert statuses >= {0, 2}


def test_what_is_named_is_shown_on_one_line():
    done = subprocess.run([STEP, "--kernel", b"a\nb\xff\x1b[2J\xc3\xa9"], stdin=subprocess.DEVNULL, capture_output=True)
    assert (done.returncode == 2 and done.stderr.startswith(b"step04: --kernel a\\x0ab\\xff\\x1b[2J\xc3\xa9: expected")
            and done.stderr.count(b"\n") == 1)


@pytest.mark.parametrize("option, begins", [("--csv", "date_utc,"), ("--trace", "machine,kernel,launch,"),
                                            ("--json", '{"version": 1, '), ("--sarif", '{"$schema": ')])
def test_a_program_that_is_brought_along_writes_in_the_same_way(option, begins, tmp_path):
    environment = {**os.environ, "SIM_OPTIONS": f"{option} out.csv"}
    program = ROOT / "build/try/tests/sim/programs/vector_add"
    for closed in ("", "2>&-", "<&- 2>&-"):
        done = subprocess.run(["sh", "-c", f'"$0" {closed}', program], cwd=tmp_path, env=environment,
                              stdout=subprocess.DEVNULL)
        assert done.returncode == 0
        text = (tmp_path / "out.csv").read_text()
        assert text.startswith(begins) and os.listdir(tmp_path) == ["out.csv"]
    other = "--trace" if option == "--csv" else "--csv"
    environment["SIM_OPTIONS"] = f"{option} out.csv {other} out.csv"
    done = run(program, cwd=tmp_path, env=environment)
    assert_refused(done, 2, f"{min(option, other)} and {max(option, other)} name the same file")
