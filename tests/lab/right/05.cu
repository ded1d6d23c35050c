//// rotated: by r instead of ^
@turnTiles
{
    __shared__ T tile[64][64];
    int x0 = blockIdx.x * 64, y0 = blockIdx.y * 64, x = x0 + threadIdx.x;
    for (int r = threadIdx.y; r < 64; r += 4)
        if (x < width && y0 + r < height) tile[r][(threadIdx.x + r) % 64] = idata[size_t(y0 + r) * width + x];
    __syncthreads();
    for (int r = threadIdx.y; r < 64; r += 4)
        if (x < width && y0 + r < height) {
            bool turned = x0 + r < width && y0 + int(threadIdx.x) < height;
            int from = turned ? threadIdx.x : r, at = turned ? r : threadIdx.x;
            odata[size_t(y0 + r) * width + x] = tile[from][(at + from) % 64];
        }
}
//// flat: 256 threads in a row
@turnTiles
{
    __shared__ T tile[64 * 64];
    auto inside = [=](int r, int c) { return blockIdx.x * 64 + c < width && blockIdx.y * 64 + r < height; };
    auto index = [=](int r, int c) { return size_t(blockIdx.y * 64 + r) * width + blockIdx.x * 64 + c; };
    for (int i = threadIdx.x; i < 4096; i += 256) {
        int r = i / 64, c = i % 64;
        if (inside(r, c)) tile[r * 64 + (c ^ r)] = idata[index(r, c)];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += 256) {
        int r = i / 64, c = i % 64;
        if (inside(r, c)) odata[index(r, c)] = inside(c, r) ? tile[c * 64 + (r ^ c)] : tile[r * 64 + (c ^ r)];
    }
}
@launchTurnTiles
{
    turnTiles<T><<<dim3((width + 63) / 64, (height + 63) / 64), 256>>>(odata, idata, width, height);
}
//// banks_only: rotated within 32 banks
template <typename T>
__device__ __forceinline__ int swizzled(int r, int c) { return (c & 32) | ((c + r) & 31); }
@turnTiles
{
    __shared__ T tile[64][64];
    for (int r = threadIdx.y; r < 64; r += blockDim.y) {
        int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 64 + r;
        if (x < width && y < height) tile[r][swizzled<T>(r, threadIdx.x)] = idata[size_t(y) * width + x];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < 64; r += blockDim.y) {
        int c = threadIdx.x, x = blockIdx.x * 64 + c, y = blockIdx.y * 64 + r, mx = blockIdx.x * 64 + r,
            my = blockIdx.y * 64 + c;
        if (x < width && y < height) {
            if (mx < width && my < height) odata[size_t(y) * width + x] = tile[c][swizzled<T>(c, r)];
            else odata[size_t(y) * width + x] = tile[r][swizzled<T>(r, c)];
        }
    }
}
