// The global memory that the blocks of a window touch: which sectors they load and store, and how many bytes they
// store.
//
// In: lines of 128 bytes with a bit for each sector. Out: pages of 2 KiB. The memory is divided into regions of
// 64 MiB. Each has a table of its pages, made when it is first touched. Cost: one look into a table for each line.
// Invariant: `begun_` has each page that is not empty once.

#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "../../../common/base/counts.h"

namespace sim {

struct TouchedPage {
    uint64_t loaded = 0, stored = 0;  // a bit for each of 64 sectors
    uint64_t stored_bytes = 0;
    bool empty() const { return (loaded | stored) == 0; }
    void add(const TouchedPage& more);
};
using TouchedPages = std::unordered_map<uint64_t, TouchedPage>;  // by address / 2048

class Touched {
public:
    // `line`: an address divided by 128. Bit i of `sectors`: the i-th 32 bytes of the line.
    void load(uint64_t line, unsigned sectors) { page_of(line).loaded |= uint64_t(sectors) << line % 16 * 4; }
    // `sector`: an address divided by 32. `bytes`: that a request stores there.
    void store(uint64_t sector, unsigned bytes)
    {
        TouchedPage& page = page_of(sector / 4);
        page.stored |= uint64_t(1) << sector % 64;
        page.stored_bytes += bytes;
    }
    void hand_over(TouchedPages& to);  // all pages, and forgets them

private:
    static constexpr uint64_t region_pages = 1 << 15;
    using Region = std::unique_ptr<TouchedPage[]>;

    TouchedPage& page_of(uint64_t line)
    {
        const uint64_t page = line / 16;
        if (page / region_pages != recent_region_) find_region(page / region_pages);
        TouchedPage& found = recent_[page % region_pages];
        if (found.empty()) begun_.push_back(page);
        return found;
    }
    void find_region(uint64_t number);

    std::unordered_map<uint64_t, Region> regions_;
    uint64_t recent_region_ = ~0ull;
    TouchedPage* recent_ = nullptr;
    std::vector<uint64_t> begun_;
};

// Adds the work of the DRAM for a window.
void add_window(harness::DramCounts& sum, const TouchedPages& window);

}  // namespace sim
