"""What the whitepaper claims. Its figures are of matrices of 2048 x 2048 floats."""

import results as reader
from sources.judging import (ALIKE, ALMOST_TWO_ORDERS, CAMPED, FASTER, FEW_PERCENT, FOUR_TIMES, HOLDS, LITTLE,
                             ORDER_OF_MAGNITUDE, SIZEABLE, SPREAD_OUT, UNTOLD, WHITEPAPER, Part, alike, at_least,
                             claim, faster, found, hardly, less_than, of_ratios, only_if, ratio, told, unlike,
                             verdict_of)

TABLE = "make table-whitepaper"
ONE_LAUNCH = "./stepNN --kernel W --size 2048 --one-launch --csv FILE"


def counts(step, sizes="2048", machine="gtx280"):
    return f"./{step} --device sim --machine {machine} --all --size {sizes} --csv FILE"


def camps(bench):
    """Whether partitions camp shows in what the diagonal order gains: a verdict, and the figures."""
    gain = bench.compare("transposeDiagonal", "transposeNoBankConflicts", WHITEPAPER)
    verdict = at_least(SIZEABLE)(gain)
    return verdict, f"{told([gain])}, so that {'it is open whether anything' if verdict == UNTOLD else 'nothing'} camps"


def differ(bench):
    """The copy and the transpose must, or what is like the one is like the other."""
    gap = bench.compare("copySharedMem", "transposeNoBankConflicts", WHITEPAPER)
    return at_least(ALIKE)(gap), f"the copy and the transpose are as good as alike, {told([gap])}"


@claim("1", "whitepaper", "Coalescing alone can make the naive transpose faster by an order of magnitude.", TABLE)
def coalescing_is_an_order_of_magnitude(bench):
    return bench.part("transposeCoalesced", "transposeNaive", WHITEPAPER, at_least(ORDER_OF_MAGNITUDE))


@claim("3a", "whitepaper", "Without bank conflicts hardly anything is gained while partitions camp.", TABLE)
def bank_conflicts_hide_behind_camping(bench):
    return only_if(*camps(bench), bench.part("transposeNoBankConflicts", "transposeCoalesced", WHITEPAPER, hardly))


@claim("3b", "whitepaper", "Without bank conflicts a good deal is gained in the diagonal order.", TABLE)
def bank_conflicts_cost_once_nothing_camps(bench):
    return bench.part("transposeDiagonal", "transposeDiagonalUnpadded", WHITEPAPER, at_least(SIZEABLE))


@claim("4a", "whitepaper", "Fine-grained, which transposes inside the tiles, runs like the copy through shared memory.",
       TABLE)
def fine_grained_runs_like_the_copy(bench):
    return only_if(*differ(bench), bench.part("transposeFineGrained", "copySharedMem", WHITEPAPER, alike))


@claim("4b", "whitepaper", "Moving the tiles costs all that a transpose loses: coarse-grained runs like the transpose.",
       TABLE)
def coarse_grained_runs_like_the_transpose(bench):
    return only_if(*differ(bench), bench.part("transposeCoarseGrained", "transposeNoBankConflicts", WHITEPAPER, alike))


def diagonal_gain(bench, old, test):
    """On a GTX 280 or on a later card, whichever the claim is about."""
    part = bench.part("transposeDiagonal", "transposeNoBankConflicts", WHITEPAPER, test)
    return (part if old == bench.machine.name.endswith("GTX 280")
            else only_if(None, "a claim about " + ("the GTX 280" if old else "later cards"), part))


@claim("5a", "whitepaper", "On a GTX 280 the diagonal order is over four times as fast as the Cartesian.", TABLE)
def the_diagonal_order_helps_a_gtx_280(bench):
    return diagonal_gain(bench, True, at_least(FOUR_TIMES))


@claim("5b", "whitepaper, revised", "From Fermi on addresses are hashed, and the diagonal order is no help.", TABLE)
def the_diagonal_order_helps_no_later_card(bench):
    return diagonal_gain(bench, False, less_than(FASTER))


@claim("15", "whitepaper", "The copy is almost two orders of magnitude ahead of the naive transpose.", TABLE)
def the_copy_is_two_orders_ahead(bench):
    return bench.part("copy", "transposeNaive", WHITEPAPER, at_least(ALMOST_TWO_ORDERS))


@claim("16", "whitepaper", "Exchanging the roles of blockIdx.x and blockIdx.y moves the camping from the writes to "
                           "the reads.", counts("step06"))
