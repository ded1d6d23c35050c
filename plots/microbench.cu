// What a GPU can do at most, one resource at a time: the constants of its roofline model. None
// of these kernels is a transpose.
//
//   make microbench && ./microbench > constants.csv          (needs a GPU)
//
// Each is timed with CUDA events, 15 samples after a warm-up; the median is reported, with the
// distance from the 10th to the 90th percentile as a share of it. Exits 3 on a CUDA error.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "common/statistics.h"
#include "plots/card.h"

// Eight independent loads per thread, then eight stores, all in order: the DRAM's stream.
__global__ void stream(float* out, const float* in)
{
    const size_t first = size_t(blockIdx.x) * blockDim.x * 8 + threadIdx.x;
    float v[8];
    for (int i = 0; i < 8; ++i) v[i] = in[first + i * blockDim.x];
    for (int i = 0; i < 8; ++i) out[first + i * blockDim.x] = v[i];
}

// Half the loads, in order; every 128 bytes of a warp are stored far from those of its neighbours:
// piece i goes to i times an odd number, modulo their number, a power of two.
__global__ void scatter(float* out, const float* in, size_t pieces, size_t factor)
{
    const size_t first = size_t(blockIdx.x) * blockDim.x * 4 + threadIdx.x;
    float v[4];
    for (int i = 0; i < 4; ++i) v[i] = in[first + i * blockDim.x];
    for (int i = 0; i < 4; ++i) {
        const size_t at = first + i * blockDim.x, piece = at / 32;
        out[piece * factor % pieces * 32 + at % 32] = v[i];
    }
}

// One load in flight per thread: the next address depends on the value loaded (which is 0).
__global__ void oneInFlight(unsigned* out, const unsigned* in, size_t step, int loads)
{
    size_t at = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned value = 0;
    for (int i = 0; i < loads; ++i) {
        value = in[at + value];
        at += step;
    }
    if (value) out[threadIdx.x] = value;
}

// Every lane stores 4 bytes to a sector of its own; eight turns fill the sectors. The memory
// touched stays in the L2.
__global__ void partialSectors(float* out, size_t sectors)
{
    const size_t lane = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) % sectors;
    for (int i = 0; i < 8; ++i) out[lane * 8 + i] = float(i);
}

// Every lane stores 4 bytes to a line of 128 bytes of its own; 32 turns fill the lines. Piece i is
// again at i times an odd factor, modulo their number.
__global__ void partialLines(float* out, size_t pieces, size_t factor)
{
    const size_t piece = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * factor % pieces;
    for (int i = 0; i < 32; ++i) out[piece * 32 + i] = float(i);
}

// Whole sectors, back and forth within the L2.
__global__ void wholeSectors(float* out, const float* in, size_t elements)
{
    const size_t first = (size_t(blockIdx.x) * blockDim.x * 8 + threadIdx.x) % elements;
    float v[8];
    for (int i = 0; i < 8; ++i) v[i] = in[first + i * blockDim.x];
    for (int i = 0; i < 8; ++i) out[first + i * blockDim.x] = v[i];
}

// Loads from shared memory without conflicts: one wavefront each.
__global__ void wavefronts(float* out, int loads)
{
    __shared__ volatile float words[1024];
    words[threadIdx.x] = 0;
    words[threadIdx.x + blockDim.x] = 0;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < loads; i += 8)
        for (int k = 0; k < 8; ++k) sum += words[(threadIdx.x + 32 * k) % 512];
    if (sum != 0) out[threadIdx.x] = sum;
}

// Every lane loads 4 bytes from a line of its own, again and again from the same 32 lines of its
// warp: all but the first loads find theirs in the L1.
__global__ void lineLoads(float* out, const float* in, int turns)
{
    const float* lines = in + (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * 32;
    float sum = 0;
    for (int turn = 0; turn < turns; ++turn)
        for (int i = 0; i < 32; ++i) sum += lines[(i + turn) % 32];
    if (sum != 0) out[threadIdx.x] = sum;
}

// Warps that are started and end.
__global__ void nothing() {}

// Warps that live for one load and one store.
__global__ void oneElement(float* out, const float* in)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

// Seconds of one run of `work`.
harness::Summary seconds(const std::function<void()>& work)
{
    cudaEvent_t start, stop;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    std::vector<double> samples;
    for (int i = 0; i < 18; ++i) {
        CUDA(cudaEventRecord(start));
        work();
        CUDA(cudaGetLastError());
        CUDA(cudaEventRecord(stop));
        CUDA(cudaEventSynchronize(stop));
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, start, stop));
        if (i >= 3) samples.push_back(ms / 1e3);
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    return harness::summarize(samples);
}

