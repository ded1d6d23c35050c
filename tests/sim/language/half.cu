// half and bfloat16: conversions, arithmetic, comparisons, pairs, shared memory, unions.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "rows.h"

__global__ void convert(unsigned short* out, const float* in, int n)
{
    const int i = threadIdx.x;
    if (i >= n) return;
    out[6 * i] = __half_as_ushort(__float2half(in[i]));
    out[6 * i + 1] = __half_as_ushort(__float2half_rz(in[i]));
    out[6 * i + 2] = __half_as_ushort(__float2half_ru(in[i]));
    out[6 * i + 3] = __half_as_ushort(__float2half_rd(in[i]));
    out[6 * i + 4] = __bfloat16_as_ushort(__float2bfloat16(in[i]));
    out[6 * i + 5] = __bfloat16_as_ushort(__float2bfloat16_rz(in[i]));
}

// Every number there is, to float and back.
__global__ void round_trip(int* wrong)
{
    const unsigned short bits = blockIdx.x * blockDim.x + threadIdx.x;
    const half h = __ushort_as_half(bits);
    const __nv_bfloat16 b = __ushort_as_bfloat16(bits);
    if (!__hisnan(h) && __half_as_ushort(__float2half(__half2float(h))) != bits) atomicAdd(wrong, 1);
    if (!__hisnan(b) && __bfloat16_as_ushort(__float2bfloat16(__bfloat162float(b))) != bits) atomicAdd(wrong, 1);
}

template <typename T>
__global__ void arithmetic(float* out, float x, float y)
{
    const T a = T(x), b = T(y);
    T c = a + b;
    int n = 0;
    out[n++] = float(c);
    out[n++] = float(a - b);
    out[n++] = float(a * b);
    out[n++] = float(a / b);
    out[n++] = float(-a);
    c += a;
    out[n++] = float(c);
    c -= b;
    c *= b;
    c /= a;
    out[n++] = float(c);
    ++c;
    out[n++] = float(c--);
    out[n++] = float(__hadd(a, b));
    out[n++] = float(__hsub(a, b));
    out[n++] = float(__hmul(a, b));
    out[n++] = float(__hdiv(a, b));
    out[n++] = float(__hfma(a, b, c));
    out[n++] = float(__hneg(a));
    out[n++] = float(__habs(__hneg(b)));
    out[n++] = float(__hmin(a, b));
    out[n++] = float(__hmax(a, b));
    out[n++] = float(hsqrt(a * a));
    out[n++] = float(hfloor(b));
    out[n++] = float(hceil(b));
    out[n++] = float(htrunc(b));
    out[n++] = float(hrint(b));
}

template <typename T>
__global__ void comparison(int* out, float x, float y)
{
    const T a = T(x), b = T(y), nan = T(nanf(""));
    int n = 0;
    out[n++] = a == b;
    out[n++] = a != b;
    out[n++] = a < b;
    out[n++] = a <= b;
    out[n++] = a > b;
    out[n++] = a >= b;
    out[n++] = __heq(a, a);
    out[n++] = __hne(a, b);
    out[n++] = __hlt(a, b);
    out[n++] = __hle(a, b);
    out[n++] = __hgt(a, b);
    out[n++] = __hge(a, b);
    out[n++] = __hlt(a, nan);
    out[n++] = __hltu(a, nan);
    out[n++] = __hne(a, nan);
    out[n++] = __hneu(a, nan);
    out[n++] = __hisnan(nan);
    out[n++] = __hisinf(T(-1e30f) * T(1e30f)) != 0;
}

__global__ void pairs(float* out, half2* moved)
{
    __shared__ half2 tile[32];
    const unsigned i = threadIdx.x;
    tile[i] = __floats2half2_rn(float(i), float(i) + 0.5f);
    __syncthreads();
    half2 p = tile[31 - i];
    moved[i] = p;
    if (i != 0) return;
    const half2 q = __half2half2(__float2half(2));
    int n = 0;
    out[n++] = __low2float(p);
    out[n++] = __high2float(p);
    p = __hadd2(p, q);
    out[n++] = __half2float(__low2half(p));
    out[n++] = __half2float(__high2half(p));
    p = __hmul2(p, q);
    p = __hfma2(p, q, q);
    out[n++] = __half22float2(p).x;
    out[n++] = __half22float2(p).y;
    p = p - q;
    p = p * q + q;
    out[n++] = float(p.x);
    out[n++] = float(p.y);
    const half2 r = __halves2half2(p.y, q.x);
    out[n++] = float(r.x);
    out[n++] = float(__lowhigh2highlow(r).x);
    out[n++] = float(__low2half2(r).y);
    out[n++] = float(__highs2half2(r, q).x);
    out[n++] = __hbgt2(p, q);
    out[n++] = float(__hgt2(q, r).y);
    out[n++] = p == p;
    out[n++] = __low2float(make_half2(p.x, p.y));
}

