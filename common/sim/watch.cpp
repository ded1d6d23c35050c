#include "watch.h"

#include <link.h>

#include <algorithm>
#include <cstring>

#include "../error.h"
#include "../reference.h"
#include "places.h"
#include "symbols.h"
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
                    static_cast<std::vector<Range>*>(out)->push_back({uintptr_t(info->dlpi_addr + p.p_vaddr), uintptr_t(p.p_memsz)});
            }
            return 0;
        }, &ranges);
        return ranges;
    }();
    return ranges;
}

// Whether the elements of an array of this type, as compilers write it, are of a type of the language.
bool is_scalar(const std::string& array)
{
    std::string element = array.substr(1, array.find('[') - 1);  // behind the quote
    for (const char* sign : {"unsigned ", "signed ", "long ", "short "})
        for (size_t at; (at = (element + " ").find(sign)) == 0;) element.erase(0, std::min(element.size(), std::strlen(sign)));
    for (const char* type : {"", "char", "int", "float", "double", "bool", "wchar_t", "char16_t", "char32_t"})
        if (element == type) return true;
    return false;
}

// A place for the newest range, in front.
void prefer(Range (&ranges)[2], uintptr_t begin, uintptr_t bytes)
{
    if (witnessed) return;
    const uintptr_t first = (begin + 15) / 16 * 16;
    const Range newest{first, bytes < first - begin ? 0 : (bytes - (first - begin)) / 16 * 16};
    if (ranges[0].begin == newest.begin && ranges[0].bytes == newest.bytes) return;
    ranges[1] = ranges[0];
    ranges[0] = newest;
}

}  // namespace

void look(uintptr_t address, Site site)
{
    if (watching) Worker::here()->look(address, site);
    else if (output_matrix()) look_at_host(address, site);
}

void look_volatile(uintptr_t address, Site site)
{
    if (!watching) return look(address, site);
    Worker& worker = *Worker::here();
    if (kind_of(site) == store) worker.note_release(address, true, device_scope, return_address(site));
    worker.look(address, site);
    if (kind_of(site) == load) worker.note_acquire(address, true, return_address(site));
}

void look_at_range(uintptr_t address, size_t bytes, Kind kind, uint64_t place, unsigned otherwise)
{
    if (watching) Worker::here()->look_at_range(address, bytes, kind, place, otherwise);
}

// Whether an access of `piece` bytes may be made and is to be recorded. False: it is of no memory of the
// GPU's. Does not return where it may not be made.
bool Worker::may_pass(uintptr_t address, Site site, unsigned piece)
{
    if (threads_.fibers().hold(address)) {
        if (!threads_.fibers().share(address, uintptr_t(__builtin_frame_address(0))))
            fail(Fault::local_array, "a local variable of another thread, which no thread can reach", return_address(site));
        return false;
    }
    const Kind kind = kind_of(site);
    if (const SharedArray* array = shared_.find(address, return_address(site))) {
        if (address % piece) refuse(Fault::misaligned, address, site, array->name, array->begin);
        if (!array->holds(address + piece - 1)) refuse(kind == load ? Fault::out_of_bounds_load : Fault::out_of_bounds_store, address, site, array->name, array->begin);
        if (!array->elements.has_pairs()) prefer(likely.shared, array->begin, array->bytes);
        return true;
    }
    const Allocation* target = memory().find(address);
    if (!target) {
        // The variables that a kernel sees of itself, and of this simulator.
        if (address - uintptr_t(&thread_index) < sizeof thread_index || address - uintptr_t(&block_index) < sizeof block_index ||
            address - uintptr_t(&block_size) < sizeof block_size || address - uintptr_t(&grid_size) < sizeof grid_size)
            return false;
        if (is_guard(address - thread_local_base())) return false;
        if (kind == load && is_argument(address, piece)) return false;  // each thread makes its own copy of it
        if (kind == load)
            for (const Range& range : constants())
                if (range.holds(address)) return false;
        refuse_stray(address, site);
    }
    if (target->freed) refuse(Fault::use_after_free, address, site, target->name, target->begin);
    if (target->device >= 0 && target->device != settings().device && !(settings().peers >> target->device & 1))
        refuse(Fault::no_peer_access, address, site, target->name, target->begin,
               harness::format("call cudaSetDevice(%d) and then cudaDeviceEnablePeerAccess(%d, 0) before the launch", settings().device, target->device));
    if (!target->holds(address + piece - 1)) refuse(kind == load ? Fault::out_of_bounds_load : Fault::out_of_bounds_store, address, site, target->name, target->begin);
    if (address % piece) refuse(Fault::misaligned, address, site, target->name, target->begin);
    if (kind != load && target->constant) refuse(Fault::store_to_input, address, site, target->name, target->begin);
    if (kind == load && target->unwritten) check_output(*target, address, site);
    else if (kind != atomic && !target->elements.has_pairs()) prefer(kind == load ? likely.load : likely.store, target->begin, target->bytes);
    return true;
}

