// The closer look at an access. In: an address, and the site. Out: the access is recorded, or ignored because it is
// no memory of the GPU's, or its thread ends with a finding.
//
// The address is looked for on the fibers' stacks, in the shared arrays, in global memory, and in what a kernel may
// read besides: its arguments, the constants of the program, and threadIdx and the like. The memory that is found
// becomes likely for this host thread, and the hooks let later accesses to it pass without a call. Memory that needs
// a look each time never becomes likely: an output that may not have been stored to, and pairs of doubles.
//
// An index beyond an array's type is only suspected at first, because it may be meant for a row of a larger array.
// The access that follows on the same line decides. The cost is a search by address, once for each change of memory.

#include "watch.h"

#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "../../common/base/error.h"
#include "../elf/places.h"
#include "../elf/symbols.h"
#include "witness.h"
#include "worker.h"

namespace sim {

__thread Likely likely;
__thread bool watching;

namespace {

// The ranges of the program that are never written: its constants.
const std::vector<Range>& constants()
{
    static const std::vector<Range> ranges = [] {
        std::vector<Range> ranges;
        dl_iterate_phdr([](dl_phdr_info* info, size_t, void* out) {
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& p = info->dlpi_phdr[i];
                if ((p.p_type == PT_LOAD && !(p.p_flags & PF_W)) || p.p_type == PT_GNU_RELRO)
                    static_cast<std::vector<Range>*>(out)->push_back(
                        {uintptr_t(info->dlpi_addr + p.p_vaddr), uintptr_t(p.p_memsz)});
            }
            return 0;
        }, &ranges);
        return ranges;
    }();
    return ranges;
}

// An array, from the name that compilers give its type: 'const float[8][4]'.
struct ArrayType {
    uint64_t element_bytes = 0;  // 0: the elements are structures
    uint64_t inner = 1;          // elements of what one index stands for: 4
    uint64_t elements = 1;       // 32
    int dimensions = 0;

    explicit ArrayType(const std::string& name)
    {
        size_t at = name.find('[');
        std::string element = name.substr(1, at - 1) + " ";  // behind the quote
        for (const char* word : {"const ", "volatile ", "unsigned ", "signed "})
            if (element.compare(0, std::strlen(word), word) == 0) element.erase(0, std::strlen(word));
        for (const auto& [type, bytes] : {std::pair{"char", 1u},
                                          {"bool", 1u},
                                          {"short", 2u},
                                          {"char16_t", 2u},
                                          {"float", 4u},
                                          {"", 4u},
                                          {"int", 4u},
                                          {"char32_t", 4u},
                                          {"wchar_t", 4u},
                                          {"double", 8u},
                                          {"long", 8u},
                                          {"long long", 8u}})
            if (element == std::string(type) + " " || element == std::string(type) + " int " ||
                (element == " " && !*type))
                element_bytes = bytes;
        for (; at != name.npos; at = name.find('[', at + 1)) {
            const uint64_t length = std::strtoull(name.c_str() + at + 1, nullptr, 10);
            if (dimensions++) inner *= length;
            elements *= length;
        }
    }

    // True if this is the type of the elements of `outer`: in a[i][j], it is the type that j indexes, and `outer` the
    // one of i.
    bool is_element_of(const ArrayType& outer) const
    {
        return outer.element_bytes == element_bytes && outer.dimensions == dimensions + 1 && outer.inner == elements;
    }
};

// A place for the newest range, in front.
void prefer(Range (&ranges)[2], const Range& range)
{
    if (witnessed) return;
    const uintptr_t first = (range.begin + 15) / 16 * 16, skipped = first - range.begin;
    const Range newest{first, range.bytes < skipped ? 0 : (range.bytes - skipped) / 16 * 16};
    if (ranges[0].begin == newest.begin && ranges[0].bytes == newest.bytes) return;
    ranges[1] = ranges[0];
    ranges[0] = newest;
}

}  // namespace

