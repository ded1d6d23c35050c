"""Which accesses the simulator sees, by classes of their forms: structures by value, the ends of arrays, alignment.
Each program of tests/sim/seen/ says at its lines what is counted or found there."""

import collections
import csv
import os
import re
import shutil

import pytest

from found import findings, lines_of as lines_of_output
from lessons import ROOT, made, run

FOLDER = ROOT / "tests/sim/seen"
CASES = ["faults", "wall", "pending", "calls", "constants", "causes"]
COUNTED = ["values"]
FAULTY = ["values_faulty", "ends", "locals", "alignment", "memories", "lanes", "races"]


@pytest.fixture(scope="session")
def with_clang(tmp_path_factory):
    """A copy of the project in which clang++ builds."""
    folder = tmp_path_factory.mktemp("clang") / "project"
    for name in ("Makefile", "mk", "common", "sim", "tests/sim/seen"):
        source, copy = ROOT / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy2(source, copy)
    return folder


@pytest.fixture(params=["g++", pytest.param("clang++", marks=[
    pytest.mark.variety,
    pytest.mark.skipif(not shutil.which("clang++"), reason="no clang++ here")])])
def tried(request):
    """Runs a program of tests/sim/seen on the simulator: tried(name, options)."""
    def by_the_checkout(name, options="", *arguments):
        return run(made(f"build/try/tests/sim/seen/{name}"), *arguments,
                   env={**os.environ, "SIM_OPTIONS": f"--quiet {options}"})

    def by_clang(name, options="", *arguments):
        folder = request.getfixturevalue("with_clang")
        if arguments:
            program = f"build/try/tests/sim/seen/{name}"
            run("make", "-s", "NVCC=", "CXX=clang++", program, cwd=folder)
            return run(folder / program, *arguments, cwd=folder, env={**os.environ, "SIM_OPTIONS": "--quiet"})
        return run("make", "-s", "NVCC=", "CXX=clang++", "try", f"FILE=tests/sim/seen/{name}.cu",
                   f"SIM=--quiet {options}", cwd=folder)

    by_clang.clang = True
    return by_the_checkout if request.param == "g++" else by_clang


def lines_of(name):
    """(number, text) of the lines. What a line expects (//!) may also stand above it, in lines of its own."""
    expected = ""
    for number, line in enumerate((FOLDER / f"{name}.cu").read_text().splitlines(), 1):
        comment = line.strip()
        if comment.startswith("//! "): expected += f"  {comment}"
        elif expected and comment.startswith("//  "): expected += " " + comment[2:].strip()
        else:
            yield number, line + expected
            expected = ""


def counts_that_the_lines_say(name):
    counts = collections.defaultdict(collections.Counter)
    for number, line in lines_of(name):
        for access, times in re.findall(r"\b([gsc][lsa]\d+)(?:x(\d+))?\b", line.partition("//= ")[2]):
            counts[number][access] += int(times or 1)
    return counts


@pytest.mark.parametrize("name", COUNTED)
def test_every_line_makes_the_requests_that_its_text_says(name, tried, tmp_path):
    done = tried(name, f"--csv {tmp_path}/counts.csv")
    assert done.returncode == 0 and not findings(done), (done.stdout + done.stderr)[-3000:]
    found = collections.defaultdict(collections.Counter)
    with open(tmp_path / "counts.csv", newline="") as file:
        for row in csv.DictReader(file):
            assert row["file"].endswith(f"{name}.cu"), row
            access = row["memory"][0] + row["access"][0] + row["element_bytes"]
            found[int(row["line"])][access] += int(row["requests"])
    said = counts_that_the_lines_say(name)
    assert len(said) > 100
    wrong = {number: (said[number], found[number]) for number, _ in lines_of(name) if said[number] != found[number]}
    assert not wrong


