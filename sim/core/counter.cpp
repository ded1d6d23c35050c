// Counting. In: the requests of the blocks that one host thread runs. Out: the cost of each site, and the bytes of
// each memory partition in windows.
//
// A request is added to the record of its site. Requests come round in the same order from warp to warp, so the search
// for the record begins where the last one ended, and mostly ends there. Bytes are added by partition until the blocks
// of another window come; then they are handed over to Windows, which all host threads share. A window is complete when
// all of its blocks have been handed over. Its busiest partition, which delays the others, is known only then.
//
// Invariant: sums do not depend on which host thread ran a block, and among equally expensive requests the first in the
// order of blocks is kept. The cost of a request is constant, plus one look into the partition map for each
// transaction.

#include "counter.h"

#include <algorithm>
#include <numeric>

namespace sim {

void WorstConflict::add(const WorstConflict& other)
{
    if (other.units > units || (other.units == units && other.block < block)) *this = other;
}

void SiteCounts::add(const SiteCounts& other)
{
    AccessCounts::add(other);
    worst_conflict.add(other.worst_conflict);
    add_drawn(drawn, other.drawn);
}

void PartitionCounts::add(const PartitionCounts& more)
{
    busiest_read += more.busiest_read;
    busiest_write += more.busiest_write;
    mean_read += more.mean_read;
    mean_write += more.mean_write;
    bursts += more.bursts;
    scattered += more.scattered;
    dram.add(more.dram);
}

void Receivers::add_window(const std::array<uint64_t, most_devices>& into)
{
    busiest_ += *std::max_element(into.begin(), into.end());
    sum_ = std::accumulate(into.begin(), into.end(), sum_);
}

double Receivers::busiest_over_mean(int devices) const { return sum_ ? double(busiest_) * devices / double(sum_) : 0; }

void PeerCounts::add(const PeerCounts& other)
{
    stores += other.stores;
    loads += other.loads;
    stored += other.stored;
    loaded += other.loaded;
    asked_stored += other.asked_stored;
    asked_loaded += other.asked_loaded;
}

void Windows::add_peers(uint64_t window, const Peers& peers)
{
    std::lock_guard<std::mutex> lock(mutex_);
    Peers& sum = peers_[window];
    for (size_t device = 0; device < peers.size(); ++device) sum[device].add(peers[device]);
}

void Windows::start(const harness::Machine& machine, uint64_t blocks_per_window, uint64_t blocks)
{
    machine_ = &machine;
    per_window_ = blocks_per_window;
    blocks_ = blocks;
    open_.clear();
    peers_.clear();
}

void Windows::add(uint64_t window, uint64_t blocks, const std::vector<uint64_t>& read,
                  const std::vector<uint64_t>& write, const Pages& pages, Touched& touched)
{
    std::lock_guard<std::mutex> lock(mutex_);
    Open& open = open_[window];
    open.read.resize(read.size());
    open.write.resize(write.size());
    for (size_t p = 0; p < read.size(); ++p) {
        open.read[p] += read[p];
        open.write[p] += write[p];
    }
    for (const auto& page : pages) {
        Page& sum = open.pages[page.first];
        sum.chunks |= page.second.chunks;
        sum.bursts += page.second.bursts;
    }
    touched.hand_over(open.touched);
    open.blocks += blocks;
    if (open.blocks < std::min(per_window_, blocks_ - window * per_window_)) return;
    close(open);
    open_.erase(window);
}

void Windows::close(const Open& window)
{
    const size_t partitions = window.read.size();
    totals_.busiest_read += *std::max_element(window.read.begin(), window.read.end());
    totals_.busiest_write += *std::max_element(window.write.begin(), window.write.end());
    totals_.mean_read += double(std::accumulate(window.read.begin(), window.read.end(), uint64_t(0))) / partitions;
    totals_.mean_write += double(std::accumulate(window.write.begin(), window.write.end(), uint64_t(0))) / partitions;

    add_window(totals_.dram, window.touched);

    const harness::MemoryModel& model = machine_->model;
    if (model.burst_ns == 0) return;
    std::vector<uint64_t> scattered(partitions);
    for (const auto& page : window.pages)
        if (__builtin_popcountll(page.second.chunks) < 32) scattered[page.first % partitions] += page.second.bursts;
    const auto bursts = [&](size_t p) { return (window.read[p] + window.write[p]) / 32; };
    const auto ns = [&](size_t p) { return bursts(p) * model.burst_ns + scattered[p] * model.scattered_ns; };
    size_t longest = 0;
    for (size_t p = 1; p < partitions; ++p)
        if (ns(p) > ns(longest)) longest = p;
    totals_.bursts += bursts(longest);
    totals_.scattered += scattered[longest];
}

void Counter::start(const Rules& rules, const harness::Machine& machine, Windows& windows, uint64_t earlier_blocks)
{
    earlier_blocks_ = earlier_blocks;
    roofline_ = machine.roofline.stream_gbs > 0 ? &machine.roofline : nullptr;
    roofline = {};
    const harness::PartitionMap& map = machine.map;
    if (!map.hash.empty() && hashed_for_ != &map) {
        hashed_for_ = &map;
        for (int byte = 0; byte < 5; ++byte)
            for (uint64_t value = 0; value < 256; ++value) {
                hashed_[byte][value] = 0;
                for (size_t b = 0; b < map.hash.size(); ++b)
                    hashed_[byte][value] |= __builtin_parityll(value << 8 * byte & map.hash[b]) << b;
            }
    }
    rules_ = &rules;
    map_ = &map;
    page_bytes_ = machine.model.page_bytes;
    pages_.clear();
    windows_ = &windows;
    window_ = 0;
    blocks_ = 0;
    grain_ = ~0ull;
    grain_shift_ = map.partitions ? __builtin_ctzll(map.grain()) : 0;
    // A machine whose partitions are unknown gets one, whose traffic is not counted.
    const size_t partitions = size_t(std::max(map.partitions, 1));
    read_.assign(partitions, 0);
    write_.assign(partitions, 0);
}

unsigned Counter::partition_of(uint64_t address) const
{
    if (map_->hash.empty() || address >> 40) return map_->partition_of(address);
    unsigned p = 0;
    for (int byte = 0; byte < 5; ++byte) p ^= hashed_[byte][address >> 8 * byte & 255];
    const unsigned n = map_->partitions;
    return n & (n - 1) ? p % n : p & (n - 1);
}

void Counter::block(uint64_t block, uint64_t l1_share, unsigned warps)
{
    if (roofline_) l1_.next_block(l1_share, warps);
    phase_begin_ = phase_end_ = 0;
    const uint64_t window = windows_->window_of(block);
    if (window != window_) hand_over();
    window_ = window;
    ++blocks_;
    block_ = earlier_blocks_ + block;
}

void Counter::finish() { hand_over(); }

void Counter::hand_over()
{
    if (any_peers_) {
        windows_->add_peers(window_, peers_);
        peers_ = {};
        any_peers_ = false;
    }
    if (blocks_ == 0) return;
    windows_->add(window_, blocks_, read_, write_, pages_, touched_);
    blocks_ = 0;
    pages_.clear();
    std::fill(read_.begin(), read_.end(), 0);
    std::fill(write_.begin(), write_.end(), 0);
}

// Consecutive pieces of a partition's memory, `granularity` bytes each, lie side by side in its pages.
void Counter::write_page(uint64_t address, unsigned bytes)
{
    const uint64_t line = address / map_->granularity / map_->partitions;
    const uint64_t inside = line * map_->granularity + address % map_->granularity;  // the partition's own address
    Page& page = pages_[inside / page_bytes_ * map_->partitions + partition_];
    const uint64_t chunk = page_bytes_ / 64, first = inside % page_bytes_ / chunk;
    for (uint64_t c = first; c <= (inside + bytes - 1) % page_bytes_ / chunk; ++c) page.chunks |= uint64_t(1) << c;
    page.bursts += bytes / 32;
}

// The transactions are sectors, in the order of their addresses. Sectors at the same place of their lines take turns in
// the L1. A load of sectors that are still on their way takes its turns again when they have come.
void Counter::load_through_l1(uint64_t offset)
{
    unsigned turns[4] = {};
    bool on_its_way = false;
    for (int i = 0; i < transactions_.count;) {
        const uint64_t line = (transactions_.list[i].address + offset) / 128;
        unsigned sectors = 0;
        for (; i < transactions_.count && (transactions_.list[i].address + offset) / 128 == line; ++i) {
            const unsigned place = (transactions_.list[i].address + offset) / 32 % 4;
            sectors |= 1u << place;
            ++turns[place];
        }
        const L1::Found found = l1_.load(line, sectors, time_, phase_ << 32 | batch_);
        if (found.missing) {
            touched_.load(line, found.missing);
            ++roofline.missed_lines;
        }
        on_its_way |= found.on_its_way;
    }
    roofline.l1_turns += (on_its_way ? 2 : 1) * *std::max_element(turns, turns + 4);
    if (on_its_way && !missed_) {
        ++roofline.load_batches;
        --roofline.hit_batches;
        missed_ = true;
    }
}

// Lines that a store fills pass through the L2 as fast as they come. Lines that it fills in part are merged there.
void Counter::store_to_lines(uint64_t offset, uint64_t asked)
{
    // The mean is rounded up, so that a page whose sectors are all filled counts as filled.
    const unsigned of_a_sector = unsigned((asked + unsigned(transactions_.count) - 1) / unsigned(transactions_.count));
    uint64_t lines = 0, last = ~0ull;
    for (int i = 0; i < transactions_.count; ++i) {
        const uint64_t sector = (transactions_.list[i].address + offset) / 32;
        touched_.store(sector, of_a_sector);
        lines += sector / 4 != last;
        last = sector / 4;
    }
    if (asked < 32 * lines) roofline.partial_lines += lines;
}

void Counter::take(const PartOfRequest& part)
{
    const Request& request = part.request;
    if (part.space == shared && part.shifted)
        units_ = count({request.site, request.lanes, part.shifted, request.order}, shared, 0);
    else if (part.space == shared) units_ = count(request, shared, part.shift);
    else if (part.space == local) units_ = count_local(request);
    else if (part.space == constant) units_ = count_constant(request);
    else {
        const Allocation& memory = static_cast<const Allocation&>(*part.array);
        look_at_output(request, memory);
        units_ = part.space == peer ? count_peer(request, memory.device) : count(request, global, part.shift);
    }
}

void Counter::look_at_output(const Request& request, const Allocation& memory)
{
    const bool stores = kind_of(request.site) == store;
    if (memory.unwritten && stores) output_stored += uint64_t(request.lane_count()) * bytes_of(request.site);
    else if (memory.unwritten || (stores && !memory.read_only)) unordered_possible = true;
}

int Counter::count_constant(const Request& request)
{
    SiteCounts& here = note(request, constant);
    uint64_t words[warp_size], stride;
    int count = 0;
    if (request.evenly_spaced(stride) && stride == 0) words[count++] = 0;
    else for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1)
        words[count++] = request.address[__builtin_ctz(lanes)] / 4;
    std::sort(words, words + count);
    count = int(std::unique(words, words + count) - words);
    here.ideal += 1;
    here.units += uint64_t(count);
    here.worst = std::max(here.worst, count);
    if (roofline_) roofline.constant_words += uint64_t(count);
    return count;
}

