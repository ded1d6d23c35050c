// What was tried on the way to step 7: tiles of vectors of several shapes, in several orders, with several
// ways to load and to store; blocks with two tiles, and blocks that stay and fetch ahead; tiles of single
// elements, of every width; rows that begin anywhere; and plain copies, to see what can be hoped for. Not part of any
// step.
//
//   make trials && ./trials > trials.csv          (needs a GPU of compute capability 9.0)
//   ./trials char half                            (these element types alone)
//
// All trials of a matrix take turns; the median of each is reported, beside cudaMemcpy's, after its
// result was checked. Matrices are two plain allocations. Exits 3 on a CUDA error, 1 on a wrong result.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/card.h"
#include "bench/matrix.h"
#include "common/base/statistics.h"

// Sixteen bytes at a multiple of sixteen: one load or store moves them all.
template <typename T>
struct alignas(16) Vector {
    T element[16 / sizeof(T)];
    __device__ T& operator[](int i) { return element[i]; }
};

// Where the id-th block takes its tile. Down the columns of tiles, along the rows; through panels that are
// so many tile columns (rows) wide, across the panel first; down two columns at once that are so many
// columns apart; or down columns that step aside by so many columns after so many rows.
struct Order {
    enum Kind { columns, rows, column_panels, row_panels, apart, diagonal } kind = columns;
    unsigned size = 1, aside = 1;
};

__device__ void place(Order order, unsigned id, unsigned wide, unsigned high, unsigned& x, unsigned& y)
{
    const unsigned size = order.size;
    if (order.kind == Order::columns) y = id % high, x = id / high;
    if (order.kind == Order::rows) x = id % wide, y = id / wide;
    if (order.kind == Order::column_panels) {
        const unsigned number = id / (size * high), inside = id % (size * high),
                       width = min(size, wide - size * number);
        y = inside / width, x = size * number + inside % width;
    }
    if (order.kind == Order::row_panels) {
        const unsigned number = id / (size * wide), inside = id % (size * wide),
                       height = min(size, high - size * number);
        x = inside / height, y = size * number + inside % height;
    }
    if (order.kind == Order::apart) {
        const unsigned number = id / (2 * size * high), inside = id % (2 * size * high);
        y = inside / 2 % high, x = number * 2 * size + inside / 2 / high + inside % 2 * size;
    }
    if (order.kind == Order::diagonal) y = id % high, x = (id / high + y / size * order.aside) % wide;
}

// Ways to load a vector, and to store one.
enum Hint { plain, streaming, evict_first, evict_last, no_allocate, prefetch_128, prefetch_256, write_through };

