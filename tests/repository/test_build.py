"""The build, in a copy of the tree: with and without nvcc, with either compiler, and only what changed."""

import os
import pathlib
import platform
import re
import shutil
import time

import pytest

from conftest import HAS_GPU, needs_git
from lessons import ROOT, copy_built, run
from samples import ALL

BARE = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}  # no nvcc, no settings of the user's
NVCC = shutil.which(os.environ.get("NVCC", "nvcc"))  # as the Makefile takes it


@pytest.fixture
def copy(tmp_path):
    """The files git knows or would add, in a new folder."""
    needs_git()
    listed = run("git", "ls-files", "-co", "--exclude-standard")
    assert listed.returncode == 0, listed.stderr
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name)
    (tmp_path / "build").mkdir()
    return tmp_path


def make(folder, *arguments, env=BARE):
    done = run("make", *arguments, cwd=folder, env=env, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split()[-1] for line in done.stdout.splitlines()
            if re.match(r"  (C\+\+|sim|nvcc|link) ", line)]


def test_without_nvcc(copy):
    arguments = ["NVCC="] if shutil.which("nvcc", path=BARE["PATH"]) else []
    if not ALL:  # make test has just built all of it from nothing
        copy_built(copy, "step04_padding")
    start = time.monotonic()
    built = make(copy, "-j8", "step04", *arguments)  # nothing is used before it is made
    done = run(copy / "step04", cwd=copy, env=BARE)
    print(f"make step04 && ./step04: {time.monotonic() - start:.1f} s")
    assert done.returncode == 0
    assert done.stdout.startswith("step04 on the simulator") and "built without nvcc" in done.stdout.splitlines()[0]
    assert "verified" in done.stdout
    # The kernels were compiled in another folder. Their lines are those of this one.
    assert " at step04_padding/step04.cu:" in run(copy / "step04", "--explain", cwd=copy, env=BARE).stdout
    assert not [name for name in built if "cuda" in name]
    refused = run(copy / "step04", "--device", "cuda", cwd=copy, env=BARE)
    assert refused.returncode == 3 and len(refused.stderr.splitlines()) == 1

    assert make(copy, "step04", *arguments) == []
    (copy / "step04_padding/step04.cu").touch()
    assert make(copy, "step04", *arguments) == ["step04_padding/step04.cu", "step04"]
    (copy / "common/reference.h").touch()
    two = ["build/step04_padding/step04.sim.o", "build/common/base/commit.o"]
    assert make(copy, *two, *arguments) == ["step04_padding/step04.cu"]
    # Other flags, other objects.
    assert (sorted(make(copy, *two, "CXXFLAGS=-O0", *arguments))
            == ["common/base/commit.cpp", "step04_padding/step04.cu"])
    make(copy, "clean", *arguments)
    assert not (copy / "build").exists() and not (copy / "step04").exists()


@pytest.mark.skipif(not shutil.which("clang++"), reason="no clang++ here")
@pytest.mark.skipif(not ALL, reason="make test-all builds with clang++")
def test_clang(copy):
    make(copy, "-j2", "step05", "NVCC=", "CXX=clang++")
    done = run(copy / "step05", "--width", 333, "--height", 555, cwd=copy)
    ours = run(ROOT / "step05", "--device", "sim", "--width", 333, "--height", 555)
    assert done.returncode == 0
    # Counted alike, whichever compiler built the kernels.
    assert done.stdout.splitlines()[2:] == ours.stdout.splitlines()[2:]


@pytest.mark.skipif(
    not ALL, reason="make test-all builds everything once more; test_without_nvcc builds step 4 with as many "
    "jobs")
def test_parallel_build(copy):
    make(copy, "-j8", "all", "NVCC=", "CXXFLAGS=-O0")
    assert len(list(copy.glob("step0?"))) == len(list(ROOT.glob("step[0-9][0-9]_*")))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="shadow stacks are of x86-64")
