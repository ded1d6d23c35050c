// More structures by value. The comments are those of values.cu.
#include <cuComplex.h>
#include <cuda_fp16.h>

#include <complex>
#include <cstdio>
#include <cstring>
#include <new>
#include <tuple>
#include <utility>

struct Pair { float x, y; };
struct Big { Pair pairs[3]; float sum; };
struct Point {
    float x, y, z;
    __device__ Point operator+(const Point& b) const
    {
        return {x + b.x, y + b.y, z + b.z};  //= gl4x6 member_operator
    }
    __device__ Point& operator+=(Point b)
    {
        x += b.x;  //= gl4 gs4 added
        y += b.y;  //= gl4 gs4 added
        z += b.z;  //= gl4 gs4 added
        return *this;
    }
    __device__ Point& operator++()
    {
        ++x;  //= gl4 gs4 stepped
        return *this;
    }
    __device__ Point operator++(int)
    {
        Point old = *this;  //= gl4x3 stepped
        ++y;  //= gl4 gs4 stepped
        return old;
    }
    __device__ Point scaled(float s) const
    {
        return {s * x, s * y, s * z};  //= gl4x3 scaled
    }
    __device__ Point copy() const
    {
        return *this;  //= gl4x3 copied
    }
    __device__ operator Pair() const
    {
        return {x, y};  //= gl4x2 converted
    }
    template <typename F> __device__ auto with(F f) const
    {
        return f(*this);  //= gl4x3 with
    }
    __device__ static float first(Point p) { return p.x; }
};
struct Holder {
    Pair p, q = {1, 2};
    __device__ Holder(Pair given) : p(given) {}
    __device__ Holder(const Pair* a, int i) : p(a[i]), q(p)  //= gl4x2 held
    {
    }
    Holder(const Holder&) = default;
    Holder& operator=(const Holder&) = default;
    Holder(Holder&&) noexcept = default;
};
template <typename T, int N>
struct Vec {
    T v[N];
    __device__ Vec operator*(T s) const
    {
        Vec r;
        for (int k = 0; k < N; ++k) r.v[k] = v[k] * s;  //= gl4x3 vec
        return r;
    }
    __device__ T& operator[](int k) { return v[k]; }
    __device__ const T& operator[](int k) const { return v[k]; }
};
template <typename T, int N>
__device__ T dot(Vec<T, N> a, Vec<T, N> b)
{
    T sum = 0;
    for (int k = 0; k < N; ++k) sum += a.v[k] * b[k];
    return sum;
}
struct Tail { int n; Pair* next; };
struct Volatile { volatile float x; float y; };
struct alignas(8) Eight { int a, b; };
struct Char3 { char c[3]; };
namespace inner {
struct Cell { short r, c; };
__device__ Cell turned(Cell a) { return {a.c, a.r}; }
}

__device__ Pair mean(Pair a, Pair b = {0, 0}, Pair c = Pair()) { return {a.x + b.x + c.x, a.y + b.y + c.y}; }
__device__ void put(Pair* to, Pair what)
{
    *to = what;  //= gs4x2 put
}
__device__ void set(Pair& to, const Pair& from)
{
    to = from;  //= gl4x2 gs4x2 set
}
__device__ Pair deep(Pair a, int n) { return n ? deep({a.y, a.x}, n - 1) : a; }
template <typename... T> __device__ float sum(T... parts) { return (parts.x + ...); }
template <typename T> __device__ T&& pass(T& t) { return static_cast<T&&>(t); }
__device__ __forceinline__ Pair inlined(Pair a) { return {a.y, a.x}; }
__device__ __noinline__ Pair called(Pair a) { return {a.y, a.x}; }
inline __device__ Pair once(const Pair* a, int i)
{
    Pair p = a[i];  //= gl4x2 locals
    p.x += 1;
    return p;
}

#define KERNEL(name, T) __global__ void name(T* o, const T* a)
#define I int i = threadIdx.x

