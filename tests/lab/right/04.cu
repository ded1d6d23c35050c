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
//// hoisted: the guards in front of the loops, the barrier between
@transposeSwizzledTall
{
    __shared__ T tile[32][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < width)
        for (int j = 0; j < 32; j += 16)
            if (y + j < height)
                tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j) / 2] = idata[size_t(y + j) * width + x];
    __syncthreads();
    int tid = threadIdx.y * 16 + threadIdx.x, col = tid % 32, row = tid / 32;
    x = blockIdx.y * 32 + col;
    y = blockIdx.x * 16 + row;
    if (x < height)
        for (int j = 0; j < 16; j += 8)
            if (y + j < width) odata[size_t(y + j) * height + x] = tile[col][(row + j) ^ col / 2];
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
//// by_words: one array of 512, the place of an element by its number
#define PLACE(r, c) ((r) * 16 + ((c) ^ ((r) / 2)))
template <class T>
__global__ void transposeSwizzledTall(T* __restrict__ odata, const T* __restrict__ idata, const int width,
                                      const int height)
{
    __shared__ T tile[32 * 16];
    const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 16 + tx;
    for (int r = ty; r < 32; r += 16)
        if (blockIdx.x * 16 + tx < width && blockIdx.y * 32 + r < height)
            tile[PLACE(r, tx)] = idata[(size_t)(blockIdx.y * 32 + r) * width + blockIdx.x * 16 + tx];
    __syncthreads();
    for (int c = tid / 32; c < 16; c += 8)
        if (blockIdx.y * 32 + tid % 32 < height && blockIdx.x * 16 + c < width)
            odata[(size_t)(blockIdx.x * 16 + c) * height + blockIdx.y * 32 + tid % 32] = tile[PLACE(tid % 32, c)];
}
//// whole: 512 threads, each moves one element
@transposeSwizzledTall
{
    __shared__ T tile[32][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x ^ threadIdx.y / 2] = idata[size_t(y) * width + x];
    __syncthreads();
    int tid = threadIdx.y * 16 + threadIdx.x, r = tid % 32, c = tid / 32;
    if (blockIdx.x * 16 + c < width && blockIdx.y * 32 + r < height)
        odata[size_t(blockIdx.x * 16 + c) * height + blockIdx.y * 32 + r] = tile[r][c ^ r / 2];
}
@launchSwizzledTall
{
    transposeSwizzledTall<T>
        <<<dim3((width + 15) / 16, (height + 31) / 32), dim3(16, 32)>>>(odata, idata, width, height);
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
//// lambda: the place by a lambda, two barriers where one would do
@transposeSwizzledTall
{
    __shared__ T tile[32][16];
    auto swizzle = [](int r, int c) { return c ^ (r >> 1); };
    T held[2];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 2; ++k)
        held[k] = x < width && y + 16 * k < height ? idata[size_t(y + 16 * k) * width + x] : T();
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2; ++k) tile[threadIdx.y + 16 * k][swizzle(threadIdx.y + 16 * k, threadIdx.x)] = held[k];
    __syncthreads();
    int tid = threadIdx.y * 16 + threadIdx.x, col = tid % 32, row = tid / 32;
    x = blockIdx.y * 32 + col;
    y = blockIdx.x * 16 + row;
    for (int j = 0; j < 16; j += 8)
        if (x < height && y + j < width) odata[size_t(y + j) * height + x] = tile[col][swizzle(col, row + j)];
}
//// mirrored: from r / 2 backwards
@transposeSwizzledTall
{
    __shared__ T tile[32][16];
    for (int r = threadIdx.y, x = blockIdx.x * 16 + threadIdx.x; r < 32 && x < width; r += blockDim.y)
        if (blockIdx.y * 32 + r < height)
            tile[r][(r / 2 - int(threadIdx.x)) & 15] = idata[size_t(blockIdx.y * 32 + r) * width + x];
    __syncthreads();
    const int tid = threadIdx.y * 16 + threadIdx.x, r = tid & 31, y = blockIdx.y * 32 + r;
    for (int c = tid >> 5; c < 16; c += 8)
        if (y < height && blockIdx.x * 16 + c < width)
            odata[size_t(blockIdx.x * 16 + c) * height + y] = tile[r][(r / 2 - c) & 15];
}
