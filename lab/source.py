r"""Reads a submission, and writes the text that is compiled in its place.

read(data) goes through the file once, token by token: line ends, spliced lines, comments, #define. It returns a text
written anew from those tokens, with one space between each two, and the compiler sees only this text. So the reader and
the compiler cannot read the file in different ways. Three rules protect the grader:

 - Each name that is not in WORDS gets the prefix own_. It can then mean only what the file declares. A submission
   reaches no function, variable or type of a header, and may choose any name. An exercise may give more words, as
   Given.
 - __global__, __device__ and __host__ separate the file's functions, as for nvcc. Functions of the host compute grids
   and launch kernels, and touch no memory.
 - A function is called by its name and is not a value, so there are no pointers to code. The simulator watches all
   other accesses of a kernel, through any pointer, while it runs.

A refused file gets up to MOST_REFUSALS reasons in one run, in the order of its lines, and one for each statement.
Behind a refusal the reader goes on at the next statement, directive or declaration. A file with a refusal is never
compiled.

Each step takes time in proportion to the number of tokens. What a rule looks up further away (the end of a statement,
the > of a <, whether a name is declared) is computed once for the whole file.

REFUSED lists what is refused, why, and what to write instead. python3 lab/source.py prints it as the table of
lab/CUDA.md.
"""

import functools
import json
import pathlib
import re
import sys
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

OWN = "own_"
MOST_BYTES, MOST_TOKENS = 1 << 16, 1 << 17
MOST_WORK, MOST_TEXT = 1 << 20, 1 << 22  # tokens that macros move, and characters that they make
MOST_REFUSALS = 10
INCLUDES = [
    '"../common/step.h"', "<cuda_runtime.h>", "<device_launch_parameters.h>", "<cstddef>", "<cstdint>", "<stdint.h>",
    "<cassert>", "<assert.h>"]
STEP = INCLUDES[0]

NUMBERS = (set("void bool char short int long unsigned signed float double".split())
           | set("auto size_t ptrdiff_t uint ushort uchar".split())
           | {f"{u}int{bits}_t" for u in ("", "u") for bits in (8, 16, 32, 64, "ptr")})
VECTORS = {f"{kind}{n}" for n in (1, 2, 3, 4)
           for kind in "char uchar short ushort int uint long ulong longlong ulonglong float double".split()} | {"dim3"}
KEYWORDS = set("""
    if else for while do break continue return switch case default sizeof static_assert true false nullptr const
    constexpr static inline template typename class struct union enum using typedef volatile mutable alignas alignof
    noexcept explicit operator this public private protected namespace static_cast reinterpret_cast extern
    and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq""".split())
SPACES = {"__global__", "__device__", "__host__", "__shared__", "__constant__"}
ATTRIBUTES = set("__launch_bounds__ __forceinline__ __noinline__ __inline__ __restrict__ __restrict __align__".split())
# Only kernels and __device__ functions may use these.
DEVICE = set("""
    threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncthreads_count __syncthreads_and
    __syncthreads_or __syncwarp __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync
    __all_sync __activemask __match_any_sync
    __ldg __ldca __ldcg __ldcs __ldlu __stwb __stcg __stcs __threadfence __threadfence_block
    __popc __popcll __clz __clzll __ffs __ffsll __brev __mul24 __umul24
    __float_as_int __float_as_uint __int_as_float __uint_as_float __double_as_longlong __longlong_as_double""".split())
FUNCTIONS = set("min max abs assert".split()) | {f"make_{name}" for name in VECTORS - {"dim3"}}
WORDS = NUMBERS | VECTORS | KEYWORDS | SPACES | ATTRIBUTES | DEVICE | FUNCTIONS | set("x y z w KERNEL NULL".split())
TYPES = NUMBERS | VECTORS
# The types of the C++ library that are written without std:: for the compiler.
STD = {"size_t", "ptrdiff_t"} | {word for word in NUMBERS if re.fullmatch(r"u?int(\d+|ptr)_t", word)}
BUILT_IN = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}
# These say nothing about what is compiled, and are left out.
STANDARD_ATTRIBUTES = {"maybe_unused", "nodiscard", "fallthrough"}
ALTERNATIVES = {"and": "&&", "or": "||", "xor": "^", "not": "!", "bitand": "&", "bitor": "|", "compl": "~",
                "and_eq": "&=", "or_eq": "|=", "xor_eq": "^=", "not_eq": "!="}
# Macros of the headers. A file may ask whether they are defined.
DEFINED = {"KERNEL", "NULL", "assert"}
PREDEFINED = re.compile(
    r"__(CUDA|NV|GNU|GCC|clang|linux|unix|x86|amd64|cplusplus|cpp|STDC|INTEL|HIP|LP64|FILE|LINE|DATE|TIME|COUNTER|"
    r"APPLE|has|SIZEOF|BYTE|OPTIMIZE|SANITIZE).*|_WIN\d+|_MSC_VER|_OPENMP|NDEBUG")
# Functions that CUDA's headers declare outside namespaces. A constant or a type of such a name is an error for nvcc.
TAKEN = {f"{name}{kind}" for kind in ("", "f", "l") for name in """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim floor fma
    fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround
    modf nan nearbyint nextafter pow remainder remquo rint round scalb scalbn significand sin sincos sinh sqrt tan tanh
    tgamma trunc y0 y1 yn""".split()} | {f"{name}{kind}" for kind in ("", "f") for name in """
    cospi erfcinv erfcx erfinv norm norm3d norm4d normcdf normcdfinv rcbrt rhypot rnorm rnorm3d rnorm4d rsqrt sincospi
    sinpi""".split()} | set("""
    all any clock clock64 abort alloca atof atoi atol bsearch daylight difftime div drand48 exit fdivide ffs finite
    getenv index isalnum isalpha isdigit isfinite isinf isnan islower isnormal isspace isupper labs ldiv llabs llmax
    llmin mktime nanosleep qsort rand random realloc rindex select signbit signgam srand srandom strlen system time
    timezone tolower toupper ullmax ullmin umax umin""".split())
TYPEDEFS = set("ulong u_char u_int u_long u_short".split())  # which may be declared again as the same types

# (the pattern, the name in the table, why it is refused, what to write instead)
ALWAYS = set("asm goto new delete try catch throw virtual dynamic_cast const_cast typeid friend decltype register "
             "thread_local wchar_t char16_t char32_t export".split())