__global__ void bfloat_pairs(float* out)
{
    const __nv_bfloat162 p = __floats2bfloat162_rn(1.5f, -3), q = __bfloat162bfloat162(__float2bfloat16(2));
    int n = 0;
    __nv_bfloat162 s = __hfma2(p, q, q);
    out[n++] = __low2float(s);
    out[n++] = __high2float(s);
    s = s * p;
    out[n++] = __bfloat162float(__low2bfloat16(s));
    out[n++] = __bfloat162float(__high2bfloat16(s));
    s = __halves2bfloat162(s.y, s.x);
    out[n++] = __bfloat1622float2(s).x;
    out[n++] = float(s.y);
}

__global__ void integers(int* out)
{
    int n = 0;
    out[n++] = __half2int_rn(__float2half(2.5f));
    out[n++] = __half2int_rz(__float2half(-2.75f));
    out[n++] = __half2int_ru(__float2half(2.25f));
    out[n++] = __half2int_rd(__float2half(-2.25f));
    out[n++] = int(__half2uint_rz(__float2half(300)));
    out[n++] = __half2short_rn(__float2half(-7));
    out[n++] = int(float(__int2half_rn(2049)));  // a tie, to even
    out[n++] = int(float(__int2half_ru(2049)));
    out[n++] = int(float(__uint2half_rn(65504)));
    out[n++] = __bfloat162int_rz(__float2bfloat16(-9.5f));
    out[n++] = int(float(__int2bfloat16_rn(257)));
    out[n++] = __half_as_short(__ushort_as_half(0xbc00)) == short(0xbc00);
}

__global__ void functions(float* out)
{
    int n = 0;
    out[n++] = float(hexp(__float2half(1)));
    out[n++] = float(hlog(__float2half(10)));
    out[n++] = float(hexp2(__float2half(3)));
    out[n++] = float(hlog2(__float2half(32)));
    out[n++] = float(hsin(__float2half(1)));
    out[n++] = float(hcos(__float2half(1)));
    out[n++] = float(hrcp(__float2half(4)));
    out[n++] = float(hrsqrt(__float2half(16)));
    out[n++] = float(h2exp(__half2half2(__float2half(0))).y);
    out[n++] = float(hlog10(__float2half(1000)));
}

__global__ void fused(unsigned short* out)
{
    const half a = __ushort_as_half(0x3c03), c = __float2half(-1);
    out[0] = __half_as_ushort(__hfma(a, a, c));
    out[1] = __half_as_ushort(__hadd_rn(__hmul_rn(a, a), c));
}

__global__ void lanes(int* out)
{
    const unsigned i = threadIdx.x;
    const half h = __float2half(float(i));
    const __nv_bfloat16 b = __float2bfloat16(float(i));
    int sum = int(__half2float(__shfl_xor_sync(0xffffffff, h, 1)));
    sum += 100 * int(__half2float(__shfl_down_sync(0xffffffff, h, 4)));
    sum += 10000 * int(__bfloat162float(__shfl_sync(0xffffffff, b, 3)));
    sum += 1000000 * int(__high2float(__shfl_up_sync(0xffffffff, __half2half2(h), 31)));
    out[i] = sum;
}

__global__ void adding(half* h, half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2)
{
    atomicAdd(h, __float2half(1));
    atomicAdd(h2, __floats2half2_rn(1, 2));
    atomicAdd(b, __float2bfloat16(1));
    atomicAdd(b2, __floats2bfloat162_rn(2, 1));
}

