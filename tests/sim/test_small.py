"""sim/small shares no code with the simulator, and counts the same for the kernels of steps 1 to 7. Those that differ
are named, with the reason."""

import csv
import io
import re

import pytest

from lessons import ROOT, run
from samples import ALL

FILES = sorted(path for name in ("step0?.cu", "variants.cu") for path in ROOT.glob(f"step0[1-7]_*/{name}"))
SIZES = ["64x64", "100x70", "33x129"]
COUNTS = [f"{memory}_{access}_{what}" for memory, cost in (("global", "transactions"), ("shared", "wavefronts"))
          for access in ("load", "store") for what in ("requests", cost)]
NO_LESSON = "transposeRowUnrolledMixedUp"  # a published fault that stands beside the kernel that corrects it
DIFFER = {
    "addScaled": (SIZES, "its factor is a variable of the device, which small.h takes for a tile"),
    "transposeLongPieces": (SIZES[1:], "lanes leave out turns of a loop, and their n-th visits are not the same turn"),
}


@pytest.mark.parametrize("path", [pytest.param(path, id=f"{path.parent.name}/{path.stem}", marks=[pytest.mark.variety]
                                               if path.stem in ("variants", "step01", "step03", "step06") else [])
                                  for path in FILES])
def test_it_counts_what_the_simulator_counts(path, tmp_path):
    sizes = SIZES if ALL else SIZES[1:2]
    done = run("sh", ROOT / "sim/small/run.sh", path, *sizes)
    assert done.returncode == 0, done.stderr
    small = {(name, f"{width}x{height}"): [*map(int, counts)]
             for name, width, height, *counts in [*csv.reader(io.StringIO(done.stdout))][1:]}
    names = ",".join(dict.fromkeys(name for name, _ in small if name != NO_LESSON))
    for size in sizes:
        table = tmp_path / "counts.csv"
        done = run(ROOT / path.parent.name[:6], "--kernel", names, "--size", size, "--device", "sim", "--csv", table)
        assert done.returncode == 0, done.stderr
        for row in csv.DictReader(table.open()):
            if (row["kernel"], size) in small:
                same = small.pop((row["kernel"], size)) == [int(row[count]) for count in COUNTS]
                assert same != (row["kernel"] in DIFFER and size in DIFFER[row["kernel"]][0]), (row["kernel"], size)
    assert {name for name, _ in small} <= {NO_LESSON}


def test_the_page_shows_what_it_prints():
    command, printed = re.search(r"```sh\n(.*?)\n```\n\n```\n(.*?)```",
                                 (ROOT / "sim/small/README.md").read_text(), re.S).groups()
    assert run(*command.split(), cwd=ROOT).stdout == printed
    assert sum(len((ROOT / f"sim/small/small.{kind}").read_text().splitlines()) for kind in ("h", "cpp")) <= 200
