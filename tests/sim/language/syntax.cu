// What the rewriter has to read: launches of every form, control flow, and variables of the device.

#include "rows.h"

using namespace std;

template <typename T>
__global__ void saxpy(int n, T a, const T* x, T* y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
__global__ void over(int* p) { *p += 1; }
__global__ void over(float* p) { *p += 2; }
void over(double* p) { *p += 3; }
namespace kernels {
template <int N, typename T = float>
__global__ void add(T* p)
{
    *p += N;
}
template <typename... T>
__global__ void sum(int* out, T... x)
{
    *out = (x + ...);
}
}  // namespace kernels
template <int N>
void launched(float* p)
{
    kernels::add<N><<<1, 1>>>(p);
}
template <typename F>
__global__ void each(F f, int n, int* out)
{
    for (int i = 0; i < n; ++i) out[i] = f(i);
}
int blocks(int n) { return n; }

void launches()
{
    Array<float> x(vector<float>{1, 2, 3, 4, 5}), y(5);
    saxpy<<<dim3(2), 2, 0, 0>>>(5, 2.f, x.device(), y.device());
    saxpy<float><<<1,
                   sizeof(int) < 3 ? 1 : 2>>>(5, 2, x.device(), y.device());
    auto kernel = saxpy<float>;
    void (*const table[1])(int, float, const float*, float*) = {kernel};
    (kernel)<<<1, 1>>>(1, 1, x.device(), y.device());
    table[0]<<<blocks([] { return 1; }()), 1>>>(2, 1, x.device(), y.device());
    row("syntax: launches", y.is({6, 10, 12, 16, 20}));

    Array<int> i(1);
    double d = 0;
    over<<<1, 1>>>(i.device());
    over<<<1, 1>>>(x.device());
    over(&d);
    launched<4>(x.device());
    row("syntax: overloads and deduced arguments", i.is({1}) && x.is({7}) && d == 3);
    kernels::sum<<<1, 1>>>(i.device(), 1, 2, 'a' - 'b');
    row("syntax: packs", i.is({2}));

    Array<int> out(3);
    const int base = 40;
    auto f = [=] __device__ (int i) { do --i; while (i > 0); return base + i; };
    each<<<1, 1>>>(f, 3, out.device());
    row("syntax: lambdas", out.is({39, 40, 40}));
}

__device__ int steps(int n)
{
    int s = 0;
    while (n != 1) {
        if (n % 2) { n = 3 * n + 1; ++s; continue; }
        n /= 2;
        if (++s > 1000) break;
    }
    return s;
}

__global__ void flow(int* out)
{
    int sum = 0, i = 0;
    if (sum == 0)
        for (int j = 0; j < 3; ++j) sum += j;
    else
        sum = -1;
    if (sum == 0) while (true) {} else if (sum == 3) do ++sum; while (sum < 6); else sum = -2;
    out[0] = sum;
    while (i++ < 5);
    do ; while (i++ < 9);
    out[1] = i;
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
            if (a * b == 6) goto found;
            else if (a == b) continue;
            else ++sum;
found:
    out[2] = sum;
    int n = 7, to = 0;
    // clang-format off
    switch (n % 4) {  // Duff's device
        case 0: do { ++to; [[fallthrough]];
        case 3: ++to; [[fallthrough]];
        case 2: ++to; [[fallthrough]];
        case 1: ++to; } while ((n -= 4) > 0);
        break;
        default: for (;;) {}
    }
    // clang-format on
    out[3] = to;
    int table[] = {1, 2, 3};
    for (int& x : table) if (x == 2) x = 5; else for (int j : {1, 2}) x += j;
    out[4] = table[0] + table[1] + table[2];
    auto twice = [&](int x) { int y = 0; while (x--) y += 2; return y; };
    out[5] = twice(steps(7));
again:
    if (++i < 20) goto again;
    if constexpr (sizeof(int) == 4) for (;;) break;
    out[6] = i;
}

__device__ int counter = 3, other;
static __device__ alignas(32) float aligned[4];
static __constant__ const int fixed = 4;
__device__ constexpr int known = 5;
inline __device__ int inlined = 7;
__device__ int (*chosen)(int);
struct Base { int b; __device__ explicit Base(int x) : b(x) {} };
template <typename T>
struct Derived : Base {
    T t[2];
    __device__ Derived(T x) : Base(1), t{x, x} { other += 10; }
    __device__ int operator()(int i) const { return i + b + int(t[1]); }
    __host__ __device__ static int helper(int x);
};
template <typename T>
__host__ __device__ int Derived<T>::helper(int x)
{
    return x + known;
}
static __device__ int add_fixed(int x) { return x + fixed; }
extern __shared__ int of_the_launch[];
__device__ int first(const int* p) { return *p; }

__global__ void use(int* out)
{
    __shared__ struct { int a, b; } pair;
    __shared__ int volatile v;
    extern __shared__ volatile int halves[][2];
    pair.a = ++counter, pair.b = 1, v = inlined;
    for (int i = 0; i < 4; ++i) of_the_launch[i] = i;
    chosen = add_fixed;
    out[0] = pair.a + pair.b + v;
    out[1] = Derived<float>(2)(3) + other;
    out[2] = Derived<char>::helper(1) + chosen(1);
    out[3] = int(reinterpret_cast<size_t>(aligned) % 32);
    out[4] = first(of_the_launch + 2) + reinterpret_cast<char*>(of_the_launch)[4] + halves[1][1];
}

int main()
{
    launches();
    Array<int> out(7);
    flow<<<1, 1>>>(out.device());
    row("syntax: control flow", out.is({6, 10, 14, 7, 15, 32, 20}));
    use<<<1, 1, 16>>>(out.device());
    row("syntax: variables", out.is({12, 16, 11, 0, 6}));
    return wrong_rows() != 0;
}
