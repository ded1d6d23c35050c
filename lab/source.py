r"""What a submission may say: a small part of CUDA C++, in which kernels are written and nothing else.

check(text, foreign, produces, kernel) returns '' or one line with the reason of the refusal. It works on tokens, before any
compiler sees the text (whose lines end in \n alone), and allows rather than forbids:

 - no preprocessor line but the one #include and #pragma unroll; no attributes, other spellings, continued lines;
 - no string but the second argument of KERNEL, no `::`, no name that begins with _ but CUDA's own;
 - keywords, types and names of common/step.h from a list. Any other name must be the file's own: one that no header
   has at its top level, so that what it stands for can only have been declared in the file (or does not compile);
 - every element that kernels share is a T, or a vector of them (struct alignas(16) NAME { T element[N]; }, float4): no variables
   outside functions, no `static`, no other type in __shared__, in an array or behind a pointer, no cast to another pointer.

python3 lab/source.py STEP.ii prints the names that are not a submission's own: of common/step.h after g++ -E -dD.
"""

import re
import sys

INCLUDE = '"../common/step.h"'
VECTORS = set("float2 float4 double2 int2 int4 uint2 uint4".split())  # CUDA's own
PLAIN = set("void bool char short int long unsigned signed float double auto size_t uint dim3 uint3 int8_t int16_t int32_t int64_t "
            "uint8_t uint16_t uint32_t uint64_t uintptr_t".split())
WORDS = PLAIN | VECTORS | {f"make_{name}" for name in VECTORS} | set("""
    if else for while do break continue return switch case default sizeof static_assert true false
    const constexpr static inline template typename class struct nullptr static_cast reinterpret_cast
    and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq
    __global__ __device__ __host__ __shared__ __launch_bounds__ __restrict__ __ldg __syncthreads
    threadIdx blockIdx blockDim gridDim warpSize KERNEL x y z w""".split()) - {"class", "struct", "uintptr_t"}
KEYWORDS = set("""
    alignas alignof asm catch class co_await co_return co_yield concept const_cast consteval constinit decltype delete dynamic_cast enum
    explicit export extern final friend goto mutable namespace new noexcept operator override private protected public register
    requires struct this thread_local throw try typedef typeid typeof union using virtual volatile wchar_t char8_t char16_t char32_t
    main import module""".split())
# At the top level of headers, and harmless: functions of numbers, and what can be reached by no path from here. People use them as names.
HARMLESS = set("""index rindex y0 y1 yn j0 j1 jn div abs min max round floor ceil trunc remainder sqrt fabs fmin fmax fma dot gamma tm step value
    values data size first last count left right element elements pitch pattern source kernel lane rank has turn matches stream bytes type string vector
    N T i j""".split())

TOKEN = re.compile(r"""
    (?P<space>[ \t\r\n]+) | (?P<comment>//[^\n]* | /\*.*?\*/) | (?P<string>"[^"\\\n]*") |
    (?P<number>\.?[0-9][0-9A-Za-z_.]*) | (?P<name>[A-Za-z_][A-Za-z_0-9]*) |
    (?P<sign><<< | <<= | >>= | \+\+ | -- | -> | << | >> | <= | >= | == | != | && | \|\| | [-+*/%&|^]= | :: | [-+*/%&|^<>=!~?:;,.(){}\[\]#])
""", re.VERBOSE | re.DOTALL)


class Refused(Exception):
    pass


def tokens(text):
    """(kind, text, line) of everything but spaces and comments; Refused for what is no token here."""
    place, line, found = 0, 1, []
    while place < len(text):
        match = TOKEN.match(text, place)
        if not match:
            raise Refused(f"line {line}: {text[place]!r}: " + ("a kernel here cannot print; the only string is the second argument of KERNEL"
                                                               if text[place] in "\"'" else "no such character outside comments"))
        token = match.group()
        if match.lastgroup not in ("space", "comment"):
            found.append((match.lastgroup, token, line))
        line += token.count("\n")
        place = match.end()
    return found


def check(text, foreign, produces=frozenset({"transposes"}), kernel=None):
    try:
        check_text(text, set(foreign), set(produces), kernel)
        return ""
    except Refused as refused:
        return str(refused)


