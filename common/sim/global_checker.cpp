#include "global_checker.h"

#include <algorithm>

namespace sim {

void Shadow::note_written(uint64_t offset, uint64_t bytes)
{
    visit(offset, bytes, [](Cell& cell, uint64_t) {
        cell = {};
        cell.written = true;
    });
}

bool Shadow::written(uint64_t offset, uint64_t bytes)
{
    bool all = true;
    visit(offset, bytes, [&](Cell& cell, uint64_t) { all = all && cell.written; });
    return all;
}

void GlobalChecker::start_launch(uint64_t first_block, bool lockstep)
{
    first_block_ = first_block;
    lockstep_ = lockstep;
    fences_.clear();
    acquires_.clear();
}

// Whether something comes between an earlier access and one that this block's `thread` makes now.
bool GlobalChecker::ordered(int thread, uint64_t other_block, uint32_t other_epoch, int other, uint32_t time) const
{
    if (other_block <= first_block_) return true;  // of an earlier launch
    if (other_block == first_block_ + block_ + 1)
        return other == thread || other_epoch != epoch_ || (lockstep_ && thread / warp_size == other / warp_size) || meetings_.ordered(thread, other, time);
    // The other block has made it seen, and this one has looked since.
    const auto fenced = fences_.find(other_block), acquired = acquires_.find(first_block_ + block_ + 1);
    return fenced != fences_.end() && fenced->second > time && acquired != acquires_.end() && acquired->second > fenced->second;
}

void GlobalChecker::hazard(const Hazard& hazard)
{
    for (Hazard& h : hazards_)
        if (same_place(h.site, hazard.site) && same_place(h.other_site, hazard.other_site) && (h.other_block == block_) == (hazard.other_block == block_)) {
            ++h.count;
            return;
        }
    hazards_.push_back(hazard);
}

void GlobalChecker::check(const Request& request, int first_thread, const Allocation& memory, Findings& findings)
{
    const unsigned bytes = bytes_of(request.site);
    const Kind kind = kind_of(request.site);
    const uint64_t self = first_block_ + block_ + 1;
    ++time_;
    if (kind == atomic) acquires_[self] = time_;
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(request.lanes >> lane & 1)) continue;
        const int thread = first_thread + lane;
        bool unset = false;
        memory.shadow->visit(request.address[lane] - memory.begin, bytes, [&](Shadow::Cell& cell, uint64_t offset) {
            const auto other = [&](uint32_t place, Kind other_kind, int who, uint64_t block) {
                hazard({request.site, site_of(return_address(place), other_kind, 2), thread, who, request.order, block - first_block_ - 1, &memory, int64_t(offset), 1});
            };
            unset = unset || (kind != store && !cell.written);
            if (cell.writer_block && !(cell.atomically && kind == atomic) && !ordered(thread, cell.writer_block, cell.write_epoch, cell.writer, cell.write_time))
                other(cell.write_site, store, cell.writer, cell.writer_block);
            if (kind != load && cell.reader_block) {
                const int who = cell.reader_block == self && cell.reader == thread ? cell.other_reader : cell.reader;
                if (!ordered(thread, cell.reader_block, cell.read_epoch, who, cell.read_time)) other(cell.read_site, load, who, cell.reader_block);
            }
            if (kind != load) {
                cell.writer_block = self;
                cell.write_epoch = epoch_;
                cell.write_time = time_;
                cell.writer = uint16_t(thread);
                cell.write_site = uint32_t(request.site);
                cell.written = true;
                cell.atomically = kind == atomic;
            } else {
                if (cell.reader_block != self || cell.read_epoch != epoch_) cell.reader = cell.other_reader = uint16_t(thread);
                else if (cell.reader != thread) cell.other_reader = uint16_t(thread);
                cell.reader_block = self;
                cell.read_epoch = epoch_;
                cell.read_time = time_;
                cell.read_site = uint32_t(request.site);
            }
        });
        if (unset)
            findings.add({Fault::uninitialized, request.site, 0, thread, 0, block_, memory.name, int64_t(request.address[lane] - memory.begin), 1, 0, true, ""});
    }
}

void GlobalChecker::warp_done(const Sequence& sequence, Findings& findings)
{
    for (const Hazard& h : hazards_) {
        const bool same_block = h.other_block == block_;
        // Blocks run in any order: the store is named first, as whoever made it may do.
        const bool other_first = same_block ? sequence.precedes(h.other_site, h.site, h.order) : kind_of(h.other_site) != load;
        const bool stores = kind_of(h.site) != load, other_stores = kind_of(h.other_site) != load;
        const bool first_stores = other_first ? other_stores : stores, second_stores = other_first ? stores : other_stores;
        const Fault fault = !first_stores ? Fault::write_after_read : second_stores ? Fault::write_after_write : Fault::read_after_write;
        Finding finding{fault, h.site, h.other_site, h.thread, h.other_thread, block_, h.memory->name, h.offset, h.count, h.other_block, true, ""};
        if (other_first) {
            std::swap(finding.first, finding.second);
            std::swap(finding.thread, finding.other_thread);
            std::swap(finding.block, finding.other_block);
        }
        findings.add(finding);
    }
    hazards_.clear();
}

}  // namespace sim
