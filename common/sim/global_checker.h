// Checks global memory: races inside a block and between blocks, and loads of what was never stored.
//
// A record of every word's last accesses takes many times the memory of the word. So it is kept only
// where it is asked for, and by a single host thread: for programs that are brought along, and for a
// second run of a kernel whose first run does not show by itself that there can be no race
// (device.cpp).

#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "checker.h"
#include "findings.h"
#include "memory.h"
#include "requests.h"

namespace sim {

// The last accesses to each word of one allocation.
class Shadow {
public:
    struct Cell {
        uint64_t writer_block = 0, reader_block = 0;  // counted from 1, over all launches
        uint32_t write_epoch = 0, read_epoch = 0;     // barriers that the block had passed
        uint32_t write_time = 0, read_time = 0;       // requests so far
        uint32_t write_site = 0, read_site = 0;
        uint16_t writer = 0, reader = 0, other_reader = 0;
        bool written = false, atomically = false;
    };

    explicit Shadow(uint64_t bytes) : chunks_((bytes + chunk_bytes - 1) / chunk_bytes) {}
    // Calls visit(cell, offset of its first byte) for each cell of a range.
    template <typename Visit>
    void visit(uint64_t offset, uint64_t bytes, Visit visit);
    // The host, or an operation of the runtime, has written here.
    void note_written(uint64_t offset, uint64_t bytes);
    // Whether all of it has been written.
    bool written(uint64_t offset, uint64_t bytes);

private:
    static constexpr uint64_t chunk_bytes = 4096;
    struct Chunk {
        unsigned shift = 2;  // a cell is 4 bytes, or 1 once smaller elements have been accessed
        std::vector<Cell> cells;
    };
    std::vector<Chunk> chunks_;
};

class GlobalChecker {
public:
    // `first_block`: the number of the launch's first block, counted over all launches.
    void start_launch(uint64_t first_block, bool lockstep);
    void start_block(uint64_t block) { block_ = block, epoch_ = 0; }
    void barrier() { ++epoch_; }
    void warp_syncs(int warp, uint32_t lanes) { meetings_.meet(warp, lanes, ++time_); }
    void fence() { fences_[first_block_ + block_ + 1] = ++time_; }
    void check(const Request& request, int first_thread, const Allocation& memory, Findings& findings);
    void warp_done(const Sequence& sequence, Findings& findings);

private:
    struct Hazard {
        Site site, other_site;
        int thread, other_thread, order;
        uint64_t other_block;  // of this launch
        const Allocation* memory;
        int64_t offset;
        uint64_t count;
    };
    bool ordered(int thread, uint64_t other_block, uint32_t other_epoch, int other, uint32_t time) const;
    void hazard(const Hazard& hazard);

    uint64_t first_block_ = 0, block_ = 0;
    uint32_t epoch_ = 0, time_ = 0;
    bool lockstep_ = false;
    WarpMeetings meetings_;
    std::unordered_map<uint64_t, uint32_t> fences_;    // by block: when it last made its stores seen
    std::unordered_map<uint64_t, uint32_t> acquires_;  // by block: its last atomic operation
    std::vector<Hazard> hazards_;
};

template <typename Visit>
void Shadow::visit(uint64_t offset, uint64_t bytes, Visit visit)
{
    for (uint64_t at = offset; at < offset + bytes;) {
        Chunk& chunk = chunks_[at / chunk_bytes];
        if (chunk.cells.empty()) chunk.cells.resize(chunk_bytes >> chunk.shift);
        if (chunk.shift && (at % 4 || (offset + bytes) % 4)) {
            std::vector<Cell> fine(chunk_bytes);
            for (size_t i = 0; i < fine.size(); ++i) fine[i] = chunk.cells[i / 4];
            chunk.cells.swap(fine);
            chunk.shift = 0;
        }
        const uint64_t end = std::min(offset + bytes, (at / chunk_bytes + 1) * chunk_bytes);
        for (; at < end; at += uint64_t(1) << chunk.shift) visit(chunk.cells[at % chunk_bytes >> chunk.shift], at);
    }
}

}  // namespace sim
