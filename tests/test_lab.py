"""The lab's checker: what it gives points for, and what none of the hostile submissions in tests/lab/hostile.py gets away with."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import sys
import time

import pytest

from conftest import assert_refused
from grading import SOLUTION, STANDIN, grade, graded, lab, untouched  # noqa: F401: a fixture
from lessons import ROOT

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import check    # noqa: E402
import sandbox  # noqa: E402
import source   # noqa: E402
from edits import edited  # noqa: E402
from hostile import HOSTILE  # noqa: E402

EXERCISES = check.load_exercises(STANDIN / "exercises.py")
# Those that the check of the text lets through: the compiler or the sandbox stops them.
PASS_THE_TEXT = {"compiler_output", "constexpr_loop", "crash", "huge_array", "huge_object", "loop_kernel", "loop_launcher", "outside", "outside_far", "recursion",
                 "template_recursion"}
# Run without it, these do what their names say.
UNTRUSTED = ["assembler", "attribute", "crash_signal", "daemon", "deletes", "exit_constructor", "fork_bomb", "forged_csv", "forged_verdict", "huge_allocation",
             "includes_reference", "includes_zero", "loop_constructor", "reads_files", "writes_files"]

needs_namespaces = pytest.mark.skipif(bool(sandbox.isolation()), reason=f"no namespaces here: {sandbox.isolation()}")


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
    assert done.stdout.splitlines()[0].split()[:4] == ["40", "/", "40", "right:"] and "100 / 100" in done.stdout
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
    ("if (x < height && y + j < width)", "if (true)", [0, 40, 20]),                                   # wrong where tiles do not fit
    ("[TILE_DIM][TILE_DIM];", "[TILE_DIM][TILE_DIM + 1];", [40, 0, 0]),                              # padded and swizzled: conflicts, and memory
    ("threadIdx.x ^ (threadIdx.y + j)]", "threadIdx.x]", [0, 0, 0]),
    ("TILE_DIM][TILE_DIM];", "TILE_DIM][2 * TILE_DIM];", [40, 40, 0]),
])
def test_what_wrong_solutions_lose(old, new, expected, tmp_path):
    result = verdict(edited(SOLUTION, {old: new}), tmp_path)
    assert points(result) == expected, result
    assert not result["note"] and all(bool(c["hint"]) == (c["points"] == 0) for c in result["checks"])


def test_does_not_compile(tmp_path):
    result = verdict(SOLUTION.replace("int x =", "int x"), tmp_path)
    assert result["total"] == 0 and result["note"].startswith("does not compile: step04_padding/exercise.cu:")


def test_one_crash_does_not_lose_the_others(tmp_path):
    result = verdict(SOLUTION.replace("    dim3 grid(", "    height /= width - 33 ? 1 : height - 31;\n    dim3 grid("), tmp_path)
    assert points(result) == [0, 40, 20]
    assert "33 x 31 of float: killed" in result["checks"][0]["hint"]


def test_kernels_of_the_steps_may_be_said():
    foreign = (ROOT / "build/lab/names").read_text().split()
    produced = {"copies", "transposes", "transposes_each_tile", "moves_each_tile"}
    for file in sorted(ROOT.glob("step*/step*.cu")):
        assert source.check(file.read_text(), foreign, produced) == "", file


@pytest.mark.parametrize("code, word", [
    ("system(0);", "system"), ("int system(const char*);", "system"), ("printf(0);", "printf"), ("T* p = new T;", "new"), ("harness::kernels();", "harness"), ("kernels();", "kernels"),
    ("run_grid(0);", "run_grid"), ("sync_block(0, 0);", "sync_block"), ("sim_turns = 0;", "sim_turns"), ("asm(0);", "asm"), ("__builtin_trap();", "__builtin_trap"), ("static int n;", "static"),
    ("int n; int* p = &n;", "int *"), ("auto p = &width;", "&width"), ("auto p = reinterpret_cast<float*>(odata);", "reinterpret_cast"),
    ("auto p = (float*)odata;", "float *"), ("auto p = (decltype(0))odata;", "decltype"), ("T* p = (T*)&width;", "&width"), ("T* p = (T* const)&width;", "&width"), ("int n = TILE<4> * width; auto p = &width;", "&width"), ("struct P { int n; };", "struct"), ("auto p = (uint3*)odata;", "uint3 *"), ("int many[4];", "many"), ("__shared__ int n;", "__shared__ int"), ("__shared__ T* box[32];", "__shared__ T"),
    ("blockIdx.x = 0;", "blockIdx"), ("auto p = &threadIdx;", "threadIdx"), ("using P = float*;", "using"), ("char c = 'x';", "'"), ("goto out;", "goto"),
    ("try { } catch (int) { }", "try"), ("errno = 0;", "errno"), ('printf("%d\\n", 1);', "cannot print"), ("printf(1);", "cannot print"),
    ("width = (height;", "(: not closed"), ("width = height);", "nothing is open"), ("width = idata[0;", "[: not closed"), ("stdout;", "stdout"), ("%: define x", "%:"), ("int a = 1; const_cast<T*>(idata)[0] = a;", "const_cast"),
])
def test_refused_text(code, word):
    foreign = (ROOT / "build/lab/names").read_text().split()
    refusal = source.check(SOLUTION.replace("    dim3 grid(", f"    {code}\n    dim3 grid("), foreign)
    line = SOLUTION[:SOLUTION.index("    dim3 grid(")].count("\n") + 1
    assert refusal.startswith(f"line {line}: ") and word in refusal and "\n" not in refusal, refusal


STRUCT = "template <typename T> struct alignas(16) Four { T element[4]; };"


@pytest.mark.parametrize("declared, used", [
    (STRUCT, "__shared__ Four<T> tile[32]; tile[0] = *reinterpret_cast<const Four<T>*>(idata); Four<T>* p = (Four<T>*)&odata[0]; p->element[0] = 1;"),
    ("template <typename T> struct Pixel { T x, y, rest[2][sizeof(T)]; };", "Pixel<T> p; p.x = 1;"),
    ("", "__shared__ float4 tile[32]; tile[0] = *reinterpret_cast<const float4*>(&idata[4]); *(float4*)odata = tile[0]; float4 v = make_float4(0, 0, 0, 0); v.w = 1;"),
    ("", "int lane = threadIdx.x % warpSize, rank = min(lane, 3), block = rank, grid = block; width = grid;"),
])
def test_vectors_may_be_said(declared, used):
    foreign = (ROOT / "build/lab/names").read_text().split()
    text = edited(SOLUTION, {"constexpr int TILE_DIM": f"{declared}\nconstexpr int TILE_DIM", "    __shared__": f"    {used}\n    __shared__"})
    assert source.check(text, foreign) == ""


@pytest.mark.parametrize("declared", [
    "struct alignas(16) Four { float element[4]; };", STRUCT.replace("T element", "int element"), STRUCT.replace("T element[4]", "T element[4] = {}"),
    STRUCT.replace("T element[4];", "T element[4]; Four() {}"), STRUCT.replace("T element[4];", "T* element;"), STRUCT.replace("};", "} one;"),
    STRUCT.replace("Four {", "Four : T {"), STRUCT.replace("T element[4];", "static T element[4];"),
])
def test_other_structs_may_not(declared):
    foreign = (ROOT / "build/lab/names").read_text().split()
    assert source.check(edited(SOLUTION, {"constexpr int TILE_DIM": f"{declared}\nconstexpr int TILE_DIM"}), foreign).startswith("line 3: struct: ")


def test_a_file_may_end_anywhere():
    text = (ROOT / "tests/lab/solutions/step07.cu").read_text()
    foreign = (ROOT / "build/lab/names").read_text().split()
    assert source.check(text, foreign, {"copies"}) == ""
    for place in range(0, len(text), 7):
        source.check(text[:place], foreign, {"copies"})


def test_lines_end_for_the_reader_where_they_end_for_the_compiler(tmp_path):
    text = "// What follows is code to compilers.\r#include <unistd.h>\r" + SOLUTION
    assert verdict(text, tmp_path)["note"].startswith("line 1: a control character")
    file = tmp_path / "windows.cu"
    file.write_bytes(SOLUTION.replace("\n", "\r\n").encode())
    assert check.Lab().check(EXERCISES.EXERCISES[4], file)["total"] == 100


@needs_namespaces
def test_hostile_submissions_earn_nothing_and_harm_nobody(tmp_path, untouched):
    """Graded as a class is, among others."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    for name, text in HOSTILE.items():
        (folder / f"{name}.cu").write_text(text)
    for i in range(3):
        (folder / f"{'amz'[i]}_right.cu").write_text(SOLUTION)
    (folder / "link.cu").symlink_to("/dev/zero")
    start = time.monotonic()
    done = grade(folder, results)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - start < 150  # nothing hangs
    rows = {row["name"]: row for row in graded(results)}
    assert len(rows) == len(HOSTILE) + 4
    for name, row in rows.items():
        assert row["total"] == ("100" if name.endswith("_right") else "0"), row
    assert {name for name, row in rows.items() if not row["note"].startswith("line ") and not name.endswith("_right")} == PASS_THE_TEXT | {"link"}


