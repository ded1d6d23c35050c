// Elements moved as something else: vectors, structs, words, bytes.

#include "unusual.h"

// One thread per element, in the order of memory.
template <auto kernel, typename T>
void launchAlong(T* odata, const T* idata, int width, int height)
{
    kernel<<<pieces(size_t(width) * height, THREADS), THREADS>>>(odata, idata, width, height);
}

// These take over where rows do not begin at whole vectors. There is one for each kernel, because two
// kernels of a program must not make the same launch.
template <typename T, int instead_of>
__global__ void plainCopy(T* odata, const T* idata, int width, int height)
{
    const size_t i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < size_t(width) * height) odata[i] = idata[i];
}

template <typename T, int instead_of>
__global__ void plainTranspose(T* odata, const T* idata, int width, int height)
{
    const size_t i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < size_t(width) * height) odata[i % width * height + i / width] = idata[i];
}

// float4, whatever the elements are. The elements behind the last whole vector follow one by one.
TRANSPOSING(asFloat4)
{
    constexpr int N = 16 / sizeof(T);
    const size_t n = size_t(width) * height, vectors = n / N, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < vectors) reinterpret_cast<float4*>(odata)[i] = reinterpret_cast<const float4*>(idata)[i];
    if (i < n - vectors * N) odata[vectors * N + i] = idata[vectors * N + i];
}

KERNEL(asFloat4, "-", copies, launchAlong<asFloat4<T>>)

// double2, in a grid-stride loop.
TRANSPOSING(asDouble2)
{
    const size_t vectors = size_t(width) * height * sizeof(T) / 16;
    const double2* from = reinterpret_cast<const double2*>(idata);
    double2* to = reinterpret_cast<double2*>(odata);
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += size_t(gridDim.x) * blockDim.x) {
        const double2 both = from[i];
        to[i].x = both.x;
        to[i].y = both.y;
    }
}

LAUNCHER(launchDouble2)
{
    const size_t n = size_t(width) * height;
    if (n * sizeof(T) % 16 == 0) asDouble2<T><<<7, 64>>>(odata, idata, width, height);
    else plainCopy<T, 1><<<pieces(n, THREADS), THREADS>>>(odata, idata, width, height);
}

KERNEL(asDouble2, "-", copies, launchDouble2)

// int4 through the read-only path, and put together anew.
TRANSPOSING(asInt4)
{
    const size_t vectors = size_t(width) * height * sizeof(T) / 16, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= vectors) return;
    const int4 v = __ldg(reinterpret_cast<const int4*>(idata) + i);
    reinterpret_cast<int4*>(odata)[i] = make_int4(v.x, v.y, v.z, v.w);
}

LAUNCHER(launchInt4)
{
    const size_t n = size_t(width) * height;
    if (n * sizeof(T) % 16 == 0) asInt4<T><<<pieces(n, THREADS), THREADS>>>(odata, idata, width, height);
    else plainCopy<T, 2><<<pieces(n, THREADS), THREADS>>>(odata, idata, width, height);
}

KERNEL(asInt4, "-", copies, launchInt4)

// A struct that sets its alignment. Each thread transposes a square of N x N elements.
template <typename T>
struct alignas(16) Sixteen {
    T element[16 / sizeof(T)];
};

TRANSPOSING(asOwnStruct)
{
    constexpr int N = 16 / sizeof(T);
    const int x = (blockIdx.x * 16 + threadIdx.x) * N, y = (blockIdx.y * 8 + threadIdx.y) * N;
    if (x >= width || y >= height) return;

    Sixteen<T> in[N], out[N];
    for (int r = 0; r < N; ++r) in[r] = *reinterpret_cast<const Sixteen<T>*>(idata + size_t(y + r) * width + x);
    for (int r = 0; r < N; ++r)
        for (int c = 0; c < N; ++c) out[c].element[r] = in[r].element[c];
    for (int c = 0; c < N; ++c) *reinterpret_cast<Sixteen<T>*>(odata + size_t(x + c) * height + y) = out[c];
}

LAUNCHER(launchOwnStruct)
{
    constexpr int N = 16 / sizeof(T);
    if (width % N == 0 && height % N == 0)
        asOwnStruct<T>
            <<<dim3(pieces(width, 16 * N), pieces(height, 8 * N)), dim3(16, 8)>>>(odata, idata, width, height);
    else
        plainTranspose<T, 1><<<pieces(size_t(width) * height, THREADS), THREADS>>>(odata, idata, width, height);
}

KERNEL(asOwnStruct, "-", transposes, launchOwnStruct)

// Pairs in shared memory, stored as pairs and loaded as elements.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
    T first, second;
};

TRANSPOSING(pairsInShared)
{
    __shared__ Pair<T> pairs[TILE_DIM][TILE_DIM / 2];
    const T* const elements = &pairs[0][0].first;
    const int left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM, t = threadIdx.x;

    for (int i = t; i < TILE_DIM * TILE_DIM / 2; i += THREADS) {
        const int r = i / (TILE_DIM / 2), c = i % (TILE_DIM / 2);
        if (left + 2 * c < width && top + r < height)
            pairs[r][c] = *reinterpret_cast<const Pair<T>*>(&idata[size_t(top + r) * width + left + 2 * c]);
    }
    __syncthreads();
    for (int i = t; i < TILE_DIM * TILE_DIM; i += THREADS) {
        const int r = i % TILE_DIM, c = i / TILE_DIM;
        if (left + c < width && top + r < height)
            odata[size_t(left + c) * height + top + r] = elements[r * TILE_DIM + c];
    }
}

