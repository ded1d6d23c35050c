"""A class is graded: everybody has a line, in whatever way it was handed in, and nothing that somebody hands in stops
the others."""

import csv
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import zipfile

import pytest

from conftest import assert_refused, needs_git
from edits import edited
from grading import SOLUTION, STANDIN, check, grade, graded, lab, untouched  # noqa: F401
from lessons import ROOT, catching, run
from samples import some


def test_grades_of_a_class(tmp_path, untouched):
    folder, results = tmp_path / "class", tmp_path / "results"
    handout = (STANDIN / "handout.cu").read_text()
    for i in range(12):
        own = folder / f"student{i:02}" / "step04_padding"
        own.mkdir(parents=True)
        (own / "exercise.cu").write_text([
            SOLUTION, handout,
            SOLUTION.replace("[TILE_DIM][TILE_DIM]", "[TILE_DIM][2 * TILE_DIM]"), "int x;\n"][i % 4])
    done = grade(folder, results)
    assert done.returncode == 0, done.stderr
    rows = graded(results)
    assert [(row["name"], row["right"], row["conflicts"], row["total"]) for row in rows[:4]] == [
        ("student00", "40", "60", "100"), ("student01", "0", "0", "0"), ("student02", "40", "15", "55"),
        ("student03", "0", "0", "0")]
    assert [bool(row["note"]) for row in rows[:4]] == [False, True, True, True]
    assert len(rows) == 12 and all(float(row["seconds"]) >= 0 for row in rows)
    assert [row["seconds"] for row in rows[:4]] * 3 == [row["seconds"] for row in rows]  # the same file is checked once
    for row in rows:
        result = json.loads((results / "lab04" / row["name"] / "results.json").read_text())
        assert result["score"] == int(row["total"]) == sum(test["score"] for test in result["tests"])
        assert isinstance(result["output"], str) and isinstance(result["execution_time"], float)
        assert ([set(test) for test in result["tests"]]
                == [{"name", "score", "max_score", "output", "output_format"}] * 2)
        assert sum(test["max_score"] for test in result["tests"]) == 100


