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

REFUSED lists what is refused, why, and what to write instead. python3 lab/source.py prints it as the table of
lab/CUDA.md.
"""

import re
from dataclasses import dataclass, field

OWN = "own_"
MOST_BYTES, MOST_TOKENS = 1 << 16, 1 << 17
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

# (the pattern, the name in the table, why it is refused, what to write instead)
ALWAYS = set("asm goto new delete try catch throw virtual dynamic_cast const_cast typeid friend decltype register "
             "thread_local wchar_t char16_t char32_t export".split())
REFUSED = [
    (r"std", "`std::`", "the C++ library is host code", "`min`, `max` and `abs`, which need no `std::`; loops"),
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
    (?P<character>'(?:[^'\\\n]|\\.)') | (?P<name>[A-Za-z_][A-Za-z_0-9]*) |
    (?P<sign><<<|>>>|<<=|>>=|\.\.\.|\+\+|--|->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|[-+*/%&|^<>=!~?:;,.(){}\[\]\#])
""", re.VERBOSE | re.DOTALL)
OPENS, CLOSES = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


class Refused(Exception):
    pass


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


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    line: int
    tight: bool = False  # no space in front of it


@dataclass
class Function:
    name: str
    inside: str         # the struct whose member it is
    words: set          # of its head: __global__, constexpr, ...
    line: int
    parameters: tuple   # (first, last) token
    body: tuple = None  # of its braces; None: declared, not defined


@dataclass
class Read:
    """A submission as it is compiled."""
    text: str                                        # one line for each of the file's
    kernels: list = field(default_factory=list)      # [(name, what it produces)] of its KERNEL lines


def refuse(line, what, why):
    raise Refused(f"line {line}: {what}: {why}")


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


def tokens_of(text, splices):
    """Every token, and an empty one of kind `line` at the end of each line."""
    place, behind, line, found, splices = 0, 0, 1, [], [*splices, len(text) + 1]
    while place < len(text):
        while splices[0] <= place:
            splices.pop(0)
            line += 1
        match = TOKEN.match(text, place)
        if not match or text.startswith("/*", place) and match.lastgroup != "comment":
            what = text[place]
            refuse(
                line, "a comment without an end" if text.startswith("/*", place) else f"{what!a}", {
                    '"': "close the string on the same line", "'": "a character is one between two '",
                    "/": "write */ at its end"}.get(what, "no such character is allowed outside comments"))
        kind, token = match.lastgroup, match.group()
        if kind == "name" and place == behind and found and found[-1].kind == "number":
            refuse(line, found[-1].text + token, "no number of CUDA C++")
        if kind == "number" and not re.fullmatch(
                r"(0[xX][0-9a-fA-F'.]+([pP][+-]?[0-9]+)?|0[bB][01']+|[0-9'.]+([eE][+-]?[0-9]+)?)[uUlLfF]*", token):
            refuse(line, token, "no number of CUDA C++")
        if kind == "line":
            found.append(Token("line", "", line))
        elif kind not in ("space", "comment"):
            found.append(Token(kind, token, line, place == behind))
            behind = match.end()
        line += token.count("\n")
        place = match.end()
    return [*found, Token("line", "", line)]


# ---- The preprocessor's part -----------------------------------------------------------------------------------

def preprocessed(tokens):
    """The tokens without directives, macros replaced. `#pragma unroll` stays, as a token of kind `pragma`."""
    macros, code, included, i = {}, [], False, 0
    budget = [MOST_TOKENS]
    while i < len(tokens):
        end = next(j for j in range(i, len(tokens)) if tokens[j].kind == "line")
        if tokens[i].text == "#":
            included |= directive(tokens[i + 1:end], tokens[i].line, macros, code, budget)
            i = end + 1
            continue
        # Everything up to the next directive, because a macro's arguments may span lines.
        end = next(
            (j for j in range(i, len(tokens)) if tokens[j].text == "#" and (j == 0 or tokens[j - 1].kind == "line")),
            len(tokens))
        code += expanded([t for t in tokens[i:end] if t.kind != "line"], macros, frozenset(), budget)
        i = end
    if not included:
        refuse(1, "#include", f"the file lacks it; write #include {STEP}")
    return code


