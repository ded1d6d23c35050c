// Memory that work still uses which the host has not waited for, and what kernels print.
#include "cases.h"

__device__ __managed__ int total;
__device__ __managed__ int others[2048];
__global__ void set(int* p) { p[threadIdx.x] = 1; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void raise(volatile int* flag, int* data) { data[0] = 5; __threadfence_system(); *flag = 1; }
__global__ void count(int* n) { atomicAdd(n, 1); }
__global__ void set_total() { total = 1; }
__global__ void say(int n) { printf("kernel %d\n", n); }

int* managed(int n)
{
    int* memory = nullptr;
    if (cudaMallocManaged(&memory, n * sizeof(int))) exit(3);
    memset(memory, 0, n * sizeof(int));
    return memory;
}
int* pinned(int n)
{
    int* memory = nullptr;
    if (cudaMallocHost(&memory, n * sizeof(int))) exit(3);
    memset(memory, 0, n * sizeof(int));
    return memory;
}

struct Streams {
    cudaStream_t a, b;
    Streams()
    {
        for (cudaStream_t* one : {&a, &b}) cudaStreamCreateWithFlags(one, cudaStreamNonBlocking);
    }
    ~Streams() { cudaDeviceSynchronize(); cudaStreamDestroy(a); cudaStreamDestroy(b); }
};

// ---- Managed memory.

CASE(read) {
    int* x = managed(64);
    set<<<1, 64>>>(x);
    //! race: byte 12 of memory \(cudaMallocManaged .*: the host reads it at .* and set, launched at .*, may not have
    //  written it yet; wait for it first
    printf("%d\n", x[3]);
    cudaFree(x);
}
CASE(write) {
    int* x = managed(64);
    set<<<1, 64>>>(x);
    x[3] = 2;  //! race: byte 12 .*the host writes it .*may not have written it yet
    cudaFree(x);
}
CASE(variable) {
    set_total<<<1, 1>>>();
    if (total != 1) exit(5);  //! race: byte 0 of total: the host reads
    done();
}
CASE(another_stream_is_waited_for) {
    int* x = managed(64);
    Streams s;
    set<<<1, 64, 0, s.a>>>(x);
    cudaStreamSynchronize(s.b);
    x[0] = 1;  //! race: byte 0
    cudaFree(x);
}
CASE(event_before_the_launch) {
    int* x = managed(64);
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaEventRecord(e);
    set<<<1, 64>>>(x);
    cudaEventSynchronize(e);
    x[0] = 1;  //! race: byte 0
    cudaFree(x);
    cudaEventDestroy(e);
}
CASE(copying_inside_the_device_waits_for_nothing) {
    int *x = managed(64), *d = device<int>(64), *e = device<int>(64);
    set<<<1, 64>>>(x);
    cudaMemcpy(d, e, 256, cudaMemcpyDeviceToDevice);
    x[0] = 1;  //! race: byte 0
    cudaFree(x);
    cudaFree(d);
    cudaFree(e);
}

// ---- Pinned, mapped and registered memory.

CASE(copy_to_the_host) {
    int *h = pinned(64), *d = device<int>(64);
    cudaMemcpyAsync(h, d, 256, cudaMemcpyDeviceToHost, 0);
    //! race: byte 0 of memory \(cudaMallocHost .*the host reads it at .* and cudaMemcpyAsync at .* may not have written
    //  it yet
    printf("%d\n", h[0]);
    cudaFree(d);
    cudaFreeHost(h);
}
CASE(mapped) {
    int* h = pinned(64);
    set<<<1, 64>>>(h);
    if (h[1] != 1) exit(5);  //! race: byte 4
    cudaDeviceSynchronize();
    cudaFreeHost(h);
}
CASE(registered) {
    static int memory[4096];
    cudaHostRegister(memory, sizeof memory, cudaHostRegisterMapped);
    set<<<1, 64>>>(memory + 2048);
    if (memory[2048] != 1) exit(5);  //! race: byte 8192
    cudaDeviceSynchronize();
    cudaHostUnregister(memory);
}

// ---- Right ones.

CASE(right_waits) {
    int *x = managed(64), h[64], *d = device<int>(64);
    Streams s;
    cudaEvent_t e;
    cudaEventCreate(&e);
    set<<<1, 64>>>(x);
    cudaDeviceSynchronize();
    x[0] = 2;
    set<<<1, 64, 0, s.a>>>(x);
    cudaStreamSynchronize(s.a);
    x[0] = 3;
    set<<<1, 64, 0, s.a>>>(x);
    cudaEventRecord(e, s.a);
    cudaEventSynchronize(e);
    x[0] = 4;
    set<<<1, 64, 0, s.a>>>(x);
    while (cudaStreamQuery(s.a) == cudaErrorNotReady) {}
    x[0] = 5;
    set<<<1, 64>>>(x);
    cudaMemcpy(h, d, 256, cudaMemcpyDeviceToHost);
    x[0] = 6;
    set<<<1, 64>>>(x);
    cudaFree(d);
    x[0] = 7;
    set<<<1, 64>>>(x);
    cudaMemcpy(h, x, 256, cudaMemcpyDefault);
    x[0] = 8;
    cudaEventDestroy(e);
    cudaFree(x);
}
CASE(right_reads) {
    int *x = managed(64), *d = device<int>(64);
    copy<<<1, 64>>>(d, x);
    if (x[3] != 0) exit(5);
    cudaDeviceSynchronize();
    x[3] = 1;
    cudaFree(x);
    cudaFree(d);
}
CASE(right_others) {
    int *x = managed(2048), *y = managed(64);
    set<<<1, 64>>>(x);
    y[0] = 1;
    x[64] = 1;
    x[1500] = 2;
    others[5] = 1;
    cudaDeviceSynchronize();
    if (x[63] != 1) exit(5);
    cudaFree(x);
    cudaFree(y);
}
CASE(right_flag) {
    int *data = pinned(1), *flag = pinned(1);
    raise<<<1, 1>>>(flag, data);
    while (*(volatile int*)flag == 0) {}
    if (*data != 5) exit(5);
    count<<<1, 1>>>(flag);
    while (*(volatile int*)flag == 1) {}
    cudaDeviceSynchronize();
    cudaFreeHost(data);
    cudaFreeHost(flag);
}
void called(void* data) { static_cast<int*>(data)[0] += 1; }
CASE(right_callback) {
    int* h = pinned(64);
    Streams s;
    set<<<1, 64, 0, s.a>>>(h);
    cudaLaunchHostFunc(s.a, called, h);
    cudaStreamSynchronize(s.a);
    if (h[0] != 2) exit(5);
    cudaFreeHost(h);
}

// ---- What kernels print.

CASE(right_order) {
    say<<<1, 1>>>(1);
    say<<<1, 1>>>(2);
    printf("host\n");  //> host
    cudaDeviceSynchronize();  //> kernel 1
    printf("end\n");  //> kernel 2
                      //> end
}
CASE(right_streams) {
    Streams s;
    say<<<1, 1, 0, s.a>>>(1);
    say<<<1, 1, 0, s.b>>>(2);
    cudaStreamSynchronize(s.b);  //> kernel 2
    printf("host\n");  //> host
    cudaStreamSynchronize(s.a);  //> kernel 1
}
CASE(right_copy) {
    int *d = device<int>(1), h;
    say<<<1, 1>>>(3);
    printf("host\n");  //> host
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);  //> kernel 3
    printf("end\n");  //> end
    cudaFree(d);
}
CASE(lost) { say<<<1, 1>>>(6); }  //! not-waited-for: say, launched at .* is lost \(1 line\)
CASE(no_result_is_read) {
    static int result[64];
    cudaHostRegister(result, sizeof result, cudaHostRegisterMapped);
    //! not-waited-for: the program ends before set, launched at .*, is known to be done; call cudaDeviceSynchronize
    set<<<1, 64>>>(result);
}