def check_text(text, foreign, produces, kernel):
    if len(text) > 1 << 16:
        raise Refused(f"the file has {len(text)} characters; no exercise needs more than {1 << 16}")
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\\\s*$", line):
            raise Refused(f"line {number}: '\\' at its end: lines cannot be continued")
        if re.match(r"\s*#.*/\*", line):
            raise Refused(f"line {number}: a comment in a line of the preprocessor")
        if "??" in line:
            raise Refused(f"line {number}: '??': trigraphs are not understood here")
        if re.search(r"[\0-\x08\x0b-\x1f\x7f]", line):
            raise Refused(f"line {number}: a control character" + (": a carriage return that ends no line for all who read it" if "\r" in line else ""))
    all_, code, included = tokens(text), [], False
    while all_:
        kind, token, line = all_.pop(0)
        if token == "#":
            rest = []
            while all_ and all_[0][2] == line:
                rest.append(all_.pop(0)[1])
            if rest == ["include", INCLUDE] and not included and not code:
                included = True
            elif not (rest[:2] == ["pragma", "unroll"] and all(re.fullmatch(r"[0-9]+|\(|\)", word) for word in rest[2:])):
                raise Refused(f"line {line}: #{' '.join(rest)}: the only lines of the preprocessor are one #include {INCLUDE}, at the top, and #pragma unroll")
        else:
            code.append((kind, token, line))
    if not included:
        raise Refused(f"line 1: the file does not #include {INCLUDE}")
    check_brackets(code)
    check_tokens(code, foreign, produces, vectors_of(code))
    check_top_level(code)
    registered = [code[i + 2][1] for i in range(len(code) - 2) if code[i][1] == "KERNEL"]
    if kernel and kernel not in registered:
        raise Refused(f"no KERNEL({kernel}, ...): that is the kernel that counts")


def vectors_of(code):
    """{name: (first token, last token)} of the file's `template <typename T> struct alignas(16) NAME { T element[N], ...; }`."""
    words, found = [token for _, token, _ in code] + [""] * 8, {}

    def behind(opening):
        depth = 0
        for j in range(opening, len(code)):
            depth += (words[j] in "([") - (words[j] in ")]")
            if not depth:
                return j + 1

    def end(j):
        """Of the struct whose { is at j, or 0 if it is another kind of struct."""
        while words[j + 1] == "T":
            separator = ","
            j += 1
            while separator == "," and code[j + 1][0] == "name":
                j += 2
                while words[j] == "[":
                    j = behind(j)
                separator = words[j]
            if separator != ";":
                return 0
        return j + 1 if words[j + 1:j + 3] == ["}", ";"] else 0

    for i in (i for i, word in enumerate(words) if word == "struct"):
        j = behind(i + 2) if words[i + 1:i + 3] == ["alignas", "("] else i + 1
        last = end(j + 1) if words[max(0, i - 5):i] == ["template", "<", "typename", "T", ">"] and words[j + 1] == "{" else 0
        if not last:
            raise Refused(f"line {code[i][2]}: struct: the only one here is a vector: template <typename T> struct alignas(16) NAME {{ T element[N]; }};")
        found[words[j]] = (i, last)
    return found


