// Kernels as other programs have them: reductions, scans, stencils, histograms, matrix products, gathers. They show
// what the model of times lacks (docs/MODEL.md).
//
//   make elsewhere && ./elsewhere > elsewhere.csv                     (needs a GPU: times)
//   make try FILE=bench/elsewhere.cu CPPFLAGS=-I. ARGS=--once         (no GPU: counts and modelled times)
//
// Vectors have 2^24 elements of 4 bytes, matrices 4096 x 4096, those of products 1024 x 1024. Prints the ms of a
// launch, the median of 15 samples of five launches. Each launch has other memory than the one before, so that none
// finds its data in the L2. --once launches each kernel once and takes no time. Exits 3 on a CUDA error.

#include <cstdio>
#include <functional>
#include <string>

#include "bench/card.h"

namespace {

constexpr int N = 1 << 24, SIDE = 4096, PRODUCT = 1024, BINS = 256, ROW = 16;  // ROW: entries of a sparse row

// A random place for each of N numbers. Products with odd numbers and shifts: no two have the same.
__device__ unsigned shuffled(unsigned i)
{
    i = i * 2654435761u & (N - 1);
    i ^= i >> 11;
    i = i * 2246822519u & (N - 1);
    return i ^ i >> 13;
}

__global__ void fill(float* a, int* places)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = float(i % 1000) / 1000;
    places[i] = int(shuffled(unsigned(i)));
}

// Reductions.

__global__ void reduceTree(float* sums, const float* in)
{
    __shared__ float part[256];
    part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__device__ float sumOfWarp(float v)
{
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(~0u, v, offset);
    return v;
}

__global__ void reduceShuffle(float* sums, const float* in, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    sum = sumOfWarp(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[blockIdx.x], sum);
}

__global__ void dotProduct(float* sums, const float* a, const float* b)
{
    __shared__ float part[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = sumOfWarp(a[i] * b[i]);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 8; ++warp) sum += part[warp];
        sums[blockIdx.x] = sum;
    }
}

// Vectors.

__global__ void saxpy(float* y, const float* x, float a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}

__global__ void saxpyVector(float4* y, const float4* x, float a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 u = x[i], v = y[i];
    y[i] = {a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w};
}

// Stencils: an element and its four neighbours.

__global__ void stencilFive(float* out, const float* in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1) return;
    int i = y * width + x;
    out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__global__ void stencilShared(float* out, const float* in, int width, int height)
{
    __shared__ float tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int j = threadIdx.y; j < 10; j += 8)
        for (int i = threadIdx.x; i < 34; i += 32) {
            int column = min(max(int(blockIdx.x * 32) + i - 1, 0), width - 1);
            int row = min(max(int(blockIdx.y * 8) + j - 1, 0), height - 1);
            tile[j][i] = in[row * width + column];
        }
    __syncthreads();
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    out[y * width + x] = 0.2f * (tile[j][i] + tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i]);
}

// Histograms of numbers from 0 to 255.

__global__ void histogramGlobal(unsigned* bins, const int* in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[in[i] & (BINS - 1)], 1u);
}

__global__ void histogramShared(unsigned* bins, const int* in, int n)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i] & (BINS - 1)], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Matrix products.

__global__ void matrixProduct(float* c, const float* a, const float* b, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

__global__ void matrixProductTiled(float* c, const float* a, const float* b, int n)
{
    __shared__ float tileA[32][32], tileB[32][32];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 32) {
        tileA[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        tileB[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 32; ++i) sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Scans: each block's elements, by doubling.

__global__ void scanBlocks(float* out, const float* in)
{
    __shared__ float sums[2][256];
    int now = 0, i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[0][threadIdx.x] = in[i];
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        float sum = sums[now][threadIdx.x];
        if (threadIdx.x >= offset) sum += sums[now][threadIdx.x - offset];
        now = 1 - now;
        sums[now][threadIdx.x] = sum;
        __syncthreads();
    }
    out[i] = sums[now][threadIdx.x];
}

// Random places.

__global__ void gather(float* out, const float* in, const int* places)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[places[i]];
}

__global__ void scatterElements(float* out, const float* in, const int* places)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[places[i]] = in[i];
}

// A sparse matrix with ROW entries in each row: a thread per row.
__global__ void sparseProduct(float* out, const float* values, const int* columns, const float* vector)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = row * ROW; k < row * ROW + ROW; ++k) sum += values[k] * vector[columns[k]];
    out[row] = sum;
}

// A block per row.
__global__ void softmaxRows(float* out, const float* in, int width)
{
    __shared__ float part[8];
    const float* row = in + size_t(blockIdx.x) * width;
    float sum = 0;
    for (int x = threadIdx.x; x < width; x += blockDim.x) sum += __expf(row[x]);
    sum = sumOfWarp(sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += part[warp];
    for (int x = threadIdx.x; x < width; x += blockDim.x) out[size_t(blockIdx.x) * width + x] = __expf(row[x]) / sum;
}

// An array of structures.
struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

__global__ void moveParticles(Particle* particles, float step)
{
    Particle& p = particles[blockIdx.x * blockDim.x + threadIdx.x];
    p.x += step * p.vx;
    p.y += step * p.vy;
    p.z += step * p.vz;
}

__global__ void grey(unsigned char* out, const uchar4* pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 p = pixels[i];
    out[i] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
}

constexpr size_t BYTES = size_t(N) * 4;
constexpr int ROUNDS = 5;  // sets of buffers that launches use in turn

struct Buffers {
    float *a, *b, *c;
    int* places;
};

}  // namespace

