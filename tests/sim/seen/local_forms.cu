// Forms of a thread's own arrays. Each kernel is a form: how the array is declared, and how element r is accessed.
// tests/data/nvcc_local_arrays.csv has the stack frame that nvcc makes of each (tests/sim/local_forms.py writes it).
//
// A SKEWED kernel stores a column into the array, and loads a row that is rotated by the thread's index. A LEVEL one
// uses the same element in all threads.

#define KERNEL(name, ...) \
    __global__ void name(float* o, const float* x, int n) { const int t = threadIdx.x; __VA_ARGS__ }
#define SKEW(...)                                                                          \
    for (int r = 0; r < 32; ++r) __VA_ARGS__ = x[32 * r + ((t + r) & 31)];               \
    for (int c = 0; c < 32; ++c) { const int r = (c - t) & 31; o[64 * c + t] = __VA_ARGS__; }
#define SKEWED(name, declaration, ...) KERNEL(name, declaration; SKEW(__VA_ARGS__))
#define LEVEL(name, declaration, ...)                                                       \
    KERNEL(name, declaration; for (int r = 0; r < 8; ++r) __VA_ARGS__ = x[32 * r + t];      \
           for (int r = 0; r < 8; ++r) o[64 * r + t] = __VA_ARGS__;)
#define FILL(N) for (int k = 0; k < N; ++k) a[k] = x[32 * k + t];
#define SUM(N) for (int k = 0; k < N; ++k) o[64 * k + t] = a[k];

struct Array {
    float v[32];
    __device__ float& at(int i) { return v[i]; }
    __device__ float& operator[](int i) { return v[i]; }
};
struct Derived : Array { int more; };
template <typename T, int N> struct Vec {
    T v[N];
    __device__ T& operator[](int i) { return v[i]; }
};
struct Pair { float x, y; };
using Row = float[32];
typedef Array Other;
__device__ float& by_pointer(float* a, int i) { return a[i]; }
__device__ float& by_reference(float (&a)[32], int i) { return a[i]; }
__device__ float by_value(Array a, int i) { return a.v[i]; }
template <int S> __device__ void swap_halves(float (&a)[8], int t)
{
#pragma unroll
    for (int i = 0; i < 8; ++i)
        if (!(i & S)) {
            const float got = __shfl_xor_sync(~0u, t & S ? a[i] : a[i + S], S);
            if (t & S) a[i] = got; else a[i + S] = got;
        }
}

// clang-format off
SKEWED(plain, float a[32], a[r])
SKEWED(parentheses, float a[32], (a)[r])
SKEWED(swapped, float a[32], r[a])
SKEWED(first_element, float a[32], (&a[0])[r])
SKEWED(sum, float a[32], *(a + r))
SKEWED(pointer, float a[32]; float* p = a, p[r])
SKEWED(pointer_behind, float a[32]; float* p = &a[31], p[r - 31])
SKEWED(array_reference, float a[32]; float (&b)[32] = a, b[r])
SKEWED(auto_reference, float a[32]; auto& b = a, b[r])
KERNEL(element_reference, float a[32]; for (int r = 0; r < 32; ++r) { float& e = a[r]; e = x[32 * r + ((t + r) & 31)]; }
       for (int c = 0; c < 32; ++c) { float& e = a[(c - t) & 31]; o[64 * c + t] = e; })
KERNEL(walking_pointer, float a[32]; FILL(32) float* p = a + (t & 31); for (int c = 0; c < 32; ++c) {
       o[64 * c + t] = *p; if (++p == a + 32) p = a; })
SKEWED(member, Array a, a.v[r])
SKEWED(member_function, Array a, a.at(r))
SKEWED(member_operator, Array a, a[r])
SKEWED(member_of_base, Derived a; a.more = n, a.v[r])
SKEWED(member_cast, Array a, reinterpret_cast<float*>(&a)[r])
KERNEL(of_template, Vec<float, 32> a; SKEW(a[r]))
KERNEL(of_templates, Vec<Vec<float, 8>, 4> a; SKEW(a[r / 8][r % 8]))
SKEWED(alias_of_array, Row a, a[r])
SKEWED(alias_of_class, Other a, a.v[r])
SKEWED(automatic, auto a = Array(), a.v[r])
SKEWED(local_class, struct { float v[32]; } a, a.v[r])
SKEWED(union_of_arrays, union { float f[32]; unsigned u[32]; } a, a.f[r])
SKEWED(unnamed_union, union { float a[32]; unsigned u[32]; }, a[r])
SKEWED(lambda, float a[32]; const auto at = [&](int i) -> float& { return a[i]; }, at(r))
KERNEL(lambda_with_copy, float a[32]; FILL(32) const auto at = [=](int i) { return a[i]; };
       for (int c = 0; c < 32; ++c) o[64 * c + t] = at((c + t) & 31);)