def check_tokens(code, foreign, produces, vectors):
    words = [token for _, token, _ in code] + [""] * 8
    in_vectors = {i for first, last in vectors.values() for i in range(first, last)}
    counted = {"idata", "odata"}  # names of what is made of T
    names = {whole.split("(")[0] for whole in produces}  # with its argument, only with that one
    for i, (kind, token, line) in enumerate(code):
        def refuse(why, what=token):
            raise Refused(f"line {line}: {what}: {why}")
        before, after = words[i - 1] if i else "", words[i + 1]
        if kind == "string":
            if words[i - 4:i - 2] != ["KERNEL", "("] or before != ",":
                refuse("a string belongs in KERNEL(name, \"row\", ...) and nowhere else")
        elif kind == "name":
            if token in names:
                if words[i - 6:i - 4] != ["KERNEL", "("]:
                    refuse("what a kernel produces is said in KERNEL and nowhere else")
            elif token in KEYWORDS and not (i in in_vectors and token in ("struct", "alignas")):
                refuse("a kernel of this lab needs no such keyword")
            elif token not in WORDS and not (i in in_vectors and token in ("struct", "alignas")):
                if token.startswith(("_", "sim_")) or "__" in token:
                    refuse("names with _ or sim_ at the beginning or __ in them are the compiler's")
                if token == "printf":
                    refuse("a kernel here cannot print")
                if token in foreign and token not in HARMLESS:
                    refuse("not a name that exercises may use; if it is your own, choose another one")
            if type_of_elements(words, i - 1 if before in ("*", "&") else i, vectors):
                counted.add(token)
        elif token == "::":
            refuse("nothing outside this file is needed")
        elif token + after in ("[[", "<:", "<%", "%:", ":>", "%>", "]]") and token + after != "]]":
            refuse("attributes and other spellings of signs are not understood here", token + after)
        if token == "KERNEL" and not (after == "(" and words[i + 3] == "," and code[i + 4][0] == "string" and words[i + 5] == ","
                                      and (words[i + 6] in produces or "".join(words[i + 6:]).split(")")[0] + ")" in produces)):
            refuse(f"expected KERNEL(name, \"row\", {' or '.join(sorted(produces))}, launcher), as it was handed out")
        if token == "template" and after == "<":
            end = i + 2
            while words[end] != ">":
                if words[end] in ("typename", "class") and words[end + 1:end + 2] != ["T"] or words[end] in ("template", "") or \
                        (words[end] == "=" and words[end - 2] == "typename"):
                    refuse("the parameters are `typename T`, the element, and numbers", "template")
                end += 1
        if token == "__shared__" and not (after == "T" and words[i + 2] != "*" or after in VECTORS or after in vectors and words[i + 2:i + 5] == ["<", "T", ">"]):
            refuse("shared memory is of T, or of vectors of T", f"__shared__ {after}")
        if token == "static" and after != "constexpr" and before not in (">", "}", ";", "constexpr"):
            refuse("a kernel keeps nothing between launches")
        if token in PLAIN:
            j = i + 1
            while words[j] in ("const", "__restrict__") or words[j] in PLAIN:
                j += 1
            if words[j] == "*" and token != "auto" and words[j + 1] not in ("(",):
                refuse("pointers are to T, or to vectors of T", f"{token} *")
            if token == "auto" and words[j] == "*":
                refuse("say T*", "auto *")
            while j < len(code) and code[j][0] == "name" and words[j] not in WORDS:  # the variables of a declaration
                if words[j + 1] == "[" and "constexpr" not in words[max(0, i - 3):i]:
                    refuse(f"arrays are of T, not of {token}", words[j])
                depth, j = 0, j + 1
                while words[j] and (depth or words[j] not in (",", ";", ")", "{", "}")):
                    depth += (words[j] in ("(", "[")) - (words[j] in (")", "]"))
                    j += 1
                j += words[j] == ","
            if before == "<" and token not in ("int", "size_t", "unsigned") and words[i - 2] not in ("static_cast", "reinterpret_cast"):
                refuse("the type of a template is T", f"<{token}>")
            if before == "<" and words[i - 2] not in ("static_cast", "reinterpret_cast", "template") and after in (">", ","):
                refuse("the type of a template is T", f"<{token}>")
        if token == "*" and after in (")", ">", ",") and not cast_of_elements(words, i, vectors):
            refuse("a pointer may be cast to T*, to a vector of the file, and to float4* and its kin alone", f"*{after}")
        if token == "&" and after in (")", ">", ",", "*", "&"):
            refuse("no type is needed that ends here", f"&{after}")
        if token == "reinterpret_cast":
            j = words.index(">", i + 1) if ">" in words[i + 1:] else i
            if not any(cast_of_elements(words, k, vectors) for k in (j - 1, j + 1)):
                refuse("a pointer may be cast to T*, to a vector of the file, and to float4* and its kin alone")
        # An address is taken of elements only: with that of a number, any memory could be reached.
        operand_before = i and (code[i - 1][0] in ("name", "number") and before not in ("return", "case", "else", "do") or before in ("]", ">")
                                or before == ")" and words[i - 2] not in ("*", "const", "__restrict__"))
        if token == "&" and not operand_before and after not in counted:
            refuse("an address is taken of idata, odata or other elements of type T", f"&{after}")
        if token == "." and after in ("x", "y", "z") and before in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            if words[i + 2] in ("=", "++", "--") or re.fullmatch(r"[-+*/%&|^]=|<<=|>>=", words[i + 2]) or words[i - 2] in ("++", "--"):
                refuse("CUDA's own variables cannot be written", before)
        if token in ("threadIdx", "blockIdx", "blockDim", "gridDim") and after != "." and not re.fullmatch(r"[,)]", after):
            refuse("read its .x, .y or .z")


