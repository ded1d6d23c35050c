"""The mutants of the steps' kernels: every small change of their text that an operator below makes. tools/mutation.py
runs them."""

import collections
import random
import re

from lessons import ROOT

TOKEN = re.compile(r"\s+|//[^\n]*|/\*.*?\*/"
                   r"|\"(?:\\.|[^\"\\])*\"|[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|<<=|>>=|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|.",
                   re.DOTALL)
Token = collections.namedtuple("Token", "text start end")
Mutant = collections.namedtuple("Mutant", "id kernel operator file line change occurrence unit edits")


def tokens_of(source):
    """Comments and white space left out."""
    found = (Token(m[0], m.start(), m.end()) for m in TOKEN.finditer(source))
    return [t for t in found if not t.text.isspace() and not t.text.startswith(("//", "/*"))]


def pairs_of(tokens):
    """The index of the bracket that closes or opens each bracket."""
    pairs, open_ = {}, []
    for i, token in enumerate(tokens):
        if token.text in "([{":
            open_.append(i)
        elif token.text in ")]}":
            pairs[i] = open_.pop()
            pairs[pairs[i]] = i
    return pairs


class Declaration:
    """Something at the top level of a file: its tokens from `first` to `last`, of the file's tokens."""

    def __init__(self, text, first, last):
        self.text, self.first, self.last = text, first, last
        kernel = re.search(
            r"__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(", text)
        function = re.match(r"template <typename T\b[^>]*>\s*void\s+(\w+)\s*\(", text)
        registration = re.match(r"(BLOCK_)?KERNEL\s*\(", text)
        # an erratum: it is wrong as it is
        faulty = registration and re.match(r'\s*\w+\s*,\s*"E\d', text[registration.end():])
        self.kind = ("kernel" if kernel else "launcher" if function else "faulty" if faulty
                     else "registration" if registration else "other")
        self.name = kernel[1] if kernel else function[1] if function else None


class Unit:
    """A kernel as it is registered: its launcher, and the kernels and launchers that this one calls."""

    def __init__(self, file, registration):
        self.file = file
        self.functions = self.to_mutate = []
        self.macro, arguments = re.match(r"(\w+)\s*\((.*)\)", registration.text, re.DOTALL).groups()
        self.arguments = [a.strip() for a in re.split(r",(?![^()]*\))", arguments)]
        self.kernel, self.launcher = self.arguments[0], self.arguments[3]

    def text(self, suffix, edits):
        """The unit with all of its functions renamed, registered for floats as <kernel><suffix>."""
        names = {f.name for f in self.functions}
        parts = []
        for function in self.functions:
            changes = [e for e in edits if function.start <= e[0] < function.end]
            changes += [(t.start, t.end, t.text + suffix)
                        for t in self.file.tokens[function.first:function.last + 1]
                        if t.text in names]
            parts.append(edited(self.file.source, function.start, function.end, changes))
        block = ", dim3 block" if self.macro == "BLOCK_KERNEL" else ""
        parts.append(f"template <typename T>\nvoid tested_{self.kernel}{suffix}(T* odata, const T* idata, int "
                     f"width, int height{block})\n"
                     f"{{\n    if constexpr (tested<T>) {self.launcher}{suffix}(odata, idata, width, "
                     f"height{', block' if block else ''});\n}}\n")
        register = [
            self.kernel + suffix, '"-"', self.arguments[2], f"tested_{self.kernel}{suffix}", *self.arguments[4:]]
        parts.append(f"{self.macro}({', '.join(register)})\n")
        return "\n".join(parts)


def edited(source, start, end, edits):
    """source[start:end] with edits (start, end, text) made. Insertions at one place stay in their order."""
    out, at = [], start
    for a, b, text in sorted(edits, key=lambda e: e[:2]):
        assert a >= at, "edits overlap"
        out += [source[at:a], text]
        at = b
    return "".join(out) + source[at:end]