def test_two_graders_at_once(tmp_path):
    """Into one folder, each with shapes of its own: what is there afterwards is all of one of them."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    for i in range(4):
        (folder / f"student{i}.cu").write_text(f"int x{i};\n")
    both = [subprocess.Popen([sys.executable, ROOT / "lab/grade.py", folder, "--exercise", "4", "--results", results,
                              "--exercises", STANDIN / "exercises.py", "--seed", seed, "--jobs", "1"],
                             stdout=subprocess.PIPE, text=True) for seed in ("1", "2")]
    said = [one.communicate(timeout=300)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    seeds = {row["seed"] for row in graded(results)}
    seeds |= {str(results_of(results, f"student{i}")["extra_data"]["seed"]) for i in range(4)}
    assert len(seeds) == 1 and f"have the seed {seeds.pop()}. " in (results / "lab04.html").read_text()
    assert not list(results.rglob(".new-*"))


def test_nobody_is_lost(tmp_path, untouched):
    """However a course hands over what was handed in: everybody has a line."""
    folder, results = tmp_path / "class", tmp_path / "results"
    places = {
        "flat": "exercise.cu", "step": "step04/exercise.cu", "github": "transpose-main/step04_padding/exercise.cu",
        "lab": "Lab 4/exercise.cu", "again": "exercise (2).cu", "safari": "exercise-2.cu", "canvas": "exercise_1.cu",
        ".dotted": "exercise.cu", "renamed": "my kernel.cu", "named": "step04.cu", "=sum": "exercise.cu",
        "Müller": "exercise.cu"}
    for name, place in places.items():
        (folder / name / place).parent.mkdir(parents=True)
        (folder / name / place).write_text("\ufeffint sim;\n")  # a text that is read, and not compiled
    (folder / "github/transpose-main/step04_padding/step04.cu").write_text("not it")
    (folder / "github/transpose-main/step05_decomposed").mkdir()
    (folder / "github/transpose-main/step05_decomposed/exercise.cu").write_text("another one")
    (folder / "single.cu").write_text("int sim;\n")
    (folder / "empty").mkdir()
    (folder / "other/step05").mkdir(parents=True)
    (folder / "other/step05/exercise.cu").write_text(SOLUTION)
    for place in ("two/step04", "two/step04_padding"):
        (folder / place).mkdir(parents=True)
        (folder / place / "exercise.cu").write_text(f"{SOLUTION}// {place}\n")
    (folder / "twice").mkdir()
    (folder / "twice.cu").write_text(SOLUTION)
    (folder / "utf16.cu").write_text(SOLUTION, encoding="utf-16")
    (folder / "._single.cu").write_text("of a Mac")
    (folder / "texted").mkdir()
    (folder / "texted/exercise.cu.txt").write_text("int sim;\n")
    (folder / "linked").symlink_to(folder / "flat")
    (folder / "notes.txt").write_text("no submission")
    done = grade(folder, results)
    assert done.returncode == 0 and "5 of them without a submission" in done.stdout, done.stdout + done.stderr
    rows = {row["name"].lstrip("'"): row for row in graded(results)}
    read = {name for name, row in rows.items() if row["note"].startswith("line 1: sim: ")}
    assert read == {*places, "single", "texted"}
    assert {name for name, row in rows.items() if row["needs you"]} == {"empty", "linked", "other", "two", "twice"}
    assert {name: row["note"].rsplit("/", 1)[-1] for name, row in rows.items() if name not in read} == {
        "empty": "no file of this exercise in it", "linked": "a link, which is not followed",
        "other": "exercise.cu", "two": "exercise.cu",
        "twice": "several of this name: twice, twice.cu", "utf16": "the file is in UTF-16; save it as UTF-8"}
    assert rows["two"]["note"] == "several files: step04/exercise.cu, step04_padding/exercise.cu"
    assert rows["other"]["note"] == "no file of this exercise in it; there is step05/exercise.cu"


def test_one_submission_for_gradescope(tmp_path, untouched):
    """As lab/gradescope/run_autograder does: whatever was handed in, there is a results.json."""
    (tmp_path / "submission").mkdir()
    out = tmp_path / "results.json"
    for files, score, words in [({}, 0, "no file"), ({"exercise.cu": SOLUTION}, 100, "100 of 100"),
                                ({"exercise.cu": SOLUTION, "more/exercise.cu": ""}, 0, "several")]:
        for name, text in files.items():
            (tmp_path / "submission" / name).parent.mkdir(exist_ok=True)
            (tmp_path / "submission" / name).write_text(text)
        assert grade(tmp_path / "submission", tmp_path / "results", "--one", out).returncode == 0
        result = json.loads(out.read_text())
        assert result["score"] == score and words in result["output"]


def test_what_is_packed(tmp_path):
    """The solutions are not."""
    out = tmp_path / "packed.zip"
    needs_git()
    for options, prefix in ([], "transpose/"), (["--gradescope", "4"], ""):
        done = run(sys.executable, ROOT / "lab/pack.py", out, *options)
        assert done.returncode == 0, done.stderr
        with zipfile.ZipFile(out) as archive:
            names = archive.namelist()
        assert f"{prefix}Makefile" in names and f"{prefix}step04_padding/exercise.cu" in names
        assert not [name for name in names if "tests/" in name]
        for_instructors = [
            "lab/README.md", "lab/grade.py", "lab/grader.py", "lab/handed_in.py", "lab/exports.py",
            "lab/class_files.py", "lab/class_pages.py", "lab/pack.py", "lab/notebook.py",
            "lab/prelab_grade.py", "lab/slides.py"]
        assert ([f"{prefix}{name}" in names for name in for_instructors] == [bool(options)] * len(for_instructors)
                and f"{prefix}lab/CUDA.md" in names)
        assert ("run_autograder" in names) == ("setup.sh" in names) == ("exercise" in names) == bool(options)
    assert_refused(run(sys.executable, ROOT / "lab/pack.py", out, "--gradescope", ""), 2, "exercise ")


def test_shapes_by_name(tmp_path, untouched):
    """A person's shapes, if they are drawn from the name: the same for make labNN NAME=... and in the class, however
    the name is typed."""
    told = (STANDIN / "exercises.py").read_text().replace('"no bank conflicts"', 'f"seed {seed}"')
    (tmp_path / "exercises.py").write_text(told)
    folder, results = tmp_path / "class", tmp_path / "results"
    # Moodle's name, and another
    folders = {"Ada Lovelace": "Ada Lovelace_4711_assignsubmission_file_", "Grace Hopper": "Grace Hopper"}
    for name in folders.values():
        (folder / name).mkdir(parents=True)
        (folder / name / "exercise.cu").write_text("int x;\n")
    for by_name, options in ((True, ["--by-name"]), (False, ["--seed", "3"])):
        assert grade(folder, results, "--exercises", tmp_path / "exercises.py", *options).returncode == 0
        found = {
            name: json.loads((results / "lab04" / place / "results.json").read_text())["tests"][1]["name"]
            for name, place in folders.items()}
        verdict = json.loads(
            lab(folder / "Grace Hopper/exercise.cu", "--exercises", tmp_path / "exercises.py", "--name",
                " ada  LOVELACE", "--json").stdout)
        assert (found["Ada Lovelace"] == f"conflicts: seed {verdict['seed']}") == by_name, found
        assert (found["Ada Lovelace"] == found["Grace Hopper"]) != by_name, found
    assert_refused(lab(folder / "Grace Hopper/exercise.cu", "--name", " "), 2, "the name is empty")
    assert_refused(lab(folder / "Grace Hopper/exercise.cu", "--name", "Ada", "--seed", "3"), 2, "choose one")


@pytest.mark.variety
def test_any_bytes_in_names(tmp_path, untouched):
    """D1, D7, D9: each has a line that can be printed and stored, in any locale, and nobody else is lost."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    names = [
        b"caf\xe9", b"new\nline", b"red\x1b[31m", b"$(touch here)", b"`touch here`", b"-rf", b"a b\t'\"",
        "\u202eabc".encode(), b".hidden", b"=1+1"]
    for name in names:
        os.mkdir(os.path.join(os.fsencode(folder), name))
        with open(os.path.join(os.fsencode(folder), name, b"exercise.cu"), "w") as file:
            file.write(SOLUTION + "// \u0416\n" if name == b"caf\xe9" else "int x;\n")
    with open(os.path.join(os.fsencode(folder), b"caf\xe9", b"more\xff.cu"), "w") as file:
        file.write(SOLUTION)
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, ROOT / "lab/grade.py", folder, "--exercises", STANDIN / "exercises.py",
                           "--exercise", "4", "--results", results, "--jobs", "2"],
                          capture_output=True, env=environment)
    assert done.returncode == 0 and done.stderr == b"" and b"\x1b" not in done.stdout, done.stderr
    rows = graded(results)
    assert len(rows) == len(names) and {row["name"]: row["total"] for row in rows}["caf\\xe9"] == "100"
    assert all(row["name"].isprintable() for row in rows) and "new\\nline" in {row["name"] for row in rows}
    assert not os.path.exists("here")


