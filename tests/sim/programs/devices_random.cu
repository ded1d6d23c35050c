// Random pieces go from device to device by stores, loads, atomic operations, copies and messages. What the host counts
// itself, the simulator has to count, too. Arguments: devices, moves, seed.
#include <cstdio>
#include <cstdlib>
#include <nccl.h>
#include <random>
#include <set>
#include <vector>

#include "../../../sim/core/devices.h"
#include "check.h"

constexpr int most = 16, length = 6000;  // ints that a device has

// Element i of the piece: from[i * from_step] to to[i * to_step]. Only threads whose bit is set in `lanes` take part.
__global__ void move(int* to, int to_step, const int* from, int from_step, int n, unsigned lanes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && lanes >> threadIdx.x % 32 & 1) to[i * to_step] = from[i * from_step];
}

__global__ void add(int* to, int to_step, const int* from, int from_step, int n, unsigned lanes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && lanes >> threadIdx.x % 32 & 1) atomicAdd(&to[i * to_step], from[i * from_step]);
}

// The even lanes store to one device, the odd ones to another.
__global__ void deal(int* even, int* odd, const int* from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* const to = i % 2 ? odd : even;
    if (i < n) to[i] = from[i];
}

struct Counts {
    unsigned long long bytes, asked, stores, loads, messages, message_bytes;
};
static Counts expected[most][most];

// The sectors that warps touch, from `offset` (in ints) on.
static void count_requests(int from, int to, bool loads, int offset, int step, int n, unsigned lanes)
{
    for (int warp = 0; warp < n; warp += 32) {
        std::set<int> sectors;
        int asked = 0;
        for (int i = warp; i < n && i < warp + 32; ++i)
            if (lanes >> i % 32 & 1) {
                sectors.insert((offset + i * step) / 8);
                ++asked;
            }
        if (!asked || from == to) continue;
        Counts& c = expected[from][to];
        c.bytes += 32 * sectors.size();
        c.asked += 4 * asked;
        (loads ? c.loads : c.stores) += 1;
    }
}

static void count_message(int from, int to, int n)
{
    if (from == to) return;
    expected[from][to].messages += 1;
    expected[from][to].message_bytes += 4 * n;
}

