// A case for each fault that a beginner makes: what is found, at which line.
#include <cassert>
#include <vector>

#include "cases.h"

__global__ void nothing() {}
__global__ void set(int* data) { data[threadIdx.x] = 1; }
//! in use_after_free: use-after-free: copy: use after free, of 4 bytes at byte 0 of d_in \(cudaMalloc
__global__ void copy(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x]; }

// --- a kernel that runs for ever, because it waits for what the host does later
__global__ void wait(volatile int* flag, int* out, bool sleeps)
{
    //! in waiting: endless-loop: wait: endless loop: every
    //! in asleep: endless-loop: wait: endless loop: every turn is like the last one, .* 3 of 4 have not begun
    while (*flag == 0) if (sleeps) __nanosleep(100);
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
void waits(bool sleeps)
{
    int *d_flag = device<int>(1), *d_out = device<int>(4 * 64);
    wait<<<4, 64>>>(d_flag, d_out, sleeps);
    if (cudaDeviceSynchronize()) exit(1);
    cudaMemset(d_flag, 1, 4);
}
CASE(waiting) { waits(false); }
CASE(asleep) { waits(true); }

__global__ void twice(int* lock)
{
    for (int i = 0; i < 2; ++i)
        while (atomicCAS(lock, 0, 1) != 0) {}  //! in lock_held: endless-loop: twice: endless loop: every turn is like
}
CASE(lock_held)
{
    twice<<<1, 1>>>(device<int>(1));
    if (cudaDeviceSynchronize()) exit(1);
}

__global__ void spin(int* out, int n)
{
    //! in never_ends: endless-loop: spin: endless loop: more than 1073741824 turns
    for (unsigned turn = 1; n < 0 || threadIdx.x == 3; ++turn)
        if (turn == 0) n = *out;
}
CASE(never_ends)
{
    spin<<<1, 32>>>(device<int>(1), 32);
    if (cudaDeviceSynchronize()) exit(1);
}

//! in deep_stack: local-memory: deep: local memory: a thread has more local variables than the 512 kB
__global__ void deep(int* out, int n) { volatile int own[150000]; own[n] = 1; *out = own[n]; }
CASE(deep_stack)
{
    deep<<<1, 1>>>(device<int>(1), 0);
    if (cudaDeviceSynchronize()) exit(1);
}

//! in assertion: kernel-failed: check: assertion failed: int\(threadIdx.x\) < n: thread \(16, 0, 0\) .*\(16 times\)
__global__ void check(int n) { assert(int(threadIdx.x) < n); }
CASE(assertion)
{
    check<<<1, 32>>>(16);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));  //> cudaErrorAssert
}

// --- memory that is freed wrongly
CASE(bad_free)
{
    int *h_data = (int*)malloc(64), *d_data = device<int>(16), *h_pinned;
    cudaMallocHost(&h_pinned, 64);
    cudaFree(h_data);      //! bad-free: 0x\w+ is memory of the host, not from cudaMalloc
    cudaFree(d_data + 4);  //! bad-free: the pointer is to byte 16 of .*; free its beginning
    cudaFree(h_pinned);    //! bad-free: h_pinned \(cudaMallocHost at .*\): use cudaFreeHost
    cudaFree(d_data);
    cudaFreeHost(h_pinned);
    free(h_data);
}
CASE(double_free)
{
    int* d_a = device<int>(16);
    cudaFree(d_a);
    cudaFree(d_a);  //! bad-free: was freed before, at
}
CASE(never_freed)
{
    float *d_data, *managed, *pinned;
    cudaMalloc(&d_data, 1000);                  //! never-freed: d_data .*, 1000 bytes; call cudaFree$
    cudaMallocManaged(&managed, 2000);          //! never-freed: managed .*, 2000 bytes; call cudaFree$
    cudaMallocHost((void**)&pinned, 3000);      //! never-freed: pinned .*, 3000 bytes; call cudaFreeHost
}
CASE(use_after_free)
{
    int *d_in, *d_out = device<int>(32);
    cudaMalloc(&d_in, 128);
    cudaMemset(d_in, 0, 128);
    cudaFree(d_in);
    copy<<<1, 32>>>(d_out, d_in);
    done_badly();
}
CASE(managed_after_free)
{
    int* data;
    cudaMallocManaged(&data, 128);
    cudaFree(data);
    printf("%d\n", data[0]);  //! use-after-free: the host accesses byte 0 of data .*, which was
}

