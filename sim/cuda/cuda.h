// The few functions of the CUDA driver that programs call next to the runtime.

#pragma once
#define __cuda_cuda_h__

#include "cuda_runtime_api.h"

#define CUDA_VERSION CUDART_VERSION
#define CUDAAPI

enum CUresult { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_DEVICE = 101 };
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUdeviceptr = unsigned long long;

inline CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
inline CUresult cuDriverGetVersion(int* version) { return CUresult(cudaDriverGetVersion(version)); }
inline CUresult cuDeviceGetCount(int* count) { return CUresult(cudaGetDeviceCount(count)); }
inline CUresult cuGetErrorName(CUresult error, const char** name)
{
    *name = error == CUDA_SUCCESS               ? "CUDA_SUCCESS"
            : error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
                                                : "CUDA_ERROR_INVALID_DEVICE";
    return CUDA_SUCCESS;
}
inline CUresult cuGetErrorString(CUresult error, const char** text)
{
    *text = cudaGetErrorString(cudaError_t(error));
    return CUDA_SUCCESS;
}
inline CUresult cuDeviceGet(CUdevice* device, int number)
{
    *device = number;
    return number == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
inline CUresult cuDeviceGetName(char* name, int length, CUdevice device)
{
    cudaDeviceProp properties;
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, device)) return CUresult(error);
    int i = 0;
    for (; i + 1 < length && properties.name[i]; ++i) name[i] = properties.name[i];
    if (length > 0) name[i] = 0;
    return CUDA_SUCCESS;
}
inline CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device)
{
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess) *bytes = properties.totalGlobalMem;
    return CUresult(error);
}
