// Decides whether accesses race. In: accesses to cells. Out: findings, named by their places.
//
// Each cell remembers the accesses that a later one may race with. A new access drops those that it covers: they happen
// before it, and it races with all that they race with. So the last plain store stays, the last atomic operation, and
// each load until a store or a load comes after it. A load that nothing orders before the loads of other threads stays
// with them. A cell has room for seven accesses. When these are not enough, two loads of different warps stay, because
// every store comes from another warp than one of them. A load of a block that has ended, and has handed nothing over,
// races with every store of later blocks, so it stands for all other loads.
//
// Operations that read and change a word come one after another. If the program reads their results, an access that
// follows one of them follows all before it, so the last operation is enough. Otherwise the first and the last one
// stay.
//
// Atomic accesses are made to meet, so they are no race. Ordered accesses (order.h) are none, nor are stores of the
// same value by one statement, of which the last two stay. A plain load of a word that others change atomically is
// doubtful: it does no harm if the thread later compares and swaps, so it is decided at the end of the block. Hazards
// are kept until the warp has stopped, because only then is it known which place comes first in the program. The same
// pair of places is counted and not repeated.
//
// The cost is linear in the accesses that a cell remembers, and in the different pairs of a warp, which are few.

#include "hazards.h"

#include <algorithm>
#include <utility>

#include "../../elf/places.h"
#include "../lanes/threads.h"

