#include "touched.h"

#include <algorithm>

namespace sim {

void TouchedPage::add(const TouchedPage& more)
{
    loaded |= more.loaded;
    stored |= more.stored;
    stored_bytes += more.stored_bytes;
}

void Touched::find_region(uint64_t number)
{
    Region& region = regions_[number];
    if (!region) region = std::make_unique<TouchedPage[]>(region_pages);
    recent_region_ = number;
    recent_ = region.get();
}

void Touched::hand_over(TouchedPages& to)
{
    for (uint64_t number : begun_) {
        if (number / region_pages != recent_region_) find_region(number / region_pages);
        TouchedPage& page = recent_[number % region_pages];
        to[number].add(page);
        page = {};
    }
    begun_.clear();
}

namespace {

// A page has four bits for each line. The lowest of the four is set where the line is touched in one half only.
uint64_t half_touched(uint64_t sectors)
{
    constexpr uint64_t lowest = 0x1111111111111111;
    return ((sectors | sectors >> 1) ^ (sectors >> 2 | sectors >> 3)) & lowest;
}

uint64_t count(uint64_t bits) { return uint64_t(__builtin_popcountll(bits)); }

}  // namespace

void add_window(harness::DramCounts& sum, const TouchedPages& window)
{
    for (const auto& [number, page] : window) {
        const uint64_t half_loaded = half_touched(page.loaded), half_stored = half_touched(page.stored);
        sum.half_loads += count(half_loaded);
        sum.loaded_bytes += 32 * count(page.loaded & ~(half_loaded * 15));
        const uint64_t stored = count(page.stored), unfilled = stored - std::min(stored, page.stored_bytes / 32);
        sum.half_stores += count(half_stored);
        sum.unfilled_sectors += unfilled;
        if (stored == 0) continue;
        sum.stored_in_halves += page.stored_bytes * count(page.stored & half_stored * 15) / stored;
        if (2 * stored < 64) sum.scattered_bytes += 32 * stored;
    }
}

}  // namespace sim
