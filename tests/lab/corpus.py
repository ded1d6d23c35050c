"""Submissions that must earn 100 points, and right ones that must not, beside the wrong ones of wrong.py.

right/NN.cu holds several, each behind a line `//// name: what is different`. What a section does not declare, it has
from the hand-out: the #include, its launcher, if it has none, and the line KERNEL. A line `@name` is the head of a
kernel, or of the launcher, with the parameters of the hand-out.

python3 tests/lab/corpus.py FOLDER writes all of them, as a class to try `make grade` on.
"""

import pathlib
import re
import sys

from edits import edited
from wrong import handout, solution

NUMBERS = range(1, 10)
INCLUDE = '#include "../common/step.h"\n'


def parts(text):
    """(constants, kernels, launcher, KERNEL) of a hand-out or a solution, each with what leads to it."""
    body = text[text.index(INCLUDE) + len(INCLUDE):]
    kernel = re.search(r"^(?:// [^\n]*\n)*template <typename T>\n__global__", body, re.MULTILINE).start()
    launcher = re.search(r"^template <typename T>\nvoid launch", body, re.MULTILINE).start()
    last = body.index("KERNEL(")
    return body[:kernel], body[kernel:launcher], body[launcher:last], body[last:]


def written(number, section):
    """The submission that a section stands for."""
    constants, _, launcher, register = parts(handout(number).read_text())
    parameters = re.search(r"^void launch\w+(\(.*\))", launcher, re.MULTILINE)[1]
    section = re.sub(r"^@(\w+)$", lambda m: "template <typename T>\n" + "__global__ " * (not m[1].startswith("launch"))
                     + f"void {m[1]}{parameters}", section, flags=re.MULTILINE)
    if re.search(r"^void launch", section, re.MULTILINE):
        return f"{INCLUDE}\n{section}\n{register}"
    return f"{INCLUDE}\n{constants}\n{section}\n{launcher}\n{register}"


# Ways to write a load, each with what it needs. {}: the index.
LOADS = {
    "helper": ("template <typename T>\n__device__ T at(const T* from, size_t i)\n{\n    return from[i];\n}\n",
               "at(idata, {})"),
    "by_value": ("template <typename T>\nstruct One {\n    T value;\n};\ntemplate <typename T>\n"
                 "__device__ One<T> one(const T* from, size_t i)\n{\n    return {from[i]};\n}\n",
                 "one(idata, {}).value"),
    "by_lambda": ("", "[=](size_t i) {{ return idata[i]; }}({})"),
    "operators": ("struct Place {\n    size_t i;\n};\n__device__ Place operator+(Place a, size_t more)\n{\n"
                  "    return {a.i + more};\n}\n", "idata[(Place{{0}} + ({})).i]"),
}


def loading(text, way):
    """A right solution with its loads from idata written in one of these ways."""
    needed, load = LOADS[way]
    out, at = "", 0
    for found in re.finditer(r"(?<![\w&])idata\[", text):
        end = found.end()
        depth = 1
        while depth:
            depth += {"[": 1, "]": -1}.get(text[end], 0)
            end += 1
        out += text[at:found.start()] + load.format(text[found.end():end - 1])
        at = end
    return (out + text[at:]).replace(INCLUDE, f"{INCLUDE}\n{needed}", 1)


def styled(text):
    """{name: text} of a right solution, as other hands and editors would have it."""
    return {
        **{way: loading(text, way) for way in LOADS},
        "macros": re.sub(r"^constexpr int (\w+) = ([^;]*);", r"#define \1 (\2)", text, flags=re.MULTILINE),
        "class_and_restrict": text.replace("typename T", "class T").replace(
            "T* odata, const T* idata", "T* __restrict__ odata, T const* __restrict__ idata"),
        "const_and_unroll": re.sub(r"^constexpr int", "static const int", text, flags=re.MULTILINE)
                            .replace("    for (int j", "#pragma unroll\n    for (int j"),
        "names": re.sub(r"\bidata\b", "remove",
                        re.sub(r"\bodata\b", "system",
                               re.sub(r"\btile\b", "run", re.sub(r"\bwidth\b", "abort", text)))),
        "windows": "\ufeff" + text.replace("    ", "\t").replace("\n", "\r\n"),
        "comments": text.replace("\n", "  // \u00dcber ??/ 'x' \"y\" \\\n// it goes on: /* \n", 1)
                    + "/* the end \x07 */",
        "apart": re.sub(r"(\W)(\w+)(?=[(;])", "\\1\\\n\\2", text[text.index("template"):])
                 .join([text[:text.index("template")], ""]),
    }