def cast_of_elements(words, star, vectors):
    """Whether words[star] is the * of reinterpret_cast<TYPE*> or (TYPE*), where TYPE is T or a vector of them, const or not."""
    length = type_of_elements(words, star, vectors)
    begin = star - length
    begin -= words[begin - 1] == "const"
    return bool(length) and (words[begin - 2:begin] == ["reinterpret_cast", "<"] and words[star + 1] == ">" or words[begin - 1] == "(" and words[star + 1] == ")")


def type_of_elements(words, end, vectors):
    """How many of the words before words[end] are T, float4 and its kin, or NAME<T> of a vector of the file; 0: they are none of these."""
    if end >= 1 and (words[end - 1] == "T" or words[end - 1] in VECTORS):
        return 1
    return 4 if end >= 4 and words[end - 4] in vectors and words[end - 3:end] == ["<", "T", ">"] else 0


def check_brackets(code):
    opened = []
    for _, token, line in code:
        if token in ("(", "[", "{"):
            opened.append((token, line))
        elif token in (")", "]", "}"):
            before, where = opened.pop() if opened else ("", line)
            if before in ("", "{") and token != "}":
                raise Refused(f"line {line}: {token}: nothing is open here that it could close")
            if before + token not in ("()", "[]", "{}"):
                raise Refused(f"line {where}: {before}: not closed before the {token} of line {line}")
    if opened:
        raise Refused(f"line {opened[-1][1]}: {opened[-1][0]}: is never closed")


def check_top_level(code):
    """Outside functions: templates and functions, KERNEL lines, and constants."""
    depth, statement = 0, []
    for i, (_, token, line) in enumerate(code):
        if token in ("(", "[", "{"):
            if depth == 0 and token == "{":
                function = ")" in statement
                if not function and "constexpr" not in statement and "struct" not in statement:
                    raise Refused(f"line {line}: {' '.join(statement[-3:])} {{: outside functions there are constexpr numbers and KERNEL lines only")
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
            if depth == 0 and (token == "}" and (")" in statement or "struct" in statement) or token == ")" and statement[:1] == ["KERNEL"]):
                statement = []
                continue
        if depth == 0 and token == ";":
            if statement and "constexpr" not in statement and statement[0] != "static_assert":
                raise Refused(f"line {line}: {' '.join(statement[-3:])};: outside functions there are constexpr numbers and KERNEL lines only")
            statement = []
        elif depth == 0 or (depth == 1 and token == "("):
            statement.append(token)


def names_of(preprocessed):
    """The macros, and the names that the headers declare outside functions and classes: those of the C++ library's namespaces
    are out of reach, but those of ours are found by their arguments."""
    found, opened, parentheses, ours = set(), [], 0, False  # opened: for each open brace whether it is that of a namespace
    angles, statement = 0, []                               # angles: open < of a template's parameters
    for line in preprocessed.split("\n"):
        if line.startswith("# "):
            ours = "common/" in line
            continue
        define = re.match(r"#define ([A-Za-z_]\w*)", line)
        if define:
            found.add(define.group(1))
        if line.startswith("#"):
            continue
        for token in re.findall(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\S', line):
            if token == "{":
                opened.append(statement[:2] in (["extern", '"C"'], ["extern", '"C++"']) or ours and "namespace" in statement)
            elif token == "}":
                del opened[-1:]
            elif token in "()":
                parentheses += 1 if token == "(" else -1
            elif token == "<" and (angles or statement[-1:] == ["template"]):
                angles += 1
            elif token == ">" and angles:
                angles -= 1
            elif re.match(r"[A-Za-z_]", token) and all(opened) and not parentheses and not angles:
                found.add(token)
            statement = [] if token in "{};" else [*statement, token]
    return sorted(name for name in found if name not in WORDS and name not in KEYWORDS)


if __name__ == "__main__":
    print("\n".join(names_of(open(sys.argv[1]).read())))
