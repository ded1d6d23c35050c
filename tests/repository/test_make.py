"""Makefile and mk/: what is built anew after a change, and what stays whole whatever happens. The compiler is a script,
which writes a line where a compiler writes an object, so each make takes a second."""

import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import needs_git
from lessons import ROOT, run

# Writes a file in two halves, the second after $SLOW seconds. $BREAK: it fails between them.
COMPILER = r"""#!/bin/bash
case "$*" in *--version*) echo "g++ 12"; exit ;; *-dumpversion*) echo 12; exit ;; esac
for ((i = 1; i <= $#; ++i)); do
    j=$((i + 1))
    case ${!i} in -o) out=${!j} ;; -MF) depends=${!j} ;; -MT) target=${!j} ;; esac
done
test -z "$depends" || echo "$target:" > "$depends"
printf '#!/bin/sh\n' > "$out"
sleep "${SLOW:-0}"
test -z "$BREAK" || { echo 'No space left on device' >&2; exit 1; }
printf '# whole\n' >> "$out"
chmod +x "$out"
"""
STEPS = [f"step0{number}" for number in range(1, 9)]


@pytest.fixture
def project(tmp_path):
    """The project's files, and on PATH compilers that are scripts."""
    needs_git()
    listed = run("git", "ls-files", "-co", "--exclude-standard", "Makefile", "mk", "common", "sim", "step0*", "bench",
                 "lab", "plots/*.py", "plots/*.txt", "tests/**/*.cpp")
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists() and not name.endswith((".md", ".svg")):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for name in ("g++", "nvcc"):
        script(tmp_path / "bin" / name, COMPILER)
    return tmp_path


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


def environment(project, **more):
    return {"PATH": f"{project}/bin:/usr/bin:/bin", "HOME": "/nonexistent", **more}


def make(project, *arguments, **more):
    """The files that make says it makes, by kind: {"link": {"step01"}}."""
    done = run("make", "-j4", *arguments, cwd=project, env=environment(project, **more))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = re.findall(r"^  (C\+\+|sim|nvcc|link) +(\S.*)", done.stdout, re.MULTILINE)
    assert len(lines) == len(set(lines)), lines
    return {kind: {what for k, what in lines if k == kind} for kind, _ in lines}


def test_nothing_to_do(project):
    assert make(project, "NVCC=", "all")["link"] >= set(STEPS)
    assert make(project, "NVCC=", "all") == {}
    done = run("make", "-n", "NVCC=", "all", cwd=project, env=environment(project))
    assert done.stdout == "make: Nothing to be done for 'all'.\n", done.stdout


def test_clean_and_all(project):
    first = make(project, "NVCC=", "all")
    assert make(project, "NVCC=", "all", "clean") == first
    make(project, "NVCC=", "clean")
    assert not (project / "build").exists() and not [name for name in STEPS if (project / name).exists()]


