"""Mutated and generated submissions: none ends the grader, and none earns points that its kernel does not.

python3 tests/lab/fuzz.py [--seed N] [--count N] [--graded N]

`count` texts are read (lab/source.py); `graded` of those that it lets through are compiled and run as a class's are.
What is looked for:

 - the reader ends with a text or with at most ten lines, on any bytes, within a second, and reads its own text to the
   same text;
 - what it hands on names nothing but the vocabulary and the file's own names, each with the prefix, and has no token
   that two compilers could take apart differently;
 - a verdict comes of everything; a kernel that was made to do other work (other elements, other places, other costs)
   has no 100 points unless what it does is what the exercise asks for: its result right and its counts within the
   limits. As every mutant is run by the simulator, which verifies each element, that is held against a second opinion:
   the mutant's own result, by --print, at another shape.
"""

import concurrent.futures
import pathlib
import random
import re
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]

import check
import command_line
import corpus
import hostile
import sandbox
import source
import wrong

PIECES = """( ) { } [ ] < > <<< >>> :: . -> * & + - / % ^ | ~ ! = == != <= ; , ? : # ## \\ ' " ' // /* */ ??/ %: <: \
0 1 32 0x1F 1'000 1.5f .5e-3 "text" 'c' R"(x)" L'x'
  odata idata tile width height threadIdx blockIdx x y j T int float float4 size_t \
auto const constexpr static extern inline template typename struct union enum using namespace
  operator new delete this sizeof alignas decltype goto asm return if else for while \
do switch case break continue __shared__ __global__ __device__ __host__ __constant__
  __syncthreads __shfl_sync __ldg __restrict__ __attribute__ __builtin_trap __asm__ std \
printf exit system main run_grid sim harness kernels KERNEL transposes copies
  #define #include #undef #pragma #if #line \x00 \x07 \r \r\n \n \t \f \xa0 \u00e4 \u202e \ud7ff \ufeff \
own_ own_x reinterpret_cast<size_t*>(odata) (*f)(1) &width [[noreturn]] [&] ({})""".split(" ")
PIECES = [piece.strip("\n") or "\n" for piece in PIECES] + [
    "\n", "\r", "\\\n", " ", "\x00", "#define A(x) x x\n", "#define A A A\n", "#include </dev/zero>\n"]
CODE = [
    "for (int again = 0; again < 3; ++again)", "if (threadIdx.x < 16)", "if (width == 256)", "__syncthreads();",
    "odata[0] = idata[0];", "tile[0][0] = T();", "return;", "width += 1;", "x ^= 1;", "y += 1;",
    "T own[4]; own[threadIdx.x] = idata[0];", "auto p = reinterpret_cast<unsigned long long*>(odata); p[-4] = 0;",
    "T* far = odata; far[1 << 30] = T();", "extern __shared__ int more[]; more[0] = 1;",
    "int* low = reinterpret_cast<int*>(size_t(4096)); *low = 1;",
    "union { T* p; size_t n; } u; u.p = odata; u.n += 4096; *u.p = T();", "const_cast<T*>(idata)[0] = odata[0];"]


def spoiled(text, random):
    """A text with a few accidents: tokens taken out, doubled, swapped, put in; bytes changed; two texts spliced."""
    for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
        tokens = re.findall(r"\w+|\s+|<<<|>>>|[^\w\s]", text)
        i, j = random.randrange(len(tokens)), random.randrange(len(tokens))
        how = random.randrange(7)
        if how == 0:
            del tokens[i]
        elif how == 1:
            tokens.insert(i, random.choice(PIECES))
        elif how == 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif how == 3:
            tokens[i] = random.choice(PIECES)
        elif how == 4:
            tokens[i:i + random.randrange(1, 12)] = []
        elif how == 5:
            tokens[i:i] = tokens[j:j + random.randrange(1, 30)]
        else:
            statements = [k for k, token in enumerate(tokens) if token == ";"] or [0]
            tokens.insert(random.choice(statements) + 1, "\n    " + random.choice(CODE) + "\n")
        text = "".join(tokens) or " "
    return text


def altered(text, random):
    """A text whose kernel does something else, and still compiles most of the time: another number, operator, name or
    order."""
    for _ in range(random.choice([1, 1, 2])):
        changes = [(r"\b\d+\b",
                    lambda m: str(max(0, int(m[0]) + random.choice([-1, 1, 3, 16])) if len(m[0]) < 9 else m[0])),
                   (r"(?<= )[-+*/%^&|](?= )", lambda m: random.choice("+-*/%^&|")),
                   (r"\b(width|height)\b", lambda m: random.choice(["width", "height"])),
                   (r"threadIdx\.[xy]", lambda m: random.choice(["threadIdx.x", "threadIdx.y", "blockIdx.x"])),
                   (r"(?<= )(<|<=|>|>=|==)(?= )", lambda m: random.choice(["<", "<=", ">", "=="])),
                   (r"\b(x|y|j|row|col|bx|by)\b", lambda m: random.choice(["x", "y", "j"])),
                   (r"__syncthreads\(\);", lambda m: ""), (r";\n", lambda m: ";\n    " + random.choice(CODE) + "\n")]
        pattern, change = random.choice(changes)
        found = list(re.finditer(pattern, text))
        if found:
            match = random.choice(found)
            text = text[:match.start()] + change(match) + text[match.end():]
    return text


