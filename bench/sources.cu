// Measures claims of the sources that no step does: a simple formula for the diagonal, the stride of reads from
// constant memory, kernels that access the host's memory (zero copy), and copies that overlap with the kernel.
//
//   make sources && ./sources > sources.csv          (needs a GPU)
//
// The median of 15 samples after three that warm up. Exits 3 where there is no GPU or on a CUDA error.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/card.h"

constexpr int TILE_DIM = 32, BLOCK_ROWS = 8, WORDS = 16384;

enum Order { CARTESIAN, SIMPLE, GENERAL };

// Step 6, with the formula for squares or that for any shape.
template <Order ORDER>
__global__ void transpose(float* odata, const float* idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    const int bid = blockIdx.x + gridDim.x * blockIdx.y;
    const int by = ORDER == CARTESIAN ? blockIdx.y : ORDER == SIMPLE ? blockIdx.x : bid % gridDim.y;
    const int bx = ORDER == CARTESIAN ? blockIdx.x
                   : ORDER == SIMPLE  ? (blockIdx.x + blockIdx.y) % gridDim.x
                                      : (bid / gridDim.y + by) % gridDim.x;
    int x = bx * TILE_DIM + threadIdx.x, y = by * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];
    __syncthreads();
    x = by * TILE_DIM + threadIdx.x, y = bx * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width) odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transposeCol(float* odata, const float* idata, int n)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    odata[size_t(y) * n + x] = idata[size_t(x) * n + y];
}

__constant__ int chain[WORDS];

__global__ void chase(int steps, int* sink, long long* clocks)
{
    int at = 0;
    for (int round = 0; round < 2; ++round) {  // the first one fills the caches
        const long long begin = clock64();
        for (int i = 0; i < steps; ++i) at = chain[at];
        *clocks = clock64() - begin;
    }
    *sink = at;
}

int main(int argc, char** argv)
{
    arguments_of(argc, argv, "Measures what the sources say in passing: see docs/SOURCES.md.");
    const std::string card = card_columns();
    const auto row = [&](const char* what, const std::string& how, int n, double value, const char* unit) {
        printf("%s,%s,%s,%d,%.5g,%s\n", card.c_str(), what, how.c_str(), n, value, unit);
    };
    const auto timed = [&](const char* what, const std::string& how, int n, const std::function<void()>& work) {
        row(what, how, n, 1e3 * seconds(work).median, "ms");
    };
    printf("date_utc,machine,cuda_driver,what,how,n,value,unit\n");

    const dim3 block(TILE_DIM, BLOCK_ROWS);
    const auto grid = [](int width, int height) { return dim3(width / TILE_DIM, (height + 31) / TILE_DIM); };
    float *in, *out;
    CUDA(cudaMalloc(&in, size_t(4) << 28));
    CUDA(cudaMalloc(&out, size_t(4) << 28));
    for (int n : {2048, 4096, 16384}) {
        timed("diagonal", "simple", n, [&] { transpose<SIMPLE><<<grid(n, n), block>>>(out, in, n, n); });
        timed("diagonal", "general", n, [&] { transpose<GENERAL><<<grid(n, n), block>>>(out, in, n, n); });
    }

    int* sink;
    long long clocks, *ticks;
    CUDA(cudaMalloc(&sink, sizeof(int)));
    CUDA(cudaMalloc(&ticks, sizeof(long long)));
    for (int stride = 1; stride <= 32; stride *= 2) {
        std::vector<int> next(WORDS);
        for (int i = 0; i < WORDS; ++i) next[i] = (i + stride) % WORDS;
        CUDA(cudaMemcpyToSymbol(chain, next.data(), sizeof chain));
        chase<<<1, 1>>>(WORDS / stride, sink, ticks);
        CUDA(cudaMemcpy(&clocks, ticks, sizeof clocks, cudaMemcpyDeviceToHost));
        row("constant memory", "stride " + std::to_string(stride), WORDS, double(clocks) * stride / WORDS, "clocks");
    }

    constexpr int n = 8192;
    constexpr size_t bytes = sizeof(float) * n * n;
    float *there, *back;  // of the host, and the device may use the same addresses
    CUDA(cudaMallocHost(&there, bytes));
    CUDA(cudaMallocHost(&back, bytes));
    const auto turn = transpose<CARTESIAN>;
    timed("copy", "to_device", n, [&] { CUDA(cudaMemcpyAsync(in, there, bytes, cudaMemcpyHostToDevice)); });
    timed("copy", "to_host", n, [&] { CUDA(cudaMemcpyAsync(back, out, bytes, cudaMemcpyDeviceToHost)); });
    timed("kernel", "step 4", n, [&] { turn<<<grid(n, n), block>>>(out, in, n, n); });
    timed("zero copy", "reads rows", n, [&] { turn<<<grid(n, n), block>>>(out, there, n, n); });
    timed("zero copy", "writes rows", n, [&] { turn<<<grid(n, n), block>>>(back, in, n, n); });
    timed("zero copy", "both", n, [&] { turn<<<grid(n, n), block>>>(back, there, n, n); });
    timed("zero copy", "reads columns", n,
          [&] { transposeCol<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(out, there, n); });

    // Bands of rows, each copied, transposed and copied back on one of three streams.
    cudaStream_t streams[3];
    for (cudaStream_t& stream : streams) CUDA(cudaStreamCreate(&stream));
    for (int bands : {1, 2, 4, 8, 16, 32}) {
        const int rows = n / bands;
        timed("overlapped", std::to_string(bands) + " bands", n, [&] {
            for (int band = 0; band < bands; ++band) {
                const size_t at = size_t(band) * rows * n;
                const cudaStream_t stream = streams[band % 3];
                CUDA(cudaMemcpyAsync(in + at, there + at, bytes / bands, cudaMemcpyHostToDevice, stream));
                turn<<<grid(n, rows), block, 0, stream>>>(out + at, in + at, n, rows);
                CUDA(cudaMemcpy2DAsync(back + size_t(band) * rows, sizeof(float) * n, out + at, sizeof(float) * rows,
                                       sizeof(float) * rows, n, cudaMemcpyDeviceToHost, stream));
            }
        });
    }
    return 0;
}
