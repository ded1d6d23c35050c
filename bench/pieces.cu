// Why is a larger tile faster? Step 7's tile has longer rows, its blocks are fewer, and they have more bytes in flight.
// Each trial changes one of these and keeps the others. Not part of any step.
//
//   make pieces && ./pieces > pieces.csv          (needs a GPU)
//   ./pieces --once                               (each kernel once, for a profiler)
//
// A block moves a tile of `wide` x `high` elements: rows of `wide` elements of idata, rows of `high` elements of odata.
// Such a row is a piece. Three kernels share the loops: `transpose` does both sides, `read` loads the tile alone and
// `write` stores a tile alone, so that each side is seen alone. `offset` moves every row of idata (read) or of odata
// (write) by so many elements away from a multiple of 128 bytes. All trials of a matrix take turns, and the median of
// each is reported next to cudaMemcpy's. Every transpose is checked. Exits 3 on a CUDA error, 1 on a wrong result.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/elements.h"
#include "common/base/statistics.h"

enum Side { transpose, read, write };
// Blocks go along the rows of tiles, down the columns, or through groups of 2 x 2 or 4 x 4 tiles, group after group
// along the rows.
enum Order { rows, columns, groups_of_2, groups_of_4 };

__device__ void place(int order, unsigned id, unsigned wide, unsigned high, unsigned& x, unsigned& y)
{
    if (order == rows) {
        x = id % wide, y = id / wide;
    } else if (order == columns) {
        x = id / high, y = id % high;
    } else {
        const unsigned side = order == groups_of_2 ? 2 : 4, group = id / (side * side), inside = id % (side * side);
        x = group % (wide / side) * side + inside % side, y = group / (wide / side) * side + inside / side;
    }
}

// TILES tiles below each other, one after another. The sides of the matrix are multiples of the tile's.
template <typename T, int WIDE, int HIGH, int WARPS, int TILES, bool FIRST, Side SIDE>
__global__ void __launch_bounds__(32 * WARPS) move(T* odata, const T* idata, int width, int height, int order)
{
    extern __shared__ char memory[];
    T(*tile)[WIDE + 1] = reinterpret_cast<T(*)[WIDE + 1]>(memory);
    unsigned tile_x, tile_y;
    place(order, blockIdx.x, width / WIDE, height / (HIGH * TILES), tile_x, tile_y);
    for (int k = 0; k < TILES; ++k) {
        const int left = tile_x * WIDE, top = (tile_y * TILES + k) * HIGH;
        if (SIDE != write) {
            T in[HIGH / WARPS][WIDE / 32];
#pragma unroll
            for (int j = 0; j < HIGH / WARPS; ++j)
#pragma unroll
                for (int i = 0; i < WIDE / 32; ++i) {
                    in[j][i] = idata[size_t(top + threadIdx.y + j * WARPS) * width + left + threadIdx.x + 32 * i];
                    if (!FIRST) tile[threadIdx.y + j * WARPS][threadIdx.x + 32 * i] = in[j][i];
                }
            if (FIRST)
#pragma unroll
                for (int j = 0; j < HIGH / WARPS; ++j)
#pragma unroll
                    for (int i = 0; i < WIDE / 32; ++i)
                        tile[threadIdx.y + j * WARPS][threadIdx.x + 32 * i] = in[j][i];
            __syncthreads();
        }
        if (SIDE == read) {  // something must depend on the tile
            if (tile[threadIdx.y][threadIdx.x] == T(-1)) odata[0] = 0;
        } else {
#pragma unroll
            for (int j = 0; j < WIDE / WARPS; ++j)
#pragma unroll
                for (int i = 0; i < HIGH / 32; ++i)
                    odata[size_t(left + threadIdx.y + j * WARPS) * height + top + threadIdx.x + 32 * i] =
                        SIDE == write ? T(threadIdx.x) : tile[threadIdx.x + 32 * i][threadIdx.y + j * WARPS];
        }
        if (TILES > 1) __syncthreads();
    }
}

struct Trial {
    Side side;
    std::string columns;  // of the CSV file, from `side` to `offset`
    std::function<void()> run;
    std::vector<double> seconds = {};
};

template <typename T>
struct Trials {
    T *out, *in;
    int width, height;
    std::vector<Trial> all = {};

    // At most so many blocks run on an SM at a time: the rest of its shared memory is asked for and not used.
    // 0: as many as fit.
    template <int WIDE, int HIGH, int WARPS, int TILES = 1, bool FIRST = true, Side SIDE = transpose>
    void add(int order, int limit = 0, int offset = 0)
    {
        if (width % (WIDE * 4) || height % (HIGH * TILES * 4)) return;
        const auto kernel = move<T, WIDE, HIGH, WARPS, TILES, FIRST, SIDE>;
        int per_sm = 0, per_block = 0, blocks = 0, bytes = HIGH * (WIDE + 1) * sizeof(T);
        CUDA(cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
        if (limit) bytes = std::max(bytes, per_sm / limit - 1024 - 1024);
        CUDA(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
        bytes = std::min(bytes, per_block);
        CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, per_block));
        CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * WARPS, bytes));
        static const char *const sides[] = {"transpose", "read", "write"},
                          *const orders[] = {"rows", "columns", "groups of 2 x 2", "groups of 4 x 4"};
        char text[200];
        snprintf(text, sizeof text, "%s,%d,%d,%d,%d,%d,%d,%s,%d", sides[SIDE], WIDE, HIGH, WARPS, TILES, FIRST, blocks,
                 orders[order], offset);
        const int grid = width / WIDE * (height / (HIGH * TILES));
        all.push_back({SIDE, text, [kernel, grid, bytes, order, to = out + offset, from = in + offset, columns = width,
                                    lines = height] {
                           kernel<<<grid, dim3(32, WARPS), bytes>>>(to, from, columns, lines, order);
                           CUDA(cudaGetLastError());
                       }});
    }

    template <int WIDE, int HIGH, int WARPS>
    void sides()
    {
        for (const Order order : {rows, columns}) {
            add<WIDE, HIGH, WARPS>(order);
            for (const int offset : {0, 1, int(32 / sizeof(T))}) {
                add<WIDE, HIGH, WARPS, 1, true, read>(order, 0, offset);
                add<WIDE, HIGH, WARPS, 1, true, write>(order, 0, offset);
            }
        }
    }
};