@pytest.mark.parametrize("name", FAULTY)
def test_every_fault_is_found_in_its_line(name, tried):
    if name == "alignment" and hasattr(tried, "clang"):
        pytest.skip("clang checks no alignment where it copies a whole structure")
    done = tried(name)
    found = findings(done)
    said = [(number, text.strip()) for number, line in lines_of(name) for text in line.split("//! ")[1:]]
    assert len(said) > 10

    # In alignment.cu: how many bytes, from which byte on, of what, by which thread.
    parts = re.compile(r"(\d+) at (\d+) of (\w+) by (\d+)")
    said = [(number, parts.sub(r"misaligned \\w+ of \1 bytes at byte \2 of .*\\b\3\\b.*thread \\(\4, 0, 0\\)", text))
            for number, text in said]

    def is_there(number, text, finding):
        return re.search(text, finding) and re.search(rf"{name}\.cu:{number}\b", finding)

    missing = [(number, text) for number, text in said if not any(is_there(number, text, f) for f in found)]
    others = [f for f in found if not any(is_there(number, text, f) for number, text in said)]
    assert not missing and not others, done.stderr[-2000:]
    for finding in found:
        if bytes := re.search(r"misaligned access of (\d+) bytes.*; (.*)", finding):  # atomicAdd says no more
            assert bytes[2].endswith(f" must lie at a multiple of {bytes[1]} bytes")


@pytest.mark.parametrize("name", CASES)
def test_each_case_has_the_findings_that_its_lines_say(name, tried):
    """And the output: of "//> text", after a case's name, in the order of the lines."""
    said, printed, case = collections.defaultdict(list), collections.defaultdict(str), ""
    for number, line in lines_of(name):
        if begins := re.match(r"(?:CASE|FORGED|STORES)\((\w+)", line):
            case = begins[1]
            said[case] = said[case]
        for cases, kind, text in re.findall(r"//! (?:in ([\w, ]+): )?([\w-]+): (.*?)(?= //!|$)", line):
            for of in (cases or case).split(", "):
                said[of].append((str(number), kind, text))
        for text in re.findall(r"//> (.*)", line):
            printed[case] += text + "\n"
    wrong = {}
    for case, expected in said.items():
        done = tried(name, "", case)
        found = [(f["line"], f["kind"], f["text"]) for f in lines_of_output(done)]
        fits = len(found) == len(expected) and all(
            any((line, kind) == f[:2] and re.search(text, f[2]) for f in found) for line, kind, text in expected)
        if not fits or done.returncode != bool(expected) or not done.stdout.startswith(printed[case]):
            wrong[case] = done.returncode, expected, (done.stdout + done.stderr)[-1500:]
    assert len(said) >= 10 and not wrong


@pytest.mark.parametrize("name", ["legal", "honest", "ordered"])
def test_what_is_right_is_no_finding(name, tried):
    done = tried(name)
    assert done.returncode == 0 and not findings(done), (done.stdout + done.stderr)[-3000:]
    assert "failed" not in done.stdout


def test_what_racecheck_finds_of_the_races():
    """The page counts the kernels that race, and those that racecheck names. It names no right one."""
    rows = list(csv.DictReader((ROOT / "tests/data/h200_seen.csv").open()))
    assert len(rows) == 13 and all("SUMMARY: 0 " in row["summary"] for row in rows if row["program"] != "races")
    (named,) = [set(row["kernels"].split()) for row in rows if row["program"] == "races"]
    racing = {text.split(":")[0] for _, line in lines_of("races") for text in line.split("//! ")[1:]} - {"race"}
    assert named <= racing
    page = " ".join((ROOT / "sim/README.md").read_text().split())
    numbers = dict(zip(("four", "five", "six", "seven"), range(4, 8)))
    found = re.search(r"In (\d+) kernels of \[`races.cu`\].* racecheck reports (\w+) of them", page)
    assert (int(found[1]), numbers[found[2]]) == (len(racing), len(named))


def test_a_misaligned_access_is_the_error_that_a_gpu_reports():
    errors = dict(re.findall(r"^(\w+): (cuda\w+)$", run(made("build/try/tests/sim/seen/alignment")).stdout, re.M))
    assert len(errors) == 8 and errors.pop("right") == "cudaSuccess"
    assert set(errors.values()) == {"cudaErrorMisalignedAddress"}


def test_an_object_that_is_returned_by_name_is_destroyed_once(tried):
    """The options that watch kernels have g++ copy it. A class that frees and has no copy constructor freed twice."""
    done = tried("returned")
    line = next(number for number, text in lines_of("returned") if "__LINE__" in text)
    assert done.returncode == 0 and not findings(done), (done.stdout + done.stderr)[-3000:]
    said = [f"line {line}", "3 0 4 4 3 5 0 7 8 0 9 6 ", "elf! 1 2 4 3", "made 20, destroyed 20"]
    assert done.stdout.splitlines()[:4] == said
