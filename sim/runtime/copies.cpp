// Copies and fills: cudaMemcpy, cudaMemset and similar functions.
//
// In: the sides of a copy, each with its rows. A call is refused if a side does not lie where the call says, or is too
// short. Otherwise the bytes are copied at once. The timeline gets the copy as a piece of work, and the records of the
// last accesses tell whether it races with a launch or another copy. The cost is linear in the bytes.

#include <algorithm>
#include <cstring>
#include <map>

#include "../../common/base/error.h"
#include "../core/sinks/global_checker.h"
#include "../core/grid/simulator.h"
#include "devices.h"
#include "notes.h"
#include "runtime.h"
#include "timeline.h"
#include "traffic.h"

namespace sim {
namespace {

using harness::format;

// The rows of a copy, or of cudaMemset.
struct Shape {
    size_t width;            // bytes of a row
    size_t height = 1, depth = 1;
    bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

// One side of a copy: where the first row begins, and the bytes from row to row. In 3D, also the bytes from slice to
// slice, the rows of a slice, and how far from the corner the copy begins.
struct Side {
    void* begin;
    size_t pitch = 0, slice = 0;
    size_t rows = SIZE_MAX, x = 0, y = 0;
    int device = -1;  // whose memory it is, where the program says so

    uintptr_t row(size_t y, size_t z) const { return uintptr_t(begin) + y * pitch + z * slice; }
    uint64_t extent(const Shape& s) const { return (s.depth - 1) * slice + (s.height - 1) * pitch + s.width; }
};

struct Copy {
    Side to, from;
    Shape shape;
    cudaMemcpyKind kind;
};

// The error that CUDA gives if the rows of a copy, or of cudaMemset, do not fit where they should lie (measured:
// tests/sim/language/refusals.cu).
cudaError_t check_shape(const Side& side, const Shape& s)
{
    if (s.height > 1 && side.pitch < s.width) return cudaErrorInvalidPitchValue;
    if (s.depth > 1 && (side.pitch < s.width || side.rows < s.height)) return cudaErrorInvalidPitchValue;
    if (side.pitch && s.width > side.pitch - std::min(side.x, side.pitch)) return cudaErrorInvalidValue;
    if (side.rows && s.height > side.rows - std::min(side.y, side.rows)) return cudaErrorInvalidValue;
    return cudaSuccess;
}

enum class Where { host, device, either, nowhere };

// The side that an address lies on. Memory that host and devices may touch is on either side.
Where where(uintptr_t address)
{
    if (const Allocation* a = allocation_at(address)) return a->owner == Owner::device ? Where::device : Where::either;
    if (in_device_heap(address)) return Where::nowhere;
    if (const Variable* v = variable_of(address); v && !host_name(address))
        return v->owner() == Owner::device ? Where::device : Where::either;
    return in_device_range(address) ? Where::nowhere : Where::host;
}

// The call that is being carried out.
struct RuntimeCall {
    const char* function;
    const void* place;
    bool blocks = false;
    cudaStream_t stream = nullptr;
    const harness::FindingKind& kind = kinds::bad_copy;
    const char* fault = "bad copy";
    const char* takes = "the copy";
    const char* names = "the call says";  // these words name a device
    std::string text() const { return std::string(function) + " " + at(place); }
};
const RuntimeCall* copying_now = nullptr;

cudaError_t refuse(const RuntimeCall& call, const std::string& what, cudaError_t error = cudaErrorInvalidValue)
{
    program_finding(call.kind, call.place, std::string(call.fault) + ": " + call.text() + ": " + what);
    return result(error);
}

// Reports a fault if one side of a copy is not what the call says. `role`: source or destination.
cudaError_t check(const RuntimeCall& call, const char* role, const Side& side, const Shape& shape, bool on_device,
                  const char* kind)
{
    const uintptr_t first = uintptr_t(side.begin);
    if (!side.begin) return refuse(call, format("the %s is a null pointer", role));
    const Where found = where(first);
    if (const Variable* v = host_name(first))
        return refuse(call, format("the %s is %s, a variable of the device, whose name gives the host no address that "
                                   "%s could use; call %s, or ask cudaGetSymbolAddress for the address", role,
                                   v->record->name, call.function,
                                   *role == 's' ? "cudaMemcpyFromSymbol" : "cudaMemcpyToSymbol"));
    if (found == Where::nowhere)
        return refuse(call, format("the %s is in no allocation of the runtime: %s", role, address_text(first).c_str()));
    if (kind && on_device && found == Where::host)
        return refuse(call,
                      format("the %s is memory of the host, and %s takes a pointer from cudaMalloc there", role, kind));
    if (kind && !on_device && found == Where::device)
        return refuse(call, format("the %s is memory of the device (%s), and %s takes a pointer of the host there",
                                   role, address_text(first).c_str(), kind));
    const Allocation* a = memory().find(first);
    const uint64_t extent = side.extent(shape);
    if (const uint64_t room = a || found != Where::host ? extent : host_room(first, extent); room < extent)
        return refuse(call, format("the %s is memory of the host with at most %llu bytes, and %s takes %llu", role,
                                   (unsigned long long)room, call.takes, (unsigned long long)extent));
    if (!a) return cudaSuccess;
    if (a->freed) return refuse(call, format("the %s is freed memory: %s", role, address_text(first).c_str()));
    const uint64_t offset = first - a->begin;
    if (extent > a->bytes - offset)
        return refuse(call, format("the %s has %llu bytes from byte %llu of %s on, and %s takes %llu", role,
                                   (unsigned long long)(a->bytes - offset), (unsigned long long)offset, a->name.c_str(),
                                   call.takes, (unsigned long long)extent));
    if (side.device >= 0 && a->device >= 0 && a->device != side.device)
        return refuse(call, format("the %s is memory of device %d (%s), and %s device %d", role, a->device,
                                   address_text(first).c_str(), call.names, side.device));
    return cudaSuccess;
}

Shadow* shadow_of(uintptr_t address, uint64_t& offset)
{
    const Allocation* a = memory().find(address);
    if (!a || !a->shadow) return nullptr;
    offset = address - a->begin;
    return a->shadow.get();
}

// Reports a copy to the host of device memory that was never written, because it has no value.
void check_written(const RuntimeCall& call, uintptr_t address, uint64_t bytes)
{
    uint64_t offset = 0;
    Shadow* shadow = shadow_of(address, offset);
    const Elements elements = shadow ? memory().find(address)->elements : Elements();
    const uint64_t first = shadow ? shadow->first_unwritten(offset, bytes, elements) - offset : bytes;
    const bool begun = elements.bytes && !elements.members && (offset + first) % elements.bytes;
    if (first < bytes)
        program_finding(kinds::never_written, call.place,
                        format("never written: %s copies uninitialized memory to the host; it begins at %s%s",
                               call.text().c_str(), address_text(address + first).c_str(),
                               begun ? ", in an element: if it is padding, nothing is wrong" : ""));
}

// One side of a copy, for the search for races: the call, its number as a block, and the work that may run at the same
// time. `clock`: the work that comes before it.
struct End {
    const RuntimeCall& call;
    uint64_t block;
    std::vector<Beside> beside;
    End(const RuntimeCall& call, const Work& work, const Clock& clock)
        : call(call), block(work.first + 1), beside(timeline().beside(work, clock))
    {
    }
};

// Notes what one side of a copy did. Who wrote or read matters only if another stream, or the host, may do something at
// the same time.
void note(const End& end, uintptr_t address, uint64_t bytes, bool writes, bool written = true)
{
    uint64_t offset = 0;
    Shadow* const shadow = shadow_of(address, offset);
    if (!shadow) return;
    if (timeline().several() || where(address) == Where::either)
        begin_copy(end.block, end.beside).note_copy(*shadow, offset, bytes, writes, written);
    else if (writes)
        shadow->note_written(offset, bytes, written);
}

// Bytes that were never written in the source count as never written in the copy.
void note_copied(const End& end, uintptr_t to, uintptr_t from, uint64_t bytes)
{
    uint64_t offset = 0;
    const Shadow* source = shadow_of(from, offset);
    std::vector<uint64_t> changes;  // where the source begins to be unwritten, and where it ends to be
    if (source && source->first_unwritten(offset, bytes, {}) < offset + bytes)
        source->look(offset, bytes, [&](const MemoryCells& cells, size_t index, uint64_t at) {
            if (cells.unset(index, 1) == (changes.size() % 2 == 0)) changes.push_back(at - offset);
        });
    if (changes.size() % 2) changes.push_back(bytes);
    note(end, to, bytes, true);
    for (size_t i = 0; i < changes.size(); i += 2)
        note(end, to + changes[i], changes[i + 1] - changes[i], true, false);
}

// Reports a launch, or another copy, that may run at the same time and touches the same bytes.
void check_beside(const End& end, uintptr_t address, uint64_t bytes, bool writes)
{
    const RuntimeCall& call = end.call;
    uint64_t offset = 0;
    Shadow* shadow = end.beside.empty() ? nullptr : shadow_of(address, offset);
    if (!shadow) return;
    std::map<std::pair<const Beside*, bool>, uint64_t> first;  // byte, by the other work and whether that writes
    begin_copy(end.block, end.beside)
        .look_beside(*shadow, offset, bytes, writes, [&](const Beside& other, Site site, uint32_t, uint64_t at) {
            first.emplace(std::make_pair(&other, kind_of(site) != load), at);
        });
    for (const auto& [other, at] : first) {
        const std::string other_text = other.first->text(other.second);
        const std::string what = format("%s and %s; nothing orders the two: record an event after the first, and let "
                                        "the second wait for it",
                                        verb(call.function, writes), other_text.c_str());
        harness::Finding finding = finding_of_call(
            kinds::race, call.place,
            format("race: %s: %s", address_text(address + at - offset).c_str(), call.text().c_str()) + what);
        finding.others.push_back(finding_place(uint64_t(other.first->place)));
        finding.others.back().text = other_text;
        program_finding(finding, call.text() + what);
    }
}

void move(const Side& to, const Side& from, const Shape& shape, const End& writes, const End& reads)
{
    const bool to_host = where(uintptr_t(to.begin)) != Where::device,
               from_host = where(uintptr_t(from.begin)) != Where::device;
    const OpenMemory open;
    copying_now = &writes.call;
    for (size_t z = 0; z < shape.depth; ++z)
        for (size_t y = 0; y < shape.height; ++y) {
            const uintptr_t row = to.row(y, z), source = from.row(y, z);
            void* const memory = reinterpret_cast<void*>(row);
            if (to_host) check_written(writes.call, source, shape.width);
            check_beside(reads, source, shape.width, false);
            check_beside(writes, row, shape.width, true);
            std::memmove(memory, reinterpret_cast<const void*>(source), shape.width);
            if (from_host && !to_host) move_addresses(memory, shape.width);
            if (to_host && !from_host) move_addresses_back(memory, shape.width, source);
            note(reads, source, shape.width, false);
            note_copied(writes, row, source, shape.width);
        }
    copying_now = nullptr;
}

// True if a row of one side has bytes of a row of the other. Sides with other pitches can lie between each other.
bool overlap(const Side& to, const Side& from, const Shape& shape)
{
    const uintptr_t a = uintptr_t(to.begin), b = uintptr_t(from.begin);
    if (a == b || (a > b ? a - b >= from.extent(shape) : b - a >= to.extent(shape))) return false;
    if (shape.height == 1 && shape.depth == 1) return true;
    if (!to.pitch || to.pitch != from.pitch) return false;
    const uint64_t apart = (a > b ? a - b : b - a) % to.pitch;
    return apart < shape.width || to.pitch - apart < shape.width;
}

// Ends a copy in the timeline. `sides`: the destination comes first.
void finish(const Work& work, std::initializer_list<const Side*> sides, bool blocks)
{
    timeline().end_work(work, 1);
    for (const Side* side : sides)
        if (Allocation* a = memory().find(uintptr_t(side->begin)))
            a->touched |= side == *sides.begin() ? Allocation::stored : Allocation::loaded;
    note_uses(work);
    protect_shared(PROT_NONE);
    if (blocks) timeline().host_waits_for_queue(work.queue);
}

cudaError_t run(const Copy& copy, const RuntimeCall& call)
{
    SIM_ENTER(call.blocks);
    const auto& [to, from, shape, kind] = copy;
    if (!known_stream(call.stream)) return result(cudaErrorInvalidResourceHandle);
    if (std::max(to.device, from.device) >= device_count()) return result(cudaErrorInvalidDevice);
    const int queue = queue_of(call.stream);
    use_variables_of(current_device());
    const int to_device = device_at(uintptr_t(to.begin)), from_device = device_at(uintptr_t(from.begin));
    const bool between = to_device >= 0 && from_device >= 0 && to_device != from_device;
    // The host does not wait for a copy inside a device.
    const bool blocks = call.blocks && (between || where(uintptr_t(to.begin)) != Where::device ||
                                        where(uintptr_t(from.begin)) != Where::device);
    if (blocks) timeline().host_waits_for_queue(queue);
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return result(cudaErrorInvalidMemcpyDirection);
    if (shape.empty()) return cudaSuccess;
    const cudaError_t shapes[] = {check_shape(to, shape), check_shape(from, shape)};
    for (const cudaError_t error : {cudaErrorInvalidPitchValue, cudaErrorInvalidValue})
        if (shapes[0] == error || shapes[1] == error) return result(error);
    const char* const names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                 "cudaMemcpyDeviceToDevice", nullptr};
    const bool on_device = kind == cudaMemcpyDeviceToDevice;
    if (const cudaError_t error =
            check(call, "destination", to, shape, on_device || kind == cudaMemcpyHostToDevice, names[kind]))
        return error;
    if (const cudaError_t error =
            check(call, "source", from, shape, on_device || kind == cudaMemcpyDeviceToHost, names[kind]))
        return error;
    if (overlap(to, from, shape))
        program_finding(kinds::bad_copy, call.place,
                        format("bad copy: %s: the source and the destination overlap: %s and %s", call.text().c_str(),
                               address_text(uintptr_t(from.begin)).c_str(), address_text(uintptr_t(to.begin)).c_str()));