REFUSED = [
    (r"std", "`std::`, except `std::size_t` and the integer types", "the C++ library is host code",
     "loops, or `min`, `max` and `abs`, which need no `std::`"),
    (r"printf|cout|cerr|puts|fprintf|putchar", "`printf`", "the grader reads the program's output",
     "`make labNN CHECK=--explain`, `SHOW=1`"),
    (r"atomic\w+|cuda_pipeline\w*|__pipeline\w+|memcpy\w*|memset|memmove",
     "`atomicAdd`, `memcpy` and similar functions", "the exercises count plain loads and stores", "an assignment"),
    (r"cuda[A-Z]\w*", "`cudaDeviceSynchronize` and other CUDA runtime functions",
     "the harness allocates, waits and reports errors", "leave it out"),
    (r"cooperative_groups|cg", "`cooperative_groups`", "the reader does not support its types",
     "`__syncthreads`, `__syncwarp`, `__shfl_sync`"),
    (r"malloc|calloc|free|new|delete", "`new`, `malloc`",
     "the matrices and the tile are all the memory that an exercise needs", "a local array, `__shared__`"),
    (r"asm|__asm\w*", "`asm`", "the simulator cannot count its accesses", "CUDA C++"),
    (r"goto", "`goto`", "the simulator follows loops, not jumps", "a loop"),
    (r"try|catch|throw", "`try`, `throw`", "kernels have no exceptions", "`if`"),
    (r"const_cast", "`const_cast`", "idata belongs to the caller and stays const", "a store to odata"),
    (r"virtual|dynamic_cast|typeid|friend|decltype|register|thread_local|concept|requires|co_\w+|export|import|module|m"
     r"ain|wchar_t|char(8|16|32)_t|override|final",
     "`virtual`, `decltype`, `thread_local`, `friend`", "no exercise needs them, and the reader does not support them",
     "the type by its name"),
    (r"__builtin\w*|__attribute\w*|__declspec|__asm__|__extension__", "`__builtin_…`, `__attribute__`",
     "they depend on the compiler, and nvcc has different ones", "CUDA's own functions"),
    (r"_\w*|\w*__\w*", "other names with `_` in front or `__` inside", "they belong to the compiler", "another name"),
]

TOKEN = re.compile(
    r"""
    (?P<line>\n) | (?P<space>[ \t\v\f]+) | (?P<comment>//[^\n]* | /\*.*?\*/) |
    (?P<string>"(?:[^"\\\n]|\\.)*") | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[0-9A-Za-z.])*) |
    (?P<character>'(?:[^'\\\n]|\\.)') | (?P<name>[^\W\d]\w*) |
    (?P<sign><<<|>>>|<<=|>>=|\.\.\.|\+\+|--|->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|[-+*/%&|^<>=!~?:;,.(){}\[\]\#])
""", re.VERBOSE | re.DOTALL)
OPENS, CLOSES = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


class Refused(Exception):
    """Its text has a line for each reason. Where it has one, `line` is the line of the file, and `place` the token."""

    def __init__(self, text, line=0, place=None):
        super().__init__(text)
        self.line, self.place = line, place


class Follows(Refused):
    """Of a reason that the file has got already."""


class TooMuch(Refused):
    """The reader does not go on behind it."""


class Reasons:
    """The refusals of a file, as they are found."""

    def __init__(self):
        self.found, self.statements, self.hidden, self.closed = [], set(), set(), set()

    def add(self, refused, statement=None):
        """Of several in one statement, the first counts. The others often follow from it."""
        if statement is None or statement not in self.statements and refused.line not in self.closed:
            self.statements.add(statement)
            self.found.append((refused.line, str(refused)))

    def end(self):
        """Raises Refused if there are any. A line that uses a macro without a definition has no other reasons."""
        if not self.found:
            return
        told = sorted(dict.fromkeys(reason for reason in self.found if reason[0] not in self.hidden) or self.found,
                      key=lambda reason: reason[0])
        raise Refused("\n".join(text for _, text in told[:MOST_REFUSALS]), told[0][0])


@dataclass(frozen=True)
class Given:
    """The names of common/step.h that a submission of one exercise may use. Functions may run on either side, and are
    no values."""
    types: frozenset = frozenset()
    functions: frozenset = frozenset()
    others: frozenset = frozenset()  # members and constants

    @property
    def words(self):
        return self.types | self.functions | self.others


NOTHING = Given()


class Token(NamedTuple):
    kind: str
    text: str
    line: int
    tight: bool = False  # no space in front of it


@dataclass
class Function:
    name: str
    inside: str         # the struct whose member it is
    words: set          # of its head: __global__, constexpr, ...
    place: int          # the token of its name
    parameters: tuple   # (first, last) token
    body: tuple = None  # of its braces; None: declared, not defined


@dataclass
class Read:
    """A submission as it is compiled."""
    text: str                                        # one line for each of the file's
    kernels: list = field(default_factory=list)      # [(name, what it produces)] of its KERNEL lines


def refuse(line, what, why, kind=Refused):
    raise kind(f"line {line}: {shortened(what)}: {why}", line)


def shortened(text):
    return text if len(text) <= 60 else text[:57] + "..."


def own(name):
    """The name that the compiler sees. Letters outside ASCII become their numbers."""
    return OWN + "".join(c if c.isascii() else f"_u{ord(c):x}_" for c in name)


