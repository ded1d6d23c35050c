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
    lines = re.findall(r"^  (\d+) of (\d+)  (\S+) +(.*)", done.stdout, re.MULTILINE)
    # The count is known before the first, and right.
    assert sorted(int(number) for number, *_ in lines) == list(range(1, len(lines) + 1)), lines
    assert {int(count) for _, count, _, _ in lines} <= {len(lines)}, lines
    return {kind: {what for _, _, k, what in lines if k == kind} for _, _, kind, _ in lines}


def edit(project, name, old, new):
    text = (project / name).read_text()
    assert text.count(old) == 1, name
    (project / name).write_text(text.replace(old, new))


def test_nothing_to_do(project):
    assert make(project, "NVCC=", "all")["link"] >= set(STEPS)
    assert make(project, "NVCC=", "all") == {}
    done = run("make", "-n", "NVCC=", "all", cwd=project, env=environment(project))
    assert done.stdout == "make: Nothing to be done for 'all'.\n", done.stdout
    assert run("make", "-q", "NVCC=", "all", cwd=project, env=environment(project)).returncode == 0


@pytest.mark.parametrize("arguments, words", [
    (["JOBS=1", "all"], r"  \d+ files to make, on one idle core in about [12] min"),
    (["JOBS=2", "step04"], r"  1\d files to make, on 2 idle cores in about [12]\d s"),
    (["JOBS=1", "lab04"], r"  1\d files to make, on one idle core in about \d\d s"),
    (["JOBS=1", "try", "FILE=program.cu"], r"  \d files to make, on one idle core in about \d\d s"),
    (["JOBS=1", "build/rewrite"], None)])
def test_long_builds_say_so_in_advance(project, arguments, words):
    script(project / "program.cu", "")
    done = run("make", "-k", "NVCC=", *arguments, cwd=project, env=environment(project))
    first = done.stdout.splitlines()[0]
    assert (re.fullmatch(words, first) if words else re.match("  1 of 1 ", first)), done.stdout
    assert done.stdout.count("idle core") == bool(words)


def test_clean_and_all(project):
    first = make(project, "NVCC=", "all")
    assert make(project, "NVCC=", "clean", "all") == first
    assert make(project, "NVCC=", "all", "clean") == first
    make(project, "NVCC=", "clean")
    assert not (project / "build").exists() and not [name for name in STEPS if (project / name).exists()]


