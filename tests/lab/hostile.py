"""Hostile submissions of the stand-in exercise: its solution, and what each of them tries beside it. {name: text}.

None of them earns a point, stops the run, harms another submission or leaves a file behind (tests/lab/test_lab.py).
STOPPED_BY says what stops each: the text, the compiler (with the rewriter), the object file, or the run. HARMLESS ones
earn what their kernels do.
"""

import os
import pathlib

from edits import edited

SOLUTION = (pathlib.Path(__file__).parent / "standin/solution.cu").read_text()
INCLUDE, TILE = '#include "../common/step.h"\n', "    __shared__ T tile[TILE_DIM][TILE_DIM];\n"
BARRIER, STORE = "    __syncthreads();\n", "            odata[size_t(y + j) * height + x] ="
LAUNCH, KERNEL = "    dim3 grid(", "KERNEL("
FIBONACCI = "int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }\n"
HEADERS = "".join(f"#include <{name}>\n"
                  for name in ("cstdio", "cstdlib", "unistd.h", "fcntl.h", "cstring", "dirent.h"))

SLEEP = 10**6 + os.getpid()  # seconds: a command line that no other test run on the machine has


def on_top(code):
    return edited(SOLUTION, {INCLUDE: f"{INCLUDE}{code}\n"})


def in_kernel(code):
    return edited(SOLUTION, {TILE: f"    {code}\n{TILE}"})


def in_launcher(code):
    return edited(SOLUTION, {LAUNCH: f"    {code}\n{LAUNCH}"})


def before_main(code):
    """In the constructor of a global object."""
    return on_top(f"{HEADERS}struct First {{ First() {{ {code} }} }} first;")


