// Step 1, variants: what a copy's speed depends on.
//
//   make step01 && ./step01 --all
//
// By rows and by columns; aligned, misaligned and one element for all; and what it costs to
// get there: the launch of a kernel, the way from the host's memory and back.

#include "../common/step.h"

// Lanes along a row, one thread per element: a warp reads and writes 32 neighbours.
template <typename T>
__global__ void copyRow(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height)
        odata[size_t(y) * width + x] = idata[size_t(y) * width + x];
}

template <typename T>
void launchCopyRow(T* odata, const T* idata, int width, int height, dim3 block)
{
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    copyRow<T><<<grid, block>>>(odata, idata, width, height);
}

BLOCK_KERNEL(copyRow, "F1", copies, launchCopyRow, 32, 32)

// Lanes down a column: both sides of the copy are strided. No transpose need be slower.
template <typename T>
__global__ void copyCol(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(y) * width + x] = idata[size_t(y) * width + x];
}

template <typename T>
void launchCopyCol(T* odata, const T* idata, int width, int height, dim3 block)
{
    dim3 grid((height + block.x - 1) / block.x, (width + block.y - 1) / block.y);
    copyCol<T><<<grid, block>>>(odata, idata, width, height);
}

BLOCK_KERNEL(copyCol, "F2", copies, launchCopyCol, 32, 32)

// Sums of two vectors. idata is x and, right behind it, y; odata is z.

constexpr int ADD_THREADS = 256;

template <typename T>
__global__ void addAligned(T* z, const T* x, const T* y, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        z[i] = x[i] + y[i];
}

template <typename T>
void launchAddAligned(T* odata, const T* idata, int width, int height)
{
    size_t n = size_t(width) * height;
    dim3 grid((n + ADD_THREADS - 1) / ADD_THREADS);
    addAligned<T><<<grid, ADD_THREADS>>>(odata, idata, idata + n, n);
}

KERNEL(addAligned, "C1", adds, launchAddAligned)

// Every warp begins one element late, at 1, 33, 65, ...: its 32 floats lie in five sectors where
// four would do. (The first warp has element 0 alone.)
template <typename T>
__global__ void addMisaligned(T* z, const T* x, const T* y, size_t n)
{
    size_t late = size_t(blockIdx.x) * blockDim.x + threadIdx.x + 1;

    if (late >= 32 && late - 32 < n) {
        size_t i = late - 32;
        z[i] = x[i] + y[i];
    }
}

template <typename T>
void launchAddMisaligned(T* odata, const T* idata, int width, int height)
{
    size_t n = size_t(width) * height;
    dim3 grid((n + 31 + ADD_THREADS - 1) / ADD_THREADS);
    addMisaligned<T><<<grid, ADD_THREADS>>>(odata, idata, idata + n, n);
}

KERNEL(addMisaligned, "C1", adds, launchAddMisaligned)

// All lanes read one element: one sector for the warp, of which 4 bytes are asked for.
template <typename T>
__global__ void addBroadcast(T* z, const T* x, const T* y, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n) {
        T first = x[0];
        z[i] = first + y[i];
    }
}

template <typename T>
void launchAddBroadcast(T* odata, const T* idata, int width, int height)
{
    size_t n = size_t(width) * height;
    dim3 grid((n + ADD_THREADS - 1) / ADD_THREADS);
    addBroadcast<T><<<grid, ADD_THREADS>>>(odata, idata, idata + n, n);
}

KERNEL(addBroadcast, "C2", adds_first, launchAddBroadcast)

// Nothing at all: what is left is the launch.
template <typename T>
__global__ void emptyKernel(T*, const T*)
{
}

template <typename T>
void launchEmpty(T* odata, const T* idata, int, int)
{
    emptyKernel<T><<<1, 32>>>(odata, idata);
}

KERNEL(emptyKernel, "book 17.4", writes_nothing, launchEmpty)

// One way each. Pinned memory is where the device can fetch it by itself; from any other the
// driver copies it first.
TRANSFER(hostToDevice, "B10", to_device, false)
TRANSFER(deviceToHost, "B10", to_host, false)
TRANSFER(hostToDevicePinned, "B10", to_device, true)
TRANSFER(deviceToHostPinned, "B10", to_host, true)