SKEWED(function_pointer, float a[32], by_pointer(a, r))
SKEWED(function_reference, float a[32], by_reference(a, r))
KERNEL(function_value, Array a; for (int k = 0; k < 32; ++k) a.v[k] = x[32 * k + t];
       for (int c = 0; c < 32; ++c) o[64 * c + t] = by_value(a, (c + t) & 31);)
KERNEL(in_switch, switch (n) { default: float a[32]; SKEW(a[r]) })
KERNEL(past_case, switch (n) { case 0: float a[32]; case 3: SKEW(a[r]) })
KERNEL(in_for, for (float a[32], *once = a; once; once = nullptr) { SKEW(a[r]) })
KERNEL(in_for_set, for (float a[32] = {}, *once = a; once; once = nullptr) { SKEW(a[r]) })
KERNEL(with_goto, float a[32]; int again = 0; begin: if (again++ < 0) goto begin; SKEW(a[r]))
KERNEL(past_goto, if (n) goto behind; float a[32]; behind: SKEW(a[r]))
KERNEL(second_declarator, float b[2] = {x[0], x[1]}, a[32]; if (t == 0) o[2048] = b[1]; SKEW(a[r]))
KERNEL(own_name, float a[32], *p = a; p[n] = 0; SKEW(a[r]))
SKEWED(rows, float a[4][8], a[r / 8][r % 8])
SKEWED(rows_as_one, float a[4][8], (&a[0][0])[r])
SKEWED(of_vectors, float4 a[8], (&a[r / 4].x)[r % 4])
SKEWED(of_pairs, Pair a[16], (r % 2 ? a[r / 2].y : a[r / 2].x))
SKEWED(doubles, double a[32], a[r])
SKEWED(chars, unsigned char a[32], a[r])
SKEWED(is_volatile, volatile float a[32], a[r])
KERNEL(in_loop, for (int k = 0; k < n; ++k) { float a[32]; SKEW(a[r]) })
KERNEL(own_warp, float a[32]; FILL(32) o[t] = a[threadIdx.x / 32 + blockIdx.x]; o[t + 64] = a[threadIdx.x / 16];)
KERNEL(four_doubles, double a[4]; FILL(4) o[t] = a[t & 3];)
KERNEL(by_parameter, float a[32]; FILL(32) for (int k = 0; k < 3; ++k) o[64 * k + t] = a[n + k];)
KERNEL(not_unrolled, float a[32];
_Pragma("unroll 1") for (int k = 0; k < 32; ++k) a[k] = x[32 * k + t];
_Pragma("unroll 1") for (int k = 0; k < 32; ++k) o[64 * k + t] = a[k];)

LEVEL(level_plain, float a[8], a[r])
LEVEL(level_parentheses, float a[8], (a)[r])
LEVEL(level_member, Array a, a.v[r])
LEVEL(level_operator, Array a, a[r])
LEVEL(level_lambda, float a[8]; const auto at = [&](int i) -> float& { return a[i]; }, at(r))
LEVEL(level_union, union { float f[8]; unsigned u[8]; } a, a.f[r])
LEVEL(level_vectors, float4 a[2], (&a[r / 4].x)[r % 4])
LEVEL(level_function, float a[32], by_reference(a, r))
LEVEL(level_doubles, double a[8], a[r])
KERNEL(level_count, float a[8]; int k = 0; for (int j = 0; j < 128; j += 16) { a[k] = x[8 * j + t]; k++; }
       k = 0; for (int j = 0; j < 128; j += 16) { o[64 * j + t] = a[k]; k++; })
KERNEL(level_count_used, float a[8]; int k = 0; for (int j = 0; j < 8; ++j) a[k++] = x[32 * j + t]; SUM(8))
KERNEL(level_while, float a[8]; int k = 0; while (k < 8) { a[k] = x[32 * k + t]; ++k; } SUM(8))
KERNEL(level_walking, float a[8]; FILL(8) const float* p = a; for (int k = 0; k < 8; ++k) o[64 * k + t] = *p++;)
KERNEL(level_halving, float a[8]; FILL(8) for (int s = 4; s > 0; s /= 2) for (int k = 0; k < s; ++k) a[k] += a[k + s];
       o[t] = a[0];)
