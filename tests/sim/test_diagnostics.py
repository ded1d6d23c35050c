"""Published races and accesses out of bounds are reported at their lines, and corrected kernels are clean. The other
faults have their cases in tests/sim/seen."""

import re

import pytest

from conftest import step
from lessons import ROOT, NUMBERS, run

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


def test_at_most_ten_findings_are_printed_and_all_are_counted():
    done = run(ROOT / "build/tests/steps/planted", "--device", "sim", "--kernel", "fine_forgetBarrier", "--size", 64)
    found = [text for text in done.stderr.splitlines() if "hazard" in text or "uninitialized" in text]
    assert 1 <= len(found) <= 10
    times = sum(int(t) for t in re.findall(r"\((\d+) times\)$", "\n".join(found), re.MULTILINE))
    assert f"{times} findings in all, at {len(found)} places" in done.stderr