void Worker::look(uintptr_t address, Site site)
{
    if (suspicious) look_for_suspect(address, site);
    if (bytes_of(site) == 16 && piece_of(address, 16, return_address(site), 16) < 16) return look_at_range(address, 16, kind_of(site), return_address(site), 8);
    if (!may_pass(address, site, bytes_of(site))) return;
    if (cursor.next == cursor.end) make_room(return_address(site));
    record(kind_of(site) == store ? with_fingerprint(address, bytes_of(site)) : address, site);
    if (__builtin_expect(suspicious, 0)) likely = {};
    if (witnessed) announce(address, bytes_of(site), kind_of(site));
}

void Worker::make_room(uint64_t place)
{
    if (record_.full()) threads_.pass_turn(0, place);
    else record_.grow();
}

bool Worker::is_argument(uintptr_t address, size_t bytes) const
{
    const Launching& launching = *grid_->launching;
    return std::any_of(launching.passed, launching.passed + launching.passed_count,
                       [&](const Argument& a) { return address - a.begin < a.bytes && bytes <= a.bytes - (address - a.begin); });
}

// Of how many bytes the pieces are that an access to a structure is made of.
unsigned Worker::piece_of(uintptr_t address, size_t bytes, uint64_t place, unsigned otherwise)
{
    if (!threads_.fibers().hold(address)) {
        if (const SharedArray* array = shared_.find(address, place)) {
            if (array->elements.known(bytes)) return array->elements.piece(address - array->begin, bytes);
        } else if (const Allocation* target = memory().find(address)) {
            if (target->elements.known(bytes)) return target->elements.piece(address - target->begin, bytes);
        }
    }
    return 1u << __builtin_ctzll(address | bytes | otherwise);
}

void Worker::look_at_range(uintptr_t address, size_t bytes, Kind kind, uint64_t place, unsigned otherwise)
{
    if (bytes == 0) return;
    const unsigned piece = piece_of(address, bytes, place, otherwise);
    const Site site = site_of(place, kind, unsigned(__builtin_ctz(piece))) | turn;
    for (size_t at = 0; at < bytes; at += piece) look(address + at, site);
}

// An event is recorded like an access, so that it keeps its place among them.
void Worker::note_event(uint32_t time, uint64_t place)
{
    if (!time) return;
    if (cursor.next == cursor.end) make_room(place);
    record(time, event_of(place) | turn);
}

void Worker::note_fence(Scope scope, uint64_t place) { note_event(order_.fence(threads_.current(), scope), place); }

void Worker::note_release(uintptr_t address, bool relaxed, Scope scope, uint64_t place)
{
    note_event(order_.release(threads_.current(), address, !relaxed, scope), place);
}

void Worker::note_acquire(uintptr_t address, bool relaxed, uint64_t place)
{
    note_event(order_.acquire(threads_.current(), address, relaxed), place);
}

void Worker::note_confirmed(uintptr_t address) { order_.confirm(threads_.current(), address); }

// An access that must not be made: it goes on record, and ends the thread.
void Worker::refuse(Fault fault, uintptr_t address, Site site, const std::string& memory, uintptr_t begin, const std::string& text)
{
    findings.add({fault, without_turn(site), 0, threads_.current(), 0, block_, memory, int64_t(address - begin), 1, block_, false, text});
    suspect_.spot = {};
    threads_.end_thread();
}

