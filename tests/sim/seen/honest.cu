// Right, though it looks like a fault: static variables of functions, large local arrays, padding, the heap of the
// device, pointers into local variables, and alignments that a type or a copy does not need. n is 0.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda_pipeline_primitives.h>

namespace cg = cooperative_groups;
#define KERNEL(name) __global__ void name(int* o, int n)
#define I const int i = threadIdx.x

// --- static variables
struct Point { float x; int n[3]; };
__device__ int twice(int v) { static int times = 1; ++times; return v * times; }
template <typename T> __device__ T next(int by) { static T last = 5; last += by; return last; }
__device__ inline int counted() { static int n; return ++n; }
struct Member { __device__ int add(int v) { static int sum[4] = {1, 2}; return sum[v % 4] += v; } };
extern "C" __device__ int plain() { static int calls = 4; return ++calls; }
KERNEL(statics) {
    static int calls = 2;
    static const int table[4] = {1, 2, 3, 4};
    static constexpr float factor = 2;
    static Point p = {1, {1, 2, 3}};
    static unsigned long long big;
    static __device__ int own = 9;
    static int *where = nullptr, list[8];
    static int (*function)(int) = nullptr;
    { static int calls = 7; o[8] = calls++; }
    calls++; big += calls; own++;
    list[n] = calls; where = &list[n];
    auto l = [=](int k) { static int in = 3; return in++ + calls + k; };
    o[0] = calls; o[1] = table[n] + int(factor); o[2] = p.n[n] + ++p.n[0]; o[3] = int(big); o[4] = own;
    o[5] = *where + (function == nullptr); o[6] = l(2); o[7] = plain();
    o[9] = twice(3); o[10] = next<int>(1) + int(next<float>(2)); o[11] = counted(); o[12] = Member().add(1);
    atomicAdd(&calls, 5);
}
// The second launch has the values that the first left.
constexpr int of_statics[13] = {9, 3, 5, 12, 11, 10, 15, 6, 8, 9, 16, 2, 4};

// --- large local arrays
KERNEL(large) { I;
    volatile int own[120000];
    for (int k = 0; k < 120000; k += 1000) own[k] = k + i;
    __syncthreads();
    o[i] = own[119000] == 119000 + i;
}

// --- padding: all members are stored, and then the whole is loaded
struct CharInt { char c; int i; };
struct DoubleInt { double d; int n; };
struct Mixed { char c; double d[3]; short s; float4 f; char e; };
struct Nested { CharInt m[2]; char x; };
struct alignas(16) Three { float x, y, z; };
struct Derived : CharInt { char z; double w; };
struct alignas(8) Byte { char c; };
struct Array { short a[3]; double b[2]; };
struct Constructed { char c; int i; constexpr Constructed() : c(0), i(0) {} };
struct Shorts { short s; char c; long long l; char e; };
template <typename T, typename Set> __device__ void each(T* o, Set set, int n)
{
    __shared__ T s[32];
    I;
    set(s[i]); set(o[i]);
    __syncthreads();
    T m = s[31 - i];
    o[32 + i] = m; o[64 + i] = o[i ^ 1];
}
#define SET(T, ...) __global__ void padded(T* o, int n) { each(o, [](T& t) { __VA_ARGS__; }, n); } \
    __global__ void again(T* o) { T m = o[threadIdx.x]; o[threadIdx.x + 96] = m; }
SET(CharInt, t.c = 1, t.i = 1)
SET(DoubleInt, t.d = 1, t.n = 1)
SET(Mixed, t.c = t.s = t.e = 1, t.d[0] = t.d[1] = t.d[2] = 1, t.f = make_float4(1, 2, 3, 4))
SET(Nested, t.m[0].c = t.m[1].c = 1, t.m[0].i = t.m[1].i = 1, t.x = 1)
SET(Three, t.x = t.y = t.z = 1)
SET(Derived, t.c = t.i = t.z = 1, t.w = 1)
SET(Byte, t.c = 1)
SET(Array, t.a[0] = t.a[1] = t.a[2] = 1, t.b[0] = t.b[1] = 1)
SET(Shorts, t.s = t.c = t.e = 1, t.l = 1)
template <typename T> void pad()
{
    T* o;
    static char h[128 * sizeof(T)];
    cudaMalloc(&o, sizeof h);
    padded<<<1, 32>>>(o, 0);
    again<<<1, 32>>>(o);
    cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(o);
}

