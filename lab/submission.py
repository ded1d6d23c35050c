r"""Reads the text of a submission: what no check of the object file can see, and the KERNEL line.

What a submission calls is judged after the compiler, in its object file (lab/objects.py). The text is judged only for
what would make that judgement, or the simulator's counting, worthless:

 - a name that reaches the compiler (asm, __attribute__, gnu::...) or the simulator (sim, harness, own names of the
   rewriter), and any other name that belongs to the compiler and is none of CUDA's;
 - a directive other than those of the preprocessor that courses use: no header, and no option of the compiler;
 - ##, which could compose such a name.

Lines are joined and comments removed first, and this text is compiled, so that reader and compiler see one text. Names
are looked for everywhere in it, also in strings, so that no quotation mark can hide one. The KERNEL line is taken out:
the grader registers the kernel itself.

Cost: a few passes of regular expressions. Each is linear: where a repetition has ended, the rest of the expression
fails at once, or the repetition is bounded. Texts are read in a process with limits, read_apart(), because an
expression of Python holds up all threads and every signal.
"""

import bisect
import json
import os
import re
import resource
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out
from instead import TEXT, instead

MOST_BYTES = 1 << 16
MOST_REASONS = 10
MOST_SECONDS, MOST_MEMORY = 5, 1 << 29  # of the process that reads it
STEP = '"../common/step.h"'
INCLUDES = [STEP, "<cuda_runtime.h>", "<device_launch_parameters.h>", "<cstddef>", "<cstdint>", "<stdint.h>",
            "<cassert>", "<assert.h>"]

# Names with two underscores that are CUDA's.
CUDA = set("""
    __global__ __device__ __host__ __shared__ __constant__ __VA_ARGS__
    __launch_bounds__ __forceinline__ __noinline__ __inline__ __restrict__ __restrict __align__ __grid_constant__
    __syncthreads __syncthreads_count __syncthreads_and __syncthreads_or __syncwarp
    __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync __all_sync __activemask
    __match_any_sync __ldg __ldca __ldcg __ldcs __ldlu __stwb __stcg __stcs __threadfence __threadfence_block
    __popc __popcll __clz __clzll __ffs __ffsll __brev __mul24 __umul24
    __float_as_int __float_as_uint __int_as_float __uint_as_float __double_as_longlong __longlong_as_double""".split())
# No macro may have the name of one of these: the rewriter reads CUDA's words, and it and the headers write the others.
WORDS = CUDA | set("""
    auto break case char class const constexpr continue decltype default do double else enum extern false float for if
    inline int long namespace operator public private return short signed sizeof static static_assert static_cast
    reinterpret_cast struct switch template this true typedef typename union unsigned using void volatile while
    threadIdx blockIdx blockDim gridDim warpSize dim3 KERNEL
    always_inline artificial error no_sanitize noinline noipa used aligned section weak""".split())
# Comments, strings, characters and numbers. A string without an end is one up to the end of its line, as to compilers.
PIECE = re.compile(r"""//[^\n]* | /\*.*?(?:\*/|\Z) | "(?:[^"\\\n]|\\.)*"? | '(?:[^'\\\n]|\\.)' |
    \.?\d(?:[eEpP][+-]|'?\w|\.)*""", re.VERBOSE | re.DOTALL)
NAME = re.compile(r"[^\W\d]\w*")
DIRECTIVE = re.compile(r"^[ \t\v\f]*(?:#|%:)[ \t]*(\w*)[ \t]*(.*)$", re.MULTILINE)
REGISTERED = re.compile(r"""^[ \t]*KERNEL\s*\(([^;"]{0,99})"[^"\n]*"
                            ([^;]{0,199}?),\s{0,99}(\w{1,99})\s{0,99}\)[ \t]*;?""", re.MULTILINE | re.VERBOSE)


class Refused(Exception):
    """Its text has a line for each reason."""


@dataclass
class Submission:
    text: str      # what is compiled: the same lines, without comments and without the KERNEL line
    launcher: str  # the function that launches the kernel


