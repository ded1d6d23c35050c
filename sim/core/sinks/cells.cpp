#include "cells.h"

#include <algorithm>
#include <type_traits>

namespace sim {

size_t Sites::find(Site site)
{
    if (const auto known = numbers_.find(site); known != numbers_.end()) return known->second;
    // No program has more than two million places.
    numbers_[site] = std::min<size_t>(sites_.size(), site_mask >> thread_bits);
    sites_.push_back(site);
    return numbers_[site];
}

void MemoryCells::put(size_t index, const List& list, bool unset)
{
    last[index] = list.mark[0] | (unset ? special : 0);
    if (list.count < 2) return;
    if (lists.empty()) lists.resize(last.size());
    lists[index] = list;
    last[index] |= special | several;
}

void MemoryCells::divide(size_t parts, size_t cells)
{
    const auto divided = [&](auto& old) {
        std::decay_t<decltype(old)> fine(std::min(old.size() * parts, old.empty() ? 0 : cells));
        for (size_t i = 0; i < fine.size(); ++i) fine[i] = old[i / parts];
        old.swap(fine);
    };
    divided(last);
    divided(lists);
}

}  // namespace sim
