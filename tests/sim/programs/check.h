// Ends the program when a function of the CUDA runtime fails, as such macros do everywhere.

#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                   \
    do {                                                                                              \
        const cudaError_t error = (call);                                                             \
        if (error != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
            exit(EXIT_FAILURE);                                                                       \
        }                                                                                             \
    } while (0)
