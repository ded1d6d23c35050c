// Streams and events. Work is done at once, whatever its stream. Whether the program waited for it before it
// asked is kept all the same: on hardware it has to.

#include <cmath>
#include <set>
#include <vector>

#include "../../error.h"
#include "program.h"
#include "runtime.h"

struct CUstream_st {
    unsigned flags;
    int priority;
};

struct CUevent_st {
    unsigned flags;
    enum State { fresh, recorded, waited } state;
    cudaStream_t stream;
    uint64_t number;  // of the record, counted over all events
};

namespace sim {
namespace {

constexpr int lowest_priority = 0, highest_priority = -5;

struct Known {
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    uint64_t records = 0;
};

Known& known()
{
    static Known& known = *new Known;
    return known;
}

bool is_default(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread; }

void waited_up_to(cudaStream_t stream, uint64_t number)
{
    for (cudaEvent_t e : known().events)
        if (e->state == CUevent_st::recorded && e->number <= number && (is_default(stream) || e->stream == stream)) e->state = CUevent_st::waited;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority)
{
    SIM_ENTER(false);
    if (!stream || flags & ~cudaStreamNonBlocking) return result(cudaErrorInvalidValue);
    *stream = *known().streams.insert(new CUstream_st{flags, priority}).first;
    return cudaSuccess;
}

bool known_event(cudaEvent_t event) { return known().events.count(event) > 0; }

}  // namespace

bool known_stream(cudaStream_t stream) { return is_default(stream) || known().streams.count(stream) > 0; }

void stream_waited(cudaStream_t stream) { waited_up_to(stream, known().records); }

void forget_streams()
{
    for (cudaStream_t s : known().streams) delete s;
    for (cudaEvent_t e : known().events) delete e;
    known().streams.clear();
    known().events.clear();
}

}  // namespace sim

using namespace sim;

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create_stream(stream, cudaStreamDefault, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) { return create_stream(stream, flags, 0); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority)
{
    return create_stream(stream, flags, priority < highest_priority ? highest_priority : priority > lowest_priority ? lowest_priority : priority);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest)
{
    SIM_ENTER(false);
    if (lowest) *lowest = lowest_priority;
    if (highest) *highest = highest_priority;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    SIM_ENTER(false);
    if (known().streams.erase(stream) == 0) return result(cudaErrorInvalidResourceHandle);
    // Its events remain: what they tell about is no stream's any more.
    for (cudaEvent_t e : known().events)
        if (e->stream == stream) e->stream = nullptr;
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    SIM_ENTER(true);
    if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    stream_waited(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags)
{
    SIM_ENTER(false);
    if (!flags || !known_stream(stream)) return result(flags ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    *flags = is_default(stream) ? cudaStreamDefault : stream->flags;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority)
{
    SIM_ENTER(false);
    if (!priority || !known_stream(stream)) return result(priority ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    *priority = is_default(stream) ? 0 : stream->priority;
    return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID, const cudaStreamAttrValue* value)
{
    SIM_ENTER(false);
    return result(!value ? cudaErrorInvalidValue : known_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    SIM_ENTER(false);
    return result(known_stream(stream) && known_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags)
{
    {
        SIM_ENTER(false);
        if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
        if (!callback || flags) return result(cudaErrorInvalidValue);
    }
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data)
{
    {
        SIM_ENTER(false);
        if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
        if (!function) return result(cudaErrorInvalidValue);
    }
    function(data);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags)
{
    SIM_ENTER(false);
    if (!event || flags & ~(cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess)) return result(cudaErrorInvalidValue);
    *event = *known().events.insert(new CUevent_st{flags, CUevent_st::fresh, nullptr, 0}).first;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) { return cudaEventCreateWithFlags(event, flags); }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    SIM_ENTER(false);
    if (!known_event(event) || !known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    event->state = CUevent_st::recorded;
    event->stream = stream;
    event->number = ++known().records;
    return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) { return cudaEventRecord(event, stream); }

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    SIM_ENTER(true);
    if (!known_event(event)) return result(cudaErrorInvalidResourceHandle);
    if (event->state == CUevent_st::recorded) waited_up_to(event->stream, event->number);
    return cudaSuccess;
}

// A program that asks until the work is done has waited for it.
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop)
{
    SIM_ENTER(false);
    if (!ms) return result(cudaErrorInvalidValue);
    *ms = std::nanf("");
    if (!known_event(start) || !known_event(stop)) return result(cudaErrorInvalidResourceHandle);
    for (cudaEvent_t e : {start, stop})
        if (e->state == CUevent_st::fresh || e->flags & cudaEventDisableTiming) return result(cudaErrorInvalidResourceHandle);
    if (stop->state != CUevent_st::waited) {
        program_finding("event not reached: cudaEventElapsedTime " + at(SIM_PLACE) + " asks for a time that may not be known yet; call cudaEventSynchronize(stop) first");
        return cudaErrorNotReady;
    }
    program_note("no time was measured: cudaEventElapsedTime gives NaN, and so do results computed from it");
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    SIM_ENTER(false);
    if (known().events.erase(event) == 0) return result(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}
