// The transpose by columns with its loads through every read-only path: as they are, __ldg(), __restrict__, a texture
// of linear memory, and a texture of a CUDA array, whose elements lie in memory by neighbourhood in two dimensions.
//
//   make readonly && ./readonly > readonly.csv          (needs a GPU)
//
// Each result is compared with the transpose, element by element; times are the median of 15. The copy into the CUDA
// array is not timed. Exits 1 if a result is wrong, 3 where there is no GPU or on a CUDA error.

#include <cstdio>

#include "bench/elements.h"
#include "bench/texture.h"

constexpr int SIDE = 8192;

__global__ void plain(float* odata, const float* idata, int width, int height)
{
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

__global__ void ldg(float* odata, const float* idata, int width, int height)
{
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = __ldg(&idata[size_t(y) * width + x]);
}

__global__ void restricted(float* __restrict__ odata, const float* __restrict__ idata, int width, int height)
{
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

__global__ void textureLinear(float* odata, cudaTextureObject_t idata, int width, int height)
{
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = tex1Dfetch<float>(idata, y * width + x);
}

__global__ void textureArray(float* odata, cudaTextureObject_t idata, int width, int height)
{
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = tex2D<float>(idata, x + 0.5f, y + 0.5f);
}

int main(int argc, char** argv)
{
    arguments_of(argc, argv, "Times the transpose by columns with its loads through each read-only path of the GPU.");
    const std::string card = card_columns();
    const size_t n = size_t(SIDE) * SIDE, bytes = n * sizeof(float);
    float *idata, *odata;
    CUDA(cudaMalloc(&idata, bytes));
    CUDA(cudaMalloc(&odata, bytes));
    fill<<<1024, 256>>>(idata, n);
    CUDA(cudaGetLastError());

    cudaResourceDesc array = {};
    const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    array.resType = cudaResourceTypeArray;
    CUDA(cudaMallocArray(&array.res.array.array, &floats, SIDE, SIDE));
    CUDA(cudaMemcpy2DToArray(array.res.array.array, 0, 0, idata, SIDE * sizeof(float), SIDE * sizeof(float), SIDE,
                             cudaMemcpyDeviceToDevice));
    const cudaTextureObject_t of_linear = texture_of(idata, bytes, floats), of_array = texture_of(array);

    printf("date_utc,machine,cuda_driver,path,width,height,type,time_ms,spread_percent,bandwidth_gbs\n");
    const auto report = [&](const char* path, auto kernel, auto from) {
        CUDA(cudaMemset(odata, 0xff, bytes));
        const harness::Summary s =
            seconds([&] { kernel<<<dim3(SIDE / 32, SIDE / 32), dim3(32, 32)>>>(odata, from, SIDE, SIDE); });
        if (const auto wrong = wrong_elements(odata, SIDE, SIDE, n)) {
            fprintf(stderr, "readonly: %s: %llu elements are wrong\n", path, wrong);
            exit(harness::status_wrong_result);
        }
        printf("%s,%s,%d,%d,float,%.4f,%.1f,%.1f\n", card.c_str(), path, SIDE, SIDE, s.median * 1e3, 100 * s.spread,
               2e-9 * bytes / s.median);
    };
    const float* const in = idata;
    report("plain", plain, in);
    report("__ldg()", ldg, in);
    report("__restrict__", restricted, in);
    report("texture; linear memory", textureLinear, of_linear);
    report("texture; CUDA array", textureArray, of_array);
    return 0;
}