int main(int, char** arguments)
{
    const int gpus = atoi(arguments[1]), moves = atoi(arguments[2]);
    std::mt19937 random(atoi(arguments[3]));
    const auto below = [&](int n) { return int(random() % n); };
    sim_use_devices(gpus);
    int* data[most];
    ncclComm_t comm[most];
    std::vector<std::vector<int>> mirror(gpus, std::vector<int>(length));
    for (int d = 0; d < gpus; ++d) {
        for (int& value : mirror[d]) value = int(random());
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&data[d], length * sizeof(int)));
        CHECK(cudaMemcpy(data[d], mirror[d].data(), length * sizeof(int), cudaMemcpyHostToDevice));
        for (int peer = 0; peer < gpus; ++peer)
            if (peer != d) CHECK(cudaDeviceEnablePeerAccess(peer, 0));
    }
    if (ncclCommInitAll(comm, gpus, nullptr) != ncclSuccess) return 1;
    sim_take_traffic();

    for (int m = 0; m < moves; ++m) {
        const int from = below(gpus), to = below(gpus), n = 1 + below(500), kind = below(6), block = 32 << below(4),
                  blocks = (n + block - 1) / block;
        const int to_step = 1 + below(5), from_step = 1 + below(5);
        // The lower half of a device's memory is read, the upper half is written.
        const int source = below(length / 2 - (n - 1) * from_step),
                  target = length / 2 + below(length / 2 - (n - 1) * to_step);
        const unsigned lanes = below(2) ? ~0u : unsigned(random());
        int *const there = data[to] + target, *const here = data[from] + source;
        const auto mirrored = [&](int step_to, int step_from, unsigned with, bool adds) {
            for (int i = 0; i < n; ++i)
                if (with >> i % 32 & 1)
                    mirror[to][target + i * step_to] = (adds ? unsigned(mirror[to][target + i * step_to]) : 0u) +
                                                       unsigned(mirror[from][source + i * step_from]);
        };
        switch (kind) {
            case 0:  // a kernel of any device: it loads from one and stores to another
            case 1: {
                const int by = below(gpus);
                CHECK(cudaSetDevice(by));
                if (kind == 0) move<<<blocks, block>>>(there, to_step, here, from_step, n, lanes);
                else add<<<blocks, block>>>(there, to_step, here, from_step, n, lanes);
                count_requests(from, by, true, source, from_step, n, lanes);
                count_requests(by, to, false, target, to_step, n, lanes);
                mirrored(to_step, from_step, lanes, kind == 1);
                break;
            }
            case 2: {
                const int odd = below(gpus), same = length / 2 + below(length / 2 - n);
                if (odd == to) break;  // then the lanes of both halves make one request
                CHECK(cudaSetDevice(from));
                deal<<<blocks, block>>>(data[to] + same, data[odd] + same, here, n);
                for (int i = 0; i < n; ++i) mirror[i % 2 ? odd : to][same + i] = mirror[from][source + i];
                count_requests(from, to, false, same, 1, n, 0x55555555);
                count_requests(from, odd, false, same, 1, n, 0xaaaaaaaa);
                break;
            }
            case 3:
                CHECK(cudaSetDevice(below(gpus)));
                if (below(2)) CHECK(cudaMemcpyPeer(there, to, here, from, n * sizeof(int)));
                else
                    CHECK(cudaMemcpy(there, here, n * sizeof(int),
                                     below(2) ? cudaMemcpyDefault : cudaMemcpyDeviceToDevice));
                count_message(from, to, n);
                mirrored(1, 1, ~0u, false);
                break;
            case 4: {
                const int rows = 1 + below(5), pitch = n / rows, width = pitch ? 1 + below(pitch) : 0;
                if (!pitch) break;
                CHECK(cudaSetDevice(to));
                CHECK(cudaMemcpy2DAsync(there, pitch * sizeof(int), here, pitch * sizeof(int), width * sizeof(int),
                                        rows, cudaMemcpyDeviceToDevice));
                count_message(from, to, rows * width);
                for (int y = 0; y < rows; ++y)
                    for (int x = 0; x < width; ++x)
                        mirror[to][target + y * pitch + x] = mirror[from][source + y * pitch + x];
                break;
            }
            case 5:
                ncclGroupStart();
                ncclSend(here, n, ncclInt, to, comm[from], nullptr);
                ncclRecv(there, n, ncclInt, from, comm[to], nullptr);
                if (ncclGroupEnd() != ncclSuccess) return 1;
                count_message(from, to, n);
                mirrored(1, 1, ~0u, false);
                break;
        }
        for (int d = 0; d < gpus; ++d) {
            CHECK(cudaSetDevice(d));
            CHECK(cudaDeviceSynchronize());
        }
    }

    int wrong = 0;
    const sim::Traffic& t = *sim_take_traffic();
    unsigned long long sent = 0, pictured = 0;
    for (int from = 0; from < gpus; ++from)
        for (int to = 0; to < gpus; ++to) {
            const Counts c{t.bytes[from][to], t.asked[from][to],    t.stores[from][to],
                           t.loads[from][to], t.messages[from][to], t.message_bytes[from][to]},
                e = expected[from][to];
            const bool same = c.bytes == e.bytes && c.asked == e.asked && c.stores == e.stores && c.loads == e.loads &&
                              c.messages == e.messages && c.message_bytes == e.message_bytes;
            if (!same)
                printf("%d to %d: counted %llu %llu %llu %llu %llu %llu, expected %llu %llu %llu %llu %llu %llu\n",
                       from, to, c.bytes, c.asked, c.stores, c.loads, c.messages, c.message_bytes, e.bytes, e.asked,
                       e.stores, e.loads, e.messages, e.message_bytes);
            wrong += !same;
            sent += c.bytes + c.message_bytes;
            for (int w = 0; w < t.pictured; ++w) pictured += t.picture[w][from][to];
        }
    if (sent != pictured || t.gpus != gpus) ++wrong;
    for (int d = 0; d < gpus; ++d) {
        std::vector<int> found(length);
        CHECK(cudaMemcpy(found.data(), data[d], length * sizeof(int), cudaMemcpyDeviceToHost));
        wrong += found != mirror[d];
        CHECK(cudaFree(data[d]));
        ncclCommDestroy(comm[d]);
    }
    printf("%llu bytes in %llu windows, %d pictured\n", sent, t.windows, t.pictured);
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