def directive(words, line, macros, code, budget):
    """Takes a line that begins with #. True if it includes the steps' header."""
    texts = [t.text for t in words]
    if not texts:
        return False
    if texts[0] == "include":
        name = "".join(texts[1:])
        if name not in INCLUDES:
            refuse(line, f"#include {name}",
                   f"include only {STEP}; {', '.join(INCLUDES[1:])} are also allowed, but not "
                   "needed")
        return name == STEP
    if texts[0] == "pragma" and texts[1:2] == ["unroll"]:
        count = expanded(words[2:], macros, frozenset(), budget)
        for token in count:
            if token.kind not in ("name", "number") and token.text not in ("(", ")", "+", "-", "*", "/"):
                refuse(line, f"#pragma unroll {token.text}", "write a number after unroll")
        code.append(
            Token(
                "pragma", "#pragma unroll " +
                " ".join(t.text if t.text in WORDS or t.kind != "name" else OWN + t.text for t in count), line))
        return False
    if texts[0] == "pragma" and texts[1:] == ["once"]:
        return False
    if texts[0] == "undef" and len(texts) == 2:
        macros.pop(texts[1], None)
        return False
    if texts[0] != "define" or len(words) < 2 or words[1].kind != "name":
        refuse(line, f"#{texts[0]}", "use only #include, #define, #undef and #pragma unroll")
    if "#" in texts[2:]:
        refuse(line, "#", "a macro cannot make strings or names of its arguments; write them out")
    name, parameters, body = texts[1], None, words[2:]
    if texts[2:3] == ["("] and words[2].tight:
        close = texts.index(")") if ")" in texts else refuse(line, name, "the macro's parameters lack a )")
        parameters, body = [t for t in texts[3:close] if t != ","], words[close + 1:]
        if not all(re.fullmatch(r"[A-Za-z_]\w*", p) for p in parameters):
            refuse(line, name, "a macro's parameters are names")
    if (parameters is None and len(body) > 1 and body[-1].text == ";"
            and (body[0].kind == "number" or body[0].text in "(-")):
        refuse(line, f"#define {name}", f"the ; at its end is put wherever {name} stands; leave the ; out")
    macros[name] = parameters, body
    return False


def expanded(tokens, macros, hidden, budget):
    out, i = [], 0
    while i < len(tokens):
        token = tokens[i]
        budget[0] -= 1
        if budget[0] < 0:
            refuse(token.line, token.text, "the macros expand to too much code; write less of it as macros")
        i += 1
        if token.kind != "name" or token.text not in macros or token.text in hidden:
            out.append(token)
            continue
        parameters, body = macros[token.text]
        arguments = {}
        if parameters is not None:
            if i >= len(tokens) or tokens[i].text != "(":
                out.append(token)
                continue
            depth, given = 0, [[]]
            for j in range(i, len(tokens)):
                text = tokens[j].text
                depth += (text in OPENS) - (text in CLOSES)
                if depth == 0:
                    break
                if text == "," and depth == 1:
                    given.append([])
                elif j > i:
                    given[-1].append(tokens[j])
            else:
                refuse(token.line, token.text, "the macro's arguments lack a )")
            i = j + 1
            if len(given) != len(parameters) and not (given == [[]] and not parameters):
                refuse(token.line, token.text,
                       f"the macro takes {len(parameters)} arguments, and this use has {len(given)}")
            arguments = {p: expanded(g, macros, hidden, budget) for p, g in zip(parameters, given)}
        new = []
        for part in body:
            new += [
                Token(t.kind, t.text, token.line) for t in (arguments[part.text] if part.text in arguments else [part])]
        out += expanded(new, macros, hidden | {token.text}, budget)
    return out


