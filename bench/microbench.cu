// What a GPU can do at most, one resource at a time: the constants of its roofline model, and the latency and the
// bandwidth of each of its memories. None of these kernels is a transpose.
//
//   make microbench && ./microbench > constants.csv          (needs a GPU)
//   ./microbench --machine-file mine.machine > constants.csv
//
// The second also writes a machine file, for --machine mine.machine of the steps and of simcuda.
//
// Each is timed with CUDA events, 15 samples after a warm-up; the median is reported, with the
// distance from the 10th to the 90th percentile as a share of it. Latencies are those of one thread, by the SM's own
// clock. Exits 3 on a CUDA error.

#include <algorithm>
#include <cstdio>
#include <string>

#include "bench/card_machine.h"
#include "bench/texture.h"

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

// A bijection of all numbers of 32 bits. Neighbours become strangers.
__device__ unsigned randomly(unsigned i)
{
    i *= 2654435761u;
    i = (i ^ i >> 15) * 2246822519u;
    return i ^ i >> 13;
}

// Every `SECTORS` lanes load 4 bytes from each sector of a piece that lies anywhere in the memory. Eight loads of a
// thread are in flight at the same time. `pieces`: a power of two.
template <int SECTORS>
__global__ void randomPieces(float* out, const float* in, unsigned pieces)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, groups = gridDim.x * blockDim.x / SECTORS;
    float v[8], sum = 0;
    for (int i = 0; i < 8; ++i) {
        const unsigned piece = randomly(thread / SECTORS + i * groups) % pieces;
        v[i] = in[(size_t(piece) * SECTORS + thread % SECTORS) * 8];
    }
    for (int i = 0; i < 8; ++i) sum += v[i];
    if (sum != 0) out[threadIdx.x] = sum;
}

// Every `LANES` lanes store 4 bytes each to a piece that lies anywhere in the memory. `pieces`: a power of two.
template <int LANES>
__global__ void randomStores(float* out, unsigned pieces)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, groups = gridDim.x * blockDim.x / LANES;
    for (int i = 0; i < 8; ++i)
        out[size_t(randomly(thread / LANES + i * groups) % pieces) * LANES + thread % LANES] = float(i);
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

// A block's life, one block on an SM at a time, because each takes most of the shared memory. A thread does nothing, or
// it loads an element, or it stores one, or it does both, or it meets the other threads at pairs of barriers, with a
// store to shared memory before the first and a load before the second, or it loads in a loop over the grid.
enum Part { start_and_end, load, store, load_and_store, barriers, loop };

template <Part PART>
__global__ void life(float* out, const float* in, int times)
{
    extern __shared__ float words[];
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (PART == store) out[i] = float(times);
    if (PART == load) {
        if (const float v = in[i]; v != 0) out[i] = v;
    }
    if (PART == load_and_store) out[i] = in[i];
    if (PART == loop) {
        float sum = 0;
        const size_t step = size_t(gridDim.x) * blockDim.x, n = times * step;
        for (size_t at = i; at < n; at += step) sum += in[at];
        if (sum != 0) out[i] = sum;
    }
    if (PART == barriers) {
        float v = float(i);
        for (int turn = 0; turn < times; ++turn) {
            words[threadIdx.x] = v;
            __syncthreads();
            v += words[(threadIdx.x + 32) % blockDim.x];
            __syncthreads();
        }
        if (v < 0) out[i] = v;
    }
}

// Every lane loads 4 bytes, `stride` words from those of its neighbour; all warps load the same, so all but the first
// loads find theirs in the L1.
__global__ void stridedLoads(float* out, const float* in, int stride, int turns)
{
    const float* mine = in + size_t(threadIdx.x % 32) * stride;
    float sum = 0;
    for (int turn = 0; turn < turns; ++turn)
        for (int i = 0; i < 8; ++i) sum += mine[(i + turn) % 8];
    if (sum != 0) out[threadIdx.x] = sum;
}

// Every lane loads 4 bytes from another line, which is in the L2 and not in the L1. The sectors of neighbouring lanes
// have different places in their lines.
__global__ void lineMisses(float* out, const float* in, unsigned lines, int turns)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float sum = 0;
    for (int turn = 0; turn < turns; turn += 8)
        for (int i = 0; i < 8; ++i)
            sum += __ldcg(&in[size_t((thread + (turn + i) * threads) * 5 % lines) * 32 + threadIdx.x % 4 * 8]);
    if (sum != 0) out[threadIdx.x] = sum;
}

