// Checks global memory: races inside a block and between blocks, and loads of what was never stored.
//
// A record of every word's last accesses takes many times the memory of the word. So it is kept only
// where it is asked for, and by a single host thread: for programs that are brought along, and for a
// second run of a kernel whose first run does not show by itself that there can be no race
// (device.cpp).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "findings.h"
#include "hazards.h"
#include "memory.h"
#include "order.h"
#include "requests.h"

namespace sim {

// Another launch, or a copy, that may run at the same time as the one that runs.
struct Beside {
    uint64_t first, blocks;  // counted over all launches: its blocks are first + 1 to first + blocks
    const char* name;        // of the kernel, or of the function that copies
    const void* place;       // where the program calls it
    bool launch;
    int device;              // -1: there is one alone
    std::string text() const;  // "put, launched at program.cu:31 on device 1"
};
// The one that a block is of; null: none. They are in the order of their blocks.
const Beside* beside_of(uint64_t block, const std::vector<Beside>& all);

// The last accesses to each word of one allocation.
class Shadow {
public:
    struct Cell : LastAccesses {
        uint64_t writer_block = 0, reader_block = 0;  // counted from 1, over all launches
        bool written = false;
    };

    explicit Shadow(uint64_t bytes) : chunks_((bytes + chunk_bytes - 1) / chunk_bytes) {}
    // Calls visit(cell, offset of its first byte) for each cell of a range.
    template <typename Visit>
    void visit(uint64_t offset, uint64_t bytes, Visit visit);
    // The host, or an operation of the runtime, has written here. `block`: of a copy, its number; 0: nothing runs beside it.
    void note_written(uint64_t offset, uint64_t bytes, uint64_t block = 0);
    void note_read(uint64_t offset, uint64_t bytes, uint64_t block);
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
    explicit GlobalChecker(const Order& order) : order_(order), hazards_(order, true) {}
    // `first`: the memory that the first lane accesses.
    void check(const Request& request, int first_thread, const Allocation& first, Findings& findings);
    void warp_done(const Sequence& sequence, Findings& findings) { hazards_.warp_done(sequence, findings); }
    void block_done(Findings& findings);

private:
    void note_beside(const Beside& other, const Request& request, int thread, const Allocation& memory, int64_t offset, Kind other_kind);

    struct Meeting {
        const Beside* other;
        Finding finding;
    };
    std::vector<Meeting> meetings_;
    const Order& order_;
    Hazards hazards_;
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
