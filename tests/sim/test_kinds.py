"""Atomics, vectors, structures, asynchronous copies: what the simulator counts is what Nsight Compute counted on an
H200."""

import collections
import csv
import re

import gpu_plain
from lessons import ROOT, made, run

# What differs, by kernel and types: why. Each must differ.
DIFFERENT = {
    "nvcc makes the store in warps where no lane takes part, too: the instruction is counted, and takes no wavefront": {
        "sharedAdd0": ["int"], "sharedAddUsed0": ["int"]},
    "an addition that shared memory does not have is a loop: load, add, compare and swap until nobody came between": {
        f"shared{kernel}": ["unsigned long long", "float", "double"]
        for kernel in ["Add0", "Add1", "Add8", "Add33", "AddUsed0", "AddUsed8"]},
    "a compare-and-swap in shared memory takes twice the wavefronts of another atomic operation": {
        "sharedCompareAndSwap1": ["int"], "sharedCompareAndSwap8": ["int"]},
    "nvcc knows that the index is even, and moves more at a time than the type's alignment allows": {
        "throughSharedStrided2": ["Bytes12", "Bytes20", "Bytes24"],
        "throughSharedStrided8": ["Bytes12", "Bytes20", "Bytes24"]},
    "what an asynchronous copy brings is stored as it arrives, line by line":
        {"pipelineCopyStrided": ["int", "int2", "int4"]},
    "an asynchronous copy of 16 bytes a lane reads sectors in pairs where it stores with conflicts":
        {"pipelineCopyConflicts": ["int4"]},
    "cuda::memcpy_async with a barrier is one bulk copy, outside of the counted units; the barrier has "
    "instructions of its own": {"barrierCopy": ["int", "int2", "int4"]},
}

# These kernels have asynchronous copies, and each of their instructions is executed by some lane.
COLUMNS = {
    **gpu_plain.COLUMNS,
    "shared_store_requests": ["shared_store_instructions", "async_instructions"],
    "shared_store_units": ["shared_store_wavefronts", "shared_async_wavefronts"],
    "shared_atomic_requests": ["shared_atomic_instructions"],
}


def test_counts_are_those_of_the_profiler(tmp_path):
    done = run("env", f"SIM_OPTIONS=--quiet --csv {tmp_path / 'counts.csv'}", made("build/try/tests/sim/atomics_async"),
               timeout=600)
    assert ",wrong" not in done.stdout, done.stdout

    counted = collections.defaultdict(collections.Counter)
    for row in csv.DictReader(open(tmp_path / "counts.csv")):
        what = f"{row['memory']}_{row['access']}"
        counted[row["kernel"]][what + "_requests"] += int(row["requests"])
        counted[row["kernel"]][what + "_units"] += int(row["units"])

    def of(kernel, type):
        """Of the launch that the measurement calls so: its names have the stride at their end."""
        name, stride = re.fullmatch(r"(\w*?)(\d*)", kernel).groups()
        names = [kernel, f"{kernel}<{type}>", f"{name}<{type}, {stride}>", f"{name}<{stride}>"]
        return counted[next(n for n in names if n in counted)]

    measured = list(csv.DictReader(open(ROOT / "tests/data/h200_kinds.csv")))
    assert len(measured) == len(counted) == 168
    different = {(row["kernel"], row["type"]): off for row in measured
                 if (off := {ours: (of(row["kernel"], row["type"])[ours], theirs) for ours, columns in COLUMNS.items()
                             if of(row["kernel"], row["type"])[ours] != (theirs := sum(int(row[c]) for c in columns))})}
    explained = {
        (kernel, type) for kernels in DIFFERENT.values() for kernel, types in kernels.items() for type in types}
    assert set(different) == explained, {key: different.get(key) for key in set(different) ^ explained}