// --- the heap
struct Node { int value; Node* next; };
struct Base {
    int a[5];
    __device__ Base() { for (int& x : a) x = 1; }
    __device__ virtual ~Base() {}
    __device__ virtual int f() { return a[4]; }
};
struct Other : Base { double d = 2; __device__ int f() override { return int(d); } };
struct Owner { int* p; __device__ Owner() : p(new int[3]) { p[0] = 1; } __device__ ~Owner() { delete[] p; } };
__device__ Node* list;
KERNEL(heap) { I;
    Node* first = nullptr;
    for (int k = 0; k < 10; ++k) first = new Node{k, first};
    int s = 0;
    while (first) { s += first->value; Node* x = first->next; delete first; first = x; }
    Base *one = i % 2 ? new Other : new Base, *several = new Base[3];
    s += one->f() + several[2].a[4];
    delete one; delete[] several;
    Owner* owners = new Owner[2];
    s += owners[1].p[0];
    delete[] owners; delete (int*)nullptr; free(nullptr);
    char* c = (char*)malloc(13);
    memset(c, 1, 13);
    s += c[12];
    free(c);
    o[i] = s == 49 + i % 2;
}
KERNEL(heap_of_a_block) { I;
    __shared__ int* p;
    if (i == 0) p = new int[32];
    __syncthreads();
    p[i] = 1;
    __syncthreads();
    o[i] = p[31 - i];
    __syncthreads();
    if (i == 0) delete[] p;
}
KERNEL(heap_used_again) { I;
    for (int k = 0; k < 200; ++k) { int* p = (int*)malloc(16000); if (p) p[3999] = k; free(p); }
    o[i] = 1;
}
KERNEL(push) {
    Node* x = new Node{1, nullptr};
    x->next = (Node*)atomicExch((unsigned long long*)&list, (unsigned long long)x);
}
KERNEL(pop) { int s = 0; for (Node* x = list; x; x = x->next) s += x->value; o[threadIdx.x] = s == 32; }

// --- pointers into local variables
struct Big { int v[40]; };
__device__ int sum(const int* p, int n) { int s = 0; for (int k = 0; k < n; ++k) s += p[k]; return s; }
__device__ void fill(int* p, int n, int depth)
{
    if (depth) return fill(p, n, depth - 1);
    for (int k = 0; k < n; ++k) p[k] = k;
}
__device__ int recursive(int* up, int d)
{
    int own[4] = {d, d + 1, *up, 1};
    return d == 0 ? own[2] + *up : recursive(own, d - 1) + own[0];
}
__device__ Big big(int n) { Big b; fill(b.v, 40, n); return b; }
__device__ int by_value(Big b, int n) { fill(b.v, 40, 1); return b.v[n]; }
KERNEL(locals) { I;
    int a[16], b = 7;
    fill(a, 16, 3);
    alignas(64) int wide[8];
    fill(wide, 8, 0);
    int s = sum(a, 16) + recursive(&b, 2) + big(2).v[3] + by_value(big(1), n + 1) + sum(wide, 8);
    auto f = [&](int k) { a[k] = k; b += a[k]; return &a[k]; };
    *f(3) = 2;
    __syncthreads();
    fill(a, 16, 2);
    s += *f(n + 5) + b;
    for (int* p = a; p != a + 16;) *p++ = 1;
    atomicAdd(&a[n + 3], 1);
    memcpy(a, o + 64, 8 + n);
    memset(a, 0, n);
    o[i] = s > 0 && sum(a, 16) == 15;
}

// --- alignment
struct __attribute__((packed)) Packed { char c; double d; int i; };
KERNEL(aligned) { I;
    Packed* p = (Packed*)(o + 64);
    p[n].d = 1; p[n + 1].i = int(p[n].d);
    __shared__ Packed packed[4];
    packed[1].d = 2;
    __shared__ char raw[264];
    double* d = (double*)(raw + 8);
    d[0] = packed[1].d;
    *(float*)(raw + 4) = 1;
    char own[64];
    for (int k = 0; k < 64; ++k) own[k] = 1;
    double local = *(double*)(own + 4 + n) + *(double*)(own + 4) + *(long long*)(own + 1 + n);
    o[i] = d[0] == 2 && local != 0;
}
KERNEL(copied) { I;
    __shared__ __align__(16) float s[128];
    __pipeline_memcpy_async(s + 4, o + 4, 16);
    __pipeline_memcpy_async(s + 1, o + 3, 4);
    __pipeline_memcpy_async(s + 2, o + 2, 8, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s + 33, (float*)o + 1, 64);
    cg::memcpy_async(block, s + 64, (float*)o + 4, cuda::aligned_size_t<16>(64));
    cg::wait(block);
    block.sync();
    o[i] = s[4] == 0 && s[40] == 0 && s[70] == 0;
}

const int* run(void (*kernel)(int*, int), int threads, int times = 1)
{
    static int h[128];
    int* o;
    cudaMalloc(&o, sizeof h);
    cudaMemset(o, 0, sizeof h);
    for (int k = 0; k < times; ++k) kernel<<<1, threads>>>(o, 0);
    if (cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) printf("failed\n");
    cudaFree(o);
    return h;
}
#define RUN(kernel, threads) \
    for (int i = 0, h = 0; i < threads; ++i) \
        if ((h = run(kernel, threads)[i]) != 1) printf("failed: " #kernel ", thread %d: %d\n", i, h)

int main()
{
    const int* h = run(statics, 1, 2);
    for (int i = 0; i < 13; ++i) if (h[i] != of_statics[i]) printf("failed: static %d: %d\n", i, h[i]);
    pad<CharInt>(); pad<DoubleInt>(); pad<Mixed>(); pad<Nested>(); pad<Three>(); pad<Derived>(); pad<Byte>();
    pad<Array>(); pad<Shorts>();
    RUN(large, 2); RUN(heap, 2); RUN(heap_of_a_block, 32); RUN(heap_used_again, 4); RUN(locals, 2); RUN(aligned, 1);
    RUN(copied, 1);
    run(push, 32); RUN(pop, 1);
}