class File:
    """A step's source, in declarations and units."""

    def __init__(self, path):
        self.path = path
        self.source = path.read_text()
        self.space = re.sub(r"\W", "_", str(path.relative_to(ROOT).with_suffix("")))
        # Lines of the preprocessor are blanks to the parser.
        code = re.sub(r"^#(?:.*\\\n)*.*", lambda m: re.sub(r"[^\n]", " ", m[0]), self.source, flags=re.MULTILINE)
        self.tokens = tokens_of(code)
        self.pairs = pairs_of(self.tokens)
        self.includes = [i for i in re.findall(r"^#include .*", self.source, re.MULTILINE) if "step.h" not in i]
        self.defines = re.findall(r"^#define (?:.*\\\n)*.*", self.source, re.MULTILINE)
        self.declarations = list(self.split())

    def split(self):
        i = 0
        while i < len(self.tokens):
            first, macro = i, re.fullmatch(r"[A-Z_]+", self.tokens[i].text)
            while True:
                text = self.tokens[i].text
                if text in "([{":
                    i = self.pairs[i]
                    if text == "{" and not (i + 1 < len(self.tokens) and self.tokens[i + 1].text == ";"):
                        break
                    if text == "(" and macro and i > first and self.pairs[i] == first + 1:
                        break
                elif text == ";":
                    break
                i += 1
            declaration = Declaration(self.source[self.tokens[first].start:self.tokens[i].end], first, i)
            declaration.start, declaration.end = self.tokens[first].start, self.tokens[i].end
            yield declaration
            i += 1

    def prelude(self):
        """What all units of the file need."""
        rest = [d.text for d in self.declarations
                if d.kind == "other" and not re.match(r"ERRATUM|TRANSFER|SERIAL|\.", d.text)]
        return "\n".join(self.defines + rest)

    def units(self):
        functions = {d.name: d for d in self.declarations if d.name}
        claimed = set()
        for registration in self.declarations:
            if registration.kind != "registration":
                continue
            unit = Unit(self, registration)
            wanted, found = [unit.launcher], []
            while wanted:
                name = wanted.pop()
                if name in found or name not in functions:
                    continue
                found.append(name)
                d = functions[name]
                wanted += [t.text for t in self.tokens[d.first:d.last + 1] if t.text in functions]
            unit.functions = sorted((functions[name] for name in found), key=lambda d: d.first)
            # A function that several kernels share is mutated in the first of them.
            unit.to_mutate = [f for f in unit.functions if f.name not in claimed]
            claimed |= set(found)
            yield unit

    def line(self, position):
        return self.source.count("\n", 0, position) + 1


# Operators: each yields the lists of edits that make a mutant of a function, one list per mutant.

