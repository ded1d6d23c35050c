// Two or four numbers in one word, minima and maxima of three, complex numbers, norms.

#include <cuComplex.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <string>

#include "rows.h"

namespace {

// Words whose parts are extreme, and random ones.
std::vector<unsigned> words(unsigned seed)
{
    const unsigned edges[] = {0,          1,          0x7f,       0x80,       0xff,       0x7fff,     0x8000,    0xffff,
                              0x7f80ff01, 0x80808080, 0x7fffffff, 0x80000000, 0xffffffff, 0x00ff00ff, 0x80017fff};
    std::mt19937 random(seed);
    std::vector<unsigned> all(256);
    for (unsigned& w : all) w = random() % 2 ? edges[random() % (sizeof edges / sizeof *edges)] : unsigned(random());
    return all;
}

template <typename Function>
__global__ void apply(Function function, unsigned* out, const unsigned* a, const unsigned* b, const unsigned* c)
{
    const int i = threadIdx.x;
    out[i] = function(a[i], b[i], c[i]);
}

template <typename Function, typename Expected>
void compare(const char* name, Function function, Expected expected)
{
    const std::vector<unsigned> a = words(1), b = words(2), c = words(3);
    Array<unsigned> d_a(a), d_b(b), d_c(c), out(a.size());
    apply<<<1, 256>>>(function, out.device(), d_a.device(), d_b.device(), d_c.device());
    std::vector<unsigned> wanted;
    for (size_t i = 0; i < a.size(); ++i) wanted.push_back(expected(a[i], b[i], c[i]));
    row((std::string("packed: ") + name).c_str(), out.is(wanted));
}

// A function of the parts of words, as a function of words.
template <typename T, typename F>
auto parts(F f)
{
    return [f](unsigned a, unsigned b, unsigned c) {
        unsigned result = 0;
        for (unsigned at = 0; at < 32; at += 8 * sizeof(T))
            result |= (unsigned(f(long(T(a >> at)), long(T(b >> at)), long(T(c >> at)))) &
                       (0xffffffffu >> (32 - 8 * sizeof(T))))
                      << at;
        return result;
    };
}

// The sum of such a function over all parts.
template <typename T, typename F>
auto sum(F f)
{
    return [f](unsigned a, unsigned b, unsigned) {
        long result = 0;
        for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) result += f(long(T(a >> at)), long(T(b >> at)));
        return unsigned(result);
    };
}

template <typename T>
long clamped(long x)
{
    return std::min(std::max(x, long(std::numeric_limits<T>::min())), long(std::numeric_limits<T>::max()));
}

}  // namespace

// A call with arguments of a, b and c, and what it gives for the parts x, y and z of the words, which have the type T.
#define CALL(name, arguments) [] __device__ (unsigned a, unsigned b, unsigned c) { return unsigned(name arguments); }
#define PART(name, arguments, Part, f) \
    compare(#name, CALL(name, arguments), \
            parts<Part>([](long x, long y, long z) { using T = Part; return long(T(f)); }))