void look(uintptr_t address, Site site)
{
    if (watching) Worker::here()->called_by(__builtin_frame_address(0)).look(address, site);
    else if (output_matrix()) look_at_host(address, site);
}

void look_volatile(uintptr_t address, Site site)
{
    if (!watching) return look(address, site);
    Worker& worker = Worker::here()->called_by(__builtin_frame_address(0));
    if (kind_of(site) == store) worker.note_release(address, true, device_scope, return_address(site));
    worker.look(address, site);
    if (kind_of(site) == load) worker.note_acquire(address, true, return_address(site));
}

void look_at_range(uintptr_t address, size_t bytes, Kind kind, uint64_t place, unsigned otherwise)
{
    if (watching)
        Worker::here()->called_by(__builtin_frame_address(0)).look_at_range(address, bytes, kind, place, otherwise);
}

// Says what is wrong with an access to this address of a fiber's stack; null: nothing. The frame of the function that
// makes the access ends where its call of a hook has put the return address: below lies what other threads, or
// functions that have returned, left. A function keeps the frame of its caller and its return address where its own
// frame begins.
const char* Worker::fault_on_stack(uintptr_t address, Site site, unsigned bytes) const
{
    const Frame *at = caller_at_, *link = caller_.link;
    uint64_t back = caller_.back;
    const auto here = [&](const Frame* f) { return f > at && threads_.fibers().share(uintptr_t(f), uintptr_t(at)); };
    if (!threads_.fibers().share(uintptr_t(at), address))
        return "a local variable of another thread, which none can reach; was the index set?";
    while (back != return_address(site)) {
        if (!here(link)) return nullptr;
        at = link;
        back = at->back;
        link = at->link;
    }
    if (address < uintptr_t(at + 1))
        return "an address below the thread's local variables, where none lies: do not keep a pointer to a variable of "
               "a function that has returned, and do not leave a local array";
    for (; kind_of(site) != load && here(link); at = link, link = at->link)
        if (address + bytes > uintptr_t(link) && address < uintptr_t(link + 1))
            return "a store to where a function keeps its return address, past the end of a local variable";
    return nullptr;
}

// True if an access of `piece` bytes may be made and is to be recorded. False: it is of no memory of the
// GPU's. Does not return where it may not be made.
bool Worker::may_pass(uintptr_t address, Site site, unsigned piece)
{
    if (threads_.fibers().hold(address)) {
        if (const char* fault = fault_on_stack(address, site, piece))
            fail(kinds::local_array, fault, return_address(site));
        return false;
    }
    const Kind kind = kind_of(site);
    Array* const array = array_at(address, return_address(site));
    if (!array) {
        if (!is_unwatched(address, site, piece)) refuse_stray(address, site);
        return false;
    }
    Allocation* const target = array->in_shared() ? nullptr : static_cast<Allocation*>(array);
    if (target && target->freed) refuse(kinds::use_after_free, address, site, array);
    if (target && target->device >= 0 && target->device != settings().device &&
        !(settings().peers >> target->device & 1))
        refuse(kinds::no_peer_access, address, site, array,
               harness::format("call cudaSetDevice(%d) and then cudaDeviceEnablePeerAccess(%d, 0) before the launch",
                               settings().device, target->device));
    if (!array->holds(address + piece - 1))
        refuse(kind == load ? kinds::out_of_bounds_load : kinds::out_of_bounds_store, address, site, array);
    if (address % piece) refuse(kinds::misaligned_access, address, site, array);
    if (target && kind != load && target->read_only) refuse(kinds::store_to_input, address, site, array);
    if (target) {
    const unsigned touched = kind == load ? Allocation::loaded : Allocation::stored;
    if (!(target->touched & touched)) __atomic_or_fetch(&target->touched, touched, __ATOMIC_RELAXED);
        if (kind == load && target->unwritten) {
            check_output(*target, address, site);
            return true;
        }
    }
    if (array->elements.has_pairs() || (target && kind == atomic)) return true;
    prefer(!target ? likely.shared : kind == load ? likely.load : likely.store, *array);
    return true;
}

