// Checks global memory: races inside a block and between blocks, and loads of what was never stored.
//
// A record of every word's last accesses takes many times the memory of the word. So it is kept only
// where it is asked for, and by a single host thread: for programs that are brought along, and for a
// second run of a kernel whose first run does not show by itself that there can be no race
// (device.cpp).

#pragma once

#include <algorithm>
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
    std::string text(bool writes) const;  // "put, launched at program.cu:31 on device 1 writes it"
};
// " writes it", for a reader; of the functions that allocate and free in the order of a stream, what they do.
const char* verb(const char* function, bool writes);
// The one that a block is of; null: none. They are in the order of their blocks.
const Beside* beside_of(uint64_t block, const std::vector<Beside>& all);

// The last accesses to each word of one allocation. It may take sixteen times the memory of the allocation. All
// accounts together take a quarter of what the host has; one that would take more gives up, and is empty from then on.
class Shadow {
public:
    struct Cell : LastAccesses {
        bool written = false;
        uint64_t writer_block = 0, reader_block = 0;  // counted from 1, over all launches
    };

    explicit Shadow(uint64_t bytes);
    ~Shadow();
    Shadow(const Shadow&) = delete;

    bool gave_up() const { return gave_up_; }
    // True if there was room for it at first. It may have given up since then.
    bool began() const { return began_; }

    // Calls visit(cell, offset of its first byte) for each cell of a range. Chunks that are alike all over are one
    // cell.
    template <typename Visit>
    void visit(uint64_t offset, uint64_t bytes, Visit visit);
    template <typename Look>
    void look(uint64_t offset, uint64_t bytes, Look look) const;
    // The host, or an operation of the runtime, has written here. `block`: of a copy, its number; 0: nothing runs
    // beside it. `written`: with a value.
    void note_written(uint64_t offset, uint64_t bytes, uint64_t block = 0, bool written = true);
    void note_read(uint64_t offset, uint64_t bytes, uint64_t block);
    // The offset of the first byte of the range that nothing has written, and that is no padding; its end if there is
    // none.
    uint64_t first_unwritten(uint64_t offset, uint64_t bytes, const Elements& elements) const;

private:
    static constexpr uint64_t chunk_bytes = 4096;
    struct Chunk {
        Cell all;                 // as long as there are no cells
        std::vector<Cell> cells;  // of 4 bytes, or of 1 once smaller elements have been accessed
        uint64_t cell_bytes = 4;
    };
    uint64_t end_of(uint64_t chunk) const { return std::min((chunk + 1) * chunk_bytes, bytes_); }
    // Gives a chunk cells of so many bytes. False: there is no memory for them.
    bool divide(Chunk& chunk, uint64_t cell_bytes);
    void take(uint64_t cells, uint64_t given_back = 0);

    uint64_t bytes_;
    uint64_t cells_ = 0;
    bool gave_up_ = false, began_ = false;
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
    void note_beside(const Beside& other, const Request& request, int thread, const Allocation& memory, int64_t offset,
                     Kind other_kind);

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
    const uint64_t stop = offset + bytes;
    for (uint64_t at = offset; at < stop && !gave_up_;) {
        Chunk& chunk = chunks_[at / chunk_bytes];
        const uint64_t begin = at / chunk_bytes * chunk_bytes, end = end_of(at / chunk_bytes);
        if (chunk.cells.empty() && at == begin && stop >= end) {
            visit(chunk.all, at);
            at = end;
            continue;
        }
        const uint64_t wanted = at % 4 || stop % 4 ? 1 : chunk.cell_bytes;
        if ((chunk.cells.empty() || wanted < chunk.cell_bytes) && !divide(chunk, wanted)) return;
        for (; at < std::min(stop, end); at += chunk.cell_bytes)
            visit(chunk.cells[(at - begin) / chunk.cell_bytes], at);
    }
}

template <typename Look>
void Shadow::look(uint64_t offset, uint64_t bytes, Look look) const
{
    const uint64_t stop = offset + bytes;
    for (uint64_t at = offset; at < stop && !gave_up_;) {
        const Chunk& chunk = chunks_[at / chunk_bytes];
        const uint64_t begin = at / chunk_bytes * chunk_bytes, end = std::min(stop, end_of(at / chunk_bytes));
        const bool alike = chunk.cells.empty();
        look(alike ? chunk.all : chunk.cells[(at - begin) / chunk.cell_bytes], at);
        at = alike ? end : (at / chunk.cell_bytes + 1) * chunk.cell_bytes;
    }
}

}  // namespace sim