ENDLESS = SOLUTION.replace("    __syncthreads();\n", "    for (unsigned i = 1; i; ++i) if (i * i == 3) break;\n")


def test_a_solved_exercise_is_not_handed_out(tmp_path):
    """It is packed as it was committed, and named; a hand-out's make test says what it has instead."""
    needs_git()
    copy, out = tmp_path / "copy", tmp_path / "packed.zip"
    subprocess.run(["git", "clone", "-q", ROOT, copy], check=True)
    for name in ("lab/pack.py", "lab/check.py", "lab/sandbox.py", "lab/submission.py", "lab/objects.py", "lab/parts.py",
                 "lab/instead.py", "lab/names.py", "lab/prelab.py", "lab/exercises.py", "lab/notebook.py", "Makefile",
                 "mk/lab.mk"):
        (copy / name).write_bytes((ROOT / name).read_bytes())
    exercise = copy / "step04_padding/exercise.cu"
    original = exercise.read_bytes()
    exercise.write_text((ROOT / "tests/lab/solutions/step04.cu").read_text())
    done = run(sys.executable, copy / "lab/pack.py", out)
    assert done.returncode == 0 and done.stderr == (
        "pack: step04_padding/exercise.cu differs from the committed file; the committed file "
        "is packed\n")
    with zipfile.ZipFile(out) as archive:
        assert archive.read("transpose/step04_padding/exercise.cu") == original
        cells = json.loads(archive.read("transpose/lab/transpose.ipynb"))["cells"]
        assert "".join(next(cell["source"] for cell in cells if "step04_padding/exercise.cu" in cell["source"][0])[1:]
                       ) == original.decode().rstrip()
        archive.extractall(tmp_path / "student")
    told = run("make", "-C", tmp_path / "student/transpose", "test")
    assert told.returncode == 0 and "To check your exercise, type make labNN" in told.stdout
    for target in ("grade", "grade-prelab", "slides", "notebook"):
        assert run("make", "-C", tmp_path / "student/transpose", target).returncode == 2
    # A student writes the same sheet as the instructor.
    sheets = {"student's": tmp_path / "student/transpose", "instructor's": ROOT}
    for name, root in sheets.items():
        assert run("make", "-s", "-C", root, "prelab", "NAME=Ada Lovelace",
                   f"RESULTS={tmp_path / name}").returncode == 0
    assert len({(tmp_path / name / "prelab/ada-lovelace.md").read_text() for name in sheets}) == 1