Array* Worker::array_at(uintptr_t address, uint64_t place)
{
    if (SharedArray* array = shared_.find(address, place)) return array;
    return memory().find(address);
}

// True if a kernel may make this access, and it is of no memory of the GPU's: of the variables that a thread sees of
// itself, the guards of static variables, the launch's arguments, of which each thread makes its own copy, and the
// program's constants.
bool Worker::is_unwatched(uintptr_t address, Site site, unsigned piece) const
{
    if (piece == 1 && is_guard(address - thread_local_base(), return_address(site))) return true;
    if (kind_of(site) != load) return false;
    const auto in = [&](uintptr_t begin, uintptr_t bytes) {
        return Range{begin, bytes}.holds(address) && piece <= bytes - (address - begin);
    };
    for (const auto* variable : {&thread_index, &block_index})
        if (in(uintptr_t(variable), sizeof *variable)) return true;
    for (const auto* variable : {&block_size, &grid_size})
        if (in(uintptr_t(variable), sizeof *variable)) return true;
    const Launching& launching = *grid_->launching;
    return std::any_of(launching.passed, launching.passed + launching.passed_count,
                       [&](const Argument& a) { return in(a.begin, a.bytes); }) ||
           std::any_of(constants().begin(), constants().end(), [&](const Range& r) { return r.holds(address); });
}

void Worker::look(uintptr_t address, Site site)
{
    if (suspicious) look_for_suspect(address, site);
    look_for_misaligned(address, bytes_of(site), kind_of(site), return_address(site));
    if (bytes_of(site) == 16 && piece_of(address, 16, return_address(site), 16) < 16)
        return look_at_range(address, 16, kind_of(site), return_address(site), 8);
    if (!may_pass(address, site, bytes_of(site))) return look_at_local(address, site);
    if (cursor.next == cursor.end) make_room(return_address(site));
    record(kind_of(site) == store ? with_fingerprint(address, bytes_of(site)) : address, site);
    if (__builtin_expect(suspicious, 0)) likely = {};
    if (witnessed) announce(address, bytes_of(site), kind_of(site));
}

void Worker::local_begins(Range array)
{
    locals_[threads_.current()].push_back(array);
    has_locals_ = true;
}

void Worker::local_ends()
{
    auto& locals = locals_[threads_.current()];
    if (!locals.empty()) locals.pop_back();
}

void Worker::look_at_local(uintptr_t address, Site site)
{
    for (const Range& array : locals_[threads_.current()]) {
        if (!array.holds(address)) continue;
        if (cursor.next == cursor.end) make_room(return_address(site));
        const uint64_t at = address - array.begin, lane = uint64_t(threads_.current()) % warp_size;
        return record(local_addresses + at / 4 * 4 * warp_size + lane * 4 + at % 4, in_local_memory(site));
    }
}

void Worker::make_room(uint64_t place)
{
    if (record_.full()) threads_.pass_turn(0, place);
    else record_.grow();
}

// The size in bytes of the pieces in which an access to a structure is made.
unsigned Worker::piece_of(uintptr_t address, size_t bytes, uint64_t place, unsigned otherwise)
{
    if (threads_.fibers().hold(address)) {
        otherwise = 16;  // nvcc aligns its arrays so that whole ones are moved in few pieces
    } else if (const Array* array = array_at(address, place)) {
        const Elements& elements = array->elements;
        const uint64_t offset = address - array->begin;
        // A copy by memcpy: nvcc knows how an array in shared memory is aligned.
        if (otherwise == 1 && array->in_shared())
            return 1u << __builtin_ctzll(offset | bytes | elements.alignment | 16);
        if (otherwise > 1 && elements.known(bytes)) return elements.piece(offset, bytes);
    }
    return 1u << __builtin_ctzll(address | bytes | otherwise);
}

