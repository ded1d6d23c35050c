// What the programs that measure a card outside of the steps share.

#pragma once

#include <cuda_runtime.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "common/error.h"

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

// The first columns of a CSV file, date_utc,machine,cuda_driver, as they are now.
inline std::string card_columns()
{
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    int driver = 0;
    CUDA(cudaDriverGetVersion(&driver));
    char date[32];
    const time_t now = time(nullptr);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    return std::string(date) + "," + device.name + "," + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
}