// Local memory is counted word by word, because the words of one element lie apart: the first words of all lanes come
// first, then the second ones.
int Counter::count_local(const Request& request)
{
    SiteCounts& here = note(request, local);
    Request word = request;
    word.site = site_of(0, kind_of(request.site), 2);
    uint64_t address[warp_size];
    word.address = address;
    word.spacing = Request::unknown;
    int units = 0;
    for (unsigned at = 0; at < bytes_of(request.site); at += 4) {
        for (int lane = 0; lane < warp_size; ++lane) address[lane] = request.address[lane] / 4 * 4 + at * warp_size;
        rules_->global(word, transactions_);
        here.bytes += transactions_.bytes;
        units += transactions_.count;
        // Words of different numbers take turns in the L1.
        if (roofline_) roofline.l1_turns += uint64_t((transactions_.count + 3) / 4);
    }
    const uint64_t asked = request.lane_count() * uint64_t(bytes_of(request.site));
    here.asked += asked;
    here.ideal += rules_->ideal_global(request, asked);
    here.units += uint64_t(units);
    here.worst = std::max(here.worst, units);
    return units;
}

SiteCounts& Counter::at(const Request& request, Space space)
{
    for (size_t tried = 0; tried < sites_.size(); ++tried) {
        if (next_ >= sites_.size()) next_ = 0;
        SiteCounts& here = sites_[next_++];
        if (here.site == request.site && here.space == space) return here;
    }
    SiteCounts fresh;
    fresh.site = request.site;
    fresh.space = space;
    sites_.push_back(fresh);
    next_ = sites_.size();
    return sites_.back();
}

