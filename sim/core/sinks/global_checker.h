// Checks global memory: races inside a block and between blocks, and loads of what was never stored.
//
// A record of every word's last accesses takes many times the memory of the word. So it is kept only where it is asked
// for, and by a single host thread: for programs of the user, and for a second run of a kernel whose first run does not
// rule out a race (common/devices/sim.cpp).

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "faults.h"
#include "../lanes/requests.h"
#include "../memory/memory.h"
#include "hazards.h"
#include "order.h"
#include "sink.h"

namespace sim {

// The last accesses to each word of one allocation. It takes twice the memory of the allocation, and eighteen times
// where words have several accesses. All records together take at most a quarter of the host's memory. One that would
// take more gives up, and is empty from then on.
class Shadow {
public:
    explicit Shadow(uint64_t bytes);
    ~Shadow();
    Shadow(const Shadow&) = delete;

    bool gave_up() const { return gave_up_; }
    // True if there was room for the record at first. It may have given up since then.
    bool began() const { return began_; }

    // Calls visit(cells, index, offset of its first byte) for each cell of a range. Chunks that are alike all over are
    // one cell.
    template <typename Visit>
    void visit(uint64_t offset, uint64_t bytes, Visit visit);
    template <typename Look>
    void look(uint64_t offset, uint64_t bytes, Look look) const;
    // Notes that the host, or an operation of the runtime, has written these bytes. Without a mark, no other work runs
    // at the same time. `written`: the bytes have a value now.
    void note_written(uint64_t offset, uint64_t bytes, bool written = true, Mark mark = mark_of(1, Sites::nobody, 0));
    // The offset of the first byte of the range that nothing has written, and that is no padding; its end if there is
    // none.
    uint64_t first_unwritten(uint64_t offset, uint64_t bytes, const Elements& elements) const;

private:
    static constexpr uint64_t chunk_bytes = 4096;
    struct Chunk {
        MemoryCells cells{std::vector<Mark>(1), {}};
        uint64_t cell_bytes = chunk_bytes;  // 4 once the chunk is no longer alike all over, 1 once smaller elements
                                            // have been accessed
    };
    // How much of the limit a chunk takes, in cells.
    static uint64_t room_of(const Chunk& c) { return c.cells.last.size() + 8 * c.cells.lists.size(); }
    static constexpr uint64_t room_of_chunk = 12;  // of a chunk itself, without its cells
    uint64_t end_of(uint64_t chunk) const { return std::min((chunk + 1) * chunk_bytes, bytes_); }
    // Gives a chunk cells of so many bytes. False: there is no memory for them.
    bool divide(Chunk& chunk, uint64_t cell_bytes);
    void take(uint64_t cells, uint64_t given_back = 0);

    uint64_t bytes_;
    uint64_t cells_ = 0;
    bool gave_up_ = false, began_ = false;
    std::vector<Chunk> chunks_;
};

class GlobalChecker : public Sink {
public:
    GlobalChecker(const Order& order, Sites& sites, Faults& faults)
        : order_(order), sites_(sites), hazards_(order, sites, true, faults)
    {
    }
    // A launch or a copy begins. `beside`: the work that may run at the same time; null: none.
    void start(const std::vector<Beside>* beside)
    {
        beside_ = beside;
        hazards_.start(beside);
    }
    void take(const PartOfRequest& part, const Cost& cost) override;
    void warp_done(const Sequence& sequence, const Threads& threads) override
    {
        hazards_.warp_done(sequence, threads);
    }
    void block_done() override { hazards_.block_done(); }

    // For the copy that began last. Calls visit(other work, its access, its time, offset) for each cell that both the
    // copy and the other work access and one of them writes.
    template <typename Visit>
    void look_beside(const Shadow& shadow, uint64_t offset, uint64_t bytes, bool writes, Visit visit) const;
    void note_copy(Shadow& shadow, uint64_t offset, uint64_t bytes, bool writes, bool written = true);

private:
    const Order& order_;
    Sites& sites_;
    const std::vector<Beside>* beside_ = nullptr;
    Hazards hazards_;
};

template <typename Visit>
void Shadow::visit(uint64_t offset, uint64_t bytes, Visit visit)
{
    const uint64_t stop = offset + bytes;
    for (uint64_t at = offset; at < stop && !gave_up_;) {
        Chunk& chunk = chunks_[at / chunk_bytes];
        const uint64_t begin = at / chunk_bytes * chunk_bytes, end = end_of(at / chunk_bytes);
        if (at != begin || stop < end || chunk.cell_bytes < chunk_bytes) {
            const uint64_t wanted = at % 4 || stop % 4 ? 1 : 4;
            if (wanted < chunk.cell_bytes && !divide(chunk, wanted)) return;
        }
        const size_t before = chunk.cells.lists.size();
        for (; at < std::min(stop, end); at += chunk.cell_bytes)
            visit(chunk.cells, (at - begin) / chunk.cell_bytes, at);
        take(8 * (chunk.cells.lists.size() - before));
    }
}

template <typename Look>
void Shadow::look(uint64_t offset, uint64_t bytes, Look look) const
{
    const uint64_t stop = offset + bytes;
    for (uint64_t at = offset; at < stop && !gave_up_;) {
        const Chunk& chunk = chunks_[at / chunk_bytes];
        look(chunk.cells, at % chunk_bytes / chunk.cell_bytes, at);
        at = (at / chunk.cell_bytes + 1) * chunk.cell_bytes;
    }
}

template <typename Visit>
void GlobalChecker::look_beside(const Shadow& shadow, uint64_t offset, uint64_t bytes, bool writes, Visit visit) const
{
    shadow.look(offset, bytes, [&](const MemoryCells& cells, size_t index, uint64_t at) {
        const MemoryCells::List list = hazards_.marks(cells, index);
        for (int i = 0; i < list.count; ++i) {
            const Site site = sites_.of(list.mark[i]);
            const uint32_t time = time_of(list.mark[i]);
            const Beside* other =
                kind_of(site) != load || writes ? beside_of(order_.block_at(time), *beside_) : nullptr;
            if (other) visit(*other, site, time, at);
        }
    });
}

}  // namespace sim
