// Accesses through pointers to types that need more alignment. Each line with a comment has a finding that names
// the line, the bytes that are accessed, which is the alignment that is needed, the first byte, the memory and
// the thread. n is 0.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda_pipeline_primitives.h>

namespace cg = cooperative_groups;

struct alignas(8) Eight { float x, y; };
struct alignas(16) Sixteen { float a, b, c, d; };
struct Inner { float4 f; int n; };

#define KERNEL(name) __global__ void name(float* o, int n)
#define I const int i = threadIdx.x; __syncthreads()

KERNEL(float2s) { I;
    if (i == 0) { float2 f = *reinterpret_cast<float2*>(o + n + 1); o[64 + i] = f.x; }  //! 8 at 4 of o by 0
    if (i == 1) *reinterpret_cast<float2*>(o + n + 3) = make_float2(1, 2);  //! 8 at 12 of o by 1
    if (i == 3) reinterpret_cast<float2*>(o + n + 7)->y = 1;  //! 8 at 28 of o by 3
    float2& r = reinterpret_cast<float2&>(o[n + 11]);
    if (i == 5) r = make_float2(1, 2);  //! 8 at 44 of o by 5
}
KERNEL(float4s) { I;
    float4* wide = reinterpret_cast<float4*>(o + n + 1);
    if (i == 0) { float4 f = wide[0]; o[64 + i] = f.x; }  //! 16 at 4 of o by 0
    if (i == 3) wide[3].x = 1;  //! 16 at 52 of o by 3
    if (i == 4) { float4 f = __ldg(wide + 4); o[64 + i] = f.x; }  //! 16 at 68 of o by 4
}
KERNEL(others) { I;
    char* bytes = reinterpret_cast<char*>(o + n);
    if (i == 1) *reinterpret_cast<int4*>(bytes + 4) = make_int4(1, 2, 3, 4);  //! 16 at 4 of o by 1
    if (i == 4) *reinterpret_cast<Eight*>(bytes + 4) = {1, 2};  //! 8 at 4 of o by 4
    if (i == 5) { Sixteen s = *reinterpret_cast<Sixteen*>(bytes + 8); o[64 + i] = s.d; }  //! 16 at 8 of o by 5
    if (i == 7) *reinterpret_cast<int*>(bytes + 2) = 1;  //! 4 at 2 of o by 7
    if (i == 8) o[64 + i] = *reinterpret_cast<short*>(bytes + 1);  //! 2 at 1 of o by 8
    if (i == 10) { Inner s = *reinterpret_cast<Inner*>(bytes + 8); o[64 + i] = s.n; }  //! 16 at 8 of o by 10
    if (i == 11) atomicAdd(reinterpret_cast<double*>(bytes + 4), 1.0);  //! 8 at 4 of o by 11
}
__device__ float first(float4 f) { return f.x; }
__device__ float second(const float4& f)
{
    return f.y;  //! 16 at 4 of o by 1
}
__device__ void put(float4* to, float4 what)
{
    *to = what;  //! 16 at 4 of o by 2
}
template <typename T> __device__ T get(const float* p)
{
    return *reinterpret_cast<const T*>(p);  //! 8 at 4 of o by 3
}
KERNEL(called) { I;
    float4* wide = reinterpret_cast<float4*>(o + n + 1);
    if (i == 0) o[64 + i] = first(*wide);  //! 16 at 4 of o by 0
    if (i == 1) o[64 + i] = second(*wide);
    if (i == 2) put(wide, make_float4(1, 2, 3, 4));
    if (i == 3) o[64 + i] = get<float2>(o + n + 1).x;
    auto f = [=](const float4* p) {
        return p->z;  //! 16 at 4 of o by 4
    };
    if (i == 4) o[64 + i] = f(wide);
    if (i == 5) { auto [x, y, z, w] = *wide; o[64 + i] = x + y + z + w; }  //! 16 at 4 of o by 5
}
KERNEL(shared) { I;
    __shared__ __align__(16) float tile[64];
    tile[i] = tile[i + 32] = 1;
    __syncthreads();
    if (i == 0) { float4 f = *reinterpret_cast<float4*>(tile + n + 1); o[64 + i] = f.x; }  //! 16 at 4 of tile by 0
    if (i == 3) o[64 + i] = *reinterpret_cast<double*>(tile + n + 1);  //! 8 at 4 of tile by 3
}
__device__ float variables[16];
__constant__ float constants[16];
KERNEL(variable) { I;
    if (i == 0) *reinterpret_cast<float4*>(variables + n + 2) = make_float4(1, 2, 3, 4);  //! 16 at 8 of variables by 0
    if (i == 1) o[64 + i] = reinterpret_cast<const float2*>(constants + n + 1)->x;  //! 8 at 4 of constants by 1
}

