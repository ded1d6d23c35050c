// Types that the libraries of the CUDA Toolkit share.

#pragma once
#define __LIBRARY_TYPES_H__

enum cudaDataType_t {
    CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_R_8I, CUDA_C_32F, CUDA_C_64F, CUDA_C_16F, CUDA_C_8I, CUDA_R_8U, CUDA_C_8U,
    CUDA_R_32I, CUDA_C_32I, CUDA_R_32U, CUDA_C_32U, CUDA_R_16BF, CUDA_C_16BF, CUDA_R_64I = 24, CUDA_C_64I, CUDA_R_64U,
    CUDA_C_64U, CUDA_R_8F_E4M3, CUDA_R_8F_E5M2,
};
using cudaDataType = cudaDataType_t;

enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
using libraryPropertyType = libraryPropertyType_t;