KERNEL(level_goto, float a[8]; int again = 0; begin: if (again++ < 0) goto begin; FILL(8) SUM(8))
KERNEL(level_rows, float a[4][4]; for (int i = 0; i < 4; ++i)
       for (int k = 0; k < 4; ++k) a[i][k] = x[32 * (4 * i + k) + t];
       for (int i = 0; i < 4; ++i) for (int k = 0; k < 4; ++k) o[64 * (4 * i + k) + t] = a[k][i];)
KERNEL(level_condition, float a[8]; for (int k = 0; k < 8; ++k) if (k < n) a[k] = x[32 * k + t];
       for (int k = 0; k < 8; ++k) if (k < n) o[64 * k + t] = a[k];)
KERNEL(butterfly_template, float a[8]; FILL(8) swap_halves<4>(a, t); swap_halves<2>(a, t); swap_halves<1>(a, t); SUM(8))
KERNEL(butterfly, float a[8]; FILL(8)
_Pragma("unroll") for (int s = 4; s > 0; s /= 2)
_Pragma("unroll") for (int i = 0; i < 8; ++i) if ((i & s) == 0) {
       const bool up = (t & s) != 0; const float mine = up ? a[i] : a[i + s];
       const float other = __shfl_xor_sync(~0u, mine, s); if (up) a[i] = other; else a[i + s] = other; } SUM(8))
KERNEL(set_first, float a[32] = {}; SKEW(a[r]))
KERNEL(set_first_if, float a[32] = {}; for (int r = 0; r < 32; ++r) { const int c = (t + r) & 31;
       if (c < 10 * n && r < 11 * n) a[r] = x[32 * r + c]; }
       for (int c = 0; c < 32; ++c) { const int r = (c - t) & 31; if (c < 10 * n && r < 11 * n) o[64 * c + t] = a[r]; })
KERNEL(set_first_or_0, float a[32]; for (int r = 0; r < 32; ++r) { const int c = (t + r) & 31;
       a[r] = c < 10 * n && r < 11 * n ? x[32 * r + c] : 0; }
       for (int c = 0; c < 32; ++c) { const int r = (c - t) & 31; if (c < 10 * n && r < 11 * n) o[64 * c + t] = a[r]; })
KERNEL(set_first_square, float a[32] = {}; const int left = blockIdx.x * 32, top = blockIdx.y * 32;
       for (int r = 0; r < 32; ++r) { const int c = (t + r) & 31;
           if (left + c < n && top + r < n) a[r] = x[size_t(top + r) * n + left + c]; }
       for (int c = 0; c < 32; ++c) { const int r = (c - t) & 31;
           if (left + c < n && top + r < n) o[size_t(left + c) * n + top + r] = a[r]; })
KERNEL(few_floats, float a[8]; FILL(8) o[t] = a[t & 7];)
KERNEL(few_floats_member, Vec<float, 8> a; for (int k = 0; k < 8; ++k) a.v[k] = x[32 * k + t]; o[t] = a[t & 7];)
KERNEL(three_loads, float a[32]; FILL(32) o[t] = a[t & 31] + a[(t + 5) & 31] + a[t * 5 & 31];)
KERNEL(sixteen_in_loop, float a[16]; FILL(16) for (int k = 0; k < 16; ++k) o[64 * k + t] = a[(k + t) & 15];)
KERNEL(two_doubles_member, Vec<double, 2> a; for (int k = 0; k < 2; ++k) a[k] = x[32 * k + t]; o[t] = a[t & 1];)
KERNEL(eight_chars_member, Vec<char, 8> a; for (int k = 0; k < 8; ++k) a[k] = x[32 * k + t]; o[t] = a[t & 7];)
KERNEL(shorts, short a[4]; FILL(4) o[t] = a[t & 3];)
KERNEL(whole_vectors, float4 a[4]; for (int k = 0; k < 4; ++k) a[k] = reinterpret_cast<const float4*>(x)[32 * k + t];
       reinterpret_cast<float4*>(o)[t] = a[t & 3];)