def swapped_roles_move_the_camping(bench):
    def camps(loads, stores, swapped_loads, swapped_stores):
        return stores >= CAMPED <= swapped_loads and max(loads, swapped_stores) <= SPREAD_OUT
    return bench.partitions(camps, "camping on one side", ("transposeNoBankConflicts", WHITEPAPER),
                            ("transposeSwappedRoles", WHITEPAPER))


@claim("17", "whitepaper", "64 columns more in odata cure the camping.", TABLE)
def a_longer_pitch_cures_camping(bench):
    return only_if(*camps(bench),
                   bench.part("transposePaddedPitch", "transposeNoBankConflicts", WHITEPAPER, at_least(SIZEABLE)))


@claim("18", "whitepaper", "In the Cartesian order the reads are spread over all partitions, and the writes camp.",
       counts("step04"))
def reads_spread_and_writes_camp(bench):
    return bench.partitions(lambda loads, stores: loads <= SPREAD_OUT and stores >= CAMPED, "reads spread, writes camp",
                            ("transposeNoBankConflicts", WHITEPAPER))


@claim("19", "whitepaper", "Whether partitions camp depends on the size of the matrix.", counts("step04", "2048,2080"))
def camping_depends_on_the_size(bench):
    return bench.partitions(lambda _, camped, __, spread: camped >= CAMPED and spread <= SPREAD_OUT,
                            "stores that camp at one size only", ("transposeNoBankConflicts", WHITEPAPER),
                            ("transposeNoBankConflicts", 2080))


@claim("25", "whitepaper", "A transpose faster than the diagonal one is possible.",
       "./step06 --all --size 2048 --csv FILE; ./step07 --size 2048 --csv FILE")
def better_than_the_diagonal_is_possible(bench):
    return bench.part(("transposeLongPieces", "transposePaddedPitch"), "transposeDiagonal", WHITEPAPER, found(faster))


def repeated(bench, name, than=None):
    """Many passes inside one launch, over those of another kernel, or over as many launches."""
    return ratio(bench.inside(name, WHITEPAPER),
                 bench.inside(than, WHITEPAPER) if than else bench.figure(name, WHITEPAPER))


def cached(bench, name):
    row = bench.row(name, WHITEPAPER, "one_launch_memory")
    return bool(row) and row["one_launch_memory"] == "cache-resident"


@claim("2", "whitepaper", "With all passes in one launch, shared memory and a barrier cost the copy little.",
       ONE_LAUNCH)
def shared_memory_and_a_barrier_cost_little(bench):
    return of_ratios([repeated(bench, "copySharedMem", "copy")], at_least(LITTLE))


@claim("26", "whitepaper", "A loop inside the kernel and a loop over launches give different bandwidths.", ONE_LAUNCH)
def loops_inside_and_outside_differ(bench):
    part = of_ratios([repeated(bench, "copy")], unlike)
    return Part(
        part.verdict, "one launch of many passes over many launches, " + part.text +
        (", from the L2 after the first pass" if cached(bench, "copy") else ""), part.brief)


@claim("27", "whitepaper", "Index arithmetic is not what a transpose loses: the gap stays where a loop inside the "
                           "kernel does it once.", ONE_LAUNCH)
def index_arithmetic_is_not_the_cause(bench):
    gap = of_ratios([repeated(bench, "copy", "transposeCoalesced")], at_least(SIZEABLE))
    return only_if(UNTOLD if cached(bench, "copy") else HOLDS,
                   "passes after the first find the matrix in the L2, and count their indices anew", gap)


@claim("28", "whitepaper", "32 x 8 threads are better than 32 x 32: four elements for each thread share the index "
                           "arithmetic.",
       "./step04 --kernel transposeNoBankConflicts,transposeTile32Padded --size 2048 --csv FILE")
def four_elements_share_index_arithmetic(bench):
    part = bench.part("transposeNoBankConflicts", "transposeTile32Padded", WHITEPAPER, faster)
    return only_if(UNTOLD if bench.machine.backend == "sim" else HOLDS, "a model knows no index arithmetic", part)


@claim("29", "whitepaper", "With all passes in one launch, the diagonal is within a few per cent of the "
                           "copy through shared memory.", ONE_LAUNCH)
def the_diagonal_is_near_the_copy(bench):
    return of_ratios([repeated(bench, "transposeDiagonal", "copySharedMem")], at_least(FEW_PERCENT))


@claim("30", "whitepaper", "Partition camping costs the 8 series, with six partitions, far less than the GTX 280.",
       counts("step04", machine="g80") + " and " + counts("step04"),
       concerns=("cards of the 8 series", lambda machine: "GeForce 8" in machine.name))
def the_8_series_camps_less(bench):
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
