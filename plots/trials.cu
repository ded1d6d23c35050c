// What was tried on the way to step 7: tiles of vectors in several orders, tiles per block and
// occupancies, blocks that stay and fetch ahead, and tiles of single elements, also for rows that begin
// anywhere. Not part of any step. (plots/data/h200_trials.csv has all but these last ones.)
//
//   make trials && ./trials > trials.csv          (needs a GPU)
//
// All trials of a matrix take turns; the median of each is reported, beside cudaMemcpy's, after its
// result was checked. Matrices are two plain allocations. Exits 3 on a CUDA error, 1 on a wrong result.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "common/cuda/launch.h"
#include "common/statistics.h"
#include "plots/card.h"

// Where the id-th block takes its tile. Down the columns of tiles, along the rows, or through panels
// that are a number of tile columns (rows) wide, across the panel first.
enum Order { columns, rows, column_panels, row_panels };

__device__ void place(Order order, unsigned panel, unsigned id, unsigned wide, unsigned high, unsigned& x, unsigned& y)
{
    if (order == columns) y = id % high, x = id / high;
    if (order == rows) x = id % wide, y = id / wide;
    if (order == column_panels) {
        const unsigned number = id / (panel * high), inside = id % (panel * high), width = min(panel, wide - panel * number);
        y = inside / width, x = panel * number + inside % width;
    }
    if (order == row_panels) {
        const unsigned number = id / (panel * wide), inside = id % (panel * wide), height = min(panel, high - panel * number);
        x = inside / height, y = panel * number + inside % height;
    }
}

template <typename T>
struct Tile {
    static constexpr int N = 16 / sizeof(T), DIM = 16 * N;
    Vector<T> vector[DIM][16];

    // A thread's N vectors, of the tile at (x, y) in tiles.
    static __device__ void load(Vector<T>* v, const T* idata, unsigned tile_x, unsigned tile_y, int width, int height)
    {
        const int x = tile_x * DIM + threadIdx.x % 16 * N, y = tile_y * DIM + threadIdx.x / 16 * N;
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (x < width && y + i < height) v[i] = *reinterpret_cast<const Vector<T>*>(idata + size_t(y + i) * width + x);
    }

    __device__ void turn(Vector<T>* v)
    {
        const int c = threadIdx.x % 16, r = threadIdx.x / 16;
#pragma unroll
        for (int j = 0; j < N; ++j) {
            Vector<T> t;
#pragma unroll
            for (int i = 0; i < N; ++i) t[i] = v[i][j];
            vector[c * N + j][r ^ c] = t;
        }
    }

    __device__ void store(T* odata, unsigned tile_x, unsigned tile_y, int width, int height)
    {
        const int c = threadIdx.x % 16, r = threadIdx.x / 16, x = tile_y * DIM + c * N, y = tile_x * DIM + r * N;
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (x < height && y + i < width) *reinterpret_cast<Vector<T>*>(odata + size_t(y + i) * height + x) = vector[r * N + i][c ^ r];
    }
};

template <typename T, int MIN_BLOCKS>
__global__ void __launch_bounds__(256, MIN_BLOCKS) oneTile(T* odata, const T* idata, int width, int height, Order order, unsigned panel)
{
    __shared__ Tile<T> tile;
    const unsigned wide = (width + tile.DIM - 1) / tile.DIM, high = (height + tile.DIM - 1) / tile.DIM;
    unsigned x = 0, y = 0;
    place(order, panel, blockIdx.x, wide, high, x, y);
    Vector<T> v[Tile<T>::N];
    tile.load(v, idata, x, y, width, height);
    tile.turn(v);
    __syncthreads();
    tile.store(odata, x, y, width, height);
}

// Two tiles, one below the other: all loads before anything else.
template <typename T, int MIN_BLOCKS>
__global__ void __launch_bounds__(256, MIN_BLOCKS) twoTiles(T* odata, const T* idata, int width, int height)
{
    __shared__ Tile<T> tile[2];
    const unsigned pairs = (height + 2 * tile->DIM - 1) / (2 * tile->DIM), x = blockIdx.x / pairs, y = blockIdx.x % pairs * 2;
    Vector<T> v[2][Tile<T>::N];
    for (int k : {0, 1}) tile->load(v[k], idata, x, y + k, width, height);
    for (int k : {0, 1}) tile[k].turn(v[k]);
    __syncthreads();
    for (int k : {0, 1}) tile[k].store(odata, x, y + k, width, height);
}

// Blocks that stay: the next tile is on its way while this one is written.
template <typename T>
__global__ void __launch_bounds__(256, 4) fetchAhead(T* odata, const T* idata, int width, int height)
{
    __shared__ Tile<T> tile[2];
    const unsigned wide = (width + tile->DIM - 1) / tile->DIM, high = (height + tile->DIM - 1) / tile->DIM;
    Vector<T> v[Tile<T>::N];
    unsigned id = blockIdx.x;
    if (id < wide * high) tile->load(v, idata, id / high, id % high, width, height);
    for (int turn = 0; id < wide * high; id += gridDim.x, turn ^= 1) {
        tile[turn].turn(v);
        __syncthreads();
        const unsigned next = id + gridDim.x;
        if (next < wide * high) tile->load(v, idata, next / high, next % high, width, height);
        tile[turn].store(odata, id / high, id % high, width, height);
    }
}

