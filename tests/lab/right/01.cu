//// lines: rows begin at lines of 128 bytes
@copyAligned
{
    constexpr int LINE = 128 / sizeof(T);
    for (int j = 0; j < 32; j += 8) {
        int y = blockIdx.y * 32 + threadIdx.y + j;
        int late = size_t(y) * width % LINE;
        int x = int(blockIdx.x * 32 + threadIdx.x) - late;
        if (x >= 0 && x < width && y < height) odata[size_t(y) * width + x] = idata[size_t(y) * width + x];
    }
}
@launchAligned
{
    dim3 grid((width + 128 / sizeof(T) - 1 + 31) / 32, (height + 31) / 32), block(32, 8);
    copyAligned<T><<<grid, block>>>(odata, idata, width, height);
}
//// warp_per_row: one warp walks along a row
@copyAligned
{
    int y = blockIdx.x * blockDim.y + threadIdx.y;
    if (y >= height) return;
    size_t row = size_t(y) * width;
    int late = row % (32 / sizeof(T));
#pragma unroll 1
    for (int x = int(threadIdx.x) - late; x < width; x += 32)
        if (x >= 0) odata[row + x] = idata[row + x];
}
@launchAligned
{
    copyAligned<T><<<(height + 7) / 8, dim3(32, 8)>>>(odata, idata, width, height);
}
//// flat: the matrix is one row
template <typename T>
__global__ void copyAligned(T* odata, const T* idata, size_t elements)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < elements) odata[i] = idata[i];
}
@launchAligned
{
    size_t elements = size_t(width) * height;
    copyAligned<<<unsigned((elements + 255) / 256), 256>>>(odata, idata, elements);
}
//// helper: a function finds where a row's warps begin
template <class T>
__device__ __forceinline__ int shift(const int row, const int width)
{
    enum { sector = 32 / sizeof(T) };
    return (size_t)row * width % sector;
}
template <class T>
__global__ void copyAligned(T* __restrict__ odata, const T* __restrict__ idata, int width, int height)
{
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < height) {
        int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) - shift<T>(y, width);
        if (x >= 0 && x < width) odata[(size_t)y * width + x] = __ldg(&idata[(size_t)y * width + x]);
    }
}
template <class T>
void launchAligned(T* odata, const T* idata, int width, int height)
{
    dim3 block(64, 4), grid((width + 7 + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    copyAligned<T><<<grid, block>>>(odata, idata, width, height);
}
//// address: the boundary is found from the address itself
@copyAligned
{
    for (int y = blockIdx.y * 32 + threadIdx.y, j = 0; j < 4; ++j, y += 8) {
        if (y >= height) break;
        const T* row = &idata[size_t(y) * width];
        int late = (reinterpret_cast<uintptr_t>(row) & 31) / sizeof(T);
        int x = int(blockIdx.x * 32 + threadIdx.x) - late;
        if (x >= 0 && x < width) odata[size_t(y) * width + x] = row[x];
    }
}
@launchAligned
{
    copyAligned<T><<<dim3((width + 7 + 31) / 32, (height + 31) / 32), dim3(32, 8)>>>(odata, idata, width, height);
}
