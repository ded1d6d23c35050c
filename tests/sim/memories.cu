// Forms of local arrays, loads of constant memory and atomic operations. The first word of a kernel's name is what the
// machine code of nvcc 13.0 (sm_90) has:
//   memory     the array lies in local memory
//   registers  it does not
//   wordsN     a load of constant memory asks for N words
//   one        one lane makes the atomic operation for all
//   each       every lane makes its own
// `else` in front of it: the simulator takes it for the other (sim/README.md, Limits).

#include <cstdio>

#define LOCAL(name, ...) \
    __global__ void name(double* o, const double* x, int n) { const int t = threadIdx.x; __VA_ARGS__ o[t] += 1; }
#define SINGLE(name, ...) \
    __global__ void name(float* o, const float* x, int n) { const int t = threadIdx.x; __VA_ARGS__ o[t] += 1; }
#define FILL(N) for (int k = 0; k < N; ++k) a[k] = x[32 * k + t];
#define SUM(N) for (int k = 0; k < N; ++k) o[32 * k + t] = a[k];

struct Row {
    double v[8];
    int length;
};
__constant__ int four;
template <typename T> __device__ T at(const T* a, int i) { return a[i]; }
__device__ double sum(const double* a, int n) { double s = 0; for (int k = 0; k < n; ++k) s += a[k]; return s; }
template <int N> __device__ double all(double (&a)[N]) { double s = 0; for (int k = 0; k < N; ++k) s += a[k];
    return s; }

// clang-format off
LOCAL(memory_byThread, double a[8]; FILL(8) o[t] = a[t & 7];)
LOCAL(memory_byParameter, double a[8]; FILL(8) o[t] = a[n];)
LOCAL(memory_byLoad, double a[8]; FILL(8) o[t] = a[int(x[t]) & 7];)
LOCAL(memory_store, double a[4] = {}; a[t & 3] = x[t]; SUM(4))
LOCAL(memory_loopFromThread, double a[8] = {}; for (int k = t & 1; k < 8; k += 2) a[k] = x[32 * k + t]; SUM(8))
LOCAL(memory_sumOfBoth, double a[8]; for (int k = 0; k < 8; ++k) a[(k + t) & 7] = x[32 * k + t]; SUM(8))
LOCAL(memory_variableThatChanges, double a[8]; FILL(8) int j = 2; if (n > 0) j = 3; o[t] = a[j];)
LOCAL(memory_rows, double a[4][4]; for (int i = 0; i < 4; ++i) for (int k = 0; k < 4; ++k) a[i][k] = x[i * k + t];
      for (int k = 0; k < 4; ++k) o[32 * k + t] = a[n][k];)
LOCAL(memory_buffers, double a[2]; int c = 0; a[0] = x[t]; double s = 0;
      for (int k = 1; k < n; ++k) { a[c ^ 1] = x[32 * k + t]; s += a[c] * a[c ^ 1]; c ^= 1; } o[t] = s;)
LOCAL(memory_pointer, double a[8]; FILL(8) const double* p = a + n; o[t] = p[1];)
LOCAL(memory_function, double a[8]; FILL(8) o[t] = at(a, n);)
LOCAL(memory_table, double a[8] = {1, 2, 5, 9, 4, 3, 2, 8}; o[t] = a[t & 7] * x[t];)
LOCAL(memory_pairs, unsigned char a[16]; FILL(16) o[t] = a[n];)
LOCAL(memory_neverUnrolled, double a[8];
_Pragma("unroll 1") for (int k = 0; k < 8; ++k) a[k] = x[32 * k + t];
_Pragma("unroll 1") for (int k = 0; k < 8; ++k) o[32 * k + t] = a[k];)
SINGLE(memory_manyFloats, float a[32]; FILL(32) for (int k = 0; k < 32; ++k) o[32 * k + t] = a[(k + t) & 31];)
SINGLE(memory_floatsInLoops, float a[8]; for (int k = 0; k < n; ++k) a[k] = x[32 * k + t];
       for (int k = 0; k < n; ++k) o[32 * k + t] = a[k];)

LOCAL(registers_loops, double a[8]; FILL(8) SUM(8))
LOCAL(registers_unrolled, double a[16];
_Pragma("unroll") for (int k = 0; k < 16; ++k) a[k] = x[32 * k + t]; SUM(16))
LOCAL(registers_condition, double a[8]; for (int k = 0; k < 8; ++k) if (k < n) a[k] = x[32 * k + t];
      for (int k = 0; k < 8; ++k) if (k < n) o[32 * k + t] = a[k];)
LOCAL(registers_rows, double a[4][4]; for (int i = 0; i < 4; ++i) for (int k = 0; k < 4;
      ++k) a[i][k] = x[(4 * i + k) * 32 + t];
      for (int i = 0; i < 4; ++i) for (int k = 0; k < 4; ++k) o[(4 * i + k) * 32 + t] = a[k][i];)
LOCAL(registers_halving, double a[8]; FILL(8) for (int s = 4; s > 0; s /= 2) for (int k = 0; k < s;
      ++k) a[k] += a[k + s];
      o[t] = a[0];)
LOCAL(registers_pointer, double a[4]; double* p = a; for (int k = 0; k < 4; ++k) p[k] = x[32 * k + t];
      o[t] = a[1] + a[3];)
LOCAL(registers_function, double a[8]; FILL(8) o[t] = at(a, 3);)
LOCAL(registers_template, double a[8]; FILL(8) o[t] = all(a);)
LOCAL(registers_switch, double a[4]; FILL(4) switch (n) { case 0: o[t] = a[0]; break; case 1: o[t] = a[1]; break;
      default: o[t] = a[3]; })