class Code:
    """A function's body, with what operators ask of it. Tokens are known by their index in the file."""

    def __init__(self, file, function):
        self.file, self.tokens, self.pairs = file, file.tokens, file.pairs
        self.is_kernel = function.kind == "kernel"
        self.first = next(i for i in range(function.first, function.last) if self.tokens[i].text == "{") + 1
        self.last = function.last

    def __getitem__(self, i):
        return self.tokens[i].text

    def indices(self, *texts):
        return [i for i in range(self.first, self.last) if self[i] in texts]

    def matches(self, *pattern):
        """Where the tokens are those of the pattern, each a regular expression."""
        return [i for i in range(self.first, self.last - len(pattern) + 1)
                if all(re.fullmatch(p, self[i + k]) for k, p in enumerate(pattern))]

    def source(self, first, end):
        """Of the tokens from first up to, not including, end."""
        return self.file.source[self.tokens[first].start:self.tokens[end - 1].end]

    def replace(self, first, end, text):
        return (self.tokens[first].start, self.tokens[end - 1].end, text)

    def insert(self, i, text):
        return (self.tokens[i].start, self.tokens[i].start, text)

    def spaced(self, i):
        """Is token i a binary operator, by the space around it?"""
        return self.file.source[self.tokens[i].start - 1] == " " and self.file.source[self.tokens[i].end] in " \n"

    def statement_end(self, i):
        """The index behind the statement that begins at i."""
        if self[i] == "{":
            return self.pairs[i] + 1
        if self[i] in ("if", "for", "while", "switch"):
            end = self.statement_end(self.pairs[i + 1] + 1)
            return self.statement_end(end + 1) if self[i] == "if" and self[end] == "else" else end
        while self[i] != ";":
            i = self.pairs[i] + 1 if self[i] in "([{" else i + 1
        return i + 1

    def statement_begin(self, i):
        """Where the simple statement begins that token i is part of."""
        while (self[i - 1] not in (";", "{", "}", "else")
               and not (self[i - 1] == ")" and self[self.pairs[i - 1] - 1] in ("if", "for", "while"))):
            i = self.pairs[i - 1] if self[i - 1] in ")]" else i - 1
        return i

    def conditions(self):
        """(first, end) of what stands between the brackets of an if."""
        return [(i + 2, self.pairs[i + 1]) for i in self.indices("if") if self[i + 1] == "("]

    def declared(self, i):
        """Does the [ at i declare an array?"""
        name = i - 1
        while self[name] == "]":
            name = self.pairs[name] - 1
        return bool(re.fullmatch(r"\w+|>", self[name - 1])) and self[name - 1] not in ("return", "else")

    def subscripts(self):
        """(name, [ of the first dimension, [ of the second or None) of every element that is accessed."""
        for i in self.indices("["):
            if self[i - 1] != "]" and not self.declared(i):
                second = self.pairs[i] + 1
                yield self[i - 1], i, second if self[second] == "[" else None

    def shared_arrays(self):
        """(name, [ of each dimension)."""
        for i in self.indices("__shared__"):
            at = next(k for k in range(i, self.last) if self[k] == "[")
            name, dimensions = self[at - 1], [at]
            while self[self.pairs[dimensions[-1]] + 1] == "[":
                dimensions.append(self.pairs[dimensions[-1]] + 1)
            yield name, dimensions

    def in_a_subscript(self, i):
        return any(a < i < self.pairs[a] for a in self.indices("[") if not self.declared(a))

    def loops(self):
        """(first token of the three parts of each for, the closing bracket)."""
        for i in self.indices("for"):
            end = self.pairs[i + 1]
            semicolons = [k for k in range(i + 2, end) if self[k] == ";"]
            if len(semicolons) == 2:
                yield i + 2, semicolons[0] + 1, semicolons[1] + 1, end

    def is_target(self, close):
        """Is the subscript that ends at `close` assigned to?"""
        after = close + 1
        while self[after] in ("[", ")"):
            after = self.pairs[after] + 1 if self[after] == "[" else after + 1
        return self[after] == "="


def compare_with_equal(code):
    for i in code.indices("<", ">"):
        if code.spaced(i):
            yield [code.replace(i, i + 1, code[i] + "=")]


def bound_one_less(code):
    for first, end in code.conditions():
        for i in range(first, end):
            if code[i] == "<" and code.spaced(i):
                yield [code.replace(i + 1, i + 2, f"{code[i + 1]} - 1")]


def bound_of_the_other_side(code):
    for first, end in code.conditions():
        for i in range(first, end):
            if code[i] == "<" and code[i + 1] in ("width", "height"):
                yield [code.replace(i + 1, i + 2, {"width": "height", "height": "width"}[code[i + 1]])]


def drop_half_a_guard(code):
    for first, end in code.conditions():
        for i in range(first, end):
            if code[i] == "&&":
                yield [code.replace(first, i + 1, "")]
                yield [code.replace(i, end, "")]


def drop_the_guard(code):
    for first, end in code.conditions():
        yield [code.replace(first, end, "true")]


def plus_to_minus(code):
    if code.is_kernel:
        for i in code.indices("+"):
            statement = code.statement_begin(i)
            if code.in_a_subscript(i) or re.fullmatch(r"int|unsigned|x|y|ox|oy|mx|my|left|top", code[statement]):
                yield [code.replace(i, i + 1, "-")]


def index_off_by_one(code):
    if not code.is_kernel:
        return
    for _, one, two in code.subscripts():
        for i in (one, two):
            if i is not None and code[one - 2] != "&":
                for change in ("+ 1", "- 1"):
                    yield [code.insert(i + 1, "("), code.insert(code.pairs[i], f") {change}")]


