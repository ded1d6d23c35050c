"""The pre-lab sheet: its answers are the simulator's counts, everybody gets other numbers, and whatever is handed in
gets a line."""

import csv
import itertools
import os
import random
import re
import subprocess
import sys

import pytest

from conftest import assert_refused, step
from grading import untouched  # noqa: F401
from lessons import ROOT, made, run

sys.path.insert(0, str(ROOT / "lab"))
import names
import prelab
import prelab_grade

# Of Ada Lovelace.
SEED = 238416
ADA = ["9", "11.11", "1728", "9216", "16", "32", "8", "1.914", "6", "413"]
PEOPLE = [f"Student {i}" for i in range(300)]
KEYS = [question.key for question in prelab.QUESTIONS]


def every(key, most=40):
    """Some of the constants that a question may have, those at its ends among them."""
    (question,) = [q for q in prelab.QUESTIONS if q.key == key]
    found = [dict(zip(question.constants, values)) for values in itertools.product(*question.constants.values())]
    chosen = [found[0], found[-1], *random.Random(8).sample(found, min(most, len(found)))]
    return [{"bytes": prelab.BYTES[c["type"]], **c} if "type" in c else c for c in chosen]


@pytest.fixture(scope="module")
def program():
    return made("build/try/tests/sim/programs/prelab")


def traced(program, folder, machine, *arguments):
    """What the simulator traces of the program's accesses."""
    path = folder / "trace.csv"
    done = subprocess.run([program, *map(str, arguments)],
                          env={**os.environ, "SIM_OPTIONS": f"--machine {machine} --trace {path} --quiet"},
                          capture_output=True, text=True)
    assert done.returncode == 0 and "PASSED" in done.stdout, done.stdout + done.stderr
    with open(path) as file:
        return list(csv.DictReader(file))


def counted(folder, program, *arguments):
    path = folder / "counts.csv"
    assert step(program, "--csv", path, *arguments).returncode == 0
    with open(path) as file:
        (row,) = csv.DictReader(file)
    return {key: int(value) for key, value in row.items() if value.isdigit()}


# The answers.

@pytest.mark.variety
@pytest.mark.parametrize("key", ["stride", "share"])
def test_sectors_are_the_simulators(key, program, tmp_path):
    for c in every(key, 12):
        (load,) = [
            r for r in traced(program, tmp_path, "h200", "global", c["bytes"], c.get("begin", 0), c["stride"])
            if r["access"] == "load"]
        sectors = int(load["units"])
        assert (prelab_grade.ANSWERS[key](c)
                == (sectors if key == "stride" else pytest.approx(100 * c["bytes"] / sectors))), c


@pytest.mark.variety
@pytest.mark.parametrize("key, size", [("bank", 4), ("double", 8)])
def test_wavefronts_are_the_simulators(key, size, program, tmp_path):
    for row in {c["row"] for c in every(key, 60)}:
        loads = [
            r for r in traced(program, tmp_path, "h200", "shared", size, 5, row)
            if r["access"] == "load" and r["memory"].startswith(("shared", "tile"))]
        assert [int(r["units"]) for r in loads] == [prelab_grade.ANSWERS[key]({"row": row, "column": 5})], row


@pytest.mark.variety
def test_partitions_are_the_simulators(program, tmp_path):
    for c in every("partitions", 10):
        machine = {8: "gtx280", 6: "g80"}[c["partitions"]]
        loads = [r for r in traced(program, tmp_path, machine, "rows", 4, 0, c["width"]) if r["access"] == "load"]
        assert len(loads) == 64 and prelab_grade.ANSWERS["partitions"](c) == len({r["partition"] for r in loads}), c


def test_counts_of_the_kernels_are_the_steps(tmp_path):
    for c in every("requests", 4):
        found = counted(tmp_path, "step01", "--kernel", "copy", "--size", f"{c['width']}x{c['height']}")
        assert prelab_grade.ANSWERS["requests"](c) == found["global_load_requests"] == found["global_store_requests"], c
    for c in every("naive", 4):
        found = counted(tmp_path, "step02", "--kernel", "transposeNaive", "--size", f"{c['width']}x{c['height']}",
                        "--type", {4: "float", 8: "double"}[c["bytes"]])
        assert prelab_grade.ANSWERS["naive"](c) == found["global_store_transactions"], c