def text_of(data):
    """(the text of a file, the lines at which its characters are): line ends are \\n, spliced lines are joined."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refused("the file is in UTF-16; save it as UTF-8")
    if len(data) > MOST_BYTES:
        raise Refused(f"the file has more than {MOST_BYTES} bytes; no exercise needs so many")
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    joined, splices = [], []
    length = 0
    for piece in re.split(r"(\\[ \t]*\n)", text):
        if re.fullmatch(r"\\[ \t]*\n", piece):
            splices.append(length)
        else:
            joined.append(piece)
            length += len(piece)
    return "".join(joined), splices


def tokens_of(text, splices, reasons=None):
    """Every token, and an empty one of kind `line` at the end of each line. Without `reasons`, the first fault is
    raised."""
    place, behind, line, found, next_splice, faulty = 0, 0, 1, [], 0, 0
    splices = [*splices, len(text) + 1]

    def fault(what, why):
        nonlocal faulty
        refused = Refused(f"line {line}: {shortened(what)}: {why}", line)
        if reasons is None:
            raise refused
        if faulty != line:  # what follows on the line is perhaps no code
            reasons.add(refused)
        faulty = line

    while place < len(text):
        while splices[next_splice] <= place:
            next_splice += 1
            line += 1
        match = TOKEN.match(text, place)
        open_comment = text.startswith("/*", place) and (not match or match.lastgroup != "comment")
        kind, token = (match.lastgroup, match.group()) if match else ("", text[place])
        if open_comment:
            fault("a comment without an end", "write */ at its end")
            break
        if not match or kind == "name" and not token.isidentifier():
            letter = next((c for c in token if not ("_" + c).isidentifier()), token[0])
            fault(f"{letter!a}", {
                '"': "close the string on the same line", "'": "a character is one between two '"}.get(
                    letter, "no such character is allowed outside comments"))
            if letter == '"':  # the rest of the line belongs to it
                end = text.find("\n", place)
                place = len(text) if end < 0 else end
                continue
            place += len(token)
            continue
        if kind == "name" and place == behind and found and found[-1].kind == "number":
            fault(found[-1].text + token, "no number of CUDA C++")
        if kind == "number" and (len(token) > 100 or not re.fullmatch(
                r"(0[xX][0-9a-fA-F'.]+([pP][+-]?[0-9]+)?|0[bB][01']+|[0-9'.]+([eE][+-]?[0-9]+)?)[uUlLfF]*", token)):
            fault(token, "no number of CUDA C++")
        if kind == "line":
            found.append(Token("line", "", line))
        elif kind not in ("space", "comment"):
            found.append(Token(kind, token, line, place == behind))
            behind = match.end()
        line += token.count("\n")
        place = match.end()
    return [*found, Token("line", "", line)]


# ---- The preprocessor's part -----------------------------------------------------------------------------------

class Preprocessor:
    """Makes `code` of all tokens: without directives, macros replaced. `#pragma unroll` stays, as a token of kind
    `pragma`."""

    def __init__(self, reasons):
        self.reasons, self.macros, self.undefined = reasons, {}, set()
        self.code, self.included, self.faulty, self.skipped = [], False, False, set()
        self.tokens, self.work, self.characters = MOST_TOKENS, MOST_WORK, MOST_TEXT
        # Of each open #if: [its line, whether its lines count, whether one of its groups has counted, else was there]
        self.conditions = []

    def run(self, tokens):
        i, first_of_line = 0, True
        pending = []  # code up to the next directive: a macro's arguments may span lines
        while i < len(tokens):
            token = tokens[i]
            if first_of_line and token.text == "#" and token.kind == "sign":
                end = next(j for j in range(i, len(tokens)) if tokens[j].kind == "line")
                self.expand(pending)
                pending = []
                try:
                    self.directive(tokens[i + 1:end], token.line)
                except TooMuch:
                    raise
                except Refused as refused:
                    self.reasons.add(refused)
                i = end + 1
                continue
            first_of_line = token.kind == "line"
            if token.kind != "line" and self.active():
                pending.append(token)
            elif token.kind != "line":
                self.skipped.add(token.line)
            i += 1
        self.expand(pending)
        for line, *_ in self.conditions:
            self.reasons.add(Refused(f"line {line}: #if: it has no #endif; add it", line))
        return self.code

    def expand(self, tokens):
        self.code += self.expanded(tokens, frozenset())

    def active(self):
        return all(active for _, active, *_ in self.conditions[-1:])

    # Conditions are nested: one that is inside of lines that do not count does not count.
    def conditional(self, kind, words, line):
        if kind in ("if", "ifdef", "ifndef"):
            outside = self.active()
            self.conditions.append([line, outside, True, False, outside])  # also where the condition is refused
            holds = outside and self.holds(kind, words, line)
            self.conditions[-1][1:3] = holds, holds
            return
        if not self.conditions:
            refuse(line, f"#{kind}", "there is no #if in front of it")
        condition = self.conditions[-1]
        if kind == "endif":
            self.conditions.pop()
        elif condition[3]:
            refuse(line, f"#{kind}", "there is an #else in front of it")
        else:
            condition[3] = kind == "else"
            holds = condition[4] and not condition[2]
            condition[1] = False  # if the condition is refused
            holds = holds and (kind == "else" or self.holds("if", words, line))
            condition[1], condition[2] = holds, condition[2] or holds

    def holds(self, kind, words, line):
        """Whether the lines behind #if, #ifdef or #ifndef count."""
        texts = [t.text for t in words]
        if kind != "if":
            if len(words) != 1 or words[0].kind != "name":
                refuse(line, f"#{kind}", "write one name behind it")
            return self.is_defined(texts[0], line) == (kind == "ifdef")
        negated = 0
        while texts[negated:negated + 1] == ["!"]:
            negated += 1
        rest = words[negated:]
        match = re.fullmatch(r"defined ?(\w+)|defined \( (\w+) \)", " ".join(texts[negated:]))
        if match:
            return self.is_defined(match[1] or match[2], line) != bool(negated % 2)
        rest = self.expanded(rest, frozenset())
        if len(rest) != 1 or not re.fullmatch(r"\d{1,9}", rest[0].text):
            refuse(line, "#if", "the reader understands #if 0, #if 1, #if defined(NAME), #ifdef and #ifndef; choose "
                                "one of them")
        return bool(int(rest[0].text)) != bool(negated % 2)

    def is_defined(self, name, line):
        if name not in self.macros and PREDEFINED.fullmatch(name):
            refuse(line, name, "it belongs to the compiler, and differs between compilers; leave the condition out")
        return name in self.macros or name in self.undefined or name in DEFINED

    def directive(self, words, line):
        """Takes a line that begins with #."""
        texts = [t.text for t in words]
        kind = texts[0] if texts else ""
        if kind in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
            return self.conditional(kind, words[1:], line)
        if not texts or not self.active():
            return
        if kind == "include":
            name = "".join(texts[1:])
            if name not in INCLUDES:
                refuse(line, f"#include {name}", f"include only {STEP}; {', '.join(INCLUDES[1:])} are also allowed, "
                                                 "but not needed")
            self.included |= name == STEP
        elif kind == "pragma" and texts[1:2] == ["unroll"]:
            count = self.expanded(words[2:], frozenset())
            for token in count:
                if token.kind not in ("name", "number") and token.text not in ("(", ")", "+", "-", "*", "/"):
                    refuse(line, f"#pragma unroll {token.text}", "write a number after unroll")
            self.code.append(Token("pragma", "#pragma unroll " + " ".join(
                t.text if t.text in WORDS or t.kind != "name" else own(t.text) for t in count), line))
        elif kind == "undef" and len(texts) == 2:
            if texts[1] in DEFINED and texts[1] not in self.macros:
                refuse(line, f"#undef {texts[1]}", "common/step.h defines it; leave the line out")
            self.macros.pop(texts[1], None)
            self.undefined.discard(texts[1])
        elif kind == "define" and len(words) >= 2 and words[1].kind == "name":
            self.undefined.add(texts[1])  # until the definition is accepted
            self.define(words, texts, line)
            self.undefined.discard(texts[1])
        elif kind != "pragma" or texts[1:] != ["once"]:
            refuse(line, f"#{kind}", "use only #include, #define, #undef, #ifdef, #ifndef, #if 0, #else, #endif and "
                                     "#pragma unroll")

    def define(self, words, texts, line):
        if "#" in texts[2:]:
            refuse(line, "#", "a macro cannot make strings or names of its arguments; write them out")
        name, parameters, body = texts[1], None, words[2:]
        if texts[2:3] == ["("] and words[2].tight:
            close = texts.index(")") if ")" in texts else refuse(line, name, "the macro's parameters lack a )")
            parameters, body = [t for t in texts[3:close] if t != ","], words[close + 1:]
            if not all(parameter.isidentifier() for parameter in parameters):
                refuse(line, name, "a macro's parameters are names")
        self.macros[name] = parameters, body
        if (parameters is None and len(body) > 1 and body[-1].text == ";"
                and (body[0].kind == "number" or body[0].text in "(-")):
            self.macros[name] = parameters, body[:-1]
            refuse(line, f"#define {name}", f"the ; at its end is put wherever {name} stands; leave the ; out")

    def spend(self, token, work, tokens=0, characters=0):
        self.work -= work
        self.tokens -= tokens
        self.characters -= characters
        if min(self.work, self.tokens, self.characters) < 0:
            refuse(token.line, token.text, "the macros expand to too much code; write less of it as macros", TooMuch)

    def fault(self, token, why):
        """The line with it has no further reasons: its code is not what was meant."""
        self.reasons.add(Refused(f"line {token.line}: {shortened(token.text)}: {why}", token.line))
        self.faulty = True

    def expanded(self, tokens, hidden):
        out, i, macros = [], 0, self.macros
        while i < len(tokens):
            token = tokens[i]
            self.spend(token, 1, 1, len(token.text))
            i += 1
            if token.kind != "name" or token.text not in macros or token.text in hidden:
                if token.kind == "name" and token.text in self.undefined and token.text not in macros:
                    self.reasons.hidden.add(token.line)
                    self.faulty = True
                out.append(token)
                continue
            parameters, body = macros[token.text]
            arguments = {}
            if parameters is not None:
                if i >= len(tokens) or tokens[i].text != "(":
                    out.append(token)
                    continue
                depth, given, j = 0, [[]], i
                while j < len(tokens):
                    text = tokens[j].text
                    depth += (text in OPENS) - (text in CLOSES)
                    if depth == 0:
                        break
                    if text == "," and depth == 1:
                        given.append([])
                    elif j > i:
                        given[-1].append(tokens[j])
                    j += 1
                self.spend(token, j - i)
                if j == len(tokens):
                    self.fault(token, "the macro's arguments lack a )")
                    out.append(token)
                    continue
                i = j + 1
                if len(given) != len(parameters) and not (given == [[]] and not parameters):
                    self.fault(token, f"the macro takes {len(parameters)} arguments, and this use has {len(given)}")
                    out.append(Token("number", "0", token.line))
                    continue
                arguments = {p: self.expanded(g, hidden) for p, g in zip(parameters, given)}
            new = []
            self.spend(token, len(body) + len(hidden))
            for part in body:
                made = arguments.get(part.text, [part]) if part.kind == "name" else [part]
                self.spend(token, len(made))
                new += [Token(t.kind, t.text, token.line) for t in made]
            out += self.expanded(new, hidden | {token.text})
        return out