def vector_misaligned(code):
    for _, i, _ in code.subscripts():
        if code[i - 2] == "&" and "reinterpret_cast" in code.source(code.statement_begin(i), i):
            yield [code.insert(i + 1, "("), code.insert(code.pairs[i], ") + 1")]


def block_x_for_y(code):
    for i in code.matches("blockIdx", r"\.", "[xy]"):
        yield [code.replace(i + 2, i + 3, {"x": "y", "y": "x"}[code[i + 2]])]


def thread_x_for_y(code):
    for i in code.matches("threadIdx", r"\.", "[xy]"):
        yield [code.replace(i + 2, i + 3, {"x": "y", "y": "x"}[code[i + 2]])]


def wrong_stride(code):
    if code.is_kernel:
        for i in code.matches(r"\*", "width|height"):
            yield [code.replace(i + 1, i + 2, {"width": "height", "height": "width"}[code[i + 1]])]


def barriers(code):
    return code.matches("__syncthreads", r"\(", r"\)", ";")


def drop_a_barrier(code):
    for i in barriers(code):
        yield [code.replace(i, i + 4, "")]


def barrier_into_the_if(code):
    """Into the last if before it, and into the next if behind it."""
    for barrier in barriers(code):
        ifs = code.indices("if")
        before = [i for i in ifs
                  if i < barrier and code.statement_end(i) <= barrier and code[code.statement_end(i)] != "else"]
        behind = [i for i in ifs if i > barrier]
        for i in before[-1:]:
            body, end = code.pairs[i + 1] + 1, code.statement_end(i)
            yield [
                code.insert(body, "{ "), (code.tokens[end - 1].end, code.tokens[end - 1].end, " __syncthreads(); }"),
                code.replace(barrier, barrier + 4, "")]
        for i in behind[:1]:
            body = code.pairs[i + 1] + 1
            end = code.statement_end(body)
            yield [
                code.replace(barrier, barrier + 4, ""),
                code.insert(body, "{ __syncthreads(); "), (code.tokens[end - 1].end, code.tokens[end - 1].end, " }")]


def barrier_too_early(code):
    """In front of the loop or the if that fills the tile."""
    for barrier in barriers(code):
        starts = [i for i in code.indices("for", "if") if i < barrier and code.statement_end(i) == barrier]
        if starts:
            yield [code.insert(starts[0], "__syncthreads(); "), code.replace(barrier, barrier + 4, "")]


def swap_tile_indices(code):
    for _, one, two in code.subscripts():
        if two is not None:
            a, b = code.source(one, code.pairs[one] + 1), code.source(two, code.pairs[two] + 1)
            yield [code.replace(one, code.pairs[one] + 1, b), code.replace(two, code.pairs[two] + 1, a)]


def tile_too_small(code):
    for _, dimensions in code.shared_arrays():
        for i in dimensions:
            padded = code[code.pairs[i] - 2] == "+"
            yield [code.insert(code.pairs[i], " - 2" if padded else " - 1")]


def remove_padding(code):
    for _, dimensions in code.shared_arrays():
        for i in dimensions:
            if code[code.pairs[i] - 2] == "+":
                yield [code.replace(code.pairs[i] - 2, code.pairs[i], "")]


def step_of_loop(code, part, end):
    text = code.source(part, end)
    step = re.search(r"\+= (.*)", text)
    return step[1] if step else "1" if "++" in text else None


def drop_the_last_turn(code):
    for _, condition, increment, end in code.loops():
        step = step_of_loop(code, increment, end)
        if step:
            # blockDim and gridDim are unsigned: a bound must not become 4294967295.
            yield [code.insert(increment - 1, f" - int({step})" if "Dim." in step else f" - {step}")]


def drop_the_first_turn(code):
    for first, condition, increment, end in code.loops():
        step = step_of_loop(code, increment, end)
        if step:
            yield [code.insert(condition - 1, f" + {step}")]


