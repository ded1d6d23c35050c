"""The lab's grader: what it gives points for, and what none of the hostile submissions in tests/lab/hostile/ gets away with."""

import concurrent.futures
import csv
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

import pytest

from conftest import assert_refused
from lessons import ROOT, run

sys.path.insert(0, str(ROOT / "lab"))
import check    # noqa: E402
import sandbox  # noqa: E402
import source   # noqa: E402

STANDIN = ROOT / "tests/lab/standin"
HOSTILE = sorted((ROOT / "tests/lab/hostile").glob("*.cu"))
SOLUTION = (STANDIN / "solution.cu").read_text()
EXERCISES = check.load_exercises(STANDIN / "exercises.py")
# Those that the check of the text lets through: the compiler or the sandbox stops them.
PASS_THE_TEXT = {"compiler_output", "constexpr_loop", "crash", "huge_array", "huge_object", "loop_kernel", "loop_launcher", "outside", "outside_far", "recursion",
                 "template_recursion"}
# Run without it, these do what their names say.
UNTRUSTED = ["assembler", "attribute", "crash_signal", "daemon", "deletes", "exit_constructor", "fork_bomb", "forged_csv", "forged_verdict", "huge_allocation",
             "includes_reference", "includes_zero", "loop_constructor", "reads_files", "writes_files"]

needs_namespaces = pytest.mark.skipif(bool(sandbox.isolation()), reason=f"no namespaces here: {sandbox.isolation()}")


def lab(file, *options):
    return run(sys.executable, ROOT / "lab/check.py", "04", "--exercises", STANDIN / "exercises.py", "--file", file, *options)


def grade(folder, results, *options):
    return run(sys.executable, ROOT / "lab/grade.py", folder, "--exercises", STANDIN / "exercises.py", "--exercise", "4", "--results", results, "--jobs", 2, *options)


def everything():
    """Every file of the checkout, and what lies about where anybody may write."""
    found = {}
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in (".git", ".venv", "__pycache__", ".pytest_cache")]
        for name in files:
            status = os.lstat(os.path.join(folder, name))
            found[os.path.join(folder, name)] = (status.st_size, status.st_mtime_ns, status.st_mode)
    for folder in ("/tmp", "/var/tmp", "/dev/shm", str(ROOT.parent), os.path.expanduser("~")):
        for name in os.listdir(folder):
            if "left_behind" in name:
                found[os.path.join(folder, name)] = None
    return found


@pytest.fixture
def untouched(tmp_path_factory, monkeypatch):
    """Nothing has changed in the checkout, and no private folder is left. They are made in a place of our own: others may be grading."""
    place = tmp_path_factory.mktemp("boxes")
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    before = everything()
    yield
    assert everything() == before and list(place.iterdir()) == []


def verdict(text, tmp_path, **options):
    file = tmp_path / "submission.cu"
    file.write_text(text)
    return check.Lab(**options).check(EXERCISES.EXERCISES[4], file)


def points(verdict):
    return [c["points"] for c in verdict["checks"]]


def test_solution(untouched):
    start = time.monotonic()
    done = lab(STANDIN / "solution.cu")
    seconds = time.monotonic() - start
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[0].split() == ["4", "/", "4", "right:", "ok"] and "10 / 10" in done.stdout
    print(f"one check: {seconds:.1f} s")
    assert seconds < 5


