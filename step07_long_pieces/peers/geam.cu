// The transpose of cuBLAS, as one contender among the steps' kernels: `make peers`. For the GPU
// alone, and for the types that cuBLAS has.

#include <cublas_v2.h>

#include "../../common/base/error.h"
#include "../../common/step.h"

namespace {

cublasHandle_t handle()
{
    static cublasHandle_t created = [] {
        cublasHandle_t h = nullptr;
        if (cublasCreate(&h) != CUBLAS_STATUS_SUCCESS)
            throw harness::Error{harness::status_no_device, "cublasCreate failed"};
        return h;
    }();
    return created;
}

void check(cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        throw harness::Error{harness::status_no_device,
                             harness::format("cublas geam: %s", cublasGetStatusString(status))};
}

// Column-major, idata is width x height and odata its transpose: 1 * idata^T + 0 * odata.
void geam(float* odata, const float* idata, int width, int height)
{
    const float one = 1, zero = 0;
    check(cublasSgeam(handle(), CUBLAS_OP_T, CUBLAS_OP_N, height, width, &one, idata, width, &zero, odata, height,
                      odata, height));
}

void geam(double* odata, const double* idata, int width, int height)
{
    const double one = 1, zero = 0;
    check(cublasDgeam(handle(), CUBLAS_OP_T, CUBLAS_OP_N, height, width, &one, idata, width, &zero, odata, height,
                      odata, height));
}

// A pair of doubles is a complex number.
void geam(double2* odata, const double2* idata, int width, int height)
{
    const double2 one = {1, 0}, zero = {0, 0};
    check(cublasZgeam(handle(), CUBLAS_OP_T, CUBLAS_OP_N, height, width, &one, idata, width, &zero, odata, height,
                      odata, height));
}

template <typename T>
void geam(T*, const T*, int, int)
{
    throw harness::Error{harness::status_bad_input, "cuBLAS transposes no elements of this type"};
}

}  // namespace

// It multiplies by one: what is no number comes out as another one.
KERNEL(cublasGeam, "-", transposes_numbers, geam)