@pytest.mark.variety
def test_blocks_are_the_runtimes(program):
    for c in every("occupancy", 12):
        done = subprocess.run([program, "blocks", str(c["threads"]), str(c["tiles"] * 32 * 33 * c["bytes"]), "0"],
                              env={**os.environ, "SIM_OPTIONS": "--quiet"}, capture_output=True, text=True)
        assert prelab_grade.ANSWERS["occupancy"](c) == int(done.stdout.split()[0]), (c, done.stdout + done.stderr)


# The sheets.

def test_everybody_has_other_numbers():
    sheets = {tuple(prelab_grade.answers(name)) for name in PEOPLE}
    assert len(sheets) == len(PEOPLE)
    for i, key in enumerate(KEYS):
        found = [prelab_grade.answers(name)[i] for name in PEOPLE]
        assert len(set(found)) >= 4 and max(map(found.count, set(found))) < 0.6 * len(PEOPLE), (key, sorted(set(found)))


@pytest.mark.variety
@pytest.mark.parametrize("name, other", [("Ada Lovelace", "  ada   LOVELACE\n"), ("Jos\u00e9", "Jose\u0301"),
                                         ("Stra\u00dfe", "STRASSE"), ("Ada", "\uff21\uff44\uff41"),
                                         ("A\u200bda", "Ada")])
def test_one_name_in_two_ways(name, other):
    assert prelab_grade.answers(name) == prelab_grade.answers(other) and names.seed_of(name) == names.seed_of(other)


def test_what_is_drawn_never_changes():
    """In no version of Python; a sheet of today can be graded tomorrow. After a change of the questions, new figures
    belong here."""
    assert (names.seed_of("Ada Lovelace") == SEED
            and [prelab_grade.written(a) for a in prelab_grade.answers("Ada Lovelace")] == ADA)


def filled(name, of=None):
    """A sheet with the right answers, or those of another person."""
    text = prelab.sheet(name)
    for i, value in enumerate(prelab_grade.answers(of or name), 1):
        line = next(line for line in text.splitlines() if line.startswith(f"Answer {i} "))
        text = text.replace(line, f"{line} {prelab_grade.written(value)}")
    return text


NAMES = [
    "Ada Lovelace", "=1+1", "<script>alert(1)</script>", "[x](y) `c` *d* _e_ # &amp; \\ | $1", "caf\udce9",
    "\u5c0f\u660e", "O'Brien-Smith Jr.", "a" * 3000, "new\nline", "\u202eright", "\x1b[31mred"]


@pytest.mark.variety
@pytest.mark.parametrize("name", NAMES)
def test_a_sheet_is_read_as_it_was_written(name):
    text = filled(name)
    assert text.isprintable() or all(c.isprintable() or c == "\n" for c in text)
    result = prelab_grade.graded(text.encode())
    assert names.normalised(result["name"]) == names.normalised(name) and result["points"] == [1] * len(KEYS), result
    assert "<script" not in text and "`c`" not in text


def test_no_answer_is_on_an_empty_sheet():
    result = prelab_grade.graded(prelab.sheet("Ada Lovelace").encode())
    assert (sum(result["points"]) == 0
            and result["note"] == "; ".join(f"{i}: no answer" for i in range(1, len(KEYS) + 1)))
    assert sum(prelab_grade.graded(filled("Ada Lovelace", "Charles Babbage").encode())["points"]) < 6


@pytest.mark.variety
@pytest.mark.parametrize("text, value", [("24", 24), (" **24** sectors.", 24), ("1,024", 1024), ("1 024", 1024),
                                         ("1\u202f024", 1024), ("1'024'000", 1024000), ("12.5 %", 12.5), ("12,5", 12.5),
                                         ("1,024.5", 1024.5), ("2e6", 2e6), ("\u2248 15.2 KiB", 15.2), (".5", 0.5),
                                         ("24 / warp", 24), ("", None), ("none", None), ("5 6", None), ("2^5", None),
                                         ("24/2", None), ("10\u00b2", None), ("5 or 6", None), ("1.2.3", None),
                                         ("1e999", None), ("nan", None), ("inf", None), ("9" * 70000, None),
                                         ("," * 70000, None), ("\u0663", None), ("-", None),])
def test_what_a_number_is(text, value):
    assert prelab_grade.readings(text)[:1] == (() if value is None else (value,))


