// Structures by value: each line says which requests of one warp it makes. gl and gs are loads and stores of
// global memory, sl and ss of shared memory. A number of bytes follows, and x3 where there are three such
// requests. Lines without such a comment make none.
#include <cmath>
#include <cstdio>
#include <utility>

struct Pair { float x, y; };
struct Made {  // with constructors
    float x, y;
    __device__ Made() : x(0), y(0) {}
    __device__ Made(float a, float b) : x(a), y(b) {}
    __device__ Made(float a) : x(a), y(a) {}
    Made(const Made&) = default;
    Made& operator=(const Made&) = default;
    __device__ float sum() const { return x + y; }  //= gl4x2 member
    __device__ operator float() const { return x; }  //= gl4 conversion
};
struct Own {  // with a copy constructor in the program
    float x, y;
    Own() = default;
    __device__ Own(const Own& o) : x(o.x), y(o.y) {}  //= gl4x2 own
    __device__ Own& operator=(const Own& o)
    {
        x = o.x;  //= gs4 own
        y = o.y;  //= gs4 own
        return *this;
    }
};
struct Moved {
    float x, y;
    Moved() = default;
    Moved(const Moved&) = default;
    Moved(Moved&&) = default;
    Moved& operator=(const Moved&) = default;
    Moved& operator=(Moved&&) = default;
};
struct Empty {};
struct Derived : Empty, Pair { int n; };
struct Nested { Pair low, high; };
struct Bits { unsigned low : 12, high : 20; };
union Either { float f; int n; };
struct Tagged { int tag; Either value; };
struct alignas(16) Wide { float a, b, c, d; };
struct Vectors { float4 a; float2 b; int2 c; };

__device__ Pair operator+(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }
__device__ Pair operator-(Pair a) { return {-a.x, -a.y}; }
__device__ bool operator<(Pair a, Pair b) { return a.x < b.x; }
__device__ bool operator==(const Pair& a, const Pair& b)
{
    return a.x == b.x && a.y == b.y;  //= gl4x4 compared
}
__device__ Pair twice(Pair a) { return {2 * a.x, 2 * a.y}; }
__device__ float length(Pair a, float scale = 1) { return scale * (a.x + a.y); }
__device__ float norm(float4 a) { return a.x + a.w; }
__device__ float2 half_of(float2 a) { return {a.x / 2, a.y / 2}; }
__device__ Pair element(const Pair* a, int i)
{
    return a[i];  //= gl4x2 returned
}
__device__ const Pair& reference(const Pair* a, int i) { return a[i]; }
template <typename T> __device__ T same(T a) { return a; }
template <typename T, typename F> __device__ auto apply(F f, T a) { return f(a); }
struct Longer { __device__ float operator()(Pair a) const { return a.x + a.y; } };

#define KERNEL(name, T) __global__ void name(T* o, const T* a)
#define I int i = threadIdx.x

