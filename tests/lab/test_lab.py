"""The lab's checker: what it gives points for, and what none of the hostile submissions in tests/lab/hostile.py gets
away with."""

import concurrent.futures
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import assert_refused
from grading import SOLUTION, STANDIN, grade, graded, lab, untouched  # noqa: F401
from lessons import ROOT, STEPS, run
from samples import some

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import check
import sandbox
import source
from edits import edited
from hostile import HOSTILE, SLEEP
from parts import Finding

EXERCISES = check.load_exercises(STANDIN / "exercises.py")
# Those that the reader lets through: the compiler, the simulator or the sandbox stops them.
PASS_THE_TEXT = {
    "compiler_output", "constexpr_loop", "continuation", "crash", "digraph", "huge_array", "loop_kernel",
    "loop_launcher", "marker", "outside", "outside_far", "recursion", "template_recursion", "trigraph",
    "uncounted_pointer", "uncounted_shared"}
# Run without it, these do what their names say.
UNTRUSTED = [
    "assembler", "attribute", "crash_signal", "daemon", "deletes", "exit_constructor", "fork_bomb", "forged_csv",
    "forged_json", "forged_verdict", "huge_allocation", "includes_reference", "includes_zero", "loop_constructor",
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


def test_solution(untouched):
    done = lab(STANDIN / "solution.cu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[0].split()[:4] == ["40", "/", "40", "right:"] and "100 / 100" in done.stdout


def test_a_solution_in_any_language(tmp_path, untouched):
    """Comments in a locale in which nothing but ASCII can be decoded, at a path that is none of it."""
    folder = tmp_path / "mat riks é"
    folder.mkdir()
    (folder / "解.cu").write_text(SOLUTION + "// 转置矩阵 — é\n", encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, ROOT / "lab/check.py", "04", "--exercises", STANDIN / "exercises.py", "--file", "解.cu"],
        cwd=folder, env=environment, capture_output=True)
    assert done.returncode == 0 and b"100 / 100" in done.stdout and done.stderr == b""


def test_handout(untouched):
    done = lab(STANDIN / "handout.cu", "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert result["total"] == 0 and all(c["hint"] and "\n" not in c["hint"] for c in result["checks"])


@pytest.mark.parametrize("old, new, expected", [
    ("(threadIdx.y + j) ^ threadIdx.x", "threadIdx.y + j", [0, 0]),            # reads another place than it wrote
    ("    __syncthreads();\n", "", [0, 0]),                                     # a race
    # wrong where tiles do not fit: a quarter
    ("if (x < height && y + j < width)", "if (true)", [0, 15]),
    # padded and swizzled: conflicts, and memory
    ("[TILE_DIM][TILE_DIM];", "[TILE_DIM][TILE_DIM + 1];", [40, 0]),
    ("threadIdx.x ^ (threadIdx.y + j)]", "threadIdx.x]", [0, 0]),
    ("TILE_DIM][TILE_DIM];", "TILE_DIM][2 * TILE_DIM];", [40, 15]),             # a limit is exceeded: a quarter
])
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


def refusal(text, produces=("transposes",), kernel="transposeSwizzle"):
    """Why the reader refuses a text, or ''. Line ends in it stand as they are."""
    try:
        source.read(text.encode("utf-8", "surrogateescape"), produces, kernel)
        return ""
    except source.Refused as refused:
        return str(refused)


def with_code(place, code):
    """The stand-in's solution with code in its kernel, in its launcher or at its top, and the line of that."""
    before = {"kernel": "    __shared__ T tile", "launcher": "    dim3 grid(", "top": "constexpr int TILE_DIM"}[place]
    return edited(SOLUTION, {before: f"{code}\n{before}"}), SOLUTION[:SOLUTION.index(before)].count("\n") + 1


def test_kernels_of_the_steps_may_be_said():
    for file in (sorted(file for file in ROOT.glob("step*/step*.cu") if file.stem in STEPS)
                 + sorted(ROOT.glob("step*/exercise*.cu"))):
        assert refusal(file.read_text(), (), None) == "", file


@pytest.mark.parametrize("place, code, words", [
    # Names of the system and of the harness are the file's own, or get a line that says what to do.
    ("launcher", "std::abort();", "std"), ("kernel", "printf(0);", "SHOW=1"),
    ("kernel", 'const char* text = "text";', "no string"), ("kernel", "T* p = new T;", "new"),
    ("kernel", "asm(0);", "asm"), ("kernel", "__builtin_trap();", "__builtin"), ("kernel", "goto out;", "a loop"),
    ("kernel", "try { } catch (int) { }", "try"),
    ("launcher", "::exit(0);", "nothing outside this file"), ("top", "#include <unistd.h>", "#include <unistd.h>"),
    ("top", "#if TILE_DIM > 16\n#endif", "#if 0"), ("top", "#define CAT(a, b) a##b", "names of its arguments"),
    ("top", "__attribute__((constructor)) void early() {}", "__attribute__"),
    ("top", "[[gnu::constructor]] void early() {}", "[["), ("kernel", "const_cast<T*>(idata)[0] = T();", "const_cast"),
    ("launcher", "cudaDeviceSynchronize();", "leave it out"), ("kernel", "atomicAdd(odata, T());", "an assignment"),
    ("top", "#include <cooperative_groups.h>", "#include"),
    # No state, no constructors, no pointers to code.
    ("top", "int calls = 0;", "no variables"),
    ("top", "struct S { S() {} } first;", "variables are declared in functions"), ("kernel", "static int n;", "static"),
    ("top", "__device__ int calls;", "no variables"),
    ("top", "__device__ void f() {}\nusing F = void();", "type of a function"),
    ("kernel", "void (*f)(int) = nullptr;", "pointer to a function"),
    ("top",
     "__device__ int f() { return 1; }\ntemplate <typename G> __device__ int g(G h) { return 2; }\n"
     "__device__ int k() { return g(f); }",
     "is no value"),
    ("kernel", "auto p = +[](int) {};", "+["), ("kernel", "int f(int);", "a function inside a function"),
    ("top", "struct S { int a; };\n__device__ auto m() { return &S::a; }", "pointer to a member"),
    # The host touches no memory.
    ("launcher", "for (int i = 0; i < width; ++i) odata[i] = idata[i];", "touches no memory"),
    ("launcher", "*odata = *idata;", "touches no memory"),
    ("launcher", "if (width > *idata) return;", "touches no memory"),
    ("launcher", "if (int(*idata)) return;", "touches no memory"),
    ("launcher", "auto p = (size_t)&width;", "touches no memory"),
    ("launcher", "auto& r = reinterpret_cast<size_t&>(width);", "touches no memory"),
    ("top", "template <typename T> __host__ __device__ T at(const T* p, size_t i) { return p[i]; }",
     "touches no memory"),
    ("top", "template <typename T> T at(const T* p) { return width > 0 and *p; }", "touches no memory"),
    # What nvcc rejects: the review's E1 to E5.
    ("top", "inline int place(int r) { return r; }\n__device__ int other() { return place(1); }",
     "__device__ is missing"),
    ("top", "constexpr int place(int r) { return r; }\n__device__ int other(int n) { return place(n); }",
     "__device__ is missing"),
    ("top", "template <typename T> T place(T r) { return r; }\n__device__ int other() { return place(1); }",
     "__device__ is missing"),
    ("top", "__device__ int place(int r) { return r; }\nvoid other() { place(1); }", "cannot call it"),
    ("launcher", "__syncthreads();", "is __device__ missing"),
    ("launcher", "transposeSwizzle<T>(odata, idata, width, height);", "<<<grid, block>>>"),
    ("top", "constexpr int HALF[2] = {0, 1};\n__device__ int h(int i) { return HALF[i]; }", "__constant__"),
    ("kernel", "__shared__ T more[2] = {};", "begins without values"),
    ("kernel", "__shared__ T& r;", "cannot be shared"),
    ("top", "template <typename T> __device__ void f(T*) {}\nvoid g() { f<int><<<1, 1>>>(nullptr); }",
     "kernel of this file"),
    ("top", "__global__ void g(const int& n) {}", "none is a reference"),
    ("top", "__global__ int g() {}", "__global__ void"), ("kernel", "T none[0];", "without elements"),
    ("top", "__global__ void g() {}\n__global__ void h() { g<<<1, 1>>>(); }", "a kernel cannot"),
    # Slips, in words that help.
    ("launcher", "width = (height;", "(: not closed"), ("launcher", "width = height);", "one too many"),
    ("launcher", "width = idata[0;", "[: not closed"), ("kernel", "int n = '12';", "a character is one"),
    ("kernel", "/* no end", "without an end"),
    ("top", "#define HALF 16;", "leave the ; out"),
    ("kernel", "int n = 1_km;", "no number"), ("kernel", "int \u20ac = 1;", "no such character"),
    ("kernel", "int \x07n = 1;", "no such character"),
])
def test_refused_text(place, code, words):
    text, line = with_code(place, code)
    said = refusal(text)
    assert re.match(r"line \d+: ", said) and words in said and "\n" not in said and said.isascii(), said
    assert line <= int(re.match(r"line (\d+)", said)[1]) <= line + code.count("\n") or "close" in said, said


NINTH = check.load_exercises().EXERCISES[9]


@pytest.mark.parametrize("old, new, words", [
    ("    dim3 block(", "    odata.part[0][0] = T(1);\n    dim3 block(", "touches no memory"),
    ("    dim3 block(", "    T* p = *odata.part;\n    dim3 block(", "touches no memory"),
    ("    dim3 block(", "    auto f = first_row;\n    dim3 block(", "is no value"),
    ("    dim3 block(", "    auto f = &first_row;\n    dim3 block(", "is no value"),
    ("    int peer", "    auto f = +first_row;\n    int peer", "is no value"),
    ("template <typename T>\n__global__",
     "template <typename T> struct Parts { T* part[16]; };\ntemplate <typename T>\n__global__",
     "common/step.h declares it"),
    ("template <typename T>\n__global__",
     "template <> struct Parts<float> { float* part[16]; };\ntemplate <typename T>\n__global__",
     "common/step.h declares it"),
    ("template <typename T>\n__global__",
     "__device__ int first_row(long n, int g, int gpus) { return 0; }\ntemplate <typename T>\n__global__",
     "common/step.h declares it"),
    ("template <typename T>\n__global__", "using Parts = int;\ntemplate <typename T>\n__global__",
     "common/step.h declares it"),
    ("    dim3 block(", "    cudaSetDevice(0);\n    dim3 block(", "leave it out"),
    ("    dim3 block(", "    harness::kernels();\n    dim3 block(", ""),
])
def test_words_that_an_exercise_gives(old, new, words):
    """They are the only names of common/step.h that a submission has, and they are as safe as its own."""
    text = (ROOT / "step08_gpus/exercise09.cu").read_text()
    text = edited(text, {old: new})
    try:
        read = source.read(text.encode(), {"transposes"}, NINTH.kernel, NINTH.given).text
        assert not words and "own_harness :: own_kernels" in read
    except source.Refused as refused:
        assert words and words in str(refused), refused


def test_words_are_given_to_one_exercise():
    text = (ROOT / "step08_gpus/exercise09.cu").read_bytes()
    given, plain = (
        source.read(text, {"transposes"}, NINTH.kernel, words).text for words in (NINTH.given, source.NOTHING))
    assert "( Parts < own_T > own_odata" in given and "= first_row ( own_height" in given
    assert "own_odata . part [ own_peer ]" in given
    assert "own_Parts < own_T > own_odata" in plain and "own_first_row (" in plain and "own_odata . own_part [" in plain
    assert all(e.given == source.NOTHING for n, e in check.load_exercises().EXERCISES.items() if n != 9)


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
    whole = json.dumps({"program": "drawn", "text": "own_k: \u2028"})
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
    grader.cuda = [sys.executable, "-c", looks]
    none, given = check.bandwidth(grader, EXERCISES.EXERCISES[4], STANDIN / "solution.cu")
    assert (none is None and given.startswith("build/lab/harness.o gpu.cu sim.o ") and given.endswith("-o program")
            and str(ROOT) not in given), given


@pytest.mark.parametrize("place, code, words", [
    ("kernel", "T line[width + 1]; if (width < 0) odata[0] = line[0];", "variable length"),
    ("kernel", "if (width < 0) (threadIdx.x) += 3;", "read-only"),
    ("kernel", "if (width < 0) __ldg(idata) = T();", "read-only"),
    ("kernel", "int n = run_grid;", "'run_grid' was not declared"),
    ("kernel", "sim_turns = 0;", "'sim_turns' was not declared"), ("launcher", "system(0);", "'system'"),
    ("top", "struct float4 { float a; };", "redefinition"),])
def test_what_the_compiler_refuses(place, code, words, tmp_path):
    assert words in verdict(with_code(place, code)[0], tmp_path)["note"].replace("\u2018", "'").replace("\u2019", "'")


@pytest.mark.parametrize("bound, total", [("32", 0), ("TILE_DIM * BLOCK_ROWS", 100)])
def test_a_block_larger_than_its_launch_bounds(bound, total, tmp_path):
    """CUDA does not launch it."""
    result = verdict(SOLUTION.replace("__global__ void", f"__global__ void __launch_bounds__({bound})", 1), tmp_path)
    assert result["total"] == total
    assert total or ("the kernel asks for 256 threads in a block, and its __launch_bounds__ allows 32"
                     in result["checks"][0]["hint"]), result


def test_shared_memory_of_a_function_that_two_kernels_call(tmp_path):
    """C2: it is the function's, under either kernel."""
    halves = edited(SOLUTION, {
        "__global__ void transposeSwizzle(T* odata, const T* idata, int width, int height)":
            "__device__ void turn(T* odata, const T* idata, int width, int height, int top)",
        "    int x = blockIdx.x * TILE_DIM + threadIdx.x;\n    int y = blockIdx.y":
            "    int x = blockIdx.x * TILE_DIM + threadIdx.x;\n    int y = (blockIdx.y + top)",
        "x = blockIdx.y * TILE_DIM": "x = (blockIdx.y + top) * TILE_DIM",
        "template <typename T>\nvoid": "template <typename T>\n__global__ void transposeSwizzle(T* odata, const T* "
                                       "idata, int width, int height) { turn(odata, idata, width, height, 0); }\n"
                                       "template <typename T>\n__global__ void lower(T* odata, const T* idata, "
                                       "int width, int height) { turn(odata, idata, width, height, 1); }\n"
                                       "template <typename T>\nvoid",
        "KERNEL": "\nKERNEL"})
    grid = re.search(r"    dim3 grid\(.*", halves)[0]
    launch = re.search(r"    transposeSwizzle<T><<<grid.*", halves)[0]
    halves = halves.replace(launch, f"{launch.replace('<<<grid', '<<<dim3(grid.x, 1)')}\n    if (grid.y > 1) "
                                    "lower<T><<<dim3(grid.x, grid.y - 1), "
                                    f"{re.search('<<<grid, (.*?)>>>', launch)[1]}>>>(odata, idata, width, height);")
    assert grid and verdict(halves, tmp_path)["total"] == 100


@pytest.mark.parametrize("code, words", [
    # E7, and what A2 and F4 went past the simulator with: locals of others and of before, and pointers of any type.
    ("__shared__ T* box[1024]; T mine = idata[0]; box[threadIdx.y * 32 + threadIdx.x] = &mine; __syncthreads(); T "
     "other = *box[0]; if (width < 0) odata[0] = other;", "a local variable of another thread"),
    ("T own[4]; own[threadIdx.x % 2 + 4] = idata[0]; if (width < 0) odata[0] = own[threadIdx.x % 4];",
     "index 4 of a local array"),
    ("auto far = reinterpret_cast<unsigned long long*>(odata); far[-8] = 0;", "out-of-bounds store"),
    ("*reinterpret_cast<int*>(size_t(4096)) = 1;", "null pointer"),
    ("extern __shared__ T more[]; more[threadIdx.x] = idata[0];",
     "byte 0 (float number 0) of dynamic shared memory (the launch asks for 0 bytes of it)"),
    ("size_t p = size_t(odata) + (size_t(1) << 45); *(char*)p = 1;", "host pointer"),])
def test_every_access_is_looked_at(code, words, tmp_path):
    result = verdict(with_code("kernel", code)[0], tmp_path)
    assert result["total"] == 0 and not result["note"]
    file = tmp_path / "shown.cu"
    file.write_text(with_code("kernel", code)[0])
    shown = check.Lab().show(EXERCISES.EXERCISES[4], file)
    assert words in shown, shown


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


@pytest.mark.parametrize("number, kernel, tile", [(2, "transposePatches", ""),
                                                  (3, "transposeHalfTile", "__shared__ T tile[512];"),
                                                  (4, "transposeSwizzledTall", "__shared__ T tile[512];"),
                                                  (5, "turnTiles", "__shared__ T tile[4096];")])
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


def test_what_is_compiled_is_what_was_read():
    """Comments, line ends, spliced lines, macros: all is gone, and each token stands on its line, with a space between
    each two."""
    text = source.read(b'\xef\xbb\xbf#include "../common/step.h"\r\n#define TWICE(x) ((x) + \\\r\n (x))\r// a \\\n '
                       b'comment ??/\n'
                       b'__global__ void f(int* out) { out[0<:0:>] = TWICE(1\n) /* \x00 \xff */ >>1; }\r').text
    assert text.split("\n") == [
        "", "", "", "", "", "__global__ void own_f ( int * own_out ) { own_out [ 0 < : 0 : > ] = ( ( 1 ) + ( 1 ) )",
        ">> 1 ; }", ""]
    assert source.plain(text).count("own_") == 0


def test_a_file_may_end_anywhere():
    text = (ROOT / "tests/lab/solutions/step07.cu").read_text()
    assert refusal(text, {"copies"}, "copyVectorized") == ""
    for place in range(0, len(text), 7):
        refusal(text[:place], {"copies"})


def test_lines_end_for_the_reader_where_they_end_for_the_compiler(tmp_path):
    """A1: a lone carriage return ends a comment for every compiler."""
    text = "// What follows is code to compilers.\r#include <unistd.h>\r" + SOLUTION
    assert "#include <unistd.h>" in refusal(text)
    assert ("#include <unistd.h>" in refusal("// a comment \\\nand its end\n#include <unistd.h>\n" + SOLUTION)
            and refusal("// a comment \\\n#include <unistd.h>\n" + SOLUTION) == "")
    file = tmp_path / "windows.cu"
    file.write_bytes(SOLUTION.replace("\n", "\r\n").encode())
    assert check.Lab().check(EXERCISES.EXERCISES[4], file)["total"] == 100


def test_page_for_students_is_the_readers():
    assert source.table() in (ROOT / "lab/CUDA.md").read_text()


def test_points_do_not_depend_on_the_processors(tmp_path):
    """C3: blocks that race give one result, whichever processor runs them."""
    file = tmp_path / "race.cu"
    file.write_text(edited(SOLUTION, {"            odata[size_t(y + j) * height + x] =":
                                          "            odata[(size_t(y + j) * height + x + 1) % (size_t(width) * "
                                          "height)] = T(1), odata[size_t(y + j) * height + x] ="}))
    verdicts = [
        check.Lab().check(EXERCISES.EXERCISES[4], file, processor=processor, seed=1)
        for processor in sorted(os.sched_getaffinity(0))[:2]]
    for result in verdicts:
        result.pop("seconds")
    assert (verdicts[0]["checks"][0]["points"] == 0
            and all([c["points"] for c in v["checks"]] == points(verdicts[0]) for v in verdicts))


@pytest.mark.skipif("clang" in (ROOT / "build/lab/compile").read_text().split()[0],
                    reason="clang does not name the headers that it used")
def test_the_precompiled_header_is_used(tmp_path):
    """A compiler that finds it made with other options reads common/step.h instead, in twice the time, and says
    nothing."""
    file, lab, exercise = tmp_path / "exercise.cu", check.Lab(), EXERCISES.EXERCISES[4]
    file.write_text(SOLUTION)
    lab.command += ["-H"]
    with sandbox.Box() as box:
        data, text, _ = lab.read(exercise, file)
        name = check.unpack(box, exercise, file, data, text)
        done = lab.sandboxed(["/bin/sh", "-c", check.compilation(name, lab.compiling())], box, writable=True,
                             **check.COMPILE)
    assert (done.status == 0 and [line for line in done.stderr.splitlines() if line.startswith("!")]
            == [f"! {ROOT}/build/lab/step.h.gch"]), done.stderr


def test_elements_cannot_be_computed(tmp_path):
    """Who knows how the harness makes its elements cannot make them: their seed is drawn for each run."""
    text = (ROOT / "tests/lab/computed.cu").read_text()
    result = verdict(text, tmp_path)
    assert result["total"] == 0 and not result["note"], result


@needs_namespaces
def test_hostile_submissions_earn_nothing_and_harm_nobody(tmp_path, untouched):
    """Graded as a class is, among others."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    hostile = some(HOSTILE, 5)
    for name in hostile:
        (folder / f"{name}.cu").write_text(HOSTILE[name])
    for i in range(3):
        (folder / f"{'amz'[i]}_right.cu").write_text(SOLUTION)
    (folder / "link.cu").symlink_to("/dev/zero")
    done = grade(folder, results)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in graded(results)}
    assert len(rows) == len(hostile) + 4
    for name, row in rows.items():
        assert row["total"] == ("100" if name.endswith("_right") else "0"), row
    stopped = {
        name for name, row in rows.items()
        if not re.match("line |no KERNEL", row["note"]) and not name.endswith("_right")}
    assert stopped == PASS_THE_TEXT & {*hostile} | {"link"}


@needs_namespaces
def test_the_sandbox_alone_holds_them(tmp_path, untouched, monkeypatch):
    """Without the check of the text: what it may have missed does not get further."""
    monkeypatch.setattr(check, "RUN", {**check.RUN, "cpu": 1, "wall": 3})
    trusting = check.Lab(trust=True)
    submissions = [tmp_path / f"{name}.cu" for name in [*some(UNTRUSTED, 3), "solution"]]
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
    """Where the kernel has none, limits and the check of the text remain."""
    assert verdict(SOLUTION, tmp_path, isolate=False)["total"] == 100
    with sandbox.Box() as box:
        assert sandbox.run(["/bin/sh", "-c", f"sleep {SLEEP} & sleep {SLEEP}"], box, isolate=False,
                           wall=1).status == "timeout"
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
            assert sandbox.run(["/bin/sh", "-c", f"echo table > /proc/self/fd/{number}"], box, isolate=True,
                               result=number).result == "table\n", number
