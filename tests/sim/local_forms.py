"""Writes tests/data/nvcc_local_arrays.csv: for each kernel of tests/sim/seen/local_forms.cu, the stack frame that nvcc
makes, and where the simulator has the array. It needs nvcc. A row in which both differ needs a reason, in its last
column, which is kept. `python3 tests/sim/local_forms.py`"""

import collections
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMS = ROOT / "tests/sim/seen/local_forms.cu"
TABLE = ROOT / "tests/data/nvcc_local_arrays.csv"
PROGRAM = "build/try/tests/sim/seen/local_forms"


def frames():
    """(nvcc's version, {form: bytes of its stack frame})"""
    version = re.search(r"V([\d.]+)", subprocess.run(["nvcc", "--version"], check=True, capture_output=True,
                                                     text=True).stdout)[1]
    done = subprocess.run(["nvcc", "-w", "-cubin", "-O3", "-Xptxas", "-v", "-arch=sm_90", "-o", os.devnull, FORMS],
                          check=True, capture_output=True, text=True)
    found = re.findall(r"Compiling entry function '_Z\d+(\w+?)PfPKfi'.*?\n.*?\n +(\d+) bytes stack frame", done.stderr)
    return version, {name: int(frame) for name, frame in found}


def simulated(table):
    """{form: local or registers}, by the simulator's table of counts."""
    requests = collections.Counter()
    for row in csv.DictReader(open(table)):
        requests[row["kernel"]] += int(row["requests"]) * (row["memory"] == "local")
    return {name: "local" if count else "registers" for name, count in requests.items()}


def main():
    version, stack = frames()
    reasons = {row["form"]: row["reason"] for row in csv.DictReader(TABLE.open())} if TABLE.exists() else {}
    subprocess.run(["make", "-s", "NVCC=", PROGRAM], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        counts = f"{folder}/counts.csv"
        subprocess.run([ROOT / PROGRAM], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "SIM_OPTIONS": f"--quiet --csv {counts}"})
        ours = simulated(counts)
    with TABLE.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["form", "nvcc", "stack_bytes", "simulator", "reason"])
        for form in ours:
            out.writerow([form, version, stack[form], ours[form], reasons.get(form, "")])
    unexplained = [form for form in ours if (stack[form] > 0) != (ours[form] == "local") and not reasons.get(form)]
    if unexplained: sys.exit(f"no reason for {', '.join(unexplained)}")


if __name__ == "__main__":
    main()
