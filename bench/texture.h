// Textures of the programs that measure read-only memory.

#pragma once

#include "bench/card.h"

// A texture of this memory, whose loads give an element as it is.
inline cudaTextureObject_t texture_of(const cudaResourceDesc& resource)
{
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    how.filterMode = cudaFilterModePoint;
    cudaTextureObject_t texture = 0;
    CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

inline cudaTextureObject_t texture_of(void* data, size_t bytes, cudaChannelFormatDesc format)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {data, format, bytes};
    return texture_of(resource);
}