template <Hint HINT, typename T>
__device__ Vector<T> load(const Vector<T>* from)
{
    if (HINT == plain) return *from;
    int4 v;
    if (HINT == streaming) v = __ldcs(reinterpret_cast<const int4*>(from));
    if (HINT == no_allocate)
        asm volatile("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(from));
    if (HINT == prefetch_128)
        asm volatile("ld.global.nc.L2::128B.v4.s32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(from));
    if (HINT == prefetch_256)
        asm volatile("ld.global.nc.L2::256B.v4.s32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(from));
    if (HINT == evict_first) {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("ld.global.nc.L2::cache_hint.v4.s32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(from), "l"(policy));
    }
    Vector<T> result;
    memcpy(&result, &v, sizeof v);
    return result;
}

template <Hint HINT, typename T>
__device__ void store(Vector<T>* to, const Vector<T>& value)
{
    int4 v;
    memcpy(&v, &value, sizeof v);
    if (HINT == plain) *to = value;
    if (HINT == streaming) __stcs(reinterpret_cast<int4*>(to), v);
    if (HINT == write_through) __stwt(reinterpret_cast<int4*>(to), v);
    if (HINT == evict_first || HINT == evict_last) {
        unsigned long long policy;
        if (HINT == evict_first) asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        else asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("st.global.L2::cache_hint.v4.s32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to), "r"(v.x), "r"(v.y),
                     "r"(v.z), "r"(v.w), "l"(policy)
                     : "memory");
    }
}

// A tile of VECTORS vectors x SQUARES groups of as many rows as a vector has elements: a thread's square is at
// column c, group r. Transposed, a group of rows begins one vector further than the one above ended: threads
// side by side meet in no bank.
template <typename T, int VECTORS, int SQUARES>
struct Tile {
    static constexpr int N = 16 / sizeof(T), WIDE = VECTORS * N, HIGH = SQUARES * N,
                         BYTES = (WIDE * SQUARES + VECTORS) * 16;

    template <Hint HINT = plain>
    static __device__ void load_square(Vector<T>* v, const T* idata, unsigned tile_x, unsigned tile_y, int width,
                                       int height)
    {
        const int x = tile_x * WIDE + threadIdx.x % VECTORS * N, y = tile_y * HIGH + threadIdx.x / VECTORS * N;
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (x < width && y + i < height)
                v[i] = load<HINT>(reinterpret_cast<const Vector<T>*>(idata + size_t(y + i) * width + x));
    }

    static __device__ Vector<T>* row(Vector<T>* tile, int x) { return tile + x * SQUARES + x / N; }

    static __device__ void turn(Vector<T>* tile, const Vector<T>* v)
    {
        const int c = threadIdx.x % VECTORS, r = threadIdx.x / VECTORS;
#pragma unroll
        for (int j = 0; j < N; ++j) {
            Vector<T> t;
#pragma unroll
            for (int i = 0; i < N; ++i) t[i] = const_cast<Vector<T>&>(v[i])[j];
            row(tile, c * N + j)[r] = t;
        }
    }

    template <Hint HINT = plain>
    static __device__ void store_square(T* odata, Vector<T>* tile, unsigned tile_x, unsigned tile_y, int width,
                                        int height)
    {
        const int c = threadIdx.x % SQUARES, r = threadIdx.x / SQUARES, x = tile_y * HIGH + c * N,
                  y = tile_x * WIDE + r * N;
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (x < height && y + i < width)
                store<HINT>(reinterpret_cast<Vector<T>*>(odata + size_t(y + i) * height + x), row(tile, r * N + i)[c]);
    }

    // One thread per row of the transposed tile has the copy engine of the SM write it.
    static __device__ void store_bulk(T* odata, Vector<T>* tile, unsigned tile_x, unsigned tile_y, int width,
                                      int height)
    {
        const int y = tile_x * WIDE + threadIdx.x, x = tile_y * HIGH;
        if (threadIdx.x < WIDE && y < width)
            asm volatile(
                "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(odata + size_t(y) * height + x),
                "r"(unsigned(__cvta_generic_to_shared(row(tile, threadIdx.x)))),
                "r"(min(HIGH, height - x) * int(sizeof(T)))
                : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
};

extern __shared__ __align__(128) char memory[];

template <typename T, int VECTORS, int SQUARES, Hint LOAD, Hint STORE, bool BULK>
__global__ void __launch_bounds__(VECTORS* SQUARES)
    oneTile(T* odata, const T* idata, int width, int height, Order order)
{
    using Tile = ::Tile<T, VECTORS, SQUARES>;
    Vector<T>* tile = reinterpret_cast<Vector<T>*>(memory);
    const unsigned wide = (width + Tile::WIDE - 1) / Tile::WIDE, high = (height + Tile::HIGH - 1) / Tile::HIGH;
    unsigned x = 0, y = 0;
    place(order, blockIdx.x, wide, high, x, y);
    if (x >= wide) return;
    Vector<T> v[Tile::N];
    Tile::template load_square<LOAD>(v, idata, x, y, width, height);
    Tile::turn(tile, v);
    // What the engine reads, it must see.
    if (BULK) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (BULK) Tile::store_bulk(odata, tile, x, y, width, height);
    else Tile::template store_square<STORE>(odata, tile, x, y, width, height);
}

// Two tiles, one below the other: all loads before anything else.
template <typename T>
__global__ void __launch_bounds__(256) twoTiles(T* odata, const T* idata, int width, int height)
{
    using Tile = ::Tile<T, 16, 16>;
    Vector<T>* tile = reinterpret_cast<Vector<T>*>(memory);
    const unsigned pairs = (height + 2 * Tile::HIGH - 1) / (2 * Tile::HIGH), x = blockIdx.x / pairs,
                   y = blockIdx.x % pairs * 2;
    Vector<T> v[2][Tile::N];
    for (int k : {0, 1}) Tile::load_square(v[k], idata, x, y + k, width, height);
    for (int k : {0, 1}) Tile::turn(tile + k * Tile::BYTES / 16, v[k]);
    __syncthreads();
    for (int k : {0, 1}) Tile::store_square(odata, tile + k * Tile::BYTES / 16, x, y + k, width, height);
}

// Blocks that stay: the next tile is on its way while this one is written.
template <typename T>
__global__ void __launch_bounds__(256, 4) fetchAhead(T* odata, const T* idata, int width, int height)
{
    using Tile = ::Tile<T, 16, 16>;
    const unsigned wide = (width + Tile::WIDE - 1) / Tile::WIDE, high = (height + Tile::HIGH - 1) / Tile::HIGH;
    Vector<T> v[Tile::N];
    unsigned id = blockIdx.x;
    if (id < wide * high) Tile::load_square(v, idata, id / high, id % high, width, height);
    for (int turn = 0; id < wide * high; id += gridDim.x, turn ^= 1) {
        Vector<T>* tile = reinterpret_cast<Vector<T>*>(memory) + turn * Tile::BYTES / 16;
        Tile::turn(tile, v);
        __syncthreads();
        const unsigned next = id + gridDim.x;
        if (next < wide * high) Tile::load_square(v, idata, next / high, next % high, width, height);
        Tile::store_square(odata, tile, id / high, id % high, width, height);
    }
}

// Single elements in a padded tile of HIGH x WIDE: a warp takes a row of the tile on both sides, all loads of a
// thread come first, and blocks go down so many columns of tiles at once, as far apart as they can be.
template <typename T, int WIDE, int HIGH, int WARPS>
__global__ void __launch_bounds__(32 * WARPS) elements(T* odata, const T* idata, int width, int height, int columns)
{
    constexpr int PAD = sizeof(T) <= 4 ? 4 / sizeof(T) : 1;
    T(*tile)[WIDE + PAD] = reinterpret_cast<T(*)[WIDE + PAD]>(memory);
    const int left = (blockIdx.y + blockIdx.x % columns * gridDim.y) * WIDE, top = blockIdx.x / columns * HIGH;
    T v[HIGH / WARPS][WIDE / 32];
#pragma unroll
    for (int j = 0; j < HIGH / WARPS; ++j)
#pragma unroll
        for (int i = 0; i < WIDE / 32; ++i) {
            const int x = left + threadIdx.x + 32 * i, y = top + threadIdx.y + j * WARPS;
            if (x < width && y < height) v[j][i] = idata[size_t(y) * width + x];
        }
#pragma unroll
    for (int j = 0; j < HIGH / WARPS; ++j)
#pragma unroll
        for (int i = 0; i < WIDE / 32; ++i) tile[threadIdx.y + j * WARPS][threadIdx.x + 32 * i] = v[j][i];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < WIDE / WARPS; ++j)
#pragma unroll
        for (int i = 0; i < HIGH / 32; ++i) {
            const int x = top + threadIdx.x + 32 * i, y = left + threadIdx.y + j * WARPS;
            if (x < height && y < width)
                odata[size_t(y) * height + x] = tile[threadIdx.x + 32 * i][threadIdx.y + j * WARPS];
        }
}

// Vectors of BYTES in a tile of ACROSS x ACROSS of them; a thread turns a square of single elements.
template <typename T, int BYTES, int ACROSS>
__global__ void __launch_bounds__(ACROSS* ACROSS) squares(T* odata, const T* idata, int width, int height)
{
    constexpr int N = BYTES / sizeof(T), DIM = ACROSS * N;
    struct alignas(BYTES) Vector {
        T element[N];
    };
    Vector(*tile)[ACROSS] = reinterpret_cast<Vector(*)[ACROSS]>(memory);
    const int left = blockIdx.y * DIM, top = blockIdx.x * DIM;
    int x = left + threadIdx.x * N, y = top + threadIdx.y * N;
    Vector in[N];
#pragma unroll
    for (int i = 0; i < N; ++i)
        if (x < width && y + i < height) in[i] = *reinterpret_cast<const Vector*>(idata + size_t(y + i) * width + x);
#pragma unroll
    for (int j = 0; j < N; ++j) {
        Vector out;
#pragma unroll
        for (int i = 0; i < N; ++i) out.element[i] = in[i].element[j];
        tile[threadIdx.x * N + j][threadIdx.y ^ threadIdx.x] = out;
    }
    __syncthreads();
    x = top + threadIdx.x * N, y = left + threadIdx.y * N;
#pragma unroll
    for (int i = 0; i < N; ++i)
        if (x < height && y + i < width)
            *reinterpret_cast<Vector*>(odata + size_t(y + i) * height + x) =
                tile[threadIdx.y * N + i][threadIdx.x ^ threadIdx.y];
}

// Units of BYTES, of elements of 1 and 2 bytes, wherever rows begin: a thread takes each unit of a square out of the
// two aligned ones that it lies in, turns the square in its registers, and stores units of the turned tile, put
// together again where rows of odata begin inside one. Rows of odata are cut where ALIGN bytes begin (0: where the tile
// does).
template <int BYTES>
using Bits = std::conditional_t<BYTES == 8, unsigned long long, unsigned>;

template <typename T, int BYTES>
struct alignas(BYTES) Unit {
    static constexpr int N = BYTES / sizeof(T);
    T element[N];
};

template <typename T, int BYTES>
__device__ Unit<T, BYTES> joined_at(const Bits<BYTES>* from, int inside)
{
    const Bits<BYTES> low = from[0], high = inside ? from[1] : 0;
    const int bits = inside * 8 * sizeof(T);
    const Bits<BYTES> both = inside ? low >> bits | high << (8 * BYTES - bits) : low;
    Unit<T, BYTES> unit;
    memcpy(&unit, &both, BYTES);
    return unit;
}

template <typename T, int BYTES, int WIDE, int HIGH, int ALIGN>
__global__ void __launch_bounds__(WIDE* HIGH / (BYTES / sizeof(T)) / (BYTES / sizeof(T)))
    units(T* odata, const T* idata, int width, int height)
{
    using U = Unit<T, BYTES>;
    constexpr int N = U::N, MORE = ALIGN / sizeof(T), STEP = HIGH - MORE, ROWS = HIGH / N, COLUMNS = WIDE / N,
                  THREADS = ROWS * COLUMNS;
    static_assert(STEP % N == 0 && MORE % N == 0);
    U(*tile)[N * ROWS + 1] = reinterpret_cast<U(*)[N * ROWS + 1]>(memory);
    const int left = blockIdx.y * WIDE, top = int(blockIdx.x) * STEP - MORE;
    const int x = left + threadIdx.x * N, y = top + threadIdx.y * N;
    U in[N];
    if (size_t(min(top + HIGH, height)) * width + 2 * N > size_t(width) * height + max(width - left - WIDE, 0)) {
        // The end of the matrix, which may lie inside a unit, is near.
#pragma unroll
        for (int k = 0; k < N; ++k)
#pragma unroll
            for (int l = 0; l < N; ++l)
                if (x + l < width && 0 <= y + k && y + k < height)
                    in[k].element[l] = idata[size_t(y + k) * width + x + l];
    } else {
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const size_t i = size_t(y + k) * width + x;
            if (x < width && 0 <= y + k && y + k < height)
                in[k] = joined_at<T, BYTES>(reinterpret_cast<const Bits<BYTES>*>(idata) + i / N, int(i % N));
        }
    }
#pragma unroll
    for (int k = 0; k < N; ++k) {
        U out;
#pragma unroll
        for (int l = 0; l < N; ++l) out.element[l] = in[l].element[k];
        tile[threadIdx.x][k * ROWS + threadIdx.y] = out;
    }
    __syncthreads();
    const int id = threadIdx.y * COLUMNS + threadIdx.x;
    for (int task = id; task < WIDE * (STEP / N); task += THREADS) {
        const int j = task / (STEP / N), i = task % (STEP / N) * N, to = left + j;
        if (to >= width) continue;
        const size_t row = size_t(to) * height;
        const int first = MORE ? MORE - int((row + size_t(top + MORE)) % max(MORE, 1)) : 0, at = top + first + i;
        const U out = joined_at<T, BYTES>(
            reinterpret_cast<const Bits<BYTES>*>(&tile[j / N][j % N * ROWS]) + (first + i) / N, (first + i) % N);
        if (0 <= at && at + N <= height) {
            *reinterpret_cast<U*>(&odata[row + at]) = out;
        } else {
#pragma unroll
            for (int k = 0; k < N; ++k)
                if (0 <= at + k && at + k < height) odata[row + at + k] = out.element[k];
        }
    }
}

// For rows that begin anywhere: single elements in a tile of HIGH x WIDE, every row of odata cut where
// ALIGN bytes begin (0: where the tile does), which takes up to ALIGN bytes more of the tile above;
// blocks along the rows or down the columns. WIDE x ROWS threads.
template <typename T, int ALIGN, int HIGH, int WIDE, int ROWS>
__global__ void __launch_bounds__(WIDE* ROWS) cut(T* odata, const T* idata, int width, int height, bool along_rows)
{
    constexpr int MORE = ALIGN / sizeof(T);
    T(*tile)[WIDE + 1] = reinterpret_cast<T(*)[WIDE + 1]>(memory);
    const int left = (along_rows ? blockIdx.x : blockIdx.y) * WIDE, top = (along_rows ? blockIdx.y : blockIdx.x) * HIGH;
    const int x = left + threadIdx.x;
#pragma unroll
    for (int j = 0; j < MORE + HIGH; j += ROWS) {
        const int row = j + threadIdx.y, y = top - MORE + row;
        if (row < MORE + HIGH && x < width && y >= 0 && y < height)
            tile[row][threadIdx.x] = idata[size_t(y) * width + x];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < WIDE; j += ROWS) {
        const size_t row = size_t(left + j) * height;
        const int back = MORE ? int((row + top) % max(MORE, 1)) : 0;
#pragma unroll
        for (int i = threadIdx.x; i < HIGH; i += WIDE) {
            const int to = top - back + i;
            if (left + j < width && to >= 0 && to < height) odata[row + to] = tile[MORE - back + i][j];
        }
    }
}

// The same tile of single elements as in `elements`, every row of odata cut where ALIGN bytes begin: tiles overlap by
// so many bytes. With LINES, each request of a load begins at a line of 128 bytes, and a row takes one request more.
template <typename T, int WIDE, int HIGH, int WARPS, int ALIGN, bool LINES>
__global__ void __launch_bounds__(32 * WARPS, LINES ? 64 / WARPS : 1)
    joined(T* odata, const T* idata, int width, int height)
{
    constexpr int MORE = ALIGN / sizeof(T), STEP = HIGH - MORE, LINE = 128 / sizeof(T);
    constexpr int REQUESTS = WIDE / 32 + LINES;  // for a row of the tile
    T(*tile)[WIDE + 1] = reinterpret_cast<T(*)[WIDE + 1]>(memory);
    const int left = blockIdx.y * WIDE, top = int(blockIdx.x) * STEP - MORE;
    constexpr int ROWS = (HIGH + WARPS - 1) / WARPS;  // of a thread; the last one where there are so many
    T v[ROWS][REQUESTS];
#pragma unroll
    for (int j = 0; j < ROWS; ++j)
#pragma unroll
        for (int i = 0; i < REQUESTS; ++i) {
            const int row = threadIdx.y + j * WARPS, y = top + row;
            const int back = LINES ? int((unsigned(y) * unsigned(width) + left) % LINE) : 0;
            const int column = int(threadIdx.x) + 32 * i - back, x = left + column;
            if ((!LINES || (column >= 0 && column < WIDE)) && x < width && row < HIGH && y >= 0 && y < height)
                v[j][i] = idata[size_t(y) * width + x];
        }
#pragma unroll
    for (int j = 0; j < ROWS; ++j)
#pragma unroll
        for (int i = 0; i < REQUESTS; ++i) {
            const int row = threadIdx.y + j * WARPS;
            const int back = LINES ? int((unsigned(top + row) * unsigned(width) + left) % LINE) : 0;
            const int column = int(threadIdx.x) + 32 * i - back;
            if ((!LINES || (column >= 0 && column < WIDE)) && row < HIGH) tile[row][column] = v[j][i];
        }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < WIDE / WARPS; ++j) {
        const int y = left + threadIdx.y + j * WARPS;
        const size_t row = size_t(y) * height;
        const int first = MORE - int((row + size_t(top + MORE)) % MORE);  // in the tile: 1 to MORE
#pragma unroll
        for (int i = threadIdx.x; i < STEP; i += 32) {
            const int x = top + first + i;
            if (x >= 0 && x < height && y < width) odata[row + x] = tile[first + i][threadIdx.y + j * WARPS];
        }
    }
}

// Plain copies: V vectors per thread, STRIDE threads' width apart.
template <int THREADS, int V, int STRIDE>
__global__ void copyVectors(int4* odata, const int4* idata)
{
    const size_t id = size_t(blockIdx.x) * THREADS + threadIdx.x, first = id / STRIDE * STRIDE * V + id % STRIDE;
    int4 v[V];
#pragma unroll
    for (int k = 0; k < V; ++k) v[k] = idata[first + k * STRIDE];
#pragma unroll
    for (int k = 0; k < V; ++k) odata[first + k * STRIDE] = v[k];
}

constexpr int passes = 4;  // per sample

struct Trial {
    std::string name;
    std::function<void()> run;
    bool transposes = true;
    std::vector<double> ms = {};
};

// What the trials of one matrix share.
template <typename T>
struct Matrix {
    std::vector<Trial>& trials;
    T* out;
    const T* in;
    int width, height;
    size_t bytes() const { return size_t(width) * height * sizeof(T); }
};

unsigned tiles_of(int width, int height, int wide, int high)
{
    return unsigned((width + wide - 1) / wide) * ((height + high - 1) / high);
}

template <typename T, int THREADS, int V, int STRIDE>
void add_copy(const Matrix<T>& m, const char* name)
{
    const unsigned blocks = m.bytes() / 16 / V / THREADS;
    if (m.bytes() % (16 * V * STRIDE) || m.bytes() % (16 * V * THREADS)) return;
    m.trials.push_back({name,
                        [=] {
                            copyVectors<THREADS, V, STRIDE><<<blocks, THREADS>>>(reinterpret_cast<int4*>(m.out),
                                                                                 reinterpret_cast<const int4*>(m.in));
                        },
                        false});
}

// `carveout`: of the memory that the L1 and shared memory share, per cent for the latter; -1: as the driver likes.
template <typename T, int VECTORS = 16, int SQUARES = 16, Hint LOAD = plain, Hint STORE = plain, bool BULK = false>
void add_tiles(const Matrix<T>& m, const std::string& name, Order order, int carveout = -1)
{
    using Tile = ::Tile<T, VECTORS, SQUARES>;
    const auto kernel = oneTile<T, VECTORS, SQUARES, LOAD, STORE, BULK>;
    CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::BYTES));
    const unsigned wide = (m.width + Tile::WIDE - 1) / Tile::WIDE, high = (m.height + Tile::HIGH - 1) / Tile::HIGH;
    const unsigned columns =
        order.kind == Order::apart ? (wide + 2 * order.size - 1) / (2 * order.size) * 2 * order.size : wide;
    m.trials.push_back({name, [=] {
        CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
        kernel<<<columns * high, VECTORS * SQUARES, Tile::BYTES>>>(m.out, m.in, m.width, m.height, order);
    }});
}

template <typename T, int VECTORS, int SQUARES>
void add_shape(const Matrix<T>& m)
{
    constexpr int N = 16 / sizeof(T);
    add_tiles<T, VECTORS, SQUARES>(m, "tile of " + std::to_string(VECTORS * N) + " x " + std::to_string(SQUARES * N),
                                   {});
}

// With `carveout` down one column at once; without, down one or two.
template <typename T, int WIDE, int HIGH, int WARPS>
void add_elements(const Matrix<T>& m, int carveout = -1)
{
    constexpr int PAD = sizeof(T) <= 4 ? 4 / sizeof(T) : 1, bytes = HIGH * (WIDE + PAD) * sizeof(T);
    const auto kernel = elements<T, WIDE, HIGH, WARPS>;
    CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int wide = (m.width + WIDE - 1) / WIDE, high = (m.height + HIGH - 1) / HIGH;
    for (int columns : {1, 2}) {
        if (carveout >= 0 && columns == 2) continue;
        m.trials.push_back(
            {"elements, " + std::to_string(WIDE) + " x " + std::to_string(HIGH) + ", " + std::to_string(WARPS) +
                 " warps" + (columns == 2 ? ", half a matrix apart" : "") +
                 (carveout >= 0 ? ", shared memory " + std::to_string(carveout) + " % of the L1" : ""),
             [=] {
                 CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
                 kernel<<<dim3(columns * high, (wide + columns - 1) / columns), dim3(32, WARPS), bytes>>>(
                     m.out, m.in, m.width, m.height, columns);
             }});
    }
}

template <typename T, int WIDE, int HIGH, int WARPS, int ALIGN, bool LINES = false>
void add_joined(const Matrix<T>& m)
{
    constexpr int MORE = ALIGN / sizeof(T), STEP = HIGH - MORE, bytes = HIGH * (WIDE + 1) * sizeof(T);
    const auto kernel = joined<T, WIDE, HIGH, WARPS, ALIGN, LINES>;
    CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int wide = (m.width + WIDE - 1) / WIDE, high = (m.height + MORE - 1 + STEP - 1) / STEP;
    m.trials.push_back({"elements, " + std::to_string(WIDE) + " x " + std::to_string(HIGH) + ", " +
                            std::to_string(WARPS) + " warps, cut at " + std::to_string(ALIGN) + " bytes" +
                            (LINES ? ", loads by lines" : ""),
                        [=] { kernel<<<dim3(high, wide), dim3(32, WARPS), bytes>>>(m.out, m.in, m.width, m.height); }});
}

template <typename T, int BYTES, int WIDE, int HIGH, int ALIGN>
void add_units(const Matrix<T>& m)
{
    constexpr int N = BYTES / sizeof(T), MORE = ALIGN / sizeof(T), STEP = HIGH - MORE,
                  bytes = WIDE / N * (HIGH + 1) * BYTES;
    if (!ALIGN && (m.width % N || m.height % N)) return;
    const auto kernel = units<T, BYTES, WIDE, HIGH, ALIGN>;
    CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int wide = (m.width + WIDE - 1) / WIDE, high = (m.height + std::max(MORE - 1, 0) + STEP - 1) / STEP;
    m.trials.push_back(
        {"units of " + std::to_string(BYTES) + " bytes, " + std::to_string(WIDE) + " x " + std::to_string(HIGH) +
             (ALIGN ? ", cut at " + std::to_string(ALIGN) + " bytes" : ""),
         [=] { kernel<<<dim3(high, wide), dim3(WIDE / N, HIGH / N), bytes>>>(m.out, m.in, m.width, m.height); }});
}

template <typename T, int BYTES, int ACROSS>
void add_squares(const Matrix<T>& m)
{
    constexpr int N = BYTES / sizeof(T), DIM = ACROSS * N, bytes = DIM * ACROSS * BYTES;
    if (m.width % N || m.height % N) return;
    const auto kernel = squares<T, BYTES, ACROSS>;
    CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int wide = (m.width + DIM - 1) / DIM, high = (m.height + DIM - 1) / DIM;
    m.trials.push_back(
        {"vectors of " + std::to_string(BYTES) + " bytes, " + std::to_string(DIM) + " x " + std::to_string(DIM),
         [=] { kernel<<<dim3(high, wide), dim3(ACROSS, ACROSS), bytes>>>(m.out, m.in, m.width, m.height); }});
}

template <typename T, int ALIGN, int HIGH, int WIDE, int ROWS>
void add_cuts(const Matrix<T>& m)
{
    constexpr int MORE = ALIGN / sizeof(T), bytes = (MORE + HIGH) * (WIDE + 1) * sizeof(T);
    CUDA(cudaFuncSetAttribute(cut<T, ALIGN, HIGH, WIDE, ROWS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const unsigned across = (m.width + WIDE - 1) / WIDE, down = (m.height + std::max(MORE - 1, 0) + HIGH - 1) / HIGH;
    for (bool along_rows : {false, true})
        m.trials.push_back({"cut, " + std::to_string(WIDE) + " x " + std::to_string(HIGH) + ", " +
                                std::to_string(WIDE * ROWS) + " threads, at " + std::to_string(ALIGN) + " bytes, " +
                                (along_rows ? "rows" : "columns"),
                            [=] {
                                const dim3 grid = along_rows ? dim3(across, down) : dim3(down, across);
                                cut<T, ALIGN, HIGH, WIDE, ROWS>
                                    <<<grid, dim3(WIDE, ROWS), bytes>>>(m.out, m.in, m.width, m.height, along_rows);
                            }});
}

template <typename T>
void add_vectors(const Matrix<T>& m)
{
    add_copy<T, 1024, 8, 1024>(m, "copy, 8 vectors of 1024 threads");
    add_copy<T, 256, 4, 256>(m, "copy, 4 vectors of 256 threads");
    add_copy<T, 256, 2, 256>(m, "copy, 2 vectors of 256 threads");
    add_copy<T, 256, 2, 16384>(m, "copy, 2 vectors of 256 threads, 256 kB apart");
    add_copy<T, 256, 1, 256>(m, "copy, 1 vector of 256 threads");

    constexpr int N = 16 / sizeof(T), DIM = 16 * N;
    const unsigned half = ((m.width + DIM - 1) / DIM + 1) / 2;
    const Order columns, rows{Order::rows}, half_apart{Order::apart, half};
    add_tiles(m, "columns", columns);
    add_tiles(m, "rows", rows);
    for (unsigned k : {2, 4, 8, 16, 32})
        add_tiles(m, std::to_string(k) + " columns at once", {Order::column_panels, k});
    for (unsigned k : {4, 8, 16, 32, 64}) add_tiles(m, std::to_string(k) + " rows at once", {Order::row_panels, k});
    for (unsigned k : {4, 16, 32, 64})
        add_tiles(m, "two columns at once, " + std::to_string(k) + " apart", {Order::apart, k});
    add_tiles(m, "two columns at once, half a matrix apart", half_apart);
    add_tiles(m, "diagonal", {Order::diagonal, 1});
    add_tiles(m, "diagonal, aside by 1 after 64", {Order::diagonal, 64, 1});
    add_tiles(m, "diagonal, aside by 32 after 64", {Order::diagonal, 64, 32});

    add_shape<T, 8, 8>(m);
    add_shape<T, 16, 8>(m);
    add_shape<T, 8, 16>(m);
    add_shape<T, 32, 8>(m);
    add_shape<T, 8, 32>(m);
    add_shape<T, 64, 4>(m);
    add_shape<T, 32, 16>(m);
    add_shape<T, 16, 32>(m);
    add_shape<T, 32, 32>(m);

    add_tiles<T, 16, 16, streaming>(m, "loads: streaming", columns);
    add_tiles<T, 16, 16, streaming, streaming>(m, "loads and stores: streaming", columns);
    add_tiles<T, 16, 16, no_allocate>(m, "loads: not kept in the L1", columns);
    add_tiles<T, 16, 16, evict_first>(m, "loads: first to leave the L2", columns);
    add_tiles<T, 16, 16, prefetch_128>(m, "loads: 128 bytes into the L2", columns);
    add_tiles<T, 16, 16, prefetch_256>(m, "loads: 256 bytes into the L2", columns);
    add_tiles<T, 16, 16, plain, write_through>(m, "stores: written through", columns);
    add_tiles<T, 16, 16, plain, evict_first>(m, "stores: first to leave the L2", columns);
    add_tiles<T, 16, 16, plain, evict_last>(m, "stores: last to leave the L2", columns);
    add_tiles<T, 16, 16, plain, plain, true>(m, "stores: in bulk", columns);
    add_tiles<T, 16, 16, plain, plain, true>(m, "stores: in bulk, half a matrix apart", half_apart);
    for (int carveout : {28, 43, 57, 100})
        add_tiles(m, "shared memory " + std::to_string(carveout) + " % of the L1", columns, carveout);

    using Square = Tile<T, 16, 16>;
    const unsigned pairs = tiles_of(m.width, m.height, DIM, 2 * DIM);
    m.trials.push_back({"two tiles per block",
                        [=] { twoTiles<T><<<pairs, 256, 2 * Square::BYTES>>>(m.out, m.in, m.width, m.height); }});
    int sms = 0;
    CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    for (int blocks : {3, 4, 5, 6})
        m.trials.push_back({"fetching ahead, " + std::to_string(blocks) + " blocks per SM", [=] {
                                fetchAhead<T><<<sms * blocks, 256, 2 * Square::BYTES>>>(m.out, m.in, m.width, m.height);
                            }});
}

template <typename T>
void measure(const char* type, int width, int height, int samples)
{
    const size_t n = size_t(width) * height, bytes = n * sizeof(T);
    T *in, *out;
    unsigned* wrong;
    CUDA(cudaMalloc(&in, bytes));
    CUDA(cudaMalloc(&out, bytes));
    CUDA(cudaMallocManaged(&wrong, sizeof *wrong));
    fill<<<1024, 256>>>(in, n);

    std::vector<Trial> trials;
    const Matrix<T> m{trials, out, in, width, height};
    trials.push_back({"cudaMemcpy", [=] { cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice); }, false});
    if constexpr (sizeof(T) == 1) {
        add_elements<T, 64, 256, 16>(m);
        add_elements<T, 128, 128, 16>(m);
        add_elements<T, 128, 256, 32>(m);
        add_elements<T, 256, 128, 16>(m);
        add_elements<T, 64, 64, 16>(m);
        add_elements<T, 64, 128, 16>(m);
        add_elements<T, 64, 128, 32>(m);
        add_elements<T, 128, 128, 32>(m);
        add_units<T, 8, 128, 128, 0>(m);
        add_units<T, 8, 128, 160, 32>(m);
        add_units<T, 8, 128, 288, 32>(m);
        add_units<T, 8, 256, 160, 32>(m);
        add_units<T, 8, 64, 160, 32>(m);
        add_units<T, 8, 64, 288, 32>(m);
        add_units<T, 4, 64, 96, 32>(m);
        add_units<T, 4, 64, 160, 32>(m);
        add_units<T, 4, 128, 96, 32>(m);
        add_squares<T, 4, 16>(m);
        add_squares<T, 4, 32>(m);
        add_squares<T, 8, 8>(m);
        add_squares<T, 8, 16>(m);
        add_squares<T, 16, 8>(m);
    } else if constexpr (sizeof(T) == 2) {
        add_elements<T, 64, 128, 16>(m);
        add_elements<T, 64, 256, 16>(m);
        add_elements<T, 128, 128, 16>(m);
        add_elements<T, 128, 128, 32>(m);
        add_elements<T, 128, 256, 32>(m);
        add_elements<T, 256, 128, 16>(m);
        add_elements<T, 64, 64, 16>(m);
        add_elements<T, 64, 128, 32>(m);
        add_elements<T, 32, 128, 16>(m);
        add_units<T, 8, 64, 64, 0>(m);
        add_units<T, 8, 128, 64, 0>(m);
        add_units<T, 8, 64, 80, 32>(m);
        add_units<T, 8, 64, 144, 32>(m);
        add_units<T, 8, 128, 80, 32>(m);
        add_units<T, 8, 128, 112, 32>(m);
        add_units<T, 4, 32, 80, 32>(m);
        add_units<T, 4, 32, 112, 32>(m);
        add_squares<T, 4, 32>(m);
        add_squares<T, 8, 16>(m);
        add_squares<T, 8, 32>(m);
        add_squares<T, 16, 8>(m);
        add_squares<T, 16, 16>(m);
    } else if constexpr (sizeof(T) == 4) {
        add_elements<T, 32, 32, 8>(m);
        add_elements<T, 32, 128, 16>(m);
        add_elements<T, 64, 64, 8>(m);
        add_elements<T, 64, 64, 16>(m);
        add_elements<T, 64, 96, 16>(m);
        add_elements<T, 64, 128, 8>(m);
        add_elements<T, 64, 128, 16>(m);
        add_elements<T, 64, 128, 32>(m);
        add_elements<T, 64, 160, 16>(m);
        add_elements<T, 64, 192, 16>(m);
        add_elements<T, 96, 96, 16>(m);
        add_elements<T, 96, 128, 16>(m);
        add_elements<T, 128, 64, 16>(m);
        add_elements<T, 128, 96, 16>(m);
        add_elements<T, 128, 128, 16>(m);
        add_elements<T, 32, 128, 32>(m);
        add_elements<T, 32, 256, 32>(m);
        add_elements<T, 64, 64, 32>(m);
        add_elements<T, 64, 96, 32>(m);
        add_elements<T, 64, 160, 32>(m);
        add_elements<T, 64, 192, 32>(m);
        add_elements<T, 64, 256, 32>(m);
        add_elements<T, 96, 128, 32>(m);
        add_elements<T, 128, 128, 32>(m);
        add_elements<T, 64, 64, 16>(m, 43);
        add_elements<T, 64, 64, 16>(m, 57);
        add_elements<T, 64, 128, 16>(m, 43);
        add_elements<T, 64, 128, 16>(m, 57);
        add_elements<T, 64, 128, 32>(m, 43);
        add_elements<T, 64, 128, 32>(m, 57);
        add_elements<T, 64, 160, 16>(m, 43);
        add_elements<T, 64, 160, 16>(m, 57);
        add_elements<T, 64, 160, 32>(m, 43);
        add_elements<T, 64, 160, 32>(m, 57);
        add_joined<T, 64, 80, 16, 32, true>(m);
        add_joined<T, 128, 64, 32, 32>(m);
        add_joined<T, 128, 64, 32, 32, true>(m);
        add_joined<T, 128, 72, 32, 32, true>(m);
        add_joined<T, 192, 72, 24, 32, true>(m);
    } else if constexpr (sizeof(T) == 8) {
        add_elements<T, 32, 32, 8>(m);
        add_elements<T, 32, 64, 8>(m);
        add_elements<T, 32, 64, 16>(m);
        add_elements<T, 32, 96, 16>(m);
        add_elements<T, 32, 128, 16>(m);
        add_elements<T, 32, 160, 16>(m);
        add_elements<T, 64, 64, 16>(m);
        add_elements<T, 64, 96, 16>(m);
        add_elements<T, 64, 128, 16>(m);
        add_elements<T, 96, 64, 16>(m);
        add_elements<T, 32, 64, 32>(m);
        add_elements<T, 32, 128, 32>(m);
        add_elements<T, 32, 160, 32>(m);
        add_elements<T, 64, 64, 32>(m);
        add_elements<T, 64, 96, 32>(m);
        add_elements<T, 64, 128, 32>(m);
        add_elements<T, 32, 64, 16>(m, 43);
        add_elements<T, 32, 64, 16>(m, 57);
        add_elements<T, 64, 64, 16>(m, 43);
        add_elements<T, 64, 64, 16>(m, 57);
        add_elements<T, 64, 128, 16>(m, 43);
        add_elements<T, 64, 128, 16>(m, 57);
        add_joined<T, 64, 64, 16, 32, true>(m);
        add_joined<T, 64, 64, 32, 32, true>(m);
    } else {
        add_elements<T, 32, 32, 8>(m);
        add_elements<T, 32, 32, 16>(m);
        add_elements<T, 32, 64, 8>(m);
        add_elements<T, 32, 64, 16>(m);
        add_elements<T, 32, 96, 16>(m);
        add_elements<T, 64, 32, 16>(m);
        add_elements<T, 64, 64, 16>(m);
        add_elements<T, 32, 32, 32>(m);
        add_elements<T, 32, 64, 32>(m);
    }
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
        if (width % (16 / sizeof(T)) == 0 && height % (16 / sizeof(T)) == 0) {
            add_vectors(m);
        } else {
            if constexpr (sizeof(T) == 4) {
                add_joined<T, 64, 64, 16, 32>(m);
                add_joined<T, 64, 128, 16, 32>(m);
                add_joined<T, 64, 128, 32, 32>(m);
                add_joined<T, 64, 128, 32, 128>(m);
                add_joined<T, 64, 160, 32, 32>(m);
                add_joined<T, 64, 72, 16, 32>(m);
                add_joined<T, 64, 72, 8, 32>(m);
                add_joined<T, 64, 80, 16, 32>(m);
                add_joined<T, 64, 136, 16, 32>(m);
                add_joined<T, 64, 160, 16, 32>(m);
                add_joined<T, 64, 96, 16, 32>(m);
            } else {
                add_joined<T, 32, 64, 16, 32>(m);
                add_joined<T, 32, 128, 32, 32>(m);
                add_joined<T, 64, 64, 16, 32>(m);
                add_joined<T, 64, 64, 32, 32>(m);
                add_joined<T, 64, 128, 16, 32>(m);
                add_joined<T, 64, 68, 16, 32>(m);
                add_joined<T, 64, 96, 16, 32>(m);
                add_joined<T, 32, 68, 16, 32>(m);
                add_joined<T, 32, 132, 16, 32>(m);
                add_joined<T, 32, 96, 16, 32>(m);
            }
            add_cuts<T, 0, 64, 64, 8>(m);
            add_cuts<T, 32, 64, 64, 8>(m);
            add_cuts<T, 128, 64, 64, 8>(m);
            add_cuts<T, 0, 128, 64, 8>(m);
            add_cuts<T, 32, 128, 64, 8>(m);
            add_cuts<T, 128, 128, 64, 8>(m);
        }
    }

    for (Trial& t : trials) {
        CUDA(cudaMemset(out, 0xff, bytes));
        t.run();
        *wrong = 0;
        CUDA(cudaDeviceSynchronize());
        if (t.transposes) check<<<1024, 256>>>(out, width, height, wrong);
        CUDA(cudaDeviceSynchronize());
        if (!*wrong) continue;
        fprintf(stderr, "trials: %s, %d x %d %s: %u elements are wrong\n", t.name.c_str(), width, height, type, *wrong);
        exit(1);
    }
    cudaEvent_t start, stop;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    for (int s = 0; s < samples; ++s)
        for (Trial& t : trials) {
            CUDA(cudaEventRecord(start));
            for (int pass = 0; pass < passes; ++pass) t.run();
            CUDA(cudaEventRecord(stop));
            CUDA(cudaEventSynchronize(stop));
            float ms = 0;
            CUDA(cudaEventElapsedTime(&ms, start, stop));
            t.ms.push_back(ms / passes);
        }

    const std::string card = card_columns();
    const double copy = harness::summarize(trials[0].ms).median;
    for (const Trial& t : trials) {
        const double ms = harness::summarize(t.ms).median;
        printf("%s,%s,%d,%d,\"%s\",%.1f,%.4f\n", card.c_str(), type, width, height, t.name.c_str(),
               harness::bandwidth_gbs(2 * bytes, ms), copy / ms);
    }
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    CUDA(cudaFree(wrong));
}

// Holds a thread for so long.
__global__ void hold(long long cycles)
{
    for (const long long start = clock64(); clock64() - start < cycles;) {}
}

// Is cudaMemcpy a kernel? One has to wait while another kernel holds every SM; an engine has not.
void measure_held_copy(size_t bytes)
{
    char *in, *out;
    cudaStream_t holding, copying;
    cudaEvent_t start, stop, held;
    CUDA(cudaMalloc(&in, bytes));
    CUDA(cudaMalloc(&out, bytes));
    for (cudaStream_t* s : {&holding, &copying}) CUDA(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
    for (cudaEvent_t* e : {&start, &stop, &held}) CUDA(cudaEventCreate(e));
    int sms = 0, threads = 0;
    CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    for (bool held_up : {false, true}) {
        CUDA(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, copying));
        CUDA(cudaDeviceSynchronize());
        if (held_up) hold<<<sms * threads / 1024, 1024, 0, holding>>>(100 << 20);
        CUDA(cudaEventRecord(held, holding));
        CUDA(cudaEventRecord(start, copying));
        CUDA(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, copying));
        CUDA(cudaEventRecord(stop, copying));
        CUDA(cudaEventSynchronize(stop));
        const bool waited = cudaEventQuery(held) == cudaSuccess;
        CUDA(cudaDeviceSynchronize());
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, start, stop));
        printf("%s,bytes,%zu,1,\"cudaMemcpy%s\",%.1f,\n", card_columns().c_str(), bytes,
               !held_up ? ", alone"
               : waited ? ", while a kernel holds every SM: it waits"
                        : ", while a kernel holds every SM: it does not wait",
               harness::bandwidth_gbs(2 * bytes, ms));
    }
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
}

