// Marks and names for a profiler's timeline, which nothing looks at here.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cwchar>

#include "../cuda.h"

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE (uint16_t(sizeof(nvtxEventAttributes_t)))

using nvtxRangeId_t = uint64_t;
using nvtxDomainHandle_t = struct nvtxDomainRegistration_st*;

enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t { NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2 };
enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, NVTX_PAYLOAD_TYPE_INT64, NVTX_PAYLOAD_TYPE_DOUBLE,
};

union nvtxMessageValue_t {
    const char* ascii;
    const wchar_t* unicode;
};

struct nvtxEventAttributes_t {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
};

inline int nvtxRangePushEx(const nvtxEventAttributes_t*) { return 0; }
inline int nvtxRangePop() { return 0; }
inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t*) { return 0; }
inline void nvtxRangeEnd(nvtxRangeId_t) {}
inline void nvtxMarkEx(const nvtxEventAttributes_t*) {}
inline nvtxDomainHandle_t nvtxDomainCreateA(const char*) { return nullptr; }
inline void nvtxDomainDestroy(nvtxDomainHandle_t) {}
inline int nvtxDomainRangePushEx(nvtxDomainHandle_t, const nvtxEventAttributes_t*) { return 0; }
inline int nvtxDomainRangePop(nvtxDomainHandle_t) { return 0; }

// A function that takes a text, for narrow characters, with and without an A behind its name, and for wide ones.
#define SIM_WITH_TEXT(Result, name, ...) \
    inline Result name(__VA_ARGS__ const char*) { return Result(); } \
    inline Result name##A(__VA_ARGS__ const char*) { return Result(); } \
    inline Result name##W(__VA_ARGS__ const wchar_t*) { return Result(); }
SIM_WITH_TEXT(int, nvtxRangePush)
SIM_WITH_TEXT(nvtxRangeId_t, nvtxRangeStart)
SIM_WITH_TEXT(void, nvtxMark)
SIM_WITH_TEXT(void, nvtxNameOsThread, uint32_t,)
SIM_WITH_TEXT(void, nvtxNameCuDevice, CUdevice,)
SIM_WITH_TEXT(void, nvtxNameCuContext, CUcontext,)
SIM_WITH_TEXT(void, nvtxNameCuStream, CUstream,)
SIM_WITH_TEXT(void, nvtxNameCuEvent, CUevent,)
SIM_WITH_TEXT(void, nvtxNameCudaDevice, int,)
SIM_WITH_TEXT(void, nvtxNameCudaStream, cudaStream_t,)
SIM_WITH_TEXT(void, nvtxNameCudaEvent, cudaEvent_t,)
#undef SIM_WITH_TEXT