    // A copy that blocks waits for the devices whose memory it is, too.
    for (int device : {to_device, from_device})
        if (blocks && device >= 0) timeline().wait(queue, timeline().clock_of(timeline().legacy_queue(device)));
    const Work work = timeline().begin_work(queue, 1, call.function, call.place);
    const Clock& clock = timeline().clock_of(queue);
    if (between) note_message(from_device, to_device, shape.width * shape.height * shape.depth, clock.window);
    count_a_copy();
    const End end(call, work, clock);
    move(to, from, shape, end, end);
    finish(work, {&to, &from}, blocks);
    return cudaSuccess;
}

cudaError_t set(const Side& to, int value, const Shape& shape, const RuntimeCall& call)
{
    SIM_ENTER(false);
    if (!known_stream(call.stream)) return result(cudaErrorInvalidResourceHandle);
    use_variables_of(current_device());
    if (shape.empty()) return cudaSuccess;
    if (to.rows < shape.height || ((shape.height > 1 || shape.depth > 1) && to.pitch < shape.width))
        return result(cudaErrorInvalidValue);
    if (const cudaError_t error = check(call, "destination", to, shape, true, call.function)) return error;
    const Work work = timeline().begin_work(queue_of(call.stream), 1, call.function, call.place);
    count_a_copy();
    const End end(call, work, timeline().clock_of(work.queue));
    const OpenMemory open;
    for (size_t z = 0; z < shape.depth; ++z)
        for (size_t y = 0; y < shape.height; ++y) {
            check_beside(end, to.row(y, z), shape.width, true);
            std::memset(reinterpret_cast<void*>(to.row(y, z)), value, shape.width);
            note(end, to.row(y, z), shape.width, true);
        }
    // The host waits only if it could touch the memory.
    finish(work, {&to}, call.blocks && where(uintptr_t(to.begin)) == Where::either);
    return cudaSuccess;
}

Side plain(const void* begin, int device = -1)
{
    Side side{const_cast<void*>(begin)};
    side.device = device;
    return side;
}

Side pitched(const cudaPitchedPtr& memory, const cudaPos& from = {})
{
    const size_t slice = memory.pitch * memory.ysize;
    return {static_cast<char*>(memory.ptr) + from.z * slice + from.y * memory.pitch + from.x, memory.pitch, slice,
            memory.ysize, from.x, from.y};
}

cudaError_t copy_3d(const cudaMemcpy3DParms* p, const RuntimeCall& call)
{
    if (!p) return result(cudaErrorInvalidValue);
    if (p->srcArray || p->dstArray) {
        program_finding(kinds::not_simulated, call.place,
                        "not simulated: " + call.text() + " copies an array: there are no arrays here");
        return result(cudaErrorNotSupported);
    }
    return run({pitched(p->dstPtr, p->dstPos), pitched(p->srcPtr, p->srcPos),
                {p->extent.width, p->extent.height, p->extent.depth}, p->kind}, call);
}

cudaError_t copy_peer(void* to, int to_device, const void* from, int from_device, size_t bytes, const RuntimeCall& call)
{
    if (to_device < 0 || from_device < 0) return result(cudaErrorInvalidDevice);
    return run({plain(to, to_device), plain(from, from_device), {bytes}, cudaMemcpyDeviceToDevice}, call);
}

}  // namespace

bool good_buffer(const char* function, const void* place, const void* memory, uint64_t bytes, int device)
{
    const RuntimeCall call{function, place, false, nullptr, kinds::bad_message, "bad message", "the message",
                           "the rank has"};
    return !check(call, "buffer", plain(memory, device), {bytes}, true, function);
}

void use_whole(const char* function, const void* place, uintptr_t begin, uint64_t bytes, cudaStream_t stream)
{
    const Work work = timeline().begin_work(queue_of(stream), 1, function, place);
    count_a_copy();
    const RuntimeCall call{function, place};
    const End end(call, work, timeline().clock_of(work.queue));
    check_beside(end, begin, bytes, true);
    note(end, begin, bytes, true, false);
    timeline().end_work(work, 0);
}

void move_message(void* to, const void* from, uint64_t bytes, const Work& send, const Clock& before_send,
                  const Work& receive, const Clock& before_receive)
{
    if (!bytes) return;
    // The receiver reads what the sender did before, so its copy comes after all of that.
    Clock before = before_receive;
    before.join(before_send);
    const RuntimeCall sends{send.name, send.place}, receives{receive.name, receive.place};
    move(plain(to), plain(from), {bytes}, {receives, receive, before}, {sends, send, before_send});
}

std::vector<char> bytes_at(const void* memory, uint64_t bytes)
{
    const OpenMemory open;
    return {static_cast<const char*>(memory), static_cast<const char*>(memory) + bytes};
}

Copying copying()
{
    if (!copying_now) return {};
    return {copying_now->text(), copying_now->place};
}

cudaError_t copy_symbol(const SymbolCopy& c, bool blocks, cudaStream_t stream, const void* place)
{
    static const char* const functions[2][2] = {{"cudaMemcpyFromSymbolAsync", "cudaMemcpyFromSymbol"},
                                                {"cudaMemcpyToSymbolAsync", "cudaMemcpyToSymbol"}};
    const RuntimeCall call{functions[c.to_symbol][blocks], place, blocks, stream};
    if (c.offset > c.symbol_bytes || c.bytes > c.symbol_bytes - c.offset) {
        const std::string variable = c.to_symbol ? first_argument(place, call.function) : "";
        return refuse(call, format("%llu bytes at byte %llu do not fit %s, which has %llu", (unsigned long long)c.bytes,
                                   (unsigned long long)c.offset, variable.empty() ? "the variable" : variable.c_str(),
                                   (unsigned long long)c.symbol_bytes));
    }
    if (c.kind != (c.to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost) &&
        c.kind != cudaMemcpyDeviceToDevice && c.kind != cudaMemcpyDefault)
        return result(cudaErrorInvalidMemcpyDirection);
    const NamedVariable named(c.symbol);
    const Side variable = plain(static_cast<const char*>(c.symbol) + c.offset), other = plain(c.other);
    return run({c.to_symbol ? variable : other, c.to_symbol ? other : variable, {c.bytes}, c.kind}, call);
}

cudaError_t symbol_address(void** address, const void* symbol)
{
    SIM_ENTER(false);
    ask_for(uintptr_t(symbol));
    return give(address, const_cast<void*>(symbol));
}

}  // namespace sim