// At offsets that the compiler knows, through types without vectors, and by asynchronous copies.
__device__ char bytes_of_device[64];
KERNEL(known) { I;
    __shared__ char raw[264];
    __shared__ float room[64];
    __shared__ __align__(16) float wide[64];
    static char kept[64];
    double* d = (double*)(raw + 4);
    room[0] = room[1] = room[2] = 1;
    if (i == 0) d[0] = 1;  //! 8 at 4 of raw by 0
    if (i == 2) o[64 + i] = *(double*)&room[1];  //! 8 at 4 of room by 2
    if (i == 4) o[64 + i] = *(double*)(bytes_of_device + 12 + n);  //! 8 at 12 of bytes_of_device by 4
    if (i == 6) *(int*)(raw + 2) = 3;  //! 4 at 2 of raw by 6
    if (i == 7) { short& r = *(short*)(raw + 3); r = 3; }  //! 2 at 3 of raw by 7
    if (i == 9) *(double*)(kept + 4 + n) = 1;  //! 8 at 4 of kept by 9
    if (i == 11) __pipeline_memcpy_async(wide + 1, o, 16);  //! 16 at 4 of wide by 11
    if (i == 12) __pipeline_memcpy_async(wide, o + 1, 16);  //! 16 at 4 of o by 12
    if (i == 13) __pipeline_memcpy_async(wide + 2, o + 1, 8);  //! 8 at 4 of o by 13
    if (i == 14)
        cg::memcpy_async(cg::coalesced_threads(), wide, o + 1, cuda::aligned_size_t<16>(64));  //! 16 at 4 of o by 14
}

// --- aligned as they must be: no finding
struct __attribute__((packed)) Packed { char c; float f; double d; };
struct __attribute__((packed, aligned(4))) Header { char c; short s; float f; };
KERNEL(right) { I;
    float4* wide = reinterpret_cast<float4*>(o);
    float2* pairs = reinterpret_cast<float2*>(o + 2);
    double* numbers = reinterpret_cast<double*>(o + 4);
    wide[i / 4 + 4].x = 0 * wide[i / 4 + 12].y;
    __syncthreads();
    if (i == 0) { float2 f = pairs[n]; numbers[n] = f.x; wide[2] = wide[n]; }
    if (i == 0) reinterpret_cast<Eight*>(o + 2)->x = reinterpret_cast<Sixteen*>(o + 4)->d;
    Packed* packed = reinterpret_cast<Packed*>(o + 64);
    if (i == 1) packed[n].f = packed[n].d = packed[n + 1].f;
    if (i == 1) { Packed p = packed[n + 1]; packed[n] = p; }
    Header* header = reinterpret_cast<Header*>(o + 80);
    if (i == 2) { Header h = header[n]; header[n].s = header[n + 1].s; header[n + 1] = h; }
    __shared__ float tile[32][36];
    __shared__ double first[3];
    __shared__ float4 second[2];
    reinterpret_cast<float4*>(&tile[i][4])[n] = make_float4(1, 2, 3, 4);
    if (i < 2) second[i] = reinterpret_cast<float4*>(tile[i])[1];
    if (i < 3) first[i] = 1;
    __align__(16) float own[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    float4 f = reinterpret_cast<float4*>(own)[n + 1];
    float3 three = *reinterpret_cast<float3*>(o + 101);
    const float3* threes = reinterpret_cast<const float3*>(o + 97);
    o[96] = f.x + 0 * three.x + 0 * threes->z;
    char* bytes = reinterpret_cast<char*>(o) + 121 * 4;
    bytes[i % 4 + n] = reinterpret_cast<uchar3*>(bytes - 3)->x * 0;
}

void run(const char* name, void (*kernel)(float*, int))
{
    float* o;
    cudaMalloc(&o, 128 * sizeof(float));
    cudaMemset(o, 0, 128 * sizeof(float));
    kernel<<<1, 32, 256>>>(o, 0);
    cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(cudaGetLastError()));
    cudaDeviceReset();  // the error of a kernel stays until then
}

#define RUN(kernel) run(#kernel, kernel)
int main()
{
    RUN(float2s); RUN(float4s); RUN(others); RUN(called); RUN(shared);
    RUN(variable); RUN(known); RUN(right);
}