int main()
{
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    const std::string card = card_columns();

    const size_t bytes = size_t(1) << 30, elements = bytes / 4;
    float *in, *out;
    CUDA(cudaMalloc(&in, bytes));
    CUDA(cudaMalloc(&out, bytes));
    CUDA(cudaMemset(in, 0, bytes));
    CUDA(cudaMemset(out, 0, bytes));

    printf("date_utc,machine,cuda_driver,constant,unit,value,spread_percent\n");
    const auto report = [&](const char* constant, const char* unit, double amount, const harness::Summary& s) {
        printf("%s,%s,%s,%.6g,%.1f\n", card.c_str(), constant, unit, amount / s.median, 100 * s.spread);
    };
    report("stream", "GB/s", 2e-9 * bytes, seconds([&] { stream<<<elements / 2048, 256>>>(out, in); }));
    // Neighbours about 64 KB apart, and all over the memory.
    report("scatter_near", "GB/s", 2e-9 * bytes, seconds([&] { scatter<<<elements / 1024, 256>>>(out, in, bytes / 128, 513); }));
    report("scatter_far", "GB/s", 2e-9 * bytes, seconds([&] { scatter<<<elements / 1024, 256>>>(out, in, bytes / 128, 5184467); }));
    report("in_order", "GB/s", 2e-9 * bytes, seconds([&] { scatter<<<elements / 1024, 256>>>(out, in, bytes / 128, 1); }));
    const int warps = device.maxThreadsPerMultiProcessor / 32 * device.multiProcessorCount;
    const int loads = 512;
    const size_t step = size_t(warps) * 32;
    report("one_in_flight", "loads of a warp/s", double(warps) * loads, seconds([&] {
        oneInFlight<<<warps / 8, 256>>>(reinterpret_cast<unsigned*>(out), reinterpret_cast<unsigned*>(in), step, loads);
    }));
    const size_t in_l2 = size_t(8) << 20;
    report("partial_sectors", "sectors/s", double(elements), seconds([&] { partialSectors<<<elements / 8 / 256, 256>>>(out, in_l2 / 32); }));
    // In the L2, then far more lines than it holds: in order, neighbours about 64 KB apart.
    report("partial_lines_l2", "stores of a lane/s", double(elements), seconds([&] { partialLines<<<elements / 32 / 256, 256>>>(out, in_l2 / 128, 1); }));
    report("partial_lines", "stores of a lane/s", double(elements), seconds([&] { partialLines<<<elements / 32 / 256, 256>>>(out, bytes / 128, 1); }));
    report("partial_lines_near", "stores of a lane/s", double(elements), seconds([&] { partialLines<<<elements / 32 / 256, 256>>>(out, bytes / 128, 513); }));
    report("whole_sectors", "sectors/s", 2.0 * bytes / 32, seconds([&] { wholeSectors<<<elements / 2048, 256>>>(out, in, in_l2 / 4); }));
    const int blocks = device.multiProcessorCount * 4, turns = 1 << 14;
    report("wavefronts", "wavefronts/s", double(blocks) * 16 * turns, seconds([&] { wavefronts<<<blocks, 512>>>(out, turns); }));
    const int line_turns = 256;
    report("line_loads", "loads of a lane/s", double(device.multiProcessorCount) * 512 * 32 * line_turns,
           seconds([&] { lineLoads<<<device.multiProcessorCount, 512>>>(out, in, line_turns); }));
    for (int threads : {256, 1024}) {
        const std::string of = "_" + std::to_string(threads);
        report(("empty_warps" + of).c_str(), "warps/s", elements / 32.0, seconds([&] { nothing<<<elements / threads, threads>>>(); }));
        report(("one_element" + of).c_str(), "warps/s", elements / 32.0, seconds([&] { oneElement<<<elements / threads, threads>>>(out, in); }));
    }
    return 0;
}
