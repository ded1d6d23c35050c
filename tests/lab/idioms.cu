// The stand-in's solution in all that students write: what the reader of an older version refused, and names of
// headers.
#include <cstdint>
#include "../common/step.h"
#include <cuda_runtime.h>

#define B 32
#define SQUARE(x) ((x) * (x))
#define INSIDE(x, y, w, h) \
    ((x) < (w) && (y) < (h))
#undef SQUARE
const int TILE_DIM = B;
static constexpr int BLOCK_ROWS = 8, MANY = 1'000'000;
enum { LANES = 32 };
enum class Way { in, out };
typedef unsigned int index_t;
using number = int;
static_assert(TILE_DIM == LANES, "a warp fills a row");
__constant__ int HALF[4] = {0, 1, 2, 3};

struct Place {
    number r, c;
    __device__ __forceinline__ int swizzled() const { return c ^ r; }
    __device__ Place turned() const { return {c, r}; }
};

union Bits {
    float as_float;
    unsigned as_bits;
};

namespace tiles {
template <class U, int ROWS = BLOCK_ROWS>
struct Tile {
    U element[TILE_DIM][TILE_DIM];
    __device__ U& operator()(Place p) { return element[p.r][p.swizzled()]; }
    static constexpr int rows = ROWS;
};
}

template <class U>
__device__ __noinline__ U remove(U const* __restrict p) { return __ldg(p); }

template <typename T>
__device__ T& at(T (&tile)[4], int i) { return tile[i]; }

template <class T>
__global__ void __launch_bounds__(TILE_DIM* BLOCK_ROWS)
    transposeSwizzle(T* __restrict__ odata, const T* __restrict__ idata, const int width, const int height)
{
    __shared__ tiles::Tile<T> run;
    volatile int launch = 0;
    const auto block = blockIdx;
    const index_t lane = threadIdx.x % warpSize;
    int held[2] = {int(min(threadIdx.x, 31u)), max(0, int(threadIdx.y))}, written = 0;
    auto write = [&](int x, int y) -> T& { return odata[(size_t)y * height + x]; };
    T some[4];
    Bits bits;
    bits.as_float = 1.0f;
    at(some, HALF[1]) = T(bits.as_bits == 0x3f800000u ? 0 : 1);

    int x = block.x * TILE_DIM + held[0], y = block.y * TILE_DIM + held[1];
#pragma unroll TILE_DIM / BLOCK_ROWS
    for (int j = 0; j < TILE_DIM; j += tiles::Tile<T>::rows) {
        T value = INSIDE(x, y + j, width, height) ? idata[(y + j) * (size_t)width + x] : some[1];
        value = __shfl_xor_sync(0xffffffffu, __shfl_xor_sync(0xffffffffu, value, 1), 1);
        if (x < width and y + j < height) run({int(threadIdx.y) + j, int(lane)}) = value;
    }
    __syncthreads();
    x = block.y * TILE_DIM + threadIdx.x;
    y = block.x * TILE_DIM + threadIdx.y;
    do {
        const Place p{int(threadIdx.x), int(threadIdx.y) + written};
        switch (Way::out) {
            case Way::in: break;
            case Way::out:
                if (x < height && y + written < width) write(x, y + written) = run(p);
        }
        written += BLOCK_ROWS;
    } while (written < TILE_DIM);
    if (launch > MANY) *(T*)(void*)odata = remove((const T*)idata), odata[0] += idata[0];
}

constexpr int tiles_across(int n) { return (n + TILE_DIM - 1) / TILE_DIM; }
template <class T>
constexpr int BYTES = sizeof(T);

template <class T>
void launchSwizzle(T* odata, const T* idata, int width, int height)
{
    const auto tiles_of = dim3(tiles_across(width), (height + TILE_DIM - 1) / TILE_DIM);
    bool whole = tiles_across(width) * tiles_across(height) > 0 && BYTES<T> * 2 > (int)sizeof(T) * 1 &&
                 (size_t)width * height > 0;
    if (!whole && tiles_across(width) && BYTES<T> & 3) return;
    transposeSwizzle<<<tiles_of, dim3(TILE_DIM, BLOCK_ROWS), 0>>>(odata, idata, width, height);
}

KERNEL(transposeSwizzle, "-", transposes, launchSwizzle)