HOSTILE = {
    # Never done.
    "loop_kernel": in_kernel("for (unsigned i = 0;; ++i) if (width == -1) break;"),
    "loop_launcher": in_launcher("for (int i = 0; i >= 0; i = (i + 1) & 1023) ;"),
    "loop_constructor": before_main("volatile int i = 0; for (;;) ++i;"),
    "constexpr_loop": on_top("constexpr int endless() { int n = 0; for (;;) for (int i = 0; i < 200000; ++i) n ^= i; "
                             "return n; }\nconstexpr int NEVER = endless();"),
    "recursion": edited(SOLUTION, {TILE: f"    width += deeper(odata, 0);\n{TILE}", INCLUDE: INCLUDE + """
template <typename T>
__device__ int deeper(T* odata, int n)
{
    return n < 0 ? 0 : deeper(odata, n + 1) + deeper(odata, n + 2);
}
"""}),
    "template_recursion": on_top("template <int N> constexpr int turns() { return turns<2 * N + 1>() + turns<2 * N + "
                                 "2>(); }\nconstexpr int TURNS = turns<0>();"),
    # Too much of something.
    "huge_allocation": edited(SOLUTION, {INCLUDE: INCLUDE + HEADERS,
                                         LAUNCH: f"    for (;;) {{ char* more = (char*)malloc(1 << 28); "
                                                 f"memset(more, 1, 1 << 28); }}\n{LAUNCH}"}),
    "huge_array": edited(SOLUTION, {TILE: TILE.replace("TILE_DIM];", "TILE_DIM * 65536];")}),
    "huge_object": edited(SOLUTION, {INCLUDE: f"{INCLUDE}constexpr int MUCH[1 << 28] = {{1}};\n",
                                     "    int x = ": "    int x = MUCH[width] + "}),
    "compiler_output": on_top("constexpr int MANY = " + "undeclared_name + " * 3500 + "0;"),
    "fork_bomb": before_main("for (;;) fork();"),
    # Crashes, and elements of somebody else.
    "crash": in_launcher("int width_of_nothing = width / (height - height); width = width_of_nothing;"),
    "crash_signal": before_main("*(volatile int*)8 = 1;"),
    "assembler": in_kernel('asm volatile("int3");'),
    "outside": edited(SOLUTION, {BARRIER: f"    odata[size_t(width) * height + threadIdx.x] = idata[0];\n{BARRIER}"}),
    "outside_far": edited(SOLUTION, {STORE: STORE.replace("+ x]", "+ x + (size_t(1) << 40)]")}),
    # A verdict of its own.
    "exit_constructor": before_main("exit(0);"),
    "forged_json": before_main(r"""
    for (int fd = 3; fd < 256; ++fd)
        dprintf(fd, "{\"program\": \"program\", \"width\": 256, \"height\": 256, \"text\": \"\", \"findings\": [], "
                    "\"kernels\": [{\"accesses\": [], \"row\": {"
                    "\"backend\": \"sim\", \"kernel\": \"transposeSwizzle\", \"type\": \"float\", "
                    "\"element_bytes\": \"4\", \"width\": \"256\", \"height\": \"256\", "
                    "\"verified\": \"yes\", \"global_bytes_moved\": \"524288\"}}]}\n");
    _exit(0);"""),
    "easier_task": edited(
        SOLUTION, {KERNEL + 'transposeSwizzle, "-", transposes': KERNEL + 'transposeSwizzle, "-", writes_nothing'}),
    "macro": on_top("#define KERNEL(a, b, c, d)"),
    # Elements that are no T, and accesses that would not be counted.
    "uncounted_global": edited(SOLUTION, {TILE: "", INCLUDE: f"{INCLUDE}float tile[32][32];\n"}),
    "uncounted_shared": edited(SOLUTION, {TILE: "    T tile[TILE_DIM][TILE_DIM];\n"}),
    "uncounted_pointer": in_kernel("float* raw = (float*)odata; raw[0] = 0;"),
    "uncounted_attribute": on_top('#define always_inline no_sanitize("thread")'),
    **{f"uncounted_{name}": edited(in_kernel(f"{name}(odata, {argument}, sizeof(T));"), {
        INCLUDE: f'{INCLUDE}extern "C" __device__ void* {name}(void*, {type}, unsigned long) noexcept;\n'})
       for name, type, argument in (("memcpy", "const void*", "idata"), ("memset", "int", "0"))},
    # Variables of the simulator.
    **{f"changes_{name}": in_kernel(f"const_cast<unsigned&>({name}.x) = 1;")
       for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")},
    "uncounted_marker": on_top("#define outer_turn outer_turn"),
    # Code that runs before main(), in the process that has the counts.
    "early_constructor": on_top("int n;\nstruct First { First() { n = 1; } } first;"),
    "early_stack": on_top("struct First { First() { int a = 0; int* volatile p = &a; p[5] += 13; } } first;"),
    "early_value": on_top(FIBONACCI + "const int x = fibonacci(20);\nint used() { return x; }"),
    "early_template": on_top(FIBONACCI + "template <int N> struct S { static int v; };\n"
                                         "template <int N> int S<N>::v = fibonacci(N);\n"
                                         "int used() { return S<9>::v; }"),
    "late_destructor": on_top("int n;\nstruct Last { ~Last() { n = 2; } } last;"),
    "registers_itself": on_top('TRANSFER(again, "-", to_device, false)'),
    # Code that it does not define, or whose address it computes.
    "pointer": in_kernel("void (*volatile f)(int) = [](int) {}; f(1);"),
    "member_pointer": edited(in_kernel("int (S::*volatile f)() = &S::g; S s; width += (s.*f)();"),
                             {INCLUDE: f"{INCLUDE}struct S {{ __device__ int g() {{ return 0; }} }};\n"}),
    "virtual_function": edited(in_kernel("A a; B b; A* volatile p = width ? &a : &b; width += p->f();"),
                               {INCLUDE: f"{INCLUDE}struct A {{ __device__ virtual int f() {{ return 0; }} }};\n"
                                         "struct B : A { __device__ int f() override { return 1; } };\n"}),
    "variable_of_the_system": on_top("extern char** environ;\nint used() { return environ[0][0]; }"),
    "time": in_launcher("width = time(nullptr);"),
    "exception": in_launcher("throw 1;"),
    "static_variable": in_launcher("static int n = height * 2; width += n;"),
    # Files of others, and of its own.
    "includes_solution": '#include "solution.cu"\n',
    "includes_reference": on_top('#include "../step04_padding/variants.cu"'),
    "includes_zero": INCLUDE + '#include "/dev/zero"\n',
    "assembler_include": on_top(r'asm(".incbin \"/etc/passwd\"");'),
    "reads_files": before_main(r"""
    for (const char* path : {"../tests/lab/standin/solution.cu", "/etc/passwd", "/root/.bashrc"}) {
        FILE* file = fopen(path, "r");
        if (file) fputs("\nLEAKED\n", stderr);
    }
    _exit(1);"""),
    "writes_files": before_main("""
    for (const char* path : {"left_behind", "/tmp/left_behind", "common/left_behind", "../left_behind",
                             "/var/tmp/left_behind", "/dev/shm/left_behind"}) {
        const int fd = open(path, O_CREAT | O_WRONLY, 0666);
        if (fd >= 0 && write(fd, "x", 1)) close(fd);
    }
    _exit(0);"""),
    "deletes": before_main('if (system("rm -rf common/. ../common /lab/* 2>/dev/null; rm -f common/step.h")) {} '
                           '_exit(0);'),
    # Processes.
    "daemon": before_main(f'if (!fork()) {{ setsid(); if (!fork()) {{ execlp("sleep", "sleep", "{SLEEP}", (char*)0); '
                          f'}} }} _exit(0);'),
    "shell_from_kernel": in_kernel('system("touch /tmp/left_behind");'),
    "local_prototype": in_launcher('int system(const char*); system("touch /tmp/left_behind");'),
    "namespace": in_launcher("std::abort();"),
    # Around the reader of the text.
    "attribute": on_top("__attribute__((constructor)) void early() { for (;;) {} }"),
    "continuation": on_top("// a comment \\\nof two lines\nsystem(0);\n"),
    "trigraph": on_top("// ??/\nsystem(0);\n"),
    "carriage_return":
        on_top(f"// a comment\r{HEADERS}struct First {{ First() {{ _exit(0); }} }} first;\r".replace("\n", "\r")),
    "pragma": on_top("#pragma unroll /*\n*/ {\n"),
    "marker": edited(SOLUTION, {TILE: f"    for (int i = 0; i < 2; ++i) sim_turns = 0;\n{TILE}"}),
}

HARMLESS = {
    # What it defines replaces nothing of the harness.
    "redefined": on_top('extern "C" int memcmp(const void*, const void*, unsigned long) { return 0; }\n'
                        'extern "C" void* malloc(unsigned long) { return nullptr; }\nint main() { return 0; }'),
    "two_registrations": SOLUTION + SOLUTION[SOLUTION.index(KERNEL):],
}
STOPPED_BY = {
    "object": {"early_constructor", "early_stack", "early_value", "early_template", "late_destructor",
               "registers_itself", "pointer", "member_pointer", "virtual_function", "variable_of_the_system", "time",
               "exception", "static_variable", "shell_from_kernel", "local_prototype", "namespace", "uncounted_marker",
               "uncounted_memcpy", "uncounted_memset"},
    "compiler": {"constexpr_loop", "template_recursion", "huge_array", "huge_object", "compiler_output", "continuation",
                 "trigraph", "pragma"},
    "run": {"loop_kernel", "loop_launcher", "recursion", "crash", "outside", "outside_far", "uncounted_global",
            "uncounted_shared", "uncounted_pointer", "changes_threadIdx", "changes_blockIdx", "changes_blockDim",
            "changes_gridDim"},
}
STOPPED_BY["text"] = {*HOSTILE} - set().union(*STOPPED_BY.values())
# One of each kind: make test grades these, make test-all all of them.
KINDS = ["loop_kernel", "compiler_output", "outside_far", "forged_json", "easier_task", "uncounted_shared",
         "uncounted_memcpy", "changes_gridDim",
         "uncounted_attribute", "early_value", "pointer", "shell_from_kernel", "includes_zero", "assembler_include",
         "attribute", "marker"]
