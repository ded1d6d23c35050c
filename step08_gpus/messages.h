// NCCL, and what a transpose by messages needs of memory.

#pragma once

#include <nccl.h>

#include "gpus.h"

constexpr int CHUNKS = 8;  // packing, sending and unpacking overlap in so many parts

#define NCCL(call) succeed(call, #call, __FILE__, __LINE__)

inline void succeed(ncclResult_t status, const char* call, const char* file, int line)
{
    if (status == ncclSuccess) return;
    throw harness::Error{harness::status_no_device, harness::format("%s:%d: %s: %s", file, line, call, ncclGetErrorString(status))};
}

// Of each of this process's GPUs.
struct Messages {
    ncclComm_t comm[MAX_GPUS];
    void *send[MAX_GPUS], *receive[MAX_GPUS];  // see message_bytes() in main.cu
    cudaStream_t wire[MAX_GPUS], unpack[MAX_GPUS];
    cudaEvent_t packed[MAX_GPUS][CHUNKS], arrived[MAX_GPUS][CHUNKS], begun[MAX_GPUS], done[MAX_GPUS];
};
