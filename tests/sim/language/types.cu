// Types: integers and floating-point numbers down to 1 byte, vectors, structs and unions.

#include <cstdint>
#include <type_traits>

#include "rows.h"

using namespace std;

// Each thread moves one element through shared memory, to the place of its opposite.
template <typename T>
__global__ void reverse(T* to, const T* from, int n)
{
    __shared__ T tile[64];
    const int i = threadIdx.x;
    if (i < n) tile[i] = from[i];
    __syncthreads();
    if (i < n) to[i] = tile[n - 1 - i];
}

template <typename T>
void scalar(const char* name)
{
    const int n = 50;
    vector<T> values(n), expected(n);
    for (int i = 0; i < n; ++i) values[i] = T(i * 5 - 120);
    for (int i = 0; i < n; ++i) expected[i] = values[n - 1 - i];
    Array<T> from(values), to(n);
    reverse<T><<<1, 64>>>(to.device(), from.device(), n);
    row(name, to.is(expected));
}

void booleans()
{
    unsigned char values[40], results[40];
    for (int i = 0; i < 40; ++i) values[i] = i % 3 == 0;
    bool *from, *to;
    must(cudaMalloc(&from, 40));
    must(cudaMalloc(&to, 40));
    must(cudaMemcpy(from, values, 40, cudaMemcpyHostToDevice));
    reverse<bool><<<1, 64>>>(to, from, 40);
    must(cudaMemcpy(results, to, 40, cudaMemcpyDeviceToHost));
    bool ok = true;
    for (int i = 0; i < 40; ++i) ok = ok && results[i] == values[39 - i];
    cudaFree(from);
    cudaFree(to);
    row("types: bool", ok);
}

// Vectors, as they lie in memory: so many numbers each, of which each gets 1 more than it had.
template <typename V, typename T, int count>
__global__ void increment(V* data, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    V v = data[i];
    union {
        V vector;
        T number[count];
    } u;
    u.vector = v;
    for (int k = 0; k < count; ++k) u.number[k] += T(1);
    data[i] = u.vector;
}

template <typename V, typename T, int count>
void vectors(const char* name, size_t alignment)
{
    const int n = 70;
    vector<T> values(n * count), expected(n * count);
    for (int i = 0; i < n * count; ++i) {
        values[i] = T(i % 100);
        expected[i] = T(i % 100 + 1);
    }
    Array<T> data(values);
    increment<V, T, count><<<2, 64>>>(reinterpret_cast<V*>(data.device()), n);
    row(name, data.is(expected) && sizeof(V) == count * sizeof(T) && alignof(V) == alignment &&
                  is_trivially_default_constructible<V>::value);
}

struct Particle {
    float4 position;
    float3 velocity;
    int kind;
    double2 energy;
};

__global__ void made(float* out, Particle* particles)
{
    const float4 a = {1, 2, 3, 4};
    float4 b = make_float4(5, 6, 7, 8);
    b.x += a.w;
    const int2 c = make_int2(9, 10);
    const float3 d = {11, 12};  // and 0
    int4 zero = {0};
    zero.x = threadIdx.x + 3;
    const uchar4 bytes = make_uchar4(250, 251, 252, 253);
    float4 quartets[2] = {{1, 2, 3, 4}, make_float4(5, 6, 7, 8)};
    quartets[0] = float4{a.y, a.x, a.w, a.z};
    reinterpret_cast<float4*>(out)[0] = b;
    reinterpret_cast<float4*>(out)[1] = {float(c.x), float(c.y), d.x, d.y};
    reinterpret_cast<float4*>(out)[2] = make_float4(float(zero.x), float(zero.w), d.z, float(bytes.w));
    reinterpret_cast<float4*>(out)[3] = quartets[0];

    Particle p = particles[0];
    p.position.x += p.velocity.y;
    p.energy.y = p.kind;
    particles[1] = p;
}

__global__ void indices(unsigned* out)
{
    const uint3 t = threadIdx, b = blockIdx;
    const dim3 size = blockDim, grid = gridDim;
    const unsigned in_block = t.x + size.x * (t.y + size.y * t.z);
    const unsigned block = b.x + grid.x * (b.y + grid.y * b.z);
    out[block * size.x * size.y * size.z + in_block] = block * 1000 + in_block + unsigned(warpSize);
}

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ float4 global_vector;