@pytest.mark.parametrize("signals", some([[signal.SIGINT, signal.SIGTERM, signal.SIGINT], [signal.SIGINT],
                                          [signal.SIGTERM], [signal.SIGINT, signal.SIGINT]], 4))
def test_interrupted(tmp_path, untouched, signals):
    """D3, D4, D6: what was graded until then is kept, beside the whole table of an earlier run; nothing goes on
    running, nothing is left."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    (folder / "a.cu").write_text(SOLUTION)
    results.mkdir()
    (results / "lab04.csv").write_text("of an earlier run")
    for name in "bcd":
        (folder / f"{name}.cu").write_text(ENDLESS)
    process = subprocess.Popen([sys.executable, ROOT / "lab/grade.py", folder, "--exercises", STANDIN / "exercises.py",
                                "--exercise", "4", "--results", results],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "a: lab04: 100 / 100" in process.stdout.readline()
    time.sleep(0.5)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.03)
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 130 and errors == "" and "interrupted: 1 of 4" in said
    assert (results / "lab04.csv").read_text() == "of an earlier run"
    (results / "lab04.csv").unlink()
    (results / "lab04.interrupted.csv").rename(results / "lab04.csv")
    assert ([(row["name"], row["total"], row["note"]) for row in graded(results)]
            == [("a", "100", "")] + [(name, "", "not graded: interrupted") for name in "bcd"])


def test_a_signal_at_the_very_end_changes_no_status():
    """When Python has taken its handlers away, too."""
    ends = ("import os, signal, sys, sandbox\nclass Last:\n    def __del__(self, kill=os.kill, us=os.getpid()): "
            "kill(us, signal.SIGTERM)\nsandbox.end_on_signals()\nlast = Last()\nsys.exit(130)\n")
    assert run(sys.executable, "-c", ends, cwd=ROOT / "lab").returncode == 130


def test_one_check_interrupted(tmp_path, untouched):
    (tmp_path / "endless.cu").write_text(ENDLESS)
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([sys.executable, ROOT / "lab/check.py", "4", "--exercises", STANDIN / "exercises.py",
                                    "--file", tmp_path / "endless.cu"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        catching(process, signal.SIGTERM)  # that of SIGINT is there by then, and Python has one of its own before
        process.send_signal(number)
        process.send_signal(number)
        said, errors = process.communicate(timeout=300)
        assert process.returncode == 130 and said == errors == ""


def test_a_killed_check_ends_its_submission(tmp_path):
    """kill -9 leaves the grader no time to do it itself."""
    (tmp_path / "endless.cu").write_text(ENDLESS.replace("i * i == 3", "width == -1"))
    place = tmp_path / "boxes"
    place.mkdir()
    process = subprocess.Popen([sys.executable, ROOT / "lab/check.py", "4", "--exercises", STANDIN / "exercises.py",
                                "--file", tmp_path / "endless.cu"], env={**os.environ, "TMPDIR": str(place)})

    def running(pid=process.pid):
        """Whether the kernel's program runs below this process, and the processes that do."""
        pids = [int(child) for child in run("pgrep", "-P", pid).stdout.split()]
        return [*pids, *(below for child in pids for below in running(child))]

    def program(pids):
        return [pid for pid in pids if "--separate-host" in run("ps", "-o", "args=", "-p", pid).stdout.split()]
    until = time.monotonic() + 120
    while not (found := program(running())) and time.monotonic() < until:
        time.sleep(0.05)
    assert found
    process.kill()
    process.wait()
    until = time.monotonic() + 5  # the program's own limit of time is more than that
    while program(found) and time.monotonic() < until:
        time.sleep(0.05)
    assert program(found) == []


