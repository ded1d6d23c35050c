#include "checker.h"

#include <algorithm>

#include "places.h"

namespace sim {

void WarpMeetings::meet(int warp, uint32_t lanes, uint32_t now)
{
    if (warps_.size() <= size_t(warp)) warps_.resize(warp + 1);
    if (!warps_[warp]) warps_[warp] = std::make_unique<Pairs>();
    for (int a = 0; a < warp_size; ++a)
        for (int b = 0; b < warp_size; ++b)
            if (lanes >> a & lanes >> b & 1) warps_[warp]->met[a][b] = now;
}

bool WarpMeetings::ordered(int thread, int other, uint32_t time) const
{
    const size_t warp = size_t(thread / warp_size);
    return int(warp) == other / warp_size && warp < warps_.size() && warps_[warp] && warps_[warp]->met[thread % warp_size][other % warp_size] > time;
}

bool Sequence::precedes(Site other, Site site, int order) const
{
    const auto same = [&](Site s) { return s == other || place_number(return_address(s)) == place_number(return_address(other)); };
    for (int i = std::min(order, int(sites_.size())) - 1; i >= 0; --i)
        if (same(sites_[i])) return true;
    for (size_t i = size_t(order) + 1; i < sites_.size(); ++i)
        if (same(sites_[i])) return false;
    // This warp does not come there at all: as it stands in the source.
    return before(return_address(other), return_address(site));
}

void SharedChecker::start_block(uint64_t block, bool lockstep)
{
    block_ = block;
    lockstep_ = lockstep;
    block_epoch_ = ++epoch_;
}

// From now on, neighbouring bytes may belong to different threads.
void SharedChecker::make_fine()
{
    std::vector<Cell> fine(cells_.size() * 4);
    for (size_t i = 0; i < fine.size(); ++i) fine[i] = cells_[i / 4];
    cells_.swap(fine);
    shift_ = 0;
}

bool SharedChecker::ordered(int thread, int other, uint32_t time) const
{
    return (lockstep_ && thread / warp_size == other / warp_size) || meetings_.ordered(thread, other, time);
}

bool SharedChecker::check(const Request& request, int first_thread, const SharedArray& array, Findings& findings)
{
    const unsigned bytes = bytes_of(request.site);
    if (bytes < 4 && shift_) make_fine();
    const size_t room = (array.cell + array.bytes + 15) >> shift_;
    if (room > cells_.size()) cells_.resize(std::max(room, 2 * cells_.size()));
    // The usual case is a full warp of words. What does not change is kept out of the loop by hand: the
    // compiler cannot tell that storing to a cell does not change it.
    return bytes == 4 && shift_ ? check_cells<1>(request, first_thread, array, findings)
                                : check_cells<0>(request, first_thread, array, findings);
}

// `fixed`: the cells of an access, where they are known; otherwise 0.
template <unsigned fixed>
bool SharedChecker::check_cells(const Request& request, int first_thread, const SharedArray& array, Findings& findings)
{
    const unsigned shift = shift_, cells = fixed ? fixed : bytes_of(request.site) >> shift;
    const Kind kind = kind_of(request.site);
    const uint32_t epoch = epoch_, block_epoch = block_epoch_, time = time_, here = uint32_t(request.site), lanes = request.lanes;
    const uint64_t *const address = request.address, begin = array.begin, room = array.bytes;
    Cell* const first = cells_.data() + (array.cell >> shift);
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const uint16_t thread = uint16_t(first_thread + lane);
        const uint64_t offset = address[lane] - begin;
        if (offset >= room) return false;
        Cell* cell = first + (offset >> shift);
        for (unsigned i = 0; i < cells; ++i, ++cell) {
            // Nobody else was here since the barrier, and a load finds something.
            const bool usual = cell->read_epoch != epoch && cell->write_epoch != epoch && (kind == store || cell->write_epoch >= block_epoch);
            if (__builtin_expect(!usual, 0)) look(*cell, int64_t(offset + (i << shift)), request.site, thread, request.order, array.name, findings);
            if (kind != load) {
                cell->write_epoch = epoch;
                cell->write_time = time;
                cell->writer = thread;
                cell->write_site = here;
                cell->atomically = kind == atomic;
            } else {
                if (cell->read_epoch != epoch) cell->reader = cell->other_reader = thread;
                else if (cell->reader != thread) cell->other_reader = thread;
                cell->read_epoch = epoch;
                cell->read_time = time;
                cell->read_site = here;
            }
        }
    }
    return true;
}

// Looks for what is wrong with an access to a cell that was accessed since the barrier, or never.
void SharedChecker::look(const Cell& cell, int64_t offset, Site site, int thread, int order, const std::string& memory, Findings& findings)
{
    const unsigned size = shift_ ? 2 : 0;
    const auto hazard = [&](uint32_t other_place, Kind other_kind, int other) {
        const Site other_site = site_of(return_address(other_place), other_kind, size);
        for (Hazard& h : hazards_)
            if (same_place(h.site, site) && same_place(h.other_site, other_site)) {
                ++h.count;
                return;
            }
        hazards_.push_back({site, other_site, thread, other, order, &memory, offset, 1});
    };
    const bool both_atomic = cell.atomically && kind_of(site) == atomic;
    const bool written = cell.write_epoch == epoch_ && cell.writer != thread && !both_atomic && !ordered(thread, cell.writer, cell.write_time);
    if (written) hazard(cell.write_site, store, cell.writer);
    if (kind_of(site) != load && cell.read_epoch == epoch_) {
        const int who = cell.reader != thread ? cell.reader : cell.other_reader;
        if (who != thread && !ordered(thread, who, cell.read_time)) hazard(cell.read_site, load, who);
    }
    if (kind_of(site) != store && cell.write_epoch < block_epoch_)
        findings.add({Fault::uninitialized, site, 0, thread, 0, block_, memory, offset, 1, 0, false, ""});
}

void SharedChecker::warp_done(const Sequence& sequence, Findings& findings)
{
    for (const Hazard& h : hazards_) {
        const bool other_first = sequence.precedes(h.other_site, h.site, h.order);
        const bool stores = kind_of(h.site) != load, other_stores = kind_of(h.other_site) != load;
        const bool first_stores = other_first ? other_stores : stores, second_stores = other_first ? stores : other_stores;
        const Fault fault = !first_stores ? Fault::write_after_read : second_stores ? Fault::write_after_write : Fault::read_after_write;
        Finding finding{fault, h.site, h.other_site, h.thread, h.other_thread, block_, *h.memory, h.offset, h.count, block_, false, ""};
        if (other_first) {
            std::swap(finding.first, finding.second);
            std::swap(finding.thread, finding.other_thread);
        }
        findings.add(finding);
    }
    hazards_.clear();
}

}  // namespace sim