LAUNCHER(launchPairsInShared)
{
    if (width % 2 == 0)
        pairsInShared<T>
            <<<dim3(pieces(width, TILE_DIM), pieces(height, TILE_DIM)), THREADS>>>(odata, idata, width, height);
    else
        plainTranspose<T, 2><<<pieces(size_t(width) * height, THREADS), THREADS>>>(odata, idata, width, height);
}

KERNEL(pairsInShared, "-", transposes, launchPairsInShared)

// Vectors in shared memory, one behind the other, and elements of them by a cast.
TRANSPOSING(vectorsInShared)
{
    constexpr int N = 16 / sizeof(T);
    __shared__ float4 vectors[THREADS];
    const T* const elements = reinterpret_cast<const T*>(vectors);
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS * N;

    if (first + threadIdx.x * N < n)
        vectors[threadIdx.x] = *reinterpret_cast<const float4*>(idata + first + threadIdx.x * N);
    __syncthreads();
    for (int k = 0; k < N; ++k) {
        const int i = k * THREADS + threadIdx.x;
        if (first + i < n) odata[first + i] = elements[i];
    }
}

LAUNCHER(launchVectorsInShared)
{
    constexpr int N = 16 / sizeof(T);
    const size_t n = size_t(width) * height;
    if (n % N == 0) vectorsInShared<T><<<pieces(n, THREADS * N), THREADS>>>(odata, idata, width, height);
    else plainCopy<T, 3><<<pieces(n, THREADS), THREADS>>>(odata, idata, width, height);
}

KERNEL(vectorsInShared, "-", copies, launchVectorsInShared)

// Elements by memcpy, through a tile.
TRANSPOSING(elementsByMemcpy)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    const int left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM, c = threadIdx.x;

    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (left + c < width && top + r < height)
            memcpy(&tile[r][c], &idata[size_t(top + r) * width + left + c], sizeof(T));
    __syncthreads();
    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (top + c < height && left + r < width)
            memcpy(&odata[size_t(left + r) * height + top + c], &tile[c][r], sizeof(T));
}

LAUNCHER(launchElementsByMemcpy)
{
    dim3 grid(pieces(width, TILE_DIM), pieces(height, TILE_DIM));
    elementsByMemcpy<T><<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(elementsByMemcpy, "-", transposes, launchElementsByMemcpy)

// Up to eight elements by one memcpy, whose size is known at run time only, by way of an array of
// the thread's own.
TRANSPOSING(eightByMemcpy)
{
    const size_t n = size_t(width) * height, i = 8 * (size_t(blockIdx.x) * THREADS + threadIdx.x);
    if (i >= n) return;
    const size_t count = n - i < 8 ? n - i : 8;
    T eight[8];
    memcpy(eight, idata + i, count * sizeof(T));
    memcpy(odata + i, eight, count * sizeof(T));
}

LAUNCHER(launchEightByMemcpy)
{
    eightByMemcpy<T><<<pieces(size_t(width) * height, 8 * THREADS), THREADS>>>(odata, idata, width, height);
}

KERNEL(eightByMemcpy, "-", copies, launchEightByMemcpy)

// Words of four bytes: one of a float, two of a double.
TRANSPOSING(asWords)
{
    constexpr int WORDS = sizeof(T) / sizeof(unsigned);
    const size_t i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= size_t(width) * height) return;
    const unsigned* from = reinterpret_cast<const unsigned*>(idata + i);
    unsigned* to = reinterpret_cast<unsigned*>(odata + i % width * height + i / width);
    for (int w = 0; w < WORDS; ++w) to[w] = from[w];
}

KERNEL(asWords, "-", transposes, launchAlong<asWords<T>>)

// Bytes: a thread for each, lanes side by side.
TRANSPOSING(asBytes)
{
    const size_t bytes = size_t(width) * height * sizeof(T), i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < bytes) reinterpret_cast<unsigned char*>(odata)[i] = reinterpret_cast<const unsigned char*>(idata)[i];
}

LAUNCHER(launchBytes)
{
    asBytes<T><<<pieces(size_t(width) * height * sizeof(T), 256), 256>>>(odata, idata, width, height);
}

KERNEL(asBytes, "-", copies, launchBytes)

// A tile of bytes in shared memory: each element is taken apart and put together.
TRANSPOSING(asBytesInShared)
{
    __shared__ unsigned char planes[sizeof(T)][THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const size_t mirror = size_t(blockIdx.x) * THREADS + THREADS - 1 - threadIdx.x;

    if (i < n) {
        const T element = idata[i];
        for (unsigned b = 0; b < sizeof(T); ++b)
            planes[b][threadIdx.x] = reinterpret_cast<const unsigned char*>(&element)[b];
    }
    __syncthreads();
    if (mirror < n) {
        T element;
        for (unsigned b = 0; b < sizeof(T); ++b)
            reinterpret_cast<unsigned char*>(&element)[b] = planes[b][THREADS - 1 - threadIdx.x];
        odata[mirror] = element;
    }
}

KERNEL(asBytesInShared, "-", copies, launchAlong<asBytesInShared<T>>)

// A thread's own array, filled in one order and emptied in another, both known at run time only.
TRANSPOSING(ownArray)
{
    T own[8];
    const int x = blockIdx.x * 64 + threadIdx.x, top = blockIdx.y * 8;
    if (x >= width) return;
    const int rows = min(8, height - top), shift = x % rows;

    for (int k = 0; k < rows; ++k) own[(k + shift) % rows] = idata[size_t(top + k) * width + x];
    for (int k = rows - 1; k >= 0; --k) odata[size_t(x) * height + top + k] = own[(k + shift) % rows];
}

LAUNCHER(launchOwnArray)
{
    ownArray<T><<<dim3(pieces(width, 64), pieces(height, 8)), 64>>>(odata, idata, width, height);
}

KERNEL(ownArray, "-", transposes, launchOwnArray)