__global__ void variables(float* out)
{
    if (threadIdx.x == 0) {
        global_vector = make_float4(weights[0], weights[1], weights[2], weights[3]);
        counter += 2;
        out[0] = global_vector.z + counter;
    }
}

int main()
{
    scalar<char>("types: char");
    scalar<signed char>("types: signed char");
    scalar<unsigned char>("types: unsigned char");
    scalar<short>("types: short");
    scalar<unsigned short>("types: unsigned short");
    scalar<int>("types: int");
    scalar<unsigned>("types: unsigned");
    scalar<long>("types: long");
    scalar<unsigned long>("types: unsigned long");
    scalar<long long>("types: long long");
    scalar<unsigned long long>("types: unsigned long long");
    scalar<float>("types: float");
    scalar<double>("types: double");
    scalar<int8_t>("types: int8_t");
    scalar<size_t>("types: size_t");
    booleans();

#define VECTORS(name, T)                                                                           \
    vectors<name##1, T, 1>("types: " #name "1", sizeof(T));                                        \
    vectors<name##2, T, 2>("types: " #name "2", 2 * sizeof(T));                                    \
    vectors<name##3, T, 3>("types: " #name "3", sizeof(T));
#define VECTORS4(name, T) vectors<name##4, T, 4>("types: " #name "4", 4 * sizeof(T));
    // clang-format off
    VECTORS(char, signed char) VECTORS4(char, signed char)
    VECTORS(uchar, unsigned char) VECTORS4(uchar, unsigned char)
    VECTORS(short, short) VECTORS4(short, short)
    VECTORS(ushort, unsigned short) VECTORS4(ushort, unsigned short)
    VECTORS(int, int) VECTORS4(int, int)
    VECTORS(uint, unsigned) VECTORS4(uint, unsigned)
    VECTORS(long, long)
    VECTORS(ulong, unsigned long)
    VECTORS(longlong, long long)
    VECTORS(ulonglong, unsigned long long)
    VECTORS(float, float) VECTORS4(float, float)
    VECTORS(double, double)
#if CUDART_VERSION >= 13000
    vectors<double4_16a, double, 4>("types: double4_16a", 16);
    vectors<double4_32a, double, 4>("types: double4_32a", 32);
    vectors<longlong4_16a, long long, 4>("types: longlong4_16a", 16);
#else
    vectors<double4, double, 4>("types: double4", 16);
    vectors<longlong4, long long, 4>("types: longlong4", 16);
#endif
    // clang-format on

    Array<float> out(16);
    vector<Particle> initial(2);
    initial[0].position = make_float4(1, 2, 3, 4);
    initial[0].velocity = make_float3(10, 20, 30);
    initial[0].kind = 7;
    initial[0].energy = make_double2(0.5, 0.25);
    Array<Particle> particles(initial);
    made<<<1, 1>>>(out.device(), particles.device());
    row("types: vectors made and assigned", out.is({9, 6, 7, 8, 9, 10, 11, 12, 3, 0, 0, 253, 2, 1, 4, 3}));
    const Particle moved = particles.host()[1];
    row("types: structs of vectors", moved.position.x == 21 && moved.position.w == 4 && moved.velocity.z == 30 &&
                                         moved.energy.x == 0.5 && moved.energy.y == 7);

    const dim3 grid(2, 3, 2), block(4, 2, 5);
    Array<unsigned> numbers(12 * 40);
    indices<<<grid, block>>>(numbers.device());
    vector<unsigned> expected(12 * 40);
    for (unsigned i = 0; i < expected.size(); ++i) expected[i] = i / 40 * 1000 + i % 40 + 32;
    row("variables: threadIdx, blockIdx, blockDim, gridDim, warpSize", numbers.is(expected));

    Array<float> value(1);
    variables<<<1, 32>>>(value.device());
    row("variables: __constant__, __device__", value.is({10}));

    // The host uses these types, too.
    const float4 on_host = {1, 2, 3, 4};
    const dim3 d(5);
    const uint3 u = {1, 2, 3};
    row("types: vectors on the host", on_host.w == 4 && make_int3(1, 2, 3).y == 2 && d.y == 1 && dim3(u).z == 3 &&
                                          min(3, 4) == 3 && max(2.5, 1.0) == 2.5);
    return wrong_rows() != 0;
}