def normalised(code):
    """The tokens with one way to write each thing: `&&` for `and`, `size_t` for `std::size_t`, `kernel<<<` for
    `(kernel)<<<`, and no attributes that only tell the compiler what to warn of."""
    code = [
        Token("sign", ALTERNATIVES[t.text], t.line) if t.kind == "name" and t.text in ALTERNATIVES else t
        for t in code]
    text = [t.text for t in code] + [""] * 6
    left_out = set()
    for i, token in enumerate(code):
        if (token.kind == "name" and token.text == "std" and text[i + 1] == "::" and text[i + 2] in STD
                and text[i - 1 if i else -1] != "::"):
            left_out |= {i, i + 1}
            if i and text[i - 1] == "using" and text[i + 3] == ";":  # `using size_t;` would be no declaration
                left_out |= {i - 1, i + 2, i + 3}
        elif text[i:i + 2] == ["[", "["] and text[i + 2] in STANDARD_ATTRIBUTES and text[i + 3:i + 5] == ["]", "]"]:
            left_out |= set(range(i, i + 5))
        elif token.text == ")" and text[i + 1] == "<<<":
            # No expression of more tokens than these names one kernel.
            first = next((j for j in range(i - 1, max(-1, i - 64), -1) if text[j] in OPENS or text[j] in CLOSES), 0)
            if text[first] == "(" and i - first > 1 and re.fullmatch(
                    r"[^\W\d]\w*( < [^<>]* >)?", " ".join(text[first + 1:i])) and (
                    not first or text[first - 1] in (";", "{", "}", ")", ":", "else", "do")):
                left_out |= {first, i}
    return [t for i, t in enumerate(code) if i not in left_out]


# ---- What the file declares ------------------------------------------------------------------------------------

TYPE_WORDS = {"struct", "class", "enum", "using", "typename"}

