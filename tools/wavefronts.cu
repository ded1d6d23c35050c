// Runs requests to shared memory for Nsight Compute to count. tools/wavefronts.py writes the requests, runs this
// program under ncu and decodes the counts.
//
// usage: wavefronts FILE
// A line of FILE is a request: launch, repeats, kind, bytes, lanes (a hexadecimal mask), and the byte offsets of the
// 32 lanes. Lines with one number of a launch follow each other and run in one launch. Its blocks of one warp share
// the repeats of each request. Needs a GPU; exits 3 without.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

constexpr int shared_bytes = 32768;
constexpr int blocks = 128;  // at most one per multiprocessor of an H100 or H200
constexpr int most_requests = 16;

enum Kind { load, store };

struct Request {
    Kind kind;
    int bytes;
    int repeats;
    uint32_t lanes;
    uint16_t offset[32];
};

struct Launch {
    int count;
    Request requests[most_requests];
};

// One instruction per repeat: "volatile" in the PTX keeps ptxas from merging them and from leaving one out.
#define REPEAT(instruction) \
    _Pragma("unroll 1") for (int i = 0; i < repeats; ++i) asm volatile(instruction : : "r"(at) : "memory")

__device__ void repeatLoad(int bytes, unsigned at, int repeats)
{
    if (bytes == 4) REPEAT("{ .reg .u32 x; ld.volatile.shared.u32 x, [%0]; }");
    else if (bytes == 8) REPEAT("{ .reg .u32 x, y; ld.volatile.shared.v2.u32 {x, y}, [%0]; }");
    else REPEAT("{ .reg .u32 x, y, z, w; ld.volatile.shared.v4.u32 {x, y, z, w}, [%0]; }");
}

__device__ void repeatStore(int bytes, unsigned at, int repeats)
{
    if (bytes == 4) REPEAT("st.volatile.shared.u32 [%0], %0;");
    else if (bytes == 8) REPEAT("st.volatile.shared.v2.u32 [%0], {%0, %0};");
    else REPEAT("st.volatile.shared.v4.u32 [%0], {%0, %0, %0, %0};");
}

__global__ void serve(Launch launch)
{
    __shared__ __align__(128) char memory[shared_bytes];
    const unsigned begin = unsigned(__cvta_generic_to_shared(memory));
    for (int i = 0; i < launch.count; ++i) {
        const Request& r = launch.requests[i];
        const int repeats = r.repeats / int(gridDim.x) + (int(blockIdx.x) < r.repeats % int(gridDim.x));
        const unsigned at = begin + r.offset[threadIdx.x];
        if (r.lanes >> threadIdx.x & 1) {
            if (r.kind == load) repeatLoad(r.bytes, at, repeats);
            else repeatStore(r.bytes, at, repeats);
        }
        __syncwarp();
    }
}

bool run(const Launch& launch, int number)
{
    serve<<<blocks, 32>>>(launch);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "wavefronts: launch %d: %s\n", number, cudaGetErrorString(error));
    return error == cudaSuccess;
}

// Reads the line of one request, but for the number of its launch.
bool read(FILE* file, Request& r)
{
    char kind[8];
    if (fscanf(file, "%d %7s %d %x", &r.repeats, kind, &r.bytes, &r.lanes) != 4) return false;
    r.kind = strcmp(kind, "store") ? load : store;
    for (uint16_t& offset : r.offset)
        if (fscanf(file, "%hu", &offset) != 1 || offset % r.bytes || offset + r.bytes > shared_bytes) return false;
    return true;
}

int main(int argc, char** argv)
{
    FILE* file = argc == 2 ? fopen(argv[1], "r") : nullptr;
    if (!file) {
        fprintf(stderr, "usage: wavefronts FILE\n");
        return 2;
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
        fprintf(stderr, "wavefronts: no CUDA device\n");
        return 3;
    }
    Launch launch{};
    int last = -1;
    for (int number; fscanf(file, "%d", &number) == 1; last = number) {
        if (launch.count && number != last) {
            if (!run(launch, last)) return 3;
            launch.count = 0;
        }
        if (launch.count == most_requests || !read(file, launch.requests[launch.count])) {
            fprintf(stderr, "wavefronts: %s: launch %d has a wrong line\n", argv[1], number);
            return 2;
        }
        ++launch.count;
    }
    fclose(file);
    return launch.count && !run(launch, last) ? 3 : 0;
}
