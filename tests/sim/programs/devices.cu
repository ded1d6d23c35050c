// Each device sends a piece to every other one: by stores, by loads, by copies, and by messages. The counts are known.
#include <cstdio>
#include <cstdlib>
#include <nccl.h>

#include "../../../sim/core/devices.h"
#include "check.h"

#define NCCL(call)                                                                                    \
    do {                                                                                              \
        const ncclResult_t error = (call);                                                            \
        if (error != ncclSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetErrorString(error)); \
            exit(EXIT_FAILURE);                                                                       \
        }                                                                                             \
    } while (0)

constexpr int most = 16, piece = 1000;  // ints that a device sends to another

__host__ __device__ inline int value(int from, int to, int i) { return (from * most + to) * piece + i; }

__global__ void fill(int* data, int me, int gpus)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < gpus * piece; i += gridDim.x * blockDim.x)
        data[i] = value(me, i / piece, i % piece);
}

__global__ void put(int* to, const int* from)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < piece) to[i] = from[i];
}

static int* in[most];
static int* out[most];
static cudaStream_t stream[most];
static ncclComm_t comm[most];
static int gpus, wrong = 0;

static void synchronize()
{
    for (int d = 0; d < gpus; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
}

template <typename Send>
static void exchange(const char* name, Send send)
{
    for (int d = 0; d < gpus; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemset(in[d], 0xff, gpus * piece * sizeof(int)));
    }
    synchronize();
    if (sim_take_traffic) sim_take_traffic();
    send();
    synchronize();
    for (int d = 0; d < gpus; ++d) {
        static int h[most * piece];
        CHECK(cudaMemcpy(h, in[d], gpus * piece * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < gpus * piece; ++i) wrong += i / piece != d && h[i] != value(i / piece, d, i % piece);
    }
    if (!sim_take_traffic) return;
    const sim::Traffic& t = *sim_take_traffic();
    unsigned long long diagonal = 0, least[6], largest[6] = {};
    bool first = true;
    for (int from = 0; from < gpus; ++from)
        for (int to = 0; to < gpus; ++to) {
            const unsigned long long counts[] = {t.bytes[from][to], t.asked[from][to],    t.stores[from][to],
                                                 t.loads[from][to], t.messages[from][to], t.message_bytes[from][to]};
            for (int k = 0; k < 6; ++k) {
                if (from == to) {
                    diagonal += counts[k];
                    continue;
                }
                if (first || counts[k] < least[k]) least[k] = counts[k];
                if (first || counts[k] > largest[k]) largest[k] = counts[k];
            }
            first = first && from == to;
        }
    printf("%s: %d devices, diagonal %llu,", name, t.gpus, diagonal);
    if (first) {
        printf(" nothing else, windows %llu, busiest %.3f\n", t.windows, t.busiest_receiver);
        return;
    }
    const char* const names[] = {"bytes", "asked", "stores", "loads", "messages", "message_bytes"};
    for (int k = 0; k < 6; ++k)
        printf(least[k] == largest[k] ? " %s %llu" : " %s %llu to %llu", names[k], least[k], largest[k]);
    printf(", windows %llu, busiest %.3f\n", t.windows, t.busiest_receiver);
}

int main(int argc, char** argv)
{
    if (sim_use_devices && argc > 1) sim_use_devices(atoi(argv[1]));
    CHECK(cudaGetDeviceCount(&gpus));
    for (int d = 0; d < gpus; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&in[d], gpus * piece * sizeof(int)));
        CHECK(cudaMalloc(&out[d], gpus * piece * sizeof(int)));
        CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
        for (int peer = 0; peer < gpus; ++peer)
            if (peer != d) CHECK(cudaDeviceEnablePeerAccess(peer, 0));
        fill<<<4, 256>>>(out[d], d, gpus);
        CHECK(cudaGetLastError());
    }
    NCCL(ncclCommInitAll(comm, gpus, nullptr));

    const auto stores = [](int d, int to) {
        put<<<(piece + 255) / 256, 256, 0, stream[d]>>>(in[to] + d * piece, out[d] + to * piece);
    };
    // All devices send to device 0 first, and so on.
    exchange("stores, plain order", [&] {
        for (int d = 0; d < gpus; ++d) {
            CHECK(cudaSetDevice(d));
            for (int to = 0; to < gpus; ++to)
                if (to != d) stores(d, to);
                else put<<<1, 1, 0, stream[d]>>>(in[d] + d * piece, out[d]);
        }
    });
    exchange("stores, rotated order", [&] {
        for (int d = 0; d < gpus; ++d) {
            CHECK(cudaSetDevice(d));
            for (int step = 1; step < gpus; ++step) stores(d, (d + step) % gpus);
        }
    });
    exchange("loads", [&] {
        for (int d = 0; d < gpus; ++d) {
            CHECK(cudaSetDevice(d));
            for (int step = 1; step < gpus; ++step) {
                const int from = (d + step) % gpus;
                put<<<(piece + 255) / 256, 256, 0, stream[d]>>>(in[d] + from * piece, out[from] + d * piece);
            }
        }
    });
    exchange("copies", [&] {
        for (int d = 0; d < gpus; ++d)
            for (int step = 1; step < gpus; ++step) {
                const int to = (d + step) % gpus;
                int* const there = in[to] + d * piece;
                const int* const here = out[d] + to * piece;
                CHECK(cudaSetDevice(d));
                if (step % 3 == 0) CHECK(cudaMemcpyPeerAsync(there, to, here, d, piece * sizeof(int), stream[d]));
                else if (step % 3 == 1)
                    CHECK(cudaMemcpyAsync(there, here, piece * sizeof(int), cudaMemcpyDefault, stream[d]));
                else CHECK(cudaMemcpy2DAsync(there, 40, here, 40, 40, piece / 10, cudaMemcpyDeviceToDevice, stream[d]));
            }
    });
    exchange("messages", [&] {
        NCCL(ncclGroupStart());
        for (int d = 0; d < gpus; ++d)
            for (int peer = 0; peer < gpus; ++peer) {
                if (peer == d) continue;
                NCCL(ncclSend(out[d] + peer * piece, piece, ncclInt, peer, comm[d], stream[d]));
                NCCL(ncclRecv(in[d] + peer * piece, piece * sizeof(int), ncclChar, peer, comm[d], stream[d]));
            }
        NCCL(ncclGroupEnd());
    });
    for (int d = 0; d < gpus; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamDestroy(stream[d]));
        CHECK(cudaFree(in[d]));
        CHECK(cudaFree(out[d]));
        NCCL(ncclCommDestroy(comm[d]));
    }
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