def ungraded(done, results, names, words):
    """A class of which these have no grade, and the others all points."""
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert re.search(words, done.stderr) and done.stderr.count("\n") == 1, done.stderr
    rows = graded(results)
    assert [row["name"] for row in rows if row["needs you"]] == names and rows
    with open(results / "lab04.moodle.csv", encoding="utf-8") as file:
        grades = {row["Full name"]: (row["Grade"], row["Feedback comments"]) for row in csv.DictReader(file)}
    for row in rows:
        none = row["name"] in names
        assert {row["total"], row.get("conflicts", row["total"])} == {""} if none else row["total"] == "100"
        assert not none or re.search(words, row["note"])
        assert grades[row["name"]] == ("", "Not graded yet.") if none else grades[row["name"]][0] == "100"
        assert (results / "lab04" / row["name"] / "results.json").exists() != none


def class_of(folder, **texts):
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.cu").write_text(text)
    return folder


@pytest.mark.parametrize("options, words", [("size=2m", "is full"), ("size=300m,noexec", "is mounted with noexec")])
def test_a_fault_of_the_disk_gives_no_grade(tmp_path, options, words):
    folder, results = class_of(tmp_path / "class", a=SOLUTION, b=SOLUTION + "\n"), tmp_path / "results"
    place = tmp_path / "temporary"
    place.mkdir()
    if run("unshare", "-m", "mount", "-t", "tmpfs", "-o", options, "none", place).returncode:
        pytest.skip("this system mounts nothing for us")

    def on_it(*command):
        return run("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o "$0" none "$TMPDIR" && exec "$@"', options,
                   *command, env={**os.environ, "TMPDIR": str(place)})
    done = on_it(sys.executable, ROOT / "lab/grade.py", folder, "--exercises", STANDIN / "exercises.py", "--exercise",
                 "4", "--results", results, "--export", "moodle")
    ungraded(done, results, ["a", "b"], f"TMPDIR={place} {words}")
    assert_refused(on_it(sys.executable, ROOT / "lab/check.py", "4", "--exercises", STANDIN / "exercises.py", "--file",
                         folder / "a.cu"), 2, f"TMPDIR={place}", words)


