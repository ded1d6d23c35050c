// Thrust's gather as a contender of `make peers`: element i of the transposed matrix is fetched from where it stands.

#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "../../common/step.h"

namespace {

struct Source {
    size_t width, height;
    __host__ __device__ size_t operator()(size_t i) const { return i % height * width + i / height; }
};

template <typename T>
void gather(T* odata, const T* idata, int width, int height)
{
    const auto from = thrust::make_transform_iterator(thrust::make_counting_iterator(size_t(0)),
                                                      Source{size_t(width), size_t(height)});
    thrust::gather(thrust::cuda::par_nosync, from, from + size_t(width) * height, idata, odata);
}

}  // namespace

KERNEL(thrustGather, "-", transposes, gather)
