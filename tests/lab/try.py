"""Grades hand-outs, reference solutions and wrong ones, and says where a verdict is not what it should be.

    python3 tests/lab/try.py [FILE.cu ...]      (after `make all NVCC=`)
"""

import concurrent.futures
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "lab"))
from exercises import EXERCISES, Run  # noqa: E402

FLAGS = "-std=c++17 -I. -Wall -Wextra -Werror -O2 -pthread -x c++ -Wno-unknown-pragmas -O1 -g -fno-optimize-sibling-calls".split()
OBJECTS = sorted(str(path) for path in (ROOT / "build/common").rglob("*.o"))


def build(source):
    """The program of one submission, and what the compiler said."""
    name = str(source.relative_to(ROOT)).replace("/", "_").replace(".cu", "")
    folder = ROOT / "build/lab" / name
    folder.mkdir(parents=True, exist_ok=True)
    (ROOT / "build/lab/common").exists() or (ROOT / "build/lab/common").symlink_to("../../common")
    shutil.copy(source, folder / "exercise.cu")
    where = folder.relative_to(ROOT)
    done = subprocess.run(["g++", *FLAGS, "-c", f"{where}/exercise.cu", "-o", f"{where}/exercise.o"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        done = subprocess.run(["g++", "-pthread", f"{where}/exercise.o", *OBJECTS, "-o", f"{where}/exercise"], cwd=ROOT, capture_output=True, text=True)
    return folder / "exercise", done.stderr if done.returncode else ""


def run(program, kernel, key):
    width, height, type_, machine = key
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "out.csv"
        done = subprocess.run([program, "--device", "sim", "--kernel", kernel, "--size", f"{width}x{height}", "--type", type_, "--machine", machine,
                               "--explain", "--csv", file], cwd=ROOT, capture_output=True, text=True, timeout=120, errors="replace")
        rows = list(csv.DictReader(file.open())) if file.exists() else []
    findings = [re.sub(r"^exercise: ", "", line) for line in done.stderr.splitlines()]
    return Run(width, height, type_, machine, rows[0] if rows else None, findings, done.stdout, done.returncode)


def grade(source, exercise):
    program, complaint = build(source)
    if complaint:
        return {check.name: "Does not compile: " + complaint for check in exercise.checks}
    found = {}
    for check in exercise.checks:
        for key in check.runs:
            if key not in found:
                found[key] = run(program, exercise.kernels[0], key)
    shutil.rmtree(program.parent)
    return {check.name: check.judge(found) for check in exercise.checks}


def main():
    given = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
    sources = given or sorted([*ROOT.glob("step0?_*/exercise.cu"), *ROOT.glob("tests/lab/solutions/*.cu"), *ROOT.glob("tests/lab/wrong/*.cu")])
    number = lambda source: int(re.search(r"step0(\d)", str(source.relative_to(ROOT))).group(1))  # noqa: E731
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = pool.map(lambda source: grade(source, EXERCISES[number(source)]), sources)
        for source, hints in zip(sources, verdicts):
            exercise = EXERCISES[number(source)]
            lost = [check.name for check in exercise.checks if hints[check.name]]
            points = sum(check.points for check in exercise.checks if check.name not in lost)
            trouble = ""
            if "wrong" in source.parts:
                first, second = source.read_text().splitlines()[:2]
                due = re.match(r"// loses: (.*)", first).group(1).split(", ")
                words = re.match(r"// hint: (.*)", second).group(1)
                if sorted(due) != sorted(lost):
                    trouble = f"should lose {', '.join(due)}"
                elif not any(words in hint for hint in hints.values()):
                    trouble = f"no hint says: {words}"
            elif "solutions" in source.parts and points < 100:
                trouble = "should lose nothing"
            elif source.name == "exercise.cu" and points == 100:
                trouble = "nothing is left to do"
            failed += bool(trouble)
            print(f"{points:3} {source.relative_to(ROOT)}  {', '.join(lost)}{'   <-- ' + trouble if trouble else ''}", flush=True)
            if trouble or given or source.name == "exercise.cu":
                for name, hint in hints.items():
                    if hint:
                        print(f"      {name}: {hint}")
    return failed > 0


sys.exit(main())
