// A transpose in CuTe, the layouts of CUTLASS, as a contender of `make peers`: built where its headers are found
// (CPLUS_INCLUDE_PATH=.../cutlass/include).

#include "../../common/base/error.h"
#include "../../common/step.h"

#if __has_include(<cute/tensor.hpp>)
#include <cute/tensor.hpp>

namespace contender {

using namespace cute;

using Tile = Shape<_64, _64>;
using AlongRows = Layout<Shape<_8, _32>, Stride<_32, _1>>;  // of 256 threads
using DownColumns = Layout<Shape<_32, _8>, Stride<_1, _32>>;

// idata and odata are one matrix to CuTe, in two layouts.
template <typename T>
__global__ void turn(T* odata, const T* idata, int width, int height)
{
    extern __shared__ __align__(16) char memory[];
    const auto size = make_shape(height, width);
    const auto place = make_coord(blockIdx.x, blockIdx.y);
    const auto in =
        local_tile(make_tensor(make_gmem_ptr(idata), size, make_stride(int64_t(width), _1{})), Tile{}, place);
    const auto out =
        local_tile(make_tensor(make_gmem_ptr(odata), size, make_stride(_1{}, int64_t(height))), Tile{}, place);
    const auto where = local_tile(make_identity_tensor(size), Tile{}, place);
    const auto tile = make_tensor(make_smem_ptr(reinterpret_cast<T*>(memory)), Tile{}, Stride<Int<65>, _1>{});

    const auto move = [&](auto threads, const auto& all_from, const auto& all_to) {
        const auto from = local_partition(all_from, threads, threadIdx.x);
        const auto at = local_partition(where, threads, threadIdx.x);
        auto to = local_partition(all_to, threads, threadIdx.x);
        CUTE_UNROLL
        for (int i = 0; i < cute::size(to); ++i)
            if (elem_less(at(i), size)) to(i) = from(i);
    };
    move(AlongRows{}, in, tile);
    __syncthreads();
    move(DownColumns{}, tile, out);
}

template <typename T>
void launchTurn(T* odata, const T* idata, int width, int height)
{
    constexpr int bytes = 64 * 65 * sizeof(T);
    cudaFuncSetAttribute(turn<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    turn<T><<<dim3((height + 63) / 64, (width + 63) / 64), 256, bytes>>>(odata, idata, width, height);
}

}  // namespace contender

using contender::launchTurn;
#else
template <typename T>
void launchTurn(T*, const T*, int, int)
{
    throw harness::Error{harness::status_bad_input, "absent: built without cute/tensor.hpp"};
}
#endif

KERNEL(cuteTranspose, "-", transposes, launchTurn)
