// Calls of the runtime: buffers of the host that are too small, copies that overlap or carry nothing, allocations in
// order of a stream, and errors that are dropped.
#include <vector>

#include "cases.h"

__constant__ int c[64];
__global__ void set(int* p) { p[threadIdx.x] = 1; }
//! in unwritten_in_a_kernel: uninitialized-load: 4 bytes at byte 128
__global__ void load(int* o, const int* p) { o[threadIdx.x] = p[threadIdx.x]; }
//! in kernel_beside_constant: race: byte 0 of c: .*, reads it and cudaMemcpyToSymbolAsync
__global__ void fixed(int* o) { o[threadIdx.x] = c[threadIdx.x]; }
//! in allocated_in_another_stream: race: byte 0 of a .*cudaMallocAsync at .* allocates it
__global__ void late(int* p) { p[threadIdx.x] = 1; }

// ---- Buffers of the host.

int sixty[60];
struct Both { int first[60]; int second[4]; } both;
#define TO_HOST(buffer) int* d = device<int>(1024); cudaMemcpy(buffer, d, 256, cudaMemcpyDeviceToHost); cudaFree(d)
#define TO_DEVICE(buffer) int* d = device<int>(1024); cudaMemcpy(d, buffer, 256, cudaMemcpyHostToDevice); cudaFree(d)

//! bad-copy: cudaMemcpy at .*: the destination is memory of the host with at most 248 bytes, and the copy takes 256
CASE(vector) { std::vector<int> h(60); TO_HOST(h.data()); }
CASE(by_malloc) { int* h = (int*)malloc(60); TO_HOST(h); free(h); }  //! bad-copy: with at most 72
CASE(global) { TO_HOST(sixty); }  //! bad-copy: with at most 240 bytes, and the copy takes 256
CASE(frame) { int h = 0; TO_HOST(&h); if (h) exit(5); }  //! bad-copy: destination is memory of the host with at most
CASE(rows) {
    static char h[100];
    int* d = device<int>(1024);
    //! bad-copy: with at most 100 bytes, and the copy takes 112
    cudaMemcpy2D(h, 32, d, 64, 16, 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
CASE(from_symbol) { cudaMemcpyFromSymbol(sixty, c, sizeof c); }  //! bad-copy: with at most 240
CASE(right_buffers) {
    int* d = device<int>(1024);
    const auto both_ways = [&](void* h, size_t bytes) {
        if (cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost) || cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice)) exit(5);
    };
    for (int n = 1; n < 1024; n += 31) {
        std::vector<int> h(n);
        both_ways(h.data(), 4 * n);
        both_ways(&h[n / 2], 4 * (n - n / 2));
        int* own = (int*)malloc(4 * n);
        both_ways(own, 4 * n);
        free(own);
    }
    int local[64];
    static int kept[64];
    std::vector<char> large(1 << 22);
    both_ways(local, sizeof local);
    both_ways(kept, sizeof kept);
    both_ways(sixty, sizeof sixty);
    both_ways(&both, sizeof both);
    both_ways(both.second, sizeof both.second);
    both_ways(large.data() + large.size() - 4096, 4096);
    cudaFree(d);
}

// ---- Copies inside the device.

