// The permutation of cuTENSOR as a contender of `make peers`: built where its header is found
// (CPLUS_INCLUDE_PATH=.../include LIBRARY_PATH=.../lib make peers LDLIBS=-lcutensor). It multiplies by one, and knows
// no elements of one byte.

#include "../../common/base/error.h"
#include "../../common/step.h"

using harness::Error;

#if __has_include(<cutensor.h>)
#include <cutensor.h>

#include <map>
#include <type_traits>
#include <utility>

namespace {

void check(cutensorStatus_t status)
{
    if (status != CUTENSOR_STATUS_SUCCESS)
        throw Error{harness::status_no_device, harness::format("cuTENSOR: %s", cutensorGetErrorString(status))};
}

cutensorHandle_t handle()
{
    static cutensorHandle_t created = [] {
        cutensorHandle_t h = nullptr;
        check(cutensorCreate(&h));
        return h;
    }();
    return created;
}

// Column-major, idata is width x height and odata its transpose.
cutensorPlan_t plan(cutensorDataType_t type, cutensorComputeDescriptor_t compute, uint32_t alignment, int64_t width,
                    int64_t height)
{
    const int64_t in[] = {width, height}, out[] = {height, width};
    const int32_t in_modes[] = {'x', 'y'}, out_modes[] = {'y', 'x'};
    cutensorTensorDescriptor_t from, to;
    cutensorOperationDescriptor_t operation;
    cutensorPlanPreference_t preference;
    cutensorPlan_t made;
    check(cutensorCreateTensorDescriptor(handle(), &from, 2, in, nullptr, type, alignment));
    check(cutensorCreateTensorDescriptor(handle(), &to, 2, out, nullptr, type, alignment));
    check(
        cutensorCreatePermutation(handle(), &operation, from, in_modes, CUTENSOR_OP_IDENTITY, to, out_modes, compute));
    check(cutensorCreatePlanPreference(handle(), &preference, CUTENSOR_ALGO_DEFAULT, CUTENSOR_JIT_MODE_NONE));
    check(cutensorCreatePlan(handle(), &made, operation, preference, 0));
    return made;
}

template <typename Scalar>
void permute(void* odata, const void* idata, int width, int height, cutensorDataType_t type,
             cutensorComputeDescriptor_t compute)
{
    static std::map<std::pair<int, int>, cutensorPlan_t> plans;
    cutensorPlan_t& known = plans[{width, height}];
    if (!known) known = plan(type, compute, 256, width, height);
    Scalar one{};
    reinterpret_cast<std::conditional_t<sizeof(Scalar) == 4, float, double>&>(one) =
        1;  // of a complex number, the real part
    check(cutensorPermute(handle(), known, &one, idata, odata, nullptr));
}

void launchPermute(float* o, const float* i, int w, int h)
{
    permute<float>(o, i, w, h, CUTENSOR_R_32F, CUTENSOR_COMPUTE_DESC_32F);
}
void launchPermute(double* o, const double* i, int w, int h)
{
    permute<double>(o, i, w, h, CUTENSOR_R_64F, CUTENSOR_COMPUTE_DESC_64F);
}
void launchPermute(double2* o, const double2* i, int w, int h)
{
    permute<double2>(o, i, w, h, CUTENSOR_C_64F, CUTENSOR_COMPUTE_DESC_64F);
}
void launchPermute(unsigned short* o, const unsigned short* i, int w, int h)
{
    permute<float>(o, i, w, h, CUTENSOR_R_16F, CUTENSOR_COMPUTE_DESC_32F);
}

template <typename T>
void launchPermute(T*, const T*, int, int)
{
    throw Error{harness::status_bad_input, "cuTENSOR permutes no elements of this type"};
}

}  // namespace
#else
template <typename T>
void launchPermute(T*, const T*, int, int)
{
    throw Error{harness::status_bad_input, "absent: built without cutensor.h"};
}
#endif

KERNEL(cutensorPermutation, "-", transposes_numbers, launchPermute)
