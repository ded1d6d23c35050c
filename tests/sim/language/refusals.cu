// What the functions of the runtime answer to arguments that make no sense, or hardly any: which they refuse, and with
// which error.

#include "rows.h"

// Banks and caches are asked for with functions that CUDA means to take away.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace std;

// The error of a call is that of cudaGetLastError, too, which forgets it.
bool gives(cudaError_t expected, cudaError_t error)
{
    const cudaError_t last = cudaGetLastError();
    if (error == expected && last == expected && cudaGetLastError() == cudaSuccess) return true;
    printf("  %s, then %s instead of %s\n", cudaGetErrorName(error), cudaGetErrorName(last),
           cudaGetErrorName(expected));
    return false;
}

bool works(cudaError_t error) { return gives(cudaSuccess, error); }
bool invalid(cudaError_t error) { return gives(cudaErrorInvalidValue, error); }

__global__ void plain(int* to)
{
    if (to) to[threadIdx.x] = int(threadIdx.x);
}

template <int bytes>
__global__ void fixed(char* to)
{
    __shared__ char memory[bytes];
    if (to) {
        memory[threadIdx.x] = char(threadIdx.x);
        __syncthreads();
        to[threadIdx.x] = memory[threadIdx.x ^ 1];
    }
}

template <int number>
__global__ void dynamic(char* to)
{
    extern __shared__ char memory[];
    if (to) {
        memory[threadIdx.x] = char(number);
        __syncthreads();
        to[threadIdx.x] = memory[threadIdx.x ^ 1];
    }
}

// What no device can launch. CUDA changed the name of it.
bool no_launch(dim3 grid, dim3 block)
{
    plain<<<grid, block>>>(nullptr);
    return gives(CUDART_VERSION < 13000 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue, cudaPeekAtLastError());
}

void launches()
{
    row("a grid without blocks", no_launch(0, 32) && no_launch(dim3(1, 0), 32) && no_launch(dim3(1, 1, 0), 32));
    row("a block without threads", no_launch(1, 0) && no_launch(1, dim3(1, 0)) && no_launch(1, dim3(1, 1, 0)));
    row("a grid with too many blocks",
        no_launch(2147483648u, 32) && no_launch(dim3(1, 65536), 32) && no_launch(dim3(1, 1, 65536), 32));
    row("a block with too many threads", no_launch(1, 1025) && no_launch(1, dim3(32, 33)) &&
                                             no_launch(1, dim3(1, 1, 65)) && no_launch(1, dim3(16, 16, 5)));
    plain<<<dim3(1, 1, 65535), dim3(1, 1, 64)>>>(nullptr);
    bool largest = works(cudaGetLastError());
    plain<<<dim3(1, 65535), dim3(1, 1024)>>>(nullptr);
    row("the largest grid and block", largest && works(cudaDeviceSynchronize()));
}

// Whether a launch with so many bytes of dynamic shared memory runs. One that asks for too many is refused.
template <typename Kernel>
bool runs(Kernel kernel, size_t bytes)
{
    kernel<<<1, 32, bytes>>>(nullptr);
    return cudaPeekAtLastError() == cudaSuccess || !invalid(cudaPeekAtLastError());
}

template <typename Kernel>
bool limited_to(Kernel kernel, int bytes)
{
    cudaFuncAttributes attributes;
    must(cudaFuncGetAttributes(&attributes, kernel));
    if (attributes.maxDynamicSharedSizeBytes != bytes)
        printf("  %d bytes instead of %d\n", attributes.maxDynamicSharedSizeBytes, bytes);
    return attributes.maxDynamicSharedSizeBytes == bytes && runs(kernel, bytes) && !runs(kernel, bytes + 1);
}

template <typename Kernel>
cudaError_t allow(Kernel kernel, int bytes)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

template <typename Kernel>
int occupancy(Kernel kernel, int threads, size_t bytes)
{
    int blocks = -1;
    must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes));
    return blocks;
}

template <typename Kernel>
bool room(Kernel kernel, int blocks, int threads, size_t bytes)
{
    size_t found = 77;
    if (!works(cudaOccupancyAvailableDynamicSMemPerBlock(&found, kernel, blocks, threads))) return false;
    if (found != bytes) printf("  %zu bytes instead of %zu\n", found, bytes);
    return found == bytes;
}