int main(int argc, char** argv)
{
    const bool once = !arguments_of(argc, argv, "Times kernels as other programs have them.", {"--once"}).empty();
    const std::string card = once ? "" : card_columns();
    const int rounds = once ? 1 : ROUNDS;
    Buffers sets[ROUNDS];
    for (int r = 0; r < rounds; ++r) {
        Buffers& s = sets[r];
        for (float** buffer : {&s.a, &s.b, &s.c}) CUDA(cudaMalloc(buffer, BYTES));
        CUDA(cudaMalloc(&s.places, BYTES));
        CUDA(cudaMemset(s.c, 0, BYTES));
        fill<<<N / 256, 256>>>(s.a, s.places);
        fill<<<N / 256, 256>>>(s.b, s.places);
    }
    CUDA(cudaDeviceSynchronize());

    if (!once) printf("date_utc,machine,cuda_driver,kernel,time_median_ms,spread_percent\n");
    const auto report = [&](const char* name, const std::function<void(const Buffers&)>& launch) {
        const auto launches = [&] {
            for (int r = 0; r < rounds; ++r) launch(sets[r]);
        };
        if (once) {
            launches();
            CUDA(cudaGetLastError());
            CUDA(cudaDeviceSynchronize());
            return;
        }
        const harness::Summary s = seconds(launches);
        printf("%s,%s,%.5g,%.1f\n", card.c_str(), name, s.median * 1e3 / rounds, 100 * s.spread);
    };
    const auto bins = [](const Buffers& s) { return reinterpret_cast<unsigned*>(s.c); };
    const dim3 tiles(SIDE / 32, SIDE / 8);
    report("reduceTree", [](const Buffers& s) { reduceTree<<<N / 256, 256>>>(s.c, s.a); });
    report("reduceShuffle", [](const Buffers& s) { reduceShuffle<<<1024, 256>>>(s.c, s.a, N); });
    report("dotProduct", [](const Buffers& s) { dotProduct<<<N / 256, 256>>>(s.c, s.a, s.b); });
    report("saxpy", [](const Buffers& s) { saxpy<<<N / 256, 256>>>(s.b, s.a, 2); });
    report("saxpyVector", [](const Buffers& s) {
        saxpyVector<<<N / 1024, 256>>>(reinterpret_cast<float4*>(s.b), reinterpret_cast<const float4*>(s.a), 2);
    });
    report("stencilFive", [&](const Buffers& s) { stencilFive<<<tiles, dim3(32, 8)>>>(s.c, s.a, SIDE, SIDE); });
    report("stencilShared", [&](const Buffers& s) { stencilShared<<<tiles, dim3(32, 8)>>>(s.c, s.a, SIDE, SIDE); });
    report("histogramGlobal", [&](const Buffers& s) { histogramGlobal<<<N / 256, 256>>>(bins(s), s.places); });
    report("histogramShared", [&](const Buffers& s) { histogramShared<<<1024, BINS>>>(bins(s), s.places, N); });
    report("matrixProduct", [](const Buffers& s) {
        matrixProduct<<<dim3(PRODUCT / 32, PRODUCT / 8), dim3(32, 8)>>>(s.c, s.a, s.b, PRODUCT);
    });
    report("matrixProductTiled", [](const Buffers& s) {
        matrixProductTiled<<<dim3(PRODUCT / 32, PRODUCT / 32), dim3(32, 32)>>>(s.c, s.a, s.b, PRODUCT);
    });
    report("scanBlocks", [](const Buffers& s) { scanBlocks<<<N / 256, 256>>>(s.c, s.a); });
    report("gather", [](const Buffers& s) { gather<<<N / 256, 256>>>(s.c, s.a, s.places); });
    report("scatterElements", [](const Buffers& s) { scatterElements<<<N / 256, 256>>>(s.c, s.a, s.places); });
    report("sparseProduct",
           [](const Buffers& s) { sparseProduct<<<N / ROW / 256, 256>>>(s.c, s.b, s.places, s.a); });
    report("softmaxRows", [](const Buffers& s) { softmaxRows<<<N / SIDE, 256>>>(s.c, s.a, SIDE); });
    report("moveParticles", [](const Buffers& s) {
        moveParticles<<<N / 8 / 256, 256>>>(reinterpret_cast<Particle*>(s.b), 0.5f);
    });
    report("grey", [](const Buffers& s) {
        grey<<<N / 256, 256>>>(reinterpret_cast<unsigned char*>(s.c), reinterpret_cast<const uchar4*>(s.a));
    });
    for (int r = 0; r < rounds; ++r) {
        for (float* buffer : {sets[r].a, sets[r].b, sets[r].c}) CUDA(cudaFree(buffer));
        CUDA(cudaFree(sets[r].places));
    }
    return 0;
}
