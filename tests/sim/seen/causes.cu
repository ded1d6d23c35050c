// A finding names its cause. Each fault stands next to a program in which the cause is taken away, which is clean.
#include "cases.h"

// --- one statement that stores one value, whichever turn each thread stores in
#define STORES(name, when, value)                                            \
    __global__ void name##_kernel(int* f, const int* turn, int n)             \
    {                                                                         \
        const int t = threadIdx.x;                                            \
        for (int i = 0; i < n; ++i) if (when) *f = value;                     \
    }                                                                         \
    CASE(name)                                                                \
    {                                                                         \
        int *f = device<int>(1), *turn = device<int>(8), h[8] = {7, 6, 5, 4, 3, 2, 1, 0}; \
        cudaMemcpy(turn, h, sizeof h, cudaMemcpyHostToDevice);                \
        name##_kernel<<<1, 8>>>(f, turn, 8);                                  \
        done();                                                               \
        cudaFree(f), cudaFree(turn);                                          \
    }
STORES(rising, i == t, 1)
STORES(falling, i == 7 - t, 1)
STORES(by_table, turn[t] == i, 1)
STORES(several_turns, (i + t) % 3 == 0, 1)
STORES(stored_again, i >= t, n)
STORES(falling_values, i == 7 - t, t / 4)  //! race: write-after-write
STORES(one_differs, i == 7 - t, t == 3)  //! race: write-after-write
STORES(rising_values, i == t, i)  //! race: write-after-write
STORES(as_it_was, i == 7 - t, t == 1 ? 1 : 0)  //! race: write-after-write
__global__ void of_warps(int* f) { for (int i = 3; i >= 0; --i) if (threadIdx.x / 32 == i) *f = 1; }
CASE(other_warps) { int* f = device<int>(1); of_warps<<<1, 128>>>(f); done(); cudaFree(f); }
//! in other_values: race: write-after-write
__global__ void of_warps_differ(int* f) { for (int i = 3; i >= 0; --i) if (threadIdx.x / 32 == i) *f = i / 2; }
CASE(other_values) { int* f = device<int>(1); of_warps_differ<<<1, 128>>>(f); done(); cudaFree(f); }

// --- what waits for kernels
__global__ void set(int* data) { data[threadIdx.x] = 1; }
CASE(free_of_pinned_waits) { int* h; cudaMallocHost(&h, 128); set<<<1, 32>>>(h); cudaFreeHost(h); }
CASE(unregister_waits)
{
    int* h = (int*)aligned_alloc(4096, 4096);
    cudaHostRegister(h, 4096, 0);
    set<<<1, 32>>>(h);
    cudaHostUnregister(h);
    free(h);
}
CASE(stream_destroy_does_not)
{
    int* data = device<int>(32);
    cudaStream_t s;
    cudaStreamCreate(&s);
    set<<<1, 32, 0, s>>>(data);  //! not-waited-for: the program ends before set
    cudaStreamDestroy(s);
    cudaFreeAsync(data, 0);
}

// --- alignment by types and by numbers
template <typename T> __global__ void aligned(int* o)
{
    __shared__ alignas(T) unsigned char a[32 * sizeof(T)];
    __shared__ alignas(16) alignas(T) char b[32];
    alignas(double) __shared__ char c[8];
    __shared__ __align__(8) char d[32];
    alignas(decltype(1.0 + 2)) __shared__ char e[8];
    const int i = threadIdx.x;
    reinterpret_cast<T*>(a)[i] = T(i);
    b[i] = d[i] = char(i);
    if (i == 0) *reinterpret_cast<double*>(c) = *reinterpret_cast<double*>(e) = 2;
    __syncthreads();
    o[i] = int(reinterpret_cast<T*>(a)[i ^ 1]) + b[i] + d[i ^ 1] + int(*reinterpret_cast<double*>(c));
}
CASE(alignments)
{
    int *data = device<int>(32), h[32];
    aligned<double><<<1, 32>>>(data);
    aligned<short><<<1, 32>>>(data);
    cudaMemcpy(h, data, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[31]);  //> 4 93
    cudaFree(data);
}