void shared_memory()
{
    row("dynamic shared memory beside static",
        limited_to(fixed<44>, 49104) && limited_to(fixed<4800>, 44352) && limited_to(dynamic<0>, 49152));
    row("a limit of dynamic shared memory that is set",
        works(allow(dynamic<1>, 100000)) && limited_to(dynamic<1>, 100000) && works(allow(fixed<256>, 232192)) &&
            limited_to(fixed<256>, 232192));
    row("a limit of dynamic shared memory that is lowered",
        works(allow(dynamic<2>, 1000)) && limited_to(dynamic<2>, 1000) && works(allow(dynamic<2>, 0)) &&
            limited_to(dynamic<2>, 0));
    row("no limit of dynamic shared memory beyond the device's",
        invalid(allow(dynamic<3>, 232449)) && invalid(allow(dynamic<3>, -1)) && invalid(allow(fixed<512>, 231937)) &&
            invalid(allow(fixed<44>, 232401)) && limited_to(dynamic<3>, 49152));
    cudaFuncAttributes attributes;
    row("an attribute of a kernel that does not exist",
        invalid(cudaFuncSetAttribute(plain, cudaFuncAttribute(99), 1)) &&
        gives(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, (const void*)nullptr)));
    row("occupancy with a limit that was set", works(allow(dynamic<4>, 100000)) &&
                                                   occupancy(dynamic<4>, 256, 100000) == 2 &&
                                                   occupancy(dynamic<4>, 256, 100001) == 0);
    row("occupancy of a block with too many threads",
        occupancy(plain, 1024, 0) == 2 && occupancy(plain, 1025, 0) == 0 && occupancy(plain, 2000000, 0) == 0);
    row("room for dynamic shared memory", room(fixed<44>, 1, 64, 49104) && room(fixed<44>, 31, 64, 7376) &&
                                              room(fixed<4800>, 9, 64, 21056) && room(dynamic<5>, 2, 1024, 49152));
    int blocks = -1;
    row("occupancy of no block",
        invalid(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0)) &&
        invalid(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, -1, 0)) && blocks == -1);
}

// Whether nothing was allocated, without an error.
template <typename T>
bool nothing(cudaError_t error, T* const& memory)
{
    return works(error) && !memory;
}