// A copy in pieces of `PIECE` elements: four loads per thread, then four stores, each of a row of the matrix.
template <int PIECE>
__global__ void copyInPieces(float* out, const float* in, int width)
{
    const int rows = blockDim.x / PIECE, x = blockIdx.x * PIECE + threadIdx.x % PIECE;
    const size_t first = size_t(blockIdx.y * 4 * rows + threadIdx.x / PIECE) * width + x, step = size_t(rows) * width;
    float v[4];
    for (int i = 0; i < 4; ++i) v[i] = in[first + i * step];
    for (int i = 0; i < 4; ++i) out[first + i * step] = v[i];
}

// Latency: one thread, and each load's address is computed from what the load before it brought. Of registers: a result
// that is the operand of the next instruction.
enum Memory { registers, shared, constant, texture, l1, l2, dram };
constexpr int SMALL = 1024;  // words: in any cache

__constant__ unsigned constantNext[SMALL];

template <Memory MEMORY>
__global__ void chase(const unsigned* next, cudaTextureObject_t textured, int loads, unsigned* end, long long* clocks,
                      long long* ns)
{
    __shared__ unsigned sharedNext[SMALL];
    for (int i = 0; i < SMALL; ++i) sharedNext[i] = constantNext[i];

    const unsigned start = *end;  // 0, which the compiler does not know
    // The first turn fills the caches. DRAM is read once.
    for (int turn = MEMORY == dram; turn < 2; ++turn) {
        unsigned at = start;
        long long begin_ns, end_ns;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin_ns));
        const long long begin = clock64();
        for (int i = 0; i < loads; ++i) {
            if (MEMORY == registers)
                at = __float_as_uint(fmaf(__uint_as_float(at), __uint_as_float(at), __uint_as_float(at)));
            if (MEMORY == shared) at = sharedNext[at];
            if (MEMORY == constant) at = constantNext[at];
            if (MEMORY == texture) at = tex1Dfetch<unsigned>(textured, int(at));
            if (MEMORY == l1) at = next[at];
            if (MEMORY == l2 || MEMORY == dram) at = __ldcg(&next[at]);
        }
        *end = at;
        *clocks = clock64() - begin;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end_ns));
        *ns = end_ns - begin_ns;
    }
}

// Word i holds the number of the next one, `step` further on.
__global__ void link(unsigned* next, unsigned words, unsigned step)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        next[i] = unsigned((size_t(i) + step) % words);
}

// Bandwidth of a cache: all blocks read the same memory, 16 bytes per lane, again and again.
template <Memory MEMORY>
__global__ void rereads(float* out, const float4* in, cudaTextureObject_t textured, int vectors, int step, int turns)
{
    float sum = 0;
    for (int turn = 0; turn < turns; ++turn) {
        const int at = (blockIdx.x * 4096 + turn * step + threadIdx.x) % vectors;
        const float4 v = MEMORY == texture ? tex1Dfetch<float4>(textured, at) : MEMORY == l1 ? in[at] : __ldcg(&in[at]);
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum != 0) out[threadIdx.x] = sum;
}

// Loads from constant memory: one word for all lanes of a warp, or a word for each.
// STRIDE: 0, or how many words lie from a lane's to the next one's.
template <int STRIDE>
__global__ void constantLoads(unsigned* out, int loads)
{
    unsigned sum = 0;
    for (int i = 0; i < loads; ++i) sum ^= constantNext[(threadIdx.x % 32 * STRIDE + i) % SMALL];
    if (sum == ~0u) out[threadIdx.x] = sum;
}

// One block that waits so many clocks of its SM.
__global__ void wait(long long clocks)
{
    const long long begin = clock64();
    while (clock64() - begin < clocks) {}
}

