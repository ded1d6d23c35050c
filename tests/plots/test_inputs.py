"""Result files are input: what is planted in them is shown and never run, what is damaged is named, machines are kept
apart; in any locale, on any output."""

import ast
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import NO_SIGNAL_IGNORED, assert_refused, needs
from lessons import ROOT, run

sys.path.insert(0, str(ROOT / "plots"))
import fuzz_inputs
import results as reader
import tables
import whole
from outside import Text, in_markdown, revealed

DATA = ROOT / "plots/data"
PYTHON = sys.executable


def rows(name):
    return (DATA / f"h200_{name}.csv").read_text(encoding="utf-8").splitlines(keepends=True)


def test_damaged_files_end_no_program():
    counts = fuzz_inputs.Fuzz(7).run(files=20, lines=0)
    print(counts)
    assert set(counts) == {"status 0", "status 2"}


def test_random_command_lines():
    counts = fuzz_inputs.Fuzz(7).run(files=0, lines=80)
    print(counts)
    assert set(counts) <= {f"status {status}" for status in range(4)} and counts["status 0"] > 10 < counts["status 2"]


@pytest.mark.parametrize("column", [name for name in reader.NEEDED if name != "backend"])
def test_a_column_that_is_missing_is_named(column, tmp_path):
    path = tmp_path / "results.csv"
    heading = rows("whitepaper")[0]
    path.write_text("".join([
        f",{heading.strip()},".replace(f",{column},", ",other,").strip(",") + "\n", *rows("whitepaper")[1:]]))
    (problem,) = reader.load([path]).problems
    assert problem == f"{path}, line 1: no column {column}: not a file that ./stepNN --csv wrote"
    assert_refused(run(PYTHON, ROOT / "plots/tables.py", "whitepaper", path), 2, f"no column {column}")


@pytest.mark.parametrize("column, text, words", [
    ("global_load_requests", "1.5", "global_load_requests is '1.5': expected a whole number"),
    ("global_load_requests", "262e144", "expected a whole number"),
    ("shared_store_wavefronts", "9" * 200, "(200 characters): expected a whole number"),
    ("width", "9" * 200, "expected a whole number from 1 to 2147400000"),
    ("height", "2147483648", "expected a whole number from 1 to 2147400000"),
    ("bandwidth_gbs", "1e300", "expected a number, 0 or from 1e-12 to 1e+18"),
    ("bandwidth_gbs", "1e-300", "expected a number, 0 or from 1e-12"),
    ("block", "<script>", "block is '<script>': expected threads in x and y"),
    ("machine", "x" * 201, "expected at most 200 characters"),
    ("machine", "a\x1b[2Jb", "machine is 'a\\x1b[2Jb': expected"),
])
def test_a_bad_cell_is_named(column, text, words, tmp_path):
    heading, first, *_ = rows("whitepaper")
    cells = dict(zip(heading.strip().split(","), first.rstrip("\n").split(",")), **{column: text})
    path = tmp_path / "results.csv"
    path.write_text(heading + first + ",".join(cells.values()) + "\n")
    found = reader.load([path])
    (problem,) = map(revealed, found.problems)
    assert problem.startswith(f"{path}, line 3: {column} is ") and words in problem and len(found.all) == 1


def test_headings_that_were_swapped(tmp_path):
    path = tmp_path / "results.csv"
    heading, *lines = rows("whitepaper")
    swapped = {"time_median_ms": "bandwidth_gbs", "bandwidth_gbs": "time_median_ms"}
    path.write_text(",".join(swapped.get(name, name) for name in heading.split(",")) + "".join(lines))
    found = reader.load([path])
    timed = [row for row in reader.load([DATA / "h200_whitepaper.csv"]).all
             if row["time_median_ms"] and row["bandwidth_gbs"]]
    assert (not any(row["bandwidth_gbs"] for row in found.all) and len(found.problems) >= len(timed)
            and "one of them is no such time" in revealed(found.problems[0]))


def test_what_spreadsheets_write(tmp_path):
    path = tmp_path / "results.csv"
    path.write_bytes(b"\xef\xbb\xbf" + "".join(rows("whitepaper")).replace("\n", "\r\n").encode())
    assert reader.load([path]).problems == [] and len(reader.load([path]).all) == len(rows("whitepaper")) - 1


@pytest.mark.parametrize("text", fuzz_inputs.PLANTED)
def test_a_name_is_shown_and_not_run(text):
    """As markdown shows it: the text, in one cell."""
    markdown = pytest.importorskip("markdown")
    text = Text(text)
    table = tables.Table(f"On {text}", [text, "GB/s"], [[f"{text}, measured", "1"], ["`kernel`", "2"]])
    page = markdown.markdown(in_markdown(table.markdown()), extensions=["tables", "fenced_code", "sane_lists"])
    found = fuzz_inputs.Page()
    found.feed(page)
    assert (found.found == [] and page.count("<td") == 4 and page.count("<th ") + page.count("<th>") == 2
            and "<code>kernel</code>" in page)
    assert "<script" not in page and "<img" not in page and "<a " not in page


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


