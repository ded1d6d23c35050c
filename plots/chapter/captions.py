"""What each figure plots, and what to notice; and what a screen reader says instead of it."""

from typing import NamedTuple


class Caption(NamedTuple):
    """plots: what is to be seen, of any machine; notice: how to read the still figure, where the step's page does not
    say so."""
    plots: str
    notice: str
    alt: str


CAPTIONS = {
    "gpu": Caption(
        "A grid, one of its blocks and one of its warps, and the parts of a GPU.", "",
        "Left, a grid of blocks; one of its blocks as a row of warps; one of its warps as 32 threads. Right, a GPU "
        "with SMs that each hold blocks and shared memory, below them the L2 cache, and below the chip the DRAM"),
    "transpose": Caption(
        "A matrix of 3 × 5 elements and its transpose, and below each as it lies in memory, row after row.",
        "A row of `idata` lies together in `idata` and is spread out in `odata`. For a column it is the other way "
        "round. So one side of a transpose always visits memory in steps of a whole row.",
        "A matrix and its transpose, with one row and one column coloured, and the order of their elements in memory"),
    "bandwidth_steps": Caption(
        "Effective bandwidth of each step's kernels, and of `cudaMemcpy` (dashed line).",
        "A longer bar is faster. Hatched bars are not complete transposes. They are the copies and the two halves of "
        "step 5.",
        "Bars of effective bandwidth, one per kernel from copy to step 7, and one for the device's own memory copy"),
    "waterfall": Caption(
        "Time of a transpose after each idea. The strong part of a bar is what the kernel takes, the faint part is "
        "what the idea saves.",
        "The first idea saves the most. The changes of step 7 (*longer pieces*) save the least time. The last bar, "
        "`cudaMemcpy`, moves the same bytes. "
        "A bar leads to its step.",
        "Bars that grow shorter from the naive transpose over coalesced, padded and longer pieces to the device's own "
        "memory copy"),
    "bandwidth_over_n": Caption(
        "Effective bandwidth of the steps' kernels for n × n floats, from n = 256 to the largest. Below, the "
        "transposes of steps 2, 3, 4 and 7 as a share of `cudaMemcpy`.",
        "Small matrices are slow because a launch takes microseconds, however little it moves.",
        "Lines of effective bandwidth over the side of the matrix, one per kernel"),
    "time_per_element": Caption(
        "Time per element for n × n floats, on the GPU and on one core of a CPU (logarithmic axes).",
        "Lower is faster. Where a line of the CPU rises, the matrix no longer fits into a cache.",
        "Lines of time per element over the side of the matrix, for kernels and for serial functions"),
    "predicted_measured": Caption(
        "Time of each step's kernels: the model's (upwards) against the measured one (to the right).",
        "A point on the diagonal is predicted exactly. The band is 10 % on each side of it. The fine-grained kernel "
        "lies with the copy through shared memory, the coarse-grained one with step 4.",
        "Points of modelled over measured time, one per lesson kernel, close to the diagonal"),
    "way_through_the_tile": Caption(
        "One warp's way through the tile: a row of `idata` goes into a row of the tile, a column of the tile goes into "
        "a row of `odata`.",
        "", "idata, the tile and odata: a row that a warp reads, the row of the tile it fills, a column that the warp "
            "takes, and the row of odata it writes"),
    "sectors_naive": Caption(
        "The sectors of 32 bytes that one warp of the naive kernel touches, with a load from `idata` and with the "
        "store of the same elements to `odata`. Counted by the simulator for an H200.",
        "A box is a sector. The load uses all bytes of 4 sectors. The store writes 4 of the 32 bytes in each of 32 "
        "sectors.",
        "Left, the sectors of idata that one load touches: 4 side by side, all of their bytes read. Right, the sectors "
        "of odata that the store of the same elements touches: 32 below each other, an eighth of each written"),
    "sectors_naive_coalesced": Caption(
        "The sectors of 32 bytes that one warp's store touches in `odata`, in the naive and in the coalesced "
        "kernel. Counted by the simulator for an H200.",
        "A box is a sector. Left, a store of step 2 writes 4 of the 32 bytes in each of 32 sectors. Right, in step 3, "
        "it writes all bytes of 4 sectors.",
        "Sectors of odata that one store touches: 32 in the naive kernel, an eighth of each used; 4 in step 3, "
            "all of them used"),
    "banks": Caption(
        "The bank of each element of a tile: rows of 32 words, rows of 33 words, and a swizzled tile.", "",
        "Three tiles with the bank of each element: in rows of 32 a column lies in one bank, in rows of 33 and in the "
        "swizzled tile in all 32"),
    "two_halves": Caption(
        "`idata` in four tiles, and what the fine-grained kernel, the coarse-grained kernel and a transpose make of "
        "it.",
        "The fine-grained kernel transposes each tile and moves none. The coarse-grained one moves each tile "
        "and transposes none.",
        "idata and what the fine-grained kernel, the coarse-grained kernel and a transpose make of it, in four tiles"),
    "partitions_2048": Caption(
        "The partition of a GTX 280 that each tile of a 2048 × 2048 matrix of floats lies in, and the tiles of the "
        "first 90 blocks.",
        "", "The tiles of idata and odata, coloured by partition, with those of the first 90 blocks marked: step 4's "
            "order and the diagonal order"),
    "partition_traffic": Caption(
        "Stores to each memory partition of a GTX 280 over time in step 4's order, and the busiest partition's share "
        "in that order, in diagonal order and on a card that hashes addresses.",
        "In the upper picture a row is a partition, and a column is a moment, a window of blocks that run together. "
        "Cartesian order is that of step 4. One strong cell in a column is camping. A single partition then has all "
        "the work. The bars below compare the traffic of the busiest partition with the mean. 1 is best.",
        "Stores per partition over time in Cartesian order on a GTX 280, and bars that compare the busiest partition "
        "with the mean for Cartesian order, diagonal order and a card that hashes addresses"),
    "receivers": Caption(
        "To whom each of four GPUs sends its data over time, when a matrix of 4096 × 4096 floats is spread over them, "
        "in three orders of blocks. Counted by the simulator for four Tesla T4 (committed with the project).",
        "A row is a GPU that sends, and a column is a moment. In the first panel most GPUs send to the same one, "
        "as blocks store to the same partition in step 6's Cartesian order. In the second, all receivers of a moment "
        "differ. In the third, every GPU sends to all at once.",
        "Sending GPUs over time, coloured by the GPU that receives: equal columns in plain order, all different in "
        "rotated order"),
    "scaling": Caption(
        "Modelled time of a transpose of 65536 × 65536 floats on 2 to 4096 GPUs, and below the bandwidth between two "
        "GPUs, modelled and measured on two NVIDIA H200s (committed with the project).",
        "The solid line rises on the right. Each message is then so small that its latency costs more than its bytes.",
        "Lines of modelled time over the number of GPUs, and points of measured bandwidth between two GPUs below the "
        "modelled line"),
    "block_orders": Caption(
        "The tiles of `idata` and `odata`, numbered in the order in which their blocks start, for steps 4, 6 and 7.",
        "", "Tiles numbered in the order in which their blocks start: in step 4 along rows, in step 6 along diagonals, "
            "in step 7 down the columns"),
    "bytes_in_flight": Caption(
        "Effective bandwidth against the bytes that the loads of one SM can have in flight. The line is the queue of "
        "the model, for loads and nothing else. The points are the steps' kernels, measured on an NVIDIA H200 "
        "(committed with the project).",
        "Each KiB of loads waits for the latency and then for its turn at the memory, so the line is flat from about "
        "13 KiB on. The flat part is the bandwidth of a micro-benchmark that copies. It is no upper limit, and step 7 "
        "is a little faster. Kernels below the line have other limits, or fewer bytes in flight than they can have, "
        "because a block with a tile loads only for a part of its time. So measured kernels still gain beyond 13 KiB, "
        "on an H200 up to 64 KiB on an SM (step 7).",
        "Effective bandwidth over bytes in flight per SM: the model's curve, flat from 13 KiB on, and the lesson "
        "kernels as points"),
    "race": Caption(
        "Two threads of a kernel without a barrier that it needs.",
        "The kernel moves one tile after another in a loop (`transposeLoopingBlocks`, step 4), which needs a second "
        "barrier. Time runs down. Without a barrier at the end of a turn, one thread fills the tile again before the "
        "other has read its element. Step 3 has no loop over tiles and needs one barrier.",
        "Two threads of a kernel without its second barrier, instruction by instruction, until one reads a wrong "
        "value"),
    "memories": Caption(
        "The memories of an NVIDIA H200 (measurements committed with the project).",
        "The farther a memory is from the threads, the longer a load from it takes. The boxes are not to scale.",
        "Boxes for registers, shared memory, L1, L2, DRAM and host memory, with sizes, latencies and bandwidths"),
    "transfers": Caption("Bandwidth of copies between host and GPU against their size, from pageable and from pinned "
                         "memory.",
                         "Pinned memory is faster.", "Bandwidth of copies between host and GPU over their size"),
}