def right():
    """{(name, exercise): text}"""
    texts = {}
    for number in NUMBERS:
        for section in re.split(r"^//// ",
                                pathlib.Path(__file__).with_name("right").joinpath(f"{number:02}.cu").read_text(),
                                flags=re.MULTILINE)[1:]:
            heading, body = section.split("\n", 1)
            texts[heading.split(":")[0], number] = written(number, body)
        text = solution(number).read_text()
        texts["reference", number] = text
        texts.update({(f"reference_{name}", number): style for name, style in styled(text).items()})
    return texts


def write_class(folder, texts):
    """Writes folder/NAME/stepNN/exercise.cu: {(NAME, exercise): file}."""
    files = {}
    for (name, number), text in texts.items():
        file = files[name, number] = pathlib.Path(folder, name, f"step{number:02}", "exercise.cu")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return files


# ---- Right, but poor -------------------------------------------------------------------------------------------

LAUNCH = re.compile(r"^( +)(\w+)(<T>)?<<<[^;]*?>>>\([^;]*\);\n", re.MULTILINE)


def at_launches(text, before="", after=""):
    """Code around each launch, in braces."""
    return LAUNCH.sub(lambda m: f"{m[1]}{{\n{before}{m[0]}{after}{m[1]}}}\n", text)


def body_of(text, kernel):
    """(begin, end) of a kernel's body, without its braces."""
    begin = text.index("{\n", re.search(rf"__global__ [^;{{]*\b{kernel}\(", text).start()) + 2
    return begin, text.index("\n}\n", begin) + 1


def in_body(text, change):
    """Every kernel of the text, its body changed."""
    for kernel in re.findall(r"__global__ [^;{]*?\b(\w+)\((?:T\*|Parts<T>)", text):
        begin, end = body_of(text, kernel)
        text = text[:begin] + change(text[begin:end]) + text[end:]
    return text


STORED = re.compile(r"^( +)((?:\*reinterpret_cast<Vector<T>\*>\(&)?odata(?:\.part\[peer\])?\[[^=]*) = ([^;]*);\n",
                    re.MULTILINE)
DUMMY = "template <typename T>\n__global__ void nothing(const T* idata)\n{\n}\n\n"


def poor():
    """{(name, exercise): text}: right results, and a cost that is not what the exercise asks for."""
    texts = {}
    for number in NUMBERS:
        text, given = solution(number).read_text(), handout(number).read_text()
        kernel, launcher = re.findall(r"^KERNEL\((\w+), .*, (\w+)\)", given, re.MULTILINE)[0]
        parameters = re.search(rf"void {launcher}\((.*)\)", given)[1]
        arguments = ", ".join(re.findall(r"(\w+)(?:,|$)", parameters))

        def add(name, changed):
            assert changed != text, (name, number)
            texts[name, number] = changed

        add(
            "launched_twice",
            LAUNCH.sub(lambda m: m[0] if m[0].startswith("        ") else m[0] * 2, text)
            if number != 7 else at_launches(text, after="        copyElements<T><<<1, 1>>>(odata, idata, 1, 1);\n"))
        add(
            "empty_launches",
            at_launches(text, after="    for (int i = 0; i < 3; ++i) nothing<T><<<1, 32>>>(idata);\n").replace(
                f"template <typename T>\nvoid {launcher}", f"{DUMMY}template <typename T>\nvoid {launcher}"))
        deeper, idle = (("grid.z = 16", "blockIdx.z > 0") if number != 9
                        else ("grid.x *= 16", "blockIdx.x >= gridDim.x / 16"))
        add("idle_blocks",
            in_body(at_launches(text, before=f"        {deeper};\n"), lambda body: f"    if ({idle}) return;\n" + body))
        add(
            "fifty_times",
            in_body(
                text, lambda body: f"    for (int again = 0; again < { {6: 2, 8: 3, 9: 2}.get(number, 50) }; ++again) "
                f"{{\n{body}    __syncthreads();\n    }}\n"))
        add("stored_twice", STORED.sub(
            lambda m: f"{m[1]}{{\n{m[1]}{m[2]} = {m[3]};\n{m[1]}__threadfence();\n{m[1]}{m[2]} = {m[3]};\n{m[1]}}}\n",
            text))
        if number != 8:  # where one load more in eight does not show
            add(
                "loaded_twice",
                in_body(
                    text, lambda body: f"    if ({'height >= gpus && ' if number == 9 else ''}*(volatile const "
                    "char*)idata == *(volatile const char*)(idata + 32 * (threadIdx.x % 2 && width "
                    "> 32)) + 300) return;\n" + body))
        add(
            "many_barriers",
            in_body(
                text, lambda body: f"    for (int again = 0; again < {12 if number == 9 else 40}; ++again) "
                "__syncthreads();\n" + body))
        # What the exercise asks for, at the shape of the page alone.
        old = re.sub(rf"\b({kernel}|{launcher}|copyElements|Vector|N|[A-Z]+_[A-Z]+)\b", r"\1_as_given",
                     "".join(parts(given)[:3]))
        for name, where in ("only_where_measured",
                            "(width == 256 && height == 256 || width == 1025 || height == 63 || width == 1024 || width "
                            "== 8192 || width == 2048)"), ("only_small", "width * size_t(height) < 5000"):
            if number != 5:  # whose hand-out is wrong
                dispatch = (f"template <typename T>\nvoid launch_either({parameters})\n{{\n"
                            f"    if ({where}) {launcher}({arguments});\n"
                            f"    else {launcher}_as_given({arguments});\n}}\n\n")
                both = text.replace("KERNEL(", f"{old}\n{dispatch}KERNEL(")
                texts[name, number] = both.replace(f", {launcher})", ", launch_either)")
    for number, name, base, edits in POOR:
        texts[name, number] = edited({"solution": solution, "hand-out": handout}[base](number).read_text(), edits)
    return texts