def test_a_folder_that_goes_while_make_looks_for_headers(project):
    """Another make removes the folder of a program that it has tried. That is nothing to tell a person."""
    make(project, "NVCC=", "step01")
    script(project / "bin/find",
           "#!/bin/sh\n/usr/bin/find \"$@\"\necho \"find: 'build/x': No such file\" >&2; exit 1\n")
    done = run("make", "NVCC=", "step01", cwd=project, env=environment(project))
    assert done.returncode == 0 and done.stderr == "", done.stderr


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


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_make_that_is_stopped(project, sent):
    running = subprocess.Popen(["make", "-j4", "NVCC=", "all"], cwd=project, env=environment(project, SLOW="0.3"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while not list((project / "build").rglob("*.o")): time.sleep(0.05)
    os.killpg(running.pid, sent)
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



ELEMENTS = "common/devices: elements"  # compiled as the simulator's loops are


@pytest.mark.parametrize("old, new, objects", [
    ("CXX_STEP = $(HOST) -O3", "CXX_STEP = $(HOST) -O2",
     lambda kind, what: what.startswith("step0") and what.endswith(".cpp")),
    ("CXX_HARNESS = $(HOST) -O0", "CXX_HARNESS = $(HOST) -O2",
     lambda kind, what: what.startswith(("common", "sim/elf")) and what != ELEMENTS),
    ("CXX_CORE = $(HOST) -O1", "CXX_CORE = $(HOST) -O2",
     lambda kind, what: what.startswith(("sim/core: faults", "sim/runtime"))),
    ("CXX_SIM = $(HOST) -O3", "CXX_SIM = $(HOST) -O2",
     lambda kind, what: what.startswith("sim/core: checker") or what == ELEMENTS),
    ("SIM_PREPROCESS = $(CXX)", "SIM_PREPROCESS = $(CXX) -DA", lambda kind, what: kind == "sim"),
    ("CXX_REWRITE = $(HOSTCXX)", "CXX_REWRITE = $(HOSTCXX) -g",
     lambda kind, what: kind == "sim" or what == "build/rewrite"),
])
def test_an_edited_command(project, old, new, objects):
    """After a change of a command in mk/, its files are made anew, and no others."""
    every = make(project, "NVCC=", "all")
    edit(project, "mk/compile.mk", old, new)
    anew = make(project, "NVCC=", "all")
    assert anew.pop("link")
    expected = {kind: {what for what in every[kind] if objects(kind, what)} for kind in ("C++", "sim")}
    assert anew == {kind: whats for kind, whats in expected.items() if whats} and anew
    assert make(project, "NVCC=", "all") == {}


def test_flags_of_the_linker(project):
    every = make(project, "NVCC=", "all")
    assert make(project, "NVCC=", "LDFLAGS=-s", "all") == {"link": every["link"]}
    assert make(project, "NVCC=", "all") == {"link": every["link"]}


def test_an_edited_command_of_programs(project):
    """A program that is brought along is compiled by a command of its own."""
    program = "build/try/step04_padding/step04.o"
    goals = ["NVCC=", "all", program]
    every = make(project, *goals)
    assert "step04_padding/step04.cu" in every["sim"] and assert_whole(project)
    edit(project, "mk/simcuda.mk", "AS_CUDA := -D__CUDACC__", "AS_CUDA := -DA -D__CUDACC__")
    assert make(project, *goals) == {"sim": {"step04_padding/step04.cu"}}
    assert (project / program).read_text().endswith("whole\n") and make(project, *goals) == {}


def test_libraries_of_a_program(project):
    make(project, "build/peers")
    assert make(project, "LDLIBS=-lcutensor", "build/peers") == {"link": {"build/peers"}}
    assert make(project, "LDLIBS=-lcutensor", "build/peers") == {}


def test_flags_of_a_test(project):
    """Some files of tests/ have flags of their own."""
    objects = [f"build/tests/{name}.o" for name in ("sim/places", "sim/order", "steps/faulty_cuda")]
    every = make(project, "NVCC=", *objects)
    assert len(every["C++"]) == 3 and make(project, "NVCC=", *objects) == {}
    edit(project, "mk/tests.mk", "FLAGS_OF_places := -gdwarf-5", "FLAGS_OF_places := -gdwarf-5 -g3")
    assert make(project, "NVCC=", *objects) == every


def test_with_and_without_nvcc(project):
    without = make(project, "NVCC=", "all")
    with_it = make(project, "all")
    assert with_it["nvcc"] and set(STEPS) <= with_it["link"] and not {"sim", "C++"} & set(with_it)
    assert set(STEPS) <= make(project, "NVCC=", "all")["link"] and without
    assert set(STEPS) <= make(project, "all")["link"]
    assert make(project, "all") == {}


def test_a_new_file(project):
    make(project, "NVCC=", "all")
    for name, room in (("common/more.cpp", "common: "), ("sim/elf/more.cpp", "sim/elf: ")):
        (project / name).write_text("")
        added = make(project, "NVCC=", "all")
        assert len(added["C++"]) == 1 and added["C++"].pop().startswith(room) and set(added) == {"C++", "link"}
        (project / name).unlink()
        assert len(make(project, "NVCC=", "all")["C++"]) == 1


def test_flags_of_a_program(project):
    """CPPFLAGS is for kernels and programs, not for the simulator, whichever goal make has."""
    make(project, "NVCC=", "all")
    steps = make(project, "NVCC=", "CPPFLAGS=-DA", "all")
    assert all("step0" in what for what in steps["C++"] | steps["sim"])
    make(project, "NVCC=", "CPPFLAGS=-DA", "simcuda")
    assert make(project, "NVCC=", "simcuda") == {}
    assert make(project, "NVCC=", "CPPFLAGS=-DA", "all") == {}


def test_simcuda_uses_the_compiler_that_built_the_checkout(project):
    """With its flags, whatever the environment says. It builds nothing anew."""
    script(project / "bin/other-g++", COMPILER)
    make(project, "NVCC=", "CXX=other-g++", "CXXFLAGS=-g -DA='1 2'", "SIM_O=-O2", "simcuda")
    objects = [*(project / "build").rglob("*.o"), project / "build/rewrite", project / "build/commands/simcuda"]
    before = [path.stat().st_mtime_ns for path in objects]
    done = run(project / "sim/simcuda", "--help", cwd=project, env=environment(project, CXX="g++"))
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith("usage: simcuda"), done.stderr
    assert [path.stat().st_mtime_ns for path in objects] == before


@pytest.mark.parametrize("name, value", [
    ("GPU", "0"), ("DEVICE", "cuda"), ("NAME", "DESKTOP-1"), ("COMMIT", "abc"), ("ARCH", "x86_64"),
    ("FILE", "x.cu"), ("SANITIZE", "address"), ("V", "1"), ("SHOW", "1")])
def test_settings_of_the_command_line(project, name, value):
    """The environment's own GPU, NAME or ARCH changes nothing."""
    goals = ["-n", "NVCC=nvcc", "all", "lab04", "try", "prelab", "report"]
    usual = run("make", *goals, cwd=project, env=environment(project))
    exported = run("make", *goals, cwd=project, env=environment(project, **{name: value}))
    given = run("make", *goals, f"{name}={value}", cwd=project, env=environment(project))
    assert usual.returncode == 0 and usual.stdout == exported.stdout != given.stdout


def listed(name):
    """The words of a variable of the Makefile."""
    return re.search(rf"^{name} := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].replace(
        "\\", "").split()


BUILD, TEXTS = listed("BUILD"), listed("TEXTS")


def test_the_environment_sets_only_what_builds(project):
    """Every variable that the makefiles read, at once."""
    read = set()
    for path in [project / "Makefile", *project.glob("mk/*.mk")]:
        read |= set(re.findall(r"\$[({]([A-Za-z_]\w*)[)},:]", path.read_text()))
    read -= {"MAKE", "MAKEFLAGS", "MAKECMDGOALS", "CURDIR", "SHELL", *BUILD}
    assert {"GPU", "WRAP", "SANITIZERS", "STEPS"} <= read
    leaked = dict.fromkeys([*read, *TEXTS], "leaked")
    script(project / "bin/python3", '#!/bin/sh\necho "$@"\nenv | grep -E "^(%s)=leaked"\n' % "|".join(TEXTS))
    make(project, "NVCC=", "lab-ready")
    said = run("make", "-s", "NVCC=", "lab04", "prelab", "grade-prelab", cwd=project,
               env=environment(project, **leaked)).stdout
    assert "lab/check.py 04" in said and "leaked" not in said, said
    script(project / "bin/python3", "#!/bin/sh\n")
    for nvcc in ("", "nvcc"):
        goals = ["-n", f"NVCC={nvcc}", "all", "lab04", "try", "prelab", "report", "table-book", "sanitize"]
        usual = run("make", *goals, cwd=project, env=environment(project))
        exported = run("make", *goals, cwd=project, env=environment(project, **leaked))
        assert usual.returncode == 0 and usual.stdout == exported.stdout, exported.stderr


GOALS = {"all": "", "lab04": "", "try": "FILE", "prelab": "NAMES", "grade": "", "grade-prelab": "",
         "handout": "", "gradescope": "", "table-book": "", "peers": "", "sanitize": "", "help": ""}


@pytest.mark.parametrize("value", [
    "'; touch ran; '", '"; touch ran; "', "`touch ran`", "$$(touch ran)", "$(shell touch ran)"])
def test_no_value_runs_as_a_command(project, value):
    """Each text of the command line, in each recipe that has it, and what the environment sets."""
    for name in ("python3", "nvidia-smi"):
        script(project / "bin" / name, "#!/bin/sh\n")
    (project / ".venv/bin").mkdir(parents=True)
    for name in ("ready", "lab", "tests", "bin/python"):
        script(project / ".venv" / name, "#!/bin/sh\n")
    make(project, "all", "lab-ready", "build/sim/runtime.o", "build/peers")
    settings = [f"{name}={value}" for name in TEXTS]
    for goal, left_out in GOALS.items():
        for name in {"", left_out}:  # a recipe has no use for others beside these
            given = [text for text in settings if not name or not text.startswith(name + "=")]
            run("make", "-k", goal, *given, f"COMMIT={value}", cwd=project, env=environment(project))
            assert not list(project.rglob("ran")), (goal, given)
    if value.startswith("$(shell"):
        for name in BUILD:
            run("make", "-n", "all", "help", cwd=project, env=environment(project, **{name: value}))
            run("make", "-n", "all", "help", f"{name}={value}", cwd=project, env=environment(project))
            assert not list(project.rglob("ran")), name


@pytest.mark.parametrize("text, words", [
    ("a 'b c' d", ["a", "b c", "d"]), ("", []), ("'' x", ["", "x"]), ("$HOME * ~", ["$HOME", "*", "~"])])
def test_words_of_a_variable(text, words):
    done = run("bash", ROOT / "mk/words.sh", "TEXT", "printf", "[%s]", "x", env={**os.environ, "TEXT": text})
    assert done.stdout == "".join(f"[{word}]" for word in ["x", *words])


def test_a_quote_that_is_not_closed():
    done = run("bash", ROOT / "mk/words.sh", "CHECK", "true", env={**os.environ, "CHECK": "--file it's.cu"})
    assert (done.returncode, done.stderr) == (2, "CHECK=--file it's.cu: a quote is not closed\n")


def test_a_number_of_jobs(project):
    for jobs in ("two", "1 2", "-1", "2x"):
        done = run("make", f"JOBS={jobs}", "all", cwd=project, env=environment(project))
        assert done.returncode == 2 and f"JOBS={jobs}: expected a number of compilations" in done.stderr, done.stderr


@pytest.mark.parametrize("goal, words", [
    ("step4", "make step4: type make step04"), ("Step04", "make Step04: type make step04"),
    ("STEP8", "make STEP8: type make step08"),
    ("step04_padding", "make step04_padding: type make step04"), ("lab4", "make lab4: type make lab04"),
    ("step44", "make step44: expected one of step01 step02 "), ("lab", "make lab: expected one of lab01 lab02 ")])
def test_a_goal_that_is_nearly_right(project, goal, words):
    done = run("make", goal, cwd=project, env=environment(project))
    assert done.returncode == 2 and done.stderr.startswith(words) and len(done.stderr.splitlines()) == 2, done.stderr


@pytest.mark.parametrize("arguments", [["lab\x1b[2J"], ["step\x1b4"], ["try", "FILE=no\x1b[2J.cu"],
                                       ["try", "FILE=there\x1b[2J.cu"], ["try", "FILE=there\x07.txt"]], ids=ascii)
def test_names_move_no_cursor(project, arguments):
    """Neither make's own messages nor those of the compiler have a name that cannot be shown."""
    for name in ("there\x1b[2J.cu", "there\x07.txt"):
        (project / name).write_text("int main() {}\n")
    if "try" in arguments:
        make(project, "NVCC=", "simcuda")
    done = run("make", "NVCC=", *arguments, cwd=project, env=environment(project))
    assert done.returncode == 2 and all(line.isprintable() for line in done.stderr.splitlines()), done.stderr
    assert "$'" in done.stderr


@pytest.mark.parametrize("goals", [[], ["step04"], ["all", "clean"]])
def test_make_in_the_folder_of_a_step(project, goals):
    for folder in sorted(project.glob("step0*_*")):
        done = run("make", *goals, cwd=folder, env=environment(project))
        words = f"this is the folder of a step; type cd .. && make {folder.name[:6]}\n"
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


@pytest.mark.parametrize("goal", ["step04", "lab-ready", "list", "try"])
def test_a_checkout_that_cannot_be_written(project, tmp_path_factory, goal):
    """Everything is built, so nothing is written there. A program of `make try` goes to the user's cache."""
    cache = tmp_path_factory.mktemp("cache")
    (project / "program.cu").write_text("")
    make(project, "NVCC=", "all", "lab-ready", "simcuda")
    done = read_only(project, ["make", "NVCC=", goal, "FILE=program.cu"],
                     environment(project, XDG_CACHE_HOME=str(cache)))
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert (goal == "try") == bool(list(cache.rglob("program")))


def test_what_is_to_be_made_in_such_a_checkout(project):
    make(project, "NVCC=", "step04")
    with open(project / "step04_padding/step04.cu", "a") as lesson: lesson.write("//\n")
    done = read_only(project, ["make", "NVCC=", "step04"], environment(project))
    assert done.returncode == 2 and done.stderr.startswith(
        "build/step04_padding/step04.sim.o has to be made anew, and its folder cannot be written\n"), done.stderr