void Worker::look_at_range(uintptr_t address, size_t bytes, Kind kind, uint64_t place, unsigned otherwise)
{
    if (bytes == 0) return;
    look_for_misaligned(address, bytes, kind, place);
    const unsigned piece = piece_of(address, bytes, place, otherwise);
    const Site site = site_of(place, kind, unsigned(__builtin_ctz(piece))) | turn;
    for (size_t at = 0; at < bytes; at += piece) look(address + at, site);
}

// An event is recorded like an access, so that it keeps its place among them. Room is made before it happens: the stack
// of a thread that waits for ever has no time that grows (Threads::stuck).
template <typename Event>
void Worker::note_event(uint64_t place, Event event)
{
    if (cursor.next == cursor.end) make_room(place);
    if (const uint32_t time = event()) record(time, event_of(place) | turn);
}

void Worker::note_fence(Scope scope, uint64_t place)
{
    note_event(place, [&] { return order_.fence(threads_.current(), scope); });
}

void Worker::note_release(uintptr_t address, bool relaxed, Scope scope, uint64_t place)
{
    note_event(place, [&] { return order_.release(threads_.current(), address, !relaxed, scope); });
}

void Worker::note_acquire(uintptr_t address, bool relaxed, uint64_t place)
{
    note_event(place, [&] { return order_.acquire(threads_.current(), address, relaxed); });
}

void Worker::note_confirmed(uintptr_t address) { order_.confirm(threads_.current(), address); }

// An access that must not be made: it goes on record, and ends the thread.
void Worker::refuse(const FindingKind& kind, uintptr_t address, Site site, const Array* array, const std::string& text)
{
    if (suspicious && from_index_) settle_index();
    Finding finding(kind, without_turn(site), block_);
    finding.thread = threads_.current();
    finding.offset = int64_t(address);
    if (array) {
        finding.memory = array->name;
        finding.offset = int64_t(address - array->begin);
        finding.memory_bytes = array->bytes;
    }
    finding.text = text;
    findings.add(finding);
    forget_suspects();
    threads_.end_thread();
}

// Refuses an access that hits no memory, and names the memory for which it was probably meant.
void Worker::refuse_stray(uintptr_t address, Site site)
{
    const Kind kind = kind_of(site);
    fail_if_host_address(address, return_address(site));
    const FindingKind& fault = address % bytes_of(site) ? kinds::misaligned_access
                               : kind == load           ? kinds::out_of_bounds_load
                                                        : kinds::out_of_bounds_store;
    if (const SharedArray* array = shared_.wrapped(address))
        refuse(fault, address, site, array,
               "an address of shared memory has 32 bits on a GPU, so this index wraps and reaches the array; compute "
               "it with signed numbers");
    if (address - thread_local_base() < uintptr_t(1) << 24)
        if (const SharedArray* array = shared_.nearest(address)) refuse(fault, address, site, array);
    if (shared_.near_dynamic(address)) {
        const Array asked{uintptr_t(shared_.dynamic()), shared_.dynamic_bytes(), 0,
               harness::format("dynamic shared memory (the launch asks for %llu bytes of it)",
                                          (unsigned long long)shared_.dynamic_bytes())};
        refuse(fault, address, site, &asked);
    }
    const Allocation* target = memory().nearest(address);
    // Stores are not meant for a matrix that is only read, however near.
    if (target && target->read_only && kind != load) target = output_matrix();
    const uint64_t distance = !target                   ? ~0ull
                              : address < target->begin ? target->begin - address
                                                        : address - target->begin - target->bytes;
    if (distance > uint64_t(1) << 36) refuse(kinds::host_pointer, address, site, nullptr);
    refuse(fault, address, site, target, distance > uint64_t(1) << 30 ? "so far outside: was the index set?" : "");
}

