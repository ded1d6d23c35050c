// Integer intrinsics.

#include "rows.h"

__global__ void bits(long long* out, int x)
{
    int n = 0;
    out[n++] = __popc(0xf0f0f0f1u);
    out[n++] = __popcll(0xffffffff00000001ull);
    out[n++] = __clz(x);
    out[n++] = __clz(0);
    out[n++] = __clz(-1);
    out[n++] = __clzll(1);
    out[n++] = __clzll(0);
    out[n++] = __ffs(x);
    out[n++] = __ffs(0);
    out[n++] = __ffsll(1ll << 40);
    out[n++] = __brev(0x12345678u);
    out[n++] = (long long)(__brevll(1));
    out[n++] = __fns(0x00f0u, 0, 2);
    out[n++] = __fns(0x00f0u, 31, -1);
    out[n++] = __byte_perm(0x33221100u, 0x77665544u, 0x7531u);
    out[n++] = __byte_perm(0x33221100u, 0x77665544u, 0x0123u);
    out[n++] = __funnelshift_l(0x80000001u, 0x7fffffffu, 4);
    out[n++] = __funnelshift_l(1, 2, 36);
    out[n++] = __funnelshift_lc(5, 6, 40);
    out[n++] = __funnelshift_r(0x80000001u, 0x7fffffffu, 4);
    out[n++] = __funnelshift_rc(5, 6, 40);
}

__global__ void products(long long* out, int x)
{
    int n = 0;
    out[n++] = __mul24(x, -3);
    out[n++] = __mul24(0x01000002, 3);
    out[n++] = __umul24(0xff000002u, 3);
    out[n++] = __mulhi(0x40000000, -8);
    out[n++] = __umulhi(0x80000000u, 6);
    out[n++] = __mul64hi(1ll << 62, -8);
    out[n++] = (long long)(__umul64hi(1ull << 63, 6));
    out[n++] = __sad(-5, x, 7);
    out[n++] = __usad(5, 0xffffffffu, 7);
    out[n++] = __hadd(7, -4);
    out[n++] = __hadd(0x7fffffff, 0x7fffffff);
    out[n++] = __rhadd(7, -4);
    out[n++] = __uhadd(0xffffffffu, 0xfffffffeu);
    out[n++] = __urhadd(0xffffffffu, 0xfffffffeu);
}

__global__ void dots(int* out)
{
    int n = 0;
    out[n++] = __dp4a(0x01020304, 0x01ff0201, 100);
    out[n++] = int(__dp4a(0x01020304u, 0x01ff0201u, 100u));
    out[n++] = __dp4a(make_char4(1, -2, 3, -4), make_char4(5, 6, 7, 8), 9);
    out[n++] = int(__dp4a(make_uchar4(255, 255, 255, 255), make_uchar4(255, 255, 255, 255), 1u));
    out[n++] = __dp2a_lo(0x0002ffff, 0x04030201, 10);
    out[n++] = __dp2a_hi(0x0002ffff, 0x04030201, 10);
    out[n++] = int(__dp2a_lo(make_ushort2(3, 4), make_uchar4(5, 6, 7, 8), 1u));
    out[n++] = __dp2a_hi(make_short2(3, -4), make_char4(5, 6, 7, 8), 1);
}

__global__ void parts(unsigned* out)
{
    const unsigned a = 0x01ff7f80, b = 0x02017f01;
    int n = 0;
    out[n++] = __vadd4(a, b);
    out[n++] = __vadd2(a, b);
    out[n++] = __vsub4(a, b);
    out[n++] = __vsub2(a, b);
    out[n++] = __vmaxu4(a, b);
    out[n++] = __vmaxs4(a, b);
    out[n++] = __vminu4(a, b);
    out[n++] = __vmins2(a, b);
    out[n++] = __vabsdiffu4(a, b);
    out[n++] = __vcmpeq4(a, b);
    out[n++] = __vcmpgtu4(a, b);
    out[n++] = __vavgu4(a, b);
    out[n++] = __vaddus4(a, b);
    out[n++] = __vsadu4(a, b);
    out[n++] = __vseteq4(a, b);
}

int main()
{
    Array<long long> numbers(32);
    bits<<<1, 1>>>(numbers.device(), 0x00010000);
    row("integers: bits",
        numbers.is(
            {17, 33, 15,         32,         0,          63, 64, 17,         0, 41, 0x1e6a2c48, (long long)(1ull << 63),
             5,  7,  0x77553311, 0x00112233, 0xfffffff8, 32, 5,  0xf8000000, 6}));
    products<<<1, 1>>>(numbers.device(), 5);
    row("integers: products and averages",
        numbers.is({-15, 6, 6, -2, 3, -2, 3, 17, 1, 1, 0x7fffffff, 2, 0xfffffffe, 0xffffffff}));
    Array<int> sums(8);
    dots<<<1, 1>>>(sums.device());
    row("integers: __dp4a, __dp2a", sums.is({109, 621, -9, 260101, 13, 15, 40, -10}));
    Array<unsigned> words(15);
    parts<<<1, 1>>>(words.device());
    row("integers: parts of words",
        words.is({0x0300fe81, 0x0400fe81, 0xfffe007f, 0xfffe007f, 0x02ff7f80, 0x02017f01, 0x01017f01, 0x01ff7f01,
                  0x01fe007f, 0x0000ff00, 0x00ff00ff, 0x02807f41, 0x03fffe81, 0x0000017e, 0x00000100}));
    return wrong_rows() != 0;
}
