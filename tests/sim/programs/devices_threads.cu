// A host thread for each device, and a ring of messages: in each round, all pass on what they got. Nothing is wrong.
#include <cstdio>
#include <nccl.h>
#include <thread>
#include <vector>

#include "check.h"

constexpr int length = 64, rounds = 20;

__global__ void reverse(int* data)
{
    __shared__ int copy[length];
    copy[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = copy[length - 1 - threadIdx.x];
}

int main()
{
    int gpus;
    CHECK(cudaGetDeviceCount(&gpus));
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    std::vector<int> wrong(gpus);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < gpus; ++rank)
        threads.emplace_back([=, &wrong] {
            CHECK(cudaSetDevice(rank));
            ncclComm_t comm;
            wrong[rank] += ncclCommInitRank(&comm, gpus, id, rank) != ncclSuccess;
            int *sent, *received, h[length];
            cudaStream_t stream;
            CHECK(cudaStreamCreate(&stream));
            CHECK(cudaMalloc(&sent, sizeof h));
            CHECK(cudaMalloc(&received, sizeof h));
            for (int i = 0; i < length; ++i) h[i] = rank * length + i;
            CHECK(cudaMemcpyAsync(sent, h, sizeof h, cudaMemcpyHostToDevice, stream));
            for (int round = 0; round < rounds; ++round) {
                reverse<<<1, length, 0, stream>>>(sent);
                ncclGroupStart();
                ncclSend(sent, length, ncclInt, (rank + 1) % gpus, comm, stream);
                ncclRecv(received, length, ncclInt, (rank + gpus - 1) % gpus, comm, stream);
                wrong[rank] += ncclGroupEnd() != ncclSuccess;
                reverse<<<1, length, 0, stream>>>(received);
                CHECK(cudaMemcpyAsync(sent, received, sizeof h, cudaMemcpyDeviceToDevice, stream));
            }
            CHECK(cudaMemcpyAsync(h, sent, sizeof h, cudaMemcpyDeviceToHost, stream));
            CHECK(cudaStreamSynchronize(stream));
            const int from = (rank + gpus * rounds - rounds) % gpus;
            for (int i = 0; i < length; ++i) wrong[rank] += h[i] != from * length + i;
            CHECK(cudaStreamDestroy(stream));
            CHECK(cudaFree(sent));
            CHECK(cudaFree(received));
            ncclCommDestroy(comm);
        });
    for (std::thread& thread : threads) thread.join();
    int sum = 0;
    for (int w : wrong) sum += w;
    printf(sum ? "FAILED\n" : "PASSED\n");
    return sum != 0;
}