# ---- What the file declares ------------------------------------------------------------------------------------

class File:
    """The functions of a file, and what stands outside of them."""

    def __init__(self, code, given=NOTHING):
        self.code = code
        self.given, self.known = given, WORDS | given.words
        self.words = [t.text for t in code] + [""] * 4
        self.partner = self.brackets()
        self.functions, self.kernels = [], []
        # templates: of variables; tables: arrays outside functions
        self.types, self.templates, self.tables = set(given.types), set(), set()
        self.constants = []  # places of `const` outside functions
        self.scope(0, len(code), "")

    def line(self, i):
        return self.code[min(i, len(self.code) - 1)].line if self.code else 1

    def brackets(self):
        partner, opened = {}, []
        for i, token in enumerate(self.code):
            if token.kind == "sign" and token.text in OPENS:
                opened.append(i)
            elif token.kind == "sign" and token.text in CLOSES:
                if not opened or self.words[opened[-1]] == "{" and token.text != "}":
                    refuse(token.line, token.text, "it closes nothing; is there one too many?")
                first = opened.pop()
                if OPENS[self.words[first]] != token.text:
                    refuse(self.line(first), self.words[first],
                           f"not closed before the {token.text} of line {token.line}")
                partner[first], partner[i] = i, first
        if opened:
            refuse(self.line(opened[-1]), self.words[opened[-1]], "not closed anywhere; close it")
        return partner

    def angle(self, i):
        """The place behind the > that closes the < at i, or None where it closes nothing."""
        depth = 0
        while i < len(self.code):
            word = self.words[i]
            if word in OPENS:
                i = self.partner[i]
            elif word in CLOSES or word == ";":
                return None
            else:
                depth += (word == "<") - {">": 1, ">>": 2, ">>>": 3}.get(word, 0)
                if depth <= 0:
                    return i + 1
            i += 1
        return None

    def scope(self, i, end, inside):
        """Declarations of a namespace, or of the struct `inside`."""
        while i < end:
            word = self.words[i]
            if word in (";",) or self.code[i].kind == "pragma":
                i += 1
            elif inside and word in ("public", "private", "protected"):
                i += 2
            elif word == "namespace":
                brace = next((j for j in range(i, end) if self.words[j] in ("{", ";", "=")), end)
                if self.words[brace] != "{":
                    refuse(self.line(i), "namespace", "expected `namespace name { ... }`")
                self.scope(brace + 1, self.partner[brace], "")
                i = self.partner[brace] + 1
            elif word == "KERNEL":
                i = self.kernel(i)
            else:
                i = self.declaration(i, end, inside)

    def kernel(self, i):
        w, line = self.words, self.line(i)
        close = self.partner.get(i + 1, i)
        inner = "".join(w[i + 2:close])
        match = re.fullmatch(r'(\w+),"[\w -]*",(\w+(?:\(\w+\))?),(\w+)', inner)
        if not match:
            refuse(line, "KERNEL", "restore the line of the hand-out")
        self.kernels.append((match[1], match[2], close))
        return close + 1

    def declaration(self, start, end, inside):
        w, i = self.words, start
        template = w[i] == "template"
        while w[i] == "template" and i < end:
            after = self.angle(i + 1) if w[i + 1] == "<" else None
            if after is None:
                refuse(self.line(i), "template", "expected < and, after the parameters, >")
            self.types.update(w[j + 1 + (w[j + 1] == "...")] for j in range(i, after) if w[j] in ("typename", "class"))
            i = after
        first, name, parameters, type_ = i, None, None, None
        while i < end:
            word = w[i]
            if word == "(":
                before = w[i - 1]
                if parameters is None and i > first and (before == "operator" and w[i + 2] == "(" or before in (
                    "__launch_bounds__", "alignas", "__align__", "noexcept", "explicit", "static_assert")):
                    i = self.partner[i] + 1 if before != "operator" else i + 2
                    continue
                if parameters is None and "=" not in w[first:i]:
                    parameters, name = (i, self.partner[i]), i - 1
                i = self.partner[i] + 1
            elif word == "[":
                i = self.partner[i] + 1
            elif word == ";":
                break
            elif word == "{":
                head = w[first:i]
                if "=" not in head and parameters is None and (
                    type_ := next((t for t in ("enum", "struct", "class", "union") if t in head), None)):
                    close = self.partner[i]
                    names = self.names(first, i)
                    self.types.update(names[:1])
                    if type_ != "enum":
                        self.scope(i + 1, close, names[0] if names else "?")
                    if w[close + 1] != ";":
                        refuse(self.line(close), w[close + 1] or "}",
                               f"the {type_} ends with }}; (variables are declared in functions)")
                    return close + 2
                if parameters is not None and "=" not in w[parameters[1]:i]:
                    self.add(first, name, parameters, (i, self.partner[i]), inside)
                    return self.partner[i] + 1
                i = self.partner[i] + 1
            else:
                i += 1
        else:
            refuse(self.line(start), w[start], "expected a ; after this declaration")
        if template and parameters is None and "using" not in w[first:i]:
            self.templates.update(self.names(first, next((j for j in range(first, i) if w[j] in ("=", "{")), i))[-1:])
        self.statement(first, i, name, parameters, inside)
        return i + 1

    def names(self, i, end):
        """The file's own names from i to `end`, but for those in brackets."""
        found = []
        while i < end:
            if self.code[i].kind == "name" and self.words[i] not in self.known:
                found.append(self.words[i])
            i = self.partner[i] + 1 if self.words[i] in OPENS else i + 1
        return found

    def statement(self, first, end, name, parameters, inside):
        """A declaration that ends with ; and has no body."""
        w = self.words
        head = w[first:end]
        if not head or head[0] in ("static_assert", "using", "struct", "class", "union", "enum", "typedef"):
            if head and head[0] in ("using", "typedef"):
                if "(" in head:
                    refuse(self.line(first), head[0], "the type of a function: call functions by their names")
                names = [x for x in head if re.fullmatch(r"[A-Za-z_]\w*", x) and x not in self.known]
                self.types.update(names[:1] if head[0] == "using" else names[-1:])
            return
        constant = "constexpr" in head or "const" in head and "=" in head
        if parameters is not None and not constant and "=" not in head:
            return self.add(first, name, parameters, None, inside)
        if inside and "static" not in head:
            return  # a member of a struct
        if not constant and "__constant__" not in head:
            refuse(
                self.line(first), " ".join(head[-3:]),
                "no variables are allowed outside functions, because a kernel keeps nothing "
                "between launches; write constexpr, or move it into a function")
        if "__constant__" in head and "=" not in head and "{" not in head:
            refuse(self.line(first), "__constant__",
                   "it has no values; write them here, because the host cannot copy to it")
        if "const" in head and "constexpr" not in head and "__constant__" not in head:
            # In `const T* p`, `const` belongs to the element, not to the pointer.
            if "*" in head[:head.index("=")] or "&" in head[:head.index("=")]:
                refuse(self.line(first), " ".join(head[:4]), "a pointer or a reference outside functions")
            self.constants.append(first + head.index("const"))
        equal = next((j for j in range(first, end) if w[j] in ("=", "{", "[")), end)
        if w[equal] == "[" and not SPACES & set(head):
            self.tables.add(w[equal - 1])

    def add(self, first, name, parameters, body, inside):
        w = self.words
        words = set(w[first:parameters[0]])
        if self.code[name].kind != "name" and "operator" not in words:
            refuse(self.line(name), w[name], "expected a function's name")
        if "operator" in words:
            at = next(j for j in range(first, parameters[0]) if w[j] == "operator")
            if w[at + 1] in ("new", "delete", "&", "->", ",") or self.code[at + 1].kind == "string":
                refuse(self.line(at), f"operator {w[at + 1]}", "such an operator hides accesses; write a function")
        self.functions.append(
            Function("operator" if "operator" in words else w[name], inside, words & (SPACES | {"constexpr", "void"}),
                     self.line(name), parameters, body))