SINGLE(registers_fewFloats, float a[8]; FILL(8) o[t] = a[t & 7];)
SINGLE(registers_floatsStored, float a[4] = {}; a[t & 3] = x[t]; SUM(4))
SINGLE(registers_floatsInOneLoop, float a[8]; FILL(8) for (int k = 0; k < n; ++k) o[32 * k + t] = a[k];)

LOCAL(elsememory_twoArrays, double a[4]; double b[4]; FILL(4) for (int k = 0; k < 4; ++k) b[k] = a[k] * 3;
      const double* p = n ? a : b; o[t] = p[2];)
LOCAL(elsememory_lambda, double a[4]; FILL(4) const auto f = [&](int i) { return a[i]; }; o[t] = f(n);)
LOCAL(registers_countedInBody, double a[8]; int k = 0; while (k < 8) { a[k] = x[32 * k + t]; ++k; } SUM(8))
LOCAL(elseregisters_twoBounds, double a[8]; for (int k = 0; k < 8 && k < n; ++k) a[k] = x[32 * k + t]; SUM(8))

__constant__ float c[64];
__constant__ double d[64];
struct Weights { float v[8]; };
__constant__ Weights weights;
#define CONSTANT(name, ...) \
    __global__ void name(float* o, const float*, int n) { const int t = threadIdx.x; o[t] = __VA_ARGS__; }
CONSTANT(words1_parameter, c[n])
CONSTANT(words1_warp, c[t / 32])
CONSTANT(words32_thread, c[t])
CONSTANT(words2_halves, c[t / 16])
CONSTANT(words8_member, weights.v[t & 7])
CONSTANT(words16_branch, t & 1 ? c[t] : 0.f)

__device__ int counter;
struct Queue { int head, tail; };
#define ATOMIC(name, ...) \
    __global__ void name(int* o, const int* x, int n) { const int t = threadIdx.x; __VA_ARGS__; o[t + 128] = t; }
ATOMIC(one_variable, atomicAdd(&counter, 1))
ATOMIC(one_element, atomicAdd(&o[3], n))
ATOMIC(one_parameter, atomicAdd(o + n, 1))
ATOMIC(one_lanes, atomicAdd(o, t))
ATOMIC(one_used, o[t + 64] = atomicAdd(o, 1))
ATOMIC(one_largest, atomicMax(&counter, t))
ATOMIC(one_branch, if (t % 3) atomicAdd(o, 1))
ATOMIC(one_loop, for (int k = 0; k < n; ++k) atomicAdd(&o[k], 1))
ATOMIC(one_member, Queue* q = (Queue*)o; atomicAdd(&q->tail, 1))
ATOMIC(one_shared, __shared__ int s[8]; if (t < 8) s[t] = 0; __syncthreads(); atomicAdd(&s[n], 2); __syncthreads();
      o[t + 64] = s[0])
ATOMIC(each_lane, atomicAdd(&o[t % 2], 1))
ATOMIC(each_choice, atomicAdd(&o[x[t] > 5], 1))
ATOMIC(each_largestUsed, o[t + 64] = atomicMax(o, t))
ATOMIC(each_exchange, atomicExch(o, 1))
ATOMIC(each_float, atomicAdd((float*)o, 1.f))
ATOMIC(each_longLargest, atomicMax((unsigned long long*)o, 3ull))
ATOMIC(each_loop, for (int k = 0; k < x[t] + 1; ++k) atomicAdd(&o[k], 1))
// clang-format on

int main()
{
    void *o, *x;
    cudaMalloc(&o, 1 << 16);
    cudaMalloc(&x, 1 << 16);
    cudaMemset(o, 0, 1 << 16);
    cudaMemset(x, 0, 1 << 16);
#define RUN(type, name) name<<<1, 32>>>((type*)o, (type*)x, 3);
    RUN(double, memory_byThread) RUN(double, memory_byParameter)
    RUN(double, memory_byLoad) RUN(double, memory_store)
    RUN(double, memory_loopFromThread) RUN(double, memory_sumOfBoth)
    RUN(double, memory_variableThatChanges)
    RUN(double, memory_rows) RUN(double, memory_buffers)
    RUN(double, memory_pointer)
    RUN(double, memory_function) RUN(double, memory_table)
    RUN(double, memory_pairs) RUN(double, memory_neverUnrolled) RUN(float, memory_manyFloats)
    RUN(float, memory_floatsInLoops) RUN(double, registers_loops)
    RUN(double, registers_unrolled)
    RUN(double, registers_condition) RUN(double, registers_rows)
    RUN(double, registers_halving)
    RUN(double, registers_pointer)
    RUN(double, registers_function) RUN(double, registers_template)
    RUN(double, registers_switch)
    RUN(float, registers_fewFloats) RUN(float, registers_floatsStored) RUN(float, registers_floatsInOneLoop)
    RUN(double, elsememory_twoArrays) RUN(double, elsememory_lambda) RUN(double, registers_countedInBody)
    RUN(double, elseregisters_twoBounds) RUN(float, words1_parameter) RUN(float, words1_warp)
    RUN(float, words32_thread)
    RUN(float, words2_halves) RUN(float, words8_member)
    RUN(float, words16_branch) RUN(int, one_variable) RUN(int, one_element)
    RUN(int, one_parameter) RUN(int, one_lanes) RUN(int, one_used)
    RUN(int, one_largest) RUN(int, one_branch)
    RUN(int, one_loop) RUN(int, one_member)
    RUN(int, one_shared) RUN(int, each_lane) RUN(int, each_choice)
    RUN(int, each_largestUsed) RUN(int, each_exchange)
    RUN(int, each_float) RUN(int, each_longLargest)
    RUN(int, each_loop)
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    cudaFree(o);
    cudaFree(x);
    return error != cudaSuccess;
}