def text_of(data):
    """The text of a file: lines end with \\n, spliced lines are one, comments are spaces, and no line moves."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refused("the file is in UTF-16; save it as UTF-8")
    if len(data) > MOST_BYTES:
        raise Refused(f"the file has more than {MOST_BYTES} bytes; no exercise needs so many")
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    lines, begun, spliced = [], "", 0
    for line in text.split("\n"):
        if end := re.search(r"\\[ \t]*$", line):
            begun, spliced = begun + line[:end.start()], spliced + 1
        else:
            lines += [begun + line, *[""] * spliced]
            begun, spliced = "", 0
    lines += [begun] * bool(begun)

    def without(match):
        if match[0].startswith("/*") and not match[0].endswith("*/"):
            raise Refused(f"line {joined.count(chr(10), 0, match.start()) + 1}: a comment without an end; write */ at "
                          "its end")
        return " " + "\n" * match[0].count("\n") if match[0].startswith(("//", "/*")) else match[0]

    joined = "\n".join(lines)
    return PIECE.sub(without, joined)


def read(data, exercise):
    """The Submission of the bytes of a file; or Refused."""
    text = text_of(data)
    found = {}  # {line: reason}: one for each line
    ends = [match.start() for match in re.finditer("\n", text)]

    def refuse(place, what, why):
        line = bisect.bisect_left(ends, place) + 1
        found.setdefault(line, f"line {line}: {what[:60]}: {why}")

    for match in re.finditer(r"\*/|\bu?8?[uUL]?R\"|##|%:|<:(?!:)", text):
        refuse(match.start(), match[0], {
            "*/": "a comment ends here that has not begun", "##": "a macro uses the names of its arguments, and "
            "composes none"}.get(match[0], "write [ ] and # and plain strings"))
    for match in NAME.finditer(text):
        if match[0] not in CUDA and (found_in := instead(match[0], TEXT)):
            refuse(match.start(), *found_in)
    own = macros(text) | {"defined", "true", "false"}
    for match in DIRECTIVE.finditer(text):
        if why := refused_directive(match[1], match[2].strip(), own):
            refuse(match.start(), f"#{match[1]} {match[2]}".strip(), why)
    if not found and f"#include {STEP}" not in re.sub(r"#[ \t]*include[ \t]*", "#include ", text):
        refuse(0, "#include", f"the file lacks it; write #include {STEP}")
    if found:
        raise Refused("\n".join(found[line] for line in sorted(found)[:MOST_REASONS]))
    return without_kernel(text, exercise)


def refused_directive(kind, rest, own):
    """Why a directive is refused, or None."""
    if kind == "include":
        if "".join(rest.split()) not in INCLUDES:
            name = re.fullmatch(r'[<"]([^.>"]*)[^>"]*[>"]', rest)
            _, say = name and instead(name[1]) or ("", f"{', '.join(INCLUDES[1:])} are also allowed, but not needed")
            return f"include only {STEP}; {say}"
    elif kind in ("define", "undef"):
        name = NAME.match(rest)
        if name and name[0] in WORDS:
            return f"{name[0]} keeps its meaning; choose another name"
    elif kind in ("if", "ifdef", "ifndef", "elif"):
        other = [name for name in NAME.findall(rest) if name not in own]
        if other and not (kind == "ifndef" and other == [rest]):
            return f"{other[0]}: conditions are about macros that this file defines"
    elif kind == "pragma":
        if not re.match(r"(unroll|once)\b", rest):
            return "only #pragma unroll and #pragma once are allowed"
    elif kind not in ("else", "endif", "error", ""):
        return "leave the line out"
    return None


def without_kernel(text, exercise):
    """The Submission of a text: its KERNEL lines are taken out, and one of them must be the hand-out's."""
    launcher, told = "", ""
    for match in REGISTERED.finditer(text):
        kernel, produces, function = ("".join(part.split()) for part in match.groups())
        if kernel != f"{exercise.kernel},":
            continue
        if produces != f",{exercise.registers}":
            told = (f"line {text.count(chr(10), 0, match.start()) + 1}: KERNEL({kernel} ...): expected "
                    f"{exercise.registers}, as it was handed out")
        launcher = function
    if told or not launcher:
        raise Refused(told or f"no KERNEL({exercise.kernel}, ...), the kernel that is graded; "
                              "restore the line of the hand-out")
    return Submission(REGISTERED.sub(lambda match: "\n" * match[0].count("\n"), text), launcher)


def macros(text):
    """The names that a text defines as macros."""
    return {name[0] for match in DIRECTIVE.finditer(text) if match[1] == "define" and (name := NAME.match(match[2]))}


def read_apart(data, exercise):
    """As read(), in a process that may use MOST_SECONDS and MOST_MEMORY. RuntimeError: it cannot."""
    done = subprocess.run([sys.executable, "-I", "-S", __file__, exercise.kernel, exercise.registers], input=data,
                          capture_output=True, start_new_session=True)
    if done.returncode == -signal.SIGXCPU:
        raise Refused(f"the file takes more than {MOST_SECONDS} s to read; write it more simply")
    if done.returncode:
        raise RuntimeError("the process that reads submissions ended with "
                           f"{(done.stderr.decode(errors='replace').splitlines() or [done.returncode])[-1]}")
    said = json.loads(done.stdout)
    if "refused" in said:
        raise Refused(said["refused"])
    return Submission(**said)


@dataclass
class Registration:
    """The part of an exercise that read() needs."""
    kernel: str
    registers: str


if __name__ == "__main__":
    for kind, most in (("CPU", MOST_SECONDS), ("AS", MOST_MEMORY)):
        _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{kind}"))
        resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (most if hard < 0 else min(most, hard), hard))
    try:
        json.dump(asdict(read(sys.stdin.buffer.read(), Registration(*sys.argv[1:]))), sys.stdout)
    except Refused as refused:
        json.dump({"refused": str(refused)}, sys.stdout)