def test_a_sandbox_that_is_killed_gives_no_grade(tmp_path):
    """From outside: the one in between, the first process of the namespace, or the program. Others keep their
    grade."""
    folder = class_of(tmp_path / "class", a=SOLUTION)
    slow = SOLUTION.replace("    __syncthreads();\n", "    for (unsigned i = 1; i; ++i) if (width == -1) break;\n")
    for depth in range(3):
        (folder / f"b{depth}.cu").write_text(f"{slow}// {depth}\n")
    results = tmp_path / "results"
    process = subprocess.Popen([sys.executable, ROOT / "lab/grade.py", folder, "--exercises", STANDIN / "exercises.py",
                                "--exercise", "4", "--results", results, "--jobs", "1", "--export", "moodle"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "a: " in process.stdout.readline()  # it is graded, so each program from here on is one of b0, b1, b2
    seen, until = set(), time.monotonic() + 200
    while len(seen) < 3 and time.monotonic() < until:
        chain = [process.pid]
        while below := [int(pid) for pid in run("pgrep", "-P", chain[-1]).stdout.split()]:
            chain.append(below[0])
        programs = [pid for pid in chain[1:] if "--separate-host" in run("ps", "-o", "args=", "-p", pid).stdout.split()]
        key = tuple(chain[1:2])
        if programs and key not in seen:
            os.kill(chain[min(1 + len(seen), chain.index(programs[0]))], signal.SIGKILL)
            seen.add(key)
        time.sleep(0.05)
    said, errors = process.communicate(timeout=300)
    ungraded(subprocess.CompletedProcess([], process.returncode, said, errors), results, ["b0", "b1", "b2"],
             "a sandbox was ended by signal 9")


@pytest.mark.parametrize("status, stderr, why", [
    (1, "sh: 1: cannot create rewritten.cpp: No space left on device", "No space left"),
    (1, "{standard input}: Fatal error: can't write 4 bytes to sim.o: 'Disk quota exceeded'", "quota"),
    (1, "g++: fatal error: Killed signal terminated program cc1plus", "Killed"),
    (1, "g++: fatal error: cannot execute 'as': execvp: No such file or directory", "cannot execute"),
    (127, "sh: 1: nm: not found", "nm: not found"), (126, "", "a program is missing"),
    (1, "cc1plus: out of memory allocating 65536 bytes", "0.0 GB of memory left"),
    (1, "step04_padding/a.cu:1:2: error: #error No space left on device", ""), (1, "normal.cu:3: Killed signal", ""),
    (1, "g++: fatal error: CPU time limit exceeded signal terminated program cc1plus", ""), ("output", "x", "")])
def test_faults_of_the_machine_in_messages(monkeypatch, status, stderr, why, tmp_path):
    exercise = check.load_exercises(STANDIN / "exercises.py").EXERCISES[4]
    mine, read = check.Lab(), pathlib.Path.read_text
    monkeypatch.setattr(mine, "sandboxed", lambda *_, **__: check.sandbox.Done(status, "", stderr, ""))
    monkeypatch.setattr(pathlib.Path, "read_text", lambda path, **more: (
        "MemAvailable:    9000 kB\n" if path.name == "meminfo" else read(path, **more)))
    (tmp_path / "a.cu").write_text(SOLUTION)
    if why:
        with pytest.raises(check.sandbox.Fault, match=why):
            mine.check(exercise, tmp_path / "a.cu")
    else:
        assert mine.check(exercise, tmp_path / "a.cu")["note"]


def test_limits_of_the_shell_give_no_grade(tmp_path):
    (tmp_path / "a.cu").write_text(SOLUTION)
    for letter, value, words in (("n", 12, "ulimit -n"), ("v", 500000, "ulimit -Hv allows 512000000 bytes"),
                                 ("f", 1000, "ulimit -Hf allows 1024000 bytes"), ("u", 3, "ulimit -Hu|unavailable")):
        done = run("bash", "-c", f'ulimit -{letter} {value}; exec "$@"', "", sys.executable, ROOT / "lab/check.py", "4",
                   "--exercises", STANDIN / "exercises.py", "--file", tmp_path / "a.cu")
        assert done.returncode == 2 and re.match(f"check: .*({words}).*\n$", done.stderr), (letter, done.stderr)


def test_any_stream_any_path_any_name_of_exercises(tmp_path, untouched, monkeypatch):
    """Closed streams; a folder whose name is not UTF-8; a file of exercises without .py."""
    (tmp_path / "a.cu").write_text(SOLUTION)
    (tmp_path / "exercises").write_bytes((STANDIN / "exercises.py").read_bytes())
    place = os.path.join(os.fsencode(os.environ["TMPDIR"]), b"caf\xe9")
    os.mkdir(place)
    for closed in ("", ">&-", "<&- >&- 2>&-"):
        done = run("sh", "-c", f'"$@" {closed}', "", sys.executable, ROOT / "lab/check.py", "4", "--exercises",
                   tmp_path / "exercises", "--file", tmp_path / "a.cu", env={**os.environb, b"TMPDIR": place})
        assert done.returncode == 0 and done.stderr == "" and ("100 / 100" in done.stdout) == (not closed), done
    os.rmdir(place)


def test_what_a_class_needs_is_tried_before(tmp_path):
    """The folder of results, and that the exercise compiles and can be judged: no line of a grade comes before."""
    folder, results = class_of(tmp_path / "class", a=SOLUTION), tmp_path / "results"
    text = (STANDIN / "exercises.py").read_text()
    done = grade(folder, "/dev/null/results")
    assert_refused(done, 2, "/dev/null")
    assert done.stdout == ""
    for old, new, words in (('"transposes"', '"no such thing"', "exercise 4: its kernel cannot be registered"),
                            ("[Limit(LARGE, memory)]", "1 / 0", "bad.py:.*ZeroDivisionError")):
        (tmp_path / "bad.py").write_text(edited(text, {old: new}))
        done = grade(folder, results, "--exercises", tmp_path / "bad.py")
        assert done.returncode == 2 and re.search(words, done.stderr) and done.stdout == "", done.stderr
    (tmp_path / "bad.py").write_text(edited(text, {"Limit(LARGE, memory)": "Limit(LARGE, lambda runs: 1 / 0)"}))
    ungraded(grade(folder, results, "--exercises", tmp_path / "bad.py", "--export", "moodle"), results, ["a"],
             "bad.py:.*ZeroDivisionError")


def test_bad_input(tmp_path):
    assert_refused(lab(tmp_path / "missing.cu"), 2, "missing.cu", "No such file")
    assert_refused(lab(tmp_path), 2, "not a file")
    assert_refused(lab("/dev/zero"), 2, "not a file")
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "9", "--exercises", STANDIN / "exercises.py"), 2,
                   "exercise 9", "04")
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "4", "--exercises", tmp_path / "none.py"), 2, "none.py")
    assert_refused(grade(tmp_path / "missing", tmp_path / "results"), 2, "folder of submissions")
    assert_refused(grade("", tmp_path / "results"), 2, "SUBMISSIONS=")
    assert_refused(grade(tmp_path, tmp_path / "results"), 2, "no submissions")
    assert_refused(grade(tmp_path, tmp_path / "results", "--jobs", 0), 2, "--jobs 0")
    for text, words in (("def (", "bad.py:1: no file of exercises: SyntaxError"), ("x = 1", "EXERCISES"),
                        ("import parts\n\nparts.nothing", "bad.py:3: no file of exercises: AttributeError"),
                        ((STANDIN / "exercises.py").read_text() + "RIGHT[0].points = 20\n",
                         "exercise 4 is worth 80 points")):
        (tmp_path / "bad.py").write_text(text)
        with pytest.raises(check.BadInput, match=re.escape(words)):
            check.load_exercises(tmp_path / "bad.py")
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "4", "--exercises", tmp_path / "bad.py"), 2, words)
    assert_refused(grade(tmp_path, tmp_path / "results", "--exercises", tmp_path / "bad.py"), 2, words)
    (tmp_path / "class").mkdir()
    (tmp_path / "class/a.cu").write_text(SOLUTION)
    assert_refused(grade(tmp_path / "class", "/dev/null/results"), 2, "/dev/null")


