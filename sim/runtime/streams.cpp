// Streams and events. Each belongs to the device that was current when it was made. Work is done at once, whatever its
// stream. Whether the program waited for it before it asked is kept all the same (timeline.h): on hardware it has to.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <vector>

#include "../../common/base/error.h"
#include "devices.h"
#include "notes.h"
#include "runtime.h"
#include "timeline.h"

struct CUstream_st {
    unsigned flags = 0;
    int priority = 0;
    int device = 0;
    int queue = 0;
};

struct CUevent_st {
    unsigned flags;
    int device;
    int queue = 0;        // where it was recorded
    uint32_t number = 0;  // of the record in the queue; 0: it was not recorded
    sim::Clock clock = {};  // the work that comes before the record, itself included
};

namespace sim {
namespace {

constexpr int lowest_priority = 0, highest_priority = -5;

struct Handles {
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
};

Handles& handles()
{
    static Handles& handles = *new Handles;
    return handles;
}

bool is_default(cudaStream_t stream)
{
    return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority)
{
    SIM_ENTER(false);
    if (!stream || flags & ~cudaStreamNonBlocking) return result(cudaErrorInvalidValue);
    CUstream_st* const made = new CUstream_st;
    made->flags = flags;
    made->priority = priority;
    made->device = current_device();
    made->queue = timeline().add_queue(made->device, !(flags & cudaStreamNonBlocking));
    handles().streams.insert(made);
    *stream = made;
    return cudaSuccess;
}

void end_stream(cudaStream_t stream)
{
    timeline().remove_queue(stream->queue);
    delete stream;
}

// Takes the streams or events of a device out of the list of all, and returns them.
template <typename One>
std::vector<One> taken(std::set<One>& all, int device)
{
    std::vector<One> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](One one) { return one->device == device; });
    for (One one : found) all.erase(one);
    return found;
}

// Gives the program a setting that the stream was made with. A default stream has 0.
template <typename T>
cudaError_t give_setting(cudaStream_t stream, T* to, T CUstream_st::* setting)
{
    SIM_ENTER(false);
    if (!to || !known_stream(stream)) return result(to ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    *to = is_default(stream) ? 0 : stream->*setting;
    return cudaSuccess;
}

// Waits for the work in a stream that comes before a call of a function of the program.
cudaError_t wait_to_call(cudaStream_t stream, bool valid)
{
    SIM_ENTER(false);
    if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    if (!valid) return result(cudaErrorInvalidValue);
    timeline().host_waits_for_queue(queue_of(stream));
    return cudaSuccess;
}

template <typename Function>
void call_back(Function function)
{
    calls_back = true;
    function();
    calls_back = false;
}

bool known_event(cudaEvent_t event) { return handles().events.count(event) > 0; }

bool reached(cudaEvent_t event) { return timeline().host().covers(event->queue, event->number); }

}  // namespace

bool known_stream(cudaStream_t stream) { return is_default(stream) || handles().streams.count(stream) > 0; }

int device_of(cudaStream_t stream) { return is_default(stream) ? current_device() : stream->device; }

int queue_of(cudaStream_t stream)
{
    if (!is_default(stream)) return stream->queue;
    return stream == cudaStreamPerThread ? timeline().thread_queue(current_device())
                                         : timeline().legacy_queue(current_device());
}

void forget_streams(int device)
{
    for (cudaStream_t stream : taken(handles().streams, device)) end_stream(stream);
    for (cudaEvent_t event : taken(handles().events, device)) delete event;
}

}  // namespace sim

using namespace sim;

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create_stream(stream, cudaStreamDefault, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) { return create_stream(stream, flags, 0); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority)
{
    return create_stream(stream, flags, std::clamp(priority, highest_priority, lowest_priority));
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
    if (handles().streams.erase(stream) == 0) return result(cudaErrorInvalidResourceHandle);
    end_stream(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    SIM_ENTER(true);
    if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    timeline().host_waits_for_queue(queue_of(stream));
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags)
{
    return give_setting(stream, flags, &CUstream_st::flags);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority)
{
    return give_setting(stream, priority, &CUstream_st::priority);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID, const cudaStreamAttrValue* value)
{
    SIM_ENTER(false);
    return result(!value ? cudaErrorInvalidValue : known_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    SIM_ENTER(false);
    if (flags & ~cudaEventWaitExternal) return result(cudaErrorInvalidValue);
    if (!known_stream(stream) || !known_event(event)) return result(cudaErrorInvalidResourceHandle);
    timeline().wait(queue_of(stream), event->clock);
    return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags)
{
    if (const cudaError_t error = wait_to_call(stream, callback && !flags)) return error;
    call_back([&] { callback(stream, cudaSuccess, data); });
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data)
{
    if (const cudaError_t error = wait_to_call(stream, function)) return error;
    call_back([&] { function(data); });
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags)
{
    SIM_ENTER(false);
    if (!event || flags & ~(cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess))
        return result(cudaErrorInvalidValue);
    if (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming)) return result(cudaErrorInvalidValue);
    *event = *handles().events.insert(new CUevent_st{flags, current_device()}).first;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) { return cudaEventCreateWithFlags(event, flags); }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    SIM_ENTER(false);
    if (!known_event(event) || !known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    if (event->device != device_of(stream)) return result(cudaErrorInvalidResourceHandle);
    const Work record = timeline().begin_work(queue_of(stream), 0, "", nullptr);
    timeline().end_work(record, 0);
    event->queue = record.queue;
    event->number = record.number;
    event->clock = timeline().clock_of(record.queue);
    return cudaSuccess;
}

// Only graphs that are captured have external events.
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    if (flags) return result(flags == cudaEventRecordExternal ? cudaErrorIllegalState : cudaErrorInvalidValue);
    return cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    SIM_ENTER(true);
    if (!known_event(event)) return result(cudaErrorInvalidResourceHandle);
    timeline().host_waits(event->clock);
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
        if (e->number == 0 || e->flags & cudaEventDisableTiming) return result(cudaErrorInvalidResourceHandle);
    if (start->device != stop->device) return result(cudaErrorInvalidResourceHandle);
    if (!reached(stop)) {
        program_finding(kinds::event_not_reached, SIM_PLACE,
                        "event not reached: cudaEventElapsedTime " + at(SIM_PLACE) +
                            " asks for a time that may not be known yet; call cudaEventSynchronize(stop) first");
        return cudaErrorNotReady;
    }
    program_note("no time was measured: cudaEventElapsedTime gives NaN, and so do results computed from it");
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    SIM_ENTER(false);
    if (handles().events.erase(event) == 0) return result(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}