def test_peers_of_two_machines_are_two_tables(tmp_path):
    other = tmp_path / "other.csv"
    heading, *lines = rows("peers")
    other.write_text(heading + "".join(line.replace("NVIDIA H200", "NVIDIA T4") for line in lines if ",float," in line))
    both = run(PYTHON, ROOT / "plots/tables.py", "peers", DATA / "h200_peers.csv", other).stdout
    alone = [run(PYTHON, ROOT / "plots/tables.py", "peers", file).stdout for file in (DATA / "h200_peers.csv", other)]
    assert both == "\n".join(alone)


def test_rows_are_found_without_looking_at_all_of_them(tmp_path):
    """So many rows that a search through all of them for each would not end: what is counted is how many rows are
    looked at."""
    looked = 0

    class Row(dict):
        def __getitem__(self, name):
            nonlocal looked
            looked += 1
            return super().__getitem__(name)

    template = reader.load([DATA / "h200_whitepaper.csv"]).all[0]
    found = reader.Results([Row(template, kernel=f"k{n}") for n in range(5000)], [])
    assert found.find("k7", 2048)["kernel"] == "k7"
    looked = 0
    assert all(found.find(f"k{n}", 2048)["kernel"] == f"k{n}" for n in range(5000)) and looked < 5 * 5000


COMMANDS = [("claims.py", [DATA / "h200_whitepaper.csv"]), ("tables.py", ["book", DATA / "h200_book.csv"])]


