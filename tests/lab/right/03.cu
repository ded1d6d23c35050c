//// flat: 256 threads in a row, numbered anew on both sides
@transposeHalfTile
{
    __shared__ T tile[16][32];
    for (int i = threadIdx.x; i < 512; i += 256) {
        int r = i / 32, c = i % 32, x = blockIdx.x * 32 + c, y = blockIdx.y * 16 + r;
        if (x < width && y < height) tile[r][c] = idata[size_t(y) * width + x];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256) {
        int r = i % 16, c = i / 16, x = blockIdx.x * 32 + c, y = blockIdx.y * 16 + r;
        if (x < width && y < height) odata[size_t(x) * height + y] = tile[r][c];
    }
}
@launchHalfTile
{
    transposeHalfTile<T><<<dim3((width + 31) / 32, (height + 15) / 16), 256>>>(odata, idata, width, height);
}
//// turned_tile: the tile is filled turned, and emptied by rows
@transposeHalfTile
{
    __shared__ T turned[32][16];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 8)
        if (x < width && y + j < height) turned[threadIdx.x][threadIdx.y + j] = idata[size_t(y + j) * width + x];
    __syncthreads();
    const int tid = threadIdx.y * 32 + threadIdx.x, c = tid % 16, r = tid / 16;
    for (int j = 0; j < 32; j += 16)
        if (blockIdx.x * 32 + r + j < unsigned(width) && blockIdx.y * 16 + c < unsigned(height))
            odata[size_t(blockIdx.x * 32 + r + j) * height + blockIdx.y * 16 + c] = turned[r + j][c];
}
@launchHalfTile
{
    transposeHalfTile<T><<<dim3((width + 31) / 32, (height + 15) / 16), dim3(32, 8)>>>(odata, idata, width, height);
}
//// dynamic: shared memory by the launch
@transposeHalfTile
{
    extern __shared__ char memory[];
    T* tile = reinterpret_cast<T*>(memory);
    for (int j = threadIdx.y; j < 16; j += 8) {
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + j;
        if (x < width && y < height) tile[j * 32 + threadIdx.x] = idata[size_t(y) * width + x];
    }
    __syncthreads();
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 512; i += 256) {
        int x = blockIdx.x * 32 + i / 16, y = blockIdx.y * 16 + i % 16;
        if (x < width && y < height) odata[size_t(x) * height + y] = tile[i % 16 * 32 + i / 16];
    }
}
@launchHalfTile
{
    transposeHalfTile<T>
        <<<dim3((width + 31) / 32, (height + 15) / 16), dim3(32, 8), 512 * sizeof(T)>>>(odata, idata, width, height);
}
//// swizzled: and no conflicts either
template <typename T>
__device__ T& at(T (&tile)[16][32], int r, int c) { return tile[r][(c + 2 * r) % 32]; }
@transposeHalfTile
{
    __shared__ T tile[16][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 8)
        if (x < width && y + j < height) at(tile, threadIdx.y + j, threadIdx.x) = idata[size_t(y + j) * width + x];
    __syncthreads();
    int tid = threadIdx.y * 32 + threadIdx.x;
    for (int j = 0; j < 32; j += 16) {
        int c = tid / 16 + j, r = tid % 16;
        if (blockIdx.x * 32 + c < width && blockIdx.y * 16 + r < height)
            odata[size_t(blockIdx.x * 32 + c) * height + blockIdx.y * 16 + r] = at(tile, r, c);
    }
}
@launchHalfTile
{
    transposeHalfTile<T><<<dim3((width + 31) / 32, (height + 15) / 16), dim3(32, 8)>>>(odata, idata, width, height);
}
