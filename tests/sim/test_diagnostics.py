"""Races, accesses out of bounds and the like are reported at their lines; right kernels are clean."""

import re

import pytest

from conftest import step
from lessons import ROOT, NUMBERS, run

SOURCE = (ROOT / "tests/steps/faults.cu").read_text().splitlines()


def line(mark):
    (number,) = [i for i, text in enumerate(SOURCE, 1) if text.endswith(f"// {mark}")]
    return f"tests/steps/faults.cu:{number}"


def faults(kernel, element="float", size=(37, 51), machine="h200"):
    return run(ROOT / "build/tests/steps/faults", "--device", "sim", "--kernel", kernel, "--type", element, "--machine",
               machine, "--width", size[0], "--height", size[1])


@pytest.mark.parametrize("element", NUMBERS)
@pytest.mark.parametrize("program, kernel, size, finding, corrected", [
    ("step04", "transposeLoopingRace", (1100, 40),
     r"race: write-after-read hazard .* reads at step04_padding/errata.cu:{reading} .* writes at "
     r"step04_padding/errata.cu:{filling}",
     "transposeLoopingBlocks"),
    ("step04", "transposeRepeatedRace", (37, 51),
     r"race: write-after-read hazard .* reads at step04_padding/errata.cu:{reading} .* writes at "
     r"step04_padding/errata.cu:{filling}",
     "transposeRepeated"),
    ("step02", "transposeRowUnrolledUntested", (37, 51),
     r"out-of-bounds (load|store) .* of (idata|odata): thread .* at step02_naive/errata.cu:", "transposeRowUnrolled"),
    ("step06", "transposeDiagonal16Untested", (50, 50),
     r"out-of-bounds load .* of idata: thread .* at step06_diagonal/errata.cu:", "transposeDiagonal16"),
    ("step06", "transposeDiagonal16Untested", (50, 50),
     r"out-of-bounds store .* of odata: thread .* at step06_diagonal/errata.cu:", "transposeDiagonal16"),
])
def test_published_faults(program, kernel, size, finding, corrected, element):
    """At the line where they are, in every type; ./stepNN --errata shows them in one."""
    source = next(ROOT.glob(f"{program}_*/errata.cu")).read_text()
    body = source[source.index(f"void {kernel}("):]
    before = source[:source.index(f"void {kernel}(")].count("\n")
    lines = {mark: before + 1 + body[:body.index(comment)].count("\n") if comment in body else ""
             for mark, comment in (("filling", "// fills the tile again"), ("reading", "// may still be reading it"))}
    arguments = ["--type", element, "--width", size[0], "--height", size[1]]
    done = step(program, "--kernel", kernel, *arguments)
    assert done.returncode == 1
    assert re.search(finding.format(**lines), done.stderr), done.stderr
    assert re.search(r"\d+ findings in all, at \d+ places? of the kernel$", done.stderr.strip())
    clean = step(program, "--kernel", corrected, *arguments)
    assert clean.returncode == 0 and clean.stderr == ""


def test_output_read_before_it_is_written():
    done = faults("readsOutput_faulty")
    assert done.returncode == 1
    assert re.search(
        rf"uninitialized load of 4 bytes at byte 0 of odata: thread \(0, 0, 0\) at {line('output: read')}, "
        r"in block \(0, 0, 0\) \(1887 times\)", done.stderr), done.stderr


def test_barrier_that_some_threads_never_reach():
    """A thread that has returned need not come to a barrier: from compute capability 7.0 on."""
    assert faults("leavesEarly_faulty").returncode == 0
    done = faults("leavesEarly_faulty", machine="k20x")
    assert done.returncode == 1
    assert re.search(rf"divergent barrier: the one at {line('early: barrier')} is not reached by every thread of "
                     r"block \(14, 0, 0\): not by thread \(95, 0, 0\)", done.stderr), done.stderr
    # every thread has an element: no fault
    assert faults("leavesEarly_faulty", size=(64, 64), machine="k20x").returncode == 0


def test_misaligned_access():
    done = faults("misaligned_faulty")
    assert done.returncode == 1
    assert re.search(
        rf"misaligned access of 4 bytes at byte 2 of idata: thread \(0, 0, 0\) at {line('misaligned: load')}",
        done.stderr), done.stderr


def test_device_memory_that_the_host_accesses():
    done = faults("hostReadsDevice_faulty")
    assert done.returncode == 1
    assert re.search(rf"the host accesses device memory: load of 4 bytes at byte 0 of odata, at {line('host: load')}",
                     done.stderr), done.stderr


def test_vector_that_ends_outside():
    done = faults("vectorOverTheEnd_faulty")  # 1887 floats: the last vector has three
    assert done.returncode == 1
    assert re.search(
        rf"out-of-bounds load of 16 bytes at byte 7536 of idata: thread \(87, 0, 0\) at {line('over: load')}",
        done.stderr), done.stderr
    assert faults("vectorOverTheEnd_faulty", size=(36, 51)).returncode == 0
    done = faults("vectorStoredOverTheEnd_faulty")
    assert re.search(
        rf"out-of-bounds store of 16 bytes at byte 7536 of odata: thread \(87, 0, 0\) at {line('over: store')}",
        done.stderr), done.stderr


def test_shared_memory_out_of_bounds():
    done = faults("behindTheTile_faulty")
    assert done.returncode == 1
    assert re.search(r"out-of-bounds store of 4 bytes at byte 512 of shared memory \(tile\): thread \(127, 0, 0\) at "
                     rf"{line('tile: store')}, in block \(0, 0, 0\) \(14 times\)",
                     done.stderr), done.stderr


@pytest.mark.parametrize("kernel, finding", [
    ("inFrontOfTheTile",
     r"out-of-bounds store of 4 bytes at byte -4 of shared memory \(tile\): thread \(0, 0, 0\) at {front: store}"),
    ("beyondALocalArray", r"index 4 of a local array, '(float|T)\[4\]': thread \(0, 0, 0\) at {local: store}"),
    ("readsWhatOthersStore", r"race: read-after-write hazard in odata, byte 0: thread \(0, 0, 0\) writes at "
                             r"{neighbour: store} and thread \(1, 0, 0\) reads at {neighbour: load}"),
    ("everyBlockStores",
     r"race: write-after-write hazard in odata, byte 0: thread \(0, 0, 0\) of block \(0, 0, 0\) writes at {every: "
     r"store} and thread \(0, 0, 0\) of block \(1, 0, 0\) writes at {every: store}, and blocks run in any order"),
    ("neverEnds", r"endless loop: more than 1073741824 turns: thread \(3, 0, 0\) at {endless: loop}"),
    ("deepStack", r"local memory: a thread has more local variables than the 512 kB that CUDA allows: "
                  r"thread \(0, 0, 0\) at "),
])
def test_faults_that_only_a_close_look_finds(kernel, finding):
    done = faults(kernel + "_faulty")
    assert done.returncode == 1
    finding = re.sub(r"{(.*?)}", lambda mark: line(mark[1]), finding)
    assert re.search(finding, done.stderr), done.stderr


def test_at_most_ten_findings_are_printed_and_all_are_counted():
    done = run(ROOT / "build/tests/steps/planted", "--device", "sim", "--kernel", "fine_forgetBarrier", "--size", 64)
    found = [text for text in done.stderr.splitlines() if "hazard" in text or "uninitialized" in text]
    assert 1 <= len(found) <= 10
    times = sum(int(t) for t in re.findall(r"\((\d+) times\)$", "\n".join(found), re.MULTILINE))
    assert f"{times} findings in all, at {len(found)} places" in done.stderr
