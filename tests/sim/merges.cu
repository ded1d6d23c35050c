// Accesses that a compiler may merge, drop or repeat. Each kernel is one form of the source, and one warp runs it.
// tests/sim/test_merges.py compares what the simulator counts with the instructions that nvcc makes of the same text.
#include <cstdio>

// ---- Loads -----------------------------------------------------------------------------------------------------

__global__ void equalLoads(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i] = x[i] + 2 * (x[i] ^ 1);
}

__global__ void volatileLoads(int* a, int* b, const volatile int* x)
{
    const int i = threadIdx.x;
    a[i] = x[i] + 2 * (x[i] ^ 1);
}

__global__ void storeBetween(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i] = x[i];
    b[i] = x[i] * x[i];
}

__global__ void otherStoreBetween(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i] = x[i] + 1;
    b[i] = x[i] * x[i];
}

__global__ void storeBetweenRestrict(int* __restrict__ a, int* __restrict__ b, const int* __restrict__ x)
{
    const int i = threadIdx.x;
    a[i] = x[i];
    b[i] = x[i] * x[i];
}

__global__ void sharedStoreBetween(int* a, int* b, const int* x)
{
    __shared__ int s[32];
    const int i = threadIdx.x;
    s[31 - i] = x[i] + 1;
    b[i] = x[i];
    __syncthreads();
    a[i] = s[i];
}

__global__ void barrierBetween(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    int v = x[i];
    __syncthreads();
    a[i] = v + 2 * (x[i] ^ 1);
}

__global__ void barrierBetweenRestrict(int* __restrict__ a, int* __restrict__ b, const int* __restrict__ x)
{
    const int i = threadIdx.x;
    int v = x[i];
    __syncthreads();
    a[i] = v + 2 * (x[i] ^ 1);
}

__global__ void storedBefore(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i] = x[i];
    b[i] = a[i] + 1;
}

__global__ void storedLongBefore(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i] = x[i];
    b[i] = 2;
    b[i + 32] = a[i];
}

__global__ void unusedLoad(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    int v = x[i];
    a[i] = i;
    (void)v;
}

__global__ void onlyWhatIsNeeded(int* a, int* b, const int4* x)
{
    const int i = threadIdx.x;
    int4 v = x[i];
    a[i] = v.x + v.w;
}

__global__ void loadInBothArms(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    int v;
    if (i % 2) v = x[i] + 1;
    else v = x[i] * 5;
    a[i] = v;
}

__global__ void loadAfterBranch(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    int v = 0;
    if (i % 2) v = x[i] * 3;
    a[i] = v + x[i];
}

__global__ void loadOfEither(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i] = i % 2 ? x[i] : b[i];
}

__global__ void loadInTwoBranches(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    int v = 0;
    if (i % 2) v = x[i] * 3;
    if (i % 3) v += x[i];
    a[i] = v;
}

__global__ void unchangedInLoop(int* a, int* b, const int* x, int n)
{
    const int i = threadIdx.x;
    int v = 0;
    for (int k = 0; k < n; ++k) v = v * 3 + x[i];
    a[i] = v;
}

__global__ void neighboursShared(int* a, int* b, const int* x)
{
    __shared__ int s[64];
    const int i = threadIdx.x;
    s[i] = x[i];
    s[i + 32] = i;
    __syncthreads();
    a[i] = s[2 * i] + 3 * s[2 * i + 1];
}

__global__ void neighboursGlobal(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i] = x[2 * i] + 3 * x[2 * i + 1];
}

__global__ void membersOfAPair(int* a, int* b, const int2* x)
{
    const int i = threadIdx.x;
    a[i] = x[i].x + 3 * x[i].y;
}

__global__ void pairCopied(int* a, int* b, const int2* x)
{
    const int i = threadIdx.x;
    const int2 v = x[i];
    a[i] = v.x + 3 * v.y;
}

__global__ void membersIncreased(int2* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i].x += x[i];
    a[i].y += 2;
}

__global__ void copyIncreased(int2* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    int2 v = a[i];
    v.x += x[i];
    v.y += 2;
    a[i] = v;
}

// ---- Stores ----------------------------------------------------------------------------------------------------

__global__ void oneValueInBothArms(int* a, int* b, const int* x)
{
    const int i = threadIdx.x, v = x[i];
    if (i % 2) a[i] = v;
    else a[i] = v;
}

__global__ void oneValueStoredBack(int* a, int* b, const int* x)
{
    const int i = threadIdx.x, v = a[i] + 1;
    if (i % 2) a[i] = v;
    else a[i] = v;
}