void allocations()
{
    char* m = reinterpret_cast<char*>(8);
    bool right = nothing(cudaMalloc(&m, 0), m);
    m = reinterpret_cast<char*>(8);
    right = nothing(cudaMallocManaged(&m, 0), m) && right;
    m = reinterpret_cast<char*>(8);
    right = nothing(cudaMallocHost(&m, 0), m) && right;
    m = reinterpret_cast<char*>(8);
    right = nothing(cudaMallocAsync(&m, 0, 0), m) && right;
    row("memory of no bytes", right && works(cudaFree(nullptr)) && works(cudaFreeHost(nullptr)));
    const size_t huge = size_t(1) << 62;
    row("memory of too many bytes", gives(cudaErrorMemoryAllocation, cudaMalloc(&m, huge)) &&
                                        gives(cudaErrorMemoryAllocation, cudaMallocManaged(&m, huge)) &&
                                        gives(cudaErrorMemoryAllocation, cudaMallocHost(&m, huge)) &&
                                        gives(cudaErrorMemoryAllocation, cudaMalloc(&m, ~size_t(0))));
    size_t pitch = 77;
    const auto rows_of = [&](size_t width, size_t height) {
        return pitch = 77, cudaMallocPitch(&m, &pitch, width, height);
    };
    row("rows of no bytes", nothing(rows_of(0, 3), m) && pitch == 0 && nothing(rows_of(3, 0), m) && pitch == 0);
    row("the pitch of rows", works(rows_of(513, 3)) && pitch == 1024 && works(cudaFree(m)) && works(rows_of(1, 1)) &&
                                 pitch == 512 && works(cudaFree(m)));

    right = true;
    unsigned kept = 0;
    for (unsigned flags = 0; flags < 16; ++flags) {
        m = nullptr;
        if (flags > 7) right = invalid(cudaHostAlloc(&m, 64, flags)) && right;
        else
            right = works(cudaHostAlloc(&m, 64, flags)) && works(cudaHostGetFlags(&kept, m)) &&
                    kept == (flags | cudaHostAllocMapped) && works(cudaFreeHost(m)) && right;
    }
    row("flags of cudaHostAlloc", right);
    right = true;
    for (unsigned flags = 0; flags < 10; ++flags) {
        m = nullptr;
        if (flags == cudaMemAttachGlobal || flags == cudaMemAttachHost)
            right = works(cudaMallocManaged(&m, 64, flags)) && works(cudaFree(m)) && right;
        else right = invalid(cudaMallocManaged(&m, 64, flags)) && right;
    }
    row("flags of cudaMallocManaged", right);

    char* own = static_cast<char*>(aligned_alloc(4096, 16384));
    right = true;
    for (unsigned flags = 0; flags < 20; ++flags) {
        if (flags & ~11u) right = invalid(cudaHostRegister(own, 4096, flags)) && right;
        else
            right = works(cudaHostRegister(own, 4096, flags)) && works(cudaHostGetFlags(&kept, own)) &&
                    kept == ((flags & 3) | cudaHostAllocMapped) && works(cudaHostUnregister(own)) && right;
    }
    row("flags of cudaHostRegister", right);
    row("memory that is registered twice",
        works(cudaHostRegister(own, 4096, 0)) && works(cudaHostRegister(own + 8192 + 100, 100, 0)) &&
            works(cudaHostRegister(own + 8192 + 300, 100, 0)) &&
            gives(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own, 4096, 0)) &&
            gives(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own + 2048, 4096, 0)));
    row("memory that is not registered", invalid(cudaHostUnregister(nullptr)) && invalid(cudaHostUnregister(own + 8)) &&
                                             works(cudaHostUnregister(own)) &&
                                             works(cudaHostUnregister(own + 8192 + 100)) &&
                                             works(cudaHostUnregister(own + 8192 + 300)) &&
                                             gives(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own)));
    char *pinned = nullptr, *device = nullptr;
    void* seen = nullptr;
    must(cudaMallocHost(&pinned, 4096));
    must(cudaMalloc(&device, 4096));
    row("memory that cannot be registered",
        invalid(cudaHostRegister(nullptr, 64, 0)) && invalid(cudaHostRegister(own, 0, 0)) &&
            invalid(cudaHostRegister(pinned, 64, 0)) && invalid(cudaHostUnregister(pinned)) &&
            invalid(cudaHostRegister(device, 64, 0)) && invalid(cudaHostUnregister(device)));
    row("the device's address of the host's memory",
        works(cudaHostGetDevicePointer(&seen, pinned, 0)) && seen == pinned &&
            invalid(cudaHostGetDevicePointer(&seen, pinned, 1)) && invalid(cudaHostGetDevicePointer(&seen, own, 0)));
    cudaPointerAttributes a;
    row("attributes of pointers", works(cudaPointerGetAttributes(&a, pinned + 10)) && a.type == cudaMemoryTypeHost &&
                                      a.hostPointer == pinned + 10 && works(cudaPointerGetAttributes(&a, device)) &&
                                      a.type == cudaMemoryTypeDevice && !a.hostPointer &&
                                      works(cudaPointerGetAttributes(&a, own)) &&
                                      a.type == cudaMemoryTypeUnregistered && !a.devicePointer && a.hostPointer == own);
    must(cudaFreeHost(pinned));
    must(cudaFree(device));
    free(own);
}

// What CUDA says of a copy of so many rows with these pitches.
cudaError_t expected_2d(size_t width, size_t height, size_t to_pitch, size_t from_pitch)
{
    if (!width || !height) return cudaSuccess;
    if (height > 1 && (to_pitch < width || from_pitch < width)) return cudaErrorInvalidPitchValue;
    const auto too_small = [&](size_t pitch) { return pitch && pitch < width; };
    return too_small(to_pitch) || too_small(from_pitch) ? cudaErrorInvalidValue : cudaSuccess;
}