void sim::note_float_for_bytes(double value, const void* place)
{
    if (value != 0)
        program_finding(kinds::bad_copy, place,
                        harness::format("bad copy: cudaMemset %s sets each byte to %d, and no element to %g; store the "
                                        "elements in a kernel", at(place).c_str(), int(value), value));
}

using namespace sim;

// Defines a function, and the one that puts the same work into a stream. `done`: the body of both.
#define WITH_ASYNC(function, done, ...) \
    cudaError_t function(__VA_ARGS__) \
    { \
        const RuntimeCall call{#function, SIM_PLACE, true}; \
        return done; \
    } \
    cudaError_t function##Async(__VA_ARGS__, cudaStream_t stream) \
    { \
        const RuntimeCall call{#function "Async", SIM_PLACE, false, stream}; \
        return done; \
    }
WITH_ASYNC(cudaMemcpy, run({plain(to), plain(from), {bytes}, kind}, call), void* to, const void* from, size_t bytes,
           cudaMemcpyKind kind)
WITH_ASYNC(cudaMemcpy2D,
           run({{to, to_pitch}, {const_cast<void*>(from), from_pitch}, {width, height}, kind}, call), void* to,
           size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind)
WITH_ASYNC(cudaMemcpy3D, copy_3d(parameters, call), const cudaMemcpy3DParms* parameters)
WITH_ASYNC(cudaMemcpyPeer, copy_peer(to, to_device, from, from_device, bytes, call), void* to, int to_device,
           const void* from, int from_device, size_t bytes)
WITH_ASYNC(cudaMemset, set(plain(memory), value, {bytes}, call), void* memory, int value, size_t bytes)
WITH_ASYNC(cudaMemset2D, set({memory, pitch}, value, {width, height}, call), void* memory, size_t pitch, int value,
           size_t width, size_t height)
WITH_ASYNC(cudaMemset3D, set(pitched(memory), value, {e.width, e.height, e.depth}, call), cudaPitchedPtr memory,
           int value, cudaExtent e)