// Runs all trials in turns, and prints a line of the CSV file for each.
template <typename T>
void time_in_turns(Trials<T>& trials, const char* type, size_t bytes)
{
    std::vector<double> copies;
    const auto copy = [&] { CUDA(cudaMemcpyAsync(trials.out, trials.in, bytes, cudaMemcpyDeviceToDevice)); };
    for (int sample = 0; sample < 11; ++sample) {
        copies.push_back(event_seconds(copy));
        for (Trial& t : trials.all) t.seconds.push_back(event_seconds(t.run));
    }
    const std::string card = card_columns();
    const double copied = harness::bandwidth_gbs(2 * bytes, 1e3 * harness::summarize(copies).median);
    for (const Trial& t : trials.all) {
        const harness::Summary time = harness::summarize(t.seconds);
        const double gbs = harness::bandwidth_gbs((t.side == transpose ? 2 : 1) * bytes, 1e3 * time.median);
        printf("%s,%s,%d,%d,%s,%.1f,%.1f,%.4f\n", card.c_str(), type, trials.width, trials.height, t.columns.c_str(),
               gbs, 100 * time.spread, gbs / copied);
    }
}

template <typename T>
void measure(const char* type, int width, int height, bool once)
{
    const size_t n = size_t(width) * height, bytes = n * sizeof(T);
    Trials<T> trials{nullptr, nullptr, width, height};
    CUDA(cudaMalloc(&trials.out, bytes + 128));
    CUDA(cudaMalloc(&trials.in, bytes + 128));
    fill<<<1024, 256>>>(trials.in, n);

    // Step 4, its way to step 7, and the tile as a whole.
    trials.template add<32, 32, 8, 1, false>(rows);
    trials.template add<64, 64, 8, 1, false>(rows);
    trials.template add<64, 64, 16, 1, false>(rows);
    // The same bytes in flight on an SM with tiles of 32 x 32, and fewer with tiles of 64 x 64.
    for (const Order order : {rows, columns}) {
        trials.template add<32, 32, 4>(order);
        for (const int limit : {2, 4, 6}) trials.template add<32, 32, 8>(order, limit);
        for (const int limit : {1, 2, 3}) trials.template add<64, 64, 16>(order, limit);
    }
    // As few blocks and as short rows: four, or sixteen, tiles of 32 x 32 one after another.
    for (const Order order : {rows, columns}) {
        trials.template add<32, 32, 8, 4>(order);
        trials.template add<32, 32, 4, 4>(order);
        trials.template add<32, 32, 8, 16>(order);
    }
    // Short rows whose neighbours come at about the same time.
    trials.template add<32, 32, 8>(groups_of_2);
    trials.template add<32, 32, 8>(groups_of_4);
    trials.template add<32, 32, 4>(groups_of_2);
    trials.template add<64, 64, 16>(groups_of_2);
    // Rows of 128 to 1024 bytes (float), each side by itself, too.
    trials.template sides<32, 32, 8>();
    trials.template sides<32, 64, 8>();
    trials.template sides<64, 32, 8>();
    trials.template sides<32, 128, 16>();
    trials.template sides<64, 64, 16>();
    trials.template sides<128, 32, 16>();
    trials.template sides<64, 128, 16>();
    trials.template sides<128, 64, 16>();
    trials.template sides<128, 128, 32>();
    trials.template sides<256, 32, 16>();
    trials.template sides<32, 256, 16>();

    for (Trial& t : trials.all) {
        CUDA(cudaMemset(trials.out, 0xff, bytes));
        t.run();
        const auto wrong = t.side == transpose ? wrong_elements(trials.out, width, height, n) : 0;
        if (!wrong) continue;
        fprintf(stderr, "pieces: %s, %d x %d %s: %llu elements are wrong\n", t.columns.c_str(), width, height, type,
                wrong);
        exit(harness::status_wrong_result);
    }
    if (!once) time_in_turns(trials, type, bytes);
    CUDA(cudaFree(trials.out));
    CUDA(cudaFree(trials.in));
}

int main(int argc, char** argv)
{
    const bool once = !arguments_of(argc, argv, "Changes one property of step 7's tile at a time, and times each. "
                                    "--once runs each kernel once, for a profiler.", {"--once"}).empty();
    card_columns();  // or no heading either
    printf("date_utc,machine,cuda_driver,type,width,height,side,wide,high,warps,tiles_per_block,loads_first,"
           "blocks_per_sm,order,offset,bandwidth_gbs,spread_percent,of_memcpy\n");
    measure<float>("float", 16384, 16384, once);
    if (once) return 0;
    measure<float>("float", 8192, 8192, once);
    measure<float>("float", 32768, 32768, once);
    measure<double>("double", 16384, 16384, once);
    return 0;
}
