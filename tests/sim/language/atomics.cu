// Atomic operations on global and on shared memory.

#include "rows.h"

constexpr int blocks = 20, threads = 96, total = blocks * threads;

__device__ int order(int i) { return i * 7 % total; }

struct Numbers {
    int i[8];
    unsigned u[10];
    unsigned long long ull[8];
    long long ll[2];
    float f;
    double d;
    float f_last;
};

__global__ void global_memory(Numbers* n)
{
    const int i = order(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&n->i[0], i);
    atomicSub(&n->i[1], i);
    atomicMin(&n->i[2], -i);
    atomicMax(&n->i[3], i);
    atomicAnd(&n->i[4], i == 5 ? 0xf0 : 0xff);
    atomicOr(&n->i[5], 1 << i % 31);
    atomicXor(&n->i[6], i);
    atomicExch(&n->i[7], 42);

    atomicAdd(&n->u[0], 1);
    atomicSub(&n->u[1], 1);
    atomicMin(&n->u[2], unsigned(i + 10));
    atomicMax(&n->u[3], unsigned(i));
    atomicInc(&n->u[4], 99);  // goes round: 0 to 99
    atomicDec(&n->u[5], 6);   // goes round: 6 to 0
    atomicAnd(&n->u[6], ~(1u << i % 32));
    atomicOr(&n->u[7], 1u << i % 16);
    atomicXor(&n->u[8], 3);
    atomicExch(&n->u[9], 43);

    atomicAdd(&n->ull[0], 1ull << 33);
    atomicMin(&n->ull[1], (1ull << 40) + i);
    atomicMax(&n->ull[2], (1ull << 40) + i);
    atomicAnd(&n->ull[3], ~(1ull << i % 64));
    atomicOr(&n->ull[4], 1ull << i % 48);
    atomicXor(&n->ull[5], (unsigned long long)(i));
    atomicExch(&n->ull[6], 44);
    atomicMin(&n->ll[0], -(1ll << 40) - i);
    atomicMax(&n->ll[1], -(1ll << 40) - i);

    atomicAdd(&n->f, 0.5f);
    atomicAdd(&n->d, 0.25);
    atomicExch(&n->f_last, 1.5f);
}

// As many as there are threads add up, by compare-and-swap.
__global__ void compare_and_swap(int* i, unsigned long long* ull, unsigned short* us, float* f)
{
    int before = *(volatile int*)i, assumed;
    do {
        assumed = before;
        before = atomicCAS(i, assumed, assumed + 2);
    } while (assumed != before);

    unsigned long long old = atomicAdd(ull, 0);
    while (true) {
        const unsigned long long found = atomicCAS(ull, old, old + (1ull << 32));
        if (found == old) break;
        old = found;
    }

    unsigned short old_short = 0;
    while (true) {
        const unsigned short found = atomicCAS(us, old_short, (unsigned short)(old_short + 1));
        if (found == old_short) break;
        old_short = found;
    }

    // The greatest of floats.
    unsigned* const bits = reinterpret_cast<unsigned*>(f);
    const float own = float(order(blockIdx.x * blockDim.x + threadIdx.x));
    unsigned seen = atomicCAS(bits, 0u, 0u);
    while (__uint_as_float(seen) < own) {
        const unsigned found = atomicCAS(bits, seen, __float_as_uint(own));
        if (found == seen) break;
        seen = found;
    }
}

__global__ void shared_memory(double* out)
{
    __shared__ int i, least;
    __shared__ float f;
    __shared__ double d;
    __shared__ unsigned long long most;
    if (threadIdx.x == 0) {
        i = 0;
        least = 1000;
        f = 0;
        d = 0;
        most = 0;
    }
    __syncthreads();
    atomicAdd(&i, 1);
    atomicMin(&least, int(threadIdx.x) + 7);
    atomicAdd(&f, 0.5f);
    atomicAdd(&d, 0.5);
    atomicMax(&most, (unsigned long long)(threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = i;
        out[1] = least;
        out[2] = f;
        out[3] = d;
        out[4] = double(most);
    }
}

__global__ void scopes(int* out, double* sum)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd_block(&count, 1);
    atomicMax_block(&count, 0);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd_system(out, count);
    atomicAdd_system(sum, 1.0);
    atomicCAS_system(out + 1, 0, 9);
    atomicExch_block(out + 2 + blockIdx.x, 8);
    atomicOr_system(out + 1, 16);
}

