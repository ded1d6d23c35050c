// Runs requests to shared memory for Nsight Compute to count. tools/wavefronts.py writes the requests, and runs this
// program under ncu.
//
// usage: wavefronts FILE
// A line of FILE is a request, which one warp makes in a launch of its own: kind, bytes, lanes (a hexadecimal mask),
// and the byte offsets of the 32 lanes. Needs a GPU; exits 3 without.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

constexpr int shared_bytes = 32768;

struct Request {
    bool store;
    int bytes;
    uint32_t lanes;
    uint16_t offset[32];
};

// The accesses are volatile, so that ptxas leaves none out.
__global__ void serve(Request r)
{
    __shared__ __align__(128) char memory[shared_bytes];
    const unsigned at = unsigned(__cvta_generic_to_shared(memory)) + r.offset[threadIdx.x];
    if (!(r.lanes >> threadIdx.x & 1)) return;
    switch (r.bytes + r.store) {
        case 4: asm volatile("{ .reg .u32 x; ld.volatile.shared.u32 x, [%0]; }" ::"r"(at)); break;
        case 8: asm volatile("{ .reg .u32 x, y; ld.volatile.shared.v2.u32 {x, y}, [%0]; }" ::"r"(at)); break;
        case 16:
            asm volatile("{ .reg .u32 x, y, z, w; ld.volatile.shared.v4.u32 {x, y, z, w}, [%0]; }" ::"r"(at));
            break;
        case 5: asm volatile("st.volatile.shared.u32 [%0], %0;" ::"r"(at)); break;
        case 9: asm volatile("st.volatile.shared.v2.u32 [%0], {%0, %0};" ::"r"(at)); break;
        case 17: asm volatile("st.volatile.shared.v4.u32 [%0], {%0, %0, %0, %0};" ::"r"(at)); break;
    }
}

int main(int argc, char** argv)
{
    FILE* file = argc == 2 ? fopen(argv[1], "r") : nullptr;
    if (!file) {
        fprintf(stderr, "usage: wavefronts FILE\n");
        return 2;
    }
    Request r;
    char kind[8];
    for (int line = 1; fscanf(file, "%7s %d %x", kind, &r.bytes, &r.lanes) == 3; ++line) {
        r.store = !strcmp(kind, "store");
        for (uint16_t& offset : r.offset)
            if (fscanf(file, "%hu", &offset) != 1 || offset % r.bytes || offset + r.bytes > shared_bytes) {
                fprintf(stderr, "wavefronts: %s, line %d: an offset is wrong\n", argv[1], line);
                return 2;
            }
        serve<<<1, 32>>>(r);
        if (const cudaError_t error = cudaDeviceSynchronize()) {
            fprintf(stderr, "wavefronts: line %d: %s\n", line, cudaGetErrorString(error));
            return 3;
        }
    }
    return 0;
}