def texts(seed):
    """An endless sequence of (exercise, how, bytes): the seed draws it."""
    draw = random.Random(seed)
    bases = [(number, text) for (_, number), text in sorted({**corpus.right(), **corpus.poor()}.items())]
    bases += [(w.exercise, wrong.text_of(w)) for w in wrong.WRONG] + [(4, text) for text in hostile.HOSTILE.values()]
    while True:
        number, text = draw.choice(bases)
        how = draw.choice(["spoiled", "altered", "bytes", "generated"] if draw.random() < 0.4 else ["altered"])
        if how == "bytes":
            data = bytearray(text.encode("utf-8", "surrogatepass"))
            for _ in range(draw.randrange(1, 20)):
                data[draw.randrange(len(data))] = draw.randrange(256)
            yield number, how, bytes(data)
        elif how == "generated":
            pieces = " ".join(draw.choice(PIECES) for _ in range(draw.randrange(200)))
            yield number, how, (corpus.INCLUDE + pieces).encode("utf-8", "surrogatepass")
        else:
            made = {"spoiled": spoiled, "altered": altered}[how](text, draw)
            yield number, how, made.encode("utf-8", "surrogatepass")


def read(exercise, lab, data):
    """(the text that is compiled, or None; why it is refused). AssertionError where the reader breaks its word."""
    start = time.process_time()
    try:
        text, why = source.read(data, {exercise.registers}, exercise.kernel, exercise.given).text, ""
    except source.Refused as refused:
        text, why = None, str(refused)
    assert time.process_time() - start < 2, "it took too long"
    assert text is None or text.isascii() and not re.search(r"[^\x20-\x7e\n]", text), "other characters"
    assert text is not None or 1 <= why.count("\n") + 1 <= 10 and all(why.split("\n")), why
    if text is not None:
        outside = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', '""', text)
        for name in re.findall(r"(?<![\w.'])[A-Za-z_]\w*", outside):
            assert (name.startswith(source.OWN) or name in source.WORDS | exercise.given.words
                    or name in ("copies", "transposes", "transposes_each_tile", "pragma", "unroll")), name
        assert not re.search(r"//|/\*|\\|\?\?|<:|%:|<%|##|^\s*#(?!pragma unroll)", outside, re.MULTILINE), outside
    return text, why


def second_opinion(lab, exercise, data, text):
    """Whether a kernel with full points is right at a shape of its own, by its printed result."""
    with sandbox.Box() as box:
        note = lab.compile(box, check.unpack(box, exercise, "fuzz.cu", data, text), [0])
        assert not note, note
        for width, height in ((29, 13), (13, 32), (1, 7)):
            name, descriptor = sandbox.secret()
            done = lab.sandboxed(["./program", "--device", "sim", "--kernel", lab.own + exercise.kernel, "--print",
                                  "--size", f"{width}x{height}", *check.with_gpus(exercise.gpus), "--seed", "7",
                                  "--json", f"/proc/self/fd/{descriptor}"],
                                 box, argv0=name, result=descriptor, **check.RUN)
            shown = check.shown_matrix(exercise, width, height, *check.told_of(done, name))
            assert done.status == 0 and "Every element of odata is right" in shown, (width, height, shown)


def fuzz(seed, count, graded, workers=2, tell=lambda line: None):
    """How many were refused, did not compile, earned how much. AssertionError, with the text's place in the sequence,
    where something is wrong."""
    lab, exercises, told = check.Lab(), check.load_exercises().EXERCISES, {
        "read": 0, "refused": 0, "graded": 0, "not compiled": 0, "full": 0}

    def grade(place, number, how, data, text):
        exercise = exercises[number]
        try:
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "fuzz.cu")
                file.write_bytes(data)
                verdict = lab.check(exercise, file, seed=place)
            assert (0 <= verdict["total"] <= 100
                    and all(c["points"] == c["of"] or c["hint"] for c in verdict["checks"])), verdict
            if verdict["total"] == 100:
                second_opinion(lab, exercise, data, text)
            return verdict
        except Exception as error:
            raise AssertionError(f"seed {seed}, text {place}, exercise {number}, {how}: "
                                 f"{error!r}\n{data.decode('utf-8', 'replace')}") from error

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        waiting, sequence = [], texts(seed)
        for place in range(count):
            number, how, data = next(sequence)
            try:
                text, why = read(exercises[number], lab, data)
            except Exception as error:
                raise AssertionError(f"seed {seed}, text {place}, {how}: {error!r}\n{data!r}") from error
            told["read"] += 1
            told["refused"] += text is None
            if text is not None and len(waiting) < graded and number not in (6, 9):  # whose matrices take seconds
                waiting.append(pool.submit(grade, place, number, how, data, text))
        for done in waiting:
            verdict = done.result()
            told["graded"] += 1
            told["not compiled"] += bool(verdict["note"])
            told["full"] += verdict["total"] == 100
            if told["graded"] % 100 == 0:
                tell(str(told))
    return told


if __name__ == "__main__":
    parser = command_line.parser(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--graded", type=int, default=2000)
    options = parser.parse_args()
    print(fuzz(options.seed, options.count, options.graded, tell=lambda line: print(line, flush=True)))