__attribute__((cold, noinline)) void Counter::note_conflict(SiteCounts& site, const Request& request, int units,
                                                            uint64_t offset)
{
    site.worst_conflict = {units, block_, rules_->conflict(request)};
    for (uint64_t& word : site.worst_conflict.conflict.words) word += int64_t(offset) / 4;
}

inline SiteCounts& Counter::note(const Request& request, Space space)
{
    SiteCounts& here = at(request, space);
    here.requests += 1;
    here.accesses += request.lane_count();
    if (here.stride == 0)
        for (int lane = 0; lane + 1 < warp_size; ++lane)
            if (request.lanes >> lane & request.lanes >> (lane + 1) & 1) {
                here.stride = int64_t(request.address[lane + 1] - request.address[lane]);
                break;
            }
    return here;
}

// Counts the transactions of a request to global memory, on this device or another. Returns the bytes that it asks for.
inline uint64_t Counter::count_transactions(SiteCounts& here, const Request& request)
{
    rules_->global(request, transactions_);
    here.bytes += transactions_.bytes;
    const uint64_t asked = rules_->asked_bytes(request);
    here.asked += asked;
    here.ideal += rules_->ideal_global(request, asked);
    return asked;
}

void Counter::warp_begins()
{
    in_flight_ = false;
    batch_ = 0;
    time_ = phase_begin_;
}