class File:
    """The functions of a file, and what stands outside of them. `doubtful`: the tokens are perhaps not what was meant,
    because something is refused already."""

    def __init__(self, code, given=NOTHING, reasons=None, doubtful=False):
        self.code, self.reasons, self.doubtful = code, reasons or Reasons(), doubtful
        self.given, self.known = given, WORDS | given.words
        self.words = [t.text for t in code] + [""] * 4
        # Of each token, the number of its statement.
        self.statements = [0, *accumulate(word in (";", "{", "}") for word in self.words)]
        self.functions, self.kernels, self.partner = [], [], {}
        # templates: of variables; tables: arrays outside functions
        self.types, self.templates, self.tables = set(given.types), set(), set()
        self.constants = set()  # places of `const` outside functions
        try:
            self.partner = self.brackets()
        except Refused as refused:
            # No structure can be seen in such a file, and only its words are looked at.
            if not doubtful:
                self.add_reason(refused)
            self.types |= {self.words[i + 1] for i, word in enumerate(self.words) if word in TYPE_WORDS}
            return
        self.angles, self.fronts = self.matched_angles()
        self.counts = {}
        self.scope(0, len(code), "", True)

    @property
    def structured(self):
        return bool(self.partner) or not self.code

    def line(self, i):
        return self.code[min(i, len(self.code) - 1)].line if self.code else 1

    def refuse(self, i, what, why):
        raise Refused(f"line {self.line(i)}: {shortened(what)}: {why}", self.line(i), min(i, len(self.code)))

    def add_reason(self, refused):
        self.reasons.add(refused, None if refused.place is None else self.statements[refused.place])

    def count(self, words, first, end):
        """How many of the tokens from first to `end` are among the words. `operator=` is another word than `=`."""
        if words not in self.counts:
            self.counts[words] = [0, *accumulate(
                word in words and (word != "=" or self.words[i - 1] != "operator")
                for i, word in enumerate(self.words))]
        sums = self.counts[words]
        return sums[end] - sums[first] if end > first else 0

    def brackets(self):
        partner, opened = {}, []
        for i, token in enumerate(self.code):
            if token.kind == "sign" and token.text in OPENS:
                opened.append(i)
            elif token.kind == "sign" and token.text in CLOSES:
                if not opened or self.words[opened[-1]] == "{" and token.text != "}":
                    self.refuse(i, token.text, "it closes nothing; is there one too many?")
                first = opened.pop()
                if OPENS[self.words[first]] != token.text:
                    self.refuse(first, self.words[first], f"not closed before the {token.text} of line {token.line}")
                partner[first], partner[i] = i, first
        if opened:
            self.refuse(opened[-1], self.words[opened[-1]], "not closed anywhere; close it")
        return partner

    def matched_angles(self):
        """({< : the place behind the > that closes it}, {> : the place in front of the < that it closes}). The first
        one skips what is in brackets. The second one does not, and ends at a statement's begin."""
        angles, fronts, levels, opened, begin = {}, {}, [[]], [], -1
        for i, word in enumerate(self.words):
            if word in OPENS:
                levels.append([])
            elif word in CLOSES:
                levels.pop()
            elif word == ";":
                levels[-1] = []
            elif word == "<":
                levels[-1].append(i)
            elif word in (">", ">>", ">>>"):
                for _ in word:
                    if levels[-1]:
                        angles[levels[-1].pop()] = i + 1
            if word in (";", "{", "}"):
                opened, begin = [], i - 1
            elif word == "<":
                opened.append(i)
            elif word in (">", ">>"):
                front = None
                for _ in word:
                    front = opened.pop() if opened else None
                fronts[i] = begin if front is None else front - 1
        return angles, fronts

    def angle(self, i):
        """The place behind the > that closes the < at i, or None where it closes nothing."""
        return self.angles.get(i)

    @functools.cached_property
    def declared(self):
        """The names that the file declares. They are not names of C++ or CUDA."""
        words = self.words
        return {
            words[i] for i in range(1, len(self.code))
            if words[i + 1] != "::" and (is_type(self, i - 1) or words[i - 1] in TYPE_WORDS | {"namespace"})}

    @functools.cached_property
    def shared(self):
        """For each token: the next `;`, `=` or `{`, the next `&` and the next `[`."""
        found, ends = [None] * len(self.words), (len(self.code) - 1, len(self.code), len(self.code))
        for i in range(len(self.code) - 1, -1, -1):
            word = self.words[i]
            ends = (i if word in (";", "=", "{") else ends[0], i if word == "&" else ends[1],
                    i if word == "[" else ends[2])
            found[i] = ends
        return found

    def scope(self, i, end, inside, is_global=False):
        """Declarations of a namespace, or of the struct `inside`. Behind one that is refused, the next one is read."""
        while i < end:
            self.next = None
            try:
                i = self.declared_at(i, end, inside, is_global)
            except Refused as refused:
                self.add_reason(refused)
                self.doubtful = True
                i = max(i + 1, self.next or self.behind(i, end))

    def behind(self, i, end):
        """The place behind a declaration that could not be read."""
        while i < end:
            word = self.words[i]
            i = self.partner[i] + 1 if word in OPENS else i + 1
            if word == ";" or word == "{" and self.words[i] != ";":
                break
        return i

    def declared_at(self, i, end, inside, is_global):
        """Reads the declaration at i. The place behind it."""
        word = self.words[i]
        if word == ";" or self.code[i].kind == "pragma":
            return i + 1
        if inside and word in ("public", "private", "protected"):
            return i + 2
        if word == "namespace":
            brace = next((j for j in range(i, end) if self.words[j] in ("{", ";", "=")), end)
            if self.words[brace] != "{":
                self.refuse(i, "namespace", "expected `namespace name { ... }`")
            self.scope(brace + 1, self.partner[brace], "")
            return self.partner[brace] + 1
        if word == "KERNEL":
            return self.kernel(i)
        return self.declaration(i, end, inside, is_global)

    def kernel(self, i):
        w = self.words
        close = self.partner.get(i + 1, i)
        inner = "".join(w[i + 2:close])
        match = re.fullmatch(r'(\w+),"[\w -]*",(\w+(?:\(\w+\))?),(\w+)', inner)
        if not match:
            self.refuse(i, "KERNEL", "restore the line of the hand-out")
        self.kernels.append((match[1], match[2], close))
        return close + 1

    def declaration(self, start, end, inside, is_global):
        w, i = self.words, start
        template = w[i] == "template"
        while w[i] == "template" and i < end:
            after = self.angle(i + 1) if w[i + 1] == "<" else None
            if after is None:
                self.refuse(i, "template", "expected < and, after the parameters, >")
            self.types.update(w[j + 1 + (w[j + 1] == "...")] for j in range(i, after) if w[j] in ("typename", "class"))
            i = after
        first, name, parameters, type_ = i, None, None, None
        while i < end:
            word = w[i]
            if (word in BEGINNINGS and i > first and self.count(EQUAL, first, i)
                    and w[i - 1] not in (".", "->", "::", "operator")):
                self.next = i
                self.refuse(i - 1, w[i - 1], "expected a ; behind it")
            if word == "(":
                before = w[i - 1]
                if parameters is None and i > first and (before == "operator" and w[i + 2] == "(" or before in (
                    "__launch_bounds__", "alignas", "__align__", "noexcept", "explicit", "static_assert")):
                    i = self.partner[i] + 1 if before != "operator" else i + 2
                    continue
                if parameters is None and not self.count(EQUAL, first, i):
                    parameters, name = (i, self.partner[i]), i - 1
                i = self.partner[i] + 1
            elif word == "[":
                i = self.partner[i] + 1
            elif word == ";":
                break
            elif word == "{":
                if parameters is None and not self.count(EQUAL, first, i) and (type_ := next(
                        (t for t in ("enum", "struct", "class", "union") if self.count((t,), first, i)), None)):
                    close = self.partner[i]
                    names = self.names(first, i)
                    self.types.update(names[:1])
                    if type_ != "enum":
                        self.scope(i + 1, close, names[0] if names else "?")
                    elif is_global and not self.count(("class", "struct"), first, i):
                        for j in range(i + 1, close):
                            if w[j - 1] in ("{", ",") and w[j + 1] in ("=", ",", "}"):
                                self.refuse_taken(j)
                    if w[close + 1] != ";":
                        variable = self.code[min(close + 1, len(self.code) - 1)].kind == "name" and w[close + 2] in (
                            ";", "=", "[", "{", ",")
                        self.next = self.behind(close + 1, end) if variable else close + 1
                        self.refuse(close, w[close + 1] or "}",
                                    f"the {type_} ends with }}; (variables are declared in functions)")
                    return close + 2
                if (parameters is not None and w[parameters[1] + 1] == ":" and i > parameters[1] + 1
                        and (w[i - 1] == ">" or self.code[i - 1].kind == "name")):
                    i = self.partner[i] + 1  # the initial value of a member, in front of the body
                    continue
                if parameters is not None and not self.count(EQUAL, parameters[1], i):
                    self.add(first, name, parameters, (i, self.partner[i]), inside, is_global)
                    return self.partner[i] + 1
                i = self.partner[i] + 1
            else:
                i += 1
        else:
            self.next = end  # all of it has been looked at
            self.refuse(start, w[start], "expected a ; after this declaration")
        self.next = i + 1
        if template and parameters is None and "using" not in w[first:i]:
            self.templates.update(self.names(first, next((j for j in range(first, i) if w[j] in ("=", "{")), i))[-1:])
        self.statement(first, i, name, parameters, inside, is_global)
        return i + 1

    def names(self, i, end):
        """The file's own names from i to `end`, but for those in brackets."""
        found = []
        while i < end:
            if self.code[i].kind == "name" and self.words[i] not in self.known:
                found.append(self.words[i])
            i = self.partner[i] + 1 if self.words[i] in OPENS else i + 1
        return found

    def refuse_taken(self, i):
        """A name of CUDA's headers means something else outside functions, structs and namespaces."""
        word = self.words[i]
        if word in TAKEN_WORDS:
            self.refuse(i, word, "CUDA's headers declare this name; choose another one")

    def statement(self, first, end, name, parameters, inside, is_global):
        """A declaration that ends with ; and has no body."""
        w = self.words
        head = w[first:end]
        if is_global and "using" in head and w[first + 1 + head.index("using")] in TAKEN | DEVICE | FUNCTIONS:
            self.refuse_taken(first + 1 + head.index("using"))
        if not head or head[0] in ("static_assert", "using", "struct", "class", "union", "enum", "typedef"):
            if head and head[0] in ("using", "typedef"):
                if "(" in head:
                    self.refuse(first, head[0], "the type of a function: call functions by their names")
                names = [x for x in head if x.isidentifier() and x not in self.known]
                self.types.update(names[:1] if head[0] == "using" else names[-1:])
            return
        constant = "constexpr" in head or "const" in head and "=" in head
        if parameters is not None and not constant and "=" not in head:
            return self.add(first, name, parameters, None, inside, is_global)
        if inside and "static" not in head:  # a member of a struct
            # Its initial value is code that runs wherever the struct is made.
            for i in range(first + 1, end):
                if self.count(INITIAL, first, i) and touches_memory(self, i):
                    self.refuse(i, w[i], "the initial value of a member touches no memory; assign it in a function")
            return
        if not constant and "__constant__" not in head:
            self.refuse(
                first, " ".join(head[-3:]),
                "no variables are allowed outside functions, because a kernel keeps nothing "
                "between launches; write constexpr, or move it into a function")
        if "__constant__" in head and "=" not in head and "{" not in head:
            self.refuse(first, "__constant__",
                        "it has no values; write them here, because the host cannot copy to it")
        if "const" in head and "constexpr" not in head and "__constant__" not in head:
            # In `const T* p`, `const` belongs to the element, not to the pointer.
            if "*" in head[:head.index("=")] or "&" in head[:head.index("=")]:
                self.refuse(first, " ".join(head[:4]), "a pointer or a reference outside functions")
            self.constants.add(first + head.index("const"))
        equal = next((j for j in range(first, end) if w[j] in ("=", "{", "[")), end)
        if w[equal] == "[" and not SPACES & set(head):
            self.tables.add(w[equal - 1])
        i = first
        while i < end:
            if (is_global and i > first and w[i + 1] in ("=", "[", "{", "(", ",", ";")
                    and (w[i - 1] == "," or is_type(self, i - 1) and w[i - 1] != ">")):
                self.refuse_taken(i)
            i = self.partner[i] + 1 if w[i] in ("(", "{") else i + 1
        self.refuse_lambdas(first, end)

    def refuse_lambdas(self, first, end):
        """Outside the bodies of functions, where no other rule looks at the code of a lambda."""
        for i in range(first, end):
            if self.words[i] == "[" and self.words[i - 1] != "operator" and (
                    not is_operand(self, i - 1) or self.words[self.partner[i] + 1] == "("
                    or self.words[i - 1] in (")", ">", "}") and self.words[self.partner[i] + 1] == "{"):
                self.refuse(i, "[", "a lambda outside functions; write a function, or move it into one")

    def add(self, first, name, parameters, body, inside, is_global):
        w = self.words
        words = set(w[first:parameters[0]])
        if is_global and w[name] in TYPES and "operator" not in words:
            self.next = body and body[1] + 1
            self.refuse_taken(name)
        self.refuse_lambdas(*parameters)
        if self.code[name].kind != "name" and "operator" not in words:
            self.refuse(name, w[name], "expected a function's name")
        if "operator" in words:
            at = next(j for j in range(first, parameters[0]) if w[j] == "operator")
            # & with two operands is bitwise.
            operands = bool(inside) + (parameters[1] - parameters[0] > 1) + self.count((",",), *parameters)
            if (w[at + 1] in ("new", "delete", "->", ",") or w[at + 1] == "&" and operands < 2
                    or self.code[at + 1].kind == "string"):
                self.next = body and body[1] + 1
                self.refuse(at, f"operator {w[at + 1]}", "such an operator hides accesses; write a function")
        self.functions.append(
            Function("operator" if "operator" in words else w[name], inside, words & (SPACES | {"constexpr", "void"}),
                     name, parameters, body))