// The results: each thread gets another ticket.
__global__ void tickets(int* taken, int* next, float* last)
{
    const int ticket = atomicAdd(next, 1);
    taken[ticket] = 1;
    const float before = atomicExch(last, float(ticket));
    if (before < 0 || before >= total) taken[ticket] = 2;
}

int main()
{
    Numbers start = {};
    start.i[4] = 0xff;
    start.u[1] = 5000;
    start.u[2] = start.u[6] = ~0u;
    start.ull[1] = start.ull[3] = ~0ull;
    start.ll[1] = -(1ll << 60);
    Array<Numbers> numbers(std::vector<Numbers>{start});
    global_memory<<<blocks, threads>>>(numbers.device());
    const Numbers n = numbers.host()[0];
    const int sum = total * (total - 1) / 2;
    int parity = 0;
    for (int i = 0; i < total; ++i) parity ^= i;
    row("atomics: int", n.i[0] == sum && n.i[1] == -sum && n.i[2] == -(total - 1) && n.i[3] == total - 1 &&
                            n.i[4] == 0xf0 && n.i[5] == 0x7fffffff && n.i[6] == parity && n.i[7] == 42);
    row("atomics: unsigned", n.u[0] == total && n.u[1] == 5000 - total && n.u[2] == 10 && n.u[3] == total - 1 &&
                                 n.u[6] == 0 && n.u[7] == 0xffff && n.u[8] == 0 && n.u[9] == 43);
    row("atomics: atomicInc, atomicDec", n.u[4] == total % 100 && n.u[5] == (7 - total % 7) % 7);
    row("atomics: unsigned long long", n.ull[0] == (unsigned long long)(total) << 33 && n.ull[1] == 1ull << 40 &&
                                           n.ull[2] == (1ull << 40) + total - 1 && n.ull[3] == 0 &&
                                           n.ull[4] == (1ull << 48) - 1 && n.ull[5] == (unsigned long long)(parity) &&
                                           n.ull[6] == 44);
    row("atomics: long long", n.ll[0] == -(1ll << 40) - (total - 1) && n.ll[1] == -(1ll << 40));
    row("atomics: float, double", n.f == total / 2.0f && n.d == total / 4.0 && n.f_last == 1.5f);

    Array<int> i(1);
    Array<unsigned long long> ull(1);
    Array<unsigned short> us(2);
    Array<float> f(1);
    compare_and_swap<<<blocks, threads>>>(i.device(), ull.device(), us.device(), f.device());
    row("atomics: atomicCAS of 4 bytes", i.is({2 * total}) && f.is({total - 1}));
    row("atomics: atomicCAS of 8 bytes", ull.host()[0] == (unsigned long long)(total) << 32);
    row("atomics: atomicCAS of 2 bytes", us.is({total, 0}));

    Array<double> shared(5);
    shared_memory<<<1, threads>>>(shared.device());
    row("atomics: shared memory", shared.is({threads, 7, threads / 2.0, threads / 2.0, threads - 1}));

    Array<int> scoped(2 + blocks);
    Array<double> scoped_sum(1);
    scopes<<<blocks, threads>>>(scoped.device(), scoped_sum.device());
    std::vector<int> scoped_expected(2 + blocks, 8);
    scoped_expected[0] = total;
    scoped_expected[1] = 9 | 16;
    row("atomics: _block and _system", scoped.is(scoped_expected) && scoped_sum.is({total}));

    Array<int> taken(total), next(1);
    Array<float> last(1);
    tickets<<<blocks, threads>>>(taken.device(), next.device(), last.device());
    row("atomics: each returns what was there", taken.is(std::vector<int>(total, 1)) && next.is({total}));
    return wrong_rows() != 0;
}