// Notes batches of loads: the loads of a warp up to its next store are in flight together.
void Counter::note_batch(const Request& request)
{
    const bool loads = kind_of(request.site) == load;
    if (loads && !in_flight_) {
        ++roofline.hit_batches;
        ++batch_;
        missed_ = false;
    }
    in_flight_ = loads;
    l1_.request();
    phase_end_ = std::max(phase_end_, ++time_);
}

int Counter::count(const Request& request, Space space, uint64_t offset)
{
    if (kind_of(request.site) == atomic && request.lane_count() > 1 && joined_.count(uint32_t(request.site)) &&
        rules_->asked_bytes(request) == bytes_of(request.site)) {
        Request one = request;
        one.lanes &= -one.lanes;
        const int units = count(one, space, offset);
        sites_[next_ - 1].accesses += request.lane_count() - 1;
        return units;
    }
    SiteCounts& here = note(request, space);
    if (space == global && roofline_) note_batch(request);
    int units;
    if (space == shared) {
        units = rules_->shared(request);
        const int ideal = rules_->ideal_shared(request);
        here.ideal += ideal;
        if (units > ideal && units > here.worst_conflict.units) note_conflict(here, request, units, offset);
    } else {
        const uint64_t asked = count_transactions(here, request);
        units = transactions_.count;
        if (roofline_ && kind_of(request.site) == load) load_through_l1(offset);
        if (roofline_ && kind_of(request.site) != load) store_to_lines(offset, asked);
        if (map_->partitions) {
            std::vector<uint64_t>& traffic = kind_of(request.site) == load ? read_ : write_;
            for (int i = 0; i < transactions_.count;) {
                const uint64_t first = transactions_.list[i].address + offset;
                if (first >> grain_shift_ != grain_) {
                    grain_ = first >> grain_shift_;
                    partition_ = partition_of(first);
                }
                uint64_t bytes = 0;
                for (; i < transactions_.count; ++i) {
                    const uint64_t address = transactions_.list[i].address + offset;
                    if (address >> grain_shift_ != grain_) break;
                    bytes += transactions_.list[i].bytes;
                    if (page_bytes_ && kind_of(request.site) != load) write_page(address, transactions_.list[i].bytes);
                }
                traffic[partition_] += bytes;
            }
        }
    }
    here.units += units;
    here.worst = std::max(here.worst, units);
    return units;
}

int Counter::count_peer(const Request& request, int device)
{
    SiteCounts& here = note(request, peer);
    const uint64_t asked = count_transactions(here, request);
    here.units += transactions_.count;
    here.worst = std::max(here.worst, transactions_.count);
    PeerCounts& with = peers_[size_t(device)];
    const bool loads = kind_of(request.site) == load;
    (loads ? with.loads : with.stores) += 1;
    (loads ? with.loaded : with.stored) += transactions_.bytes;
    (loads ? with.asked_loaded : with.asked_stored) += asked;
    any_peers_ = true;
    return transactions_.count;
}

}  // namespace sim
