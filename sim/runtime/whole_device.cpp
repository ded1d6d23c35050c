// Calls about all that a device has: waiting for its work, and resetting it. They stand above its memory, its streams
// and the timeline, which ask devices.h themselves.

#include "devices.h"
#include "runtime.h"
#include "timeline.h"

using namespace sim;

cudaError_t cudaDeviceSynchronize()
{
    SIM_ENTER(true);
    timeline().host_waits_for_device(current_device());
    return cudaSuccess;
}

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

cudaError_t cudaDeviceReset()
{
    const RuntimeLock lock;
    const cudaError_t error = enter(true);
    const int device = current_device();
    timeline().host_waits_for_device(device);
    free_everything(device);
    forget_streams(device);
    disable_peers(device);
    restore_context();
    return error;
}

cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