@needs_namespaces
def test_the_sandbox_alone_holds_them(tmp_path, untouched, monkeypatch):
    """Without the check of the text: what it may have missed does not get further."""
    monkeypatch.setattr(check, "RUN", {**check.RUN, "cpu": 1, "wall": 3})
    trusting = check.Lab(trust=True)
    submissions = [tmp_path / f"{name}.cu" for name in [*UNTRUSTED, "solution"]]
    for file in submissions:
        file.write_text(HOSTILE.get(file.stem, SOLUTION))

    def timed(file):
        start = time.monotonic()
        return trusting.check(EXERCISES.EXERCISES[4], file), time.monotonic() - start

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for file, (result, seconds) in zip(submissions, pool.map(timed, submissions)):
            print(f"{file.stem}: {result['total']} points, {seconds:.1f} s: {result['note'] or result['checks'][0]['hint']}")
            assert result["total"] == (100 if file.stem == "solution" else 0), (file.stem, result)
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
    assert verdict(SOLUTION, tmp_path, isolate=False)["total"] == 100
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
    assert verdict(SOLUTION, tmp_path)["total"] == 100
    monkeypatch.setenv("HOME", str(tmp_path / "gcc"))
    assert_refused(lab(STANDIN / "solution.cu"), 2, f"{tmp_path}/gcc: ")


@needs_namespaces
def test_a_result_comes_through_whatever_number_its_pipe_has():
    """Also if the one drawn for it is the one it has."""
    with sandbox.Box() as box:
        ends = os.pipe()  # the next pipe gets these, or some beside them
        for end in ends:
            os.close(end)
        for number in range(max(3, ends[0] - 2), ends[1] + 6):
            assert sandbox.run(["/bin/sh", "-c", f"echo table > /proc/self/fd/{number}"], box, isolate=True, result=number).result == "table\n", number