KERNEL(level_volatile, volatile float a[8]; FILL(8) SUM(8))
KERNEL(vector_element, float4 a = reinterpret_cast<const float4*>(x)[t]; o[t] = (&a.x)[t & 3];)
KERNEL(triangle, float a[32]; FILL(32) float s = 0; for (int i = 0; i < 32; ++i)
       for (int k = 0; k < i; ++k) s += a[k] * i;
       o[t] = s;)
KERNEL(by_parameter_hidden, float a[32]; FILL(32) o[t] = (a)[n];)
KERNEL(by_parameter_lambda, double a[4]; FILL(4) const auto f = [&](int i) { return a[i]; }; o[t] = f(n);)
KERNEL(two_arrays, float a[8], b[8]; FILL(8) for (int k = 0; k < 8; ++k) b[k] = a[k] * 3;
       const float* p = t & 1 ? a : b;
       o[t] = p[2];)
KERNEL(constant_table, const float a[8] = {1, 2, 5, 9, 4, 3, 2, 8}; o[t] = a[t & 7] * x[t];)
KERNEL(constexpr_table, constexpr float a[8] = {1, 2, 5, 9, 4, 3, 2, 8}; o[t] = a[t & 7] * x[t];)
KERNEL(constant_doubles, const double a[8] = {1, 2, 5, 9, 4, 3, 2, 8}; o[t] = a[t & 7] * x[t];)
KERNEL(constexpr_doubles, constexpr double a[8] = {1, 2, 5, 9, 4, 3, 2, 8}; o[t] = a[t & 7] * x[t];)
KERNEL(static_doubles, static const double a[8] = {1, 2, 5, 9, 4, 3, 2, 8}; o[t] = a[t & 7] * x[t];)
KERNEL(constant_values, const double a[4] = {x[t], x[t + 1], x[t + 2], x[t + 3]}; o[t] = a[t & 3];)
// clang-format on

int main()
{
    float *o, *x;
    cudaMalloc(&o, 1 << 16);
    cudaMalloc(&x, 1 << 16);
    cudaMemset(o, 0, 1 << 16);
    cudaMemset(x, 0, 1 << 16);
#define RUN(name) name<<<1, 64>>>(o, x, 3);
    RUN(plain) RUN(parentheses) RUN(swapped) RUN(first_element) RUN(sum) RUN(pointer) RUN(pointer_behind)
    RUN(array_reference) RUN(auto_reference) RUN(element_reference) RUN(walking_pointer) RUN(member)
    RUN(member_function) RUN(member_operator) RUN(member_of_base) RUN(member_cast) RUN(of_template) RUN(of_templates)
    RUN(alias_of_array) RUN(alias_of_class) RUN(automatic) RUN(local_class) RUN(union_of_arrays) RUN(unnamed_union)
    RUN(lambda) RUN(lambda_with_copy) RUN(function_pointer) RUN(function_reference) RUN(function_value) RUN(in_switch)
    RUN(past_case) RUN(in_for) RUN(in_for_set) RUN(with_goto) RUN(past_goto) RUN(second_declarator) RUN(own_name)
    RUN(rows) RUN(rows_as_one) RUN(of_vectors) RUN(of_pairs) RUN(doubles) RUN(chars) RUN(is_volatile) RUN(in_loop)
    RUN(own_warp) RUN(four_doubles) RUN(by_parameter) RUN(not_unrolled) RUN(level_plain) RUN(level_parentheses)
    RUN(level_member) RUN(level_operator) RUN(level_lambda) RUN(level_union) RUN(level_vectors) RUN(level_function)
    RUN(level_doubles) RUN(level_count) RUN(level_count_used) RUN(level_while) RUN(level_walking) RUN(level_halving)
    RUN(level_goto) RUN(level_rows) RUN(level_condition) RUN(butterfly_template) RUN(butterfly) RUN(set_first)
    RUN(set_first_if) RUN(set_first_or_0) RUN(set_first_square) RUN(few_floats) RUN(few_floats_member)
    RUN(three_loads) RUN(sixteen_in_loop) RUN(two_doubles_member) RUN(eight_chars_member) RUN(shorts)
    RUN(whole_vectors) RUN(level_volatile) RUN(vector_element) RUN(triangle) RUN(by_parameter_hidden)
    RUN(by_parameter_lambda) RUN(two_arrays) RUN(constant_table) RUN(constexpr_table) RUN(constant_doubles)
    RUN(constexpr_doubles) RUN(static_doubles) RUN(constant_values)
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(o);
    cudaFree(x);
    return error != cudaSuccess;
}
