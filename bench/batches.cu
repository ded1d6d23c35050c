// Matrices that are too small for one launch each: how long each takes by itself, and many of them in one launch.
//
//   make batches && ./batches > batches.csv          (needs a GPU)
//
// Square matrices of floats, n x n, as many as fill 256 MB on each side, so that no L2 holds them. Three ways to
// transpose them all, with step 7's kernel in several tiles: a launch for each, one after the other in a stream; the
// same launches recorded as a CUDA graph; and one launch with the matrix in blockIdx.z. Beside them cudaMemcpy of all
// of them at once. Each result is checked, element by element. Medians of nine. Exits 3 on a CUDA error, 1 on a wrong
// result.

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bench/elements.h"

// Step 7's tile of single elements, without overlap, of the blockIdx.z-th matrix.
template <int WIDE, int HIGH, int WARPS>
__global__ void transposeBatch(float* odata, const float* idata, int n)
{
    __shared__ float tile[HIGH][WIDE + 1];
    odata += size_t(blockIdx.z) * n * n;
    idata += size_t(blockIdx.z) * n * n;

    int x = blockIdx.y * WIDE + threadIdx.x;
    int y = blockIdx.x * HIGH + threadIdx.y;

    float in[HIGH / WARPS][WIDE / 32];
    for (int j = 0; j < HIGH; j += WARPS)
        for (int i = 0; i < WIDE; i += 32)
            if (x + i < n && y + j < n) in[j / WARPS][i / 32] = idata[size_t(y + j) * n + x + i];

    for (int j = 0; j < HIGH; j += WARPS)
        for (int i = 0; i < WIDE; i += 32) tile[threadIdx.y + j][threadIdx.x + i] = in[j / WARPS][i / 32];

    __syncthreads();

    x = blockIdx.x * HIGH + threadIdx.x;
    y = blockIdx.y * WIDE + threadIdx.y;

    for (int j = 0; j < WIDE; j += WARPS)
        for (int i = 0; i < HIGH; i += 32)
            if (x + i < n && y + j < n) odata[size_t(y + j) * n + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
}

struct Way {
    std::string name;
    std::function<void()> run;
    std::vector<double> seconds = {};
};

struct Buffers {
    float *out, *in;
};

template <int WIDE, int HIGH, int WARPS>
void add(std::vector<Way>& ways, const Buffers& b, int n, int count, cudaStream_t stream)
{
    const dim3 grid((n + HIGH - 1) / HIGH, (n + WIDE - 1) / WIDE), block(32, WARPS);
    const std::string tile =
        ", tile of " + std::to_string(WIDE) + " x " + std::to_string(HIGH) + ", " + std::to_string(WARPS) + " warps";
    const auto one_by_one = [=] {
        for (int i = 0; i < count; ++i) {
            const size_t first = size_t(i) * n * n;
            transposeBatch<WIDE, HIGH, WARPS><<<grid, block, 0, stream>>>(b.out + first, b.in + first, n);
        }
    };
    ways.push_back({"a launch for each" + tile, one_by_one});
    const auto all_at_once = [=] {
        transposeBatch<WIDE, HIGH, WARPS><<<dim3(grid.x, grid.y, count), block, 0, stream>>>(b.out, b.in, n);
    };
    ways.push_back({"one launch for all" + tile, all_at_once});
    cudaGraph_t graph;
    cudaGraphExec_t recorded;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    one_by_one();
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&recorded, graph, 0));
    ways.push_back({"a graph of a launch for each" + tile, [=] { CUDA(cudaGraphLaunch(recorded, stream)); }});
}

// All ways of one size take turns, nine times, after each was checked.
void measure(int n, const Buffers& b, size_t bytes, cudaStream_t stream)
{
    const int count = int(std::min<size_t>(bytes / sizeof(float) / n / n, 65535));
    const size_t elements = size_t(count) * n * n;
    std::vector<Way> ways{
        {"cudaMemcpy of all",
         [=] { CUDA(cudaMemcpyAsync(b.out, b.in, elements * sizeof(float), cudaMemcpyDeviceToDevice, stream)); }}};
    add<32, 32, 8>(ways, b, n, count, stream);
    add<64, 32, 16>(ways, b, n, count, stream);
    add<64, 64, 8>(ways, b, n, count, stream);
    add<64, 64, 16>(ways, b, n, count, stream);
    for (size_t w = 1; w < ways.size(); ++w) {
        CUDA(cudaMemsetAsync(b.out, 0xff, elements * sizeof(float), stream));
        ways[w].run();
        const auto wrong = wrong_elements(b.out, n, n, elements);
        if (!wrong) continue;
        fprintf(stderr, "batches: %s, %d of %d x %d: %llu elements are wrong\n", ways[w].name.c_str(), count, n, n,
                wrong);
        exit(harness::status_wrong_result);
    }
    for (int sample = -1; sample < 9; ++sample)
        for (Way& way : ways) {
            const double seconds = event_seconds(way.run, stream);
            if (sample >= 0) way.seconds.push_back(seconds);
        }
    const double copy = harness::summarize(ways[0].seconds).median;
    for (const Way& way : ways) {
        const auto summary = harness::summarize(way.seconds);
        printf("%s,float,%d,%d,\"%s\",%.3f,%.1f,%.4f\n", card_columns().c_str(), n, count, way.name.c_str(),
               summary.median * 1e6 / count, harness::bandwidth_gbs(2 * elements * sizeof(float), summary.median * 1e3),
               copy / summary.median);
    }
}

int main(int argc, char** argv)
{
    arguments_of(argc, argv, "Times transposes of many small matrices: a launch for each, a graph of launches, and one "
                             "launch for all.");
    card_columns();  // or no heading either
    printf("date_utc,machine,cuda_driver,type,n,matrices,trial,us_per_matrix,bandwidth_gbs,of_memcpy\n");
    const size_t bytes = size_t(256) << 20;
    Buffers b;
    CUDA(cudaMalloc(&b.in, bytes));
    CUDA(cudaMalloc(&b.out, bytes));
    fill<<<1024, 256>>>(b.in, bytes / sizeof(float));
    CUDA(cudaDeviceSynchronize());
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int n : {64, 100, 128, 256, 500, 512, 1000, 1024, 2048, 4096}) measure(n, b, bytes, stream);
    return 0;
}
