// Streams, pinned memory, events between streams, and functions of the host in a stream. Nothing is wrong.
#include <cstdio>

#include "check.h"

__global__ void fill(int* data, const int* factor, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; ++r) data[i] = r == 0 ? *factor : data[i] + *factor;
}

static int called = 0;
static void CUDART_CB count(cudaStream_t, cudaError_t status, void* data)
{
    called += status == cudaSuccess ? *static_cast<int*>(data) : 0;
}
static void CUDART_CB countMore(void* data) { called += *static_cast<int*>(data); }

int main()
{
    const int n = 4096, parts = 4, part = n / parts, factor = 5;
    int *h, *d, *d_factor, one = 1;
    CHECK(cudaHostAlloc((void**)&h, n * sizeof(int), cudaHostAllocDefault));
    CHECK(cudaMalloc(&d, n * sizeof(int)));
    CHECK(cudaMalloc(&d_factor, sizeof(int)));
    CHECK(cudaMemcpy(d_factor, &factor, sizeof(int), cudaMemcpyHostToDevice));
    int lowest, highest;
    CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    cudaStream_t streams[parts];
    CHECK(cudaStreamCreate(&streams[0]));
    CHECK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithPriority(&streams[2], cudaStreamNonBlocking, highest));
    CHECK(cudaStreamCreate(&streams[3]));
    cudaEvent_t start, stop, first;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    CHECK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
    CHECK(cudaEventRecord(start));
    for (int i = 0; i < parts; ++i) {
        fill<<<part / 128, 128, 0, streams[i]>>>(d + i * part, d_factor, 3);
        CHECK(cudaMemcpyAsync(h + i * part, d + i * part, part * sizeof(int), cudaMemcpyDeviceToHost, streams[i]));
        CHECK(cudaStreamAddCallback(streams[i], count, &one, 0));
        CHECK(cudaLaunchHostFunc(streams[i], countMore, &one));
    }
    CHECK(cudaEventRecord(first, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], first, 0));
    CHECK(cudaEventRecord(stop, streams[3]));
    for (cudaStream_t stream : streams) CHECK(cudaStreamSynchronize(stream));
    while (cudaEventQuery(stop) == cudaErrorNotReady) {}
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf("%.3f ms\n", ms);
    int wrong = called != 2 * parts;
    for (int i = 0; i < n; ++i) wrong += h[i] != 3 * factor;
    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaEventDestroy(first));
    CHECK(cudaFreeHost(h));
    CHECK(cudaFree(d));
    CHECK(cudaFree(d_factor));
    CHECK(cudaDeviceReset());
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
