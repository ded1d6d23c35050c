"""What the book claims: chapter 9, and what other chapters have on the same ground."""

from sources.judging import (ALIKE, A_QUARTER, BOOK, FROM_1024, HALF, LARGE, POST, SIZEABLE, SMALL, UNTOLD,
                             Part, Ratio, alike, at_least, between, claim, error_of, faster, hardly, interval, noise,
                             of_ratios, only_if, ratio, slightly, verdict_of, worst)

TABLE = "make table-book"
ONE_D, TILED = ("transposeRow1D", "transposeCol1D"), ("transposeTile16", "transposeTile16Padded")
TRANSFERS = ("hostToDevice", "deviceToHost")


@claim("6", "book 1", "On one core of a CPU it makes no difference whether reads or writes are contiguous.", TABLE,
       about="CPU")
def serial_reads_and_writes_take_the_same_time(bench):
    return bench.part("transposeSerialWrite", "transposeSerialRead", BOOK, alike)


@claim("7", "book 2", "The CPU takes longer for each byte once the matrix has outgrown its caches.", TABLE, about="CPU")
def the_cpu_slows_down_outside_its_caches(bench):
    return of_ratios([
        bench.compare(kernel, kernel, BOOK[0], BOOK[-1]) for kernel in ("transposeSerialRead", "transposeSerialWrite")],
                     at_least(SIZEABLE))


@claim("8a", "book 4", "Small matrices want 2D blocks.", TABLE)
def two_dimensions_win_on_small_matrices(bench):
    return bench.part(("transposeRow16", *TILED), ONE_D, SMALL, faster)


@claim("8b", "book 4, 8", "From 1024 on, 1D blocks beat 2D blocks.", TABLE)
def one_dimension_wins_on_large_matrices(bench):
    return [bench.part(ONE_D, "transposeRow16", FROM_1024, faster, "1D beats naive 2D"),
            bench.part(ONE_D, TILED, FROM_1024, faster, "1D beats tiled 2D")]


@claim("8c", "book 4, 8", "From 4096 on, the 1D kernel that writes contiguously is the better one.", TABLE)
def contiguous_writes_win_from_4096_on(bench):
    return bench.part("transposeCol1D", "transposeRow1D", LARGE, faster)


@claim("9a", "book 5", "Shared memory makes the 2D transpose faster.", TABLE)
def shared_memory_helps(bench):
    return bench.part("transposeTile16", "transposeRow16", LARGE, faster)


@claim("9b", "book 6", "Padding the tile hardly matters for large matrices.", TABLE, errata=("E11",))
def padding_hardly_matters(bench):
    return bench.part("transposeTile16Padded", "transposeTile16", LARGE, hardly)


@claim("10", "book 7", "The diagonal order makes the book's transpose slower.", TABLE)
def the_diagonal_order_is_slower(bench):
    return bench.part("transposeTile16Padded", "transposeDiagonal16", LARGE, faster)


@claim("11", "book 9.7", "A fixed grid of blocks that loop over the tiles is faster than a block for each tile.", TABLE)
def looping_blocks_are_faster(bench):
    return bench.part("transposeLoopingBlocks", "transposeTile32Padded", LARGE, faster)


def share_of_copies(copies, kernel):
    """The copies over the kernel, as a Ratio of times; and by what share of itself it may be off."""
    value, off = sum(c.value for c in copies) / kernel.value, max(map(error_of, copies)) + error_of(kernel)
    return Ratio(value, *interval(value, off)), off


@claim("14", "book 17.9", "Getting the matrix to the device and back takes most of the time.", TABLE)
def copies_to_the_device_dominate(bench):
    verdicts, texts, briefs = [], [], []
    for side in BOOK:
        *copies, kernel = [bench.figure(name, side, timed=True) for name in (*TRANSFERS, "transposeTile16Padded")]
        if None not in (*copies, kernel):
            there, back = copies
            share = f"{100 * (there.value + back.value) / (there.value + back.value + kernel.value):.0f} %"
            over, off = share_of_copies(copies, kernel)
            verdicts.append(at_least(HALF)(over))
            texts.append(f"{share} of the whole at {kernel.shape} ({there} there, {back} back, {kernel} to "
                         f"transpose){noise(off)}")
            briefs.append(share)
    return Part(worst(verdicts), "hostToDevice and deviceToHost take " + ", ".join(texts), ", ".join(briefs))


@claim("23", "book 17.4", "The first launch of a program takes seconds, a later one microseconds.",
       "./step01 --kernel emptyKernel --size 2048 --csv FILE", quoted=("17.4",))
