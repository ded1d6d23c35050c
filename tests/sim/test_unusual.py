"""Right kernels of unusual form are verified without a finding, at any shape and in any type.

All of them passed compute-sanitizer's four tools on an H100."""

import re

from lessons import ROOT, NUMBERS, run
from samples import ALL

PROGRAM = ROOT / "build/tests/sim/unusual/unusual"
# width, height: one element, one row, one column, parts of tiles, whole tiles, whole and no whole vectors.
SHAPES = [(1, 1), (1, 100), (100, 1), (33, 65), (37, 37), (100, 100), (64, 64), (96, 32), (132, 68)]

# In the sources: KERNEL(name, "-", produces, launcher).
KERNELS = [name for path in sorted((ROOT / "tests/sim/unusual").glob("*.cu"))
           for name in re.findall(r"^KERNEL\((\w+), ", path.read_text(), re.MULTILINE)]


def test_verified_without_a_finding():
    for size in SHAPES:
        for element in NUMBERS if ALL or size == (33, 65) else NUMBERS[:1]:
            done = run(PROGRAM, "--device", "sim", "--type", element, "--width", size[0], "--height", size[1])
            verified = [line.split()[0] for line in done.stdout.splitlines() if re.search(r"\bverified\b", line)]
            assert done.returncode == 0 and done.stderr == "", (size, element, done.stderr)
            assert sorted(verified) == sorted(KERNELS), (size, element, done.stdout)


def test_verified_when_run_alone():
    """A kernel must not lean on what another one has declared or left behind."""
    for name in KERNELS:
        done = run(PROGRAM, "--device", "sim", "--kernel", name, "--width", 33, "--height", 65)
        assert done.returncode == 0 and done.stderr == "" and "verified" in done.stdout, (name, done.stderr)
