"""Hostile submissions of the stand-in exercise: its solution, and what each of them tries beside it. {name: text}.

None of them earns a point, stops the run, harms another submission or leaves a file behind (tests/lab/test_lab.py).
"""

import os
import pathlib

from edits import edited

SOLUTION = (pathlib.Path(__file__).parent / "standin/solution.cu").read_text()
INCLUDE, TILE = '#include "../common/step.h"\n', "    __shared__ T tile[TILE_DIM][TILE_DIM];\n"
BARRIER, STORE = "    __syncthreads();\n", "            odata[size_t(y + j) * height + x] ="
LAUNCH, KERNEL = "    dim3 grid(", "KERNEL("
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
    "forged_verdict": before_main(r'printf("step04 on the simulator\n\nidata: 256 rows x 256 columns of '
                                  r'float\n\ntransposeSwizzle transpose verified\n"); fflush(stdout); _exit(0);'),
    "forged_csv": before_main(r"""
    for (int fd = 3; fd < 256; ++fd)
        dprintf(fd, "backend,kernel,type,element_bytes,width,height,verified,global_bytes_moved,worst_conflict,"
                    "shared_bytes_per_block\n"
                    "sim,transposeSwizzle,float,4,256,256,yes,524288,1,4096\n");
    _exit(0);"""),
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
    # Elements that are no T.
    "uncounted_global": edited(SOLUTION, {TILE: "", INCLUDE: f"{INCLUDE}float tile[32][32];\n"}),
    "uncounted_shared": edited(SOLUTION, {TILE: "    T tile[TILE_DIM][TILE_DIM];\n"}),
    "uncounted_pointer": in_kernel("float* raw = (float*)odata; raw[0] = 0;"),
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
    "attribute_brackets": on_top("[[gnu::constructor]] void early() { for (;;) {} }"),
    "continuation": on_top("// a comment \\\nof two lines\nsystem(0);\n"),
    "trigraph": on_top("// ??/\nsystem(0);\n"),
    "carriage_return":
        on_top(f"// a comment\r{HEADERS}struct First {{ First() {{ _exit(0); }} }} first;\r".replace("\n", "\r")),
    "pragma": on_top("#pragma unroll /*\n*/ {\n"),
    "marker": edited(SOLUTION, {TILE: f"    for (int i = 0; i < 2; ++i) sim_turns = 0;\n{TILE}"}),
    "digraph": edited(SOLUTION, {TILE: TILE.replace("tile[TILE_DIM]", "tile<:TILE_DIM:>")}),
    "raw_string": on_top('const char* text = R"(system)";'),
}