def wrong_step_of_a_loop(code):
    for _, _, increment, end in code.loops():
        for i in range(increment, end):
            if code[i] == "+=" and code[i + 1] != "blockDim":
                stop = next((k for k in range(i, end) if code[k] == ","), end)
                yield [code.insert(stop, " * 2")]
                yield [code.insert(stop, " / 2")]
            elif code[i] == "+=":
                yield [code.insert(i + 4, " * 2")]
            elif code[i] == "++":
                yield [code.replace(i, i + 2, f"{code[i + 1]} += 2")]


def wrong_tile_element(code):
    shared = {name for name, _ in code.shared_arrays()}
    for name, one, two in code.subscripts():
        if name in shared and not code.is_target(code.pairs[two or one]):
            for i in (one, two):
                if i is not None:
                    yield [code.insert(i + 1, "("), code.insert(code.pairs[i], ") ^ 1")]


def leave_a_cell_unset(code):
    shared = {name for name, _ in code.shared_arrays()}
    for name, one, two in code.subscripts():
        if name in shared and code.is_target(code.pairs[two or one]):
            yield [code.insert(code.statement_begin(one), "if (threadIdx.x || threadIdx.y) ")]


def leave_an_element_unwritten(code):
    for name, one, _ in code.subscripts():
        if name == "odata" and code.is_target(code.pairs[one]):
            yield [
                code.insert(code.statement_begin(one), "if (threadIdx.x || threadIdx.y || blockIdx.x || blockIdx.y) ")]


def no_block_for_the_rest(code):
    """( a + b - 1 ) / b becomes ( a ) / b."""
    if not code.is_kernel:
        for i in code.indices("("):
            inner = code.source(i + 1, code.pairs[i]) if code.pairs[i] > i + 1 else ""
            if inner.endswith(" - 1") and code[code.pairs[i] + 1] == "/":
                plus = next(k for k in range(i, code.last) if code[k] == "+")
                yield [code.replace(plus, code.pairs[i], "")]


def grid_or_block_turned(code):
    if not code.is_kernel:
        for i in code.matches("dim3", "grid|block", r"\("):
            end = code.pairs[i + 2]
            commas = [
                k for k in range(i + 3, end)
                if code[k] == "," and not any(code.pairs[b] > k for b in range(i + 3, k) if code[b] == "(")]
            if len(commas) == 1:
                yield [code.replace(i + 3, end, f"{code.source(commas[0] + 1, end)}, {code.source(i + 3, commas[0])}")]


def int_for_size_t(code):
    for i in code.indices("size_t"):
        yield [code.replace(i, i + 1, "int")]


def narrow_index(code):
    """What an int is past 2^31 elements, a short is past 2^15."""
    if code.is_kernel:
        for name, i, _ in code.subscripts():
            if name in ("odata", "idata"):
                yield [code.insert(i + 1, "short("), code.insert(code.pairs[i], ")")]


def swizzle_lost(code):
    for i in code.indices("^"):
        close = next(k for k in range(i, code.last) if code[k] == "]")
        yield [code.replace(i, close, "")]


def read_the_output(code):
    for i in code.indices("idata"):
        if code.is_kernel:
            yield [code.replace(i, i + 1, "odata")]


def keep_an_old_value(code):
    """Leaves out x = ... of a variable that has a value already."""
    for i in code.matches(r"x|y", "="):
        if code[i - 1] in (";", "}"):
            yield [code.replace(i, code.statement_end(i), "")]


def remainder_to_quotient(code):
    for i in code.indices("%"):
        yield [code.replace(i, i + 1, "/")]