// Single elements in a padded tile, down the columns; ROWS rows of 32 threads.
template <typename T, int DIM, int ROWS>
__global__ void elements(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[DIM][DIM + 1];
    const int high = (height + DIM - 1) / DIM, left = blockIdx.x / high * DIM, top = blockIdx.x % high * DIM;
    T v[DIM / ROWS][DIM / 32];
#pragma unroll
    for (int j = 0; j < DIM / ROWS; ++j)
#pragma unroll
        for (int i = 0; i < DIM / 32; ++i) {
            const int x = left + threadIdx.x + 32 * i, y = top + threadIdx.y + j * ROWS;
            if (x < width && y < height) v[j][i] = idata[size_t(y) * width + x];
        }
#pragma unroll
    for (int j = 0; j < DIM / ROWS; ++j)
#pragma unroll
        for (int i = 0; i < DIM / 32; ++i) tile[threadIdx.y + j * ROWS][threadIdx.x + 32 * i] = v[j][i];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < DIM / ROWS; ++j)
#pragma unroll
        for (int i = 0; i < DIM / 32; ++i) {
            const int x = top + threadIdx.x + 32 * i, y = left + threadIdx.y + j * ROWS;
            if (x < height && y < width) odata[size_t(y) * height + x] = tile[threadIdx.x + 32 * i][threadIdx.y + j * ROWS];
        }
}

// For rows that begin anywhere: single elements in a tile of HIGH x WIDE, every row of odata cut where
// ALIGN bytes begin (0: where the tile does), which takes up to ALIGN bytes more of the tile above;
// blocks along the rows or down the columns. WIDE x ROWS threads.
template <typename T, int ALIGN, int HIGH, int WIDE, int ROWS>
__global__ void cut(T* odata, const T* idata, int width, int height, Order order)
{
    constexpr int MORE = ALIGN / sizeof(T);
    extern __shared__ __align__(16) char memory[];
    T(*tile)[WIDE + 1] = reinterpret_cast<T(*)[WIDE + 1]>(memory);
    const int left = (order == rows ? blockIdx.x : blockIdx.y) * WIDE, top = (order == rows ? blockIdx.y : blockIdx.x) * HIGH;
    const int x = left + threadIdx.x;
    for (int j = threadIdx.y; j < MORE + HIGH; j += ROWS) {
        const int y = top - MORE + j;
        if (x < width && y >= 0 && y < height) tile[j][threadIdx.x] = idata[size_t(y) * width + x];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < WIDE; j += ROWS) {
        const size_t row = size_t(left + j) * height;
        const int back = MORE ? int((row + top) % max(MORE, 1)) : 0;
        for (int i = threadIdx.x; i < HIGH; i += WIDE) {
            const int to = top - back + i;
            if (left + j < width && to >= 0 && to < height) odata[row + to] = tile[MORE - back + i][j];
        }
    }
}

// The plain copy: eight vectors per thread.
template <typename T>
__global__ void copyVectors(T* odata, const T* idata)
{
    const size_t first = size_t(blockIdx.x) * blockDim.x * 8 + threadIdx.x;
    Vector<T> v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = reinterpret_cast<const Vector<T>*>(idata)[first + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < 8; ++k) reinterpret_cast<Vector<T>*>(odata)[first + k * blockDim.x] = v[k];
}

template <typename T>
__device__ T element(size_t i)
{
    return T(i % 16777213);  // whole numbers that a float holds
}

template <typename T>
__global__ void fill(T* data, size_t n)
{
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) data[i] = element<T>(i);
}

template <typename T>
__global__ void check(const T* odata, int width, int height, unsigned* wrong)
{
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < size_t(width) * height; i += size_t(gridDim.x) * blockDim.x)
        if (odata[i] != element<T>(i % height * width + i / height)) atomicAdd(wrong, 1);
}

struct Trial {
    std::string name;
    std::function<void()> run;
    bool transposes = true;
    std::vector<double> ms = {};
};