# ---- The rules -------------------------------------------------------------------------------------------------

def check(file, produces, kernel):
    check_words(file)
    check_functions(file)
    for name, product, _ in file.kernels:
        if produces and product not in produces:
            refuse(file.line(file.kernels[0][2]), f"KERNEL({name}, ...)",
                   f"expected {' or '.join(sorted(produces))}, as it was handed out")
    if kernel and kernel not in [name for name, _, _ in file.kernels]:
        raise Refused(f"no KERNEL({kernel}, ...), the kernel that is graded; restore the line of the hand-out")


def is_operand(file, i):
    """Whether words[i] ends an operand. The operator that follows is then not unary."""
    kind, word = file.code[i].kind, file.words[i]
    return (kind in ("number", "character", "string") or word in (")", "]", "}", ">")
            or kind == "name" and word not in KEYWORDS - {"true", "false", "this", "nullptr"})


def check_words(file):
    w, code = file.words, file.code
    registered = {i for _, _, close in file.kernels for i in range(file.partner[close] - 1, close)}
    functions = {f.name for f in file.functions if f.name != f.inside} | file.given.functions
    parameters = {f.parameters[0] for f in file.functions}
    for f in file.functions:
        if f.name in file.types and f.name != f.inside:
            refuse(f.line, f.name, "a type has the same name; choose another one")
        if f.name in file.given.words:
            refuse(f.line, f.name, "common/step.h declares it; choose another name")
    for i, token in enumerate(code):
        kind, word, line = token.kind, token.text, token.line
        before, after = w[i - 1] if i else "", w[i + 1]
        if kind == "string" and i not in registered and not (before == "," and "static_assert" in w[max(0, i - 64):i]):
            refuse(line, word[:20], "no string is allowed except in KERNEL and static_assert; leave it out")
        if kind == "name" and word not in file.known and i not in registered:
            for pattern, _, why, instead in REFUSED:
                if re.fullmatch(pattern, word) and (word in ALWAYS or not declared(file, word)):
                    refuse(line, word, f"{why}; instead: {instead.replace('`', '')}")
        if (kind == "name" and word in functions and word not in WORDS and i not in registered
                and before not in (".", "->")):
            check_call(file, i, word)
        if word in file.given.words and before in ("struct", "class", "union", "enum", "namespace", "using"):
            refuse(line, word, "common/step.h declares it; choose another name")
        if word == "::" and (i == 0 or code[i - 1].kind != "name" and before not in (">", ">>") or before in KEYWORDS):
            refuse(line, ":: " + after, "nothing outside this file is needed")
        if word == "[" and after == "[" and file.partner[i] == file.partner[i + 1] + 1:
            refuse(line, "[[", "attributes are not supported; leave it out")
        if word == "extern" and after != "__shared__":
            refuse(line, "extern", "only extern __shared__ is allowed")
        if word == "operator" and after in ("new", "delete"):
            refuse(line, "operator", "the harness manages memory; leave it out")
        if word == "(" and after in ("*", "&", "&&") and w[file.partner[i] + 1] == "(":
            refuse(line, f"({after}{w[i + 2]})(", "a pointer to a function; call functions by their names")
        if (word == "(" and i not in parameters and i and code[i - 1].kind == "name" and before not in WORDS
                and declares(file, i + 1)):
            refuse(line, before, "a function inside a function; declare it outside, and call it by its name")
        if (word == "::" and after == "*"
                or word == "&" and code[min(i + 1, len(code) - 1)].kind == "name" and w[i + 2] == "::"):
            refuse(line, word + after, "a pointer to a member")
        if word == "+" and (i == 0 or not is_operand(file, i - 1)) and code[min(i + 1, len(code) - 1)].kind != "number":
            refuse(line, f"+{after}", "this + has no effect; leave it out")
        if word in TYPES and after == "(" and w[i + 2] in TYPES and w[i + 3] in (")", ",", "*", "&", "const"):
            refuse(line, f"{word} (", "the type of a function: call functions by their names")
        if word == "[" and after == "0" and w[i + 2] == "]" and (w[i - 2] in TYPES or w[i - 2] in file.types):
            refuse(line, before, "an array without elements")
        if word == "__shared__":
            check_shared(file, i)


