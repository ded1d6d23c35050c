"""The lab's checker: what it gives points for, and what none of the hostile submissions in tests/lab/hostile.py gets
away with."""

import concurrent.futures
import fcntl
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import assert_refused
from grading import SOLUTION, STANDIN, Trusting, grade, graded, lab, untouched  # noqa: F401
from lessons import ROOT, STEPS, run
from samples import few, some

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import check
import objects
import parts
import sandbox
import submission
from edits import edited
from hostile import FIBONACCI, HARMLESS, HOSTILE, KINDS, SLEEP, STOPPED_BY
from instead import LIBRARY
from parts import Finding

EXERCISES = check.load_exercises(STANDIN / "exercises.py")
# Where neither text nor object is judged, these do what their names say.
UNTRUSTED = [
    "assembler", "attribute", "crash_signal", "daemon", "deletes", "exit_constructor", "fork_bomb", "forged_json",
    "huge_allocation", "includes_reference", "loop_constructor",
    "reads_files", "writes_files"]

needs_namespaces = pytest.mark.skipif(bool(sandbox.isolation()), reason=f"no namespaces here: {sandbox.isolation()}")


def test_what_a_killed_check_left_is_removed(tmp_path):
    """By the next one, and not what another one still uses, or what is no such folder."""
    kept = {"transpose-lab-used", "transpose-lab-new", "transpose-lab-link", "another"}
    for name in ("transpose-lab-killed", *kept - {"transpose-lab-link"}):
        (tmp_path / name / "box").mkdir(parents=True)
        if name != "transpose-lab-new":
            os.utime(tmp_path / name, (0, 0))
    (tmp_path / "transpose-lab-killed/box/inside").mkdir()
    (tmp_path / "another").chmod(0o500)
    (tmp_path / "transpose-lab-killed/box/link").symlink_to(tmp_path / "another")
    for name in ("inside", ""):
        (tmp_path / "transpose-lab-killed/box" / name).chmod(0)
    (tmp_path / "transpose-lab-link").symlink_to("another")
    lock = os.open(tmp_path / "transpose-lab-used", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    # As for any user, modes of files count.
    as_user = (["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
               if os.geteuid() == 0 and shutil.which("setpriv") else [])
    done = run(*as_user, sys.executable, "-c", "import sandbox\nwith sandbox.Box() as box: pass", cwd=ROOT / "lab",
               env={**os.environ, "TMPDIR": str(tmp_path)})
    os.close(lock)
    mode = (tmp_path / "another").stat().st_mode & 0o777
    (tmp_path / "another").chmod(0o700)  # so that pytest can remove it
    assert done.returncode == 0 and set(os.listdir(tmp_path)) == kept, done
    assert mode == 0o500  # what a link of the command's leads to is left alone


@pytest.mark.variety
def test_a_project_at_a_path_that_is_not_ascii(tmp_path, untouched):
    """In a locale without UTF-8, too: the compiler gets the path as it is."""
    project = tmp_path / "mat riks é"
    for name in ("common", "sim", "lab", "step04_padding", "build/lab", "build/cuda"):
        shutil.copytree(ROOT / name, project / name)
    (project / "plots").mkdir()
    for path in (ROOT / "build/rewrite", *(ROOT / "plots").glob("*.py")):
        shutil.copy(path, project / path.relative_to(ROOT))
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, project / "lab/check.py", "04", "--exercises", STANDIN / "exercises.py",
                           "--file", STANDIN / "solution.cu"],
                          env=environment, capture_output=True)
    assert done.returncode == 0 and b"100 / 100" in done.stdout and done.stderr == b"", done


def verdict(text, tmp_path, **options):
    file = tmp_path / "submission.cu"
    file.write_text(text)
    return check.Lab(**options).check(EXERCISES.EXERCISES[4], file)


def points(verdict):
    return [c["points"] for c in verdict["checks"]]


def test_a_solution_and_a_handout(tmp_path, untouched):
    """The solution has comments in a locale in which nothing but ASCII can be decoded, at a path that is none of it."""
    folder = tmp_path / "mat riks é"
    folder.mkdir()
    (folder / "解.cu").write_text(SOLUTION + "// 转置矩阵 — é\n", encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, ROOT / "lab/check.py", "04", "--exercises", STANDIN / "exercises.py", "--file", "解.cu"],
        cwd=folder, env=environment, capture_output=True)
    assert done.returncode == 0 and b"100 / 100" in done.stdout and done.stderr == b"", done
    done = lab(STANDIN / "handout.cu", "--json")
    result = json.loads(done.stdout)
    assert done.returncode == 1 and result["total"] == 0
    assert all(c["hint"] and "\n" not in c["hint"] for c in result["checks"])