#define SIGNED(name, arguments, f) PART(name##2, arguments, int16_t, f); PART(name##4, arguments, int8_t, f)
#define UNSIGNED(name, arguments, f) PART(name##2, arguments, uint16_t, f); PART(name##4, arguments, uint8_t, f)
#define BOTH(before, f) SIGNED(before##s, (a, b), f); UNSIGNED(before##u, (a, b), f)
#define SUM(name, T) compare(#name, CALL(name, (a, b)), sum<T>([](long x, long y) { return x > y ? x - y : y - x; }))
#define WORDS(name, arguments, f) \
    PART(name##_s32, arguments, int, f); PART(name##_u32, arguments, unsigned, f); \
    PART(name##_s16x2, arguments, int16_t, f); PART(name##_u16x2, arguments, uint16_t, f)
#define RELU(name, arguments, f) \
    PART(name##_s32_relu, arguments, int, max(f, 0L)); PART(name##_s16x2_relu, arguments, int16_t, max(f, 0L))

// With the predicates in the lowest bits.
#define WHICH(name, T, f, order) \
    compare(#name, \
            [] __device__ (unsigned a, unsigned b, unsigned) { \
                bool first; \
                return (unsigned(name(a, b, &first)) & ~1u) | first; \
            }, \
            [](unsigned a, unsigned b, unsigned) { return (unsigned(f(T(a), T(b))) & ~1u) | (T(a) order T(b)); })
#define WHICH_2(name, T, f, order) \
    compare(#name, \
            [] __device__ (unsigned a, unsigned b, unsigned) { \
                bool high, low; \
                return (unsigned(name(a, b, &high, &low)) & ~3u) | high << 1 | low; \
            }, \
            [](unsigned a, unsigned b, unsigned c) { \
                return (parts<T>([](long x, long y, long) { return f(x, y); })(a, b, c) & ~3u) | \
                       (T(a >> 16) order T(b >> 16)) << 1 | (T(a) order T(b)); \
            })

__global__ void complex_numbers(cuDoubleComplex* out, cuDoubleComplex x, cuDoubleComplex y)
{
    int n = 0;
    out[n++] = cuCadd(x, y);
    out[n++] = cuCsub(x, y);
    out[n++] = cuCmul(x, y);
    out[n++] = cuCdiv(x, y);
    out[n++] = cuCfma(x, y, make_cuDoubleComplex(1, 2));
    out[n++] = cuConj(x);
    out[n++] = make_cuDoubleComplex(cuCabs(x), cuCreal(y) + cuCimag(y));
    const cuComplex f = cuComplexDoubleToFloat(x), g = make_cuComplex(3, -4);
    out[n++] = cuComplexFloatToDouble(cuCaddf(f, g));
    out[n++] = cuComplexFloatToDouble(cuCsubf(f, g));
    out[n++] = cuComplexFloatToDouble(cuCmulf(f, g));
    out[n++] = cuComplexFloatToDouble(cuCdivf(f, g));
    out[n++] = cuComplexFloatToDouble(cuCfmaf(f, g, cuConjf(g)));
    out[n++] = make_cuDoubleComplex(cuCabsf(g), cuCrealf(g) + cuCimagf(g));
    out[n++] = cuCdiv(make_cuDoubleComplex(1e300, 0), make_cuDoubleComplex(1e300, 1e300));
}

__global__ void norms(double* out, const double* a, const float* b)
{
    int n = 0;
    out[n++] = norm(4, a);
    out[n++] = rnorm(4, a);
    out[n++] = norm(0, a + 1);
    out[n++] = rnorm(-1, a + 1);
    out[n++] = norm(2, a + 4);
    out[n++] = normf(1, b);
    out[n++] = normf(3, b);
    out[n++] = rnormf(3, b);
    const __half2 z = __hcmadd(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4), __floats2half2_rn(0.5f, 0.25f));
    out[n++] = __low2float(z);
    out[n++] = __high2float(z);
    out[n++] = INT_MAX;  // cuda_runtime.h brings <limits.h> and <ctype.h>
}

int main()
{
    using std::max;
    using std::min;
    UNSIGNED(__vadd, (a, b), x + y); UNSIGNED(__vsub, (a, b), x - y);
    UNSIGNED(__vaddus, (a, b), clamped<T>(x + y)); UNSIGNED(__vsubus, (a, b), clamped<T>(x - y));
    SIGNED(__vaddss, (a, b), clamped<T>(x + y)); SIGNED(__vsubss, (a, b), clamped<T>(x - y));
    UNSIGNED(__vhaddu, (a, b), (x + y) / 2); UNSIGNED(__vavgu, (a, b), (x + y + 1) / 2);
    SIGNED(__vavgs, (a, b), (x + y + (x + y >= 0 ? 1 : 0)) >> 1);
    BOTH(__vabsdiff, x > y ? x - y : y - x); BOTH(__vmax, max(x, y)); BOTH(__vmin, min(x, y));
    UNSIGNED(__vcmpeq, (a, b), x == y ? -1 : 0); UNSIGNED(__vcmpne, (a, b), x != y ? -1 : 0);
    BOTH(__vcmpgt, x > y ? -1 : 0); BOTH(__vcmpge, x >= y ? -1 : 0);
    BOTH(__vcmplt, x < y ? -1 : 0); BOTH(__vcmple, x <= y ? -1 : 0);
    UNSIGNED(__vseteq, (a, b), x == y); UNSIGNED(__vsetne, (a, b), x != y);
    BOTH(__vsetgt, x > y); BOTH(__vsetge, x >= y); BOTH(__vsetlt, x < y); BOTH(__vsetle, x <= y);
    SIGNED(__vneg, (a), -x); SIGNED(__vnegss, (a), clamped<T>(-x));
    SIGNED(__vabs, (a), x < 0 ? -x : x); SIGNED(__vabsss, (a), clamped<T>(x < 0 ? -x : x));
    SUM(__vsads2, int16_t); SUM(__vsads4, int8_t); SUM(__vsadu2, uint16_t); SUM(__vsadu4, uint8_t);
    WORDS(__vimax3, (a, b, c), max(max(x, y), z)); WORDS(__vimin3, (a, b, c), min(min(x, y), z));
    RELU(__vimax3, (a, b, c), max(max(x, y), z)); RELU(__vimin3, (a, b, c), min(min(x, y), z));
    RELU(__vimax, (a, b), max(x, y)); RELU(__vimin, (a, b), min(x, y));
    WORDS(__viaddmax, (a, b, c), max(long(T(x + y)), z)); WORDS(__viaddmin, (a, b, c), min(long(T(x + y)), z));
    RELU(__viaddmax, (a, b, c), max(long(T(x + y)), z)); RELU(__viaddmin, (a, b, c), min(long(T(x + y)), z));
    WHICH(__vibmax_s32, int, max, >=); WHICH(__vibmin_s32, int, min, <=);
    WHICH(__vibmax_u32, unsigned, max, >=); WHICH(__vibmin_u32, unsigned, min, <=);
    WHICH_2(__vibmax_s16x2, int16_t, max, >=); WHICH_2(__vibmin_s16x2, int16_t, min, <=);
    WHICH_2(__vibmax_u16x2, uint16_t, max, >=); WHICH_2(__vibmin_u16x2, uint16_t, min, <=);

    using Complex = std::complex<double>;
    const Complex x(1.5, -2.25), y(-3, 0.5), g(3, -4);
    const Complex expected[] = {x + y, x - y, x * y, x / y, x * y + Complex(1, 2), std::conj(x), {std::abs(x), -2.5},
                                x + g, x - g, x * g, x / g, x * g + std::conj(g),  {5, -1},      {0.5, -0.5}};
    Array<double> parts_of(2 * sizeof expected / sizeof *expected);
    complex_numbers<<<1, 1>>>(reinterpret_cast<cuDoubleComplex*>(parts_of.device()),
                              make_cuDoubleComplex(x.real(), x.imag()), make_cuDoubleComplex(y.real(), y.imag()));
    std::vector<double> wanted;
    for (const Complex& z : expected) wanted.insert(wanted.end(), {z.real(), z.imag()});
    row("packed: cuComplex", parts_of.near(wanted, 1e-6));

    Array<double> results(11), a(std::vector<double>{1, 2, 4, 10, 3e200, -4e200});
    Array<float> b(std::vector<float>{2, 3, 6});
    norms<<<1, 1>>>(results.device(), a.device(), b.device());
    row("packed: norms, __hcmadd",
        results.near({11, 1 / 11.0, 2, 0.5, 5e200, 2, 7, 1 / 7.0, -4.5, 10.25, 2147483647.0}, 1e-6) && isdigit('7'));
    return wrong_rows() != 0;
}