// --- copies
CASE(copy_freed)
{
    int h_out[32], *d_out = device<int>(32);
    cudaFree(d_out);
    cudaMemcpy(h_out, d_out, sizeof h_out, cudaMemcpyDeviceToHost);  //! bad-copy: the source is freed memory: byte 0
}
CASE(copy_too_long)
{
    float h_in[256] = {}, *d_in;
    cudaMalloc(&d_in, 256);
    //! bad-copy: the destination has 256 bytes from byte 0 of d_in .* on, and the copy takes 1024
    cudaMemcpy(d_in, h_in, 256 * sizeof(float), cudaMemcpyHostToDevice);
    cudaFree(d_in);
}
CASE(wrong_direction)
{
    int h_in[32] = {}, h_out[32] = {}, *d_data = device<int>(32);
    cudaError_t error;
    //! bad-copy: the destination is memory of the host, and cudaMemcpyHostToDevice takes
    error = cudaMemcpy(h_out, h_in, sizeof h_in, cudaMemcpyHostToDevice);
    printf("%s\n", cudaGetErrorName(error));  //> cudaErrorInvalidValue
    //! bad-copy: the destination is memory of the device \(byte 0 of .*\), and cudaMemcpyDeviceToHost takes
    error = cudaMemcpy(d_data, h_out, sizeof h_in, cudaMemcpyDeviceToHost);
    printf("%s\n", cudaGetErrorName(error));  //> cudaErrorInvalidValue
    cudaFree(d_data);
}
CASE(never_written)
{
    int h_out[64], *d_out;
    cudaMalloc(&d_out, sizeof h_out);
    set<<<1, 32>>>(d_out);
    //! never-written: copies uninitialized memory to the host; it begins at byte 128 of d_out
    cudaMemcpy(h_out, d_out, sizeof h_out, cudaMemcpyDeviceToHost);
    cudaFree(d_out);
}

// --- the host and the device
CASE(host_access)
{
    int* d_data;
    cudaMalloc(&d_data, 128);
    cudaMemset(d_data, 0, 128);
    printf("before\n");            //> before
    printf("%d\n", d_data[0]);  //! host-access: byte 0 of d_data \(cudaMalloc at .*\), .*; copy it with cudaMemcpy
}
CASE(host_access_in_library)
{
    int h_data[4096] = {}, *d_data;
    cudaMalloc(&d_data, sizeof h_data);
    volatile size_t bytes = sizeof h_data;
    memcpy(d_data, h_data, bytes);  //! host-access: byte \d+ of d_data .*; copy it with cudaMemcpy
}
//! in host_pointer: host-pointer: increment: host pointer: .* thread \(0, 0, 0\) .*\(32 times\)
__global__ void increment(int* data) { ++data[threadIdx.x]; }
CASE(host_pointer)
{
    static int h_data[32];
    increment<<<1, 32>>>(h_data);
    done_badly();
}

// --- accesses of a kernel
struct Parts {
    int* part[4];
};
//! in null_in_kernel: host-pointer: fill: null pointer: a store of 4 bytes at address 0: .*\(1024 times\)
__global__ void fill(Parts to, int peer) { to.part[peer][blockIdx.x * blockDim.x + threadIdx.x] = 1; }
CASE(null_in_kernel)
{
    Parts parts = {{device<int>(4 * 256)}};
    fill<<<4, 256>>>(parts, 1);
    done_badly();
}
//! in out_of_bounds: out-of-bounds-store: at byte 4000 of d_data .*thread \(232, 0, 0\) .*3, 0, 0\) \(24 times\)
__global__ void past_the_end(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
CASE(out_of_bounds)
{
    std::vector<int> h(1000);
    int* d_data;
    cudaMalloc(&d_data, 4000);
    past_the_end<<<4, 256>>>(d_data);
    cudaMemcpy(h.data(), d_data, 4000, cudaMemcpyDeviceToHost);
    cudaFree(d_data);
}
//! in sticky_error: out-of-bounds-load: shift: out-of-bounds load of 4 bytes at byte -256 of .*\(32 times\)
__global__ void shift(int* data) { data[threadIdx.x] = data[int(threadIdx.x) - 64]; }
CASE(sticky_error)
{
    int* d_data = device<int>(32);
    shift<<<1, 32>>>(d_data);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));        //> cudaSuccess
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));   //> cudaErrorIllegalAddress
    printf("%s\n", cudaGetErrorName(cudaFree(d_data)));          //> cudaErrorIllegalAddress
}
//! in race_of_blocks: race: count: race: .* hazard in .*, byte 0:
//! in race_of_blocks: race: count: race: .* hazard in .*, byte 0:
//! in race_of_blocks: race: count: race: .* hazard in .*, byte 0:
__global__ void count(int* total) { *total += 1; }
CASE(race_of_blocks)
{
    int* d_total = device<int>(1);
    count<<<4, 64>>>(d_total);
    done();
    cudaFree(d_total);
}

__global__ void counted(int* out)
{
    __shared__ int n;
    atomicAdd(&n, 1);  //! in unset_counter: uninitialized-load: counted: uninitialized .* at byte 0 of shared
    __syncthreads();
    if (threadIdx.x == 0) *out = n;
}
CASE(unset_counter)
{
    int* d_out = device<int>(1);
    counted<<<1, 32>>>(d_out);
    done();
    cudaFree(d_out);
}

// --- what the host does not ask, or asks too early
CASE(unseen_error)
{
    int* d_data = device<int>(2048);
    //! unchecked-error: set, launched at .*: invalid argument \(a block of 2048 threads in x, where 1 to 1024 are
    set<<<1, 2048>>>(d_data);
    cudaFree(d_data);
}
CASE(event_not_waited)
{
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    nothing<<<1, 32>>>();  //! not-waited-for: the program ends before nothing, launched at .*, is known to be done
    cudaEventRecord(stop);
    float ms = -1;
    //! event-not-reached: .* call cudaEventSynchronize\(stop\) first
    const cudaError_t error = cudaEventElapsedTime(&ms, start, stop);
    printf("%s\n", cudaGetErrorName(error));  //> cudaErrorNotReady
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
}
