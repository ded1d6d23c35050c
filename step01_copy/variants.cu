// Step 1, variants: what a copy's speed depends on.
//
//   make step01 && ./step01 --all
//
// Copies by rows, by columns and in another order, with several elements per thread, in vectors and in loops. Sums
// of vectors that are aligned, misaligned or one element for all lanes, with a factor in global or in constant
// memory. A kernel that does nothing, and copies between host and device.

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

// Lanes down a column: both sides of the copy are strided, with 32 sectors for each load and store.
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

// Neighbouring lanes exchange their elements: the same 32 of a warp, in another order.
template <typename T>
__global__ void copyPermuted(T* odata, const T* idata, int width, int height)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) ^ 1;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height)
        odata[size_t(y) * width + x] = idata[size_t(y) * width + x];
}

template <typename T>
void launchCopyPermuted(T* odata, const T* idata, int width, int height)
{
    copyPermuted<T><<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(odata, idata, width, height);
}

KERNEL(copyPermuted, "-", copies, launchCopyPermuted)

constexpr int UNROLL = 4;  // elements per thread

// Each thread copies four elements, a block's width apart. The compiler must not move the second load ahead of the
// first store, because the store may change what is loaded.
template <typename T>
__global__ void copyRowUnrolled(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    for (int k = 0; k < UNROLL; ++k, x += blockDim.x)
        if (x < width && y < height)
            odata[size_t(y) * width + x] = idata[size_t(y) * width + x];
}

template <typename T>
void launchCopyRowUnrolled(T* odata, const T* idata, int width, int height, dim3 block)
{
    dim3 grid((width + block.x * UNROLL - 1) / (block.x * UNROLL), (height + block.y - 1) / block.y);
    copyRowUnrolled<T><<<grid, block>>>(odata, idata, width, height);
}

BLOCK_KERNEL(copyRowUnrolled, "-", copies, launchCopyRowUnrolled, 32, 32)

// The same with a promise: no store through odata changes what is loaded through idata. All four loads may go first.
template <typename T>
__global__ void copyRowRestrict(T* __restrict__ odata, const T* __restrict__ idata, int width, int height)
{
    int x = blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    for (int k = 0; k < UNROLL; ++k, x += blockDim.x)
        if (x < width && y < height)
            odata[size_t(y) * width + x] = idata[size_t(y) * width + x];
}

template <typename T>
void launchCopyRowRestrict(T* odata, const T* idata, int width, int height, dim3 block)
{
    dim3 grid((width + block.x * UNROLL - 1) / (block.x * UNROLL), (height + block.y - 1) / block.y);
    copyRowRestrict<T><<<grid, block>>>(odata, idata, width, height);
}

BLOCK_KERNEL(copyRowRestrict, "-", copies, launchCopyRowRestrict, 32, 32)

// A fixed number of threads. Each goes on to the element that lies a grid further down.
constexpr int LOOP_BLOCKS = 512, LOOP_THREADS = 512;

template <typename T>
__global__ void copyLooping1D(T* odata, const T* idata, size_t n)
{
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        odata[i] = idata[i];
}

template <typename T>
void launchCopyLooping1D(T* odata, const T* idata, int width, int height)
{
    copyLooping1D<T><<<LOOP_BLOCKS, LOOP_THREADS>>>(odata, idata, size_t(width) * height);
}

KERNEL(copyLooping1D, "book 17.6", copies, launchCopyLooping1D)

// The same in two dimensions: 32 x 16 blocks of 32 x 16 threads.
template <typename T>
__global__ void copyLooping2D(T* odata, const T* idata, int width, int height)
{
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += gridDim.x * blockDim.x)
            odata[size_t(y) * width + x] = idata[size_t(y) * width + x];
}

template <typename T>
void launchCopyLooping2D(T* odata, const T* idata, int width, int height)
{
    copyLooping2D<T><<<dim3(32, 16), dim3(32, 16)>>>(odata, idata, width, height);
}

KERNEL(copyLooping2D, "book 17.6", copies, launchCopyLooping2D)

// Four elements in one access, as in char4 and float4. Of wider types, as many as fit into 16 bytes.
template <typename T> constexpr int WIDE = sizeof(T) <= 4 ? 4 : 16 / sizeof(T);

template <typename T>
struct alignas(WIDE<T> * sizeof(T)) Wide {
    T element[WIDE<T>];
};

template <typename T>
__global__ void copyVector(T* odata, const T* idata, size_t n)
{
    size_t first = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * WIDE<T>;

    if (first + WIDE<T> <= n)
        *reinterpret_cast<Wide<T>*>(&odata[first]) = *reinterpret_cast<const Wide<T>*>(&idata[first]);
    else
        for (size_t i = first; i < n; ++i)
            odata[i] = idata[i];
}

template <typename T>
void launchCopyVector(T* odata, const T* idata, int width, int height)
{
    size_t n = size_t(width) * height, elements = 256 * WIDE<T>;
    copyVector<T><<<unsigned((n + elements - 1) / elements), 256>>>(odata, idata, n);
}

KERNEL(copyVector, "book 17.6", copies, launchCopyVector)

// Sums of two vectors. idata holds x and, right after it, y. odata is z.

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

// All lanes read one element: one sector for the warp, of which it uses 4 bytes.
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

// A factor that is the same for all lanes. In global memory it costs each warp one more request, for one element.
__device__ int scale = 1;

template <typename T>
__global__ void addScaled(T* z, const T* x, const T* y, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        z[i] = T(scale) * x[i] + y[i];
}

template <typename T>
void launchAddScaled(T* odata, const T* idata, int width, int height)
{
    size_t n = size_t(width) * height;
    dim3 grid((n + ADD_THREADS - 1) / ADD_THREADS);
    addScaled<T><<<grid, ADD_THREADS>>>(odata, idata, idata + n, n);
}

KERNEL(addScaled, "-", adds, launchAddScaled)

// The same factor in constant memory, whose cache hands one word to all lanes.
__constant__ int constantScale = 1;

template <typename T>
__global__ void addScaledConstant(T* z, const T* x, const T* y, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        z[i] = T(constantScale) * x[i] + y[i];
}

template <typename T>
void launchAddScaledConstant(T* odata, const T* idata, int width, int height)
{
    size_t n = size_t(width) * height;
    dim3 grid((n + ADD_THREADS - 1) / ADD_THREADS);
    addScaledConstant<T><<<grid, ADD_THREADS>>>(odata, idata, idata + n, n);
}

KERNEL(addScaledConstant, "-", adds, launchAddScaledConstant)

// A factor for each lane. Lanes that load different words of constant memory take turns.
__constant__ int constantScales[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

template <typename T>
__global__ void addScaledByLane(T* z, const T* x, const T* y, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        z[i] = T(constantScales[threadIdx.x % 32]) * x[i] + y[i];
}

template <typename T>
void launchAddScaledByLane(T* odata, const T* idata, int width, int height)
{
    size_t n = size_t(width) * height;
    dim3 grid((n + ADD_THREADS - 1) / ADD_THREADS);
    addScaledByLane<T><<<grid, ADD_THREADS>>>(odata, idata, idata + n, n);
}

KERNEL(addScaledByLane, "-", adds, launchAddScaledByLane)

// Does nothing, so its time is that of a launch.
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

// Copies in one direction. The device reads pinned memory directly; the driver copies other
// memory to a pinned buffer first.
TRANSFER(hostToDevice, "B10", to_device, false)
TRANSFER(deviceToHost, "B10", to_host, false)
TRANSFER(hostToDevicePinned, "B10", to_device, true)
TRANSFER(deviceToHostPinned, "B10", to_host, true)
