// Small kernels that tell what the simulator does; tests/steps/unit.cpp knows the answers.

#define ELEMENT_TYPES void, void, float, double, int, void  // these kernels compute
#include "common/step.h"

// Every thread writes its linear index; 4 x 3 x 2 threads in 2 x 2 x 2 blocks.
template <typename T>
__global__ void indices(T* odata, const T*, int, int)
{
    size_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    size_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    size_t i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    odata[i] = int(i);
}

template <typename T>
void launchIndices(T* odata, const T* idata, int width, int height)
{
    indices<T><<<dim3(2, 2, 2), dim3(4, 3, 2)>>>(odata, idata, width, height);
}

KERNEL(indices, "-", copies, launchIndices)

// The sum of a block's 1024 elements, halving the threads from barrier to barrier.
template <typename T>
__global__ void sum(T* odata, const T* idata, int, int)
{
    __shared__ T partial[1024];
    partial[threadIdx.x] = idata[blockIdx.x * 1024 + threadIdx.x];
    for (unsigned n = 512; n > 0; n /= 2) {
        __syncthreads();
        if (threadIdx.x < n) partial[threadIdx.x] = partial[threadIdx.x] + partial[threadIdx.x + n];
    }
    if (threadIdx.x == 0) odata[blockIdx.x] = partial[0];
}

template <typename T>
void launchSum(T* odata, const T* idata, int width, int height)
{
    sum<T><<<dim3(16), dim3(1024)>>>(odata, idata, width, height);
}

KERNEL(sum, "-", copies, launchSum)

// One block of 40 threads, a warp and a quarter: even lanes load at one site, odd lanes at
// another, and lane l stores l % 4 times in a loop. Local variables are not memory.
template <typename T>
__global__ void diverge(T* odata, const T* idata, int, int)
{
    const unsigned t = threadIdx.x;
    T local[2];
    if (t % 2 == 0)
        local[0] = idata[t];
    else
        local[0] = idata[2 * t];
    local[1] = local[0];
    for (unsigned i = 0; i < t % 4; ++i) odata[t] = local[1];
}

template <typename T>
void launchDiverge(T* odata, const T* idata, int width, int height)
{
    diverge<T><<<dim3(1), dim3(40)>>>(odata, idata, width, height);
}

KERNEL(diverge, "-", copies, launchDiverge)

// A loop within a loop: rows of 40 elements, which lanes 0 to 7 visit twice, and the others once.
// Lanes 8 to 15 leave out the first row.
template <typename T>
__global__ void missTurns(T* odata, const T* idata, int, int)
{
    for (int row = 0; row < 4; ++row)
        for (int x = threadIdx.x; x < 40; x += 32)
            if (row > 0 || x < 8 || x >= 16) odata[row * 64 + x] = idata[row * 64 + x];
}

template <typename T>
void launchMissTurns(T* odata, const T* idata, int width, int height)
{
    missTurns<T><<<dim3(1), dim3(32)>>>(odata, idata, width, height);
}

KERNEL(missTurns, "-", copies, launchMissTurns)

// Lane l of block b stores to word b + width + l * stride of its tile. The stride is 1 up to block 19:
// no conflicts. From then on it is 2, but 4 in every third block, first in block 21.
template <typename T>
__global__ void meetInBanks(T* odata, const T*, int width, int)
{
    __shared__ T tile[256];
    const unsigned b = blockIdx.x, stride = b < 20 ? 1 : b % 3 ? 2 : 4;
    tile[b + width + threadIdx.x * stride] = 1;
    odata[b * 32 + threadIdx.x] = 0;
}

template <typename T>
void launchMeetInBanks(T* odata, const T* idata, int width, int height)
{
    meetInBanks<T><<<dim3(96), dim3(32)>>>(odata, idata, width, height);
}

KERNEL(meetInBanks, "-", copies, launchMeetInBanks)

// A second array, declared when the lanes have already met in the first.
template <typename T>
__global__ void declareLate(T* odata, const T*, int, int)
{
    __shared__ T early[64];
    early[threadIdx.x * 2] = 1;
    __syncthreads();
    __shared__ T late[64];
    late[threadIdx.x * 2] = 2;
    odata[threadIdx.x] = 0;
}

template <typename T>
void launchDeclareLate(T* odata, const T* idata, int width, int height)
{
    declareLate<T><<<dim3(1), dim3(32)>>>(odata, idata, width, height);
}

KERNEL(declareLate, "-", copies, launchDeclareLate)

// Half of the threads return before the barrier that the others wait at.
template <typename T>
__global__ void leaveEarly(T* odata, const T* idata, int, int)
{
    if (threadIdx.x >= 32) return;
    __syncthreads();
    odata[threadIdx.x] = idata[threadIdx.x];
}

template <typename T>
void launchLeaveEarly(T* odata, const T* idata, int width, int height)
{
    leaveEarly<T><<<dim3(1), dim3(64)>>>(odata, idata, width, height);
}

KERNEL(leaveEarly, "-", copies, launchLeaveEarly)

// Each thread loads `width` elements: more than any record has room for at the start.
template <typename T>
__global__ void manyAccesses(T* odata, const T* idata, int width, int)
{
    for (int i = 0; i < width; ++i) odata[threadIdx.x] = idata[i];
}

template <typename T>
void launchManyAccesses(T* odata, const T* idata, int width, int height)
{
    manyAccesses<T><<<dim3(1), dim3(32)>>>(odata, idata, width, height);
}

KERNEL(manyAccesses, "-", copies, launchManyAccesses)

// Each thread copies its element `height` times over. Who stores twice may have raced, so the simulator takes a closer
// look at the pass.
template <typename T>
__global__ void copyAgain(T* odata, const T* idata, int width, int height)
{
    for (int i = 0; i < height; ++i)
        for (int row = 0; row < height; ++row) {
            const size_t at = size_t(row) * width + threadIdx.x;
            odata[at] = idata[at];
        }
}

template <typename T>
void launchCopyAgain(T* odata, const T* idata, int width, int height)
{
    copyAgain<T><<<dim3(1), dim3(width)>>>(odata, idata, width, height);
}

KERNEL(copyAgain, "-", copies, launchCopyAgain)

// Four warps add their elements to one, in global and in shared memory. Three stores of one lane give the sums.
template <typename T>
__global__ void addAll(T* odata, const T* idata, int, int)
{
    __shared__ T all;
    if (threadIdx.x == 0) {
        all = 0;
        odata[0] = 0;
    }
    __syncthreads();
    const T mine = idata[threadIdx.x];
    atomicAdd(&odata[0], mine);
    atomicAdd(&all, mine);
    __syncthreads();
    if (threadIdx.x == 0) odata[1] = all;
}

template <typename T>
void launchAddAll(T* odata, const T* idata, int width, int height)
{
    addAll<T><<<dim3(1), dim3(128)>>>(odata, idata, width, height);
}

KERNEL(addAll, "-", copies, launchAddAll)