// Of what lies nowhere: the memory that it was probably meant for.
void Worker::refuse_stray(uintptr_t address, Site site)
{
    const Kind kind = kind_of(site);
    const Fault fault = address % bytes_of(site) ? Fault::misaligned : kind == load ? Fault::out_of_bounds_load : Fault::out_of_bounds_store;
    if (const SharedArray* array = shared_.wrapped(address))
        refuse(fault, address, site, array->name, array->begin,
               "an address of shared memory has 32 bits on a GPU, so this index wraps and reaches the array; compute "
               "it with signed numbers");
    if (address - thread_local_base() < uintptr_t(1) << 24)
        if (const SharedArray* array = shared_.nearest(address)) refuse(fault, address, site, array->name, array->begin);
    if (shared_.near_dynamic(address))
        refuse(fault, address, site, harness::format("dynamic shared memory (the launch asks for %llu bytes of it)", (unsigned long long)shared_.dynamic_bytes()),
               uintptr_t(shared_.dynamic()));
    const Allocation* target = memory().nearest(address);
    // Stores are not meant for a matrix that is only read, however near.
    if (target && target->constant && kind != load) target = output_matrix();
    const uint64_t distance = !target ? ~0ull : address < target->begin ? target->begin - address : address - target->begin - target->bytes;
    if (distance > uint64_t(1) << 36) refuse(Fault::host_memory, address, site, "", 0);
    refuse(fault, address, site, target->name, target->begin);
}

// A load from the output: it must have been stored to before.
void Worker::check_output(const Allocation& memory, uintptr_t address, Site site)
{
    const harness::Contents& unwritten = *memory.unwritten;
    const uint64_t offset = address - memory.begin;
    const uint64_t bytes = harness::bytes_of(unwritten.type);
    for (uint64_t at = offset / bytes * bytes; at < offset + bytes_of(site); at += bytes) {
        const bool poison = harness::with_bits(unwritten.type, [&](auto found) {
            std::memcpy(&found, reinterpret_cast<const char*>(memory.begin + at), sizeof found);
            return found == unwritten.at<decltype(found)>(memory.first_element + at / bytes);
        });
        if (poison)
            findings.add({Fault::uninitialized, without_turn(site), 0, threads_.current(), 0, block_, memory.name, int64_t(at), 1, block_, true, ""});
    }
}

void Worker::suspect_index(const std::string& index, const std::string& type, Spot spot, uint64_t place)
{
    settle_index();
    suspect_ = {index, type, spot, place};
    suspicious = true;
    likely = {};  // the next accesses are looked at
}

// Whether this access is the one that the suspected index was for. A row of a shared array, or of a matrix in global memory, has others
// behind it: its index may be too large. The index of a member of a structure may not, nor that of a local array.
// A load has the place of its index. A store has the place of the `=` behind it, with other accesses in between.
void Worker::look_for_suspect(uintptr_t address, Site site)
{
    const Spot here = spot_of(return_address(site));
    if (here.line != suspect_.spot.line) return settle_index();
    const bool same = here.column == suspect_.spot.column, target = kind_of(site) != load && here.column > suspect_.spot.column;
    const bool local = threads_.fibers().hold(address);
    const SharedArray* array = local ? nullptr : shared_.find(address, return_address(site));
    const bool rows = array && array->elements.bytes < array->bytes;
    if (!same && !(target && (rows || here.column <= suspect_.spot.column + 2)) && kind_of(site) != atomic) return;  // another access of the line
    if (local) return settle_index();
    // Of an array of structures, the type of the index tells which array it is of: one of members has another type.
    const bool member = array && array->elements.bytes > bytes_of(site) && is_scalar(suspect_.type);
    if (member) fail(Fault::local_array, suspect_.index + " of a member of " + array->name + ", " + suspect_.type, suspect_.place);
    suspect_.spot = {};
    suspicious = false;
}

void Worker::settle_index()
{
    suspicious = false;
    if (!suspect_.spot.line) return;
    suspect_.spot = {};
    fail(Fault::local_array, suspect_.index + " of a local array, " + suspect_.type, suspect_.place);
}

void Worker::refuse_misaligned(uintptr_t address, Kind kind, const std::string& type, unsigned alignment, uint64_t place)
{
    const SharedArray* array = shared_.find(address, place);
    const Allocation* target = array ? nullptr : memory().find(address);
    std::string name = type.substr(1, type.size() - 2);  // without the quotes
    for (const char* word : {"const ", "volatile ", "struct ", "class ", "union "})
        if (name.compare(0, std::strlen(word), word) == 0) name.erase(0, std::strlen(word));
    const std::string need = harness::format("; %s must lie at a multiple of %u bytes", name.c_str(), alignment);
    refuse(Fault::misaligned, address, site_of(place, kind, unsigned(__builtin_ctz(std::min(alignment, 16u)))), array ? array->name : target ? target->name : "a local variable",
           array ? array->begin : target ? target->begin : address, need);
}

void Worker::fail(Fault fault, const std::string& text, uint64_t place)
{
    findings.add({fault, site_of(place, load, 0), 0, threads_.current(), 0, block_, "", 0, 1, block_, false, text});
    threads_.end_thread();
}

}  // namespace sim