def declared(file, word):
    """Whether the file declares this name. Then it is not a name of C++ or CUDA."""
    return any(
        file.words[i] == word and i and file.words[i + 1] != "::" and
        (is_type(file, i - 1) or file.words[i - 1] in ("struct", "class", "enum", "namespace", "using", "typename"))
        for i in range(len(file.code)))


def declares(file, i):
    """Whether a parameter stands at i, and no expression."""
    w = file.words
    i += w[i] == "const"
    return (w[i] in TYPES or w[i] in file.types) and (w[i + 1] in (")", ",", "*", "&", "const")
                                                      or file.code[min(i + 1, len(file.code) - 1)].kind == "name")


def check_shared(file, i):
    """nvcc's rules for shared arrays."""
    w = file.words
    end = next((j for j in range(i, len(file.code)) if w[j] in (";", "=", "{")), len(file.code) - 1)
    if w[end] != ";":
        refuse(file.line(i), "__shared__",
               "shared memory begins without values; assign them in the kernel, then wait at a "
               "barrier")
    if "&" in w[i:end] and "[" not in w[i:w.index("&", i)]:
        refuse(file.line(i), "__shared__", "a reference cannot be shared")
    if "constexpr" in w[i:end]:
        refuse(file.line(i), "__shared__",
               "shared memory is not constant, because kernels write it; leave constexpr out")