// A load from the output: it must have been stored to before.
void Worker::check_output(const Allocation& memory, uintptr_t address, Site site)
{
    const uint64_t offset = address - memory.begin, bytes = memory.unwritten->element_bytes();
    for (uint64_t at = offset / bytes * bytes; at < offset + bytes_of(site); at += bytes)
        if (memory.unwritten->has(memory.first_element + at / bytes,
                                  reinterpret_cast<const void*>(memory.begin + at))) {
            Finding finding(kinds::uninitialized_load, without_turn(site), block_);
            finding.thread = threads_.current();
            finding.memory = memory.name;
            finding.offset = int64_t(at);
            findings.add(finding);
        }
}

void Worker::suspect_index(int64_t index, const std::string& type, Spot spot, uint64_t place)
{
    // Suspects of an earlier line have had their accesses. So has a suspect of this place, if the line is in a loop.
    for (const Suspect& s : suspects_)
        if (s.spot.line != spot.line || s.place == place) settle_index();
    const ArrayType array(type);
    const int64_t ahead = index * int64_t(array.inner);
    if (!suspects_.empty() && array.is_element_of(ArrayType(suspects_.back().last_type))) {
        Suspect& outer = suspects_.back();
        outer.ahead += ahead;
        outer.last_type = type;
        outer.spot = spot;
    } else {
        suspects_.push_back({index, type, type, ahead, spot, place});
    }
    suspicious = true;
    likely = {};  // the next accesses are looked at
}

// Decides whether a suspected index was meant for this access. A row of a shared array, or of a matrix in global
// memory, has other rows behind it, so its index may be too large. The index of a member of a structure may not, nor
// that of a local array. A load has the place of its last index, or of a `*` in front of it. A store has the place of
// the `=` behind it, with other accesses in between.
void Worker::look_for_suspect(uintptr_t address, Site site)
{
    const Spot here = spot_of(return_address(site));
    if (here.line != suspects_.front().spot.line) return settle_index();
    from_index_ = false;
    const bool local = threads_.fibers().hold(address);
    const Array* array = local ? nullptr : array_at(address, return_address(site));
    // True if rows of this type, one behind the other, have the element that the indices stand for at this offset.
    const auto has = [](const Suspect& s, uint64_t offset, uint64_t bytes_of_element) {
        const int64_t whole = int64_t(ArrayType(s.type).elements);
        if (!whole || !bytes_of_element) return true;
        const int64_t behind = int64_t(offset / bytes_of_element) - s.ahead;
        return uint64_t((behind % whole + whole) % whole) < ArrayType(s.last_type).inner;
    };
    const bool in_shared = array && array->in_shared();
    const bool structure = in_shared && array->elements.bytes > bytes_of(site);
    for (size_t i = 0; i < suspects_.size();) {
        const Suspect& s = suspects_[i];
        const ArrayType type(s.last_type);
        const bool same = here.column == s.spot.column, behind = here.column > s.spot.column;
        // In an array of structures, the type of the index tells its array, because an index of a member has another
        // type.
        const bool member = structure && type.element_bytes;
        const bool row = array && (!in_shared || array->elements.bytes < array->bytes) &&
                         has(s, address - array->begin, in_shared ? array->elements.bytes : type.element_bytes);
        const bool fits = (member || row) && (!type.element_bytes || bytes_of(site) == type.element_bytes);
        const bool last =
            type.dimensions == 1 && type.element_bytes;  // no other index, and no name of a member, is behind it
        if (same || kind_of(site) == atomic ||
            (behind && kind_of(site) != load && (fits || here.column <= s.spot.column + 2)) ||
            (kind_of(site) == load && fits && (behind ? !last : type.element_bytes && !member))) {
            if (local) fail_index("a local array");
            if (member) fail_index("a member of " + array->name, i);
            from_index_ = i > 0 && ArrayType(suspects_.front().type).element_bytes;
            suspects_.erase(suspects_.begin() + int(i));
        } else {
            ++i;  // another access of the line
        }
    }
    suspicious = !suspects_.empty();
}