__global__ void twoValuesInArms(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    if (i % 2) a[i] = 1;
    else a[i] = x[i];
}

__global__ void twoConstantsInArms(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    if ((x[i] + i) % 2) a[i] = 1;
    else a[i] = 2;
}

__global__ void overwritten(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i] = 1;
    a[i] = x[i];
}

__global__ void overwrittenAtOnce(int* a, int* b, const int* x)
{
    const int i = threadIdx.x, v = x[i];
    a[i] = v;
    a[i] = v + 1;
}

__global__ void overwrittenInBranch(int* a, int* b, const int* x)
{
    const int i = threadIdx.x, v = x[i];
    a[i] = v;
    if (i % 2) a[i] = v + 1;
}

__global__ void itself(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    a[i] = a[i];
    b[i] = x[i];
}

__global__ void neverRead(int* a, int* b, const int* x)
{
    __shared__ int s[32];
    const int i = threadIdx.x, v = x[i];
    s[i] = v;
    a[i] = v;
}

__global__ void readByItselfOnly(int* a, int* b, const int* x)
{
    __shared__ int s[32];
    const int i = threadIdx.x;
    s[i] = x[i];
    a[i] = s[i] + 1;
}

__global__ void neighboursStored(int* a, int* b, const int* x)
{
    const int i = threadIdx.x, v = x[i];
    a[2 * i] = v;
    a[2 * i + 1] = v + 1;
}

__global__ void neighboursStoredShared(int* a, int* b, const int* x)
{
    __shared__ int s[64];
    const int i = threadIdx.x, v = x[i];
    s[2 * i] = v;
    s[2 * i + 1] = v + 1;
    __syncthreads();
    a[i] = s[i];
}

// ---- Atomic operations -----------------------------------------------------------------------------------------

__global__ void twoAtomics(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    atomicAdd(&a[i], 1);
    atomicAdd(&a[i], 2);
}

__global__ void atomicInBothArms(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    if (i % 2) atomicAdd(&a[i], 1);
    else atomicAdd(&a[i], 2);
}

__global__ void atomicWithOneValueInBothArms(int* a, int* b, const int* x)
{
    const int i = threadIdx.x;
    if (i % 2) atomicAdd(&a[i], 1);
    else atomicAdd(&a[i], 1);
}

int main()
{
    int *a, *b, *x;
    cudaMalloc(&a, 512);
    cudaMalloc(&b, 512);
    cudaMalloc(&x, 512);
    cudaMemset(a, 0, 512);
    cudaMemset(b, 0, 512);
    cudaMemset(x, 0, 512);
    const auto of = [&](auto* kernel) { kernel<<<1, 32>>>(a, b, x); };
    of(equalLoads);
    of(volatileLoads);
    of(storeBetween);
    of(otherStoreBetween);
    of(storeBetweenRestrict);
    of(sharedStoreBetween);
    of(barrierBetween);
    of(barrierBetweenRestrict);
    of(storedBefore);
    of(storedLongBefore);
    of(unusedLoad);
    onlyWhatIsNeeded<<<1, 32>>>(a, b, reinterpret_cast<int4*>(x));
    of(loadInBothArms);
    of(loadAfterBranch);
    of(loadOfEither);
    of(loadInTwoBranches);
    unchangedInLoop<<<1, 32>>>(a, b, x, 8);
    of(neighboursShared);
    of(neighboursGlobal);
    membersOfAPair<<<1, 32>>>(a, b, reinterpret_cast<int2*>(x));
    pairCopied<<<1, 32>>>(a, b, reinterpret_cast<int2*>(x));
    membersIncreased<<<1, 32>>>(reinterpret_cast<int2*>(a), b, x);
    copyIncreased<<<1, 32>>>(reinterpret_cast<int2*>(a), b, x);
    of(oneValueInBothArms);
    of(oneValueStoredBack);
    of(twoValuesInArms);
    of(twoConstantsInArms);
    of(overwritten);
    of(overwrittenAtOnce);
    of(overwrittenInBranch);
    of(itself);
    of(neverRead);
    of(readByItselfOnly);
    of(neighboursStored);
    of(neighboursStoredShared);
    of(twoAtomics);
    of(atomicInBothArms);
    of(atomicWithOneValueInBothArms);
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    cudaFree(a);
    cudaFree(b);
    cudaFree(x);
    return error != cudaSuccess;
}