// --- a result that no return gives
__device__ int missing(int n) { if (n < 0) return 1; }  //! in no_return: kernel-failed: a function ends without return
__device__ int given(int n) { if (n < 0) return 1; return 2; }
__global__ void returns(int* o, bool wrong) { o[threadIdx.x] = wrong ? missing(threadIdx.x) : given(threadIdx.x); }
CASE(no_return) { returns<<<1, 32>>>(device<int>(32), true); if (!cudaDeviceSynchronize()) exit(4); }
CASE(return_in_all) { int* o = device<int>(32); returns<<<1, 32>>>(o, false); done(); cudaFree(o); }

// --- what threads that were ended would have stored
__global__ void picks(int* o, int n)
{
    int own[4] = {1, 2, 3, 4};
    __shared__ int s[32];
    s[threadIdx.x] = own[n];  //! in index_of_all: local-array: index 4 of a local array.*\(32 times\)
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void picks_own(int* o, int n)
{
    int own[4] = {1, 2, 3, 4};
    //! in many_indices: local-array: index 4 of a local array.*thread \(0, 0, 0\).*\(4096 times\)
    o[blockIdx.x * blockDim.x + threadIdx.x] = own[n + blockIdx.x * blockDim.x + threadIdx.x];
}
__global__ void some_pick(int* o, int n)
{
    int own[4] = {1, 2, 3, 4};
    __shared__ int s[32];
    s[threadIdx.x] = own[threadIdx.x < 4 ? n : 0];  //! in index_of_four: local-array: index 4 of a local.*\(4 times\)
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void half(int* o) { if (threadIdx.x < 16) o[threadIdx.x] = 1; }
void copies(void (*launch)(int*))
{
    int *o, h[4096];
    cudaMalloc(&o, sizeof h);
    launch(o);
    cudaMemcpy(h, o, 128, cudaMemcpyDeviceToHost);  //! in half_stored: never-written: cudaMemcpy .* uninitialized
    cudaFree(o);
}
CASE(index_of_all) { copies([](int* o) { picks<<<1, 32>>>(o, 4); }); }
CASE(index_of_four) { copies([](int* o) { some_pick<<<1, 32>>>(o, 4); }); }
CASE(many_indices) { copies([](int* o) { picks_own<<<16, 256>>>(o, 4); }); }
CASE(index_inside) { copies([](int* o) { some_pick<<<1, 32>>>(o, 3); }); }
CASE(half_stored) { copies([](int* o) { half<<<1, 32>>>(o); }); }
//! in refused: unchecked-error: .*1025 threads
CASE(refused) { copies([](int* o) { set<<<1, 1025>>>(o); }); }
// Block 0 waits for the last one. What its other threads would do behind the barrier, no GPU does.
__global__ void last_first(int* out, int* total, int* flag)
{
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) { *total = 128; __threadfence(); atomicAdd(flag, 1); }
    //! in waits_for_last: endless-loop: .*1 of 2 have not begun
    if (threadIdx.x == 0) while (atomicAdd(flag, 0) == 0) {}
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x - 128 + *total] = 1;
}
CASE(waits_for_last)
{
    last_first<<<2, 64>>>(device<int>(128), device<int>(1), device<int>(1));
    if (!cudaDeviceSynchronize()) exit(4);
}
CASE(is_the_last)
{
    int *out = device<int>(128), *total = device<int>(2);
    last_first<<<1, 64>>>(out, total, total + 1);
    if (cudaDeviceSynchronize()) exit(4);
    cudaFree(out), cudaFree(total);
}