KERNEL(member_operator, Point) { I;
    o[i] = a[i] + a[i + 1];  //= gs4x3
}
KERNEL(added, Point) { I;
    o[i] += a[i];  //= gl4x3
}
KERNEL(stepped, Point) { I;
    ++o[i];
    o[i]++;
}
KERNEL(scaled, Point) { I;
    o[i] = a[i].scaled(2);  //= gs4x3
}
KERNEL(copied, Point) { I;
    o[i] = a[i].copy();  //= gs4x3
}
__global__ void converted(Pair* o, const Point* a) { I;
    o[i] = a[i];  //= gs4x2
}
KERNEL(with, Point) { I;
    o[i].x = a[i].with([](Point p) { return p.y; });  //= gs4
    o[i].y = Point::first(a[i]);  //= gl4x3 gs4
}
__global__ void held(Holder* o, const Pair* a) { I;
    o[i] = Holder(a, i);  //= gs4x4
}
__global__ void holders(Holder* o, const Pair* a) { I;
    Holder h = a[i];  //= gl4x2
    Holder g(h);
    o[i] = std::move(g);  //= gs4x4
    o[i] = Holder{a[i]};  //= gl4x2 gs4x4
    o[i].q = static_cast<Holder>(a[i]).q;  //= gl4x2 gs4x2
}
using Vec3 = Vec<float, 3>;
KERNEL(vec, Vec3) { I;
    o[i] = a[i] * 2;  //= gs4x3
    o[i][0] = dot(a[i], a[i + 1]);  //= gl4x6 gs4
    o[i][1] = a[i][2];  //= gl4 gs4
}
KERNEL(big, Big) { I;
    Big b = a[i];  //= gl4x7
    o[i] = b;  //= gs4x7
    float s = 0;
    for (Pair p : a[i].pairs) s += p.x;  //= gl4x6
    for (const Pair& p : a[i].pairs)
        s += p.y;  //= gl4x3
    o[i].sum = s;  //= gs4
    o[i].pairs[1] = a[i].pairs[2];  //= gl4x2 gs4x2
    o[i].pairs[0] = mean(a[i].pairs[1]);  //= gl4x2 gs4x2
}
KERNEL(defaults, Pair) { I;
    o[i] = mean(a[i]);  //= gl4x2 gs4x2
    o[i] = mean(a[i], a[i + 1]);  //= gl4x4 gs4x2
    o[i] = mean(a[i], {}, a[i + 1]);  //= gl4x4 gs4x2
}
KERNEL(put, Pair) { I;
    put(o + i, a[i]);  //= gl4x2
}
KERNEL(set, Pair) { I;
    set(o[i], a[i]);
}
KERNEL(recursive, Pair) { I;
    o[i] = deep(a[i], 3);  //= gl4x2 gs4x2
}
KERNEL(variadic, Pair) { I;
    o[i].x = sum(a[i], a[i + 1], a[i]);  //= gl4x6 gs4
}
KERNEL(passed, Pair) { I;
    Pair p = pass(a[i]);  //= gl4x2
    Pair q = std::forward<const Pair&>(a[i]);  //= gl4x2
    o[i] = inlined(p);  //= gs4x2
    o[i] = called(q);  //= gs4x2
    o[i] = inlined(called(a[i]));  //= gl4x2 gs4x2
}
KERNEL(locals, Pair) { I;
    Pair p = once(a, i);
    Pair q[4] = {};
    q[i % 4] = a[i];  //= gl4x2
    p = q[(i + 1) % 4];
    o[i] = p;  //= gs4x2
}
KERNEL(dead, Pair) { I;
    const Pair* p = &a[i];
    int n = sizeof(a[i]) + sizeof(*p);
    const Pair& r = *p;
    decltype(a[i]) s = r;
    o[i] = {float(n), s.x};  //= gl4 gs4x2
}
KERNEL(chained, Pair) { I;
    Pair p, q;
    p = q = a[i];  //= gl4x2
    o[i] = o[i + 32] = p;  //= gl4x2 gs4x4
    (i < 40 ? o[i] : o[i + 1]) = q;  //= gs4x2
    o[i] = (p.x = 1, a[i]);  //= gl4x2 gs4x2
    o[i] = *&a[i];  //= gl4x2 gs4x2
}
KERNEL(looped, Pair) { I;
    Pair s = {};
    for (int k = 0; k < 4; ++k)
        s = mean(s, a[i + k]);  //= gl4x8
    for (Pair p = a[i]; p.x > 1e30f; p = a[i]) s = p;  //= gl4x2
    switch (i & 1) {
    case 0: o[i] = s; break;  //= gs4x2
    default: o[i] = a[i];  //= gl4x2 gs4x2
    }
    if (Pair p = a[i]; p.x < 1e30f) o[i].x = p.y;  //= gl4x2 gs4
    while (mean(a[i]).x > 1e30f) o[i] = s;  //= gl4x2
}
KERNEL(copied_memory, Pair) { I;
    Pair p;
    // nvcc assumes no alignment of a pointer, and that of the type for an array.
    memcpy(&p, a + i, sizeof p);  //= gl1x8
    o[i] = p;  //= gs4x2
    std::memcpy(&p.x, &a[i].y, 4);  //= gl1x4
    o[i].x = p.x;  //= gs4
    memcpy(o + i, a + i, sizeof p);  //= gl1x8 gs1x8
    memcpy((float*)(o + i), &p, 4);  //= gs1x4
    memset(o + i, 0, sizeof(Pair));  //= gs1x8
    memset((void*)&o[i].y, 0, 4);  //= gs1x4
    __shared__ float tile[32];
    __shared__ float4 wide[32];
    __shared__ double both[32];
    __shared__ char bytes[128];
    memcpy(&tile[i], a + i, 4);  //= gl1x4 ss4
    memcpy(&wide[i], a + i, 16);  //= gl1x16 ss16
    memcpy(&both[i], &tile[i], 4);  //= sl4 ss4
    memset(&both[i], 0, 8);  //= ss8
    memcpy(bytes + 4 * i, &tile[i], 4);  //= sl4 ss1x4
    memcpy(o + i, &both[i], 8);  //= sl8 gs1x8
}
KERNEL(cached, float4) { I;
    float4 f = __ldg(a + i);  //= gl16
    o[i] = f;  //= gs16
    __stcs(o + i, __ldcs(a + i));  //= gl16 gs16
}
KERNEL(complexes, cuFloatComplex) { I;
    o[i] = cuCaddf(a[i], a[i + 1]);  //= gl8x2 gs8
    o[i] = cuCmulf(a[i], make_cuFloatComplex(1, 2));  //= gl8 gs8
    o[i].x = cuCabsf(a[i]) + cuCrealf(a[i + 1]);  //= gl8x2 gs4
}
KERNEL(double_complexes, cuDoubleComplex) { I;
    o[i] = cuCadd(a[i], a[i + 1]);  //= gl16x2 gs16
    cuDoubleComplex c = cuConj(a[i]);  //= gl16
    o[i] = c;  //= gs16
}
KERNEL(halves, __half2) { I;
    o[i] = a[i] + a[i + 1];  //= gl4x2 gs4
    o[i] = __hmul2(a[i], a[i]);  //= gl4x2 gs4
    float2 f = __half22float2(a[i]);  //= gl4
    o[i] = __float22half2_rn(f);  //= gs4
    __half2 h = a[i];  //= gl4
    o[i] = h;  //= gs4
}
KERNEL(half_numbers, __half) { I;
    o[i] = a[i] + a[i + 1];  //= gl2x2 gs2
    o[i] = __float2half(__half2float(a[i]));  //= gl2 gs2
    __half h = a[i];  //= gl2
    o[i] = h;  //= gs2
}
KERNEL(tails, Tail) { I;
    o[i] = a[i];  //= gl8x2 gs8x2
    Tail t = a[i];  //= gl8x2
    o[i].n = t.n + a[i].n;  //= gl4 gs4
}
KERNEL(eights, Eight) { I;
    o[i] = a[i];  //= gl8 gs8
    Eight e = a[i];  //= gl8
    o[i] = {e.b, e.a};  //= gs8
}
KERNEL(chars, Char3) { I;
    o[i] = a[i];  //= gl1x3 gs1x3
    Char3 c = a[i];  //= gl1x3
    o[i].c[1] = c.c[0];  //= gs1
}
KERNEL(volatile_member, Volatile) { I;
    o[i].x = a[i].x;  //= gl4 gs4
    o[i].y = a[i].x + a[i].y;  //= gl4x2 gs4
}
__global__ void cells(inner::Cell* o, const inner::Cell* a) { I;
    o[i] = inner::turned(a[i]);  //= gl2x2 gs2x2
    auto f = [=](inner::Cell c) { return turned(c); };
    o[i] = f(turned(a[i]));  //= gl2x2 gs2x2
    o[i] = [&] { return a[i]; }();  //= gl2x2 gs2x2
    auto get = [=](int k) {
        return a[k];  //= gl2x2
    };
    o[i].r = get(i).c;  //= gs2
}
KERNEL(ternaries, Pair) { I;
    Pair p = i < 16 ? mean(a[i]) : mean(a[i + 1]);  //= gl4x4
    o[i] = i < 16 ? p : i < 24 ? a[i] : Pair{};  //= gl4x2 gs4x2
    o[i].x = (i < 16 ? a[i] : a[i + 1]).y;  //= gl4 gs4
}
KERNEL(placed, Pair) { I;
    __shared__ float room[64];
    Pair* p = new (room + 2 * i) Pair(a[i]);  //= gl4x2 ss8
    o[i] = *p;  //= sl8 gs4x2
    Pair* q = reinterpret_cast<Pair*>(room) + i;
    *q = a[i];  //= gl4x2 ss8
    o[i] = mean(*q);  //= sl8 gs4x2
}
struct Tile {
    Pair data[32];
    float4 wide[8];
    __device__ Pair& at(int i) { return data[i]; }
    __device__ Pair get(int i) const
    {
        return data[i];  //= sl8 tiled
    }
};
KERNEL(tiled, Pair) { I;
    __shared__ Tile tile;
    tile.data[i] = a[i];  //= gl4x2 ss8
    tile.at(i) = mean(a[i]);  //= gl4x2 ss8
    o[i] = tile.at(i);  //= sl8 gs4x2
    o[i] = tile.get(i);  //= gs4x2
    if (i < 8) tile.wide[i] = make_float4(1, 2, 3, 4);  //= ss16
    if (i < 8) o[i].x = tile.wide[i].z;  //= sl4 gs4
    __syncthreads();
    float4 f = tile.wide[i % 8];  //= sl16
    o[i].y = f.w;  //= gs4
}
__constant__ Pair constants[64];
__device__ Pair variables[64];
KERNEL(variable, Pair) { I;
    o[i] = variables[i];  //= gl8 gs4x2
    variables[i] = mean(a[i]);  //= gl4x2 gs8
    variables[i].x = variables[i].y;  //= gl4 gs4
    Pair p = constants[i];  //= cl8
    o[i] = p;  //= gs4x2
}
KERNEL(atomics, Pair) { I;
    atomicAdd(&o[i].x, a[i].y);  //= gl4 ga4
    atomicAdd(&o[i].y, mean(a[i]).y);  //= gl4x2 ga4
}
// The parameter of a kernel is a copy of each thread's own.
__global__ void parameter(Pair* o, Big b, const Pair* a) { I;
    o[i] = b.pairs[i % 3];  //= gs4x2
    o[i] = mean(b.pairs[1], a[i]);  //= gl4x2 gs4x2
}

