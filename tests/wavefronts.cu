// Requests to shared memory of all sorts, for Nsight Compute to count: one launch of one warp each.
// tests/gpu.py runs it under ncu and writes tests/data/h200_wavefronts.csv; build/tests/rules holds the
// simulator's rules against that file. Prints a line for each launch: case, kind, bytes, lanes (a mask),
// and the byte offsets of the 32 lanes. Needs a GPU; exits 3 without.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

constexpr int shared_bytes = 32768;

struct Request {
    unsigned lanes;
    int offset[32];
};

template <typename Vector>
__global__ void loadShared(Request request, Vector* out)
{
    __shared__ __align__(16) char memory[shared_bytes];
    if (request.lanes >> threadIdx.x & 1) {
        Vector value = *reinterpret_cast<volatile Vector*>(memory + request.offset[threadIdx.x]);
        out[threadIdx.x] = value;
    }
}

template <typename Vector>
__global__ void storeShared(Request request, Vector* out)
{
    __shared__ __align__(16) char memory[shared_bytes];
    Vector value = out[threadIdx.x];
    if (request.lanes >> threadIdx.x & 1) *reinterpret_cast<volatile Vector*>(memory + request.offset[threadIdx.x]) = value;
}

// 16 bytes in one instruction; volatile vectors of CUDA's own types are read member by member.
struct __align__(16) Sixteen {
    unsigned x, y, z, w;
};

template <>
__global__ void loadShared<Sixteen>(Request request, Sixteen* out)
{
    __shared__ __align__(16) char memory[shared_bytes];
    if (request.lanes >> threadIdx.x & 1) {
        Sixteen value;
        const unsigned at = unsigned(__cvta_generic_to_shared(memory + request.offset[threadIdx.x]));
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w) : "r"(at) : "memory");
        out[threadIdx.x] = value;
    }
}

template <>
__global__ void storeShared<Sixteen>(Request request, Sixteen* out)
{
    __shared__ __align__(16) char memory[shared_bytes];
    Sixteen value = out[threadIdx.x];
    if (request.lanes >> threadIdx.x & 1) {
        const unsigned at = unsigned(__cvta_generic_to_shared(memory + request.offset[threadIdx.x]));
        asm volatile("st.shared.v4.u32 [%4], {%0, %1, %2, %3};" : : "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(at) : "memory");
    }
}

uint64_t state = 20261121;
unsigned below(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return unsigned(state >> 33) % n;
}

template <typename Vector>
void run(bool store, const Request& request, void* out)
{
    if (store) storeShared<Vector><<<1, 32>>>(request, static_cast<Vector*>(out));
    else loadShared<Vector><<<1, 32>>>(request, static_cast<Vector*>(out));
}

int main()
{
    void* out;
    if (cudaMalloc(&out, 512) != cudaSuccess || cudaMemset(out, 0, 512) != cudaSuccess) {
        fprintf(stderr, "wavefronts: no CUDA device\n");
        return 3;
    }
    const unsigned strides[] = {0, 1, 2, 3, 4, 8, 9, 16, 17, 32, 33};
    printf("case,kind,bytes,lanes,offsets\n");
    for (int i = 0; i < 600; ++i) {
        const int bytes = 4 << (i / 2 % 3);
        const bool store = i % 2;
        Request r;
        switch (below(5)) {
            case 0: r.lanes = ~0u; break;
            case 1: r.lanes = unsigned(state >> 20) & unsigned(state >> 8); break;        // a quarter of them
            case 2: r.lanes = 1u << below(32) | 1u << below(32) | 1u << below(32); break;  // three at most
            case 3: r.lanes = 0x00010001u << below(16) | 0x00010001u << below(16); break;  // alike in both halves
            default: r.lanes = unsigned(state >> 16); break;                             // half of them
        }
        if (!r.lanes) r.lanes = 1;
        const unsigned stride = strides[below(11)], rows = below(3), swap = below(3) ? 0 : below(32), pitch = strides[below(11)];
        for (unsigned lane = 0; lane < 32; ++lane) {
            const unsigned l = lane ^ swap;
            unsigned element = stride * l;                                         // a row, or a column
            if (rows == 1) element = l % 16 + l / 16 * (16 + stride);              // two short rows
            if (rows == 2) element = below(4) ? l * pitch + below(2) : below(128);  // no order to speak of
            r.offset[lane] = int(element * bytes) % shared_bytes;
        }
        printf("%d,%s,%d,0x%08x,", i, store ? "store" : "load", bytes, r.lanes);
        for (int lane = 0; lane < 32; ++lane) printf("%d%s", r.offset[lane], lane < 31 ? " " : "\n");
        if (bytes == 4) run<unsigned>(store, r, out);
        else if (bytes == 8) run<unsigned long long>(store, r, out);
        else run<Sixteen>(store, r, out);
        if (cudaDeviceSynchronize() != cudaSuccess) {
            fprintf(stderr, "wavefronts: case %d: %s\n", i, cudaGetErrorString(cudaGetLastError()));
            return 3;
        }
    }
    return 0;
}
