"""The arrows between the folders: which files may include which.

    step -> common -> common/base
    common/devices -> sim -> common/base
    tests, tools -> everything; nothing -> tests, tools

Inside sim/: cuda, runtime -> core -> elf; runtime -> elf, cuda; rewrite is a separate program.

The only header of the simulator that the harness itself may include is CUDA's, for the text of kernels.
"""

import pathlib
import re

import staircase
from lessons import ROOT
from samples import ALL

SOURCES = (".h", ".cpp", ".cu")
CUDA = "sim/cuda/sim/language.h"
INSIDE_SIM = {"rewrite": (), "elf": (), "core": ("elf",), "cuda": ("core",), "runtime": ("core", "elf", "cuda")}


def room(path):
    """The room that a file is in: base, devices, common, sim, tests, tools, or the folder of a step or of programs."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[:2] in [("common", "base"), ("common", "devices")]:
        return parts[1]
    return parts[0]


def allowed(source, header):
    """True if the file may include the header. Both are paths from the root."""
    here, there = room(source), room(header)
    if here == there == "sim":
        here, there = source.split("/")[1], header.split("/")[1]
        return here == there or there in INSIDE_SIM[here]
    if here in ("tests", "tools") or here == there:
        return True
    if here == "base":
        return False
    if here == "sim":
        return there == "base"
    if here == "devices":
        return there in ("base", "common", "sim")
    if here == "common":
        return there == "base" or (source, header) == ("common/step.h", CUDA)
    if here.startswith("step"):
        return there in ("base", "common") or header in ("common/devices/network.h", "common/devices/shared_rows.h")
    return there in ("base", "common")  # programs that measure, such as those in bench/


def included(source, text, exists):
    """The files that a text includes in quotes and that exist, as paths from the root. Headers that the build writes
    are left out."""
    found = []
    for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', text, re.MULTILINE):
        for folder in [pathlib.PurePosixPath(source).parent, pathlib.PurePosixPath()]:
            parts = []
            for part in (folder / name).parts:
                if part == ".." and parts:
                    parts.pop()
                else:
                    parts.append(part)
            if parts[0] != "build" and exists("/".join(parts)):
                found.append("/".join(parts))
                break
    return found


def sources():
    for folder in ["bench", "common", "sim", "tests", "tools", *(path.name for path in ROOT.glob("step*_*"))]:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and (path.suffix in SOURCES or "cuda" in path.parts):
                yield path.relative_to(ROOT).as_posix()


def wrong_arrows(files):
    """A line for each include that leads where it must not. `files`: text by path."""
    return [
        f"{source} includes {header}" for source, text in files.items()
        for header in included(source, text, lambda path: path in files or (ROOT / path).is_file())
        if not allowed(source, header)]


def test_includes_lead_downwards_only():
    files = {path: (ROOT / path).read_text(encoding="utf-8") for path in sources()}
    assert len(files) > 200 and "sim/core/block/worker.cpp" in files and "sim/cuda/cuda/atomic" in files
    assert wrong_arrows(files) == []


# The test above can fail: each of these is found.
WRONG = """sim/core/grid/grid.cpp ../../../common/kernel.h
sim/core/block/worker.cpp ../../runtime/runtime.h
sim/rewrite/main.cpp ../core/hooks/launch.h
sim/core/block/watch.cpp common/reference.h
common/base/csv.cpp ../kernel.h
common/bench.cpp ../sim/core/grid/simulator.h
common/main.cpp devices/host_memory.h
common/devices/sim.cpp ../../tests/sim/cases.h
step03_coalesced/step03.cu ../step04_padding/step04.cu
step08_gpus/variants.cu ../sim/core/devices.h"""
RIGHT = """sim/core/grid/grid.cpp ../../../common/base/error.h
common/step.h ../sim/cuda/sim/language.h
common/devices/sim.cpp ../../sim/core/grid/simulator.h
tests/steps/unit.cpp sim/core/grid/simulator.h
common/bench.cpp vector"""


def test_a_wrong_arrow_is_found_and_a_right_one_is_none():
    for lines, found in ((WRONG, 1), (RIGHT, 0)):
        for source, header in map(str.split, lines.splitlines()):
            files = {source: f'#include <vector>\n  # include "{header}"\n', "tests/sim/cases.h": ""}
            assert len(wrong_arrows(files)) == found, (source, header)


def test_the_core_is_one_staircase():
    """No include of sim/core leads to a floor above, and there is no circle. Calls are tried by make test-all, because
    each file is compiled alone for that."""
    arrows = staircase.includes("sim/core")
    if ALL:
        arrows = staircase.joined(arrows, staircase.calls("sim/core"))
    floor = staircase.floors("sim/core", arrows)
    assert len(arrows) > 60 and sorted(set(floor.values()) - {0}) == [1, 2, 3, 4, 5, 6]
    assert staircase.running_up(arrows, floor) == [] and staircase.circles(arrows) == []


def test_an_arrow_up_and_a_circle_are_found():
    arrows = {"memory/a": {"lanes/b"}, "lanes/b": {"lanes/c"}, "lanes/c": {"lanes/b", "memory/a"}, "lanes/d": set()}
    floor = {module: 1 if module.startswith("memory") else 2 for module in arrows}
    assert staircase.running_up(arrows, floor) == [("memory/a", "lanes/b")]
    assert staircase.circles(arrows) == [("lanes/b", "lanes/c", "memory/a")]


def test_every_file_of_tests_is_on_the_page():
    """tests/README.md says which rule each file holds. It names each once, in the section of its room."""
    sections = re.split(r"^## (\w+):", (ROOT / "tests/README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = {room: re.findall(r"`(test_\w+\.py)`", text) for room, text in zip(sections[1::2], sections[2::2])}
    assert named and {room: sorted(files) for room, files in named.items()} == {
        path.name: sorted(file.name for file in path.glob("test_*.py")) for path in (ROOT / "tests").iterdir()
        if list(path.glob("test_*.py"))}
