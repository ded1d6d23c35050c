// cuda::atomic and cuda::atomic_ref.

#include <cuda/atomic>
#include <cuda/std/atomic>

#include "rows.h"

constexpr int blocks = 10, threads = 64, total = blocks * threads;

__global__ void references(int* i, unsigned* u, unsigned long long* ull, float* f, double* d)
{
    const int own = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> a(i[0]);
    a.fetch_add(2, cuda::memory_order_relaxed);
    a.fetch_sub(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(i[1]).fetch_max(own);
    cuda::atomic_ref<int, cuda::thread_scope_device>(i[2]).fetch_min(-own);
    cuda::atomic_ref<int> b(i[3]);
    ++b;
    b++;
    b += 3;
    b -= 1;
    --b;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(u[0]).fetch_or(1u << own % 32, cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(u[1]).fetch_xor(unsigned(own));
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(u[2]).fetch_and(~(1u << own % 8));
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(*ull).fetch_add(1ull << 40);
    cuda::atomic_ref<float, cuda::thread_scope_device>(*f).fetch_add(0.5f);

    cuda::atomic_ref<double, cuda::thread_scope_device> sum(*d);
    double seen = sum.load(cuda::memory_order_relaxed);
    while (!sum.compare_exchange_weak(seen, seen + 0.25, cuda::memory_order_relaxed)) {}
}

__device__ cuda::atomic<int, cuda::thread_scope_device> counter;

__global__ void objects(int* out)
{
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> count;
    if (threadIdx.x == 0) count.store(5, cuda::memory_order_relaxed);
    __syncthreads();
    count.fetch_add(1, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned expected = 5 + threads;
        const bool exchanged = count.compare_exchange_strong(expected, 7);
        const unsigned before = count.exchange(8);
        counter.fetch_add(exchanged && before == 7 && count == 8 ? 1 : 1000);
        count = 9;
        unsigned other = 3;
        if (count.compare_exchange_strong(other, 4) || other != 9) counter += 1000;
    }
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 1) *out = int(count.load());
}

__global__ void result(int* out) { *out = counter.load(); }

// What one thread of a block publishes, another takes over.
__global__ void messages(int* out)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
    __shared__ int message;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 40) {
        message = 42;
        ready.store(1, cuda::memory_order_release);
    }
    if (threadIdx.x == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0) __nanosleep(20);
        *out = message;
    }
    if (threadIdx.x == 3) {
        ready.wait(0);
        out[1] = message + 1;
    }
}

__global__ void fences(int* out)
{
    __shared__ int message;
    __shared__ cuda::std::atomic<int> flag;
    if (threadIdx.x == 0) flag.store(0);
    __syncthreads();
    if (threadIdx.x == 32) {
        message = 7;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
        flag.store(1, cuda::memory_order_relaxed);
        flag.notify_all();
    }
    if (threadIdx.x == 0) {
        while (flag.load(cuda::memory_order_relaxed) == 0) {}
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
        *out = message;
    }
}

int main()
{
    Array<int> i(4);
    Array<unsigned> u(std::vector<unsigned>{0, 0, 0xfff});
    Array<unsigned long long> ull(1);
    Array<float> f(1);
    Array<double> d(1);
    references<<<blocks, threads>>>(i.device(), u.device(), ull.device(), f.device(), d.device());
    unsigned parity = 0;
    for (unsigned k = 0; k < unsigned(total); ++k) parity ^= k;
    row("cuda::atomic_ref: int", i.is({total, total - 1, -(total - 1), 3 * total}));
    row("cuda::atomic_ref: unsigned", u.is({0xffffffff, parity, 0xf00}));
    row("cuda::atomic_ref: unsigned long long, float, double",
        ull.host()[0] == (unsigned long long)(total) << 40 && f.is({total / 2.0f}) && d.is({total / 4.0}));

    Array<int> out(2);
    objects<<<blocks, threads>>>(out.device());
    const bool last = out.is({9});
    result<<<1, 1>>>(out.device());
    row("cuda::atomic: in shared and in global memory", last && out.is({blocks}));
    messages<<<1, 64>>>(out.device());
    row("cuda::atomic: release, acquire, wait", out.is({42, 43}));
    fences<<<1, 64>>>(out.device());
    row("cuda::atomic_thread_fence", out.is({7}));

    // On the host.
    cuda::atomic<int> on_host(3);
    on_host.fetch_add(4);
    row("cuda::atomic: on the host", on_host.load() == 7);
    return wrong_rows() != 0;
}