@pytest.mark.parametrize("program, arguments", COMMANDS)
def test_readers_that_have_read_enough(program, arguments):
    process = subprocess.Popen([PYTHON, ROOT / "plots" / program, *arguments], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() == 1
    process.stderr.close()


@pytest.mark.parametrize("program, arguments", COMMANDS)
def test_output_that_is_full(program, arguments):
    needs("/dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([PYTHON, ROOT / "plots" / program, *arguments], stdout=full, stderr=subprocess.PIPE,
                              text=True)
    assert done.returncode == 2
    assert done.stderr == f"{program}: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("program, arguments", [*COMMANDS, ("readme.py", ["--check"])])
def test_any_locale(program, arguments):
    """A locale in which nothing but ASCII can be decoded, and Python does not help itself to another."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([PYTHON, ROOT / "plots" / program, *arguments], env=environment, capture_output=True)
    assert done.returncode == 0 and done.stderr == b""
    expected = subprocess.run([PYTHON, ROOT / "plots" / program, *arguments], capture_output=True).stdout.decode()
    assert done.stdout.decode() == expected.encode("ascii", "backslashreplace").decode()


def test_every_file_has_an_encoding():
    """In a locale of its own, report.py wrote a page that was not the UTF-8 it said."""
    without = []
    for path in sorted([*(ROOT / "plots").rglob("*.py"), *(ROOT / "lab").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call): continue
            function = ast.unparse(node.func).split(".")
            words = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            mode = words.get("mode", next((ast.unparse(argument) for argument in node.args[1:2]), "'r'"))
            opens = (function[-1] in ("open", "fdopen") and function[:1] != ["os"] and "b" not in mode
                     or function[-1] in ("read_text", "write_text"))
            if (opens or {"text", "universal_newlines"} & set(words)) and "encoding" not in words:
                without.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    # Files of the kernel's, with numbers in them, and a file without a text. A member of an archive is bytes.
    right = [line for line in without if line.startswith("lab/sandbox.py:")], [
        line for line in without if re.fullmatch(r"lab/handed_in\.py:\d+: archive\.open\(info\)", line)]
    assert (len(right[0]), len(right[1])) == (2, 1) and sorted(without) == sorted(sum(right, [])), without


def test_a_step_that_fails_tells_why_where_the_disk_is_full(tmp_path):
    """What make report shows of it does not need a file."""
    program = tmp_path / "step01"
    program.write_text("#!/bin/sh\necho \"$0: --csv $5: cannot be written: No space left on device\" >&2\nexit 2\n")
    program.chmod(0o755)
    for step in ("step02", "step03", "step04", "step05", "step06", "step07"):
        (tmp_path / step).symlink_to("step01")
    (tmp_path / "results").mkdir(mode=0o555)
    done = run(ROOT / "bench/measure.sh", "results", cwd=tmp_path)
    assert done.returncode == 1 and re.fullmatch(r"\./step0\d: --csv .*: cannot be written: No space left on device\n",
                                                 done.stderr), done


TOGETHER = """import sys, whole
with whole.together(sys.argv[1]) as folder:
    for i in range(100): (folder / str(i)).write_text(sys.argv[2])
    print("written", flush=True)
    sys.stdin.read()
"""


def together(folder, text):
    return subprocess.Popen([sys.executable, "-c", TOGETHER, folder, text], cwd=ROOT / "plots", text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_files_that_belong_together_are_of_one_program(tmp_path):
    programs = [together(tmp_path, text) for text in "abc"]
    for program in programs:
        assert program.stdout.readline() == "written\n"
    with whole.alone(tmp_path):  # as if one more were moving its files
        for program in programs:
            program.stdin.close()
        time.sleep(1)
        assert [program.poll() for program in programs] == [None] * 3
        assert not [name for name in os.listdir(tmp_path) if not name.startswith(".new-")]
    assert [program.wait(timeout=60) for program in programs] == [0, 0, 0]
    assert len(os.listdir(tmp_path)) == 100 and len({path.read_text() for path in tmp_path.iterdir()}) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_files_that_belong_together_are_all_there_or_none(tmp_path, number):
    if signal.getsignal(number) == signal.SIG_IGN: pytest.skip("under nohup nobody hears a SIGHUP")
    program = together(tmp_path, "a")
    assert program.stdout.readline() == "written\n"
    program.send_signal(number)
    assert program.wait(timeout=60) != 0 and os.listdir(tmp_path) == []


def test_files_that_replace_others_keep_what_these_are(tmp_path):
    (tmp_path / "old").write_text("old")
    (tmp_path / "old").chmod(0o640)
    (tmp_path / "link").symlink_to("target")
    with whole.together(tmp_path) as folder:
        for name in ("old", "link"):
            (folder / name).write_text("new")
    assert sorted(os.listdir(tmp_path)) == ["link", "old", "target"] and (tmp_path / "link").is_symlink()
    assert (tmp_path / "old").stat().st_mode & 0o777 == 0o640
    assert {path.read_text() for path in tmp_path.iterdir()} == {"new"}


def test_devices_are_no_files():
    needs("/dev/zero")
    for program, more in (("claims.py", []), ("tables.py", ["book"])):
        done = run(PYTHON, ROOT / "plots" / program, *more, "/dev/zero")
        assert done.returncode == 2 and "/dev/zero: cannot be read: not a file" in done.stderr


def test_a_table_that_cannot_be_written(tmp_path):
    done = run(PYTHON, ROOT / "plots/tables.py", "book", DATA / "h200_book.csv", "--csv", tmp_path / "none/all.csv")
    assert_refused(done, 2, "tables.py: ", "none/all.csv: No such file or directory")
    assert list(tmp_path.iterdir()) == []


# whole.write()

def test_a_file_is_replaced_whole(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    whole.write(path, "é\n")
    mask = os.umask(0)
    os.umask(mask)
    assert path.read_bytes() == b"\xc3\xa9\n" and path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    link.symlink_to("file")
    whole.write(link, b"new")
    assert link.is_symlink() and path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o640
    whole.write(path, "all", mode=0o644)
    assert path.stat().st_mode & 0o777 == 0o644
    whole.write("/dev/null", "nothing")
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]
    for bad in (tmp_path, tmp_path / "file/below", tmp_path / "none/file"):
        with pytest.raises(OSError, match=str(bad)):
            whole.write(bad, "")


def test_a_file_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")
    for missing in (None, "link"):
        with monkeypatch.context() as patch:
            def fail(*_, **__):
                raise OSError(28, "No space left on device")
            if missing:
                patch.setattr(whole, missing, lambda *_: (_ for _ in ()).throw(OSError(1, "no links")))
            patch.setattr(os, "rename", fail)
            with pytest.raises(OSError, match="No space left"):
                whole.write(path, "new")
        assert path.read_text() == "old" and os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("missing", ["O_TMPFILE", "link"])
def test_file_systems_without_unnamed_files(missing, tmp_path, monkeypatch):
    if missing == "link":
        monkeypatch.setattr(whole, "link", lambda *_: (_ for _ in ()).throw(OSError(1, "no links")))
    else:
        monkeypatch.delattr(os, "O_TMPFILE")
    for text in ("one", "two"):
        whole.write(tmp_path / "file", text)
        assert (tmp_path / "file").read_text() == text and os.listdir(tmp_path) == ["file"]


def test_a_program_that_is_killed_while_it_writes_leaves_nothing(tmp_path):
    """Between the last byte and the name, where a named file would lie about."""
    program = f"import os, sys; sys.path.insert(0, {str(ROOT / 'plots')!r}); import whole\n" \
              "whole.link = lambda *_: os.kill(os.getpid(), 9)\nwhole.write(sys.argv[1], 'x' * 1000000)"
    done = run(PYTHON, "-c", program, tmp_path / "file")
    assert done.returncode == -9 and os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("more", ["", "del os.O_TMPFILE"], ids=["rename", "copy"])
def test_a_signal_while_the_file_has_another_name(more, number, tmp_path):
    """It ends the program, once no file has a name that is not its own."""
    program = (f"import os, sys; sys.path.insert(0, {str(ROOT / 'plots')!r}); import whole; rename = os.rename; "
               f"{more}\n"
               f"def late(*names, **folders): os.kill(os.getpid(), {int(number)}); rename(*names, **folders)\n"
               "os.rename = late\nsys.exit(whole.run(lambda: whole.write(sys.argv[1], 'new'), 'test'))")
    (tmp_path / "file").write_text("old")
    done = run(*NO_SIGNAL_IGNORED, PYTHON, "-c", program, tmp_path / "file")
    assert done.returncode == (130 if number == signal.SIGINT else -number), done
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_text() == "new"
