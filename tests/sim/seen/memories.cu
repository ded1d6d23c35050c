// Faults in memory that malloc and new give in a kernel, and on a thread's stack. The comments are those of ends.cu:
// each line with one has this finding. n is 0.
#include <cstdio>

struct Node { int value; Node* next; };
struct Owner {
    int* own;
    __device__ Owner() : own(new int[4]) { own[0] = 1; }
    __device__ ~Owner() { delete[] own; }
};
#define KERNEL(name) __global__ void name(int* o, int n)
#define I const int i = threadIdx.x

KERNEL(ends) { I;
    int* p = (int*)malloc(16);
    char* c = (char*)malloc(13);
    Node* node = new Node[2];
    double* d = new double;
    if (i == 0) p[n + 4] = 1;  //! out-of-bounds store of 4 bytes at byte 16 of memory from malloc
    if (i == 1) o[i] = p[n + 4];  //! out-of-bounds load of 4 bytes at byte 16 of memory from malloc
    if (i == 2) p[n - 1] = 1;  //! out-of-bounds store of 4 bytes at byte -4 of memory from malloc
    if (i == 3) c[n + 13] = 1;  //! out-of-bounds store of 1 bytes at byte 13 of memory from malloc
    if (i == 4) node[n + 2].value = 1;  //! out-of-bounds store of 4 bytes at byte 32 of memory from malloc
    if (i == 5) d[n + 1] = 1;  //! out-of-bounds store of 8 bytes at byte 8 of memory from malloc
    if (i == 6)
        for (int k = 0; k <= 4; ++k) p[k] = k;  //! out-of-bounds store of 4 bytes at byte 16 of memory from malloc
    if (i == 7) memset(c, 0, 14 + n);  //! out-of-bounds store of 1 bytes at byte 13 of memory from malloc
    if (i == 8) atomicAdd(p + n + 4, 1);  //! out-of-bounds store of 4 bytes at byte 16 of memory from malloc
    if (i == 9) *(double*)(p + n + 1) = 1;  //! misaligned access of 8 bytes at byte 4 of memory from malloc
}
KERNEL(unset) { I;
    int* p = (int*)malloc(16);
    Node* node = new Node;
    p[0] = 1;
    node->value = 1;
    if (i == 0) o[i] = p[n + 1];  //! uninitialized load of 4 bytes at byte 4 of memory from malloc
    if (i == 1) o[i] = node->next == nullptr;  //! uninitialized load of 8 bytes at byte 8 of memory from malloc
    if (i == 2) p[n + 2] += 1;  //! uninitialized load of 4 bytes at byte 8 of memory from malloc
    if (i == 3) o[i] = (new int[8])[n + 3];  //! uninitialized load of 4 bytes at byte 12 of memory from malloc
    if (i == 4) atomicMax(p + n + 3, 1);  //! uninitialized load of 4 bytes at byte 12 of memory from malloc
    free(p);
}
__device__ int* kept;
KERNEL(freed) { I;
    int* p = new int[4];
    p[0] = 1;
    delete[] p;
    if (i == 0) o[i] = p[n];  //! use after free, of 4 bytes at byte 0 of memory from malloc
    if (i == 1) p[n + 1] = 1;  //! use after free, of 4 bytes at byte 4 of memory from malloc
    if (i == 2) delete[] p;  //! bad free: freed before: memory from malloc
    if (i == 3) free(p);  //! bad free: freed before: memory from malloc
    if (i == 4) free((int*)malloc(8) + 1);  //! bad free: the pointer is not to the beginning of memory from malloc
    if (i == 5) free(o);  //! bad free: the pointer is not one that malloc or new gave
    if (i == 6) { int* volatile q = &n; free(q); }  //! bad free: the pointer is not one that malloc or new gave
    if (i == 7) { kept = new int; delete kept; }
}
KERNEL(freed_by_another_launch) { I;
    o[i] = *kept;  //! use after free, of 4 bytes at byte 0 of memory from malloc
}

// --- the stack
__device__ int* dangling()
{
    int a = 3;
    int* volatile p = &a;
    return p;
}
__device__ int sum(const int* p, int n)
{
    int s = 0;
    for (int i = 0; i < n; ++i)
        s += p[i];  //! an address below the thread's local variables
    return s;
}
__device__ void put(volatile int* p, int n)
{
    p[n] = 1;  //! an address below the thread's local variables
}
__device__ __noinline__ void smash(int k, int by)
{
    size_t* a = (size_t*)__builtin_frame_address(0);
    size_t* volatile p = a;
    size_t* q = p;
    q[k] += by;  //! a store to where a function keeps its return address
}
template <int bytes> __device__ __noinline__ void deeper(char* p, int k)
{
    char own[bytes];
    char* volatile q = own;
    q[0] = p[0];
    if (k == 0) smash(1, bytes);
}
struct Four { int a, b, c, d; };
KERNEL(below) { I;
    int own[4] = {1, 2, 3, o[i]}, *at = own;
    if (i == 0) o[i] = *dangling();  //! an address below the thread's local variables
    if (i == 1) o[i] = sum(at - 4000 + n, 4);
    if (i == 2) put(own, n - 4000);
    if (i == 3) memcpy(at - 4000 + n, o, 4);  //! an address below the thread's local variables
    if (i == 4) atomicAdd(at - 4000 + n, 1);  //! an address below the thread's local variables
    if (i == 5) *(Four*)(at - 4000 + n) = Four{1, 2, 3, 4};  //! an address below the thread's local variables
    if (i == 6) { int* p = dangling(); *p = 1; }  //! an address below the thread's local variables
    auto f = [] { return dangling(); };
    if (i == 7) o[i] = f()[n];  //! an address below the thread's local variables
    if (i == 8) o[i] = *((int*)((size_t)own & ~size_t(4095)) - 1024);  //! an address below the thread's local variables
    if (i == 9) smash(0, 13);
    if (i == 10) smash(1, 13);
    if (i == 11) { char c = 1; deeper<100>(&c, n); }
    if (i == 12) {
        int* volatile w = own;
        for (int k = 0; k < 64; ++k) w[k] = 0;  //! a store to where a function keeps its return address
    }
    o[i] = own[i % 4];
}

void run(void (*kernel)(int*, int), int threads = 32)
{
    int* o;
    cudaMalloc(&o, 64 * sizeof(int));
    cudaMemset(o, 0, 64 * sizeof(int));
    kernel<<<1, threads>>>(o, 0);
    cudaDeviceSynchronize();
    cudaDeviceReset();  // the error of a kernel stays until then
}

int main()
{
    run(ends); run(unset); run(freed); run(freed_by_another_launch, 1); run(below);
}