def check_call(file, i, name):
    """A function's name must be followed by its arguments; it is not a value."""
    w = file.words
    j = i + 1
    if w[j] == "<":
        j = file.angle(j) or j
    if w[j] not in ("(", "<<<", "::"):
        refuse(file.line(i), name, "a function can be called or launched, but is no value; if this is a variable, "
                                   "rename it")


def check_functions(file):
    device, host, kernels = set(), set(), set()
    for f in file.functions:
        if "__global__" in f.words:
            kernels.add(f.name)
            if "void" not in f.words or f.words & {"__device__", "__host__"}:
                refuse(f.line, f.name, "a kernel must be `__global__ void`")
            if "&" in file.words[f.parameters[0]:f.parameters[1]]:
                refuse(f.line, f.name, "a kernel's parameters are copied to the GPU, so none is a reference; pass "
                                       "a value or a pointer")
        elif "__device__" in f.words:
            device.add(f.name)
        if "__host__" in f.words or not f.words & {"__device__", "__global__"}:
            host.add(f.name)
    sides = host - device - kernels, device - host - kernels, kernels - device - host
    for f in file.functions:
        if f.body:
            check_body(file, f, *sides)


def check_body(file, f, host_only, device_only, kernels):
    w, code = file.words, file.code
    on_device = bool(f.words & {"__device__", "__global__"})
    on_host = "__host__" in f.words or not on_device
    first = f.parameters[0]
    for i in range(first, f.body[1]):
        word, line, after = w[i], code[i].line, w[i + 1]
        member = w[i - 1] in (".", "->")
        called = after == "(" or after == "<" and w[file.angle(i + 1) or i] == "("
        if word == "static" and after not in ("constexpr", "__shared__"):
            refuse(line, "static", "a kernel keeps nothing between launches; write static constexpr, or leave "
                                   "static out")
        if on_device:
            if word in host_only and called and not member:
                refuse(line, word, f"{f.name} calls this function on the GPU, but __device__ is missing in front of "
                                   "it; add it")
            if word in kernels and (called or after == "<<<"):
                refuse(line, word, "a kernel cannot call or launch a kernel; launch it from the host")
            if word in file.tables and not member:
                refuse(line, word, "an array outside functions belongs to the host; write __constant__ in front of "
                                   "it, or move it into the kernel")
            if word == "<<<":
                refuse(line, "<<<", "a kernel cannot launch kernels; launch them from the host")
        if on_host:
            if word in kernels and called:
                refuse(line, word, "a kernel is launched, not called; write kernel<<<grid, block>>>(...)")
            if word in device_only and called and not member:
                refuse(line, word, "a __device__ function runs on the GPU, so the host cannot call it; leave the "
                                   "call out")
        if on_host:
            if not on_device and (word in DEVICE or word == "__shared__"):
                refuse(line, word, f"only kernels and __device__ functions have it, and {f.name} is host code; is "
                                   "__device__ missing?")
            if i > f.body[0] and (word in ("[", "->", "reinterpret_cast", "volatile") or
                                  word in ("*", "&", "&&") and unary(file, i)):
                refuse(line, word, f"{f.name} is host code, which computes grids and launches kernels, and touches "
                                   "no memory. " + ("Leave __host__ out." if on_device else "Is __device__ missing?"))
        if word == "<<<":
            j = i - 1
            if w[j] in (">", ">>"):
                j = behind_angle(file, j)
            if w[j] not in kernels:
                refuse(line, w[j], "only a kernel of this file can be launched; declare it __global__ void")


