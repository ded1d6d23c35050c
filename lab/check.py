"""Checks one submission: python3 lab/check.py NN [--file FILE] [--explain] [--json] [--graded-bandwidth SHARE]

Rewrites and compiles the text for the simulator, judges the object file, links and runs it, all in a sandbox
(lab/sandbox.py), for all shapes, types and machines that the exercise names. Each check then judges the runs. Exit
status: 0 full points, 1 fewer, 2 bad input.

How verdicts are protected. The submission's code can call nothing but itself and the simulator (lab/objects.py), and
its text cannot change how it is compiled (lab/submission.py). The grader registers its kernel. Its host code runs in a
process of its own, which has neither the matrices nor the counts (sim/core/grid/host_process.cpp). Its kernels run in
the harness's process, where each access is checked before it happens (sim/core/block/watch.cpp). One run is repeated
with a second witness, and an access that only it sees leaves the submission without points. The results come through a
pipe without a name, whose number is drawn for each process. They are lines of JSON (--json), and each
has the name that the program was started under, which is drawn, too. No text for people is read. A run counts if the
program ends with status 0 and its lines have one verified row for each matrix asked for and no other row. It runs on
one processor, so that the points do not depend on their number.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to clean up

import collections
import contextlib
import csv
import errno
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import stat
import sys
import threading
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("lab", "plots", "sim/command")]

import audit
import command_line
import names
import objects
import sandbox
import submission
import whole
from instead import instead
from outside import printable
from parts import STOPPED, Finding, Run, brief, ending, gpus_of, said

# The text in the place of the submission, and what is compiled. Reports keep the submission's name.
NORMAL, REWRITTEN = "normal.cu", "rewritten.cpp"

COMPILE = {"cpu": 20, "wall": 40, "memory": 2 << 30, "file_size": 64 << 20, "processes": 32, "output": 1 << 16}
RUN = {"cpu": 8, "wall": 60, "memory": 1 << 30, "processes": 16, "output": 4 << 20}
SIZES = {"float": 4, "int": 4, "double": 8}
BANDWIDTH_POINTS = 10  # added to the 100 by --graded-bandwidth
SHOWN = [(1, 1), (2, 2), (3, 5), (5, 3), (8, 8), (9, 16), (2, 17), (17, 2), (17, 31), (32, 32)]  # sizes of --show
WINDOW = 16  # rows and columns that --show prints of them
MOST_AGAIN = 1 << 17  # elements of a matrix whose run is repeated with the second witness
MOST_STOPPED = 2  # after so many stopped runs, the rest is not started


# Messages of the shell, the compiler and its programs about the machine. Those about a submission begin with its name.
FAULT = re.compile(r"^(?![ \t]|step\d|normal\.cu).*(No space left on device|Disk quota exceeded|Read-only file system|"
                   r"Input/output error|Killed signal|: Killed$|[Cc]annot (execute|fork|allocate memory)).*",
                   re.MULTILINE)


class BadInput(Exception):
    pass


def load_exercises(path=None):
    path = pathlib.Path(path or ROOT / "lab/exercises.py")
    if not path.is_file():
        raise BadInput(f"{path}: no such file of exercises")
    loader = importlib.machinery.SourceFileLoader("exercises", str(path))  # whatever the name ends with
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("exercises", loader))
    try:
        loader.exec_module(module)
        points = {number: sum(check.points for check in [*exercise.right(0), *exercise.costs(0)])
                  for number, exercise in module.EXERCISES.items()}
        for exercise in module.EXERCISES.values():
            exercise.limits(0)
    except Exception as error:  # of an instructor's file, which runs
        place = traceback.extract_tb(error.__traceback__)[-1]
        line = f":{place.lineno}" if place.filename == str(path) else ""
        line = f":{error.lineno}" if getattr(error, "lineno", None) else line
        raise BadInput(f"{printable(path)}{line}: no file of exercises: {type(error).__name__}: "
                       f"{printable(' '.join(str(error).split()))}") from None
    for number, worth in points.items():
        if worth != 100:
            raise BadInput(f"{path}: exercise {number} is worth {worth} points, expected 100")
    return module


def exercise_of(exercises, number):
    try:
        return exercises.EXERCISES[int(number)]
    except (ValueError, KeyError):
        raise BadInput(f"exercise {number}: expected one of "
                       f"{', '.join(f'{n:02}' for n in sorted(exercises.EXERCISES))}") from None


def opened(path):
    """A regular file that is no link, open for reading its bytes; or BadInput. OSError: it is perhaps one."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in (errno.EACCES, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            raise
        raise BadInput(
            f"{printable(path)}: {'a link' if os.path.islink(path) else getattr(error, 'strerror', error)}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise BadInput(f"{printable(path)}: not a file")
    return os.fdopen(handle, "rb")


def read_submission(path):
    """The bytes of a submission, and no more than one too many."""
    with opened(path) as file:
        return file.read(submission.MOST_BYTES + 1)


# The head of a function that calls a launcher, and what it hands on, for each type.
ONE_GPU = "void {entry}({type}* odata, const {type}* idata, int width, int height)", "(odata, idata, width, height)"
GPUS = ("void {entry}(Parts<{type}> odata, const {type}* idata, int width, int height, int me, int gpus)",
        "(odata, idata, width, height, me, gpus)")


WITNESS, WITNESS_TYPE = "witness", "float"  # the kernel as the second witness sees it: its name, and of which type


def entries(exercise, entry, types, body=";"):
    """The functions through which the grader's own text calls the submission's launcher; or only their heads. `body`:
    what follows the head, with $ for the arguments."""
    head, arguments = ONE_GPU if exercise.gpus is None else GPUS
    return "".join(f"{head.format(entry=entry, type=type_)}{body.replace('$', arguments)}\n" for type_ in types)


def registration(exercise):
    """The text that registers the kernel. It is compiled apart, where the submission changes no macro and no name."""
    others = [type_ for type_ in SIZES if type_ != WITNESS_TYPE]
    return (f'#line 1 "{exercise.step}/{exercise.file}"\n'
            + entries(exercise, objects.ENTRY, SIZES) + entries(exercise, objects.WITNESS_ENTRY, [WITNESS_TYPE])
            + entries(exercise, objects.WITNESS_ENTRY, others, " {}")
            + f'KERNEL({exercise.kernel}, "-", {exercise.registers}, {objects.ENTRY})\n'
            + f'KERNEL({WITNESS}, "-", {exercise.registers}, {objects.WITNESS_ENTRY})\n')


def unpack(box, exercise, path, data, found):
    """Puts a submission where it finds common/ and sim/ as in the checkout; the name that messages give it. The
    original is there to be quoted."""
    name = f"{exercise.step}/{re.sub(r'[^A-Za-z0-9._-]', '_', os.path.basename(os.fspath(path)))}"
    os.mkdir(os.path.join(box.path, exercise.step))
    pathlib.Path(box.path, name).write_bytes(data)
    pathlib.Path(box.path, NORMAL).write_text(found.text, encoding="utf-8")
    for made, types in ((objects.ENTRY, SIZES), (objects.WITNESS_ENTRY, [WITNESS_TYPE])):
        pathlib.Path(box.path, f"{made}.cpp").write_text(
            "\n" + entries(exercise, made, types, f" {{ {found.launcher}$; }}"), encoding="utf-8")
    for folder in ("common", "sim"):
        os.symlink(ROOT / folder, os.path.join(box.path, folder))
    return name


def compilation(name, command, witness):
    """A line for the shell: build/rewrite makes C++ of the text, and the compiler's commands sim.o and witness.o of
    that. Messages and lines keep the name."""
    def made(command, namespace, entry, text, target):
        # In a namespace, its names may be those of common/step.h.
        rewriting = shlex.join([str(ROOT / "build/rewrite"), "--namespace", namespace, NORMAL])
        compiling = shlex.join([*command, "-iquote", os.path.dirname(name), "-c", text, "-o", target])
        return f"{{ echo '#line 1 \"{name}\"' && {rewriting} && cat {entry}.cpp; }} > {text} && {compiling}"
    return (f"{made(command, 'own', objects.ENTRY, REWRITTEN, 'sim.o')} && "
            f"{made([*witness, '-w'], 'witness', objects.WITNESS_ENTRY, 'witness.cpp', 'witness.o')}")


def outside_the_system(*paths):
    """Those that the sandbox does not show anyway, once each."""
    return sorted({
        path for path in map(os.path.abspath, paths)
        if not any(path == s or path.startswith(s + "/") for s in sandbox.SYSTEM)})


def any_processor():
    return random.choice(sorted(os.sched_getaffinity(0)))


REGISTERED, REGISTERING = {}, threading.Lock()  # objects, by the compiler's command and the text


class Lab:
    """What all checks share. `isolate`: by namespaces, where the system allows them."""

    def __init__(self, isolate=True):
        self.why_not = sandbox.isolation() if isolate else "not wanted"
        self.isolate = not self.why_not
        try:
            self.command, self.witness, self.link, self.cuda = [
                shlex.split(os.fsdecode((ROOT / "build/lab" / name).read_bytes()))
                for name in ("compile", "witness", "link", "cuda")]
        except OSError:
            raise BadInput("build/lab is missing; type make lab-ready") from None
        if not (ROOT / "build/rewrite").is_file():
            raise BadInput("build/rewrite is missing; type make lab-ready")
        self.compiler = shutil.which(self.command[0])
        if not self.compiler:
            raise BadInput(f"{self.command[0]}: no such compiler; choose one with CXX=")
        for tool in ("nm", "objdump", "objcopy", "ld", "addr2line"):
            if not shutil.which(tool, path="/usr/bin:/bin"):
                raise BadInput(f"{tool}: not in /usr/bin; install binutils, with which the lab judges submissions")
        # A compiler in a separate folder, as on clusters, has its own libraries. It and its programs need them.
        libraries = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if os.path.isdir(folder)]
        self.environment = {"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {}
        homes = [
            str(pathlib.Path(path).parent.parent)
            for path in outside_the_system(self.compiler, os.path.realpath(self.compiler))]
        toolchain = outside_the_system(*homes, *libraries)
        for folder in toolchain:
            if any(pathlib.Path(folder) in (path, *path.parents) for path in (ROOT, pathlib.Path.home())):
                raise BadInput(f"{folder}: holds the compiler or its libraries, but also {pathlib.Path.home()} or "
                               f"{ROOT}, which submissions must not see; install the compiler elsewhere")
        parts = ["common", "sim", "build/cuda", "build/lab", "build/rewrite"]
        self.visible = [*(str(ROOT / part) for part in parts), *toolchain]

    def sandboxed(self, command, box, more=(), **options):
        """`more`: further paths that the command sees."""
        return sandbox.run(command, box, isolate=self.isolate, visible=[*self.visible, *more],
                           environment=self.environment, **options)

    def read(self, exercise, path):
        """(the bytes of a submission, its Submission or None, why it is refused or '')."""
        data = read_submission(path)
        try:
            return data, submission.read_apart(data, exercise), ""
        except submission.Refused as refused:
            return data, None, str(refused)

    def check(self, exercise, path, processor=None, seed=None):
        """The verdict of a submission (verdict_of). `processor`: the one to keep to; `seed`: of the shapes that are
        drawn."""
        start = time.monotonic()
        processor = [any_processor() if processor is None else processor]
        seed = random.SystemRandom().randrange(1 << 20) if seed is None else seed
        runs, note = {}, ""
        with sandbox.Box() as box:
            note = self.build(box, exercise, path, processor)
            runs = {} if note else self.run_all(exercise, seed, box, processor)
            note = note or self.escaped(exercise, seed, runs, box, processor)
        return verdict_of(exercise, seed, runs, note, time.monotonic() - start)

    def compiling(self, name="compile"):
        """The compiler's command, but for the files: that of build/lab/compile, or of build/lab/witness."""
        command = self.command if name == "compile" else self.witness
        return [self.compiler, *command[1:], "-pipe", "-include", str(ROOT / f"build/lab/{name}.h")]

    def registered(self, exercise):
        """The object that registers an exercise's kernel. It is made once, and kept in build/lab behind its key."""
        text = registration(exercise)
        made = str((ROOT / "build/lab/compile.h.gch").stat().st_mtime_ns)
        key = hashlib.sha256(os.fsencode("\0".join([*self.compiling(), made, text]))).digest()
        kept = ROOT / f"build/lab/registers{exercise.number}"
        with REGISTERING:
            if key not in REGISTERED and kept.exists() and (found := kept.read_bytes()).startswith(key):
                REGISTERED[key] = found[len(key):]
            if key not in REGISTERED:
                with sandbox.Box() as box:
                    pathlib.Path(box.path, "registers.cpp").write_text(text, encoding="utf-8")
                    for folder in ("common", "sim"):
                        os.symlink(ROOT / folder, os.path.join(box.path, folder))
                    done = self.sandboxed([*self.compiling(), "-c", "registers.cpp", "-o", "registers.o"], box,
                                          writable=True, **COMPILE)
                    if done.status != 0:
                        raise sandbox.Fault(self.fault(box, done) or (
                            f"exercise {exercise.number}: its kernel cannot be registered: "
                            f"{(done.stderr.splitlines() or [done.status])[0]}"))
                    REGISTERED[key] = pathlib.Path(box.path, "registers.o").read_bytes()
                with contextlib.suppress(OSError):  # a checkout of another user
                    new = kept.with_suffix(f".{os.getpid()}")
                    new.write_bytes(key + REGISTERED[key])
                    new.replace(kept)
        return REGISTERED[key]

    def build(self, box, exercise, path, processors):
        """Makes the program of a submission; why there is none, or ''."""
        data, found, note = self.read(exercise, path)
        if note:
            return note
        file = unpack(box, exercise, path, data, found)

        def shell(command, **more):
            return self.sandboxed(["/bin/sh", "-c", command], box, writable=True, processors=processors,
                                  **{**COMPILE, **more})
        made = compilation(file, self.compiling(), self.compiling("witness"))
        done = shell(f"{made} && {{ {objects.LIST}; }} > listing")
        if done.status != 0:
            return self.not_compiled(box, done, file)
        if why := self.judged(box, file, found, shell):
            return why
        pathlib.Path(box.path, "registers.o").write_bytes(self.registered(exercise))
        linking = shlex.join([self.compiler, *self.link[1:], str(ROOT / "build/lab/harness.o"), "registers.o",
                              "linked_sim.o", "linked_witness.o", "-o", "program"])
        done = shell(f"{objects.LINKABLE} && {linking}")
        return "" if done.status == 0 else self.not_compiled(box, done, file)

    def judged(self, box, file, found, shell):
        """Why a compiled submission is refused, or ''."""
        rewritten = pathlib.Path(box.path, REWRITTEN).read_text(encoding="utf-8", errors="replace")
        added = collections.Counter(submission.NAME.findall(rewritten))
        added.subtract(submission.NAME.findall(found.text))
        for name in sorted(submission.macros(found.text)):
            if added[name] > 0:
                return f"the file: #define {name}: the simulator uses this name; choose another one"

        def where(section, address):
            told = shell(shlex.join(["addr2line", "-i", "-e", "sim.o", "-j", section, hex(address)])).stdout
            lines = [int(line) for line in re.findall(rf"(?:{re.escape(file)}|/{REWRITTEN}):(\d+)", told)]
            return next((f"line {line}" for line in lines if line <= found.text.count("\n")), "")
        with open(os.path.join(box.path, "listing"), encoding="utf-8", errors="replace") as listing:
            return objects.judge(listing.read(objects.MOST_LISTING + 1), where)

    def fault(self, box, done):
        """Why the machine ended a command, or ''."""
        found = FAULT.search(done.stderr)
        return (sandbox.fault_of(box.path) or found and found[0] or short_of_memory(done)
                or done.status in (126, 127) and (done.stderr.splitlines() or ["a program is missing"])[-1] or "")

    def not_compiled(self, box, done, file):
        if why := self.fault(box, done):
            raise sandbox.Fault(why)
        if not isinstance(done.status, int):
            return {"timeout": "the compiler took too long",
                    "output": "the compiler said too much"}.get(done.status, "the compiler was stopped")
        said = done.stderr.replace(NORMAL, file).replace(f"{ROOT}/", "").replace(f"{box.path}/", "").splitlines()
        errors = ([line for line in said if "error" in line or "undefined reference" in line] or said
                  or ["no reason given"])
        text = errors[0].removeprefix(f"{os.path.dirname(file)}/")[:300]
        name = re.search(r"['\u2018](\w+)['\u2019] ((was not|has not been) declared|is not a (member|namespace))", text)
        other = name and instead(name[1])
        return f"does not compile: {text}" + (f"; {other[1]}" if other else "")

    def simulate(self, kernel, box, gpus, shapes, processors, limits, *options, result="--json"):
        """Runs the compiled submission for these shapes, in one process. (The name that it was started under, Done.)
        Done.result has the file that the option `result` names."""
        name, descriptor = sandbox.secret()
        command = ["./program", "--device", "sim", "--separate-host", "--kernel", kernel, *options,
                   *with_gpus(gpus), "--size", ",".join(f"{w}x{h}" for w, h in shapes),
                   result, f"/proc/self/fd/{descriptor}"]
        return name, self.sandboxed(command, box, argv0=name, result=descriptor, processors=processors, **limits)

    def show(self, exercise, path):
        """The result for the smallest matrix that is not right, with what is wrong in it; of the sizes that fit a
        page."""
        processor = [any_processor()]
        with sandbox.Box() as box:
            note = self.build(box, exercise, path, processor)
            for width, height in SHOWN if not note else ():
                name, done = self.simulate(exercise.kernel, box, exercise.gpus, [(width, height)], processor, RUN,
                                           "--print")
                if done.status != 0:
                    return shown_matrix(exercise, width, height, *told_of(done, name))
        return note or (f"Right for floats at {', '.join(f'{w} x {h}' for w, h in SHOWN)}{on_gpus(exercise)}. "
                        "Larger matrices and doubles are not shown; "
                        "the check names what is wrong there.")

    def page(self, exercise, path, to):
        """Writes the page of the first run whose cost is checked, with what is wrong there. '' or why there is none."""
        processor = [any_processor()]
        width, height, type_, machine = exercise.costs(0)[0].runs[0]
        gpus, card = gpus_of(machine)
        with sandbox.Box() as box:
            note = self.build(box, exercise, path, processor)
            if note: return note
            name, done = self.simulate(exercise.kernel, box, gpus, [(width, height)], processor, RUN, "--type", type_,
                                       *(["--machine", card] if card else []), result="--page")
            if not done.result:
                return "; ".join(found.text for found in last_words(done.stderr, name)) or "the run was stopped"
            whole.write(to, done.result.replace(name, os.path.basename(path)))
        return ""

    def run_all(self, exercise, seed, box, processors):
        """A Run for each that the checks ask for. The shapes of a type and machine share a process; if that shows
        the faults of only some, the others share another; each shape without a result then runs alone."""
        wanted, runs, stopped = {}, {}, 0
        for check in [*exercise.right(seed), *exercise.costs(seed), *exercise.limits(seed)]:
            for width, height, type_, machine in check.runs:
                wanted.setdefault((type_, machine), {})[width, height] = None

        def run(shapes, *key):
            nonlocal stopped
            if stopped == MOST_STOPPED:
                return {
                    shape: Run(*shape, *key, None, [Finding("", "not run, because other runs were stopped")], "",
                               "timeout")
                    for shape in shapes}
            status, told = self.run(exercise, box, shapes, *key, processors)
            stopped += status == "timeout"
            return told

        for key, shapes in wanted.items():
            told = run(list(shapes), *key)
            rest = [shape for shape in shapes if shape not in told]
            if told and rest:
                told.update(run(rest, *key))
            for shape in shapes:
                runs[(*shape, *key)] = told[shape] if shape in told else run([shape], *key)[shape]
        return runs

    def run(self, exercise, box, shapes, type_, machine, processors):
        """(status, {shape: Run}) of one process; of several shapes, only those with a result or a finding. A single
        shape always has one."""
        limits = RUN if len(shapes) > 1 else {**RUN, "cpu": (RUN["cpu"] + 1) // 2}
        gpus, card = gpus_of(machine)
        name, done = self.simulate(exercise.kernel, box, gpus, shapes, processors, limits, *options_of(type_, card))
        status, lines = status_of(done), accounts(done.result, name)
        if status not in (0, 1, 2, "timeout") and (why := self.fault(box, done)):
            raise sandbox.Fault(why)
        rows = verified_rows(lines, exercise.kernel, shapes, type_, gpus) if status == 0 else {}
        told = {}
        for line in lines:
            shape, found = (line["width"], line["height"]), findings(line)
            bypassed = not_counted(rows[shape]) if shape in rows else []
            if shape in rows and not bypassed:
                told[shape] = Run(*shape, type_, machine, rows[shape], [], line["text"], status,
                                  line["kernels"][0]["accesses"])
            elif bypassed or status in (0, 1, 2) and found:  # 2: each launch was refused
                told[shape] = Run(*shape, type_, machine, None, bypassed or found, "", status if bypassed else 1)
        if len(shapes) == 1 and shapes[0] not in told:
            told[shapes[0]] = Run(*shapes[0], type_, machine, None, last_words(done.stderr, name), "", status)
        return status, told


    def escaped(self, exercise, seed, runs, box, processors):
        """What the second witness saw in one run of those that judge the cost, and the hooks did not; or ''. Cost is
        judged by the worst run, so one that hides accesses hides them in each."""
        keys = [key for check in exercise.costs(seed) for key in map(tuple, check.runs)
                if runs[key].row and runs[key].type == WITNESS_TYPE]
        if not keys:
            return ""
        small = [key for key in keys if key[0] * key[1] <= MOST_AGAIN] or keys
        width, height, type_, machine = random.SystemRandom().choice(small)
        gpus, card = gpus_of(machine)
        name, done = self.simulate(WITNESS, box, gpus, [(width, height)], processors, RUN, *options_of(type_, card))
        again = accounts(done.result, name)
        if not again:
            return f"the run of {width} x {height} in which each access is seen a second time did not end"
        counted = {"kernels": [{"accesses": runs[width, height, type_, machine].accesses}], "findings": []}
        return next((
            f"{place}:{line}: {text}; a compiler that watches accesses leaves out those beside constant objects: index "
            "each array within its bounds" for place, line, text in audit.unseen(counted, again[0], exactly=True)), "")


def options_of(type_, card):
    return ["--explain", "--type", type_, *(["--machine", card] if card else []),
            "--seed", str(random.SystemRandom().randrange(1 << 16, 1 << 30))]


def with_gpus(gpus):
    return [] if gpus is None else ["--gpus", str(gpus)]


def on_gpus(exercise):
    return "" if exercise.gpus is None else f" on {exercise.gpus} GPUs"


def short_of_memory(done):
    """Why a command got no memory that its limit allows, or ''."""
    if not re.search("out of memory|virtual memory exhausted|bad_alloc", done.stdout + done.stderr):
        return ""
    free = re.search(r"MemAvailable: *(\d+) kB", pathlib.Path("/proc/meminfo").read_text(encoding="ascii"))
    return "" if not free or int(free[1]) << 10 > COMPILE["memory"] else (
        f"the machine has {int(free[1]) / 1e6:.1f} GB of memory left; end other programs, or grade with fewer JOBS=")


def status_of(done):
    """The exit status of a run, or the name of what stopped it: timeout, memory, killed."""
    if done.status == 2 and "out of memory" in done.stdout + done.stderr:
        return "memory"
    return "killed" if done.status == "output" or isinstance(done.status, int) and done.status < 0 else done.status


def accounts(result, name):
    """The lines of --json of the program that was started under this name, as dictionaries. A line that is cut off, or
    of another program, is left out: the program was stopped, or it was not the harness that wrote."""
    lines = []
    for text in result.split("\n"):
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and line.get("program") == name:
            lines.append(line)
    return lines


def findings(line):
    """What was reported as wrong in the account of a run."""
    def reached():
        """How many elements threads load from idata. A thread that loads none has none to store."""
        loads = [access for kernel in line["kernels"] for access in kernel["accesses"]
                 if access["access"] == "load" and access["memory"] in ("global", "peer")]
        return sum(load["accesses"] * load["element_bytes"] for load in loads) // SIZES[line["type"]]

    def text(found):
        times = f" ({found['count']} times)" if found["count"] > 1 else ""
        every = line["width"] * line["height"]
        if found["text"].endswith("(never written)") and (n := reached()) < every:
            times += f"; threads load {n} of {every} elements, so no thread comes to the others: look at the grid"
        return f"{found['kernel']}: {found['text']}{times}" if found["kernel"] else found["text"] + times

    return [Finding(found["kind"], text(found), found["costs_points"], found["in_shared_memory"], found["wrong"])
            for found in line["findings"]]


def last_words(stderr, name):
    """Messages of a program that was stopped before it could write its line: they begin with its name."""
    return [Finding("", line[len(name) + 2:]) for line in stderr.splitlines()
            if line.startswith(name + ": ")]


def told_of(done, name):
    """(status, the rows of odata or [], findings) of a run with --print of one matrix."""
    line = next(iter(accounts(done.result, name)), None)
    odata = line["kernels"][0]["odata"] if line and line["kernels"] else None
    return status_of(done), odata or [], findings(line) if line else last_words(done.stderr, name)


def belongs(exercise, row, column, width, height):
    """The number of the element of idata that belongs at this place of odata, in a matrix no larger than a tile."""
    turned = (exercise.produces == "transpose"
              or exercise.produces == "tile-local transpose" and row < width and column < height)
    return column * width + row if turned else row * width + column


def shown_matrix(exercise, width, height, status, found, findings):
    """The matrix around the first wrong element, each element as its number in idata. A wrong element is shown with the
    number that belongs there. `found`: the rows of odata as --print has them, or []."""
    name = f"idata has {height} rows x {width} columns{on_gpus(exercise)}"
    told = [said(finding.text, "float") for finding in findings[:3]] or [ending(status)]
    wanted = [[str(belongs(exercise, r, c, width, height)) for c in range(len(row))] for r, row in enumerate(found)]
    wrong = [(r, c) for r, row in enumerate(found) for c, cell in enumerate(row) if cell != wanted[r][c]]
    if not wrong:
        return "\n".join([
            f"{name}. {'Every element of odata is right, but:' if found else 'There is no result:'}", *told])
    top, left = (max(0, min(first - 1, of - WINDOW)) for first, of in zip(wrong[0], (len(found), len(found[0]))))
    rows, columns = range(len(found))[top:top + WINDOW], range(len(found[0]))[left:left + WINDOW]
    cells = [[found[r][c] if found[r][c] == wanted[r][c] else f"{found[r][c]}!{wanted[r][c]}" for c in columns]
             for r in rows]
    wide = max(len(cell) for row in cells for cell in row)
    part = (f", rows {rows[0]} to {rows[-1]} and columns {columns[0]} to {columns[-1]} of {len(found)} x "
            f"{len(found[0])}") if len(cells) < len(found) or len(cells[0]) < len(found[0]) else ""
    return "\n".join([f"{name}, its elements numbered row by row. In odata, 5!3 marks element 5 in the place of "
                      f"element 3, and ?!3 a value that is no element. odata{part}:", "",
                      *[" ".join(f"{cell:>{wide}}" for cell in row) for row in cells], "", *told])


def verified_rows(lines, kernel, shapes, type_, gpus=None):
    """{shape: row} of accounts that have only the rows asked for; {} of any others."""
    found = {}
    for row in (kernel["row"] for line in lines for kernel in line["kernels"]):
        shape = int(row["width"]), int(row["height"])
        wanted = {
            "kernel": kernel, "verified": "yes", "type": type_, "backend": "sim",
            "gpus": None if gpus is None else str(gpus)}
        if any(row.get(column) != cell for column, cell in wanted.items()) or shape not in shapes or shape in found:
            return {}
        found[shape] = row
    return found


def not_counted(row):
    """The finding on a run with a right result that bypassed the simulator: each element is loaded and stored at least
    once, and it moved fewer bytes. [] of any other."""
    moved = int(row["global_bytes_moved"])
    needed = 2 * int(row["width"]) * int(row["height"]) * int(row["element_bytes"])
    return [] if moved >= needed else [Finding("", (
        f"the result is right, but the simulator counted {moved} bytes of loads and stores, and this matrix needs "
        f"{needed}: load each element into a variable by an assignment of its own, and store it by another one"))]


def judged(check, runs):
    """(share, hint) of a check; never full where a run gave neither a verified result nor a finding: a finding is the
    harness's, and a check may find that it is about something else."""
    mine = {key: runs[key] for key in map(tuple, check.runs)}
    share, hint = check.judge(mine)
    if share == 1:
        for run in mine.values():
            if not run.row and not any(finding.kind for finding in run.findings):
                return 0, (f"No result for a matrix of {run.height} rows x {run.width} columns of {run.type}: "
                           f"{run.findings[0].text if run.findings else ending(run.status)}.")
    return share, hint


def modelled(run):
    """The model's time for these counts."""
    return (f"{float(run.row['model_time_over_copy']):.2f} times the time of a copy, in a matrix larger than the L2 "
            f"of the {run.row['machine']}; "
            f"limited by {run.row['model_time_over_copy_limit']}. Arithmetic is not in the model")


def ungraded(number, why):
    """A verdict without points, because the machine or the grader failed."""
    return {"exercise": number, "total": None, "of": 100, "checks": [], "note": f"not graded: {why}", "explain": "",
            "model": "", "seconds": 0, "needs": True}


NOT_RIGHT = "Cost earns a quarter until the kernel is right and clean everywhere."


def verdict_of(exercise, seed, runs, note="", seconds=0):
    """{exercise, total, of, checks: [{name, what, points, of, hint}], note, explain, seconds, seed}. `note`: why
    nothing was run, with a line for each reason; `explain`: the simulator's account of each line, from the first
    verified run, those of a cost first; `model`: the model's time for the counts of a cost, or of a limit, where it is
    longest.

    Checks of the result earn their points separately. The points for cost are divided by the largest limit that is
    exceeded, and by 4 until all checks of the result pass, but for those that a check of the cost may do without."""
    right, costs = exercise.right(seed), exercise.costs(seed)
    given = [(0, "not run: see above") if note else judged(check, runs) for check in [*right, *costs]]
    divisor, why = 1, []
    if not note:
        divisor, why = max(
            (limit.judge({key: runs[key] for key in map(tuple, limit.runs)}) for limit in exercise.limits(seed)),
            default=(1, ""))
        why = [f"Divided by {divisor:.3g}: {why}."] if divisor > 1 else []
    missed = {check.name for check, (share, _) in zip(right, given) if share < 1}
    faulty = bool(missed) or not note and not all(runs[key].row for check in costs for key in map(tuple, check.runs))
    checks = []
    for i, (check, (share, hint)) in enumerate(zip([*right, *costs], given)):
        if i >= len(right) and share > 0:
            forgiven = missed <= set(check.despite) and missed & set(check.despite[:1])
            quarter = faulty and not (forgiven and all(runs[tuple(key)].row for key in check.runs))
            share = share / divisor / (4 if quarter else 1)
            hint = " ".join([hint, *why, *([NOT_RIGHT] if quarter else [])]).strip()
        checks.append({
            "name": check.name, "what": check.what, "points": int(check.points * share + 1e-9), "of": check.points,
            "hint": hint})
    counted = [] if note else [runs[key] for each in [*costs, *exercise.limits(seed)] for key in map(tuple, each.runs)]
    firsts = [*counted, *([] if note else [runs[tuple(check.runs[0])] for check in right])]
    slowest = max((run for run in counted if run.row and run.row["model_time_over_copy"]),
                  key=lambda run: float(run.row["model_time_over_copy"]), default=None)
    return {"exercise": exercise.number, "total": sum(c["points"] for c in checks), "of": sum(c["of"] for c in checks),
            "checks": checks, "note": note, "explain": next((run.explain for run in firsts if run.explain), ""),
            "model": modelled(slowest) if slowest else "", "seconds": round(seconds, 2), "seed": seed}


def bandwidth(lab, exercise, path):
    """(percent of cudaMemcpy's bandwidth on this machine's GPU, '') or (None, why there is none). Only for a text that
    the reader accepted. It is compiled and run in the sandbox, which has the devices of the GPU then."""
    if not lab.cuda:
        return None, "no GPU, or no nvcc"
    if exercise.gpus is not None:
        return None, "not measured, because this exercise is for several GPUs and runs on the simulator alone"
    devices = sorted(str(path) for path in pathlib.Path("/dev").glob("nvidia*") if not path.is_dir())
    nvcc = shutil.which(lab.cuda[0]) or lab.cuda[0]
    toolkit = outside_the_system(*(os.path.dirname(os.path.dirname(path)) for path in (nvcc, os.path.realpath(nvcc))))
    made = ROOT / "build/common/devices"
    more = [str(made)] * made.is_dir() + [*toolkit, *sandbox.mounted_below()]
    with sandbox.Box() as box:
        def run(command, seconds):
            return lab.sandboxed(command, box, more=more, devices=devices, writable=True, cpu=seconds, wall=seconds,
                                 memory=None, processes=256, file_size=1 << 30)

        if why := lab.build(box, exercise, path, [any_processor()]):  # again: the file may be another one by now
            return None, brief(why)
        found = lab.read(exercise, path)[1]
        # nvcc takes no commas
        (types,) = [
            word.removeprefix("-DELEMENT_TYPES=") for word in lab.command if word.startswith("-DELEMENT_TYPES=")]
        # nvcc gives a path to a shell as it is, and ROOT may have any characters
        pathlib.Path(box.path, "build").symlink_to(ROOT / "build")
        cuda = sorted(f"build/common/devices/{file.name}" for file in made.glob("*.cuda.o"))
        pathlib.Path(box.path, "gpu.cu").write_text(
            f'#define ELEMENT_TYPES {types}\n#include "common/step.h"\n#line 1 "{exercise.file}"\n{found.text}\n'
            f'KERNEL({exercise.kernel}, "-", {exercise.registers}, {found.launcher})\n', encoding="utf-8")
        for command, seconds in (
            [[nvcc, *lab.cuda[1:], "build/lab/harness.o", "gpu.cu", *cuda, "-o", "program"], 120],
            [["./program", "--device", "cuda", "--kernel", exercise.kernel, "--csv", "gpu.csv"], 60]):
            done = run(command, seconds)
            if done.status:
                return None, (done.stderr.strip().splitlines()
                              or [f"{os.path.basename(command[0])}: {STOPPED.get(done.status, done.status)}"])[0]
        with open(os.path.join(box.path, "gpu.csv"), encoding="utf-8") as file:
            percent = [float(row["bandwidth_percent_of_memcpy"]) for row in csv.DictReader(file)
                       if row["kernel"] == exercise.kernel and row["verified"] == "yes"]
        return (percent[0], "") if percent else (None, "no verified result")


def add_bandwidth(verdict, lab, exercise, path, least=None):
    """Adds the bandwidth on this machine's GPU as verdict['bandwidth']; with `least`, percent of cudaMemcpy's, also a
    check worth BANDWIDTH_POINTS. An exercise for several GPUs has neither."""
    percent, why_not = (None, brief(verdict["note"])) if verdict["note"] else bandwidth(lab, exercise, path)
    verdict["bandwidth"] = why_not or f"{percent:.1f} % of cudaMemcpy's bandwidth"
    if least is not None and exercise.gpus is None:
        share = 0 if percent is None else exercise.earned(percent, least)
        verdict["checks"].append({
            "name": "bandwidth", "what": f"At least {least:g} % of cudaMemcpy's bandwidth on this GPU.",
            "of": BANDWIDTH_POINTS, "points": int(BANDWIDTH_POINTS * share + 1e-9),
            "hint": "" if share == 1 else verdict["bandwidth"] + "."})
        verdict["total"], verdict["of"] = (sum(c[k] for c in verdict["checks"]) for k in ("points", "of"))


PLACED = re.compile(r"^(Not right|At|Not judged|Right for floats)[^:]* (\d+ x \d+[^:]*): ")
NUMBER = re.compile(r"(?<![\w.:-])-?\d[\w.+-]*")  # but not the line in exercise.cu:31


def report(verdict):
    """The text for students: each check and its condition, and a hint below each check that is missed. A cause is
    printed once. Where another shape shows it, too, this shape is named."""
    if verdict["note"]:
        title = f"exercise {verdict['exercise']}: "
        note = verdict["note"].replace("\n", "\n" + " " * len(title))
        return f"{title}{note}\n   0 / {verdict['of']}  in all"
    lines, said = [], set()
    for check in verdict["checks"]:
        lines.append(f"{check['points']:4} / {check['of']:<3}  {check['name']}: {check['what']}")
        hints = []
        for hint in (check["hint"].removesuffix(NOT_RIGHT).strip(), NOT_RIGHT * check["hint"].endswith(NOT_RIGHT)):
            placed = PLACED.match(hint)
            cause = NUMBER.sub("", hint[placed.end():] if placed else hint)
            hints += [hint] if cause and cause not in said else []
            if cause in said and not (hint == NOT_RIGHT and hints):
                hints.append(f"As above, at {placed[2]}." if placed else "As above.")
            said |= {cause} - {""}
        if hints:
            lines.append(f"{'':12}-> {' '.join(hints)}")
    if verdict["model"]:
        lines.append(f"{'model:':>10}  {verdict['model']}")
    return "\n".join([
        *lines, f"{verdict['total']:4} / {verdict['of']:<3}  in all" +
        ("" if verdict["total"] == verdict["of"] else f" (below {verdict['of']}, make ends with an error)")])


def refuse_bandwidth(exercise, least):
    """BadInput where a bandwidth is to be graded that an exercise does not have."""
    if least is not None and exercise.gpus is not None:
        raise BadInput(f"--graded-bandwidth: exercise {exercise.number} is for several GPUs and runs on the "
                       "simulator alone; leave the option out")


def named_seed(name, seed=None):
    """The seed that is drawn from a name. BadInput: there is another one, or no name."""
    if seed is not None:
        raise BadInput("--seed and --name: choose one")
    if not names.normalised(name):
        raise BadInput("--name: the name is empty")
    return names.seed_of(name)


def program(main, name):
    """The exit status of a program of the lab, as of whole.run(); 130 after an interruption."""
    def uninterrupted():
        try:
            return main()
        except sandbox.Interrupted:
            return 130
    sandbox.end_on_signals()
    for stream in range(3):  # a pipe in the place of a closed one would be taken for it
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    return whole.run(uninterrupted, name, (BadInput, RuntimeError))


def main():
    parser = command_line.parser(
        "Checks the submission of an exercise. Exit status: 0 full points, 1 fewer, 2 bad "
        "input.")
    parser.add_argument("number", metavar="NN", help="which exercise: 1 to 9")
    parser.add_argument("--file", help="the submission; default: the exercise in the folder of the step")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.add_argument("--explain", action="store_true",
                        help="also print the cost of each load and store of the kernel")
    parser.add_argument("--show", action="store_true", help="print, instead of points, the result for the smallest of "
                                                            "some matrices of floats that is not right")
    parser.add_argument("--page", metavar="FILE", help="also write a page: the source with its costs, requests drawn")
    parser.add_argument("--exercises", metavar="FILE", help="the file of exercises; default: lab/exercises.py")
    parser.add_argument("--graded-bandwidth", type=float, metavar="SHARE",
                        help=f"on a GPU, add {BANDWIDTH_POINTS} points for SHARE percent of cudaMemcpy's bandwidth")
    parser.add_argument("--seed", type=int, metavar="N",
                        help="the seed of the shapes that are not on the page, to repeat a run")
    parser.add_argument("--name", help="draw these shapes from a name: the same ones in every run")
    options = parser.parse_args()
    if options.name is not None:
        options.seed = named_seed(options.name, options.seed)
    exercise, lab = exercise_of(load_exercises(options.exercises), options.number), Lab()
    path = options.file or ROOT / exercise.step / exercise.file
    refuse_bandwidth(exercise, options.graded_bandwidth)
    if options.show:
        print(lab.show(exercise, path))
        return 0
    verdict = lab.check(exercise, path, seed=options.seed)
    why_not = options.page and lab.page(exercise, path, options.page)
    if why_not:
        print(f"check: --page {options.page}: not written: {why_not}", file=sys.stderr)
    add_bandwidth(verdict, lab, exercise, path, options.graded_bandwidth)
    if options.json:
        print(json.dumps(verdict, indent=1))
    else:
        if options.explain:
            print(verdict["explain"].strip() or "Nothing to explain, because no result is right and clean.", end="\n\n")
        print(report(verdict))
        if lab.cuda and not verdict["note"]:
            print(f"on this GPU: {verdict['bandwidth']}")
        if not lab.isolate:
            print("This system allows no namespaces, so submissions ran without a part of the sandbox. The points are "
                  f"the same. The reason: {lab.why_not}")
    return 0 if verdict["total"] == verdict["of"] else 1


if __name__ == "__main__":
    sys.exit(program(main, "check"))
