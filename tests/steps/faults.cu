// Kernels with faults that no published transpose has, as far as we know: the simulator must name
// their lines. tests/sim/test_diagnostics.py runs them and looks for the lines marked below. The faults
// that were published are in the steps: ./stepNN --errata.

#define ELEMENT_TYPES void, void, float, double, int, void  // these kernels compute
#include "common/step.h"

// Sixteen bytes at a multiple of sixteen, as float4 has them: one load or store moves them all.
template <typename T>
struct alignas(16) Vector {
    T element[16 / sizeof(T)];
};

// What initcheck and synccheck look for.
template <typename T>
__global__ void readsOutput(T* odata, const T* idata, int width, int height)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < size_t(width) * height) {
        T before = odata[i];  // output: read
        odata[i] = idata[i];
        if (before == idata[i]) odata[i] = before;
    }
}

template <typename T>
void launchReadsOutput(T* odata, const T* idata, int width, int height)
{
    readsOutput<T><<<dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128)>>>(odata, idata, width, height);
}

template <typename T>
__global__ void leavesEarly(T* odata, const T* idata, int width, int height)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= size_t(width) * height) return;
    __syncthreads();  // early: barrier
    odata[i] = idata[i];
}

template <typename T>
void launchLeavesEarly(T* odata, const T* idata, int width, int height)
{
    leavesEarly<T><<<dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128)>>>(odata, idata, width, height);
}

// A load of a whole element that begins two bytes into one.
template <typename T>
__global__ void misaligned(T* odata, const T* idata, int width, int height)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i + 1 < size_t(width) * height) {
        const char* between = reinterpret_cast<const char*>(idata + i) + 2;
        odata[i] = *reinterpret_cast<const T*>(between);  // misaligned: load
    }
}

template <typename T>
void launchMisaligned(T* odata, const T* idata, int width, int height)
{
    misaligned<T><<<dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128)>>>(odata, idata, width, height);
}

// The last vector of 16 bytes begins inside the matrix and ends outside.
template <typename T>
__global__ void vectorOverTheEnd(T* odata, const T* idata, int width, int height)
{
    constexpr int N = 16 / sizeof(T);
    size_t i = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * N;
    if (i < size_t(width) * height) {
        Vector<T> v = *reinterpret_cast<const Vector<T>*>(idata + i);  // over: load
        *reinterpret_cast<Vector<T>*>(odata + i) = v;
    }
}

template <typename T>
void launchVectorOverTheEnd(T* odata, const T* idata, int width, int height)
{
    vectorOverTheEnd<T>
        <<<dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128)>>>(odata, idata, width, height);
}

template <typename T>
__global__ void vectorStoredOverTheEnd(T* odata, const T*, int width, int height)
{
    constexpr int N = 16 / sizeof(T);
    size_t i = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * N;
    if (i < size_t(width) * height) *reinterpret_cast<Vector<T>*>(odata + i) = Vector<T>{};  // over: store
}

template <typename T>
void launchVectorStoredOverTheEnd(T* odata, const T* idata, int width, int height)
{
    vectorStoredOverTheEnd<T>
        <<<dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128)>>>(odata, idata, width, height);
}

// The last thread stores behind the end of the tile.
template <typename T>
__global__ void behindTheTile(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[128];
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    T* next = tile + threadIdx.x + 1;
    if (i < size_t(width) * height) {
        *next = idata[i];  // tile: store
        odata[i] = *next;
    }
}

template <typename T>
void launchBehindTheTile(T* odata, const T* idata, int width, int height)
{
    behindTheTile<T><<<dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128)>>>(odata, idata, width, height);
}

// The launcher dereferences what it may only hand on.
template <typename T>
__global__ void copiesAll(T* odata, const T* idata, int n)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n) odata[i] = idata[i];
}

template <typename T>
void launchHostReadsDevice(T* odata, const T* idata, int width, int height)
{
    copiesAll<T><<<(width * height + 127) / 128, 128>>>(odata, idata, width * height);
    if (odata[0] != idata[0])  // host: load
        copiesAll<T><<<1, 128>>>(odata, idata, 1);
}

