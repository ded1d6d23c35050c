// The closer look at an access. In: an access. Out: it is written down, or ignored because it is no memory of the
// GPU's, or its thread ends with a finding.
//
// The memory that is found becomes likely for this host thread, and the hooks let later accesses to it pass without a
// call. Memory that needs a look each time never becomes likely: an output that may not have been stored to, and pairs
// of doubles. The cost is a search by address, once for each change of memory.

#include "watch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "../../../common/base/error.h"
#include "divergence.h"
#include "refused.h"

namespace sim {

__thread Likely likely;

void Likely::prefer(Range (&ranges)[2], const Range& range)
{
    const uintptr_t first = (range.begin + 15) / 16 * 16, skipped = first - range.begin;
    const Range newest{first, range.bytes < skipped ? 0 : (range.bytes - skipped) / 16 * 16};
    if (ranges[0].begin == newest.begin && ranges[0].bytes == newest.bytes) return;
    ranges[1] = ranges[0];
    ranges[0] = newest;
}

Watch::Watch(Threads& threads, Columns& columns, SharedMemory& shared, Faults& faults, std::vector<LocalArray>& arrays)
    : threads_(threads), columns_(columns), shared_(shared), faults_(faults), reach_(threads.fibers(), shared),
      locals_(arrays)
{
}

void Watch::start(const Launching& launching, const Settings& settings)
{
    settings_ = &settings;
    reach_.start(launching);
    forget_likely();
    std::fill(std::begin(misaligned_), std::end(misaligned_), Misaligned());
    next_misaligned_ = 0;
}

void Watch::start_block(uint64_t block)
{
    block_ = block;
    locals_.clear();
}

void Watch::local_begins(Range range, const LocalArray& array, bool stored, const Caller& caller)
{
    locals_.begin(threads_.current(), range, uintptr_t(caller.at), array);
    if (stored) look_at_range(range.begin, range.bytes, store, array.place, in_words, caller);
}

// True if an access of so many bytes may be made and is to be counted. False: it is of no memory of the GPU's.
bool Watch::may_pass(const Access& access, unsigned bytes, const Caller& caller)
{
    const uintptr_t address = access.address;
    const Kind kind = access.kind();
    const Reached reached = reach_.find(address, bytes, access.place());
    if (reached.where == Reached::stack) {
        if (const char* fault = fault_on_stack(threads_.fibers(), caller, access, bytes))
            fail(kinds::local_array, fault, access.place());
        return false;
    }
    if (reached.where == Reached::writable || (reached.where == Reached::readable && kind == load)) return false;
    if (!reached.array) {
        if (kind != load) fail_if_built_in(address, access.place());
        fail_if_host_address(address, access.place());
        end_thread(stray_access(address, access.site, shared_));
    }

    const Array& array = *reached.array;
    Allocation* const target = array.in_shared() ? nullptr : static_cast<Allocation*>(reached.array);
    if (target && target->freed) refuse(kinds::use_after_free, access, array);
    if (target && target->device >= 0 && target->device != settings_->device &&
        !(settings_->peers >> target->device & 1))
        refuse(kinds::no_peer_access, access, array,
               harness::format("call cudaSetDevice(%d) and then cudaDeviceEnablePeerAccess(%d, 0) before the launch",
                               settings_->device, target->device));
    if (!array.holds(address + bytes - 1))
        refuse(kind == load ? kinds::out_of_bounds_load : kinds::out_of_bounds_store, access, array);
    if (address % bytes) refuse(kinds::misaligned_access, access, array);
    if (target && kind != load && target->read_only) refuse(kinds::store_to_input, access, array);
    if (target) {
        const unsigned touched = kind == load ? Allocation::loaded : Allocation::stored;
        if (!(target->touched & touched)) __atomic_or_fetch(&target->touched, touched, __ATOMIC_RELAXED);
        if (kind == load && target->unwritten) {
            check_output(*target, access);
            return true;
        }
    }
    if (array.elements.has_pairs() || (target && kind == atomic)) return true;
    Likely::prefer(!target ? likely.shared : kind == load ? likely.load : likely.store, array);
    return true;
}

void Watch::look(const Access& access, const Caller& caller)
{
    // The usual access to an object of the thread's own: whole, and above the frame of the hook, so that it is alive.
    const uintptr_t address = access.address & address_bits;
    if (threads_.fibers().hold(address) && !suspects_.any()) {
        const uint64_t local = locals_.find(threads_.current(), address, access.bytes());
        if (local && caller.frame.back == access.place() && address > uintptr_t(caller.at))
            return put_local(local, access.site);
    }
    look_closely(access, caller);
}

__attribute__((noinline)) void Watch::look_closely(const Access& access, const Caller& caller)
{
    const uintptr_t address = access.address & address_bits;
    const unsigned bytes = access.bytes();
    const uint64_t place = access.place();
    const Access plain{address, access.site};
    const bool on_stack = threads_.fibers().hold(address);
    if (suspects_.any()) judge(suspects_.look(plain, on_stack ? nullptr : reach_.array_at(address, place), on_stack));
    look_for_misaligned(address, bytes, access.kind(), place);
    if (bytes == 16 && piece_of(address, 16, place, {16}) < 16)
        return look_at_range(address, 16, access.kind(), place, in_halves_of_16, caller);

    if (!may_pass(plain, bytes, caller)) {
        if (!on_stack) return;
        const int thread = threads_.current();
        const uint64_t local = locals_.find(thread, address, bytes);
        return put_local(local ? local : Locals::elsewhere(thread, threads_.fibers().depth(address)), access.site);
    }
    if (cursor.full()) make_room(place);
    cursor.put({access.kind() == store ? with_fingerprint(address, bytes) : access.address, access.site});
    if (__builtin_expect(suspects_.any(), 0)) forget_likely();
}

void Watch::put_local(uint64_t address, Site site)
{
    if (cursor.full()) make_room(return_address(site));
    cursor.put({address, in_local_memory(site)});
}

void Watch::make_room(uint64_t place)
{
    if (columns_.full()) threads_.pass_turn(0, place);
    else columns_.grow();
}

// The size in bytes of the pieces in which an access to a structure is made.
unsigned Watch::piece_of(uintptr_t address, size_t bytes, uint64_t place, Pieces pieces)
{
    if (reach_.on_stack(address)) {
        pieces.bytes = 16;  // nvcc aligns its arrays so that whole ones are moved in few pieces
    } else if (const Array* array = reach_.array_at(address, place)) {
        const Elements& elements = array->elements;
        const uint64_t offset = address - array->begin;
        // nvcc knows how an array in shared memory is aligned.
        if (pieces.of_memcpy && array->in_shared())
            return 1u << __builtin_ctzll(offset | bytes | elements.alignment | 16);
        if (!pieces.of_memcpy && elements.known(bytes)) return elements.piece(offset, bytes);
    }
    return 1u << __builtin_ctzll(address | bytes | pieces.bytes);
}

void Watch::look_at_range(uintptr_t address, size_t bytes, Kind kind, uint64_t place, Pieces pieces,
                          const Caller& caller)
{
    if (bytes == 0) return;
    look_for_misaligned(address, bytes, kind, place);
    const unsigned piece = piece_of(address, bytes, place, pieces);
    const Site site = site_of(place, kind, unsigned(__builtin_ctz(piece))) | turn;
    for (size_t at = 0; at < bytes; at += piece) look({address + at, site}, caller);
}

// A load from the output: it must have been stored to before.
void Watch::check_output(const Allocation& memory, const Access& access)
{
    const uint64_t offset = access.address - memory.begin, bytes = memory.unwritten->element_bytes();
    for (uint64_t at = offset / bytes * bytes; at < offset + access.bytes(); at += bytes)
        if (memory.unwritten->has(memory.first_element + at / bytes,
                                  reinterpret_cast<const void*>(memory.begin + at))) {
            Fault fault(kinds::uninitialized_load, without_turn(access.site), block_);
            fault.thread = threads_.current();
            fault.memory = memory.name;
            fault.offset = int64_t(at);
            faults_.add(fault);
        }
}

void Watch::suspect_index(int64_t index, const std::string& type, Spot spot, uint64_t place)
{
    judge(suspects_.add(index, type, spot, place));
    forget_likely();
}

// The thread ends if the verdict is a fault. As long as an index is suspected, it is looked at before the thread waits.
void Watch::judge(const Suspects::Verdict& verdict)
{
    if (verdict) {
        Fault fault = fault_at(kinds::local_array, block_, verdict->place, threads_.current(), verdict->of);
        fault.offset = verdict->index;
        fault.sentence = "index {offset} of {text}: {who} at {at}, in {block}";
        end_thread(std::move(fault));
    }
    threads_.look_before_waiting(suspects_.any());
}

void Watch::note_misaligned(const Misaligned& reference)
{
    misaligned_[next_misaligned_++ % std::size(misaligned_)] = reference;
}

// A structure is copied from or to a reference that was bound before. Members that are accessed have a check of their
// own.
void Watch::look_for_misaligned(uintptr_t address, size_t bytes, Kind kind, uint64_t place)
{
    if (__builtin_expect(next_misaligned_ == 0, 1)) return;
    for (const Misaligned& m : misaligned_)
        if (m.address == address && bytes >= m.alignment) refuse_misaligned(m, kind, place);
}

void Watch::refuse_misaligned(const Misaligned& m, Kind kind, uint64_t place)
{
    end_thread(misaligned_access(m.address, kind, place, reach_.array_at(m.address, place), m.type, m.alignment));
}

void Watch::refuse(const FindingKind& kind, const Access& access, const Array& array, const std::string& text)
{
    end_thread(refused_access(kind, access.address, access.site, &array, text));
}

void Watch::fail_if_host_address(uintptr_t address, uint64_t place)
{
    const std::string text = settings_->bad_address ? settings_->bad_address(address) : "";
    if (!text.empty()) fail(kinds::host_pointer, "host pointer: " + text, place);
}

void Watch::note_division_by_zero(uint64_t place)
{
    faults_.add(fault_at(kinds::division_by_zero, block_, place, threads_.current(),
                         "an integer is divided by 0: a GPU goes on, and the result is undefined"));
}

void Watch::fail_if_built_in(uintptr_t address, uint64_t place)
{
    if (const char* name = built_in_at(address))
        fail(kinds::kernel_failed,
             harness::format("store to %s, which is a constant; copy it to a variable, and change that", name), place);
}

void Watch::fail(const FindingKind& kind, const std::string& text, uint64_t place, bool asserted)
{
    Fault fault = fault_at(kind, block_, place, threads_.current(), text);
    fault.asserted = asserted;
    end_thread(std::move(fault));
}

void Watch::end_thread(Fault fault)
{
    fault.block = block_;
    fault.thread = threads_.current();
    faults_.add(fault);
    faults_.ended |= Faults::in_this_block;
    fault = {};  // nothing on this stack is destroyed
    suspects_.forget();
    threads_.look_before_waiting(false);
    threads_.end_thread();
}

}  // namespace sim
