// Step 6, errata: explanations with the faults that were published at this stage. The checks compute partitions, tiles
// and resident blocks again.
//
//   make step06 && ./step06 --errata

#include <cstdint>
#include <set>

#include "../common/step.h"

using harness::format;

// Does a column camp exactly where its stride is a multiple of `bytes`? 32 rows of a matrix on a GTX 280, at every
// stride that is a multiple of a partition's width.
static std::string camps_at_multiples_of(int bytes)
{
    const harness::PartitionMap& map = harness::machine_named("gtx280").map;
    for (uint64_t stride = map.granularity; stride <= 1 << 14; stride += map.granularity) {
        std::set<unsigned> reached;
        for (uint64_t row = 0; row < 32; ++row) reached.insert(map.partition_of(row * stride));
        if ((reached.size() == 1) != (stride % bytes == 0))
            return format("wrong rule: with a stride of %d bytes, 32 rows lie in %zu partitions", int(stride),
                          reached.size());
    }
    return "";
}

static std::string campsAtEveryPartitionWidth() { return camps_at_multiples_of(256); }
static std::string campsAtEveryRound() { return camps_at_multiples_of(2048); }

ERRATUM(campsAtEveryPartitionWidth, E30)
    .published_in("whitepaper's translation, explanation of partitions")
    .with_methods(campsAtEveryPartitionWidth, campsAtEveryRound)
    .corrected_by("campsAtEveryRound")
    .story("Published: a column lies in one partition whenever the rows are a multiple of 256 bytes long, the width "
           "of a partition. The rows have to be a multiple of a round over all eight, 2048 bytes. The cure that the "
           "whitepaper names, 64 more columns, makes rows of 8448 bytes, 33 x 256. By the published rule it would "
           "cure nothing. Nor do the low bits of an address choose its partition, as the explanation says. Bits 8 to "
           "10 do. What remains: 2048 floats are 8192 bytes, which is a multiple of both.");

// The tile that block (x, y) of a square grid goes to, in the whitepaper's diagonal order.
static std::string goes_to(int side, int x, int y, int tile_x, int tile_y)
{
    const int by = x, bx = (x + y) % side;
    if (bx == tile_x && by == tile_y) return "";
    return format("wrong example: in a grid of %d x %d, block (%d, %d) goes to tile (%d, %d) and not to (%d, %d)", side,
                  side, x, y, bx, by, tile_x, tile_y);
}

static std::string leavesTheFirstRow()
{
    const std::string first = goes_to(2, 0, 0, 0, 0);
    return first.empty() ? goes_to(2, 1, 0, 1, 0) : first;
}

static std::string movesAllButOne()
{
    for (const std::string& wrong : {goes_to(2, 0, 0, 0, 0), goes_to(2, 1, 0, 1, 1), goes_to(2, 0, 1, 1, 0),
                                     goes_to(2, 1, 1, 0, 1)})
        if (!wrong.empty()) return wrong;
    return "";
}

ERRATUM(leavesTheFirstRow, E31)
    .published_in("whitepaper's translation, example of the diagonal order")
    .with_methods(leavesTheFirstRow, movesAllButOne)
    .corrected_by("movesAllButOne")
    .story("Published: a 4 x 4 matrix in tiles of 2 x 2. Blocks (0, 0) and (1, 0) keep their tiles, and the other two "
           "exchange theirs. By the formula, (1, 0) goes to tile (1, 1), (0, 1) to (1, 0) and (1, 1) to (0, 1). The "
           "blocks of the example have 2 x 2 threads where BLOCK_ROWS = 1 makes 2 x 1, and its output is complete "
           "after two of four blocks. What remains: the formula.");

// Are all blocks of the book's transpose on its card at once?
static std::string all_at_once(int side)
{
    const harness::Machine card = harness::machine_named("k20c");
    const harness::Occupancy o = card.occupancy(16 * 16, 16 * 17 * 4);
    const uint64_t blocks = uint64_t(side / 16) * uint64_t(side / 16), resident = o.blocks * uint64_t(o.sms);
    if (blocks <= resident) return "";
    return format("not at once: of %d blocks at %d x %d, a K20c holds %d at a time", int(blocks), side, side,
                  int(resident));
}

static std::string accessesAllAtOnce() { return all_at_once(4096); }
static std::string accessesASmallMatrixAtOnce() { return all_at_once(128); }

ERRATUM(accessesAllAtOnce, E32)
    .published_in("book 9.5, 9.6, 9.8")
    .with_methods(accessesAllAtOnce, accessesASmallMatrixAtOnce)
    .corrected_by("accessesASmallMatrixAtOnce")
    .story("Published: in a transpose through shared memory there is no partition camping, because all threads access "
           "all elements at the same time; that the diagonal order is slower proves it. Of 65536 blocks at 4096 x 4096 "
           "a K20c holds 104, and which partitions those 104 use decides. What remains: the measurement. The diagonal "
           "order does not help on this card; a hash of the addresses explains that as well (assumed: its map is not "
           "published).");