# ---- A lecturer's term -----------------------------------------------------------------------------------------

def results_of(results, name):
    return json.loads((results / "lab04" / name / "results.json").read_text())


def test_a_run_can_be_repeated(tmp_path, untouched):
    """Its seed is printed, and in the table, on the page and in results.json, also of what was not graded."""
    told = (STANDIN / "exercises.py").read_text().replace('"no bank conflicts"', 'f"seed {seed}"')
    (tmp_path / "exercises.py").write_text(told)
    folder, results = tmp_path / "class", tmp_path / "results"
    (folder / "empty").mkdir(parents=True)
    (folder / "a.cu").write_text("int x;\n")
    done = grade(folder, results, "--exercises", tmp_path / "exercises.py")
    seed = re.search(r"^seed of the drawn shapes: (\d+); to repeat the run, add SEED=\1$", done.stdout, re.MULTILINE)[1]
    assert {row["seed"] for row in graded(results)} == {seed}
    assert f"have the seed {seed}. make grade SEED={seed} grades" in (results / "lab04.html").read_text()
    first = results_of(results, "a")
    assert first["extra_data"] == {"seed": int(seed)} and first["tests"][1]["name"] == f"conflicts: seed {seed}"
    assert grade(folder, tmp_path / "again", "--exercises", tmp_path / "exercises.py", "--seed", seed).returncode == 0
    assert results_of(tmp_path / "again", "a")["tests"] == first["tests"]
    made = run("make", "-n", "-C", ROOT, "NVCC=", "grade", "SUBMISSIONS=folder", "SEED=7",
               "NEWEST=1", "DUE=2026-11-30 18:00", "LATE_POINTS=5").stdout
    for words in ('--seed "$SEED"', "--newest", '--due "$DUE"', '--late-points "$LATE_POINTS"'):
        assert words in made
    made = run("make", "-n", "-C", ROOT, "NVCC=", "lab04", "SEED=7").stdout
    assert '--seed "$SEED"' in made


