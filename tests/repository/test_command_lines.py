"""Every program that a person types has -h, --help and --version, and does nothing else then."""

import os
import re
import subprocess
import sys

import pytest

import command_line
from lessons import ROOT, STEPS, made, run

# The program between the lab and a submission. No person types it.
NOT_TYPED = {"lab/sandbox.py"}
PROGRAMS = sorted(
    path.relative_to(ROOT).as_posix() for room in ("lab", "plots", "tools") for path in (ROOT / room).glob("*.py")
    if "__main__" in path.read_text(encoding="utf-8")) + [
    "plots/figures", *(f"tests/lab/{name}.py" for name in ("corpus", "wrong"))]
BENCHES = sorted((ROOT / "bench").glob("*.cu"))
VERSION = re.escape(command_line.version()) + r" \(commit [\w-]+\)\n"


def started(folder, *command, **more):
    """What a program prints that has ended well, and has written nothing into the folder where it ran."""
    done = run(*command, cwd=folder, **more)
    assert (done.returncode, done.stderr) == (0, ""), (command, done.stderr)
    assert list(folder.iterdir()) == [], command
    return done.stdout


def test_the_version_is_a_semantic_one_and_the_newest_of_the_changelog():
    versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / ".github/CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[:1] == [command_line.version()]
    assert versions == sorted(versions, key=lambda version: [*map(int, version.split("."))], reverse=True)


@pytest.mark.variety
@pytest.mark.parametrize("program", [path for path in PROGRAMS if path not in NOT_TYPED])
def test_a_program_in_python(program, tmp_path):
    name = program.split("/")[-1]
    assert re.fullmatch(re.escape(name) + " " + VERSION, started(tmp_path, sys.executable, ROOT / program, "--version"))
    text = started(tmp_path, sys.executable, ROOT / program, "-h")
    assert text.startswith(f"usage: {name} ") and "--version" in text and len(text.splitlines()) > 5


def test_python_programs_have_one_parser():
    assert len(PROGRAMS) >= 30
    for room in ("lab", "plots", "tools"):
        for path in (ROOT / room).glob("**/*.py"):
            has_its_own = "argparse.ArgumentParser(" in path.read_text(encoding="utf-8")
            assert has_its_own == (path.name == "command_line.py"), path


def test_steps(tmp_path):
    for program in [*STEPS, "step08"]:
        for name in ("--help", "-h"):
            assert started(tmp_path, ROOT / program, name).startswith(f"usage: ./{program} [options]\n")
        assert re.fullmatch(f"{program} " + VERSION, started(tmp_path, ROOT / program, "--version"))
    # One dash too few is a mistake, and not -h and more letters.
    assert "did you mean --help?" in run(ROOT / "step04", "-help").stderr


def test_the_simulator(tmp_path):
    program = made("build/try/tests/sim/programs/vector_add")
    help_text, version = "The options of the", "simulator " + VERSION
    for option, first in {"--help": help_text, "-h": help_text, "--version": version}.items():
        said = started(tmp_path, program, env={**os.environ, "SIM_OPTIONS": f"--csv counts.csv {option}"})
        assert re.match(first, said) and "PASSED" not in said


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A program with the arguments of those that measure a card, and without nvcc."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "bench.cpp").write_text('#include "bench/arguments.h"\nint main(int argc, char** argv)\n{\n'
                                      '    for (auto& a : arguments_of(argc, argv, "Measures.", {"one", "two"}))\n'
                                      '        puts(a.c_str());\n}\n')
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", ROOT, "-o",
                    folder / "bench", folder / "bench.cpp", made("build/common/base/commit.o"),
                    made("build/common/base.o")], check=True)
    return folder / "bench"


@pytest.mark.variety
def test_arguments_of_a_program_that_measures_a_card(bench, tmp_path):
    assert re.fullmatch("bench " + VERSION, started(tmp_path, bench, "--version"))
    for option in ("--help", "-h"):
        assert started(tmp_path, bench, "one", option).startswith("usage: ./bench [one] [two] > FILE.csv\n")
    assert started(tmp_path, bench, "two", "one") == "two\none\n"
    done = run(bench, "--hlep")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr == (
        "bench: --hlep: expected one of one, two, --help, --version; did you mean --help?\n")


def test_programs_that_measure_a_card_ask_for_their_arguments_first():
    for source in BENCHES:
        body = re.search(r"^int main\(int argc, char\*\* argv\)\n\{\n(.*?;)", source.read_text(),
                         re.MULTILINE | re.DOTALL)
        assert body and "arguments_of(argc, argv," in body[1], source
