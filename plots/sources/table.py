"""What the sources claim: a row for each claim, with the rule by which it is judged (judging.py)."""

import results as reader
from .judging import (A_QUARTER, ALIKE, ALMOST_TWO_ORDERS, BOOK, CAMPED, FASTER, FEW_PERCENT, FOUR_TIMES, FROM_1024,
                      HALF, HOLDS, LARGE, LITTLE, ORDER_OF_MAGNITUDE, POST, SIZEABLE, SMALL, SPREAD_OUT, TWO_TIMES,
                      UNTOLD, WHITEPAPER, Claim, Part, Ratio, alike, at_least, between, both, compare, error_of, faster,
                      found, hardly, interval, less_than, noise, of_ratios, only_if, partitions, ratio, slightly, told,
                      unlike, verdict_of, worst)

ONE_LAUNCH = "./stepNN --kernel W --size 2048 --one-launch --csv FILE"
AT_4096 = "./{} --all --size 4096 --csv FILE"
COUNTED = "./{} --device sim --machine {} --all --size {} --csv FILE"
ONE_D, TILED = ("transposeRow1D", "transposeCol1D"), ("transposeTile16", "transposeTile16Padded")
ROW, COL = "transposeRow 32x32", "transposeCol 32x32"
OTHER_BLOCKS = tuple(f"transposeCol {block}" for block in ("32x32", "32x8", "64x16", "64x8", "128x8"))


# Rules that no comparison of two kernels is: from a Bench to a Part, or to several.

def where(what, than, test, why_not, rule):
    """A rule that is put to the test only where another ratio passes one. why_not: of its verdict and its words."""
    def judged(bench):
        first = bench.compare(what, than, WHITEPAPER)
        return only_if(test(first), why_not(test(first), told([first])), rule(bench))
    return judged


def where_partitions_camp(rule):
    """Whether they do shows in what the diagonal order gains."""
    return where("transposeDiagonal", "transposeNoBankConflicts", at_least(SIZEABLE), lambda verdict, gain:
                 f"{gain}, so that {'it is open whether anything' if verdict == UNTOLD else 'nothing'} camps", rule)


def where_copy_and_transpose_differ(rule):
    """If they do not, what is like the one is like the other."""
    return where("copySharedMem", "transposeNoBankConflicts", at_least(ALIKE),
                 lambda _, gap: f"the copy and the transpose are as good as alike, {gap}", rule)


def diagonal_gain(old, test):
    """On a GTX 280 or on a later card, whichever the claim is about."""
    rule = compare("transposeDiagonal", "transposeNoBankConflicts", WHITEPAPER, test)
    return lambda bench: only_if(HOLDS if old == bench.machine.name.endswith("GTX 280") else UNTOLD,
                                 "a claim about " + ("the GTX 280" if old else "later cards"), rule(bench))


def never(why_not, rule):
    """What is about other kernels than those here."""
    return lambda bench: only_if(UNTOLD, why_not, rule(bench))


def repeated(bench, name, than=None):
    """Many passes inside one launch, over those of another kernel, or over as many launches."""
    return ratio(bench.inside(name, WHITEPAPER),
                 bench.inside(than, WHITEPAPER) if than else bench.figure(name, WHITEPAPER))


def cached(bench, name):
    row = bench.row(name, WHITEPAPER, "one_launch_memory")
    return bool(row) and row["one_launch_memory"] == "cache-resident"


def loops_differ(bench):
    part = of_ratios([repeated(bench, "copy")], unlike)
    return Part(
        part.verdict, "one launch of many passes over many launches, " + part.text +
        (", from the L2 after the first pass" if cached(bench, "copy") else ""), part.brief)


def gap_inside(bench):
    return only_if(UNTOLD if cached(bench, "copy") else HOLDS,
                   "passes after the first find the matrix in the L2, and count their indices anew",
                   of_ratios([repeated(bench, "copy", "transposeCoalesced")], at_least(SIZEABLE)))


def measured(why_not, rule):
    return lambda bench: only_if(UNTOLD if bench.machine.backend == "sim" else HOLDS, why_not, rule(bench))