def test_handout(untouched):
    done = lab(STANDIN / "handout.cu", "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert result["total"] == 0 and all(c["hint"] and "\n" not in c["hint"] for c in result["checks"])


@pytest.mark.parametrize("old, new, expected", [
    ("(threadIdx.y + j) ^ threadIdx.x", "threadIdx.y + j", [0, 0, 0]),                             # reads another place than it wrote
    ("    __syncthreads();\n", "", [0, 0, 0]),                                                      # a race
    ("if (x < height && y + j < width)", "if (true)", [0, 4, 2]),                                   # wrong where tiles do not fit
    ("[TILE_DIM][TILE_DIM];", "[TILE_DIM][TILE_DIM + 1];", [4, 0, 0]),                              # padded and swizzled: conflicts, and memory
    ("threadIdx.x ^ (threadIdx.y + j)]", "threadIdx.x]", [0, 0, 0]),
    ("TILE_DIM][TILE_DIM];", "TILE_DIM][2 * TILE_DIM];", [4, 4, 0]),
])
def test_what_wrong_solutions_lose(old, new, expected, tmp_path):
    assert SOLUTION.count(old) == 1
    result = verdict(SOLUTION.replace(old, new), tmp_path)
    assert points(result) == expected, result
    assert not result["note"] and all(bool(c["hint"]) == (c["points"] == 0) for c in result["checks"])


def test_does_not_compile(tmp_path):
    result = verdict(SOLUTION.replace("int x =", "int x"), tmp_path)
    assert result["total"] == 0 and result["note"].startswith("does not compile: step04_padding/exercise.cu:")


def test_one_crash_does_not_lose_the_others(tmp_path):
    result = verdict(SOLUTION.replace("    dim3 grid(", "    height /= width - 33 ? 1 : height - 31;\n    dim3 grid("), tmp_path)
    assert points(result) == [0, 4, 2]
    assert "33 x 31 of float: killed" in result["checks"][0]["hint"]


def test_kernels_of_the_steps_may_be_said():
    foreign = (ROOT / "build/lab/names").read_text().split()
    produced = {"copies", "transposes", "transposes_each_tile", "moves_each_tile"}
    for file in sorted(ROOT.glob("step*/step*.cu")):
        assert source.check(file.read_text(), foreign, produced) == "", file


@pytest.mark.parametrize("code, word", [
    ("system(0);", "system"), ("int system(const char*);", "system"), ("printf(0);", "printf"), ("T* p = new T;", "new"), ("harness::kernels();", "harness"), ("kernels();", "kernels"),
    ("run_grid(0);", "run_grid"), ("declare_shared(odata, 4);", "declare_shared"), ("asm(0);", "asm"), ("__builtin_trap();", "__builtin_trap"), ("static int n;", "static"),
    ("int n; int* p = &n;", "int *"), ("auto p = &width;", "&width"), ("auto p = reinterpret_cast<float*>(odata);", "reinterpret_cast"),
    ("auto p = (float*)odata;", "float *"), ("auto p = (decltype(0))odata;", "decltype"), ("int many[4];", "many"), ("__shared__ int n;", "__shared__ int"),
    ("blockIdx.x = 0;", "blockIdx"), ("auto p = &threadIdx;", "threadIdx"), ("using P = float*;", "using"), ("char c = 'x';", "'"), ("goto out;", "goto"),
    ("try { } catch (int) { }", "try"), ("errno = 0;", "errno"), ("stdout;", "stdout"), ("%: define x", "%:"), ("int a = 1; const_cast<T*>(idata)[0] = a;", "const_cast"),
])
def test_refused_text(code, word):
    foreign = (ROOT / "build/lab/names").read_text().split()
    refusal = source.check(SOLUTION.replace("    dim3 grid(", f"    {code}\n    dim3 grid("), foreign)
    line = SOLUTION[:SOLUTION.index("    dim3 grid(")].count("\n") + 1
    assert refusal.startswith(f"line {line}: ") and word in refusal and "\n" not in refusal, refusal


@needs_namespaces
def test_hostile_submissions_earn_nothing_and_harm_nobody(tmp_path, untouched):
    """Graded as a class is, among others."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    for file in HOSTILE:
        shutil.copy(file, folder)
    for i in range(3):
        (folder / f"{'amz'[i]}_right.cu").write_text(SOLUTION)
    (folder / "link.cu").symlink_to("/dev/zero")
    start = time.monotonic()
    done = grade(folder, results)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - start < 60
    with open(results / "grades.csv") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert len(rows) == len(HOSTILE) + 4
    for name, row in rows.items():
        assert row["total"] == ("10" if name.endswith("_right") else "0"), row
    assert {name for name, row in rows.items() if not row["note"].startswith("line ") and not name.endswith("_right")} == PASS_THE_TEXT | {"link"}


@needs_namespaces
def test_the_sandbox_alone_holds_them(tmp_path, untouched, monkeypatch):
    """Without the check of the text: what it may have missed does not get further."""
    monkeypatch.setattr(check, "RUN", {**check.RUN, "cpu": 1, "wall": 3})
    trusting = check.Lab(trust=True)
    submissions = [ROOT / f"tests/lab/hostile/{name}.cu" for name in UNTRUSTED] + [STANDIN / "solution.cu"]

    def timed(file):
        start = time.monotonic()
        return trusting.check(EXERCISES.EXERCISES[4], file), time.monotonic() - start

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for file, (result, seconds) in zip(submissions, pool.map(timed, submissions)):
            print(f"{file.stem}: {result['total']} points, {seconds:.1f} s: {result['note'] or result['checks'][0]['hint']}")
            assert result["total"] == (10 if file.stem == "solution" else 0), (file.stem, result)
            assert seconds < 20, file.stem
            assert "LEAKED" not in json.dumps(result)
    survivors = [pid for pid in os.listdir("/proc") if pid.isdigit() and b"98765" in command_line(pid)]
    assert survivors == []


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@needs_namespaces
def test_sandbox(tmp_path):
    with sandbox.Box() as box:
        def sh(script, **options):
            return sandbox.run(["/bin/sh", "-c", script], box, isolate=True, **options)
        assert sh("exit 7").status == 7
        assert sh("echo x > /tmp/x || echo x > /lab/x || echo x > x").status != 0
        assert sh(f"ls {ROOT}").status != 0 and sh("ls /home /root /etc/passwd").status != 0
        assert sh("cat").stdout == "" and sh("echo $HOME $USER").stdout == "\n"
        assert sh("cat /proc/net/dev | grep -v lo: | tail -n +3").stdout == ""
        assert sh("while :; do :; done", cpu=1).status == "timeout"
        assert sh("cat /dev/null; while :; do echo yesyesyesyes; done", output=1000).status == "output"
        assert sh("echo table > /proc/self/fd/99", result=99).result == "table\n"
    assert not os.path.exists(box.outer)


def test_without_namespaces(tmp_path, untouched):
    """Where the kernel has none, limits and the check of the text remain."""
    assert verdict(SOLUTION, tmp_path, isolate=False)["total"] == 10
    with sandbox.Box() as box:
        start = time.monotonic()
        assert sandbox.run(["/bin/sh", "-c", "sleep 98765 & sleep 98765"], box, isolate=False, wall=1).status == "timeout"
        assert time.monotonic() - start < 3
        assert sandbox.run(["/bin/sh", "-c", "echo x > file"], box, isolate=False).status != 0
        user = sandbox.run(["/usr/bin/id", "-u"], box, isolate=False, visible=["/usr"]).stdout
        assert user != "0\n" and (os.getuid() == 0 or user == f"{os.getuid()}\n")


def test_compiler_of_a_folder_of_its_own(tmp_path, untouched, monkeypatch):
    """As clusters have them. One in the home would show all of that."""
    compiler = tmp_path / "gcc/bin/g++"
    compiler.parent.mkdir(parents=True)
    compiler.write_text(f'#!/bin/sh\nexec {shutil.which("g++")} "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(compiler.parent), prepend=":")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/gcc:{tmp_path}/missing")
    assert verdict(SOLUTION, tmp_path)["total"] == 10
    monkeypatch.setenv("HOME", str(tmp_path / "gcc"))
    assert_refused(lab(STANDIN / "solution.cu"), 2, f"{tmp_path}/gcc: ")


def test_grades_of_a_class(tmp_path, untouched):
    folder, results = tmp_path / "class", tmp_path / "results"
    handout = (STANDIN / "handout.cu").read_text()
    for i in range(20):
        own = folder / f"student{i:02}" / "step04_padding"
        own.mkdir(parents=True)
        (own / "exercise.cu").write_text([SOLUTION, handout, SOLUTION.replace("[TILE_DIM][TILE_DIM]", "[TILE_DIM][2 * TILE_DIM]"), "int x;\n"][i % 4])
    start = time.monotonic()
    done = grade(folder, results)
    print(f"20 submissions: {time.monotonic() - start:.1f} s")
    assert done.returncode == 0, done.stderr
    with open(results / "grades.csv") as file:
        rows = list(csv.DictReader(file))
    assert [(row["name"], row["points"], row["total"]) for row in rows[:4]] == [
        ("student00", "4/4 4/4 2/2", "10"), ("student01", "0/4 0/4 0/2", "0"), ("student02", "4/4 4/4 0/2", "8"), ("student03", "0/4 0/4 0/2", "0")]
    assert len(rows) == 20 and all(float(row["seconds"]) < 30 for row in rows)
    for row in rows:
        result = json.loads((results / row["name"] / "lab04/results.json").read_text())
        assert result["score"] == int(row["total"]) == sum(test["score"] for test in result["tests"])
        assert isinstance(result["output"], str) and isinstance(result["execution_time"], float)
        assert [set(test) for test in result["tests"]] == [{"name", "score", "max_score", "output", "output_format"}] * 3
        assert sum(test["max_score"] for test in result["tests"]) == 10


def test_bad_input(tmp_path):
    assert_refused(lab(tmp_path / "missing.cu"), 2, "missing.cu", "No such file")
    assert_refused(lab(tmp_path), 2, "not a file")
    assert_refused(lab("/dev/zero"), 2, "not a file")
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "9", "--exercises", STANDIN / "exercises.py"), 2, "exercise 9", "04")
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "4", "--exercises", tmp_path / "none.py"), 2, "none.py")
    assert_refused(grade(tmp_path / "missing", tmp_path / "results"), 2, "folder of submissions")
    assert_refused(grade("", tmp_path / "results"), 2, "SUBMISSIONS=")
    assert_refused(grade(tmp_path, tmp_path / "results"), 2, "no submissions")
    assert_refused(grade(tmp_path, tmp_path / "results", "--jobs", 0), 2, "--jobs 0")
