// Step 1, errata: kernels with the fault that was published at this stage. They run only when
// they are asked for.
//
//   make step01 && ./step01 --errata

#include "../common/step.h"

constexpr int ADD_THREADS = 128;

// Every thread takes the element after its own, and so does the last thread.
template <typename T>
__global__ void addMisalignedUntested(T* z, const T* x, const T* y)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x + 1;

    z[i] = x[i] + y[i];
}

template <typename T>
void launchMisalignedUntested(T* odata, const T* idata, int width, int height)
{
    size_t n = size_t(width) * height;
    addMisalignedUntested<T><<<dim3((n + ADD_THREADS - 1) / ADD_THREADS), ADD_THREADS>>>(odata, idata, idata + n);
}

KERNEL(addMisalignedUntested, "E18", adds, launchMisalignedUntested)

ERRATUM(addMisalignedUntested, E18)
    .published_in("coalescing notes")
    .caught_by("out-of-bounds-load")
    .corrected_by("addMisaligned")
    .shown_on(128, 32)
    .story("Published: a misaligned sum z[i] = x[i] + y[i] of vectors of 128 x 32 elements, to show a degree of "
           "coalescing of 80 %. As many threads as elements start one element late: the last one adds what lies behind "
           "the vectors, and element 0 is never written. What remains: the 80 %, of whole warps.");

// The program of the broadcast starts the kernel of the misaligned sum a second time.
template <typename T>
void launchBroadcastMixedUp(T* odata, const T* idata, int width, int height)
{
    launchMisalignedUntested(odata, idata, width, height);
}

KERNEL(addBroadcastMixedUp, "E18", adds_first, launchBroadcastMixedUp)

ERRATUM(addBroadcastMixedUp, E18)
    .published_in("coalescing notes")
    .caught_by("same-launch")
    .corrected_by("addBroadcast")
    .shown_on(128, 32)
    .story("Published: the broadcast z[i] = x[0] + y[i], with a degree of coalescing of 12.5 %. The program starts the "
           "kernel of the misaligned sum in its place. What remains: the 12.5 %, which was worked out and not "
           "measured.");