# ---- The rules -------------------------------------------------------------------------------------------------

BEGINNINGS, EQUAL, INITIAL = {"template", "__global__", "KERNEL", "namespace"}, ("=",), ("=", "{")
TAKEN_WORDS = (TAKEN | TYPEDEFS | DEVICE | VECTORS | FUNCTIONS | NUMBERS) - set(
    "void bool char short int long unsigned signed float double auto uchar warpSize assert".split())


def check(file, produces, kernel):
    """Adds to file.reasons what is refused."""
    for rule in (check_words, check_functions) if file.structured else (check_names,):
        for refused in rule(file):
            file.add_reason(refused)
    for name, product, close in file.kernels:
        if produces and product not in produces:
            file.reasons.add(Refused(f"line {file.line(close)}: KERNEL({shortened(name)}, ...): expected "
                                     f"{' or '.join(sorted(produces))}, as it was handed out", file.line(close)))
    if file.structured and not file.doubtful and kernel and kernel not in [name for name, _, _ in file.kernels]:
        file.reasons.add(Refused(f"no KERNEL({kernel}, ...), the kernel that is graded; restore the line of the "
                                 "hand-out", 1 << 30))


def each(rule):
    """Makes of a rule for one token, which raises Refused, one for the tokens of a range. In a statement that is
    refused, it does not look further."""
    def all_of(file, tokens, *others):
        refused_in = None
        for i in tokens:
            if file.statements[i] == refused_in:
                continue
            try:
                rule(file, i, *others)
            except Refused as refused:
                refused_in = file.statements[i]
                if not isinstance(refused, Follows):
                    yield refused
    return all_of


def is_operand(file, i):
    """Whether words[i] ends an operand. The operator that follows is then not unary."""
    kind, word = file.code[i].kind, file.words[i]
    return (kind in ("number", "character", "string") or word in (")", "]", "}", ">")
            or kind == "name" and word not in KEYWORDS - {"true", "false", "this", "nullptr"})


def check_words(file):
    registered = {i for _, _, close in file.kernels for i in range(file.partner[close] - 1, close)}
    functions = {f.name for f in file.functions if f.name != f.inside} | file.given.functions
    parameters = {f.parameters[0] for f in file.functions}
    for f in file.functions:
        for taken, whose in ((f.name in file.types and f.name != f.inside, "a type has the same name"),
                             (f.name in file.given.words, "common/step.h declares it")):
            if taken:
                yield Refused(f"line {file.line(f.place)}: {shortened(f.name)}: {whose}; choose another "
                              f"{'one' if 'type' in whose else 'name'}", file.line(f.place), f.place)
    yield from check_word(file, range(len(file.code)), registered, functions, parameters)


def check_names(file):
    yield from check_name(file, range(len(file.code)))


def refused_word(word):
    """(why, what to write instead, whether also names of the file are refused) of a word in the table, or None."""
    if word not in REFUSED_WORDS:
        REFUSED_WORDS[word] = next(
            ((why, instead.replace("`", ""), word in ALWAYS) for pattern, _, why, instead in REFUSED
             if re.fullmatch(pattern, word)), None)
    return REFUSED_WORDS[word]


REFUSED_WORDS = {}


