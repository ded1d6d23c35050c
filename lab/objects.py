"""Judges the object file of a submission: what its code can reach.

In: the listing that LIST makes of the object (nm, objdump). Out: the reason why it is refused, or ''. A submission is
accepted if

 1. every symbol that it does not define is in SYMBOLS, those that solutions need. The library's memcpy and memset,
    which nothing watches, are not among them;
 2. no call or jump goes to an address that is computed, but for the one in each sim::run_threads(), which the simulator
    wrote;
 3. no instruction enters the system;
 4. before main() nothing runs but the simulator's records of arrays (sim::Listed), and those take only constants.

Then its code can call nothing but itself and the simulator, whatever its text looks like. What it loads and stores, the
simulator watches while it runs. The text is judged only for what changes how it is compiled (submission.py). What it
defines is made local before it is linked (LINKABLE), so it replaces no function of the harness or the system.

SYMBOLS is derived. For a new compiler or simulator, compile the solutions and the right forms of tests/lab, as
check.compilation() does, and look at what they need beyond the list: python3 lab/objects.py OBJECT... prints it.
"""

import pathlib
import re
import subprocess
import sys

from instead import instead

MOST_LISTING, MOST_TRIES = 8 << 20, 20  # characters; look-ups of lines
INITIALIZERS = " ".join(f"-j .init_array{order}" for order in ("", ".0", ".00099", ".00101"))
# For a shell, in the folder of sim.o.
LIST = ("nm -u sim.o && echo ==== && objdump -hdrw --no-show-raw-insn sim.o && echo ==== && "
        f"{{ objdump -rw {INITIALIZERS} sim.o 2>/dev/null || :; }} && echo ====")
# The functions that the grader's own text calls, one for each type. The second witness has them under another name.
ENTRY, WITNESS_ENTRY = "sim_submission", "sim_witnessed"
LINKABLE = " && ".join(
    f"ld -r --force-group-allocation {made} -o grouped.o && "
    f"objcopy -w '--keep-global-symbol=_Z{len(entry)}{entry}*' grouped.o linked_{made}"
    for made, entry in (("sim.o", ENTRY), ("witness.o", WITNESS_ENTRY)))

UNDEFINED = re.compile(r"^ +[Uwv] (\S+)", re.MULTILINE)
SYMBOLS = re.compile(r"""
    _GLOBAL_OFFSET_TABLE_ | _Unwind_Resume | __gxx_personality_v0 | __cxa_begin_catch | _ZSt9terminatev
    | __stack_chk_fail | __assert_fail
    | __popcountdi2 | f(min|max)f?
    | __tsan_(init|func_entry|func_exit|memcpy|memmove|memset|(read|write)_range
              |(unaligned_|volatile_|unaligned_volatile_)?(read|write|read_write)\d+)
    | __ubsan_handle_(type_mismatch_v1|out_of_bounds|vla_bound_not_positive|missing_return)
    | threadIdx | blockIdx | blockDim | gridDim | warpSize
    | _Z\d+__(syncthreads|syncwarp|threadfence)\w*
    | _ZN3sim(4turn|8declared|13end_of_kernel|10add_record|7declare|7hash_of|11launch_grid|9long_loop|11next_thread
              |10sync_block|9converged|5fence|11note_absent|12local_begins|4lane|8exchange
              |14dynamic_shared|9sync_warp)(?!\d)\w*
""", re.VERBOSE)
# clang leaves these names in an object whose calls all go to the watched functions (sim/core/hooks/launch.h).
LEFT_OVER = {"memcpy", "memmove", "memset"}
# The symbols that an initializer may name: the simulator's records, and constants.
RECORDS = re.compile(r"""__tsan_ | __ubsan_ | DW\.ref | \.L | \.rodata | _Z(GV)?N3sim6listedI | \w*sim_(record|bound)
    | _ZNK3own3\$_\d*cvPF
    | _ZN3sim(6ListedC|7members|9record_of|10add_record|8DeclaredC)""", re.VERBOSE)
# Functions of a compiler that run before main().
INITIALIZER = re.compile(r"_GLOBAL__sub_I|_sub_I_00099|_Z41__static_initialization_and_destruction_0|tsan\.module_ctor|"
                         r"__cxx_global_var_init")
FORBIDDEN = re.compile(r"\.((preinit_array|fini_array|ctors|dtors)\b|(init|fini)$|init_array\.(?!(0|00099|00101)$))")
INDIRECT = re.compile(r"\b(call|jmp)q? +\*|\b(blr|br|blra\w+|bra\w+)\b")
SYSTEM = re.compile(r"(syscall|sysenter|int|int3|svc|hvc|smc)\b")
NEAR = re.compile(r"[a-z.]+ +(?:\w+, *)*[0-9a-f]+ <([^>+]+)")  # a call or jump inside the object
RELOCATION = re.compile(r"\t[0-9a-f]+: R_\w+\s+([^\s+-]+)([+-]0x[0-9a-f]+)?")
# An operand in memory that is neither on the stack at a constant distance nor a symbol.
COMPUTED = re.compile(r"\((?!%r[sbi]p\))[^)]*\)")