@pytest.mark.skipif(not ALL, reason="make test-all compiles the simulator once more, for shadow stacks")
def test_shadow_stacks(copy):
    """Compilers of Ubuntu compile for them: setjmp saves more, and the stack of a thread that waits is found all the
    same."""
    make(copy, "-j2", "build/try/tests/sim/language/barriers", "NVCC=", "CXXFLAGS=-O0 -fcf-protection=full")
    done = run(copy / "build/try/tests/sim/language/barriers", cwd=copy)
    assert done.returncode == 0 and done.stdout.endswith(", 0 findings\n"), done.stdout + done.stderr


def test_the_report_needs_no_package_of_the_tests(copy):
    installs = {
        target: [
            line
            for line in run("make", "-n", target, "NVCC=", "PLOTS_PYTHON=", cwd=copy, env=BARE).stdout.splitlines()
            if "mk/packages.sh" in line]
        for target in ("report", "test")}
    assert [re.findall(r"\S+\.txt", line) for line in installs["report"]] == [["plots/requirements.txt"]]
    assert [re.findall(r"\S+\.txt", line) for line in installs["test"]] == [
        ["plots/requirements.txt"], ["tests/requirements.txt"]]
    # After the report, the tests add to what is there; a change of plots' packages renews both.
    for stamp in ("ready", "tests"):
        (copy / ".venv").mkdir(exist_ok=True)
        (copy / ".venv" / stamp).touch()
    assert "mk/packages.sh" not in run("make", "-n", "test", "NVCC=", cwd=copy, env=BARE).stdout
    newer = time.time() + 1
    os.utime(copy / "tests/requirements.txt", (newer, newer))
    assert run("make", "-n", "test", "NVCC=", cwd=copy, env=BARE).stdout.count("mk/packages.sh") == 1
    os.utime(copy / "plots/requirements.txt", (newer, newer))
    assert run("make", "-n", "test", "NVCC=", cwd=copy, env=BARE).stdout.count("mk/packages.sh") == 2


@pytest.mark.skipif(not NVCC, reason="no nvcc here")
def test_nvcc_under_cuda_home(copy):
    home = pathlib.Path(NVCC).resolve().parent.parent
    if shutil.which("nvcc", path=BARE["PATH"]):
        pytest.skip("nvcc is on the bare PATH")
    shown = run("make", "help", cwd=copy, env={**BARE, "CUDA_HOME": str(home)})
    assert f"{home}/bin/nvcc" in shown.stdout
    assert re.search("NVCC=.* none\n", run("make", "help", cwd=copy, env=BARE).stdout)


@pytest.mark.skipif(not NVCC or HAS_GPU, reason="no nvcc here, or a GPU: built for it alone")
def test_every_architecture_without_a_gpu():
    """The commands that built the programs here, asked what they build: machine code for each major
    architecture of the toolkit, and PTX for the cards to come."""
    known = run(NVCC, "--list-gpu-arch").stdout.split()
    major = {re.sub(r"\D", "", a) for a in known if a.endswith("0")}
    # Whatever make test was told, NVCC= say, is no business of this make.
    fresh = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKEOVERRIDES", "NVCC", "ARCH")}
    commands = [line for line in run("make", "-n", "-B", "V=1", "all", env=fresh).stdout.splitlines()
                if "/nvcc " in line and " -c " in line]
    sources = [path for path in ROOT.glob("step[0-9][0-9]_*/*.cu") if not path.name.startswith("exercise")]
    assert len(commands) == len(sources) + len(list(ROOT.glob("common/devices/*.cu")))
    for command in commands:
        images = run("sh", "-c", command + " --dryrun").stderr
        assert major <= set(re.findall(r"kind=elf,sm=(\d+)", images)), images
        assert re.search(r"kind=ptx,sm=(\d+)", images), images


def test_help_names_every_target():
    phony = re.search(r"^\.PHONY: ((.*\\\n)*.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    phony = phony.replace("\\", "").split()
    shown = run("make", "help").stdout
    for target in phony:
        assert target == "FORCE" or f"make {target}" in shown or target == "help"
    assert "make stepNN" in shown


def test_git_ignores_what_is_generated():
    needs_git()
    for name in ("step04", "build/x", "results/x", "report/x", ".venv/x", "lab/transpose.ipynb"):
        assert run("git", "check-ignore", name).returncode == 0, name
    for name in ("step04_padding/step04.cu", "tests/steps/unit.cpp"):
        assert run("git", "check-ignore", name).returncode == 1, name