int main(int argc, char** argv)
{
    const std::vector<std::string> only =
        arguments_of(argc, argv, "Times what was tried on the way to step 7, for these types of elements or for all.",
                     {"char", "half", "float", "double", "double2"});
    card_columns();  // or no heading either
    const auto wanted = [&](const char* type) {
        return only.empty() || std::find(only.begin(), only.end(), type) != only.end();
    };
    printf("date_utc,machine,cuda_driver,type,width,height,trial,bandwidth_gbs,of_memcpy\n");
    measure_held_copy(size_t(1) << 30);
    for (const auto& [width, height] : {std::pair{2048, 2048},
                                        {4096, 4096},
                                        {8192, 8192},
                                        {16384, 16384},
                                        {32768, 32768},
                                        {16512, 16512},
                                        {49152, 12288},
                                        {16383, 16381},
                                        {10007, 6007},
                                        {10008, 6008},
                                        {16385, 16385}}) {
        if (wanted("char")) measure<char>("char", width, height, 5);
        if (wanted("half")) measure<unsigned short>("half", width, height, 5);
        if (wanted("float")) measure<float>("float", width, height, 9);
        if (wanted("double")) measure<double>("double", width, height, 5);
        if (wanted("double2")) measure<double2>("double2", width, height, 5);
    }
    // Rows of one of the two matrices alone that begin anywhere.
    for (const auto& [width, height] : {std::pair{16383, 16384}, {16384, 16383}}) {
        if (wanted("float")) measure<float>("float", width, height, 5);
        if (wanted("double")) measure<double>("double", width, height, 5);
    }
    return 0;
}