template <typename T, int ALIGN, int HIGH, int WIDE, int ROWS>
void add_cuts(std::vector<Trial>& trials, T* out, const T* in, int width, int height)
{
    constexpr int MORE = ALIGN / sizeof(T), bytes = (MORE + HIGH) * (WIDE + 1) * sizeof(T);
    CUDA(cudaFuncSetAttribute(cut<T, ALIGN, HIGH, WIDE, ROWS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const unsigned across = (width + WIDE - 1) / WIDE, down = (height + MORE + HIGH - 1) / HIGH;
    for (Order order : {columns, rows})
        trials.push_back({"elements, " + std::to_string(HIGH) + " x " + std::to_string(WIDE) + ", " + std::to_string(WIDE * ROWS) + " threads, rows cut at " +
                              std::to_string(ALIGN) + " bytes, " + (order == rows ? "rows" : "columns"),
                          [=] {
                              const dim3 grid = order == rows ? dim3(across, down) : dim3(down, across);
                              cut<T, ALIGN, HIGH, WIDE, ROWS><<<grid, dim3(WIDE, ROWS), bytes>>>(out, in, width, height, order);
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
    trials.push_back({"cudaMemcpy", [=] { cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice); }, false});
    constexpr int N = Tile<T>::N, DIM = Tile<T>::DIM;
    if (width % N == 0 && height % N == 0) {
        const unsigned tiles = unsigned((width + DIM - 1) / DIM) * ((height + DIM - 1) / DIM);
        const unsigned pairs = unsigned((width + DIM - 1) / DIM) * ((height + 2 * DIM - 1) / (2 * DIM));
        if (bytes % (1024 * 8 * 16) == 0)
            trials.push_back({"copy, 8 vectors of 1024 threads", [=] { copyVectors<<<unsigned(bytes / 16 / 8 / 1024), 1024>>>(out, in); }, false});
        trials.push_back({"columns", [=] { oneTile<T, 1><<<tiles, 256>>>(out, in, width, height, columns, 1); }});
        trials.push_back({"columns, at least 4 blocks", [=] { oneTile<T, 4><<<tiles, 256>>>(out, in, width, height, columns, 1); }});
        trials.push_back({"columns, at least 8 blocks", [=] { oneTile<T, 8><<<tiles, 256>>>(out, in, width, height, columns, 1); }});
        trials.push_back({"rows", [=] { oneTile<T, 1><<<tiles, 256>>>(out, in, width, height, rows, 1); }});
        for (unsigned panel : {2, 4, 8, 16, 32})
            trials.push_back({std::to_string(panel) + " columns at once", [=] { oneTile<T, 1><<<tiles, 256>>>(out, in, width, height, column_panels, panel); }});
        for (unsigned panel : {4, 8, 16, 32, 64})
            trials.push_back({std::to_string(panel) + " rows at once", [=] { oneTile<T, 1><<<tiles, 256>>>(out, in, width, height, row_panels, panel); }});
        trials.push_back({"two tiles per block", [=] { twoTiles<T, 1><<<pairs, 256>>>(out, in, width, height); }});
        trials.push_back({"two tiles per block, at least 4 blocks", [=] { twoTiles<T, 4><<<pairs, 256>>>(out, in, width, height); }});
        int sms = 0;
        CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
        for (int blocks : {3, 4, 5, 6})
            trials.push_back({"fetching ahead, " + std::to_string(blocks) + " blocks per SM", [=] { fetchAhead<T><<<sms * blocks, 256>>>(out, in, width, height); }});
    }
    const unsigned tiles64 = unsigned((width + 63) / 64) * ((height + 63) / 64), tiles32 = unsigned((width + 31) / 32) * ((height + 31) / 32);
    trials.push_back({"elements, tile 64, 256 threads", [=] { elements<T, 64, 8><<<tiles64, dim3(32, 8)>>>(out, in, width, height); }});
    trials.push_back({"elements, tile 64, 512 threads", [=] { elements<T, 64, 16><<<tiles64, dim3(32, 16)>>>(out, in, width, height); }});
    trials.push_back({"elements, tile 32, 256 threads", [=] { elements<T, 32, 8><<<tiles32, dim3(32, 8)>>>(out, in, width, height); }});
    trials.push_back({"elements, tile 32, 128 threads", [=] { elements<T, 32, 4><<<tiles32, dim3(32, 4)>>>(out, in, width, height); }});

    add_cuts<T, 0, 64, 64, 8>(trials, out, in, width, height);
    add_cuts<T, 32, 64, 64, 8>(trials, out, in, width, height);
    add_cuts<T, 64, 64, 64, 8>(trials, out, in, width, height);
    add_cuts<T, 128, 64, 64, 8>(trials, out, in, width, height);
    add_cuts<T, 64, 128, 64, 8>(trials, out, in, width, height);
    add_cuts<T, 128, 128, 64, 8>(trials, out, in, width, height);
    add_cuts<T, 64, 64, 128, 4>(trials, out, in, width, height);
    add_cuts<T, 64, 64, 64, 16>(trials, out, in, width, height);

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
            for (int pass = 0; pass < 2; ++pass) t.run();
            CUDA(cudaEventRecord(stop));
            CUDA(cudaEventSynchronize(stop));
            float ms = 0;
            CUDA(cudaEventElapsedTime(&ms, start, stop));
            t.ms.push_back(ms / 2);
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

int main()
{
    printf("date_utc,machine,cuda_driver,type,width,height,trial,bandwidth_gbs,of_memcpy\n");
    measure<float>("float", 16384, 16384, 15);
    measure<double>("double", 16384, 16384, 9);
    measure<float>("float", 8192, 8192, 15);
    measure<float>("float", 49152, 12288, 9);
    measure<float>("float", 16383, 16381, 9);
    measure<double>("double", 16383, 16381, 5);
    return 0;
}