void Worker::settle_index()
{
    if (!suspects_.empty()) fail_index("a local array");
    suspicious = false;
}

void Worker::fail_index(const std::string& array, size_t suspect)
{
    const Suspect& s = suspects_[suspect];
    const std::string text = harness::format("index %lld of %s, %s", (long long)s.index, array.c_str(), s.type.c_str());
    fail(kinds::local_array, text, uint64_t(s.place));
}

void Worker::refuse_misaligned(uintptr_t address, Kind kind, const std::string& type, unsigned alignment,
                               uint64_t place)
{
    const Array variable{address, 1, 0, "a local variable"};
    const Array* const array = array_at(address, place);
    std::string name = type.substr(1, type.size() - 2);  // without the quotes
    for (const char* word : {"const ", "volatile ", "struct ", "class ", "union "})
        if (name.compare(0, std::strlen(word), word) == 0) name.erase(0, std::strlen(word));
    const std::string need = harness::format("%s must lie at a multiple of %u bytes", name.c_str(), alignment);
    refuse(kinds::misaligned_access, address, site_of(place, kind, unsigned(__builtin_ctz(std::min(alignment, 16u)))),
           array ? array : &variable, need);
}

void Worker::note_misaligned(const Misaligned& reference)
{
    misaligned_[next_misaligned_++ % std::size(misaligned_)] = reference;
}

void Worker::note_malloc(uintptr_t address, size_t bytes, uintptr_t heap, uint64_t place)
{
    if (!settings().exact || !grid_->alone) return;
    if (Allocation* whole = memory().find(heap)) whole->bytes = 0;  // from now on, each piece is an allocation
    const Place at = place_of(place);
    Allocation* const again = memory().find(address);
    Allocation& piece = again ? *again : memory().add({address, 0, (uint64_t(1) << 42) + address - heap, ""});
    piece.bytes = bytes;
    piece.name = harness::format("memory from malloc in a kernel at %s:%d", at.file.c_str(), at.line);
    piece.freed = false;
    // The accesses that threads made to what was freed here may not have been looked at yet.
    piece.shadow = again || settings().sample ? nullptr : std::make_shared<Shadow>(bytes);
    std::memset(reinterpret_cast<void*>(address), 0xff, bytes);
}

void Worker::note_free(uintptr_t address, uint64_t place)
{
    if (address && (!settings().exact || !grid_->alone)) return;
    Allocation* piece = memory().find(address);
    if (!piece || piece->begin != address)
        fail(kinds::bad_free,
             piece ? "bad free: the pointer is not to the beginning of " + piece->name
                   : "bad free: the pointer is not one that malloc or new gave in a kernel",
             place);
    if (piece->freed) fail(kinds::bad_free, "bad free: freed before: " + piece->name, place);
    piece->freed = true;
    likely = {};
}

// A structure is copied from or to a reference that was bound before. Members that are accessed have a check of their
// own.
void Worker::look_for_misaligned(uintptr_t address, size_t bytes, Kind kind, uint64_t place)
{
    if (__builtin_expect(next_misaligned_ == 0, 1)) return;
    for (const Misaligned& m : misaligned_)
        if (m.address == address && bytes >= m.alignment) refuse_misaligned(address, kind, m.type, m.alignment, place);
}

void Worker::fail_if_host_address(uintptr_t address, uint64_t place)
{
    const std::string text = settings().bad_address ? settings().bad_address(address) : "";
    if (!text.empty()) fail(kinds::host_pointer, "host pointer: " + text, place);
}

void Worker::fail(const FindingKind& kind, const std::string& text, uint64_t place, bool asserted)
{
    add(kind, place, threads_.current(), text, asserted);
    forget_suspects();
    threads_.end_thread();
}

}  // namespace sim