def look_up(file, i):
    """Refuses the word at i if it is in the table."""
    word = file.words[i]
    found = refused_word(word)
    if found and (found[2] or word not in file.declared):
        if (word == "catch" and i and file.words[i - 1] == "}" and file.structured
                and file.words[file.partner[i - 1] - 1] == "try"):
            raise Follows("")
        file.refuse(i, word, f"{found[0]}; instead: {found[1]}")


@each
def check_name(file, i):
    if file.code[i].kind == "name" and file.words[i] not in file.known:
        look_up(file, i)


@each
def check_word(file, i, registered, functions, parameters):
    w, code = file.words, file.code
    kind, word, before, after = code[i].kind, w[i], w[i - 1] if i else "", w[i + 1]
    if kind == "string" and i not in registered and not (before == "," and "static_assert" in w[max(0, i - 64):i]):
        file.refuse(i, word[:20], "no string is allowed except in KERNEL and static_assert; leave it out")
    if kind == "name":
        if word not in file.known and i not in registered:
            look_up(file, i)
        if word in functions and word not in WORDS and i not in registered and before not in (".", "->"):
            check_call(file, i, word)
        if word in file.given.words and before in ("struct", "class", "union", "enum", "namespace", "using"):
            file.refuse(i, word, "common/step.h declares it; choose another name")
        if word in BUILT_IN:
            check_built_in(file, i)
    if word == "#":
        file.refuse(i, word, "a directive begins a line")
    if word == "::" and (i == 0 or code[i - 1].kind != "name" and before not in (">", ">>") or before in KEYWORDS):
        file.refuse(i, ":: " + after, "nothing outside this file is needed")
    if word == "[" and after == "[" and file.partner[i] == file.partner[i + 1] + 1:
        file.refuse(i, "[[", f"no attributes are supported but {', '.join(sorted(STANDARD_ATTRIBUTES))}; leave it out")
    if word == "extern" and after != "__shared__":
        file.refuse(i, "extern", "only extern __shared__ is allowed")
    if word == "operator" and after in ("new", "delete"):
        file.refuse(i, "operator", "the harness manages memory; leave it out")
    if word == "(" and after in ("*", "&", "&&") and w[file.partner[i] + 1] == "(":
        file.refuse(i, f"({after}{w[i + 2]})(", "a pointer to a function; call functions by their names")
    if (word == "(" and i not in parameters and i and code[i - 1].kind == "name" and before not in WORDS
            and declares(file, i + 1)):
        file.refuse(i, before, "a function inside a function; declare it outside, and call it by its name")
    if (word == "::" and after == "*"
            or word == "&" and code[min(i + 1, len(code) - 1)].kind == "name" and w[i + 2] == "::"
            and not (i and code[i - 1].kind in ("name", "number") and is_operand(file, i - 1))):
        file.refuse(i, word + after, "a pointer to a member")
    if word == "+" and after == "[" and (i == 0 or not is_operand(file, i - 1)):
        file.refuse(i, f"+{after}", "it makes a pointer to a function of the lambda; leave the + out")
    if (word == "&&" and before not in ("operator", "const", "volatile") and after not in KEYWORDS
            and code[min(i + 1, len(code) - 1)].kind == "name"
            and not (i and is_operand(file, i - 1) or before == "*" and is_type(file, i - 2))):
        file.refuse(i, f"&&{after}", "nvcc knows no address of a label; leave it out")
    if word in TYPES and after == "(" and w[i + 2] in TYPES and w[i + 3] in (")", ",", "*", "&", "const"):
        file.refuse(i, f"{word} (", "the type of a function: call functions by their names")
    if word == "[" and after == "0" and w[i + 2] == "]" and (w[i - 2] in TYPES or w[i - 2] in file.types):
        file.refuse(i, before, "an array without elements")
    if word == "__shared__":
        check_shared(file, i)


def check_built_in(file, i):
    """nvcc takes no address of threadIdx and the others. A cast to a reference would get around that."""
    w, first = file.words, i - 1
    while w[first] == "(" and first > 0:
        first -= 1
    if w[first] in ("&", "&&") and (
            not is_operand(file, first - 1) or w[first - 1] == ")" and is_cast(file, first - 1)):
        file.refuse(i, f"{w[first]}{w[i]}", "a built-in variable has no address; copy it into a variable")
    cast = w[i - 1] == ")" and is_cast(file, i - 1) and w[i - 2] in ("&", "&&")
    if cast or w[i - 1] == "(" and w[i - 2] == ">" and w[i - 3] in ("&", "&&"):
        file.refuse(i, w[i], "a built-in variable cannot be written, so a cast makes no reference of it; copy it "
                             "into a variable")


def is_cast(file, i):
    """Whether the ) at i closes a type."""
    first = file.partner[i]
    return first + 1 < i and all(is_type(file, j) or file.words[j] in ("&", "&&", "volatile", "unsigned", "::")
                                 for j in range(max(first + 1, i - 32), i))


def declares(file, i):
    """Whether a parameter stands at i, and no expression."""
    w = file.words
    i += w[i] == "const"
    return (w[i] in TYPES or w[i] in file.types) and (w[i + 1] in (")", ",", "*", "&", "const")
                                                      or file.code[min(i + 1, len(file.code) - 1)].kind == "name")


def check_shared(file, i):
    """nvcc's rules for shared arrays."""
    end, reference, bracket = file.shared[i]
    if file.words[end] != ";":
        file.refuse(i, "__shared__", "shared memory begins without values; assign them in the kernel, then wait at a "
                                     "barrier")
    if reference < min(end, bracket):
        file.refuse(i, "__shared__", "a reference cannot be shared")
    if file.count(("constexpr",), i, end):
        file.refuse(i, "__shared__", "shared memory is not constant, because kernels write it; leave constexpr out")


def check_call(file, i, name):
    """A function's name must be followed by its arguments; it is not a value."""
    w = file.words
    j = i + 1
    if w[j] == "<":
        j = file.angle(j) or j
    if w[j] not in ("(", "<<<", "::"):
        file.refuse(i, name, "a function can be called or launched, but is no value; if this is a variable, rename it")


def check_functions(file):
    device, host, kernels = set(), set(), set()
    for f in file.functions:
        if "__global__" in f.words:
            kernels.add(f.name)
            if "void" not in f.words or f.words & {"__device__", "__host__"}:
                yield fault(file, f.place, "a kernel must be `__global__ void`")
            if "&" in file.words[f.parameters[0]:f.parameters[1]]:
                yield fault(file, f.place, "a kernel's parameters are copied to the GPU, so none is a reference; pass "
                                           "a value or a pointer")
        elif "__device__" in f.words:
            device.add(f.name)
        if "__host__" in f.words or not f.words & {"__device__", "__global__"}:
            host.add(f.name)
    sides = host - device - kernels, device - host - kernels, kernels - device - host
    for f in file.functions:
        if f.body:
            yield from check_body(file, range(f.parameters[0], f.body[1]), f, *sides)


def fault(file, i, why):
    return Refused(f"line {file.line(i)}: {shortened(file.words[i])}: {why}", file.line(i), i)