namespace sim {
namespace {

bool plain(Site site) { return strength_of(site) == as_data; }
bool stores(Site site) { return kind_of(site) != load; }

bool same_warp(const Moment& a, const Moment& b)
{
    return a.block == b.block && a.thread / warp_size == b.thread / warp_size;
}

// True if both accesses are made to be seen by other threads at any time. Volatile accesses count as such only between
// different warps: inside a warp, `volatile` is what older code had instead of __syncwarp().
bool made_to_meet(Site a, Site b, bool one_warp)
{
    return !plain(a) && !plain(b) && (strength_of(a) == as_atomic || strength_of(b) == as_atomic || !one_warp);
}

}  // namespace

// The thread that loads plainly what the other one changes atomically, and may later compare and swap; or null.
const Moment* Hazards::reader_of(const Clash& c)
{
    if (!stores(c.site) && plain(c.site) && strength_of(c.other_site) == as_atomic) return &c.at;
    if (!stores(c.other_site) && plain(c.other_site) && strength_of(c.site) == as_atomic) return &c.other;
    return nullptr;
}

MemoryCells::List Hazards::marks(const MemoryCells& cells, size_t index) const
{
    const Mark last = cells.last[index];
    const Mark* const all = last & several ? cells.lists[index].mark : &last;
    const int count = last & several ? cells.lists[index].count : 1;
    MemoryCells::List list;
    list.count = 0;
    for (int i = 0; i < count; ++i)
        if (time_of(all[i]) >= floor() && all[i] & site_mask) list.mark[list.count++] = all[i] & ~special;
    return list;
}

// True if only this statement has changed the word so far, atomically, and does so again. The access is then
// remembered.
bool Hazards::again(MemoryCells& cells, size_t index, Mark mark) const
{
    const auto same = [&](Mark m) {
        return ((m ^ mark) & site_mask) == 0 && time_of(m) >= std::max(floor(), order_.launch_start());
    };
    Mark& last = cells.last[index];
    if (last & several) {
        MemoryCells::List& list = cells.lists[index];
        if (list.count != 2 || !same(list.mark[0]) || !same(list.mark[1])) return false;
        list.mark[1] = mark;
        list.stored = time_of(mark);
        list.loads = 0;
        return true;
    }
    if (last & special || !same(last) || is_unread(sites_.of(mark))) return false;
    last = mark;
    return true;
}

void Hazards::note(MemoryCells& cells, size_t index, const CellAccess& a)
{
    if (kind_of(a.request.site) == atomic && again(cells, index, a.mark)) return;
    const MemoryCells::List list = marks(cells, index);
    // One hazard is enough for each sort of the other access: a load, a plain store, an atomic operation.
    bool told[3] = {};
    Mark same = 0;
    for (int i = 0; i < list.count; ++i) {
        const Site other = sites_.of(list.mark[i]);
        bool& known = told[!stores(other) ? 0 : plain(other) ? 1 : 2];
        if (known || (!stores(other) && !stores(a.request.site))) continue;
        const Verdict verdict = compare(a, list.mark[i]);
        known = verdict == hazard;
        if (verdict == same_value && plain(other)) same = list.mark[i];
    }
    remember(cells, index, a.mark, same);
}

// True if every access that races with `other` races with `m`, too, which comes after it.
bool Hazards::covers(Mark m, Mark other) const
{
    const Site a = sites_.of(m), b = sites_.of(other);
    return (stores(a) || !stores(b)) && strength_of(a) <= strength_of(b) &&
           (strength_of(a) != as_volatile || strength_of(b) != as_volatile || same_warp(moment(m), moment(other)));
}

bool Hazards::before(Mark m, const Moment& at) const
{
    if (time_of(m) < order_.launch_start()) return !beside_ || !beside_of(order_.block_at(time_of(m)), *beside_);
    return order_.happens_before(moment(m), at);
}

bool Hazards::one_more_load(MemoryCells& cells, size_t index, Mark mark) const
{
    const Mark only = cells.last[index];
    if (!(only & several)) {
        const Site site = sites_.of(only);
        if (only & special || time_of(only) != order_.phase() || thread_of(only) == thread_of(mark) || stores(site) ||
            !plain(site))
            return false;
        cells.put(index, {{only, mark}, 2, order_.phase(), order_.phase()}, false);
        return true;
    }
    MemoryCells::List& list = cells.lists[index];
    if (list.loads != order_.phase()) return false;
    for (int i = 0; i < list.count; ++i)
        if (thread_of(list.mark[i]) == thread_of(mark)) return false;
    const auto warp = [](Mark m) { return thread_of(m) / warp_size; };
    Mark& last = list.mark[MemoryCells::most - 1];
    if (list.count < MemoryCells::most) list.mark[list.count++] = mark;
    else if (warp(list.mark[0]) == warp(last) && warp(last) != warp(mark)) last = mark;
    return true;
}

void Hazards::add_uninitialized(Site site, Mark mark, const Array& array, uint64_t offset, bool some) const
{
    if (faults_.ended & (Faults::before_a_barrier | (global_ ? Faults::in_an_earlier_block : 0))) return;
    Fault fault(kinds::uninitialized_load, site, order_.block() - order_.first_block() - 1);
    fault.thread = thread_of(mark);
    fault.memory = array.name;
    fault.memory_bytes = array.bytes;
    fault.offset = int64_t(offset);
    fault.text = some ? maybe_padding : "";
    faults_.add(fault);
}

void Hazards::remember(MemoryCells& cells, size_t index, Mark mark, Mark same)
{
    const Site site = sites_.of(mark);
    const Moment at = moment(mark);
    const uint32_t begin = global_ ? 1 : order_.block_start();
    const bool unset = !stores(site) && cells.unset(index, begin);
    MemoryCells::List list;
    list.count = 0;
    list.stored = unset ? 0 : time_of(mark);
    list.loads = 0;
    // A plain store replaces all others: they come before it, or a race was found.
    if (stores(site) && plain(site)) {
        list.mark[list.count++] = mark;
        if (same) list.mark[list.count++] = same;
        return cells.put(index, list, false);
    }
    const MemoryCells::List old = marks(cells, index);
    const bool is_atomic = kind_of(site) == atomic, knows_others = is_atomic && !is_unread(site);
    bool needed = true, witness = false, first = false;
    for (int i = 0; i < old.count; ++i) {
        const Mark m = old.mark[i];
        const Site other = sites_.of(m);
        const bool both_atomic = is_atomic && stores(other) && strength_of(other) == as_atomic;
        const bool one_after_another = both_atomic && (knows_others || std::exchange(first, true));
        if ((covers(mark, m) && (one_after_another || before(m, at))) || (witness && !stores(other))) continue;
        if (time_of(m) == time_of(mark) && thread_of(m) == thread_of(mark) && covers(m, mark)) needed = false;
        if (!stores(site) && !stores(other) && plain(other) && time_of(m) < order_.block_start() &&
            time_of(m) >= order_.launch_start() && order_.silent_since(order_.block_at(time_of(m)), time_of(m))) {
            witness = true;
            needed = false;
        }
        list.mark[list.count++] = m;
    }
    Mark& last = list.mark[MemoryCells::most - 1];
    if (needed && list.count < MemoryCells::most) list.mark[list.count++] = mark;
    else if (needed && (stores(site) || (!stores(sites_.of(last)) && same_warp(moment(list.mark[0]), moment(last)) &&
                                         !same_warp(moment(last), at))))
        last = mark;
    const auto is_plain_load = [&](Mark m) { return !stores(sites_.of(m)) && plain(sites_.of(m)); };
    if (!global_ && !order_.orders_threads() && std::all_of(list.mark, list.mark + list.count, is_plain_load))
        list.loads = order_.phase();
    cells.put(index, list, unset);
}

Hazards::Verdict Hazards::compare(const CellAccess& a, Mark m)
{
    const Request& request = a.request;
    const Site other = sites_.of(m);
    if (time_of(m) < order_.launch_start()) {
        const bool meet = !plain(request.site) && !plain(other);
        const Beside* with = beside_ && !meet ? beside_of(order_.block_at(time_of(m)), *beside_) : nullptr;
        if (!with) return harmless;
        note_beside(*with, a, stores(other));
        return hazard;
    }
    const Moment then = moment(m), at = {order_.block(), time_of(a.mark), thread_of(a.mark)};
    if (!other || (then.block == at.block && then.thread == at.thread)) return harmless;
    return look({request.site, other, at, then, request.order, &a.memory, a.offset, a.address}, a);
}

// True if one statement has stored the same value for both threads, so that it does not matter whose is the last. The
// other store is one of the same warp, or what it left is what this warp has found.
bool Hazards::one_value(const Clash& c, const CellAccess& a)
{
    if (kind_of(c.site) != store || kind_of(c.other_site) != store ||
        !same_place(uint32_t(c.site), uint32_t(c.other_site)))
        return false;
    const Left& left = a.request.columns->left(c.site, a.request.address[a.lane]);
    const int other = c.other.thread % warp_size;
    const bool here = same_warp(c.at, c.other) && left.lanes >> other & 1;
    return !((left.varied >> a.lane | (here ? left.varied >> other : 0)) & 1) &&
           left.value[a.lane] == (here ? left.value[other] : left.found);
}

Hazards::Verdict Hazards::look(const Clash& c, const CellAccess& a)
{
    if (made_to_meet(c.site, c.other_site, same_warp(c.at, c.other)) || order_.ordered(c.other, c.at)) return harmless;
    if (one_value(c, a)) return same_value;
    if (const Moment* reader = reader_of(c)) {
        if (order_.confirmed(reader->block, reader->thread, c.address)) return harmless;
        uint64_t key = c.address;
        for (uint64_t part : {c.site, c.other_site, reader->block, uint64_t(reader->thread)})
            key = (key ^ part) * 0x9e3779b97f4a7c15u;
        const auto known = doubtful_by_key_.emplace(key, doubtful_.size());
        if (known.second) doubtful_.push_back({c, 1, {}});
        else ++doubtful_[known.first->second].count;
        return harmless;
    }
    for (Hazard& h : hazards_)
        if (same_place(h.clash.site, c.site) && same_place(h.clash.other_site, c.other_site) &&
            (h.clash.other.block == h.clash.at.block) == (c.other.block == c.at.block)) {
            ++h.count;
            return hazard;
        }
    hazards_.push_back({c, 1, order_.signals(c.other, c.at, c.address)});
    return hazard;
}

void Hazards::note_beside(const Beside& other, const CellAccess& a, bool stores)
{
    for (Meeting& m : meetings_)
        if (m.other == &other && m.fault.first == a.request.site) {
            ++m.fault.count;
            return;
        }
    const uint64_t block = order_.block() - order_.first_block() - 1;
    Fault fault(kinds::race, a.request.site, block);
    fault.thread = thread_of(a.mark);
    fault.memory = a.memory;
    fault.offset = a.offset;
    fault.space = global;
    fault.text = other.text(stores);
    fault.beside = uint64_t(other.place);
    meetings_.push_back({&other, fault});
}

Fault Hazards::named(const Clash& c, uint64_t count, const Sequence& sequence) const
{
    // Blocks run in any order, so of two accesses of different blocks the store is named first.
    const bool other_first =
        c.at.block == c.other.block ? sequence.precedes(c.other_site, c.site, c.order) : stores(c.other_site);
    const uint64_t before = order_.first_block() + 1;
    Fault fault(kinds::race, c.site, c.at.block - before);
    fault.second = c.other_site;
    fault.thread = c.at.thread;
    fault.other_thread = c.other.thread;
    fault.other_block = c.other.block - before;
    fault.memory = *c.memory;
    fault.offset = c.offset;
    fault.space = global_ ? global : shared;
    fault.count = count;
    if (other_first) {
        std::swap(fault.first, fault.second);
        std::swap(fault.thread, fault.other_thread);
        std::swap(fault.block, fault.other_block);
    }
    return fault;
}

// Looks for a barrier between the two places at which one of the threads waits and the other one does not.
void Hazards::look_for_barrier(Fault& f, uint64_t of_first, uint64_t of_second)
{
    const auto between = [&](uint64_t barrier) {
        return barrier && sim::before(return_address(f.first), barrier) &&
               sim::before(barrier, return_address(f.second));
    };
    if (of_first == of_second || between(of_first) == between(of_second)) return;
    f.barrier = between(of_first) ? of_first : of_second;
    f.waiting = between(of_first) ? f.thread : f.other_thread;
}

void Hazards::warp_done(const Sequence& sequence, const Threads& threads)
{
    if (hazards_.empty() && named_ == doubtful_.size()) return;
    for (const Hazard& h : hazards_) {
        Fault fault = named(h.clash, h.count, sequence);
        fault.signal = h.signal;
        if (h.clash.other.block == h.clash.at.block)
            look_for_barrier(fault, threads.barrier_of(fault.thread), threads.barrier_of(fault.other_thread));
        faults_.add(fault);
    }
    hazards_.clear();
    for (; named_ < doubtful_.size(); ++named_) doubtful_[named_].fault = named(doubtful_[named_].clash, 1, sequence);
}

void Hazards::block_done()
{
    for (Doubtful& d : doubtful_) {
        const Moment& reader = *reader_of(d.clash);
        if (order_.confirmed(reader.block, reader.thread, d.clash.address)) continue;
        d.fault.count = d.count;
        faults_.add(d.fault);
    }
    for (const Meeting& m : meetings_) faults_.add(m.fault);
    meetings_.clear();
    doubtful_.clear();
    doubtful_by_key_.clear();
    named_ = 0;
}

}  // namespace sim