KERNEL(assigned, Pair) { I;
    o[i] = a[i];  //= gl4x2 gs4x2
}
KERNEL(argument, Pair) { I;
    o[i].x = length(a[i]);  //= gl4x2 gs4
    o[i].y = length(a[i], 3);  //= gl4x2 gs4
}
KERNEL(result, Pair) { I;
    o[i] = twice(a[i]);  //= gl4x2 gs4x2
}
KERNEL(returned, Pair) { I;
    o[i] = element(a, i);  //= gs4x2
}
KERNEL(by_reference, Pair) { I;
    o[i] = reference(a, i);  //= gl4x2 gs4x2
    o[i].x = reference(a, i).y;  //= gl4 gs4
}
KERNEL(plus, Pair) { I;
    o[i] = a[i] + a[i + 1];  //= gl4x4 gs4x2
}
KERNEL(compared, Pair) { I;
    bool less = a[i] < a[i + 1];  //= gl4x4
    bool equal = a[i] == a[i];
    o[i].x = less + equal;  //= gs4
}
KERNEL(initialized, Pair) { I;
    Pair p = a[i];  //= gl4x2
    Pair q{a[i + 1]};  //= gl4x2
    const Pair& r = a[i];
    Pair s(r);  //= gl4x2
    o[i] = {p.x + q.x, s.y};  //= gs4x2
}
KERNEL(captured, Pair) { I;
    Pair p = a[i];  //= gl4x2
    auto by_value = [p](float s) { return p.x * s; };
    auto by_reference = [&](float s) { return a[i].y * s; };  //= gl4
    auto copied = [q = a[i]] { return q; };  //= gl4x2
    o[i].x = by_value(2) + by_reference(3);  //= gs4
    o[i] = copied();  //= gs4x2
}
KERNEL(given, Pair) { I;
    auto f = [](Pair p) { return p.x; };
    o[i].x = f(a[i]);  //= gl4x2 gs4
    o[i].y = Longer()(a[i]);  //= gl4x2 gs4
    o[i].x = apply(Longer(), a[i]);  //= gl4x2 gs4
    o[i].y = apply([](Pair p) { return p.y; }, a[i]);  //= gl4x2 gs4
}
KERNEL(chain, Pair) { I;
    o[i].x = length(twice(twice(a[i])));  //= gl4x2 gs4
    o[i] = twice(-twice(a[i] + a[i]));  //= gl4x4 gs4x2
}
KERNEL(either, Pair) { I;
    o[i] = i < 16 ? a[i] : a[i + 1];  //= gl4x2 gs4x2
    Pair p = i < 16 ? a[i] : Pair{1, 2};  //= gl4x2
    o[i] = i < 64 ? p : twice(a[i]);  //= gs4x2
}
KERNEL(member, Made) { I;
    float f = a[i].sum();
    o[i].x = f;  //= gs4
}
KERNEL(conversion, Made) { I;
    float f = a[i];
    o[i].x = f;  //= gs4
    o[i] = 2.0f;  //= gs4x2
}
KERNEL(made, Made) { I;
    Made m = a[i];  //= gl4x2
    o[i] = m;  //= gs4x2
    o[i] = Made(1, 2);  //= gs4x2
    o[i] = Made(a[i]);  //= gl4x2 gs4x2
}
KERNEL(own, Own) { I;
    Own p = a[i];
    o[i] = p;
}
KERNEL(moved, Moved) { I;
    Moved m = std::move(o[i]);  //= gl4x2
    Moved n = std::move(m);
    o[i] = std::move(n);  //= gs4x2
    o[i] = std::move(const_cast<Moved&>(a[i]));  //= gl4x2 gs4x2
}
KERNEL(derived, Derived) { I;
    Derived d = a[i];  //= gl4x3
    o[i] = d;  //= gs4x3
    Pair p = a[i];  //= gl4x2
    static_cast<Pair&>(o[i]) = p;  //= gs4x2
    Empty e = a[i];
    static_cast<Empty&>(o[i]) = e;
}
KERNEL(nested, Nested) { I;
    o[i] = a[i];  //= gl4x4 gs4x4
    o[i].low = a[i].high;  //= gl4x2 gs4x2
    o[i].high = twice(a[i].low);  //= gl4x2 gs4x2
}
KERNEL(bits, Bits) { I;
    Bits b = a[i];  //= gl4
    o[i] = b;  //= gs4
}
KERNEL(unions, Tagged) { I;
    Tagged t = a[i];  //= gl4x2
    o[i] = t;  //= gs4x2
    Either e = a[i].value;  //= gl4
    o[i].value = e;  //= gs4
    o[i].value.f = a[i].value.n;  //= gl4 gs4
}
KERNEL(wide, Wide) { I;
    Wide w = a[i];  //= gl16
    o[i] = w;  //= gs16
    o[i].b = a[i].c;  //= gl4 gs4
}
KERNEL(vectors, Vectors) { I;
    Vectors v = a[i];  //= gl16x2
    o[i] = v;  //= gs16x2
    float4 f = a[i].a;  //= gl16
    o[i].b = half_of(a[i].b);  //= gl8 gs8
    o[i].a.x = norm(a[i].a) + f.x;  //= gl16 gs4
}
KERNEL(float4s, float4) { I;
    o[i] = a[i];  //= gl16 gs16
    o[i].x = norm(a[i]);  //= gl16 gs4
    o[i] = same(a[i]);  //= gl16 gs16
    float4 f = i < 32 ? a[i] : a[i + 1];  //= gl16
    o[i] = make_float4(f.x, f.y, f.z, f.w);  //= gs16
    auto [x, y, z, w] = a[i];  //= gl16
    o[i].x = x + w;  //= gs4
    auto p = &float4::y;
    o[i].*p = a[i].*p;  //= gl4 gs4
}
KERNEL(bound, Pair) { I;
    auto [x, y] = a[i];  //= gl4x2
    auto& [u, v] = o[i];
    u = y;  //= gs4
    v = x;  //= gs4
    const auto& [s, t] = a[i]; u = s + t;  //= gl4x2 gs4
}
KERNEL(pointed, Pair) { I;
    float Pair::*p = i < 64 ? &Pair::x : &Pair::y;
    o[i].*p = a[i].*p;  //= gl4 gs4
    const Pair* q = a + i;
    o[i] = *q;  //= gl4x2 gs4x2
    o[i].x = q->y;  //= gl4 gs4
    o[i].x = (*q).y + q[1].x;  //= gl4x2 gs4
}
__global__ void volatiles(volatile float2* o, const volatile float2* a) { I;
    o[i].x = a[i].y;  //= gl4 gs4
}
__global__ void pairs(std::pair<int, float>* o, const std::pair<int, float>* a) { I;
    std::pair<int, float> p = a[i];  //= gl4x2
    auto [n, f] = a[i];  //= gl4x2
    o[i].first = n + p.first;  //= gs4
    o[i].second = f + a[i].second;  //= gl4 gs4
}
KERNEL(printed, Pair) { I;
    if (i == 0) printf("%f %f\n", a[i].x, double(twice(a[i]).y));  //= gl4x3
    o[i].x = length({a[i].x, a[i].y});  //= gl4x2 gs4
}
KERNEL(shared, Pair) { I;
    __shared__ Pair tile[32];
    tile[i] = a[i];  //= gl4x2 ss8
    __syncthreads();
    Pair p = twice(tile[31 - i]);  //= sl8
    __syncthreads();
    tile[i] = p;  //= ss8
    o[i] = tile[i];  //= sl8 gs4x2
    o[i] = tile[i] + a[i];  //= sl8 gl4x2 gs4x2
    tile[i].x = tile[i].y;  //= sl4 ss4
}
KERNEL(shared_vector, float4) { I;
    __shared__ float4 tile[32];
    __shared__ float4 one;
    tile[i] = a[i];  //= gl16 ss16
    __syncthreads();
    if (i == 0) one = tile[31];  //= sl16 ss16
    __syncthreads();
    o[i] = one;  //= sl16 gs16
    o[i].x = norm(tile[i]);  //= sl16 gs4
}
KERNEL(compound, Pair) { I;
    auto add = [](Pair& p, Pair q) {
        p.x += q.x;  //= gl4 gs4
        p.y += q.y;  //= gl4 gs4
    };
    add(o[i], a[i]);  //= gl4x2
    o[i].x += a[i].y;  //= gl4x2 gs4
}
KERNEL(nothing, Pair) { I;
    if (i > 64) o[i] = twice(a[i]);
    o[i] = Pair{1, 2};  //= gs4x2
    o[i] = {};  //= gs4x2
}

template <typename T>
void run(void (*kernel)(T*, const T*))
{
    T *o, *a;
    cudaMalloc(&o, 64 * sizeof(T));
    cudaMalloc(&a, 64 * sizeof(T));
    cudaMemset((void*)a, 1, 64 * sizeof(T));
    cudaMemset((void*)o, 1, 64 * sizeof(T));
    kernel<<<1, 32, 1024>>>(o, a);
    if (cudaDeviceSynchronize() != cudaSuccess) printf("failed\n");
    cudaFree((void*)o);
    cudaFree((void*)a);
}

int main()
{
    run(assigned); run(argument); run(result); run(returned); run(by_reference); run(plus);
    run(compared); run(initialized); run(captured); run(given);
    run(chain); run(either); run(member); run(conversion); run(made);
    run(own); run(moved); run(derived); run(nested); run(bits); run(unions); run(wide);
    run(vectors); run(float4s); run(bound); run(pointed); run(pairs); run(printed); run(shared);
    run(shared_vector); run(compound); run(nothing);
    float2* f;
    cudaMalloc(&f, 64 * sizeof(float2));
    cudaMemset(f, 1, 64 * sizeof(float2));
    volatiles<<<1, 32>>>(f, f);
    cudaFree(f);
}