def less_than_a_gtx_280(bench):
    _, here = bench.busiest("transposeNoBankConflicts", WHITEPAPER)
    gtx280 = [m for m in bench.results.machines() if (m.backend, m.name) == ("sim", "GeForce GTX 280")]
    there = bench.results.find("transposeNoBankConflicts", WHITEPAPER, machine=gtx280[0]) if gtx280 else None
    there = bench.keep(reader.count(there, "busiest_partition_of_stores"), "the GTX 280's transposeNoBankConflicts",
                       WHITEPAPER)
    if here is None or there is None:
        return Part(UNTOLD, "")
    return Part(verdict_of(here.value * CAMPED <= there.value),
                f"the busiest partition has counted {here.value:.2f} times the mean of the stores of "
                f"transposeNoBankConflicts, and {there.value:.2f} times on a GTX 280")


def out_of_the_caches(bench):
    return of_ratios([bench.compare(kernel, kernel, BOOK[0], BOOK[-1])
                      for kernel in ("transposeSerialRead", "transposeSerialWrite")], at_least(SIZEABLE))


def mostly_copies(bench):
    verdicts, texts, briefs = [], [], []
    for side in BOOK:
        figures = [bench.figure(name, side, timed=True)
                   for name in ("hostToDevice", "deviceToHost", "transposeTile16Padded")]
        if None not in figures:
            there, back, kernel = figures
            value, off = (there.value + back.value) / kernel.value, max(error_of(there), error_of(back))
            off += error_of(kernel)
            share = f"{100 * value / (value + 1):.0f} %"
            verdicts.append(at_least(HALF)(Ratio(value, *interval(value, off))))
            texts.append(f"{share} of the whole at {kernel.shape} ({there} there, {back} back, {kernel} to "
                         f"transpose){noise(off)}")
            briefs.append(share)
    return Part(worst(verdicts), "hostToDevice and deviceToHost take " + ", ".join(texts), ", ".join(briefs))


def degrees_of_coalescing(bench):
    misaligned = bench.count("addMisaligned", 1024, "coalesced_percent")
    moved, requests = (
        bench.count("addBroadcast", 1024, f"global_load_{what}") for what in ("transactions", "requests"))
    if None in (misaligned, moved, requests):
        return Part(UNTOLD, "")
    # Half of the requests are the broadcast's; of the other half each takes 4 sectors.
    sectors = (moved.value - 4 * requests.value / 2) / (requests.value / 2)
    broadcast = 100 * 4 / (32 * sectors)
    return [
        Part(verdict_of(abs(misaligned.value - 80) < 0.5), f"counted {misaligned.value:.1f} %",
             topic="Misaligned, 80 %"),
        Part(verdict_of(abs(broadcast - 12.5) < 0.05),
             f"counted {broadcast:.1f} %, in {sectors:.2f} sectors for each request, the "
             "fewest there can be", topic="broadcast, 12.5 %")]


def more_than_the_memory(bench):
    time = bench.figure(COL, POST, timed=True)
    counted = bench.results.find("transposeCol", POST, block="32x32", backends=["sim"])
    sectors = bench.keep(reader.count(counted, "global_load_transactions"), "the simulator's loads of " + COL, POST)
    if None in (time, sectors) or not time.row["dram_peak_gbs"]:
        return Part(UNTOLD, "the peak of the memory is not known")
    throughput, peak = sectors.value * 32 / time.value / 1e6, float(time.row["dram_peak_gbs"])
    over = Ratio(throughput / peak, *interval(throughput / peak, error_of(time)))
    return Part(
        at_least(1)(over), f"the loads of {time.kernel} at {time.shape}, counted, move {throughput:.0f} GB/s in "
        f"{time}, on a memory of {peak:.0f} GB/s")


def first_launch(bench):
    later = bench.figure("emptyKernel", 2048, timed=True)
    if not later or not later.row["first_launch_ms"]:
        return Part(UNTOLD, "")
    first = float(later.row["first_launch_ms"])
    return [
        Part(verdict_of(first >= 1000), f"{first:.0f} ms", topic="The first takes seconds"),
        Part(verdict_of(later.value < 0.1), f"{1e3 * later.value:.1f} us for emptyKernel",
             topic="a later one takes microseconds")]


def pinned(bench):
    return of_ratios([ratio(bench.figure(f"{way}Pinned", side, timed=True), bench.figure(way, side, timed=True))
                      for way in ("hostToDevice", "deviceToHost") for side in BOOK], faster)


def ahead_of_the_cpu(bench):
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


def swapped_camp(loads, stores, swapped_loads, swapped_stores):
    return stores >= CAMPED <= swapped_loads and max(loads, swapped_stores) <= SPREAD_OUT


