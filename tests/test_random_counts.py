"""Random kernels (random_kernels.py): what the simulator counts is what Nsight Compute counted on an H100."""

import csv
import re

import pytest

import random_counts
import random_kernels
from lessons import ROOT
from samples import some

SEED, COUNT = 31, 480

# Kernels that differ, by reason. Each reason was found in the machine code. It has a sign in the kernel's text, and
# changes certain counts.
JOINED = "nvcc makes one access of those to the members of an aligned structure: out[i] += in[j], member by member"
UNROLLED = "nvcc unrolls the loop: lanes that make different numbers of turns are in different copies of it"
REPEATED = "nvcc unrolls the loop, and drops the first turn's load from shared memory: it was loaded before"
TRIED_AGAIN = "nvcc makes the addition of a float in shared memory a loop of load, addition, and compare-and-swap"
UNKNOWN = "lanes alternate between two sectors of 128 bytes, and an atomic operation takes one more; why is not known"
DIFFERENT = {
    JOINED: [2, 18, 38, 54, 82, 87, 90, 106, 131, 159, 179, 194, 222, 255, 266, 275, 302, 319, 326, 342, 343, 347, 382,
             399, 418, 434, 451, 459, 470, 471, 479],
    UNROLLED: [27, 43, 55, 67, 71, 75, 79, 83, 119, 151, 207, 231, 243, 247, 259, 279, 291, 307, 339, 355, 375, 391,
               431, 459],
    REPEATED: [3, 50],
    TRIED_AGAIN: [99, 106, 127, 147, 151, 178, 186, 239, 335, 370, 403, 430],
    UNKNOWN: [321, 465],
}
SIGNS = {
    JOINED: r"\] \+= in\d",
    UNROLLED: r"for \(|while \(",
    REPEATED: r"for \(unsigned k = 0; k < 8;",
    TRIED_AGAIN: r"__shared__ float bins",
    UNKNOWN: r"atomic\w+\(&out\d+\[order\[",
}
CHANGES = {
    JOINED: "global_(load|store)",
    UNROLLED: "global|shared_load",
    REPEATED: "shared_load",
    TRIED_AGAIN: "shared_(load|atomic)",
    UNKNOWN: "global_atomic_units",
}
# Kernels whose text has changed since they were on the card. Their counts are not compared.
OF_OTHER_TEXTS = 48

PROGRAMS = random_kernels.programs(SEED, COUNT)
KERNELS = {kernel.name: kernel for _, _, kernels in PROGRAMS for kernel in kernels}


def reasons(kernel):
    return [reason for reason, numbers in DIFFERENT.items() if int(kernel.name[1:]) in numbers]


def measured():
    with open(ROOT / "tests/data/h100_random_counts.csv") as file:
        return {row["kernel"]: row for row in csv.DictReader(file) if int(row["seed"]) == SEED}


def loads_wide_from_shared_memory(kernel):
    """Whether a lane loads 8 or 16 bytes at a time. The rule for these wavefronts is not exact yet."""
    return any(min(type.alignment, 16) >= 8 for _, type, _ in kernel.shared)


def test_every_kernel_was_measured():
    rows = measured()
    assert set(rows) == set(KERNELS)
    others = [name for name, kernel in KERNELS.items() if rows[name]["text"] != random_counts.digest(kernel)]
    assert len(others) == OF_OTHER_TEXTS, others


def test_every_reason_has_its_sign():
    for reason, numbers in DIFFERENT.items():
        assert numbers == sorted(set(numbers))
        for number in numbers:
            kernel = KERNELS[f"k{number}"]
            assert re.search(SIGNS[reason], kernel.text), (kernel.name, reason)
            assert kernel.unroll == "" or reason not in (UNROLLED, REPEATED), kernel.name
    # Without loops, 97 % of the kernels are equal, and those that are not have no reason that is known.
    plain = [reasons(kernel) for kernel in KERNELS.values() if "loops" not in kernel.kind]
    assert [found for found in plain if found] == [[UNKNOWN]] * 2 and len(plain) == 240


@pytest.mark.parametrize("number", some(range(len(PROGRAMS)), 4))
def test_counts_are_those_of_the_profiler(number, tmp_path):
    name, text, kernels = PROGRAMS[number]
    program = tmp_path / f"{name}.cu"
    program.write_text(text)
    counts, checksums = random_counts.simulated(program)
    assert not random_counts.failures, random_counts.failures
    rows = measured()
    for kernel in kernels:
        row = rows[kernel.name]
        if row["text"] != random_counts.digest(kernel):
            continue
        assert row["checksum"] == checksums[kernel.name], kernel.name
        off = random_counts.compared(counts[kernel.name], row)
        wide = loads_wide_from_shared_memory(kernel)
        if wide:
            off.pop("shared_load_units", None)
        found = reasons(kernel)
        left = [what for what in off if not any(re.match(CHANGES[reason], what) for reason in found)]
        assert not left, f"{kernel.name}: {off}, and no reason for {left}"
        for reason in found:
            needed = any(re.match(CHANGES[reason], what) for what in off)
            assert needed or (wide and reason in (UNROLLED, REPEATED)), f"{kernel.name}: {off}, but: {reason}"
