// Accesses through pointers to types that need more alignment. The comments are those of ends.cu: with the line, the thread, the byte and
// the alignment that is needed. n is 0.
#include <cstdio>

struct alignas(8) Eight { float x, y; };
struct alignas(16) Sixteen { float a, b, c, d; };
struct Inner { float4 f; int n; };

#define KERNEL(name) __global__ void name(float* o, int n)
#define I const int i = threadIdx.x; __syncthreads()

KERNEL(float2s) { I;
    if (i == 0) { float2 f = *reinterpret_cast<float2*>(o + n + 1); o[64 + i] = f.x; }  //! access of 8 bytes at byte 4 of o .*thread \(0, 0, 0\).*8 bytes
    if (i == 1) *reinterpret_cast<float2*>(o + n + 3) = make_float2(1, 2);  //! access of 8 bytes at byte 12 of o .*thread \(1, 0, 0\).*8 bytes
    if (i == 2) o[64 + i] = reinterpret_cast<float2*>(o + n + 5)->x;  //! access of 8 bytes at byte 20 of o .*thread \(2, 0, 0\).*8 bytes
    if (i == 3) reinterpret_cast<float2*>(o + n + 7)->y = 1;  //! access of 8 bytes at byte 28 of o .*thread \(3, 0, 0\).*8 bytes
    if (i == 4) reinterpret_cast<float2*>(o + n + 9)->x += 1;  //! access of 8 bytes at byte 36 of o .*thread \(4, 0, 0\).*8 bytes
    float2& r = reinterpret_cast<float2&>(o[n + 11]);
    if (i == 5) r = make_float2(1, 2);  //! access of 8 bytes at byte 44 of o .*thread \(5, 0, 0\).*8 bytes
    if (i == 6) o[64 + i] = r.y;  //! access of 8 bytes at byte 44 of o .*thread \(6, 0, 0\).*8 bytes
}
KERNEL(float4s) { I;
    float4* wide = reinterpret_cast<float4*>(o + n + 1);
    if (i == 0) { float4 f = wide[0]; o[64 + i] = f.x; }  //! access of 16 bytes at byte 4 of o .*thread \(0, 0, 0\).*16 bytes
    if (i == 1) wide[1] = make_float4(1, 2, 3, 4);  //! access of 16 bytes at byte 20 of o .*thread \(1, 0, 0\).*16 bytes
    if (i == 2) o[64 + i] = wide[2].w;  //! access of 16 bytes at byte 36 of o .*thread \(2, 0, 0\).*16 bytes
    if (i == 3) wide[3].x = 1;  //! access of 16 bytes at byte 52 of o .*thread \(3, 0, 0\).*16 bytes
    if (i == 4) { float4 f = __ldg(wide + 4); o[64 + i] = f.x; }  //! access of 16 bytes at byte 68 of o .*thread \(4, 0, 0\).*16 bytes
    if (i == 5) { float4 f = *reinterpret_cast<float4*>(o + n + 2); o[64 + i] = f.x; }  //! access of 16 bytes at byte 8 of o .*thread \(5, 0, 0\).*16 bytes
}
KERNEL(others) { I;
    char* bytes = reinterpret_cast<char*>(o + n);
    if (i == 0) { double2 f = *reinterpret_cast<double2*>(bytes + 8); o[64 + i] = f.x; }  //! access of 16 bytes at byte 8 of o .*thread \(0, 0, 0\).*16 bytes
    if (i == 1) *reinterpret_cast<int4*>(bytes + 4) = make_int4(1, 2, 3, 4);  //! access of 16 bytes at byte 4 of o .*thread \(1, 0, 0\).*16 bytes
    if (i == 2) { uint4 f = *reinterpret_cast<uint4*>(bytes + 12); o[64 + i] = f.x; }  //! access of 16 bytes at byte 12 of o .*thread \(2, 0, 0\).*16 bytes
    if (i == 3) { longlong2 f = *reinterpret_cast<longlong2*>(bytes + 24); o[64 + i] = f.y; }  //! access of 16 bytes at byte 24 of o .*thread \(3, 0, 0\).*16 bytes
    if (i == 4) *reinterpret_cast<Eight*>(bytes + 4) = {1, 2};  //! access of 8 bytes at byte 4 of o .*thread \(4, 0, 0\).*8 bytes
    if (i == 5) { Sixteen s = *reinterpret_cast<Sixteen*>(bytes + 8); o[64 + i] = s.d; }  //! access of 16 bytes at byte 8 of o .*thread \(5, 0, 0\).*16 bytes
    if (i == 6) o[64 + i] = *reinterpret_cast<double*>(bytes + 4);  //! access of 8 bytes at byte 4 of o .*thread \(6, 0, 0\).*8 bytes
    if (i == 7) *reinterpret_cast<int*>(bytes + 2) = 1;  //! access of 4 bytes at byte 2 of o .*thread \(7, 0, 0\).*4 bytes
    if (i == 8) o[64 + i] = *reinterpret_cast<short*>(bytes + 1);  //! access of 2 bytes at byte 1 of o .*thread \(8, 0, 0\).*2 bytes
    if (i == 9) *reinterpret_cast<long long*>(bytes + 12) += 1;  //! access of 8 bytes at byte 12 of o .*thread \(9, 0, 0\).*8 bytes
    if (i == 10) { Inner s = *reinterpret_cast<Inner*>(bytes + 8); o[64 + i] = s.n; }  //! access of 16 bytes at byte 8 of o .*thread \(10, 0, 0\).*16 bytes
    if (i == 11) atomicAdd(reinterpret_cast<double*>(bytes + 4), 1.0);  //! misaligned .* of 8 bytes at byte 4 of o .*thread \(11, 0, 0\)
    if (i == 12) { ushort4 s = *reinterpret_cast<ushort4*>(bytes + 4); o[64 + i] = s.x; }  //! access of 8 bytes at byte 4 of o .*thread \(12, 0, 0\).*8 bytes
    if (i == 13) { char4 c = *reinterpret_cast<char4*>(bytes + 2); o[64 + i] = c.x; }  //! access of 4 bytes at byte 2 of o .*thread \(13, 0, 0\).*4 bytes
}
__device__ float first(float4 f) { return f.x; }
__device__ float second(const float4& f)
{
    return f.y;  //! access of 16 bytes at byte 4 of o .*thread \(1, 0, 0\).*16 bytes
}
__device__ void put(float4* to, float4 what)
{
    *to = what;  //! access of 16 bytes at byte 4 of o .*thread \(2, 0, 0\).*16 bytes
}
template <typename T> __device__ T get(const float* p)
{
    return *reinterpret_cast<const T*>(p);  //! access of 8 bytes at byte 4 of o .*thread \(3, 0, 0\).*8 bytes
}
KERNEL(called) { I;
    float4* wide = reinterpret_cast<float4*>(o + n + 1);
    if (i == 0) o[64 + i] = first(*wide);  //! access of 16 bytes at byte 4 of o .*thread \(0, 0, 0\).*16 bytes
    if (i == 1) o[64 + i] = second(*wide);
    if (i == 2) put(wide, make_float4(1, 2, 3, 4));
    if (i == 3) o[64 + i] = get<float2>(o + n + 1).x;
    auto f = [=](const float4* p) {
        return p->z;  //! access of 16 bytes at byte 4 of o .*thread \(4, 0, 0\).*16 bytes
    };
    if (i == 4) o[64 + i] = f(wide);
    if (i == 5) { auto [x, y, z, w] = *wide; o[64 + i] = x + y + z + w; }  //! access of 16 bytes at byte 4 of o .*thread \(5, 0, 0\).*16 bytes
    if (i == 6) { float4 f = i < 64 ? *wide : float4{}; o[64 + i] = f.x; }  //! access of 16 bytes at byte 4 of o .*thread \(6, 0, 0\).*16 bytes
}
KERNEL(shared) { I;
    __shared__ __align__(16) float tile[64];
    tile[i] = tile[i + 32] = 1;
    __syncthreads();
    if (i == 0) { float4 f = *reinterpret_cast<float4*>(tile + n + 1); o[64 + i] = f.x; }  //! access of 16 bytes at byte 4 of shared memory \(tile\).*thread \(0, 0, 0\).*16 bytes
    if (i == 1) *reinterpret_cast<float2*>(&tile[n + 33]) = make_float2(1, 2);  //! access of 8 bytes at byte 132 of shared memory \(tile\).*thread \(1, 0, 0\).*8 bytes
    if (i == 2) o[64 + i] = reinterpret_cast<float2*>(tile + n + 3)->y;  //! access of 8 bytes at byte 12 of shared memory \(tile\).*thread \(2, 0, 0\).*8 bytes
    if (i == 3) o[64 + i] = *reinterpret_cast<double*>(tile + n + 1);  //! access of 8 bytes at byte 4 of shared memory \(tile\).*thread \(3, 0, 0\).*8 bytes
}
KERNEL(padded) { I;
    __shared__ float tile[16][17];
    tile[i / 16][i % 16] = 1;
    if (i == 1) *reinterpret_cast<float4*>(&tile[n + 3][0]) = make_float4(1, 2, 3, 4);  //! access of 16 bytes at byte 204 of shared memory \(tile\).*thread \(1, 0, 0\).*16 bytes
}
KERNEL(dynamic) { I;
    extern __shared__ char room[];
    float* numbers = reinterpret_cast<float*>(room + 4);
    numbers[i] = 1;
    if (i == 0) *reinterpret_cast<float4*>(numbers + n) = make_float4(1, 2, 3, 4);  //! access of 16 bytes at byte 4 of dynamic shared memory.*thread \(0, 0, 0\).*16 bytes
    if (i == 1) o[64 + i] = reinterpret_cast<float2*>(numbers + n)->x;  //! access of 8 bytes at byte 4 of dynamic shared memory.*thread \(1, 0, 0\).*8 bytes
    if (i == 2) reinterpret_cast<int*>(room + n + 1)[0] = 1;  //! access of 4 bytes at byte 1 of dynamic shared memory.*thread \(2, 0, 0\).*4 bytes
    if (i == 3) o[64 + i] = reinterpret_cast<double*>(room + n + 4)[0];  //! access of 8 bytes at byte 4 of dynamic shared memory.*thread \(3, 0, 0\).*8 bytes
}
KERNEL(locals) { I;
    __align__(16) float own[8] = {1, 2, 3, 4, 5, 6, 7, o[i]};
    if (i == 0) { float4 f = *reinterpret_cast<float4*>(own + n + 1); o[64 + i] = f.x; }  //! access of 16 bytes .*thread \(0, 0, 0\).*16 bytes
    if (i == 1) *reinterpret_cast<float2*>(own + n + 1) = make_float2(1, 2);  //! access of 8 bytes .*thread \(1, 0, 0\).*8 bytes
    if (i == 2) o[64 + i] = *reinterpret_cast<double*>(own + n + 3);  //! access of 8 bytes .*thread \(2, 0, 0\).*8 bytes
    o[32 + i] = own[i % 8];
}
__device__ float variables[16];
__constant__ float constants[16];
KERNEL(variable) { I;
    if (i == 0) *reinterpret_cast<float4*>(variables + n + 2) = make_float4(1, 2, 3, 4);  //! access of 16 bytes at byte 8 of variables.*thread \(0, 0, 0\).*16 bytes
    if (i == 1) o[64 + i] = reinterpret_cast<const float2*>(constants + n + 1)->x;  //! access of 8 bytes at byte 4 of constants.*thread \(1, 0, 0\).*8 bytes
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
    RUN(float2s); RUN(float4s); RUN(others); RUN(called); RUN(shared); RUN(padded); RUN(dynamic); RUN(locals); RUN(variable); RUN(right);
}