def test_two_makes_at_once(project):
    """In one folder, as on a cluster: each file is moved to its place when it is whole."""
    both = [subprocess.Popen(["make", "-j4", "NVCC=", "all"], cwd=project, env=environment(project, SLOW="0.2"),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    said = [make.communicate(timeout=120)[0] for make in both]
    assert [make.returncode for make in both] == [0, 0], said
    assert make(project, "NVCC=", "all") == {}
    assert_whole(project)


def assert_whole(project):
    """No object and no program is half written, and nothing lies about under another name."""
    paths = [*(project / "build").rglob("*.o"), *(project / name for name in STEPS), project / "build/rewrite"]
    written = [path for path in paths if path.exists()]
    assert all(path.read_text().endswith("whole\n") for path in written)
    assert not [path for path in (project / "build").rglob("*") if re.search(r"\.\d+(\.|$)", path.name)]
    return written


def test_a_make_that_is_stopped(project):
    running = subprocess.Popen(["make", "-j4", "NVCC=", "all"], cwd=project, env=environment(project, SLOW="0.3"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while running.poll() is None and not list((project / "build").rglob("*.o")): time.sleep(0.05)
    os.killpg(running.pid, signal.SIGTERM)
    assert running.wait(timeout=60) != 0
    time.sleep(0.5)
    assert_whole(project)
    make(project, "NVCC=", "all")
    assert_whole(project)


def test_a_disk_that_is_full(project):
    done = run("make", "-k", "-j4", "NVCC=", "all", cwd=project, env=environment(project, BREAK="1"))
    assert done.returncode == 2 and "No space left on device" in done.stderr and assert_whole(project) == []
    make(project, "NVCC=", "all")
    make(project, "NVCC=", "CXXFLAGS=-g", "all")
    done = run("make", "-k", "-j4", "NVCC=", "CXXFLAGS=-O0", "all", cwd=project, env=environment(project, BREAK="1"))
    assert done.returncode == 2 and assert_whole(project)  # what was there before


def is_for_programs(kind, what):
    return kind == "sim" or kind == "C++" and what.startswith("step0")


@pytest.mark.parametrize("flag, made", [
    pytest.param("CXXFLAGS=-g", lambda kind, what: what != "build/rewrite", marks=pytest.mark.variety),
    ("CPPFLAGS=-DA", lambda kind, what: kind == "link" or is_for_programs(kind, what)),
    pytest.param("LDFLAGS=-s", lambda kind, what: kind == "link", marks=pytest.mark.variety)])
def test_a_flag(project, flag, made):
    """It makes anew what it changes. CPPFLAGS is for kernels and programs, not for the simulator."""
    every = make(project, "NVCC=", "all")
    changed = {kind: {what for what in whats if made(kind, what)} for kind, whats in every.items()}
    changed = {kind: whats for kind, whats in changed.items() if whats}
    assert make(project, "NVCC=", flag, "all") == changed
    assert make(project, "NVCC=", flag, "all") == {}
    assert make(project, "NVCC=", "all") == changed


def test_an_edited_command(project):
    make(project, "NVCC=", "all")
    rules = project / "mk/compile.mk"
    rules.write_text(rules.read_text().replace("CXX_SIM = $(HOST) -O3", "CXX_SIM = $(HOST) -O2"))
    assert "sim/loops" in make(project, "NVCC=", "all")["C++"]
    assert make(project, "NVCC=", "all") == {}


def test_with_and_without_nvcc(project):
    make(project, "NVCC=", "all")
    with_it = make(project, "all")
    assert with_it["nvcc"] and set(STEPS) <= with_it["link"] and not {"sim", "C++"} & set(with_it)
    assert make(project, "all") == {}
    assert set(STEPS) <= make(project, "NVCC=", "all")["link"]


def test_a_new_file(project):
    """The files of a room are compiled at once."""
    make(project, "NVCC=", "all")
    for name, room in (("common/more.cpp", "common/harness"), ("sim/elf/more.cpp", "sim/elf")):
        (project / name).write_text("")
        added = make(project, "NVCC=", "all")
        assert added["C++"] == {room} and set(added) == {"C++", "link"}
        (project / name).unlink()
        assert make(project, "NVCC=", "all")["C++"] == {room}


def test_simcuda_uses_the_compiler_that_built_the_checkout(project):
    """With its flags, whatever the environment says. It builds nothing anew."""
    script(project / "bin/other-g++", COMPILER)
    make(project, "NVCC=", "CXX=other-g++", "CXXFLAGS=-g -DA='1 2'", "SIM_O=-O2", "simcuda")
    objects = [*(project / "build").rglob("*.o"), project / "build/rewrite", project / "build/commands/simcuda"]
    before = [path.stat().st_mtime_ns for path in objects]
    done = run(project / "sim/simcuda", "--help", cwd=project, env=environment(project, CXX="g++"))
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith("usage: simcuda"), done.stderr
    assert [path.stat().st_mtime_ns for path in objects] == before


def test_what_the_environment_sets(project):
    """Some systems export a NAME, a GPU or an ARCH of their own, and that changes nothing."""
    goals = ["-n", "NVCC=nvcc", "all", "lab04", "try", "prelab", "report"]
    usual = run("make", *goals, cwd=project, env=environment(project))
    names = ("GPU", "DEVICE", "NAME", "COMMIT", "ARCH", "FILE", "SANITIZE", "V", "SHOW", "RESULTS")
    exported = run("make", *goals, cwd=project, env=environment(project, **dict.fromkeys(names, "leaked")))
    assert usual.returncode == 0 and usual.stdout == exported.stdout


def test_names_arrive_as_they_are(project):
    """Quotes and spaces in a name are no quotes and spaces of a command."""
    make(project, "NVCC=", "lab-ready")
    script(project / "bin/python3", "#!/bin/sh\nprintf '[%s]' \"$@\"\n")
    name = """it's "A" & B; C.cu"""
    said = run("make", "-s", "NVCC=", "lab04", f"FILE={name}", f"NAME={name}", cwd=project, env=environment(project))
    assert said.stdout == f"[lab/check.py][04][--file][{name}][--name][{name}]", said.stdout + said.stderr
    said = run("make", "-s", "NVCC=", "grade-prelab", f"SUBMISSIONS={name}", cwd=project, env=environment(project))
    assert f"[{name}]" in said.stdout and "[results/grades]" in said.stdout, said.stdout + said.stderr


def test_words_of_a_variable():
    for text, words in {"a 'b c' d": "[a][b c][d]", "": "", "'' x": "[][x]", "$HOME * ~": "[$HOME][*][~]"}.items():
        done = run("bash", ROOT / "mk/words.sh", "TEXT", "printf", "[%s]", "x", env={**os.environ, "TEXT": text})
        assert done.stdout == "[x]" + words
    done = run("bash", ROOT / "mk/words.sh", "CHECK", "true", env={**os.environ, "CHECK": "--file it's.cu"})
    assert (done.returncode, done.stderr) == (2, "CHECK=--file it's.cu: a quote is not closed\n")


def test_a_goal_that_is_nearly_right(project):
    for goal, words in {"step4": "type make step04", "Step04": "type make step04", "STEP8": "type make step08",
                        "step04_padding": "type make step04", "lab4": "type make lab04",
                        "step44": "expected one of step01 step02 ", "lab": "expected one of step01 step02 "}.items():
        done = run("make", goal, cwd=project, env=environment(project))
        assert done.returncode == 2 and done.stderr.startswith(f"make {goal}: {words}"), done.stderr
        assert len(done.stderr.splitlines()) == 2, done.stderr


def test_make_in_the_folder_of_a_step(project):
    for folder in sorted(project.glob("step0*_*")):
        done = run("make", "step04", cwd=folder, env=environment(project))
        words = f"this is the folder of a step; type cd .. && make {folder.name[:6]}.  Stop.\n"
        assert done.returncode == 2 and words in done.stderr, done


def read_only(project, command, environment):
    """Runs it where nothing can be written below the project."""
    if os.geteuid():
        for path in [project, *project.rglob("*")]:
            if path.is_dir(): path.chmod(0o555)
        done = run(*command, cwd=project, env=environment)
        for path in [project, *project.rglob("*")]:
            if path.is_dir(): path.chmod(0o755)
        return done
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"'
    return run("unshare", "--mount", "bash", "-c", mount, project, *command, env=environment)


def test_a_checkout_that_another_user_has_built(project, tmp_path_factory):
    """Git refuses to answer there, and nothing can be written. A program of `make try` goes to the user's cache."""
    cache = tmp_path_factory.mktemp("cache")
    (project / "program.cu").write_text("")
    who = ["-c", "user.name=A", "-c", "user.email=a@b"]
    for command in (["init", "-q"], [*who, "commit", "-qm", "A", "--allow-empty"]):
        assert run("git", "-C", project, *command).returncode == 0
    make(project, "NVCC=", "all", "lab-ready", "simcuda")
    other = environment(project, XDG_CACHE_HOME=str(cache), GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert run("git", "describe", "--always", cwd=project, env=other).returncode
    for goal in ("step04", "lab-ready", "list", "try"):
        done = read_only(project, ["make", "NVCC=", goal, "FILE=program.cu"], other)
        assert done.returncode == 0 and done.stderr == "", (goal, done.stderr)
        assert (goal == "try") == bool(list(cache.rglob("program"))), goal
