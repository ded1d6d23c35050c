"""What the bandwidth post and the coalescing notes claim. The post's figures are of matrices of 4096 x 4096 floats."""

import results as reader
from sources.judging import (POST, TWO_TIMES, UNTOLD, Part, Ratio, alike, at_least, between, claim, error_of, faster,
                             verdict_of)

TABLE = "make table-bandwidth"
ROW, COL = "transposeRow 32x32", "transposeCol 32x32"


@claim("12a", "bandwidth post, coalescing notes", "Strided reads are cheaper than strided writes, thanks to the cache.",
       TABLE)
def strided_reads_beat_strided_writes(bench):
    return bench.part(COL, ROW, POST, faster)


@claim("12b", "bandwidth post, coalescing notes", "Strided reads are about twice as fast as strided writes.", TABLE)
def strided_reads_are_twice_as_fast(bench):
    return bench.part(COL, ROW, POST, between(*TWO_TIMES))


@claim("13a", "bandwidth post", "Unrolled by rows, the transpose outruns the copy meant as its upper bound.", TABLE)
def unrolled_by_rows_beats_the_copy(bench):
    return bench.part("transposeRowUnrolled 32x32", "copyRow 32x32", POST, faster)


@claim("13b", "bandwidth post", "Unrolled by columns, the transpose outruns the copy meant as its upper bound.", TABLE)
def unrolled_by_columns_beats_the_copy(bench):
    return bench.part("transposeColUnrolled 32x32", "copyRow 32x32", POST, faster)


@claim("13c", "bandwidth post", "By columns, blocks of 32 x 16 are best.", TABLE)
def blocks_of_32_by_16_are_best(bench):
    return bench.part("transposeCol 32x16",
                      tuple(f"transposeCol {block}" for block in ("32x32", "32x8", "64x16", "64x8", "128x8")), POST,
                      faster)


@claim("20", "coalescing notes", "The degree of coalescing of a misaligned sum is 80 %, of a broadcast 12.5 %.",
       "./step01 --device sim --kernel C1,C2 --size 1024 --csv FILE", quoted=("text",))
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


@claim("21", "bandwidth post", "Throughput may exceed the bandwidth of the memory.", TABLE, quoted=("throughput",))
def throughput_may_exceed_bandwidth(bench):
    time = bench.figure(COL, POST, timed=True)
    counted = bench.results.find("transposeCol", POST, block="32x32", backends=["sim"])
    sectors = bench.keep(reader.count(counted, "global_load_transactions"), "the simulator's loads of " + COL, POST)
    if None in (time, sectors) or not time.row["dram_peak_gbs"]:
        return Part(UNTOLD, "the peak of the memory is not known")
    throughput, peak = sectors.value * 32 / time.value / 1e6, float(time.row["dram_peak_gbs"])
    ratio = Ratio(throughput / peak, throughput / peak * (1 - error_of(time)), throughput / peak * (1 + error_of(time)))
    return Part(
        at_least(1)(ratio), f"the loads of {time.kernel} at {time.shape}, counted, move {throughput:.0f} GB/s in "
        f"{time}, on a memory of {peak:.0f} GB/s")


@claim("22", "bandwidth post", "By columns, the diagonal order loses to the naive and to the unrolled kernel.", TABLE)
def the_diagonal_order_loses(bench):
    return [
        bench.part(f"transposeCol{what} 32x32", "transposeColDiagonal 32x32", POST, faster, topic)
        for what, topic in (("", "Naive"), ("Unrolled", "unrolled"))]


@claim("35", "coalescing notes",
       "From Pascal on __ldg() changes nothing.",
       "./step02 --all --size 4096 --csv FILE")
def ldg_is_automatic(bench):
    return [
        bench.part(f"transpose{way}Ldg 32x32", f"transpose{way} 32x32", POST, alike, topic)
        for way, topic in (("Row", "By rows"), ("Col", "by columns"))]


@claim("40", "bandwidth post", "Unrolled, the copy meant as the upper bound would be faster, too.",
       "./step01 --all --size 4096 --csv FILE")
def unrolling_raises_the_limit(bench):
    return bench.part("copyRowUnrolled 32x32", "copyRow 32x32", POST, faster)
