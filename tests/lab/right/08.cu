//// diagonal: step 6's order of the blocks, and tiles of 32 x 32
@transposeFast
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    int wide = gridDim.x, high = gridDim.y, number = blockIdx.y * wide + blockIdx.x;
    int by = number % high, bx = (number / high + by) % wide;
    int x = bx * TILE_DIM + threadIdx.x, y = by * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];
    __syncthreads();
    x = by * TILE_DIM + threadIdx.x, y = bx * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width) odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
//// swizzled_columns: a swizzle instead of the padding, blocks in one dimension
template <typename T>
__global__ void transposeFast(T* odata, const T* idata, int width, int height, int high)
{
    __shared__ T tile[32][32];
    int top = blockIdx.x % high * 32, left = blockIdx.x / high * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (left + threadIdx.x < width && top + j < height)
            tile[j][threadIdx.x ^ j] = idata[size_t(top + j) * width + left + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8)
        if (top + threadIdx.x < height && left + j < width)
            odata[size_t(left + j) * height + top + threadIdx.x] = tile[threadIdx.x][j ^ threadIdx.x];
}
@launchFast
{
    int wide = (width + 31) / 32, high = (height + 31) / 32;
    transposeFast<T><<<wide * high, dim3(32, 8)>>>(odata, idata, width, height, high);
}
//// down_columns: step 4's tile; the grid has its sides exchanged
@transposeFast
{
    __shared__ T tile[32][33];
    int x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];
    __syncthreads();
    x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width) odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
@launchFast
{
    transposeFast<T><<<dim3((height + 31) / 32, (width + 31) / 32), dim3(32, 8)>>>(odata, idata, width, height);
}