@pytest.mark.variety
def test_a_comma_for_decimals():
    """1,914 is 1.914 or 1914: whichever is right."""
    assert prelab_grade.readings("1,914") == (1914, 1.914) and prelab_grade.readings("1,728,000") == (1728000,)
    assert prelab_grade.readings("12,5") == (12.5,) and prelab_grade.readings("0,914") == (0.914,)
    assert prelab_grade.readings("1.024,5") == (1024.5,) and prelab_grade.readings("1.914") == (1.914,)
    whole, share = prelab.QUESTIONS[0], next(q for q in prelab.QUESTIONS if q.tolerance != prelab.EXACT)
    assert whole.tolerance == prelab.EXACT
    for question, expected, said, why in (
            (share, 1.914, "1,914", ""), (share, 1914.0, "1,914", ""), (whole, 1914, "1,914", ""),
            (share, 7.25, "1,914", "1914 or 1.914, expected 7.25"), (whole, 1914, "1.914", "1.914, expected 1914")):
        assert prelab_grade.judged(question, expected, [said]) == why


@pytest.mark.variety
def test_a_hand_written_file():
    ada = prelab_grade.answers("ada lovelace")
    text = ("name: Ada LOVELACE\r\n"
            + "".join(f"- answer {i}: {prelab_grade.written(a)}\r\n" for i, a in enumerate(ada, 1)))
    assert prelab_grade.graded(b"\xef\xbb\xbf" + text.encode())["points"] == [1] * len(KEYS)
    twice = text + "Answer 1: 99\nAnswer 77: 5\nAnswer 2: many\n"
    assert prelab_grade.graded(twice.encode())["note"] == "1: several answers; 2: several answers"
    off = text.replace(f"answer 10: {prelab_grade.written(ada[9])}",
                       f"answer 10: {ada[9] * 1.009:.3f}").replace("answer 1: ", "answer 1: 1")
    assert prelab_grade.graded(off.encode())["points"] == [0] + [1] * (len(KEYS) - 1)


# A class.

ASCII = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def grade(folder, results, env=None):
    return run(sys.executable, ROOT / "lab/prelab_grade.py", folder, "--results", results, env=env)


def lines_of(results):
    with open(results / "prelab.csv", encoding="utf-8-sig") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def test_a_class_is_graded(tmp_path, untouched):
    folder, results = tmp_path / "class", tmp_path / "results"
    (folder / "ada/deeper").mkdir(parents=True)
    (folder / "ada/deeper/sheet.md").write_text(filled("Ada Lovelace"))
    (folder / "ada/README.md").write_text("no sheet")
    (folder / "grace.txt").write_text(filled("Grace Hopper").replace("Answer 3 ", "Answer 33 "))
    (folder / "=1+1.md").write_text(filled('=HYPERLINK("x")'))
    (folder / "copied.md").write_text(filled("Ada Lovelace"))
    (folder / "empty").mkdir()
    (folder / "old.md").write_text(filled("Alan Turing").replace(prelab.edition(), "0badcafe"))
    (folder / "nameless.md").write_text(filled("Alan Turing").replace("Name:", "Nobody:"))
    (folder / "utf16.md").write_text(filled("Alan Turing"), encoding="utf-16")
    (folder / "huge.md").write_text("Answer 1: 1\n" + "\n" * 70000)
    (folder / "two").mkdir()
    (folder / "two/a.md").write_text(filled("Alan Turing"))
    (folder / "two/b.md").write_text(filled("Alan Turing"))
    (folder / "linked.md").symlink_to(folder / "grace.txt")
    (folder / "notes.pdf").write_text("no submission")
    (folder / "a folder.md").mkdir()
    with open(os.path.join(os.fsencode(folder), b"caf\xe9\x1b.md"), "w") as file:
        file.write(filled("caf\udce9"))
    (folder / "zo\u00eb.md").write_text(filled("Zo\u00eb").replace("Answer 1 ", "Answer "), encoding="utf-8")
    done = grade(folder, tmp_path / "ascii", ASCII)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    done = grade(folder, results)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert lines_of(results) == lines_of(tmp_path / "ascii")
    assert "6 of 14 graded, 8 without a sheet" in done.stdout, done.stdout
    assert " 5 of 6 right  3. Requests of a copy" in done.stdout, done.stdout
    rows = lines_of(results)
    assert {name: row["total"] for name, row in rows.items() if row["total"] != "0"} == {
        "ada": "10", "grace": "9", "'=1+1": "10", "copied": "10", "caf\\xe9\\x1b": "10", "zo\u00eb": "9"}
    assert rows["'=1+1"]["name on the sheet"] == "'=HYPERLINK(\"x\")"
    assert {name: row["note"] for name, row in rows.items() if row["note"]} == {
        "grace": "3: no answer", "zo\u00eb": "1: no answer", "copied": "the same name is on the sheet of ada",
        "empty": "no sheet in it", "a folder.md": "no sheet in it",
        "old": "the sheet is of another edition of the questions; let the student make a new one",
        "nameless": "no line \u201cName: \u2026\u201d in it", "utf16": "not a text in UTF-8",
        "huge": "longer than 65536 bytes", "two": "several sheets: a.md, b.md",
        "linked": "a link, which is not followed"}