@each
def check_body(file, i, f, host_only, device_only, kernels):
    w = file.words
    on_device = bool(f.words & {"__device__", "__global__"})
    on_host = "__host__" in f.words or not on_device
    word, after = w[i], w[i + 1]
    member = w[i - 1] in (".", "->")
    called = after == "(" or after == "<" and w[file.angle(i + 1) or i] == "("
    if word == "static" and not {"constexpr", "__shared__"} & {after, w[i - 1]} and not (
            "const" in (after, w[i - 1]) and "constexpr" in (w[i - 2], w[i + 2])):
        file.refuse(i, "static", "a kernel keeps nothing between launches; write static constexpr, or leave "
                               "static out")
    if on_device:
        if word in host_only and called and not member:
            file.refuse(i, word, f"{f.name} calls this function on the GPU, but __device__ is missing in front of "
                                 "it; add it")
        if word in kernels and (called or after == "<<<"):
            file.refuse(i, word, "a kernel cannot call or launch a kernel; launch it from the host")
        if word in file.tables and not member:
            file.refuse(i, word, "an array outside functions belongs to the host; write __constant__ in front of "
                               "it, or move it into the kernel")
        if word == "<<<":
            file.refuse(i, "<<<", "a kernel cannot launch kernels; launch them from the host")
    if on_host:
        if word in kernels and called:
            file.refuse(i, word, "a kernel is launched, not called; write kernel<<<grid, block>>>(...)")
        if word in device_only and called and not member:
            file.refuse(i, word, "a __device__ function runs on the GPU, so the host cannot call it; leave the "
                               "call out")
    if on_host:
        # The initial values of members stand in front of a constructor's body.
        inside = i > f.body[0] or w[f.parameters[1] + 1] == ":" and i > f.parameters[1]
        if not on_device and (word in DEVICE or word == "__shared__"):
            file.refuse(i, word, f"only kernels and __device__ functions have it, and {f.name} is host code; is "
                               "__device__ missing?")
        if inside and touches_memory(file, i):
            file.refuse(i, word, f"{f.name} is host code, which computes grids and launches kernels, and touches "
                               "no memory. " + ("Leave __host__ out." if on_device else "Is __device__ missing?"))
    if word == "<<<":
        j = i - 1
        if w[j] in (">", ">>"):
            j = file.fronts[j]
        if w[j] not in kernels:
            file.refuse(i, w[j], "only a kernel of this file can be launched; declare it __global__ void")


def is_type(file, i):
    return (file.words[i] in TYPES or file.words[i] in file.types
            or file.words[i] in ("const", "*", ">", "__restrict__", "__restrict"))


def unary(file, i):
    """Whether the * or & at i has no operand on its left: it reads through a pointer, takes an address, or declares one
    of them."""
    w, before = file.words, i - 1
    if w[before] == "}":
        return True
    if w[before] == ")":
        first = file.partner[before]
        if w[first - 1] in ("if", "while", "for", "switch"):
            return True
        return (w[first - 1] not in ("sizeof", "alignof") and first + 1 < before
                and all(is_type(file, j) for j in range(first + 1, before)))
    if w[before] in (">", ">>"):
        return w[file.fronts[before]] not in file.templates
    return not is_operand(file, before) or is_type(file, before)


def touches_memory(file, i):
    word = file.words[i]
    return word in ("[", "->", "reinterpret_cast", "volatile") or word in ("*", "&", "&&") and unary(file, i)


def is_lambda(file, i):
    """Whether the [ ] at i begins a lambda without captures. Else it is an array, or part of `operator[]`."""
    w = file.words
    if w[i] != "[" or w[i + 1] != "]" or i and w[i - 1] == "operator":
        return False
    if w[i + 2] == "{":
        return not i or file.code[i - 1].kind != "name" or w[i - 1] in KEYWORDS
    return w[i + 2] in ("(", "<", "->", "mutable", "noexcept", "constexpr", "__device__", "__host__")


# ---- All of it -------------------------------------------------------------------------------------------------

def written(file):
    """The text that is compiled: the same lines, with prefixed names."""
    produced = set()  # the words of a KERNEL for what it produces
    for _, product, close in file.kernels:
        for i in range(file.partner[close], close):
            if file.words[i] == product.split("(")[0]:
                produced.add(i)
    lines, names = {}, {}
    for i, token in enumerate(file.code):
        text = token.text
        if token.kind == "name" and text not in file.known and i not in produced:
            text = own(text)
            if names.setdefault(text, token.text) != token.text:
                file.refuse(i, token.text, f"it is too similar to {names[text]}; choose another name")
        elif i in file.constants:
            text = "constexpr"
        elif is_lambda(file, i):
            # With a capture, it cannot become a pointer to a function. The file has no name for this one.
            text = f"[ {OWN} = 0"
        lines.setdefault(token.line, []).append(text)
    return "".join(" ".join(lines.get(line, [])) + "\n" for line in range(1, max(lines, default=0) + 1))


def read(data, produces=(), kernel=None, given=NOTHING):
    """The submission, given as the bytes of a file, made ready to compile. Each line of Refused has the line of the
    file, the text in question and the reason."""
    text, splices = text_of(data)
    lexical, reasons = Reasons(), Reasons()
    try:
        tokens = tokens_of(text, splices, lexical)
        preprocessor = Preprocessor(reasons)
        try:
            code = normalised(preprocessor.run(tokens))
        finally:
            reasons.found += [(line, why) for line, why in lexical.found if line not in preprocessor.skipped]
            reasons.closed = {line for line, _ in reasons.found}  # their tokens are not what was meant
        doubtful = bool(preprocessor.faulty or lexical.found)
        if not preprocessor.included and not reasons.found:
            reasons.add(Refused(f"line 1: #include: the file lacks it; write #include {STEP}", 1))
        file = File(code, given, reasons, doubtful)
        check(file, set(produces), kernel)
        reasons.end()
        return Read(written(file), [(name, product) for name, product, _ in file.kernels])
    except TooMuch as refused:
        reasons.add(refused)
    except RecursionError:
        reasons.add(Refused("the file is nested too deeply; simplify it"))
    reasons.end()


def serve(request):
    """Reads a file for another process, and prints {text, kernels} or {refused} in JSON."""
    with open(request["file"], "rb") as file:
        data = file.read()
    try:
        found = read(data, request["produces"], request["kernel"], Given(*map(frozenset, request["given"])))
        answer = {"text": found.text, "kernels": found.kernels}
    except Refused as refused:
        answer = {"refused": str(refused)}
    sys.stdout.write(json.dumps(answer))


def plain(text):
    """A message of a compiler or the simulator, with the names of the file."""
    def named(match):
        return re.sub(r"_u([0-9a-f]{2,5})_", lambda m: chr(int(m[1], 16)), match[1])
    return re.sub(rf"(?<![\w/.]){OWN}(\w+)", named, text)


def table():
    rows = [f"| {name} | {why} | {instead} |" for _, name, why, instead in REFUSED]
    return "\n".join(["| refused | why | instead |", "|---|---|---|", *rows])


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
    import command_line
    command_line.parser(__doc__).parse_args()
    print(table())
