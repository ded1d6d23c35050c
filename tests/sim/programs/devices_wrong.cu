// Faults of programs with several devices: the argument says which. Each is one finding.
#include <cstdio>
#include <cstring>
#include <nccl.h>
#include <thread>

#include "../../../sim/core/devices.h"
#include "check.h"

__global__ void put(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }

__global__ void set(int* to, int value) { to[threadIdx.x] = value; }

static int *a[3], *b[3];
static cudaStream_t stream[3];
static ncclComm_t comm[3];
static const char* fault;

static bool is(const char* name) { return !strcmp(fault, name); }

static void enable(int device, int peer)
{
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceEnablePeerAccess(peer, 0));
}

static void synchronize()
{
    for (int d = 0; d < 3; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
}

static void messages()
{
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    if (is("foreign_id")) id.internal[0] = 'x';
    if (is("ranks_one_by_one")) {
        for (int d = 0; d < 2; ++d) {
            cudaSetDevice(d);
            printf("%d: %s\n", d, ncclGetErrorString(ncclCommInitRank(&comm[d], 2, id, d)));
        }
        return;
    }
    ncclGroupStart();
    for (int d = 0; d < 3; ++d) {
        cudaSetDevice(d);
        const ncclResult_t result = ncclCommInitRank(&comm[d], is("too_many_ranks") ? 17 : 3, id, d);
        if (result == ncclSuccess) continue;
        printf("%d: %s\n", d, ncclGetErrorString(result));
        return;
    }
    ncclGroupEnd();
    ncclGroupStart();
    if (!is("lone_receive")) {
        const int* data = is("message_of_peer") ? a[1] : a[0];
        ncclSend(data, is("message_too_long") ? 2000 : 32, ncclInt, 1, comm[0], stream[0]);
    }
    if (is("not_ours")) ncclSend(a[1], 32, ncclInt, 1, reinterpret_cast<ncclComm_t>(a), stream[1]);
    if (!is("message_of_peer") && !is("message_too_long"))
        ncclRecv(b[1], is("counts_differ") ? 31 : 32, ncclInt, 0, comm[1], stream[1]);
    if (is("received_twice")) {
        ncclSend(a[2], 32, ncclInt, 1, comm[2], stream[2]);
        ncclRecv(b[1], 32, ncclInt, 2, comm[1], stream[1]);
    }
    printf("group: %s\n", ncclGetErrorString(ncclGroupEnd()));
    if (is("collective")) ncclAllReduce(a[0], b[0], 32, ncclInt, ncclSum, comm[0], stream[0]);
}

// A rank for each host thread. The second never sends what the first waits for.
static void threads()
{
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    std::thread rank[2];
    for (int d = 0; d < 2; ++d)
        rank[d] = std::thread([=] {
            cudaSetDevice(d);
            ncclCommInitRank(&comm[d], 2, id, d);
            const bool right = is("threads");
            if (right || d == 1) ncclSend(a[d], 32, ncclInt, 1 - d, comm[d], stream[d]);
            if (right || d == 1) ncclRecv(b[d], 32, ncclInt, 1 - d, comm[d], stream[d]);
            cudaStreamSynchronize(stream[d]);
        });
    for (std::thread& r : rank) r.join();
}

int main(int, char** arguments)
{
    fault = arguments[1];
    if (sim_quiet_report) sim_quiet_report();
    if (is("too_many")) sim_use_devices(17);
    if (!is("too_late")) sim_use_devices(3);
    for (int d = 0; d < 3 && !is("too_late"); ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&a[d], 4096));
        CHECK(cudaMalloc(&b[d], 33 * sizeof(int)));
        CHECK(cudaMemset(a[d], d, 4096));
        CHECK(cudaDeviceSynchronize());  // the host does not wait for cudaMemset, nor do the streams
        CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
    }
    cudaEvent_t event;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&event));
    if (is("too_late")) sim_use_devices(3);

    if (is("no_access_store")) set<<<1, 32>>>(a[1], 7);
    if (is("no_access_load")) put<<<1, 32>>>(a[0], a[2]);
    if (is("wrong_stream")) set<<<1, 32, 0, stream[1]>>>(a[0], 7);
    if (is("wrong_stream_unseen")) set<<<1, 32, 0, stream[1]>>>(a[0], 7);
    if (is("wrong_event")) printf("record: %s\n", cudaGetErrorName(cudaEventRecord(event, stream[1])));
    if (is("peer_copy_source")) printf("%s\n", cudaGetErrorName(cudaMemcpyPeer(b[1], 1, a[0], 2, 128)));
    if (is("out_of_bounds")) {
        enable(0, 1);
        set<<<1, 64>>>(b[1], 7);
    }

    if (is("race_of_stores")) {
        enable(0, 2);
        enable(1, 2);
        for (int d = 0; d < 2; ++d) {
            CHECK(cudaSetDevice(d));
            set<<<1, 32, 0, stream[d]>>>(a[2], d);
        }
    }
    if (is("race_of_copy") || is("event")) {
        CHECK(cudaSetDevice(0));
        set<<<1, 32, 0, stream[0]>>>(a[0], 1);
        if (is("event")) {
            CHECK(cudaEventRecord(event, stream[0]));
            CHECK(cudaStreamWaitEvent(stream[1], event, 0));
        }
        CHECK(cudaMemcpyPeerAsync(b[1], 1, a[0], 0, 128, stream[1]));
    }
    if (is("event_too_early")) {
        CHECK(cudaEventRecord(event, stream[0]));
        set<<<1, 32, 0, stream[0]>>>(a[0], 1);
        CHECK(cudaStreamWaitEvent(stream[1], event, 0));
        CHECK(cudaMemcpyPeerAsync(b[1], 1, a[0], 0, 128, stream[1]));
    }
    if (is("synchronize")) {
        set<<<1, 32, 0, stream[0]>>>(a[0], 1);
        CHECK(cudaSetDevice(0));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpyPeerAsync(b[1], 1, a[0], 0, 128, stream[1]));
    }
    if (is("race_with_message")) {
        CHECK(cudaSetDevice(1));
        set<<<1, 33>>>(b[1], 1);  // the default stream does not wait for stream[1], nor the other way round
    }
    if (is("thread_that_ends") || is("threads")) threads();
    if (strstr(fault, "_message") && !strncmp(fault, "race", 4)) messages();
    if (is("ordered_by_message")) {
        enable(0, 2);
        enable(1, 2);
        CHECK(cudaSetDevice(0));
        set<<<1, 32, 0, stream[0]>>>(a[2], 1);
        messages();
        CHECK(cudaSetDevice(1));
        put<<<1, 32, 0, stream[1]>>>(a[1], a[2]);
    }
    if (!strncmp(fault, "nccl_", 5)) {
        fault += 5;
        messages();
    }

    if (is("wrong_stream")) printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaSetDevice(0));
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("afterwards: %s\n", cudaGetErrorName(error));
        return 0;
    }
    synchronize();
    for (int d = 0; d < 3; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamDestroy(stream[d]));
        CHECK(cudaFree(a[d]));
        CHECK(cudaFree(b[d]));
    }
}