@pytest.mark.variety
def test_the_commands(tmp_path):
    name = 'Ada `touch pwned` "Lovelace" \'x\''
    done = run("make", "-s", "prelab", f"NAME={name}", f"RESULTS={tmp_path}")
    path = tmp_path / "prelab/ada-touch-pwned-lovelace-x.md"
    assert (done.returncode == 0 and done.stdout == f"{path}\n" and path.read_text() == prelab.sheet(name)
            and not (ROOT / "pwned").exists()), done.stderr
    path.write_text(filled(name))
    assert_refused(run(sys.executable, ROOT / "lab/prelab.py", name, "--results", tmp_path / "prelab"), 2,
                   "exists and may have answers")
    done = run("make", "-s", "grade-prelab", f"SUBMISSIONS={tmp_path / 'prelab'}", f"RESULTS={tmp_path}")
    assert done.returncode == 0 and lines_of(tmp_path / "grades")[path.stem]["total"] == "10", done.stderr
    key = run(sys.executable, ROOT / "lab/prelab_grade.py", "--key", "Ada Lovelace")
    assert [line.split(": ")[1].split()[0] for line in key.stdout.splitlines()[1:]] == ADA
    done = run(sys.executable, ROOT / "lab/prelab.py", "Zo\u00eb", "--results", tmp_path, env=ASCII)
    assert (done.returncode == 0
            and (tmp_path / "zo\u00eb.md").read_text(encoding="utf-8") == prelab.sheet("Zo\u00eb")), done.stderr
    # WSL exports a NAME of its own.
    done = run("make", "-s", "prelab", f"RESULTS={tmp_path}", env={**os.environ, "NAME": "DESKTOP-1234"})
    assert done.returncode == 2 and "no name is given" in done.stderr


@pytest.mark.variety
def test_sheets_of_a_class(tmp_path):
    """One for each line, whatever the lines hold; what a student may have filled in stays."""
    people = ["Ada Lovelace", "-rf $(touch pwned)", "Zo\u00eb", "caf\udce9"]
    (tmp_path / "class.txt").write_bytes(
        ("\ufeff" + "\r\n".join([people[0], "", *people[1:]])).encode("utf-8", "surrogateescape"))
    for words in ("", " exists, and stays"):
        done = run("make", "-s", "prelab", f"NAMES={tmp_path / 'class.txt'}", f"RESULTS={tmp_path}")
        assert (done.returncode == 0 and done.stderr == ""
                and [line.endswith(f".md{words}") for line in done.stdout.splitlines()] == [True] * 4), done.stderr
    assert (sorted((tmp_path / "prelab" / prelab.file_of(name)).read_text() for name in people)
            == sorted(map(prelab.sheet, people))
            and not (ROOT / "pwned").exists())
    (tmp_path / "class.txt").write_text("Ada\n?!\nGrace\n")
    done = run(sys.executable, ROOT / "lab/prelab.py", "--names", tmp_path / "class.txt", "--results", tmp_path)
    assert_refused(done, 2, "'?!': no name")
    assert len(done.stdout.splitlines()) == 2
    assert_refused(run(sys.executable, ROOT / "lab/prelab.py", "--names", tmp_path / "none"), 2, "none: No such file")


@pytest.mark.variety
def test_bad_input(tmp_path):
    assert_refused(run(sys.executable, ROOT / "lab/prelab.py", " ?! ", "--results", tmp_path), 2, "no name is given")
    assert_refused(run(sys.executable, ROOT / "lab/prelab.py", "Ada", "--results", "/dev/null/x"), 2, "/dev/null")
    assert_refused(grade(tmp_path / "missing", tmp_path), 2, "folder of submissions")
    assert_refused(grade("", tmp_path), 2, "SUBMISSIONS=")
    assert_refused(grade(tmp_path, tmp_path), 2, "no sheets")
    (tmp_path / "a.md").write_text("Answer 1: 2")
    assert_refused(grade(tmp_path, "/dev/null/x"), 2, "/dev/null")
