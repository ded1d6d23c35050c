// What each device has of its own, and what functions say about devices. Nothing is wrong.
#include <cstdio>
#include <cstring>
#include <thread>

#include "check.h"

__device__ int counter = 5;
__constant__ int factor;

__global__ void bump() { atomicAdd(&counter, factor); }

__global__ void increment(int* data) { data[threadIdx.x] += 1; }

static int wrong = 0;

static void expect(bool right, const char* what)
{
    if (!right) printf("not as expected: %s\n", what);
    wrong += !right;
}
#define EXPECT(condition) expect(condition, #condition)

int main()
{
    int gpus, device = -1, can = -1;
    CHECK(cudaGetDeviceCount(&gpus));
    int* data[16];
    for (int d = 0; d < gpus; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaGetDevice(&device));
        EXPECT(device == d);
        CHECK(cudaMalloc(&data[d], 32 * sizeof(int)));
        CHECK(cudaMemset(data[d], 0, 32 * sizeof(int)));
        size_t free, total;
        CHECK(cudaMemGetInfo(&free, &total));
        EXPECT(free <= total && total - free >= 128);
        cudaPointerAttributes attributes;
        CHECK(cudaPointerGetAttributes(&attributes, data[d] + 1));
        EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.device == d);
        cudaDeviceProp properties;
        CHECK(cudaGetDeviceProperties(&properties, d));
        char id[32];
        CHECK(cudaDeviceGetPCIBusId(id, sizeof id, d));
        CHECK(cudaDeviceGetByPCIBusId(&device, id));
        EXPECT(device == d);
        const int value = 10 + d;
        CHECK(cudaMemcpyToSymbol(factor, &value, sizeof value));
        for (int peer = 0; peer < gpus; ++peer) {
            CHECK(cudaDeviceCanAccessPeer(&can, d, peer));
            EXPECT(can == (peer != d));
            if (peer == d) continue;
            CHECK(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, d, peer));
            EXPECT(can == 1);
            EXPECT(cudaDeviceDisablePeerAccess(peer) == cudaErrorPeerAccessNotEnabled);
            CHECK(cudaDeviceEnablePeerAccess(peer, 0));
            EXPECT(cudaDeviceEnablePeerAccess(peer, 0) == cudaErrorPeerAccessAlreadyEnabled);
            CHECK(cudaDeviceDisablePeerAccess(peer));
            EXPECT(cudaDeviceEnablePeerAccess(peer, 1) == cudaErrorInvalidValue);
        }
        EXPECT(cudaDeviceEnablePeerAccess(d, 0) == cudaErrorPeerAccessUnsupported);
        EXPECT(cudaDeviceEnablePeerAccess(gpus, 0) == cudaErrorInvalidDevice);
    }
    EXPECT(cudaSetDevice(gpus) == cudaErrorInvalidDevice && cudaSetDevice(-1) == cudaErrorInvalidDevice);
    CHECK(cudaGetDevice(&device));
    EXPECT(device == gpus - 1);
    (void)cudaGetLastError();

    // Another host thread begins with device 0.
    std::thread([] {
        int mine = -1;
        CHECK(cudaGetDevice(&mine));
        EXPECT(mine == 0);
    }).join();

    // A variable of each device's own.
    for (int d = 0; d < gpus; ++d)
        for (int times = 0; times <= d; ++times) {
            CHECK(cudaSetDevice(d));
            bump<<<1, 1>>>();
            CHECK(cudaGetLastError());
        }
    for (int d = 0; d < gpus; ++d) {
        int value;
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
        EXPECT(value == 5 + (d + 1) * (10 + d));
    }

    // Streams and events of other devices can be waited for.
    cudaStream_t stream[16];
    cudaEvent_t event[16];
    for (int d = 0; d < gpus; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&event[d], cudaEventDisableTiming));
    }
    CHECK(cudaSetDevice(0));
    if (gpus > 1) CHECK(cudaDeviceEnablePeerAccess(1, 0));
    const int first = 0, last = gpus - 1;
    increment<<<1, 32, 0, stream[first]>>>(data[first]);
    CHECK(cudaEventRecord(event[first], stream[first]));
    CHECK(cudaStreamWaitEvent(stream[last], event[first], 0));
    CHECK(cudaMemcpyPeerAsync(data[last], last, data[first], first, 32 * sizeof(int), stream[last]));
    CHECK(cudaSetDevice(last));
    increment<<<1, 32, 0, stream[last]>>>(data[last]);
    CHECK(cudaEventRecord(event[last], stream[last]));
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventSynchronize(event[last]));
    int h[32];
    CHECK(cudaMemcpy(h, data[last], sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 2 && h[31] == 2);
    // A copy that blocks waits for the device whose memory it is.
    CHECK(cudaSetDevice(last));
    increment<<<1, 32>>>(data[last]);
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpy(h, data[last], sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 3);
    for (int d = 0; d < gpus; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventDestroy(event[d]));
        CHECK(cudaStreamDestroy(stream[d]));
        CHECK(cudaDeviceReset());
    }
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