def the_first_launch_takes_seconds(bench):
    later = bench.figure("emptyKernel", 2048, timed=True)
    if not later or not later.row["first_launch_ms"]:
        return Part(UNTOLD, "")
    first = float(later.row["first_launch_ms"])
    return [
        Part(verdict_of(first >= 1000), f"{first:.0f} ms", topic="The first takes seconds"),
        Part(verdict_of(later.value < 0.1), f"{1e3 * later.value:.1f} us for emptyKernel",
             topic="a later one takes microseconds")]


@claim("24", "book 17.7", "Copies from and to pinned memory are faster than from and to pageable memory.", TABLE,
       quoted=("16.4",))
def pinned_beats_pageable(bench):
    return of_ratios([ratio(bench.figure(f"{way}Pinned", side, timed=True), bench.figure(way, side, timed=True))
                      for way in TRANSFERS for side in BOOK],
                     faster)


@claim("31", "book 9.8", "The GPU is faster than the CPU, the more so the larger the matrix.", TABLE)
def the_gpu_beats_the_cpu(bench):
    ratios = [
        ratio(bench.figure("transposeTile16Padded", side, timed=True), bench.host.figure("transposeSerialRead", side))
        for side in BOOK]
    ahead = of_ratios(ratios, faster, "Faster at every size, copies left out")
    if None in ratios:
        return ahead
    growth = Ratio(ratios[-1].value / ratios[0].value, ratios[-1].low / ratios[0].high,
                   ratios[-1].high / max(ratios[0].low, 1e-9))
    return [ahead,
            Part(at_least(SIZEABLE)(growth), f"{growth.value:.1f} times as far ahead at {BOOK[-1]} as at {BOOK[0]}",
                 f"{growth.value:.1f} times as far ahead", "the more so the larger")]


@claim("32", "book 6", "Padding the tile helps slightly on small matrices.", TABLE, errata=("E11",))
def padding_helps_slightly_on_small_matrices(bench):
    return bench.part("transposeTile16Padded", "transposeTile16", SMALL, slightly)


@claim("33", "book 4, 8", "At 1024 and 2048, the 1D kernel that reads contiguously is the better one.", TABLE)
def contiguous_reads_win_at_1024_and_2048(bench):
    return bench.part("transposeRow1D", "transposeCol1D", (1024, 2048), faster)


@claim("34", "book 9.7", "Of all fixed grids of looping blocks, 32 x 32 is the best.",
       "./step04 --kernel transposeLoopingBlocks,transposeLoopingGrid16,transposeLoopingGrid64 --sweep book --csv FILE")
def the_best_grid_is_32_by_32(bench):
    return bench.part("transposeLoopingBlocks", ("transposeLoopingGrid16", "transposeLoopingGrid64"), LARGE,
                      faster)


@claim("36", "book 16.6", "__ldg(), __restrict__ and textures make a sum of vectors no faster.",
       "./step02 --all --size 4096 --csv FILE", quoted=("16.3",))
def read_only_caches_bring_nothing(bench):
    why_not = ("the book adds vectors, and this is a transpose by columns; plots/data/h200_readonly.csv has one "
               "through textures, too")
    return [
        only_if(UNTOLD, why_not, bench.part(f"transposeCol{how} 32x32", "transposeCol 32x32", POST, hardly, topic))
        for how, topic in (("Ldg", "__ldg()"), ("Restrict", "__restrict__"))]


@claim("37", "book 17.6", "A copy whose threads loop in two dimensions beats a thread for each element.",
       "./step01 --all --size 4096 --csv FILE", quoted=("17.6",))
def a_looping_copy_beats_a_thread_per_element(bench):
    return bench.part("copyLooping2D", "copyRow 32x32", POST, faster)


@claim("38", "book 11.3, 17.6",
       "Elements of one byte reach a quarter of the bandwidth; four of them in a vector cure it.",
       "./step01 --all --size 16384 --csv FILE; ./step01 --all --type char --size 16384 --csv FILE",
       quoted=("17.2", "17.6, double", "17.3"))
def chars_want_vectors(bench):
    return [bench.part("char copy", "copy", 16384, between(*A_QUARTER), "One byte, a quarter"),
            bench.part("char copyVector", "copy", 16384, at_least(1 / ALIKE), "vectors cure it")]


@claim("39", "book 15.8", "Where memory is no limit, switching threads is cheaper than looping, and looping is "
                          "cheaper than launching.",
       "./step04 --all --size 256,4096,8192 --csv FILE", quoted=("15.8", "17.4"))
def threads_are_cheaper_than_loops_than_launches(bench):
    why_not = "the book excludes kernels that memory limits, and a transpose is one"
    return [
        only_if(UNTOLD, why_not, part) for part in (
            bench.part("transposeTile32Padded", "transposeLoopingBlocks", LARGE, faster, "Threads beat loops"),
            bench.part("transposeRepeated", "transposeNoBankConflicts", SMALL[0], faster, "loops beat launches"))]
