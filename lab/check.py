"""Checks one submission: python3 lab/check.py NN [--file FILE] [--json] [--exercises PATH] [--graded-bandwidth SHARE]

Reads the text (lab/source.py), compiles it for the simulator and runs it in a sandbox (lab/sandbox.py) on all shapes, types
and machines that the exercise's checks ask for, and lets each check judge. Exit status: 0 full points, 1 fewer, 2 bad input.

Where a verdict comes from. The program is the submission and the harness in one process. A run counts when the program
ended with status 0, its first line of output begins with the name it was started under, and a results table, whole,
with one verified row for each matrix asked for and nothing else, came through a pipe: it has no name in the file system, and
the number of its descriptor is drawn anew for each process, as the program's name is. So nothing that a submission
can have written down beforehand (a file left behind, a table printed, exit(0) before main) is taken for a result. It does
not protect against machine code that looks around in its own process (the command line tells the number) or changes
the harness there: that is what lab/source.py is for, which leaves no way to name such a thing.
"""

import argparse
import csv
import importlib.util
import io
import json
import os
import pathlib
import re
import shlex
import stat
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "lab"))

import sandbox  # noqa: E402
import source   # noqa: E402

COMPILE = {"cpu": 20, "wall": 40, "memory": 2 << 30, "file_size": 64 << 20, "processes": 32, "output": 1 << 16}
RUN = {"cpu": 8, "wall": 12, "memory": 1 << 30, "processes": 16, "output": 4 << 20}
STOPPED = 2  # so many runs may be stopped before the rest is not started


class BadInput(Exception):
    pass