template <typename A, typename B>
void run(void (*kernel)(A*, const B*))
{
    A* o;
    B* a;
    cudaMalloc(&o, 64 * sizeof(A));
    cudaMalloc(&a, 64 * sizeof(B));
    cudaMemset((void*)a, 1, 64 * sizeof(B));
    cudaMemset((void*)o, 1, 64 * sizeof(A));
    kernel<<<1, 32, 1024>>>(o, a);
    if (cudaDeviceSynchronize() != cudaSuccess) printf("failed\n");
    cudaFree((void*)o);
    cudaFree((void*)a);
}

int main()
{
    run(member_operator); run(added); run(stepped); run(scaled); run(copied); run(converted); run(with); run(held);
    run(holders); run(vec); run(big); run(defaults); run<Pair, Pair>(put); run<Pair, Pair>(set); run(recursive);
    run(variadic); run(passed); run(locals); run(dead); run(chained); run(looped); run(copied_memory); run(cached);
    run(complexes); run(double_complexes); run(halves); run(half_numbers); run(tails); run(eights); run(chars);
    run(volatile_member); run(cells); run(ternaries); run(placed); run(tiled); run(variable); run(atomics);
    Pair *a, *o;
    cudaMalloc(&a, 64 * sizeof(Pair));
    cudaMalloc(&o, 64 * sizeof(Pair));
    cudaMemset(a, 1, 64 * sizeof(Pair));
    parameter<<<1, 32>>>(o, {}, a);
    cudaFree(a);
    cudaFree(o);
}