@pytest.mark.parametrize("old, new, expected", some([
    ("(threadIdx.y + j) ^ threadIdx.x", "threadIdx.y + j", [0, 0]),            # reads another place than it wrote
    ("    __syncthreads();\n", "", [0, 0]),                                     # a race
    # wrong where tiles do not fit: a quarter
    ("if (x < height && y + j < width)", "if (true)", [0, 15]),
    # padded and swizzled: conflicts, and memory
    ("[TILE_DIM][TILE_DIM];", "[TILE_DIM][TILE_DIM + 1];", [40, 0]),
    ("threadIdx.x ^ (threadIdx.y + j)]", "threadIdx.x]", [0, 0]),
    ("TILE_DIM][TILE_DIM];", "TILE_DIM][2 * TILE_DIM];", [40, 15]),             # a limit is exceeded: a quarter
], 3))
def test_what_wrong_solutions_lose(old, new, expected, tmp_path):
    result = verdict(edited(SOLUTION, {old: new}), tmp_path)
    assert points(result) == expected, result
    assert not result["note"] and all(bool(c["hint"]) == (c["points"] < c["of"]) for c in result["checks"])


def test_does_not_compile(tmp_path):
    result = verdict(SOLUTION.replace("int x =", "int x"), tmp_path)
    assert result["total"] == 0 and result["note"].startswith("does not compile: submission.cu:")


def test_one_crash_does_not_lose_the_others(tmp_path):
    result = verdict(SOLUTION.replace("    dim3 grid(", "    height /= width - 33 ? 1 : height - 31;\n    dim3 grid("),
                     tmp_path)
    assert points(result) == [0, 15]
    assert "33 x 31 of float: the host's code crashed: Floating point exception" in result["checks"][0]["hint"]


def with_code(place, code):
    """The stand-in's solution with code in its kernel, in its launcher or at its top, and the line of that."""
    before = {"kernel": "    __shared__ T tile", "launcher": "    dim3 grid(", "top": "constexpr int TILE_DIM"}[place]
    return edited(SOLUTION, {before: f"{code}\n{before}"}), SOLUTION[:SOLUTION.index(before)].count("\n") + 1


def refusal(code, place="top"):
    """Why the text of the solution is refused with this code in it, or ''."""
    try:
        submission.read(with_code(place, code)[0].encode("utf-8", "surrogateescape"), EXERCISES.EXERCISES[4])
        return ""
    except submission.Refused as refused:
        return str(refused)


@pytest.mark.parametrize("code, words", [
    # Names that reach the compiler or the simulator.
    ("void f() { asm(\"int3\"); }", "asm"), ("__attribute__((constructor)) void f() {}", "__attribute__"),
    ("[[gnu::constructor]] void f() {}", "gnu"), ("int n = sim_turns;", "the simulator"),
    ("int n = sim::turn;", "the simulator"), ("SIM_FUNCTION void f() {}", "the simulator"),
    ("void f() { __builtin_trap(); }", "__builtin_trap"), ("int __mine;", "belong to the compiler"),
    ("const char* text = \"sim\";", "the simulator"),  # no quotation mark hides a name
    ("a\\\nsm(0);", "asm"), ("/* it's */ asm(0);", "asm"), ("int n = 1'0 + '\"'; asm(0); char c = '\"';", "asm"),
    ("#if __CUDA_ARCH__ > 0\n#endif", "__CUDA_ARCH__"), ("#ifdef BACKEND\n#endif", "that this file defines"),
    # What hides or composes one.
    ("#define CAT(a, b) a##b", "composes none"), ("%:define ASM 1", "%:"), ("int n = 0; */ int m;", "not begun"),
    ("/* no end", "without an end"), ("const char* text = R\"(x)\";", "plain strings"),
    # Other files and options.
    ("#include <unistd.h>", "include only"), ("#include <cooperative_groups.h>", "; use __syncthreads() for a block"),
    ("#include <cstdio>", "SHOW=1"), ("#include <cuda_fp16.h>", "are also allowed"),
    ("#import <unistd.h>", "leave the line out"),
    ("#pragma GCC optimize(3)", "#pragma unroll"), ("#line 1 \"other\"", "leave the line out"),
    ("#define for if", "keeps its meaning"), ("#define __syncthreads()", "keeps its meaning"),
    ("#define aligned(n)", "keeps its meaning"), ("#undef KERNEL", "keeps its meaning"),
])
def test_refused_text(code, words):
    said = refusal(code)
    assert re.match(r"line \d+: ", said) and words in said and "\n" not in said, said