OPERATORS = {
    "< to <=": compare_with_equal,
    "bound one less": bound_one_less,
    "bound of the other side": bound_of_the_other_side,
    "drop half a guard": drop_half_a_guard,
    "drop the guard": drop_the_guard,
    "+ to -": plus_to_minus,
    "index off by one": index_off_by_one,
    "vector misaligned": vector_misaligned,
    "blockIdx x for y": block_x_for_y,
    "threadIdx x for y": thread_x_for_y,
    "wrong stride": wrong_stride,
    "drop a barrier": drop_a_barrier,
    "barrier into the if": barrier_into_the_if,
    "barrier too early": barrier_too_early,
    "swap tile indices": swap_tile_indices,
    "tile too small": tile_too_small,
    "remove padding": remove_padding,
    "drop the last turn": drop_the_last_turn,
    "drop the first turn": drop_the_first_turn,
    "wrong step of a loop": wrong_step_of_a_loop,
    "wrong tile element": wrong_tile_element,
    "leave a cell unset": leave_a_cell_unset,
    "leave an element unwritten": leave_an_element_unwritten,
    "no block for the rest": no_block_for_the_rest,
    "grid or block turned": grid_or_block_turned,
    "int for size_t": int_for_size_t,
    "narrow index": narrow_index,
    "swizzle lost": swizzle_lost,
    "read the output": read_the_output,
    "keep an old value": keep_an_old_value,
    "% to /": remainder_to_quotient,
}


def all_units():
    """Of the steps for one GPU. A launcher for several has other arguments than the wrapper of a mutant."""
    paths = [path for step in sorted(ROOT.glob("step0[2-7]_*")) for path in sorted(step.glob("*.cu"))]
    return [
        unit for path in paths if not re.fullmatch(r"exercise\d*\.cu|errata\.cu", path.name)
        for unit in File(path).units()]


def change_of(file, edits):
    """The lines that change, before and after, as far as they differ; and the number of the first."""
    start = file.source.rfind("\n", 0, edits[0][0]) + 1
    end = (file.source + "\n").find("\n", max(e[1] for e in edits))
    before, after = file.source[start:end].split("\n"), edited(file.source, start, end, edits).split("\n")
    if len(before) != len(after):
        before, after = [" ".join(before)], [" ".join(after)]
    changes = [difference(a.split(), b.split()) for a, b in zip(before, after) if a != b]
    return "; ".join(changes), file.line(edits[0][0])


def difference(a, b):
    """Words before => words after: those that differ, and two on either side."""
    same = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    tail = next((i for i, (x, y) in enumerate(zip(reversed(a[same:]), reversed(b[same:]))) if x != y),
                min(len(a), len(b)) - same)
    return " => ".join(" ".join(words[max(0, same - 2):len(words) - max(0, tail - 2)]) for words in (a, b))


def mutants_of(units):
    """Every mutant of the units, in a fixed order. A text that two operators make is made once."""
    for unit in units:
        number, seen, occurrences = 0, set(), collections.Counter()
        unchanged = " ".join(unit.text("", []).split())
        for operator, make in OPERATORS.items():
            for function in unit.to_mutate:
                for edits in make(Code(unit.file, function)):
                    edits = sorted(edits)
                    text = " ".join(unit.text("", edits).split())
                    if text == unchanged or text in seen:
                        continue
                    seen.add(text)
                    number += 1
                    change, line = change_of(unit.file, edits)
                    occurrences[operator, change] += 1
                    yield Mutant(f"{unit.kernel}_m{number:02}", unit.kernel, operator, unit.file, line, change,
                                 occurrences[operator, change], unit, edits)


def sample(mutants, count, seed):
    """So many of them, operators in turn, in their order."""
    generator = random.Random(seed)
    by_operator = collections.defaultdict(list)
    for mutant in mutants:
        by_operator[mutant.operator].append(mutant)
    for some in by_operator.values():
        generator.shuffle(some)
    chosen = []
    while len(chosen) < min(count, len(mutants)):
        for some in by_operator.values():
            if some and len(chosen) < count:
                chosen.append(some.pop())
    order = {mutant.id: i for i, mutant in enumerate(mutants)}
    return sorted(chosen, key=lambda mutant: order[mutant.id])


def describe(mutant):
    again = f" (no. {mutant.occurrence})" if mutant.occurrence > 1 else ""
    return f"{mutant.id} {mutant.operator} {mutant.file.path.relative_to(ROOT)}:{mutant.line}: {mutant.change}{again}"