// ns of a launch beside the time of its kernel: launches back to back of a kernel that takes so long that the host is
// ahead. Twice the time of one that waits, less the time of one that waits twice as long.
harness::Summary launch_ns()
{
    const int launches = 100;
    const long long clocks = 20000;
    const auto waiting = [&](long long turns) {
        return seconds([&] {
            for (int i = 0; i < launches; ++i) wait<<<1, 32>>>(turns);
        });
    };
    harness::Summary s = waiting(clocks);
    s.median = (2 * s.median - waiting(2 * clocks).median) * 1e9 / launches;
    return s;
}

int main(int argc, char** argv)
{
    const std::vector<std::string> given =
        arguments_of(argc, argv,
                     "Measures bandwidth and latency of each memory of the GPU, and the constants of its roofline.\n"
                     "With --machine-file also writes FILE, a machine for --machine FILE of the steps and of simcuda.",
                     {"--machine-file FILE"});
    const std::unique_ptr<harness::WholeFile> machine_file = open_machine_file(given);
    const std::string card = card_columns();
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));

    const size_t bytes = size_t(1) << 30, elements = bytes / 4;
    float *in, *out;
    CUDA(cudaMalloc(&in, bytes));
    CUDA(cudaMalloc(&out, bytes));
    CUDA(cudaMemset(in, 0, bytes));
    CUDA(cudaMemset(out, 0, bytes));

    std::string csv = "date_utc,machine,cuda_driver,constant,unit,value,spread_percent\n";
    printf("%s", csv.c_str());
    const auto print = [&](const std::string& constant, const char* unit, double value, double spread) {
        const std::string line = harness::format("%s,%s,%s,%.6g,%.1f\n", card.c_str(), constant.c_str(), unit, value,
                                                 100 * spread);
        printf("%s", line.c_str());
        csv += line;
    };
    const auto report = [&](const std::string& constant, const char* unit, double amount, const harness::Summary& s) {
        print(constant, unit, amount / s.median, s.spread);
    };
    report("stream", "GB/s", 2e-9 * bytes, seconds([&] { stream<<<elements / 2048, 256>>>(out, in); }));
    // Neighbours about 64 KB apart, and all over the memory.
    report("scatter_near", "GB/s", 2e-9 * bytes,
           seconds([&] { scatter<<<elements / 1024, 256>>>(out, in, bytes / 128, 513); }));
    report("scatter_far", "GB/s", 2e-9 * bytes,
           seconds([&] { scatter<<<elements / 1024, 256>>>(out, in, bytes / 128, 5184467); }));
    report("in_order", "GB/s", 2e-9 * bytes,
           seconds([&] { scatter<<<elements / 1024, 256>>>(out, in, bytes / 128, 1); }));
    const int warps = device.maxThreadsPerMultiProcessor / 32 * device.multiProcessorCount;
    const int loads = 512;
    const size_t step = size_t(warps) * 32;
    const auto in_flight = seconds([&] {
        oneInFlight<<<warps / 8, 256>>>(reinterpret_cast<unsigned*>(out), reinterpret_cast<unsigned*>(in), step, loads);
    });
    report("one_in_flight", "loads of a warp/s", double(warps) * loads, in_flight);
    const size_t in_l2 = size_t(8) << 20;
    report("partial_sectors", "sectors/s", double(elements),
           seconds([&] { partialSectors<<<elements / 8 / 256, 256>>>(out, in_l2 / 32); }));
    // In the L2, then far more lines than it holds: in order, neighbours about 64 KB apart.
    report("partial_lines_l2", "stores of a lane/s", double(elements),
           seconds([&] { partialLines<<<elements / 32 / 256, 256>>>(out, in_l2 / 128, 1); }));
    report("partial_lines", "stores of a lane/s", double(elements),
           seconds([&] { partialLines<<<elements / 32 / 256, 256>>>(out, bytes / 128, 1); }));
    report("partial_lines_near", "stores of a lane/s", double(elements),
           seconds([&] { partialLines<<<elements / 32 / 256, 256>>>(out, bytes / 128, 513); }));
    const auto random = [&](const char* name, auto kernel, unsigned sectors) {
        report(name, "sectors/s", double(elements / 8),
               seconds([&] { kernel<<<elements / 64 / 256, 256>>>(out, in, unsigned(bytes / 32 / sectors)); }));
    };
    random("random_sectors", randomPieces<1>, 1);
    random("random_pairs", randomPieces<2>, 2);
    random("random_lines", randomPieces<4>, 4);
    const auto random_stores = [&](const char* name, auto kernel, unsigned lanes) {
        report(name, "stores of a lane/s", double(elements / 8),
               seconds([&] { kernel<<<elements / 64 / 256, 256>>>(out, unsigned(elements / lanes)); }));
    };
    random_stores("random_stores", randomStores<1>, 1);
    random_stores("random_stores_of_sectors", randomStores<8>, 8);
    random_stores("random_stores_of_pairs", randomStores<16>, 16);
    random_stores("random_stores_of_lines", randomStores<32>, 32);
    report("whole_sectors", "sectors/s", 2.0 * bytes / 32,
           seconds([&] { wholeSectors<<<elements / 2048, 256>>>(out, in, in_l2 / 4); }));
    const int blocks = device.multiProcessorCount * 4, turns = 1 << 14;
    report("wavefronts", "wavefronts/s", double(blocks) * 16 * turns,
           seconds([&] { wavefronts<<<blocks, 512>>>(out, turns); }));
    const int line_turns = 256;
    report("line_loads", "loads of a lane/s", double(device.multiProcessorCount) * 512 * 32 * line_turns,
           seconds([&] { lineLoads<<<device.multiProcessorCount, 512>>>(out, in, line_turns); }));
    for (int threads : {256, 1024}) {
        const std::string of = "_" + std::to_string(threads);
        report("empty_warps" + of, "warps/s", elements / 32.0,
               seconds([&] { nothing<<<elements / threads, threads>>>(); }));
        report("one_element" + of, "warps/s", elements / 32.0,
               seconds([&] { oneElement<<<elements / threads, threads>>>(out, in); }));
    }

    // Whole blocks, one on an SM at a time: ns of one.
    const size_t most_shared = device.sharedMemPerBlockOptin;
    const auto life_of = [&](const char* name, auto kernel, int threads, int times) {
        CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(most_shared)));
        // So many that they touch far more than the L2 holds.
        const unsigned blocks = unsigned(std::min(elements / threads, size_t(1) << 20));
        const harness::Summary s = seconds([&] { kernel<<<blocks, threads, most_shared>>>(out, in, times); });
        print(name + ("_" + std::to_string(threads)), "ns", s.median * 1e9 * device.multiProcessorCount / blocks,
              s.spread);
    };
    for (int threads : {32, 256, 1024}) {
        life_of("life_empty", life<start_and_end>, threads, 0);
        life_of("life_load", life<load>, threads, 0);
        life_of("life_store", life<store>, threads, 0);
        life_of("life_load_store", life<load_and_store>, threads, 0);
        life_of("life_1_barrier_pair", life<barriers>, threads, 1);
        life_of("life_9_barrier_pairs", life<barriers>, threads, 9);
    }
    life_of("life_4_turns", life<loop>, 32, 4);
    life_of("life_8_turns", life<loop>, 32, 8);
    const int many_turns = 256;
    const double requests = device.multiProcessorCount * 32.0 * 8 * many_turns;
    for (int stride : {1, 8, 16, 32, 33})
        report("l1_loads_stride_" + std::to_string(stride), "loads of a warp/s", requests,
               seconds([&] { stridedLoads<<<device.multiProcessorCount, 1024>>>(out, in, stride, many_turns); }));
    const auto misses = seconds([&] {
        lineMisses<<<2 * device.multiProcessorCount, 1024>>>(out, in, unsigned(in_l2 / 128), many_turns);
    });
    report("line_misses", "lines/s", 2.0 * device.multiProcessorCount * 1024 * many_turns, misses);
    const int width = 1 << 14, height = int(elements / width);
    const auto in_pieces = [&](auto kernel, int piece) {
        const auto time = seconds([&] {
            kernel<<<dim3(width / piece, height / (4 * 256 / piece)), 256>>>(out, in, width);
        });
        report("pieces_" + std::to_string(4 * piece), "GB/s", 2e-9 * bytes, time);
    };
    in_pieces(copyInPieces<8>, 8);
    in_pieces(copyInPieces<16>, 16);
    in_pieces(copyInPieces<32>, 32);
    in_pieces(copyInPieces<64>, 64);
    in_pieces(copyInPieces<256>, 256);

    // The chain of the small memories goes through all their words; that of the L2, through lines of 128 bytes of 4 MB;
    // that of DRAM, through lines 33 lines apart, after something else has filled the L2.
    unsigned *next = reinterpret_cast<unsigned*>(in), *end;
    long long* clocks;
    CUDA(cudaMalloc(&end, sizeof *end));
    CUDA(cudaMallocManaged(&clocks, 2 * sizeof *clocks));
    const auto linked = [&](size_t words, unsigned step) {
        link<<<1024, 256>>>(next, unsigned(words), step);
        CUDA(cudaGetLastError());
    };
    const auto latency = [&](const char* name, auto kernel, cudaTextureObject_t textured, int loads) {
        std::vector<double> in_clocks, in_ns;
        for (int i = 0; i < 15; ++i) {
            CUDA(cudaMemset(end, 0, sizeof *end));
            CUDA(cudaMemset(out, 0, bytes));
            kernel<<<1, 1>>>(next, textured, loads, end, clocks, clocks + 1);
            CUDA(cudaGetLastError());
            CUDA(cudaDeviceSynchronize());
            in_clocks.push_back(double(clocks[0]) / loads);
            in_ns.push_back(double(clocks[1]) / loads);
        }
        const harness::Summary c = harness::summarize(in_clocks), n = harness::summarize(in_ns);
        print(std::string("latency_") + name, "clocks", c.median, c.spread);
        print(std::string("latency_") + name + "_ns", "ns", n.median, n.spread);
    };
    linked(SMALL, 33);
    CUDA(cudaMemcpyToSymbol(constantNext, next, SMALL * sizeof *next, 0, cudaMemcpyDeviceToDevice));
    const cudaTextureObject_t words = texture_of(next, SMALL * sizeof *next, cudaCreateChannelDesc<unsigned>());
    latency("registers", chase<registers>, 0, 1 << 16);
    latency("shared", chase<shared>, 0, 1 << 16);
    latency("constant", chase<constant>, 0, 1 << 16);
    latency("texture", chase<texture>, words, 1 << 16);
    latency("l1", chase<l1>, 0, 1 << 16);
    linked(size_t(1) << 20, 33 * 32);
    latency("l2", chase<l2>, 0, 1 << 14);
    linked(elements, 33 * 32);
    latency("dram", chase<dram>, 0, 1 << 13);

    // 16 KB for the L1 and the texture cache, 8 MB for the L2.
    CUDA(cudaMemset(in, 0, bytes));
    const int readers = 2 * device.multiProcessorCount, reads = 1 << 12;
    const double read_bytes = 16.0 * readers * 1024 * reads;
    const float4* vectors = reinterpret_cast<const float4*>(in);
    const cudaTextureObject_t textured = texture_of(in, 16 << 10, cudaCreateChannelDesc<float4>());
    report("l1_bandwidth", "GB/s", 1e-9 * read_bytes,
           seconds([&] { rereads<l1><<<readers, 1024>>>(out, vectors, 0, 1 << 10, 32, reads); }));
    report("texture_bandwidth", "GB/s", 1e-9 * read_bytes,
           seconds([&] { rereads<texture><<<readers, 1024>>>(out, vectors, textured, 1 << 10, 32, reads); }));
    report("l2_bandwidth", "GB/s", 1e-9 * read_bytes,
           seconds([&] { rereads<l2><<<readers, 1024>>>(out, vectors, 0, int(in_l2 / 16), 1024, reads); }));
    const double constant_loads = 64.0 * device.multiProcessorCount * reads;
    report("constant_broadcast", "loads of a warp/s", constant_loads,
           seconds([&] { constantLoads<0><<<readers, 1024>>>(reinterpret_cast<unsigned*>(out), reads); }));
    report("constant_by_lane", "loads of a warp/s", constant_loads,
           seconds([&] { constantLoads<32><<<readers, 1024>>>(reinterpret_cast<unsigned*>(out), reads); }));
    report("constant_by_lane_near", "loads of a warp/s", constant_loads,
           seconds([&] { constantLoads<1><<<readers, 1024>>>(reinterpret_cast<unsigned*>(out), reads); }));
    const harness::Summary launch = launch_ns();
    print("launch", "ns", launch.median, launch.spread);
    if (machine_file) write_machine_file(*machine_file, device, csv);
    return 0;
}
