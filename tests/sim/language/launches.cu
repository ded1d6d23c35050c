// Launches: what __launch_bounds__ allows, and arguments of any size.

#include "rows.h"

using namespace std;

constexpr int half(int n) { return n / 2; }

template <int threads>
__global__ void __launch_bounds__(half(2 * threads)) of_a_template(int* to)
{
    to[threadIdx.x] = int(threadIdx.x);
}

extern "C" __global__ __launch_bounds__(64, 2) void with_c_linkage(int* to) { to[threadIdx.x] = int(threadIdx.x); }

namespace {
__launch_bounds__(96) __global__ void without_linkage(int* to)
{
    to[threadIdx.x] = int(threadIdx.x);
}
}  // namespace

// Whether blocks of so many threads run, and larger ones do not, with the error that says so.
template <typename Kernel>
bool bounded(Kernel kernel, int threads)
{
    vector<int> numbers(threads);
    for (int i = 0; i < threads; ++i) numbers[i] = i;
    Array<int> fits(threads), fits_not(1024);
    kernel<<<1, threads>>>(fits.device());
    bool right = cudaGetLastError() == cudaSuccess && fits.is(numbers);
    for (dim3 block : {dim3(threads + 1), dim3(1024), dim3(2, threads / 2, 2)}) {
        kernel<<<1, block>>>(fits_not.device());
        right = right && cudaGetLastError() == cudaErrorInvalidValue;
    }
    return right && fits_not.is(vector<int>(1024));
}

template <int n>
struct Numbers {
    int of[n];
};

// Each thread adds to its number that of its opposite in the argument.
template <int n>
__global__ void add_opposite(Numbers<n> numbers, int* to)
{
    const int i = threadIdx.x;
    to[i] = numbers.of[i] + numbers.of[n - 1 - i];
}

template <int n>
bool argument()
{
    Numbers<n> numbers;
    vector<int> expected(n);
    for (int i = 0; i < n; ++i) numbers.of[i] = i * i;
    for (int i = 0; i < n; ++i) expected[i] = i * i + (n - 1 - i) * (n - 1 - i);
    Array<int> to(n);
    add_opposite<n><<<1, n>>>(numbers, to.device());
    return cudaGetLastError() == cudaSuccess && to.is(expected);
}

int main()
{
    row("__launch_bounds__ of a template", bounded(of_a_template<32>, 32) && bounded(of_a_template<200>, 200));
    row("__launch_bounds__ of a kernel with C linkage", bounded(with_c_linkage, 64));
    row("__launch_bounds__ of a kernel in a namespace without a name", bounded(without_linkage, 96));
    cudaFuncAttributes attributes;
    must(cudaFuncGetAttributes(&attributes, of_a_template<32>));
    row("cudaFuncGetAttributes gives the bound", attributes.maxThreadsPerBlock == 32);
    int grid = 0, block = 0;
    must(cudaOccupancyMaxPotentialBlockSize(&grid, &block, with_c_linkage));
    row("cudaOccupancyMaxPotentialBlockSize keeps to the bound", block == 64);
    row("an argument of 8 bytes", argument<2>());
    row("an argument of 400 bytes", argument<100>());
    row("an argument of 4000 bytes", argument<1000>());
    return wrong_rows() != 0;
}