int main()
{
    // 65519.996 is the last that rounds to 65504; 2^-25 is a tie between 0 and the least half there is.
    const std::vector<float> values = {0, -0.0f, 1, 0.1f, 65519, 65520, 1e30f, -1e30f, ldexpf(1, -24), ldexpf(1, -25),
                                       ldexpf(3, -26), 1 + ldexpf(1, -11), 1 + ldexpf(3, -11), 6.1e-5f, INFINITY};
    const std::vector<unsigned short> bits = {
        0x0000, 0x0000, 0x0000, 0x0000, 0x0000, 0x0000,  //
        0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000,  //
        0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3f80, 0x3f80,  //
        0x2e66, 0x2e66, 0x2e67, 0x2e66, 0x3dcd, 0x3dcc,  //
        0x7bff, 0x7bff, 0x7c00, 0x7bff, 0x4780, 0x477f,  //
        0x7c00, 0x7bff, 0x7c00, 0x7bff, 0x4780, 0x477f,  //
        0x7c00, 0x7bff, 0x7c00, 0x7bff, 0x714a, 0x7149,  //
        0xfc00, 0xfbff, 0xfbff, 0xfc00, 0xf14a, 0xf149,  //
        0x0001, 0x0001, 0x0001, 0x0001, 0x3380, 0x3380,  //
        0x0000, 0x0000, 0x0001, 0x0000, 0x3300, 0x3300,  //
        0x0001, 0x0000, 0x0001, 0x0000, 0x3340, 0x3340,  //
        0x3c00, 0x3c00, 0x3c01, 0x3c00, 0x3f80, 0x3f80,  //
        0x3c02, 0x3c01, 0x3c02, 0x3c01, 0x3f80, 0x3f80,  //
        0x03ff, 0x03ff, 0x0400, 0x03ff, 0x3880, 0x387f,  //
        0x7c00, 0x7c00, 0x7c00, 0x7c00, 0x7f80, 0x7f80,
    };
    Array<float> in(values);
    Array<unsigned short> converted(bits.size());
    convert<<<1, 32>>>(converted.device(), in.device(), int(values.size()));
    row("half: rounding", converted.is(bits));

    bool host = true;
    for (size_t i = 0; i < values.size(); ++i)
        host = host && __half_as_ushort(__float2half(values[i])) == bits[6 * i] &&
               __bfloat16_as_ushort(__float2bfloat16(values[i])) == bits[6 * i + 4];
    row("half: rounding on the host", host && __half2float(__float2half(1.5f) ) == 1.5f);

    Array<int> wrong(1);
    round_trip<<<64, 1024>>>(wrong.device());
    row("half: every number to float and back", wrong.is({0}));

    const std::vector<float> results = {
        2.75f,          -0.25f, 1.875f, 0.83349609375f, -1.25f, 4,    3,     4, 2.75f, -0.25f, 1.875f,
        0.83349609375f, 4.875f, -1.25f, 1.5f,           1.25f,  1.5f, 1.25f, 1, 2,     1,      2};
    Array<float> sums(results.size());
    arithmetic<half><<<1, 1>>>(sums.device(), 1.25f, 1.5f);
    row("half: arithmetic", sums.is(results));
    std::vector<float> rough = results;
    rough[3] = rough[11] = 0.83203125f;
    arithmetic<__nv_bfloat16><<<1, 1>>>(sums.device(), 1.25f, 1.5f);
    row("bfloat16: arithmetic", sums.is(rough));

    const std::vector<int> truths = {0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1};
    Array<int> compared(truths.size());
    comparison<half><<<1, 1>>>(compared.device(), 1, 2);
    row("half: comparison", compared.is(truths));
    comparison<__nv_bfloat16><<<1, 1>>>(compared.device(), 1, 2);
    row("bfloat16: comparison", compared.is(truths));

    Array<float> parts(16);
    Array<half2> moved(32);
    pairs<<<1, 32>>>(parts.device(), moved.device());
    row("half2: arithmetic and parts",
        parts.is({31, 31.5f, 33, 33.5f, 134, 136, 266, 270, 270, 2, 270, 2, 1, 0, 1, 266}));
    const std::vector<half2> through = moved.host();
    row("half2: shared memory", __low2float(through[5]) == 26 && __high2float(through[31]) == 0.5f);
    Array<float> bparts(6);
    bfloat_pairs<<<1, 1>>>(bparts.device());
    row("bfloat162: arithmetic and parts", bparts.is({5, -4, 7.5f, 12, 12, 7.5f}));

    Array<int> whole(12);
    integers<<<1, 1>>>(whole.device());
    row("half: integers", whole.is({2, -2, 3, -3, 300, -7, 2048, 2050, 65504, -9, 256, 1}));

    Array<float> of_one(10);
    functions<<<1, 1>>>(of_one.device());
    row("half: functions",
        of_one.near({2.71875f, 2.302734375f, 8, 5, 0.84130859375f, 0.54052734375f, 0.25f, 0.25f, 1, 3}, 1e-3));

    Array<unsigned short> once(2);
    fused<<<1, 1>>>(once.device());
    row("half: __hfma rounds once", once.is({0x1e02, 0x1e00}));

    std::vector<int> expected(32);
    for (int i = 0; i < 32; ++i)
        expected[i] = (i ^ 1) + 100 * (i + 4 < 32 ? i + 4 : i) + 30000 + 1000000 * (i == 31 ? 0 : i);
    Array<int> shuffled(32);
    lanes<<<1, 32>>>(shuffled.device());
    row("half: shuffles", shuffled.is(expected));

    Array<half> h(1);
    Array<half2> h2(1);
    Array<__nv_bfloat16> b(1);
    Array<__nv_bfloat162> b2(1);
    adding<<<2, 50>>>(h.device(), h2.device(), b.device(), b2.device());
    row("half: atomicAdd",
        float(h.host()[0]) == 100 && __low2float(h2.host()[0]) == 100 && __high2float(h2.host()[0]) == 200);
    row("bfloat16: atomicAdd",
        float(b.host()[0]) == 100 && __low2float(b2.host()[0]) == 200 && __high2float(b2.host()[0]) == 100);
    return wrong_rows() != 0;
}