// --- pointers and indices
__device__ int* kept;
__global__ void keeps() { __shared__ int s[32]; s[threadIdx.x] = 1; __syncthreads(); if (threadIdx.x == 0) kept = s; }
//! in shared_is_gone: host-pointer: shared memory of another kernel: s is gone with its block
__global__ void uses(int* o) { o[threadIdx.x] = kept[threadIdx.x]; }
CASE(shared_is_gone) { int* o = device<int>(32); keeps<<<1, 32>>>(); uses<<<1, 32>>>(o); done_badly(); }
CASE(kept_of_device)
{
    int* o = device<int>(64);
    cudaMemcpyToSymbol(kept, &o, sizeof o);
    uses<<<1, 32>>>(o + 32);
    done();
    cudaFree(o);
}
//! in overflow: out-of-bounds-store: byte -17179869184 of .*; the index has overflowed its 32 bits; compute it as
template <typename Index> __global__ void far(int* o, Index n) { o[Index(n * 65536) - (1ll << 31)] = 1; }
CASE(overflow) { far<<<1, 1>>>(device<int>(32), int(32768)); done_badly(); }
CASE(no_overflow) { int* o = device<int>(32); far<<<1, 1>>>(o, 32768ll); done(); cudaFree(o); }
CASE(free_of_end)
{
    int* data = device<int>(128);
    cudaFree(data + 128);  //! bad-free: is the end of memory \(cudaMalloc
    cudaFree(data);
}
#define CALL(function, ...) if (function(__VA_ARGS__) != cudaSuccess) exit(3)
//! in name_in_macro: out-of-bounds-store: byte 128 of named \(cudaMalloc
__global__ void beyond(int* data) { data[threadIdx.x] = 1; }
CASE(name_in_macro) { int* named; CALL(cudaMalloc, (void**) &named, 128); beyond<<<1, 64>>>(named); done_badly(); }

// --- division by zero
template <typename T> __global__ void divides(T* o, T by)
{
    const T n = T(1000003 + threadIdx.x);
    o[threadIdx.x] = n / by + n % by;  //! in by_zero: division-by-zero: an integer is divided by 0.*\(32 times\)
}
template <typename T> void divide(T by)
{
    T *o = device<T>(32), h[32];
    divides<<<1, 32>>>(o, by);
    cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
    printf("%lld\n", (long long)h[0]);
    cudaFree(o);
}
CASE(by_zero) { divide(0); }  //> -2
CASE(by_one) { divide(1u), divide(-1LL); }  //> 1000003
//> -1000003

// --- a launch by its address
__global__ void twice(int* a, int n) { a[threadIdx.x] = n; }
template <typename T> __global__ void adds(T* a, T n) { a[threadIdx.x] += n; }
CASE(launch_with_cast)
{
    int *a = device<int>(32), n = 5, h[32];
    void* arguments[] = {&a, &n};
    cudaLaunchKernel((void*)twice, dim3(1), dim3(32), arguments, 0, 0);
    cudaLaunchKernel((const void*)&twice, 1, 32, arguments);
    cudaLaunchKernel(reinterpret_cast<const void*>(adds<int>), dim3(1), dim3(32), arguments, 0, nullptr);
    cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h[31]);  //> 10
    cudaFree(a);
}

// --- calls of the runtime
CASE(value_of_bytes)
{
    float* x;
    cudaMalloc(&x, 128);
    cudaMemset(x, 1.0f, 128);  //! bad-copy: cudaMemset .* sets each byte to 1, and no element to 1; store
    cudaMemset(x, 0.0f, 128);
    cudaMemset(x, 0xff, 128);
    cudaFree(x);
}
void waits(void* error) { *(cudaError_t*)error = cudaDeviceSynchronize(); }
void adds_one(void* number) { ++*(int*)number; }
CASE(call_in_a_callback)
{
    cudaError_t error = cudaSuccess;
    int number = 0;
    cudaLaunchHostFunc(0, waits, &error);
    cudaLaunchHostFunc(0, adds_one, &number);
    printf("%s %d\n", cudaGetErrorName(error), number);  //> cudaErrorNotPermitted 1
    cudaGetLastError();
}