CASE(overlap) {
    int* d = device<int>(64);
    //! bad-copy: the source and the destination overlap: byte 0 of .* and byte 32 of
    cudaMemcpy(d + 8, d, 128, cudaMemcpyDeviceToDevice);
    cudaFree(d);
}
CASE(overlap_of_rows) {
    int* d = device<int>(64);
    cudaMemcpy2D(d, 64, d + 3, 64, 16, 4, cudaMemcpyDeviceToDevice);  //! bad-copy: overlap: byte 12 of
    cudaFree(d);
}
CASE(right_neighbours) {
    int* d = device<int>(64);
    cudaMemcpy(d + 32, d, 128, cudaMemcpyDeviceToDevice);
    cudaMemcpy(d, d + 32, 128, cudaMemcpyDeviceToDevice);
    cudaMemcpy2D(d, 64, d + 4, 64, 16, 4, cudaMemcpyDeviceToDevice);
    cudaMemcpy2D(d + 12, 64, d + 4, 64, 16, 4, cudaMemcpyDeviceToDevice);
    cudaFree(d);
}
int* unwritten(int n)
{
    int* memory = nullptr;
    cudaMalloc(&memory, 4 * n);
    return memory;
}
CASE(unwritten_to_the_host) {
    int *a = unwritten(64), *b = unwritten(64);
    cudaMemset(a, 0, 128);
    cudaMemcpy(b, a, 256, cudaMemcpyDeviceToDevice);
    int h[64];
    cudaMemcpy(h, b, 256, cudaMemcpyDeviceToHost);  //! never-written: it begins at byte 128 of memory
    cudaFree(a);
    cudaFree(b);
}
CASE(unwritten_in_a_kernel) {
    int *a = unwritten(64), *b = unwritten(64), *o = device<int>(64);
    cudaMemset(a, 0, 128);
    cudaMemcpy(b, a, 256, cudaMemcpyDeviceToDevice);
    load<<<1, 64>>>(o, b);
    done();
    cudaFree(a);
    cudaFree(b);
    cudaFree(o);
}
CASE(right_copies) {
    int *a = unwritten(2048), *b = unwritten(2048), h[2048];
    cudaMemset(a, 0, 4096);
    cudaMemcpy(b, a, 8192, cudaMemcpyDeviceToDevice);
    cudaMemcpy(h, b, 4096, cudaMemcpyDeviceToHost);
    cudaMemcpy(a + 1024, a, 4096, cudaMemcpyDeviceToDevice);
    cudaMemcpy(h, a, 8192, cudaMemcpyDeviceToHost);
    cudaMemcpy(b, a, 8192, cudaMemcpyDeviceToDevice);
    cudaMemcpy(h, b, 8192, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
}

// ---- The order of streams.

struct Streams {
    cudaStream_t a, b;
    cudaEvent_t e;
    Streams() { cudaStreamCreate(&a); cudaStreamCreate(&b); cudaEventCreate(&e); }
    ~Streams() { cudaDeviceSynchronize(); cudaStreamDestroy(a); cudaStreamDestroy(b); cudaEventDestroy(e); }
    void order() { cudaEventRecord(e, a); cudaStreamWaitEvent(b, e); }
};
CASE(allocated_in_another_stream) {
    Streams s;
    int* a;
    cudaMallocAsync(&a, 256, s.a);
    late<<<1, 64, 0, s.b>>>(a);
    cudaDeviceSynchronize();
    cudaFreeAsync(a, s.a);
}
CASE(freed_in_another_stream) {
    Streams s;
    int* a;
    cudaMallocAsync(&a, 256, s.a);
    s.order();
    set<<<1, 64, 0, s.b>>>(a);
    cudaFreeAsync(a, s.a);  //! race: byte 0 of a .*: cudaFreeAsync at .* frees it and set, launched at .* writes it
}
CASE(copied_before_it_is_freed) {
    Streams s;
    int *a, *h;
    cudaMallocHost(&h, 256);
    cudaMallocAsync(&a, 256, s.a);
    cudaMemsetAsync(a, 0, 256, s.a);
    s.order();
    cudaMemcpyAsync(h, a, 256, cudaMemcpyDeviceToHost, s.b);
    cudaFreeAsync(a, s.a);  //! race: cudaFreeAsync at .* frees it and cudaMemcpyAsync at .* reads it
    cudaFreeHost(h);
}
CASE(constant_beside_kernel) {
    Streams s;
    int *o = device<int>(64), h[64] = {};
    fixed<<<1, 64, 0, s.a>>>(o);
    //! race: byte 0 of c: cudaMemcpyToSymbolAsync at .* writes it and fixed, launched at .* reads it
    cudaMemcpyToSymbolAsync(c, h, 256, 0, cudaMemcpyHostToDevice, s.b);
    cudaFree(o);
}
CASE(kernel_beside_constant) {
    Streams s;
    int *o = device<int>(64), h[64] = {};
    cudaMemcpyToSymbolAsync(c, h, 256, 0, cudaMemcpyHostToDevice, s.b);
    fixed<<<1, 64, 0, s.a>>>(o);
    cudaFree(o);
}
CASE(right_order) {
    Streams s;
    int *a, *o = device<int>(64), h[64] = {};
    cudaMallocAsync(&a, 256, s.a);
    set<<<1, 64, 0, s.a>>>(a);
    s.order();
    load<<<1, 64, 0, s.b>>>(o, a);
    cudaFreeAsync(a, s.b);
    cudaMallocAsync(&a, 256, s.a);
    cudaStreamSynchronize(s.a);
    set<<<1, 64, 0, s.b>>>(a);
    cudaDeviceSynchronize();
    cudaFreeAsync(a, s.a);
    cudaMemcpyToSymbolAsync(c, h, 256, 0, cudaMemcpyHostToDevice, s.a);
    s.order();
    fixed<<<1, 64, 0, s.b>>>(o);
    cudaStreamSynchronize(s.b);
    cudaMemcpyToSymbol(c, h, 256);
    cudaFree(o);
}

// ---- Errors that are dropped.

//! unchecked-error: cudaSetDevice at .*: invalid device ordinal; look at what the call returns
CASE(set_device) { cudaSetDevice(5); }
//! unchecked-error: cudaFuncSetAttribute at
CASE(attribute) { cudaFuncSetAttribute(set, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000); }
CASE(too_much) { int* a; cudaMalloc(&a, size_t(1) << 46); }  //! unchecked-error: cudaMalloc at .*: out of memory
CASE(once) { cudaFree(sixty); }  //! bad-free: memory of the host
CASE(right_looks) {
    if (cudaSetDevice(5) == cudaSuccess) exit(5);
    const cudaError_t e = cudaSetDevice(5);
    (void)cudaSetDevice(5);
    bool good = !cudaSetDevice(5);
    good = good || e == cudaSuccess;
    cudaSetDevice(5);
    if (cudaGetLastError() == cudaSuccess || good) exit(5);
    cudaSetDevice(5);
    if (cudaPeekAtLastError() == cudaSuccess) exit(6);
    cudaGetLastError();
    cudaStreamQuery(0);
    cudaSetDevice(0);
}
