// What the programs that measure a card outside of the steps share.

#pragma once

#include <cuda_runtime.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "bench/arguments.h"
#include "common/base/error.h"
#include "common/base/statistics.h"

// Exits 3, naming the call and its place, unless `call` succeeded.
#define CUDA(call)                                                                                                   \
    do {                                                                                                             \
        const cudaError_t status = (call);                                                                           \
        if (status != cudaSuccess) {                                                                                 \
            fprintf(stderr, "%s: %s:%d: %s: %s\n", program_invocation_short_name, __FILE__, __LINE__, #call,           \
                    cudaGetErrorString(status));                                                                     \
            exit(harness::status_no_device);                                                                         \
        }                                                                                                            \
    } while (0)

// The first columns of a CSV file, date_utc,machine,cuda_driver, as they are now. Exits 3 where there is no GPU.
inline std::string card_columns()
{
    int count = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess || count == 0) {
        fprintf(stderr, "%s: needs a GPU: %s\n", program_invocation_short_name,
                status ? cudaGetErrorString(status) : "none installed");
        exit(harness::status_no_device);
    }
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    int driver = 0;
    CUDA(cudaDriverGetVersion(&driver));
    char date[32];
    const time_t now = time(nullptr);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    return std::string(date) + "," + device.name + "," + std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10);
}

// Seconds of one run of `work`, which launches into `stream`, by CUDA events.
inline double event_seconds(const std::function<void()>& work, cudaStream_t stream = nullptr)
{
    static cudaEvent_t start = nullptr, stop = nullptr;
    if (!start) {
        CUDA(cudaEventCreate(&start));
        CUDA(cudaEventCreate(&stop));
    }
    CUDA(cudaEventRecord(start, stream));
    work();
    CUDA(cudaGetLastError());
    CUDA(cudaEventRecord(stop, stream));
    CUDA(cudaEventSynchronize(stop));
    float ms = 0;
    CUDA(cudaEventElapsedTime(&ms, start, stop));
    return ms / 1e3;
}

// The same, `count` samples after three that warm up.
inline harness::Summary seconds(const std::function<void()>& work, int count = 15)
{
    std::vector<double> samples;
    for (int i = -3; i < count; ++i) {
        const double sample = event_seconds(work);
        if (i >= 0) samples.push_back(sample);
    }
    return harness::summarize(samples);
}