POOR = [
    (1, "single_threads", "hand-out", {"constexpr int TILE_DIM = 32;": "constexpr int TILE_DIM = 1;",
                                       "constexpr int BLOCK_ROWS = 8;": "constexpr int BLOCK_ROWS = 1;"}),
    (1, "half_lanes", "solution",
     {"if (x >=": "for (int half = 0; half < 2; ++half)\n        if (threadIdx.x / 16 == half && x >="}),
    (2, "half_warps", "hand-out", {"BLOCK_X = 32;": "BLOCK_X = 2;"}),
    (2, "diluted", "hand-out", {"        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];": """    {
        for (int again = 0; again < 16; ++again)
            if (threadIdx.x % 32 == 0 && threadIdx.y == 0) odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
    }"""}),
    (6, "small_grid", "solution", {"GRID_DIM = 32;": "GRID_DIM = 8;"}),
    # B2: what a last launch does is not all.
    (4, "padded_then_small_launch", "solution",
     {"[TILE_WIDTH];": "[TILE_WIDTH + 1];",
      "template <typename T>\nvoid": "template <typename T>\n__global__ void small(T* odata)\n{\n"
                                     "    __shared__ T tile[512];\n    if (odata == nullptr) odata[0] = tile[0];\n}\n\n"
                                     "template <typename T>\nvoid",
      "width, height);\n}\n\nKERNEL": "width, height);\n    small<T><<<1, 32>>>(odata);\n}\n\nKERNEL"}),
    # F2: block 0 declares no shared memory, the others do.
    (2, "tile_not_in_block_0", "solution",
     {"template <typename T>\n__global__": "template <typename T>\n__device__ T through(T value)\n{\n"
                                           "    __shared__ T tile[1024];\n    const int tid = threadIdx.y * blockDim.x "
                                           "+ threadIdx.x;\n    tile[tid] = value;\n    return tile[tid];\n}\n\n"
                                           "template <typename T>\n__global__",
      "= idata[size_t(y) * width + x];": "= blockIdx.x + blockIdx.y == 0 ? idata[size_t(y) * width + x] : "
                                         "through(idata[size_t(y) * width + x]);"}),
    # F3: lanes that take turns in a loop are 32 requests.
    (7, "lanes_take_turns", "solution",
     {"            *reinterpret_cast<Vector<T>*>": "            for (int turn = 0; turn < 32; ++turn)\n"
                                                   "                if (threadIdx.x == turn) "
                                                   "*reinterpret_cast<Vector<T>*>"}),
    (9, "tile_only", "solution",
     {"(me + 1 + blockIdx.z) % gpus": "blockIdx.z", "threadIdx.x ^ (threadIdx.y + j)] = idata": "threadIdx.x] = idata",
      "(threadIdx.y + j) ^ threadIdx.x]": "threadIdx.y + j]"}),
    # Four tiles in a row for each block: the order in time is no longer that of the blocks.
    (9, "four_tiles_each", "solution",
     {"    int left = columns + blockIdx.x * TILE_DIM;": "    for (int turn = 0; turn < 4; ++turn) {\n"
                                                         "    __syncthreads();\n    int left = columns + "
                                                         "(4 * blockIdx.x + turn) * TILE_DIM;",
      "[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];": "[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];\n    }",
      "columns + TILE_DIM - 1) / TILE_DIM,": "columns + 4 * TILE_DIM - 1) / (4 * TILE_DIM),"}),
    (9, "elements_that_stay", "solution", {"            tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] =":
                                               "            (me == peer ? odata.part[me][size_t(x - columns) * height "
                                               "+ y + j] : tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)]) =",
                                           "(x < rows_end &&": "(me != peer && x < rows_end &&"}),
]


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "plots"))
    import command_line
    parser = command_line.parser(__doc__)
    parser.add_argument("folder", metavar="FOLDER")
    folder = parser.parse_args().folder
    print(f"{len(write_class(folder, {**right(), **poor()}))} submissions: make grade SUBMISSIONS={folder}")