def test_all_reasons_are_told_at_once():
    """In the order of the lines, and ten at most. Comments are no reasons."""
    said = refusal("// asm sim\n/* asm\nsim */ int sim_a;\n#include <cstdio>\n" + "int __x; int sim;\n" * 20)
    said = said.split("\n")
    assert len(said) == 10 and [line.split(":")[0] for line in said[:3]] == ["line 5", "line 6", "line 7"], said


def test_what_is_read_is_what_is_compiled():
    """Lines joined, without comments, each on its line; whatever line ends the file has."""
    text = submission.text_of(b'\xef\xbb\xbfint a; // x \\\r\n y\r\n/* b\r c */ "// d" \xff\rint \\\n e; \'"\' // f')
    assert text == 'int a;  \n\n \n "// d" \ufffd\nint  e; \'"\'  \n'
    for data, words in ((b"\xff\xfei", "UTF-16"), (b" " * 65537, "65536 bytes")):
        with pytest.raises(submission.Refused, match=words):
            submission.text_of(data)


def runs_of_text():
    """Texts of LONG characters, with a long run of each character and pair that an expression may begin or end with,
    alone and behind the beginnings of what is read."""
    marks = "\\\"'/*#%:<>_. \t\r\n\v\f(),;0aeELRuK\u00e9"
    pieces = [*marks, *map("".join, itertools.product(marks, repeat=2)), "R_", "KERNEL(", "KERNEL\n", "__",
              "\\ \n", "/*/", '"\n"', "#define a\n", "#if a\n", "KERNEL(a,\n", 'KERNEL(a,"",b\n', 'KERNEL(a,"b",', "a_"]
    line = 'KERNEL(transposeSwizzle, "-", transposes, launchSwizzle)'
    places = [line[:n] for n in range(6, len(line)) if not line[n].isalnum() or not line[n - 1].isalnum()]
    beginnings = ["", "#", "#define a ", "#define", "#if ", "#include ", "/*", "//", '"', "'", "0", "a"]
    for piece in pieces:
        yield piece * (LONG // len(piece))
    for before, piece in itertools.product([*beginnings, *places], [*' \t\n",;()a', "KERNEL(", '\\"', ", ", "a,"]):
        yield before + piece * (LONG // len(piece)) + "!" + line[len(before):]
    yield "".join(f"#define a{i}\n" for i in range(LONG // 24)) + "#if " + "a " * (LONG // 4)


LONG, ENOUGH = 8192, 0.25  # characters; seconds, for a text that takes 0.01


@pytest.fixture
def limited():
    """A function that is called with few seconds of the processor."""
    def end(*_):
        raise TimeoutError

    def call(function, *arguments):
        signal.setitimer(signal.ITIMER_VIRTUAL, ENOUGH)
        try:
            return function(*arguments)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    before = signal.signal(signal.SIGVTALRM, end)
    yield call
    signal.signal(signal.SIGVTALRM, before)


def test_any_text_is_read_in_linear_time(limited):
    exercise = EXERCISES.EXERCISES[4]
    slow, count = [], 0
    for text in runs_of_text():
        count += 1
        try:
            limited(submission.read, text.encode(), exercise)
        except submission.Refused:
            pass
        except TimeoutError:
            slow.append(text[:70])
    assert slow == [] and count > 1000


def test_any_listing_is_read_in_linear_time(limited):
    """Names of a submission are in the listing of its object, in messages and in findings."""
    for piece in ("R_", "_Z", "a", "_", "0", "_Z1", "sim_", "St", "a/", "a.", "byte 1", "found 1 [0x"):
        name = f"_Z{piece * (LONG // len(piece))}"
        listing = (f"                 U {name}\n====\nDisassembly of section .text:\n0000000000000000 <{name}>:\n"
                   f"       0:\tcall   5 <{name}+0x5>\t1: R_X86_64_PLT32\t{name}-0x4\n====\n====\n")
        assert len(limited(objects.judge, listing, lambda section, address: "line 1")) < 300
        limited(parts.said, f"kernel: {name}", "float")


def test_a_text_is_read_within_limits(monkeypatch):
    """In a process: what ends that, but for the time that a text takes, is no refusal."""
    exercise, data = EXERCISES.EXERCISES[4], SOLUTION.encode()
    assert submission.read_apart(data, exercise) == submission.read(data, exercise)
    with pytest.raises(submission.Refused, match="line 1: sim: "):
        submission.read_apart(b"int sim;", exercise)
    for code, error, words in (("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", submission.Refused, "5 s"),
                               ("bytes(1 << 60)", RuntimeError, "MemoryError")):
        made = subprocess.run
        monkeypatch.setattr(subprocess, "run", lambda command, code=code, **more: made(
            [sys.executable, "-c", code], **more))
        with pytest.raises(error, match=words):
            submission.read_apart(data, exercise)
        monkeypatch.setattr(subprocess, "run", made)


def test_the_kernel_line_is_the_graders():
    """Another line for the graded kernel is refused, and none at all. Others do not count."""
    exercise, line = EXERCISES.EXERCISES[4], 'KERNEL(transposeSwizzle, "-", transposes, launchSwizzle)'
    other = 'KERNEL(other, "-", copies, launchOther)'
    for text, words in ((edited(SOLUTION, {line: other}), "no KERNEL(transposeSwizzle"),
                        (edited(SOLUTION, {"transposes": "writes_nothing"}), "expected transposes, as it was handed")):
        with pytest.raises(submission.Refused, match=re.escape(words)):
            submission.read(text.encode(), exercise)
    found = submission.read(f"{SOLUTION}\n{other}\n".encode(), exercise)
    assert found.launcher == "launchSwizzle" and "KERNEL" not in found.text


def test_there_is_one_list_of_names():
    """Text, object and compiler say the same of a name, and each message ends with what to write."""
    assert submission.instead is objects.instead is check.instead
    for rows in (submission.TEXT, LIBRARY):
        assert all(re.search("use |write |choose |leave |return|SHOW", say) for _, _, say in rows)
    for name, what in (("printf", "printf"), ("_ZN3sim5printIiEEv", "printf"), ("_Z10cudaMallocv", "cudaMalloc"),
                       ("_Znwm", "new or malloc"), ("__cxa_throw", "throw or catch"), ("mmap", "mmap")):
        assert objects.said(name).startswith(f"{what}: "), objects.said(name)


# {code in the kernel or in the launcher: (the name that is refused, what to do instead)}
INSTEAD = {
    ("kernel", "namespace cg = cooperative_groups;"): ("cooperative_groups", "__syncthreads()"),
    ("kernel", 'printf("x");'): ("printf", "SHOW=1"),
    ("kernel", "T* p = new T; *p = T(); delete p;"): ("new", "__shared__"),
    ("kernel", "atomicAdd((int*)odata, 1);"): ("atomic", "an assignment"),
    ("kernel", "memcpy(odata, idata, 4);"): ("memory", "an assignment"),
    ("kernel", "assert(width > rand());"): ("rand", "nvcc refuses it"),
    ("kernel", "void (*volatile f)(int) = [](int) {}; f(1);"): ("pointer", "by their names"),
    ("launcher", "cudaDeviceSynchronize();"): ("cudaDeviceSynchronize", "leave it out"),
    ("launcher", "std::abort();"): ("abort", "return"), ("launcher", "throw 1;"): ("throw", "use if"),
    ("launcher", 'fopen("x", "r");'): ("fopen", "no files"), ("launcher", 'system("x");'): ("system", "no processes"),
    ("launcher", "width = time(nullptr);"): ("time", "depends only on idata"),
    ("top", FIBONACCI + "int x = fibonacci(20);"): ("computed", "constexpr"),
    # Of the compiler.
    ("kernel", "int n = run_grid;"): ("run_grid", "not declared"),
    ("kernel", "T line[width + 1]; odata[0] = line[0];"): ("line", "variable length"),
    ("kernel", "(threadIdx.x) += 3;"): ("threadIdx", "read-only"),
}


@pytest.mark.parametrize("place, code", few(INSTEAD, lambda key: key[1].startswith(("printf", "int fib", "cuda"))))
def test_a_refusal_names_the_function_its_line_and_what_to_use(place, code, tmp_path):
    text, line = with_code(place, code)
    note, (name, instead) = verdict(text, tmp_path)["note"], INSTEAD[place, code]
    assert name in note and instead in note and re.search(rf"(line |\.cu:){line + code.count(chr(10))}\b", note), note


def test_symbols_are_those_that_solutions_need():
    """The list is closed: it has what CUDA's functions compile to, and no function of the system."""
    for name in ("__tsan_memcpy", "__tsan_read4", "__tsan_unaligned_write8", "_Z13__syncthreadsv",
                 "_ZN3sim11launch_gridERK"):
        assert objects.SYMBOLS.fullmatch(name)
    for name in ("memcpy", "memset", "memmove", "system", "write", "_Znwm", "__tsan_atomic32_load", "__cxa_throw",
                 "__cxa_atexit", "_ZN3sim14launch_grid_xyv", "_ZN7harness7kernelsEv", "mmap", "dlsym", "syscall"):
        assert not objects.SYMBOLS.fullmatch(name), name


def test_a_row_is_of_the_gpus_that_were_asked_for():
    columns = {
        "kernel": "k", "width": 2, "height": 3, "global_bytes_moved": 96, "element_bytes": 4, "verified": "yes",
        "type": "float", "backend": "sim"}

    def rows_of(gpus, asked):
        row = {name: str(cell) for name, cell in {**columns, **({} if gpus is None else {"gpus": gpus})}.items()}
        return check.verified_rows([{"kernels": [{"row": row}]}], "k", [(2, 3)], "float", asked)

    assert list(rows_of(None, None)) == list(rows_of(3, 3)) == [(2, 3)]
    assert rows_of(3, None) == rows_of(None, 3) == rows_of(4, 3) == {}


def test_lines_of_another_program_do_not_count():
    """A submission does not know the name that its program was started under. Neither does a line count that is cut
    off."""
    whole = json.dumps({"program": "drawn", "text": "k: \u2028"})
    assert ([line["text"] for line in check.accounts(f"{whole}\n{whole[:-4]}\n[]\n\n", "drawn")] == ["k: \u2028"])
    assert check.accounts(whole + "\n", "other") == []


def test_several_gpus_have_no_bandwidth():
    """Not with a card either: the exercise needs several."""
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "09", "--graded-bandwidth", "50"), 2,
                   "--graded-bandwidth: exercise 9 is for several GPUs")


def test_nvcc_gets_no_path_of_the_project():
    """It gives them to a shell as they are: $HOME in the name of a folder is another folder. In place of nvcc, a
    program that looks for what it is given."""
    grader = check.Lab()
    looks = ("import os, sys; print(*sys.argv[1:] if all(map(os.path.isfile, sys.argv[1:-2])) else ['missing'], "
             "file=sys.stderr); sys.exit(1)")
    grader.cuda = [os.path.realpath(sys.executable), "-c", looks]
    none, given = check.bandwidth(grader, EXERCISES.EXERCISES[4], STANDIN / "solution.cu")
    assert (none is None and given.startswith("build/lab/harness.o gpu.cu ") and given.endswith("-o program")
            and str(ROOT) not in given), given


@pytest.mark.parametrize("bound, total", [("32", 0), ("TILE_DIM * BLOCK_ROWS", 100)])
def test_a_block_larger_than_its_launch_bounds(bound, total, tmp_path):
    """CUDA does not launch it."""
    result = verdict(SOLUTION.replace("__global__ void", f"__global__ void __launch_bounds__({bound})", 1), tmp_path)
    assert result["total"] == total
    assert total or ("the kernel asks for 256 threads in a block, and its __launch_bounds__ allows 32"
                     in result["checks"][0]["hint"]), result


# E7, and what A2 and F4 went past the simulator with: locals of others and of before, and pointers of any type.
ACCESSES = [
    ("__shared__ T* box[1024]; T mine = idata[0]; box[threadIdx.y * 32 + threadIdx.x] = &mine; __syncthreads(); T "
     "other = *box[0]; if (height < 0) odata[0] = other;", "a local variable of another thread"),
    ("T own[4]; own[threadIdx.x % 2 + 4] = idata[0]; if (height < 0) odata[0] = own[threadIdx.x % 4];",
     "index 4 of a local array"),
    ("auto far = reinterpret_cast<unsigned long long*>(odata); far[-8] = 0;", "out-of-bounds store"),
    ("*reinterpret_cast<int*>(size_t(4096)) = 1;", "null pointer"),
    ("extern __shared__ T more[]; more[threadIdx.x] = idata[0];",
     "byte 0 (float number 0) of dynamic shared memory (the launch asks for 0 bytes of it)"),
    ("size_t p = size_t(odata) + (size_t(1) << 45); *(char*)p = 1;", "host pointer: a store")]


def test_every_access_is_looked_at(tmp_path):
    """All in one program: the width of the matrix chooses."""
    code = "\n".join(f"if (width == {33 + i}) {{ {code} }}" for i, (code, _) in enumerate(ACCESSES))
    file, grader, exercise = tmp_path / "accesses.cu", check.Lab(), EXERCISES.EXERCISES[4]
    file.write_text(with_code("kernel", code)[0])
    processor = [check.any_processor()]
    with sandbox.Box() as box:
        assert grader.build(box, exercise, file, processor) == ""
        for i, (_, words) in enumerate([("", ""), *ACCESSES]):
            run = grader.run(exercise, box, [(32 + i, 31)], "float", "h200", processor)[1][32 + i, 31]
            said = [check.said(finding.text, "float") for finding in run.findings]
            assert run.row if not words else words in " ".join(said), (words, said)


def test_what_show_shows():
    """The part around the first wrong element; where none is wrong, or none was printed, what happened instead."""
    exercise = EXERCISES.EXERCISES[4]

    def shown(odata, finding, status=1, width=32, height=32):
        findings = [Finding("", finding)] if finding else []
        return check.shown_matrix(exercise, width, height, status, odata, findings).splitlines()

    odata = [[str(32 * c + r) for c in range(32)] for r in range(32)]
    fault = ("kernel: out-of-bounds store of 4 bytes at byte 64 of odata: thread (0, 0, 0) at "
             "step04_padding/x.cu:3, in block (0, 0, 0)")
    assert shown(odata, fault) == ["idata has 32 rows x 32 columns. Every element of odata is right, but:",
                                   "out-of-bounds store of 4 bytes at byte 64 (float number 16) of odata: thread "
                                   "(0, 0, 0) at x.cu:3, in block (0, 0, 0)"]
    assert shown([], "", "timeout") == [
        "idata has 32 rows x 32 columns. There is no result:", "stopped at its time limit; check that every loop ends"]
    odata[3][31] = "?"
    lines = shown(odata, fault)
    assert (lines[0].endswith("rows 2 to 17 and columns 16 to 31 of 32 x 32:")
            and lines[3].split() == [*(str(32 * c + 3) for c in range(16, 31)), "?!995"] and len(lines) == 2 + 16 + 2)
    wrong = ("kernel: wrong result: 1 of 1 elements differ; first at row 0, column 0 of odata: expected 1.5 "
             "[0x3fc00000] (idata row 0, column 0), found 2.5 [0x40200000] (never written)")
    assert shown([["?"]], wrong, width=1, height=1)[1:] == [
        "", "?!0", "", "wrong result: 1 of 1 elements differ; first at row 0, column 0 of odata: expected "
        "idata row 0, column 0; it was never written"]


@pytest.mark.skipif("trivial-auto-var-init" not in (ROOT / "build/lab/compile").read_text(),
                    reason="compilers before g++ 12 cannot fill locals")
def test_leftover_locals_hold_nothing(tmp_path):
    """E7: what a thread gave no value is nothing that another thread left."""
    result = verdict((ROOT / "tests/lab/leftover.cu").read_text(), tmp_path)
    assert result["total"] == 0 and "wrong result" in result["checks"][0]["hint"], result


def test_cuda_as_students_write_it(tmp_path):
    """What the review found refused, all in one kernel, and names that headers have."""
    assert verdict((ROOT / "tests/lab/idioms.cu").read_text(), tmp_path)["total"] == 100


@pytest.mark.parametrize("number, kernel, tile", some([(2, "transposePatches", ""),
                                                  (3, "transposeHalfTile", "__shared__ T tile[512];"),
                                                  (4, "transposeSwizzledTall", "__shared__ T tile[512];"),
                                                  (5, "turnTiles", "__shared__ T tile[4096];")], 4))
def test_a_local_array_is_no_tile(number, kernel, tile, tmp_path):
    """An array with an index that is known at run time lies in memory, and costs points for cost, if any are left."""
    text = (ROOT / "tests/lab/local_array.cu").read_text().replace("transposePatches", kernel)
    (tmp_path / "submission.cu").write_text(text.replace("    T a[32];", f"    {tile} T a[32];"))
    exercise = check.exercise_of(check.load_exercises(), number)
    result = check.Lab().check(exercise, tmp_path / "submission.cu")
    assert result["total"] <= 40, result
    # A tile that is only declared is one fault more, and the hint names one.
    hint = {2: "local memory", 3: "a tile that each element is stored to", 4: "a tile that each element is stored to"}
    assert hint.get(number, "") in result["checks"][-1]["hint"], result


STRUCTURE = "template <typename T> struct Own {{ T v[32]; __device__ T& {}(int i) {{ return v[i]; }} }};\n"
HIDDEN = {  # {name: (in front of the kernel, declaration, element)}
    "parentheses": ("", "T a[32];", "(a)[r]"), "swapped": ("", "T a[32];", "r[a]"),
    "address": ("", "T a[32];", "(&a[0])[r]"), "lambda": ("", "T a[32]; auto at = [&](int i) -> T& { return a[i]; };",
                                                          "at(r)"),
    "reference": ("", "T a[32]; T (&b)[32] = a;", "b[r]"), "union": ("", "union { T v[32]; char c; } a;", "a.v[r]"),
    "method": (STRUCTURE.format("at"), "Own<T> a;", "a.at(r)"),
    "operator": (STRUCTURE.format("operator[]"), "Own<T> a;", "a[r]"),
    "goto": ("", "T a[32]; int again = 0; begin: if (again++ < 0) goto begin;", "a[r]"),
    "set_first": ("", "T a[32] = {};", "a[r]")}


@pytest.mark.parametrize("name", some(HIDDEN, 64))
def test_no_syntax_hides_a_local_array(name, tmp_path):
    before, declaration, element = HIDDEN[name]
    text = (ROOT / "tests/lab/local_array.cu").read_text().replace("a[r]", element).replace("T a[32];", declaration)
    (tmp_path / "submission.cu").write_text(text.replace("template <typename T>\n__global__",
                                                         f"{before}template <typename T>\n__global__"))
    result = check.Lab().check(check.exercise_of(check.load_exercises(), 2), tmp_path / "submission.cu")
    assert result["total"] == 40 and "threads 0 and 1 of a block use elements 0 and 31" in str(result), result


def test_the_model_knows_local_memory(tmp_path):
    """Exercise 8: 49 % of cudaMemcpy's bandwidth on an H200 (plots/data/h200_local.csv)."""
    text = (ROOT / "tests/lab/local_array.cu").read_text().replace("transposePatches", "transposeFast")
    (tmp_path / "submission.cu").write_text(text.replace("launchPatches", "launchFast"))
    result = check.Lab().check(check.exercise_of(check.load_exercises(), 8), tmp_path / "submission.cu")
    assert 50 <= result["total"] <= 65 and "DRAM, local memory" in result["checks"][-1]["hint"], result


def test_points_do_not_depend_on_the_processors(tmp_path):
    """C3: blocks that race give one result, whichever processor runs them."""
    file = tmp_path / "race.cu"
    file.write_text(edited(SOLUTION, {"            odata[size_t(y + j) * height + x] =":
                                          "            odata[(size_t(y + j) * height + x + 1) % (size_t(width) * "
                                          "height)] = T(1), odata[size_t(y + j) * height + x] ="}))
    grader, exercise, shape = check.Lab(), EXERCISES.EXERCISES[4], (64, 96)
    with sandbox.Box() as box:
        assert grader.build(box, exercise, file, [check.any_processor()]) == ""
        found = [[(f.kind, f.wrong) for f in grader.run(exercise, box, [shape], "float", "h200",
                                                       [processor])[1][shape].findings]
                 for processor in sorted(os.sched_getaffinity(0))[:2]]
    assert found[0] and all(each == found[0] for each in found)


@pytest.mark.skipif("clang" in (ROOT / "build/lab/compile").read_text().split()[0],
                    reason="clang does not name the headers that it used")
def test_the_precompiled_header_is_used(tmp_path):
    """A compiler that finds it made with other options reads common/step.h instead, in twice the time, and says
    nothing."""
    file, lab, exercise = tmp_path / "exercise.cu", check.Lab(), EXERCISES.EXERCISES[4]
    file.write_text(SOLUTION)
    lab.command += ["-H"]
    lab.witness += ["-H"]
    with sandbox.Box() as box:
        data, found, _ = lab.read(exercise, file)
        name = check.unpack(box, exercise, file, data, found)
        done = lab.sandboxed(["/bin/sh", "-c", check.compilation(name, lab.compiling(), lab.compiling("witness"))],
                             box, writable=True, **check.COMPILE)
    assert (done.status == 0 and [line for line in done.stderr.splitlines() if line.startswith("!")]
            == [f"! {ROOT}/build/lab/{made}.h.gch" for made in ("compile", "witness")]), done.stderr


def test_elements_cannot_be_computed(tmp_path):
    """Who knows how the harness makes its elements cannot make them: their seed is drawn for each run."""
    text = (ROOT / "tests/lab/computed.cu").read_text()
    result = verdict(text, tmp_path)
    assert result["total"] == 0 and not result["note"], result


@needs_namespaces
def test_hostile_submissions_earn_nothing_and_harm_nobody(tmp_path, untouched):
    """Graded as a class is, among others. Each is stopped where it should be."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    hostile = few(HOSTILE, lambda name: name in KINDS)
    for name in hostile:
        (folder / f"{name}.cu").write_text(HOSTILE[name])
    for name, text in {**HARMLESS, "right": SOLUTION}.items():
        (folder / f"{name}.cu").write_text(text)
    (folder / "link.cu").symlink_to("/dev/zero")
    done = grade(folder, results)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in graded(results)}
    assert len(rows) == len(hostile) + len(HARMLESS) + 2
    for name, row in rows.items():
        assert row["total"] == ("100" if name in {*HARMLESS, "right"} else "0"), row
    for name in hostile:
        note = rows[name]["note"]
        by = ("compiler" if note.startswith(("does not compile", "the compiler")) else
              "run" if note.startswith(("right: ", "conflicts: ")) else "refused")
        stopped = next(kind for kind, names in STOPPED_BY.items() if name in names)
        assert by == (stopped if stopped in ("compiler", "run") else "refused"), (name, note)


@needs_namespaces
def test_the_sandbox_alone_holds_them(tmp_path, untouched, monkeypatch):
    """Without a look at text and object: what that may have missed does not get further."""
    monkeypatch.setattr(check, "RUN", {**check.RUN, "cpu": 1, "wall": 3})
    trusting = Trusting()
    tried = few(UNTRUSTED, lambda name: name in ("daemon", "forged_json", "writes_files"))
    submissions = [tmp_path / f"{name}.cu" for name in [*tried, "solution"]]
    for file in submissions:
        file.write_text(HOSTILE.get(file.stem, SOLUTION))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for file, result in zip(submissions,
                                pool.map(lambda file: trusting.check(EXERCISES.EXERCISES[4], file), submissions)):
            print(f"{file.stem}: {result['total']} points: {result['note'] or result['checks'][0]['hint']}")
            assert result["total"] == (100 if file.stem == "solution" else 0), (file.stem, result)
            assert "LEAKED" not in json.dumps(result)
    survivors = [pid for pid in os.listdir("/proc") if pid.isdigit() and str(SLEEP).encode() in command_line(pid)]
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
        assert sh("exit 7").status == 7 and sh("echo sandbox: no >&2; exit 97").status == 97
        assert sh("echo x > /tmp/x || echo x > /lab/x || echo x > x").status != 0
        assert sh(f"ls {ROOT}").status != 0 and sh("ls /home /root /etc/passwd").status != 0
        assert sh("cat").stdout == "" and sh("echo $HOME $USER").stdout == "\n"
        assert sh("cat /proc/net/dev | grep -v lo: | tail -n +3").stdout == ""
        assert sh("while :; do :; done", cpu=1).status == "timeout"
        assert sh("cat /dev/null; while :; do echo yesyesyesyes; done", output=1000).status == "output"
        assert sh("echo table > /proc/self/fd/99", result=99).result == "table\n"
    assert not os.path.exists(box.outer)


def test_without_namespaces(tmp_path, untouched):
    """Where the kernel has none, limits and the look at text and object remain."""
    assert verdict(SOLUTION, tmp_path, isolate=False)["total"] == 100
    with sandbox.Box() as box:
        assert sandbox.run(["/bin/sh", "-c", f"sleep {SLEEP} & sleep {SLEEP}"], box, isolate=False,
                           wall=1).status == "timeout"
        assert sandbox.run(["/bin/sh", "-c", "echo x > file"], box, isolate=False).status != 0
        user = sandbox.run(["/usr/bin/id", "-u"], box, isolate=False, visible=["/usr"]).stdout
        assert user != "0\n" and (os.getuid() == 0 or user == f"{os.getuid()}\n")


def test_a_command_that_closes_its_streams_ends_by_itself():
    with sandbox.Box() as box:
        close = "exec > /dev/null 2> /dev/null; sleep"
        assert sandbox.run(["/bin/sh", "-c", f"{close} 0.3; exit 3"], box, isolate=False).status == 3
        assert sandbox.run(["/bin/sh", "-c", f"{close} 9"], box, isolate=False, wall=1).status == "timeout"


@pytest.mark.variety
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
            assert sandbox.run(["/bin/sh", "-c", f"echo table > /proc/self/fd/{number}"], box, isolate=True,
                               result=number).result == "table\n", number