void shapes()
{
    static char host[16384];
    char* device = nullptr;
    must(cudaMalloc(&device, 4096));
    must(cudaMemset(device, 0, 4096));
    bool copied = true, set = true;
    for (size_t width : {0, 1, 16, 64, 65})
        for (size_t height : {0, 1, 2})
            for (size_t to : {0, 16, 64}) {
                for (size_t from : {0, 16, 64}) {
                    const cudaError_t expected = expected_2d(width, height, to, from);
                    copied =
                        gives(expected, cudaMemcpy2D(device, to, host, from, width, height, cudaMemcpyHostToDevice)) &&
                        copied;
                    copied =
                        gives(expected, cudaMemcpy2D(host, to, device, from, width, height, cudaMemcpyDeviceToHost)) &&
                        copied;
                    copied = gives(expected, cudaMemcpy2D(device, to, device + 2048, from, width, height,
                                                          cudaMemcpyDeviceToDevice)) &&
                             copied;
                    copied = gives(expected, cudaMemcpy2DAsync(host, to, host + 8192, from, width, height,
                                                               cudaMemcpyHostToHost, 0)) &&
                             copied;
                }
                set = gives(width && height > 1 && to < width ? cudaErrorInvalidValue : cudaSuccess,
                            cudaMemset2D(device, to, 0, width, height)) &&
                      set;
            }
    row("copies of rows, by pitch", copied);
    row("cudaMemset2D, by pitch", set);

    // In slices of 4 rows of 64 bytes.
    copied = set = true;
    for (size_t x : {0, 1, 32, 33})
        for (size_t width : {0, 31, 32, 64, 65})
            for (size_t y : {0, 1, 4})
                for (size_t height : {0, 1, 3, 4, 5})
                    for (size_t depth : {0, 1, 2}) {
                        cudaMemcpy3DParms copy{};
                        copy.srcPtr = make_cudaPitchedPtr(host, 64, 64, 4);
                        copy.dstPtr = make_cudaPitchedPtr(device, 64, 64, 4);
                        copy.dstPos = make_cudaPos(x, y, 0);
                        copy.extent = make_cudaExtent(width, height, depth);
                        copy.kind = cudaMemcpyHostToDevice;
                        const bool empty = !width || !height || !depth, several = height > 1 || depth > 1;
                        const bool pitch = !empty && ((several && width > 64) || (depth > 1 && height > 4));
                        const bool value = !empty && (x + width > 64 || y + height > 4);
                        copied = gives(pitch   ? cudaErrorInvalidPitchValue
                                       : value ? cudaErrorInvalidValue
                                               : cudaSuccess,
                                       cudaMemcpy3D(&copy)) &&
                                 copied;
                        const bool wrong = !empty && ((several && width > 64) || height > 4);
                        set = gives(wrong ? cudaErrorInvalidValue : cudaSuccess,
                                    cudaMemset3D(copy.dstPtr, 0, copy.extent)) &&
                              set;
                    }
    row("copies of slices, by position and extent", copied);
    const cudaPitchedPtr no_rows = make_cudaPitchedPtr(device, 64, 64, 0);
    set = invalid(cudaMemset3D(no_rows, 0, make_cudaExtent(64, 1, 1))) &&
          invalid(cudaMemset3D(no_rows, 0, make_cudaExtent(64, 1, 2))) && set;
    row("cudaMemset3D, by extent", set);
    row("copies in no direction",
        gives(cudaErrorInvalidMemcpyDirection, cudaMemcpy(device, host, 16, cudaMemcpyKind(9))) &&
        gives(cudaErrorInvalidMemcpyDirection, cudaMemcpy(device, host, 16, cudaMemcpyKind(-1))));
    row("copies of no bytes", works(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice)) &&
                                  works(cudaMemset(nullptr, 1, 0)) && works(cudaMemcpyPeer(device, 0, device, 0, 0)));
    must(cudaDeviceSynchronize());
    must(cudaFree(device));
}

int main()
{
    launches();
    shared_memory();
    allocations();
    shapes();
    return wrong_rows() != 0;
}
