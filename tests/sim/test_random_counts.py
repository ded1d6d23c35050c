"""Random kernels (random_kernels.py): what the simulator counts is what Nsight Compute counted on an H100.

The simulator keeps to the text of a kernel, and nvcc does not always (sim/README.md, "What compilers merge").
The kernels that differ for that are listed here, by reason. Of two reasons, the whole difference is known:

- JOINED: a kernel whose loops copy structures whole, and which is the same otherwise, has the counts of the card.
- TRIED_AGAIN: on the card, each operation costs as many wavefronts again, and the loads of the loop as many, too.

For the others, the machine code was read. It has the loops of UNROLLED several times, with a branch out of each copy or
a second loop for the turns that are left. It has fewer loads than turns in the kernels of REPEATED.
"""

import collections
import csv
import re

import pytest

import random_counts
import random_kernels
from lessons import ROOT
from samples import some

SEEDS, COUNT = [31, 1207], 480

JOINED = "nvcc makes one access of those to the members of an aligned structure: out[i] += in[j], member by member"
TRIED_AGAIN = "nvcc makes the addition of a float in shared memory a loop of load, addition, and compare-and-swap"
UNROLLED = "nvcc unrolls the loop: lanes that make different numbers of turns are in different copies of it"
REPEATED = "nvcc unrolls the loop, and drops loads from shared memory of what was loaded before"
ONE_MORE = "an atomic operation takes one sector more than its lanes have; why is not known"
DIFFERENT = {
    31: {
        JOINED: [2, 18, 38, 54, 82, 87, 90, 106, 131, 159, 179, 194, 222, 255, 266, 275, 302, 319, 326, 342, 343, 347,
                 382, 399, 418, 434, 451, 459, 470, 471, 479],
        TRIED_AGAIN: [99, 106, 127, 147, 151, 178, 186, 239, 335, 370, 403, 430],
        UNROLLED: [27, 43, 55, 67, 71, 75, 79, 83, 119, 151, 207, 231, 243, 247, 259, 279, 291, 307, 339, 355, 375,
                   391, 431, 459],
        REPEATED: [3, 50],
        ONE_MORE: [321, 465],
    },
    1207: {
        JOINED: [19, 22, 26, 30, 47, 51, 54, 62, 66, 71, 83, 91, 107, 123, 131, 138, 155, 163, 166, 171, 174, 183, 186,
                 187, 191, 238, 239, 258, 298, 307, 323, 331, 346, 366, 371, 374, 375, 378, 390, 398, 411, 414, 447,
                 450, 455, 467, 470],
        TRIED_AGAIN: [3, 7, 14, 18, 34, 67, 86, 138, 207, 318, 326, 342, 346, 419, 422, 450, 455, 458, 479],
        UNROLLED: [23, 59, 107, 115, 123, 147, 199, 207, 239, 251, 287, 295, 299, 311, 339, 371, 387, 391, 395, 423,
                   431, 435, 467],
        REPEATED: [410],
        ONE_MORE: [349],
    },
}
# Each reason has a sign in the kernel's text.
SIGNS = {
    JOINED: r"\] \+= in\d",
    TRIED_AGAIN: r"__shared__ float bins",
    UNROLLED: r"for \(|while \(",
    REPEATED: r"for \(unsigned k = 0; k < \d; [^}]*\bs\d\[.*\bk\b",
    ONE_MORE: r"acc \+= \(float\)atomic\w+\(&out\d+\[order\[",
}
# Reasons whose differences are not known beforehand, and the counts that they may change.
MAY_CHANGE = {UNROLLED: "global|shared_load", REPEATED: "shared_load", ONE_MORE: "global_atomic_units"}

PROGRAMS = [(seed, *program) for seed in SEEDS for program in random_kernels.programs(seed, COUNT)]


def reasons(seed, kernel):
    return [reason for reason, numbers in DIFFERENT[seed].items() if int(kernel.name[1:]) in numbers]


def measured(seed):
    with open(ROOT / "tests/data/h100_random_counts.csv") as file:
        return {row["kernel"]: row for row in csv.DictReader(file) if int(row["seed"]) == seed}


def counted(program, text):
    program.write_text(text)
    counts, checksums = random_counts.simulated(program)
    assert not random_counts.failures, random_counts.failures
    return counts, checksums


@pytest.mark.parametrize("seed", SEEDS)
def test_every_kernel_was_measured(seed):
    kernels = {kernel.name: kernel for of, _, _, part in PROGRAMS if of == seed for kernel in part}
    assert {name: row["text"] for name, row in measured(seed).items()} == \
        {name: random_counts.digest(kernel) for name, kernel in kernels.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_every_reason_has_its_sign(seed):
    kernels = {int(kernel.name[1:]): kernel for of, _, _, part in PROGRAMS if of == seed for kernel in part}
    for reason, numbers in DIFFERENT[seed].items():
        assert numbers == sorted(set(numbers))
        for number in numbers:
            kernel = kernels[number]
            assert re.search(SIGNS[reason], kernel.text), (kernel.name, reason)
            assert kernel.unroll == "" or reason not in (UNROLLED, REPEATED), kernel.name
            assert kernel.kind == "divergent loops" or reason != UNROLLED, kernel.name
            assert "loops" in kernel.kind or reason == ONE_MORE, kernel.name


def test_most_kernels_are_equal():
    """The numbers of sim/README.md and tests/data/README.md."""
    equal, total, unknown = collections.Counter(), collections.Counter(), 0
    for seed, _, _, kernels in PROGRAMS:
        for kernel in kernels:
            loops, found = "loops" in kernel.kind, reasons(seed, kernel)
            equal[loops] += not found
            total[loops] += 1
            unknown += bool({*found} - {JOINED, TRIED_AGAIN})
    assert (equal[False], total[False], equal[True], total[True]) == (477, 480, 334, 480)
    assert unknown == 53


@pytest.mark.parametrize("number", some(range(len(PROGRAMS)), len(PROGRAMS)))
def test_counts_are_those_of_the_profiler(number, tmp_path):
    seed, name, text, kernels = PROGRAMS[number]
    counts, checksums = counted(tmp_path / f"{name}.cu", text)
    joined = [kernel.name for kernel in kernels if JOINED in reasons(seed, kernel)]
    twins = [kernel for _, _, part in random_kernels.programs(seed, COUNT, whole=True) for kernel in part
             if kernel.name in joined]
    whole, same = counted(tmp_path / f"{name}_whole.cu", random_kernels.program(twins))
    rows = measured(seed)
    for kernel in kernels:
        row, found, here = rows[kernel.name], reasons(seed, kernel), counts[kernel.name]
        assert row["checksum"] == checksums[kernel.name], kernel.name
        if not found:
            assert not random_counts.compared(here, row), kernel.name
            continue
        if JOINED in found:
            assert row["checksum"] == same[kernel.name], kernel.name
            assert whole[kernel.name] != here, kernel.name
            here = whole[kernel.name]
        if TRIED_AGAIN in found:
            again = here["shared_atomic_units"]
            assert again, kernel.name
            here = here + collections.Counter(shared_atomic_units=again, shared_load_units=again)
        off, may = random_counts.compared(here, row), [MAY_CHANGE[r] for r in found if r in MAY_CHANGE]
        assert bool(off) == bool(may), (kernel.name, off)
        assert all(re.match("|".join(may), what) for what in off), (kernel.name, off)