def is_type(file, i):
    return (file.words[i] in TYPES or file.words[i] in file.types
            or file.words[i] in ("const", "*", ">", "__restrict__", "__restrict"))


def behind_angle(file, i):
    """The place in front of the < that the > at i closes."""
    depth = 0
    while i >= 0:
        depth += {">": 1, ">>": 2}.get(file.words[i], 0) - (file.words[i] == "<")
        i -= 1
        if depth == 0 or file.words[i + 1] in (";", "{", "}"):
            break
    return i


def unary(file, i):
    """Whether the * or & at i has no operand on its left: it reads through a pointer, takes an address, or declares one
    of them."""
    w, before = file.words, i - 1
    if w[before] == ")":
        first = file.partner[before]
        return (w[first - 1] not in ("sizeof", "alignof") and first + 1 < before
                and all(is_type(file, j) for j in range(first + 1, before)))
    if w[before] in (">", ">>"):
        return w[behind_angle(file, before)] not in file.templates
    return not is_operand(file, before) or is_type(file, before)


# ---- All of it -------------------------------------------------------------------------------------------------

def written(file):
    """The text that is compiled: the same lines, with prefixed names."""
    produced = set()  # the words of a KERNEL for what it produces
    for _, product, close in file.kernels:
        for i in range(file.partner[close], close):
            if file.words[i] == product.split("(")[0]:
                produced.add(i)
    lines = {}
    for i, token in enumerate(file.code):
        text = token.text
        if token.kind == "name" and text not in file.known and i not in produced:
            text = OWN + text
        lines.setdefault(token.line, []).append("constexpr" if i in file.constants else text)
    return "".join(" ".join(lines.get(line, [])) + "\n" for line in range(1, max(lines, default=0) + 1))


def read(data, produces=(), kernel=None, given=NOTHING):
    """The submission, given as the bytes of a file, made ready to compile. Refused has the line, the text in question
    and the reason."""
    text, splices = text_of(data)
    tokens = tokens_of(text, splices)
    try:
        file = File(preprocessed(tokens), given)
        check(file, set(produces), kernel)
    except RecursionError:
        raise Refused("the file is nested too deeply; simplify it") from None
    return Read(written(file), [(name, product) for name, product, _ in file.kernels])


def plain(text):
    """A message of a compiler or the simulator, with the names of the file."""
    return re.sub(rf"(?<![\w/.]){OWN}(?=\w)", "", text)


def table():
    rows = [f"| {name} | {why} | {instead} |" for _, name, why, instead in REFUSED]
    return "\n".join(["| refused | why | instead |", "|---|---|---|", *rows])


if __name__ == "__main__":
    print(table())
