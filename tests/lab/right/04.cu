//// rotated: by r / 2 instead of ^
@transposeSwizzledTall
{
    __shared__ T tile[32][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 16)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][(threadIdx.x + (threadIdx.y + j) / 2) % 16] = idata[size_t(y + j) * width + x];
    __syncthreads();
    int tid = threadIdx.y * 16 + threadIdx.x, col = tid % 32, row = tid / 32;
    x = blockIdx.y * 32 + col;
    y = blockIdx.x * 16 + row;
    for (int j = 0; j < 16; j += 8)
        if (x < height && y + j < width) odata[size_t(y + j) * height + x] = tile[col][(row + j + col / 2) % 16];
}
//// flat: 256 threads in a row
template <typename T>
__device__ T& place(T (&tile)[512], int r, int c)
{
    return tile[r * 16 + ((c ^ (r >> 1)) & 15)];
}
@transposeSwizzledTall
{
    __shared__ T tile[512];
    const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 32;
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        if (x0 + i % 16 < width && y0 + i / 16 < height)
            place(tile, i / 16, i % 16) = idata[size_t(y0 + i / 16) * width + x0 + i % 16];
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        if (x0 + i / 32 < width && y0 + i % 32 < height)
            odata[size_t(x0 + i / 32) * height + y0 + i % 32] = place(tile, i % 32, i / 32);
}
@launchSwizzledTall
{
    transposeSwizzledTall<T><<<dim3((width + 15) / 16, (height + 31) / 32), 256>>>(odata, idata, width, height);
}
//// turned: the tile is stored turned, 16 rows of 32
@transposeSwizzledTall
{
    __shared__ T turned[16][32];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 16)
        if (x < width && y + j < height)
            turned[threadIdx.x][(threadIdx.y + j + 2 * threadIdx.x) % 32] = idata[size_t(y + j) * width + x];
    __syncthreads();
    int tid = threadIdx.y * 16 + threadIdx.x, r = tid % 32;
    for (int c = tid / 32; c < 16; c += 8)
        if (blockIdx.y * 32 + r < height && blockIdx.x * 16 + c < width)
            odata[size_t(blockIdx.x * 16 + c) * height + blockIdx.y * 32 + r] = turned[c][(r + 2 * c) % 32];
}
//// struct_tile: the tile is an object with a function
template <typename T>
struct Tile {
    T element[32][16];
    __device__ T& operator()(int r, int c) { return element[r][c ^ r / 2]; }
};
@transposeSwizzledTall
{
    __shared__ Tile<T> tile;
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 16)
        if (x < width && y + j < height) tile(threadIdx.y + j, threadIdx.x) = idata[size_t(y + j) * width + x];
    __syncthreads();
    int tid = threadIdx.y * 16 + threadIdx.x, col = tid % 32, row = tid / 32;
    x = blockIdx.y * 32 + col;
    y = blockIdx.x * 16 + row;
    for (int j = 0; j < 16; j += 8)
        if (x < height && y + j < width) odata[size_t(y + j) * height + x] = tile(col, row + j);
}