def test_late_days(tmp_path, untouched):
    """Each day that has begun takes points off, never below 0, in the table, the exports and results.json. The time is
    that of what lies in the folder."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    due = time.mktime((2026, 11, 30, 18, 0, 0, 0, 0, -1))
    days = {"early": -5, "in time": 0, "late": 0.001, "two": 1.5, "never": 50}
    for name, after in days.items():
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
            archive.writestr(zipfile.ZipInfo("exercise.cu", (1999, 1, 1, 0, 0, 0)), SOLUTION)
        os.utime(folder / f"{name}.zip", (due + after * 86400,) * 2)
    (folder / "empty").mkdir()
    done = grade(folder, results, "--due", "2026-11-30 18:00", "--late-points", 30, "--export", "moodle")
    assert done.returncode == 0, done.stderr
    assert {row["name"]: (row["days late"], row["points before"], row["total"]) for row in graded(results)} == {
        "early": ("0", "100", "100"), "in time": ("0", "100", "100"), "late": ("1", "100", "70"),
        "two": ("2", "100", "40"), "never": ("50", "100", "0"), "empty": ("0", "0", "0")}
    assert "late: lab04: 70 / 100  1 day late, 100 before" in done.stdout
    assert "6 of 6 names are not as Moodle exports them" in done.stdout
    assert results_of(results, "two")["score"] == 40
    assert results_of(results, "two")["output"] == ("100 of 100 points. 2 days late: 40 of 100 points count.")
    assert "2 days late: 40 of 100 points count." in (results / "lab04.moodle.csv").read_text()
    for options, words in ((["--due", "tomorrow"], "--due tomorrow: expected a date and a time"),
                           (["--late-points", 5], "and a deadline"),
                           (["--due", "2026-11-30 18:00", "--late-points", -5], "--late-points -5")):
        assert_refused(grade(folder, results, *options), 2, words)