def said(symbol):
    """The name of a symbol for people, and what to use instead."""
    plain = re.sub(r"^_ZN?(?:3own|3sim|7harness)?(\d+)(\w+)", lambda m: m[2][:int(m[1][:9])], symbol)
    what, say = instead(symbol) or instead(plain) or (
        plain, "no exercise needs this function, so the grader has not got it; leave it out")
    return f"{(plain if what == symbol else what)[:60]}: {say}"


class Code:
    """The functions of a listing: (section, name, [(address, instruction, symbol or '', offset)]). Several sections
    may have one name, so `at` has a list of names for each section and address."""

    def __init__(self, listing):
        self.functions, self.at, self.sections, section, lines = [], {}, set(), "", None
        for line in listing.split("\n"):
            if match := re.match(r" +([0-9a-f]+):\t(.*)", line):
                code, needed = match[2].split("\t")[0], RELOCATION.search(match[2])
                near = NEAR.match(code)
                symbol = ((needed[1], int(needed[2] or "0", 16)) if needed else
                          (near[1], 0) if near and near[1] != self.functions[-1][1] else ("", 0))
                lines.append((int(match[1], 16), code, *symbol))
            elif match := re.match(r"([0-9a-f]+) <(.*)>:$", line):
                lines = []
                self.functions.append((section, match[2], lines))
                self.at.setdefault((section, int(match[1], 16)), []).append(match[2])
            elif match := re.match(r"Disassembly of section (.*):$", line):
                section = match[1]
            elif match := re.match(r" +\d+ (\.\S+) +[0-9a-f]{8}", line):
                self.sections.add(match[1])

    def each(self):
        """(section, function, address, instruction, the symbol that it needs or ''). A call of a place in a section is
        a call of the function there."""
        for section, name, lines in self.functions:
            for address, code, symbol, offset in lines:
                called = self.at.get((symbol, offset + 4), ()) if code.startswith("call") else ()
                yield section, name, address, code, called[0] if len(called) == 1 else symbol

    def line_of(self, symbol, where):
        """The line of the submission that needs a symbol, perhaps through functions of headers; or 'the file'."""
        names, tries = [symbol], 0
        for wanted in names:
            for section, name, address, _, needed in self.each():
                if needed == wanted and tries < MOST_TRIES:
                    tries += 1
                    if line := where(section, address):
                        return line
                    if name not in names:
                        names.append(name)
        return "the file"


def judge(listing, where):
    """Why an object is refused, or ''. `where`: of (section, address), the line of the submission as a text, or ''."""
    if len(listing) > MOST_LISTING:
        return "the file: it makes too much code; simplify it"
    undefined, code, initializers, _ = listing.split("====\n")
    code = Code(code)
    needed = {symbol for *_, symbol in code.each()}
    for name in UNDEFINED.findall(undefined):
        if not SYMBOLS.fullmatch(name) and (name in needed or name not in LEFT_OVER):
            return f"{code.line_of(name, where)}: {said(name)}"
    launches = set()
    for section, name, address, text, symbol in code.each():
        if INDIRECT.search(text) and not symbol:
            if not name.startswith("_ZN3sim11run_threads") or (section, name) in launches:
                place = where(section, address) or "the file"
                return f"{place}: a call of a function through a pointer; call functions by their names"
            launches.add((section, name))
        if SYSTEM.match(text):
            return f"{where(section, address) or 'the file'}: {text}: code that enters the system; leave it out"
    return judge_initializers(code, initializers, where)


def judge_initializers(code, listed, where):
    """Why code that runs before main() is refused, or ''."""
    why = "runs before main(); write constexpr in front of variables outside functions"
    for section in sorted(filter(FORBIDDEN.match, code.sections)):
        return f"the file: code in {section} {why}"
    names = {name for _, name, _ in code.functions}
    for section, offset in re.findall(r"^[0-9a-f]{8,} R_\w+ +([^\s+]+)(?:\+0x([0-9a-f]+))?", listed, re.MULTILINE):
        for name in [section] if section in names else code.at.get((section, int(offset or "0", 16)), [section]):
            if not INITIALIZER.match(name):
                return f"the file: {name} {why}"
    for section, name, address, text, symbol in code.each():
        if INITIALIZER.match(name) and not makes_records(text, symbol):
            return f"{where(section, address) or 'the file'}: a variable whose value is computed; this {why}"
    return ""


def makes_records(text, symbol):
    """Whether an instruction is one of those that make the simulator's records."""
    if symbol:
        return bool(RECORDS.match(symbol) or INITIALIZER.match(symbol)
                    or text.startswith("lea") and re.match(r"\.(text|bss)", symbol))
    return not COMPUTED.search(text) or "nop" in text


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
    import command_line
    parser = command_line.parser(__doc__)
    parser.add_argument("objects", metavar="OBJECT", nargs="+")
    needed = subprocess.run(["nm", "-u", *parser.parse_args().objects], stdout=subprocess.PIPE, text=True).stdout
    print("\n".join(sorted({name for name in UNDEFINED.findall(needed) if not SYMBOLS.fullmatch(name)})))