# number, source, claim, rule; run: the command that makes what the rule needs, unless it is that of the source's table.
CLAIMS = [
    Claim("1", "whitepaper", "Coalescing alone can make the naive transpose faster by an order of magnitude.",
          compare("transposeCoalesced", "transposeNaive", WHITEPAPER, at_least(ORDER_OF_MAGNITUDE))),
    Claim("2", "whitepaper", "With all passes in one launch, shared memory and a barrier cost the copy little.",
          lambda bench: of_ratios([repeated(bench, "copySharedMem", "copy")], at_least(LITTLE)), run=ONE_LAUNCH),
    Claim("3a", "whitepaper", "Without bank conflicts hardly anything is gained while partitions camp.",
          where_partitions_camp(compare("transposeNoBankConflicts", "transposeCoalesced", WHITEPAPER, hardly))),
    Claim("3b", "whitepaper", "Without bank conflicts a good deal is gained in the diagonal order.",
          compare("transposeDiagonal", "transposeDiagonalUnpadded", WHITEPAPER, at_least(SIZEABLE))),
    Claim("4a", "whitepaper",
          "Fine-grained, which transposes inside the tiles, runs like the copy through shared memory.",
          where_copy_and_transpose_differ(compare("transposeFineGrained", "copySharedMem", WHITEPAPER, alike))),
    Claim("4b", "whitepaper",
          "Moving the tiles costs all that a transpose loses: coarse-grained runs like the transpose.",
          where_copy_and_transpose_differ(compare("transposeCoarseGrained", "transposeNoBankConflicts", WHITEPAPER,
                                                  alike))),
    Claim("5a", "whitepaper", "On a GTX 280 the diagonal order is over four times as fast as the Cartesian.",
          diagonal_gain(True, at_least(FOUR_TIMES))),
    Claim("5b", "whitepaper, revised", "From Fermi on addresses are hashed, and the diagonal order is no help.",
          diagonal_gain(False, less_than(FASTER))),
    Claim("6", "book 1", "On one core of a CPU it makes no difference whether reads or writes are contiguous.",
          compare("transposeSerialWrite", "transposeSerialRead", BOOK, alike), about="CPU"),
    Claim("7", "book 2", "The CPU takes longer for each byte once the matrix has outgrown its caches.",
          out_of_the_caches, about="CPU"),
    Claim("8a", "book 4", "Small matrices want 2D blocks.",
          compare(("transposeRow16", *TILED), ONE_D, SMALL, faster)),
    Claim("8b", "book 4, 8", "From 1024 on, 1D blocks beat 2D blocks.",
          both(compare(ONE_D, "transposeRow16", FROM_1024, faster, "1D beats naive 2D"),
               compare(ONE_D, TILED, FROM_1024, faster, "1D beats tiled 2D")),
          why="The book's times of the 1D kernels from 1024 on are those of 512 rows."),
    Claim("8c", "book 4, 8", "From 4096 on, the 1D kernel that writes contiguously is the better one.",
          compare("transposeCol1D", "transposeRow1D", LARGE, faster)),
    Claim("9a", "book 5", "Shared memory makes the 2D transpose faster.",
          compare("transposeTile16", "transposeRow16", LARGE, faster),
          why="Stores by columns touch 32 sectors each, and those from the tile touch 4."),
    Claim("9b", "book 6", "Padding the tile hardly matters for large matrices.",
          compare("transposeTile16Padded", "transposeTile16", LARGE, hardly), errata=("E11",),
          why="A tile of 16 × 17 still has conflicts on 32 banks."),
    Claim("10", "book 7", "The diagonal order makes the book's transpose slower.",
          compare("transposeTile16Padded", "transposeDiagonal16", LARGE, faster),
          why="The measurement stands. The book's reason for it does not (E32)."),
    Claim("11", "book 9.7", "A fixed grid of blocks that loop over the tiles is faster than a block for each tile.",
          compare("transposeLoopingBlocks", "transposeTile32Padded", LARGE, faster),
          why="The published kernel has a race (E2). The one here has the barrier."),
    Claim("12a", "bandwidth post, coalescing notes",
          "Strided reads are cheaper than strided writes, thanks to the cache.", compare(COL, ROW, POST, faster),
          why="The post asks why, and guesses that latency is hidden better. The model here gives another reason. A "
              "sector that was read stays in the cache for the neighbouring reads, and each store to a line costs the "
              "L2 an access."),
    Claim("12b", "bandwidth post, coalescing notes", "Strided reads are about twice as fast as strided writes.",
          compare(COL, ROW, POST, between(*TWO_TIMES))),
    Claim("13a", "bandwidth post", "Unrolled by rows, the transpose outruns the copy meant as its upper bound.",
          compare("transposeRowUnrolled 32x32", "copyRow 32x32", POST, faster),
          why="The published row timed the kernel by columns a second time (E5)."),
    Claim("13b", "bandwidth post", "Unrolled by columns, the transpose outruns the copy meant as its upper bound.",
          compare("transposeColUnrolled 32x32", "copyRow 32x32", POST, faster),
          why="Four loads of a thread are in flight instead of one. That copy is no limit, since it has one."),
    Claim("13c", "bandwidth post", "By columns, blocks of 32 x 16 are best.",
          compare("transposeCol 32x16", OTHER_BLOCKS, POST, faster)),
    Claim("14", "book 17.9", "Getting the matrix to the device and back takes most of the time.", mostly_copies),
    Claim("15", "whitepaper", "The copy is almost two orders of magnitude ahead of the naive transpose.",
          compare("copy", "transposeNaive", WHITEPAPER, at_least(ALMOST_TWO_ORDERS))),
    Claim("16", "whitepaper",
          "Exchanging the roles of blockIdx.x and blockIdx.y moves the camping from the writes to the reads.",
          partitions(swapped_camp, "camping on one side", ("transposeNoBankConflicts", WHITEPAPER),
                     ("transposeSwappedRoles", WHITEPAPER)), run=COUNTED.format("step06", "gtx280", "2048")),
    Claim("17", "whitepaper", "64 columns more in odata cure the camping.",
          where_partitions_camp(compare("transposePaddedPitch", "transposeNoBankConflicts", WHITEPAPER,
                                        at_least(SIZEABLE)))),
    Claim("18", "whitepaper",
          "In the Cartesian order the reads are spread over all partitions, and the writes camp.",
          partitions(lambda loads, stores: loads <= SPREAD_OUT and stores >= CAMPED, "reads spread, writes camp",
                     ("transposeNoBankConflicts", WHITEPAPER)), run=COUNTED.format("step04", "gtx280", "2048")),
    Claim("19", "whitepaper", "Whether partitions camp depends on the size of the matrix.",
          partitions(lambda _, camped, __, spread: camped >= CAMPED and spread <= SPREAD_OUT,
                     "stores that camp at one size only", ("transposeNoBankConflicts", WHITEPAPER),
                     ("transposeNoBankConflicts", 2080)), run=COUNTED.format("step04", "gtx280", "2048,2080")),
    Claim("20", "coalescing notes", "The degree of coalescing of a misaligned sum is 80 %, of a broadcast 12.5 %.",
          degrees_of_coalescing, run="./step01 --device sim --kernel C1,C2 --size 1024 --csv FILE", quoted=("text",)),
    Claim("21", "bandwidth post", "Throughput may exceed the bandwidth of the memory.", more_than_the_memory,
          quoted=("throughput",)),
    Claim("22", "bandwidth post", "By columns, the diagonal order loses to the naive and to the unrolled kernel.",
          both(compare(COL, "transposeColDiagonal 32x32", POST, faster, "Naive"),
               compare("transposeColUnrolled 32x32", "transposeColDiagonal 32x32", POST, faster, "unrolled")),
          why="The post leaves open why. On its card addresses are hashed over the partitions (assumed), so that "
              "nothing camps and the order has nothing to mend. That it costs something may come from blocks whose "
              "reads share sectors, and which no longer run at the same time. This is not measured."),
    Claim("23", "book 17.4", "The first launch of a program takes seconds, a later one microseconds.", first_launch,
          run="./step01 --kernel emptyKernel --size 2048 --csv FILE", quoted=("17.4",)),
    Claim("24", "book 17.7", "Copies from and to pinned memory are faster than from and to pageable memory.", pinned,
          quoted=("16.4",)),
    Claim("25", "whitepaper", "A transpose faster than the diagonal one is possible.",
          compare(("transposeLongPieces", "transposePaddedPitch"), "transposeDiagonal", WHITEPAPER, found(faster)),
          run="./step06 --all --size 2048 --csv FILE; ./step07 --size 2048 --csv FILE"),
    Claim("26", "whitepaper", "A loop inside the kernel and a loop over launches give different bandwidths.",
          loops_differ, run=ONE_LAUNCH),
    Claim("27", "whitepaper", "Index arithmetic is not what a transpose loses: the gap stays where a loop inside the "
                              "kernel does it once.", gap_inside, run=ONE_LAUNCH),
    Claim("28", "whitepaper", "32 x 8 threads are better than 32 x 32: four elements for each thread share the index "
                              "arithmetic.",
          measured("a model knows no index arithmetic",
                   compare("transposeNoBankConflicts", "transposeTile32Padded", WHITEPAPER, faster)),
          run="./step04 --kernel transposeNoBankConflicts,transposeTile32Padded --size 2048 --csv FILE"),
    Claim("29", "whitepaper", "With all passes in one launch, the diagonal is within a few per cent of the copy "
                              "through shared memory.",
          lambda bench: of_ratios([repeated(bench, "transposeDiagonal", "copySharedMem")], at_least(FEW_PERCENT)),
          run=ONE_LAUNCH),
    Claim("30", "whitepaper", "Partition camping costs the 8 series, with six partitions, far less than the GTX 280.",
          less_than_a_gtx_280,
          run=COUNTED.format("step04", "g80", "2048") + " and " + COUNTED.format("step04", "gtx280", "2048"),
          concerns=("cards of the 8 series", "GeForce 8")),
    Claim("31", "book 9.8", "The GPU is faster than the CPU, the more so the larger the matrix.", ahead_of_the_cpu,
          why="With the copies to the device, the book's CPU is ahead up to 2048 (E20)."),
    Claim("32", "book 6", "Padding the tile helps slightly on small matrices.",
          compare("transposeTile16Padded", "transposeTile16", SMALL, slightly), errata=("E11",)),
    Claim("33", "book 4, 8", "At 1024 and 2048, the 1D kernel that reads contiguously is the better one.",
          compare("transposeRow1D", "transposeCol1D", (1024, 2048), faster)),
    Claim("34", "book 9.7", "Of all fixed grids of looping blocks, 32 x 32 is the best.",
          compare("transposeLoopingBlocks", ("transposeLoopingGrid16", "transposeLoopingGrid64"), LARGE, faster),
          run="./step04 --kernel transposeLoopingBlocks,transposeLoopingGrid16,transposeLoopingGrid64 --sweep book "
              "--csv FILE"),
    Claim("35", "coalescing notes", "From Pascal on __ldg() changes nothing.",
          both(compare("transposeRowLdg 32x32", ROW, POST, alike, "By rows"),
               compare("transposeColLdg 32x32", COL, POST, alike, "by columns")), run=AT_4096.format("step02")),
    Claim("36", "book 16.6", "__ldg(), __restrict__ and textures make a sum of vectors no faster.",
          both(*(never("the book adds vectors, and this is a transpose by columns; plots/data/h200_readonly.csv has "
                       "one through textures, too",
                       compare(f"transposeCol{how} 32x32", COL, POST, hardly, topic))
                 for how, topic in (("Ldg", "__ldg()"), ("Restrict", "__restrict__")))),
          run=AT_4096.format("step02"), quoted=("16.3",)),
    Claim("37", "book 17.6", "A copy whose threads loop in two dimensions beats a thread for each element.",
          compare("copyLooping2D", "copyRow 32x32", POST, faster), run=AT_4096.format("step01"), quoted=("17.6",)),
    Claim("38", "book 11.3, 17.6",
          "Elements of one byte reach a quarter of the bandwidth; four of them in a vector cure it.",
          both(compare("char copy", "copy", 16384, between(*A_QUARTER), "One byte, a quarter"),
               compare("char copyVector", "copy", 16384, at_least(1 / ALIKE), "vectors cure it")),
          run="./step01 --all --size 16384 --csv FILE; ./step01 --all --type char --size 16384 --csv FILE",
          quoted=("17.2", "17.6, double", "17.3")),
    Claim("39", "book 15.8", "Where memory is no limit, switching threads is cheaper than looping, and looping is "
                             "cheaper than launching.",
          both(*(never("the book excludes kernels that memory limits, and a transpose is one", rule) for rule in (
              compare("transposeTile32Padded", "transposeLoopingBlocks", LARGE, faster, "Threads beat loops"),
              compare("transposeRepeated", "transposeNoBankConflicts", SMALL[0], faster, "loops beat launches")))),
          run="./step04 --all --size 256,4096,8192 --csv FILE", quoted=("15.8", "17.4")),
    Claim("40", "bandwidth post", "Unrolled, the copy meant as the upper bound would be faster, too.",
          compare("copyRowUnrolled 32x32", "copyRow 32x32", POST, faster), run=AT_4096.format("step01")),
]