// In front of the tile, and beyond an array of the thread's own.
template <typename T>
__global__ void inFrontOfTheTile(T* odata, const T* idata, int n)
{
    __shared__ T tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T* before = tile + threadIdx.x - 1;
    if (i < n) {
        *before = idata[i];  // front: store
        odata[i] = *before;
    }
}

template <typename T>
void launchInFrontOfTheTile(T* odata, const T* idata, int width, int height)
{
    inFrontOfTheTile<T><<<(width * height + 127) / 128, 128>>>(odata, idata, width * height);
}

template <typename T>
__global__ void beyondALocalArray(T* odata, const T* idata, int n)
{
    T own[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k <= 4; ++k)
        own[k] = T(k);  // local: store
    if (i < n) odata[i] = own[i % 4] == T(7) ? T(0) : idata[i];
}

template <typename T>
void launchBeyondALocalArray(T* odata, const T* idata, int width, int height)
{
    beyondALocalArray<T><<<(width * height + 127) / 128, 128>>>(odata, idata, width * height);
}

// Races through global memory: inside a block, and between blocks. The results are right on the simulator.
template <typename T>
__global__ void readsWhatOthersStore(T* odata, const T* idata, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) odata[i] = idata[i];  // neighbour: store
    if (i < n && threadIdx.x > 0 && odata[i - 1] != idata[i - 1])  // neighbour: load
        odata[i] = T(0);
}

template <typename T>
void launchReadsWhatOthersStore(T* odata, const T* idata, int width, int height)
{
    readsWhatOthersStore<T><<<(width * height + 127) / 128, 128>>>(odata, idata, width * height);
}

template <typename T>
__global__ void everyBlockStores(T* odata, const T* idata, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        odata[i] = blockIdx.x == 1 ? idata[i] : T{};  // every: store
}

template <typename T>
void launchEveryBlockStores(T* odata, const T* idata, int width, int height)
{
    everyBlockStores<T><<<2, 128>>>(odata, idata, width * height);
}

// A thread that waits for what never happens.
template <typename T>
__global__ void neverEnds(T* odata, const T* idata, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned turn = 1; n < 0 || i == 3; ++turn)  // endless: loop
        if (turn == 0) n = 1;
    if (i < n) odata[i] = idata[i];
}

template <typename T>
void launchNeverEnds(T* odata, const T* idata, int width, int height)
{
    neverEnds<T><<<(width * height + 127) / 128, 128>>>(odata, idata, width * height);
}

// More local variables than fit.
template <typename T>
__global__ void deepStack(T* odata, const T* idata, int n)
{
    volatile T own[150000];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) own[i] = idata[i];  // deep: store
    if (i < n) odata[i] = own[i];
}

template <typename T>
void launchDeepStack(T* odata, const T* idata, int width, int height)
{
    deepStack<T><<<(width * height + 127) / 128, 128>>>(odata, idata, width * height);
}

KERNEL(inFrontOfTheTile_faulty, "-", copies, launchInFrontOfTheTile)
KERNEL(beyondALocalArray_faulty, "-", copies, launchBeyondALocalArray)
KERNEL(readsWhatOthersStore_faulty, "-", copies, launchReadsWhatOthersStore)
KERNEL(everyBlockStores_faulty, "-", copies, launchEveryBlockStores)
KERNEL(neverEnds_faulty, "-", copies, launchNeverEnds)
KERNEL(deepStack_faulty, "-", copies, launchDeepStack)
KERNEL(hostReadsDevice_faulty, "-", copies, launchHostReadsDevice)
KERNEL(vectorOverTheEnd_faulty, "-", copies, launchVectorOverTheEnd)
KERNEL(vectorStoredOverTheEnd_faulty, "-", copies, launchVectorStoredOverTheEnd)
KERNEL(misaligned_faulty, "-", copies, launchMisaligned)
KERNEL(behindTheTile_faulty, "-", copies, launchBehindTheTile)
KERNEL(readsOutput_faulty, "-", copies, launchReadsOutput)
KERNEL(leavesEarly_faulty, "-", copies, launchLeavesEarly)