def load_exercises(path=None):
    path = pathlib.Path(path or ROOT / "lab/exercises.py")
    if not path.is_file():
        raise BadInput(f"{path}: no such file of exercises")
    spec = importlib.util.spec_from_file_location("exercises", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["exercises"] = module
    spec.loader.exec_module(module)
    return module


def exercise_of(exercises, number):
    try:
        return exercises.EXERCISES[int(number)]
    except (ValueError, KeyError):
        raise BadInput(f"exercise {number}: expected one of {', '.join(f'{n:02}' for n in sorted(exercises.EXERCISES))}") from None


def folder_of(exercise):
    """step04 or step04_padding: the folder step04_padding."""
    found = sorted(ROOT.glob(f"{exercise.step}*/"))
    return found[0].name if found else exercise.step


def read_submission(path):
    """The text of a regular file that is no link, or BadInput."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise BadInput(f"{path}: {'a link' if os.path.islink(path) else error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise BadInput(f"{path}: not a file")
    with os.fdopen(handle, "rb") as file:
        return file.read((1 << 16) + 1).decode("utf-8", "replace")


class Lab:
    """What all checks share. `isolate`: by namespaces, where they can be had; `trust`: skip the check of the text (tests)."""

    def __init__(self, exercises, isolate=True, trust=False):
        self.exercises, self.trust = exercises, trust
        self.why_not = sandbox.isolation() if isolate else "not wanted"
        self.isolate = not self.why_not
        try:
            self.command, self.cuda = [shlex.split(line) for line in (ROOT / "build/lab/command").read_text().splitlines()]
            self.foreign = frozenset((ROOT / "build/lab/names").read_text().split())
        except OSError:
            raise BadInput("build/lab is not there: make lab-ready") from None
        compiler = next((os.path.join(p, self.command[0]) for p in os.environ.get("PATH", "").split(":") + [""]
                         if os.path.isfile(os.path.join(p, self.command[0]))), None)
        if not compiler:
            raise BadInput(f"{self.command[0]}: no such compiler")
        self.compiler = os.path.realpath(compiler)

    def sandboxed(self, command, box, **options):
        return sandbox.run(command, box, isolate=self.isolate, visible=[str(ROOT / "common"), str(ROOT / "build/lab")], **options)

    def produces(self, exercise):
        """What the hand-out registers: a submission must not register a kernel for something easier."""
        handout = ROOT / folder_of(exercise) / "exercise.cu"
        text = handout.read_text() if handout.is_file() else ""
        return frozenset(re.findall(r"^KERNEL\(\s*\w+\s*,\s*\"[^\"]*\"\s*,\s*(\w+(?:\(\w+\))?)", text, re.MULTILINE)) or frozenset({"transposes"})

    def check(self, exercise, path, processor=None):
        """The verdict: {exercise, total, of, checks: [{name, what, points, of, hint}], note, seconds}."""
        start = time.monotonic()
        text = read_submission(path)
        runs, note = {}, "" if self.trust else source.check(text, self.foreign, self.produces(exercise), exercise.kernels)
        if not note:
            with sandbox.Box() as box:
                folder = pathlib.Path(box.path, folder_of(exercise))
                folder.mkdir()
                (folder / "exercise.cu").write_text(text)
                os.symlink(ROOT / "common", os.path.join(box.path, "common"))
                note = self.compile(box, f"{folder.name}/exercise.cu", processor)
                runs = {} if note else self.run_all(exercise, box, processor)
        checks = []
        for check in exercise.checks:
            hint = note and "not run: see above" or judged(check, runs)
            checks.append({"name": check.name, "what": check.what, "points": 0 if hint else check.points, "of": check.points, "hint": hint})
        return {"exercise": exercise.number, "total": sum(c["points"] for c in checks), "of": sum(c["of"] for c in checks), "checks": checks,
                "note": note, "seconds": round(time.monotonic() - start, 2)}

    def compile(self, box, file, processor):
        done = self.sandboxed([self.compiler, *self.command[1:], "-pipe", "-include", str(ROOT / "build/lab/step.h"), file, "-x", "none",
                               str(ROOT / "build/lab/harness.o"), "-o", "program"], box, writable=True, processor=processor, **COMPILE)
        if done.status == 0:
            return ""
        if not isinstance(done.status, int):
            return {"timeout": "the compiler took too long", "output": "the compiler said too much"}.get(done.status, "the compiler was stopped")
        errors = [line for line in done.stderr.splitlines() if "error" in line or "undefined reference" in line] or done.stderr.splitlines() or ["no reason given"]
        return f"does not compile: {errors[0][:300]}"

    def run_all(self, exercise, box, processor):
        """A Run for each that the checks ask for: all shapes of a type and machine in one process, and in one each where that fails."""
        wanted, runs, stopped = {}, {}, 0
        for check in exercise.checks:
            for width, height, type_, machine in check.runs:
                wanted.setdefault((type_, machine), {})[width, height] = None
        for (type_, machine), shapes in wanted.items():
            shapes = list(shapes)
            together = self.run(exercise, box, shapes, type_, machine, processor) if stopped < STOPPED and len(shapes) > 1 else {}
            stopped += any(run.status == "timeout" for run in together.values())
            for shape in shapes:
                if shape in together and together[shape].row:
                    run = together[shape]
                elif stopped < STOPPED:
                    run = self.run(exercise, box, [shape], type_, machine, processor)[shape]
                    stopped += run.status == "timeout"
                else:
                    run = self.exercises.Run(width=shape[0], height=shape[1], type=type_, machine=machine, row=None, explain="", status="timeout",
                                             findings=["not run: others had to be stopped"])
                runs[(*shape, type_, machine)] = run
        return runs

    def run(self, exercise, box, shapes, type_, machine, processor):
        name, descriptor = sandbox.secret()
        done = self.sandboxed(["./program", "--device", "sim", "--explain", "--kernel", ",".join(exercise.kernels), "--type", type_,
                               *(["--machine", machine] if machine else []), "--size", ",".join(f"{w}x{h}" for w, h in shapes),
                               "--csv", f"/proc/self/fd/{descriptor}"], box, argv0=name, result=descriptor, processor=processor, **RUN)
        status = done.status
        if status == 2 and "out of memory" in done.stderr:
            status = "memory"
        elif status == "output" or isinstance(status, int) and status < 0:
            status = "killed"
        rows = verified_rows(done, name, exercise.kernels, shapes, type_) if status == 0 else {}
        findings = [line[len(name) + 2:] for line in done.stderr.splitlines() if line.startswith(name + ": ") and " --csv " not in line]
        texts = {}
        for part in re.split(r"^(?=idata: )", done.stdout, flags=re.MULTILINE)[1:]:
            height, width = map(int, re.match(r"idata: (\d+) rows x (\d+) columns|", part).groups())
            texts[width, height] = part
        runs = {}
        for width, height in shapes:
            row = rows.get((width, height))
            run = self.exercises.Run(width=width, height=height, type=type_, machine=machine, row=row and row[exercise.kernels[0]],
                                     findings=findings, explain=texts.get((width, height), "") if row else "", status=status)
            run.rows = row or {}  # of every kernel, where an exercise has several
            runs[width, height] = run
        return runs


def verified_rows(done, name, kernels, shapes, type_):
    """{shape: {kernel: row}} of a results table that is what was asked for, and nothing for any other."""
    if not done.stdout.startswith(name + " on the simulator"):
        return {}
    found = {}
    for row in csv.DictReader(io.StringIO(done.result)):
        try:
            kernel, shape = row["kernel"], (int(row["width"]), int(row["height"]))
            # Every element is at least loaded and stored: who carries fewer bytes went past the simulator.
            carried = int(row["global_bytes_moved"]) >= 2 * shape[0] * shape[1] * int(row["element_bytes"])
        except (KeyError, TypeError, ValueError):
            return {}
        of_shape = found.setdefault(shape, {})
        if kernel not in kernels or shape not in shapes or kernel in of_shape or row["verified"] != "yes" or row["type"] != type_ or row["backend"] != "sim" \
                or None in row or not carried:
            return {}
        of_shape[kernel] = row
    return found if all(set(found.get(shape, ())) == set(kernels) for shape in shapes) else {}


def judged(check, runs):
    """The hint of a check; never '' where a run gave neither a verified result nor a report: a report begins with the
    name that the program was started under, so it is the harness's, and a check may find that it is about something else."""
    mine = {key: runs[key] for key in map(tuple, check.runs)}
    hint = check.judge(mine)
    if not hint:
        for run in mine.values():
            if not run.row and not (run.status in (1, 2) and run.findings):
                return f"no result for a matrix of {run.height} rows x {run.width} columns of {run.type}: {run.status}"
    return hint


def bandwidth(lab, exercise, path):
    """Of each kernel on the GPU at hand: percent of cudaMemcpy's bandwidth; {} without a GPU. Not in the sandbox's namespaces, where no GPU is."""
    step = ROOT / exercise.step.split("_")[0]
    if not lab.cuda or not step.exists() or subprocess.run([step, "--device", "cuda", "--once", "--size", "32"], capture_output=True).returncode:
        return {}
    with sandbox.Box() as box:
        folder = pathlib.Path(box.path, folder_of(exercise))
        folder.mkdir()
        (folder / "exercise.cu").write_text(read_submission(path))
        os.symlink(ROOT / "common", os.path.join(box.path, "common"))
        objects = [str(ROOT / "build/lab/harness.o"), *map(str, (ROOT / "build/common/cuda").glob("*.cuda.o"))]
        flags = [flag for flag in lab.cuda if flag not in ("-MMD", "-MP")]
        built = subprocess.run([*flags, f"{folder.name}/exercise.cu", *objects, "-o", "program"], cwd=box.path, capture_output=True, text=True, timeout=120)
        if built.returncode:
            return {}
        try:
            done = subprocess.run(["./program", "--device", "cuda", "--kernel", ",".join(exercise.kernels), "--csv", "gpu.csv"], cwd=box.path,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            return {}
        if done.returncode:
            return {}
        with open(os.path.join(box.path, "gpu.csv")) as file:
            return {row["kernel"]: float(row["bandwidth_percent_of_memcpy"]) for row in csv.DictReader(file) if row["kernel"] in exercise.kernels}


def report(verdict):
    lines = [f"exercise {verdict['exercise']}: {verdict['note']}"] if verdict["note"] else []
    for check in verdict["checks"]:
        lines.append(f"{check['points']:4} / {check['of']:<3} {check['name']}: {check['hint'] or 'ok'}")
    return "\n".join([*lines, f"{verdict['total']:4} / {verdict['of']:<3} in all"])


def main():
    parser = argparse.ArgumentParser(description="Checks the submission of an exercise.")
    parser.add_argument("number")
    parser.add_argument("--file", help="default: exercise.cu in the folder of the step")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--exercises", help="default: lab/exercises.py")
    parser.add_argument("--graded-bandwidth", type=float, metavar="SHARE", help="with a GPU: a last point for so many percent of the copy's bandwidth")
    options = parser.parse_args()
    exercise = exercise_of(exercises := load_exercises(options.exercises), options.number)
    lab = Lab(exercises)
    path = options.file or ROOT / folder_of(exercise) / "exercise.cu"
    verdict = lab.check(exercise, path)
    measured = {} if verdict["note"] else bandwidth(lab, exercise, path)
    if options.graded_bandwidth is not None:
        least = min(measured.values(), default=0)
        verdict["checks"].append({"name": "bandwidth", "what": f"at least {options.graded_bandwidth:g} % of the copy's", "of": 1,
                                  "points": int(bool(measured) and least >= options.graded_bandwidth),
                                  "hint": "" if measured and least >= options.graded_bandwidth else f"{least:.1f} % of the copy" if measured else "nothing measured: is there a GPU?"})
        verdict["total"], verdict["of"] = (sum(c[k] for c in verdict["checks"]) for k in ("points", "of"))
    verdict["bandwidth_percent_of_copy"] = measured
    if options.json:
        print(json.dumps(verdict, indent=1))
    else:
        print(report(verdict))
        for kernel, percent in measured.items():
            print(f"{kernel}: {percent:.1f} % of the bandwidth of a copy on this GPU")
        if not lab.isolate:
            print(f"(run without namespaces: {lab.why_not})")
    return 0 if verdict["total"] == verdict["of"] else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BadInput as error:
        print(f"check: {error}", file=sys.stderr)
        sys.exit(2)
