//// anti: against the diagonal, down it
@transposeDiagonalLoop
{
    __shared__ T tile[32][33];
    const int wide = (width + 31) / 32, high = (height + 31) / 32, tiles = wide * high;
    for (int i = blockIdx.y * gridDim.x + blockIdx.x; i < tiles; i += gridDim.x * gridDim.y) {
        const int by = i % high, bx = (i / high + wide - by % wide) % wide;
        const int x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y, to_x = by * 32 + threadIdx.x,
                  to_y = bx * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8)
            if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];
        __syncthreads();
        for (int j = 0; j < 32; j += 8)
            if (to_x < height && to_y + j < width)
                odata[size_t(to_y + j) * height + to_x] = tile[threadIdx.x][threadIdx.y + j];
        __syncthreads();
    }
}
//// whitepaper: as the whitepaper has it
@transposeDiagonalLoop
{
    __shared__ T tile[32][33];
    const int wide = (width + 31) / 32, high = (height + 31) / 32, tiles = wide * high;
    for (int i = blockIdx.y * gridDim.x + blockIdx.x; i < tiles; i += gridDim.x * gridDim.y) {
        int bx, by;
        if (wide == high) {
            by = i % wide;
            bx = (i / wide + by) % wide;
        } else {
            by = i % high;
            bx = (i / high + by) % wide;
        }
        const int x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y, to_x = by * 32 + threadIdx.x,
                  to_y = bx * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8)
            if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];
        __syncthreads();
        for (int j = 0; j < 32; j += 8)
            if (to_x < height && to_y + j < width)
                odata[size_t(to_y + j) * height + to_x] = tile[threadIdx.x][threadIdx.y + j];
        __syncthreads();
    }
}
//// two_tiles: two tiles of shared memory take turns, with one barrier for each
@transposeDiagonalLoop
{
    __shared__ T tiles[2][32][33];
    const int wide = (width + 31) / 32, high = (height + 31) / 32;
    int turn = 0;
    for (int i = blockIdx.y * gridDim.x + blockIdx.x; i < wide * high; i += gridDim.x * gridDim.y, turn ^= 1) {
        auto& tile = tiles[turn];
        const int by = i % high, bx = (i / high + by) % wide;
        for (int r = threadIdx.y; r < 32; r += 8)
            if (bx * 32 + threadIdx.x < width && by * 32 + r < height)
                tile[r][threadIdx.x] = idata[size_t(by * 32 + r) * width + bx * 32 + threadIdx.x];
        __syncthreads();
        for (int r = threadIdx.y; r < 32; r += 8)
            if (by * 32 + threadIdx.x < height && bx * 32 + r < width)
                odata[size_t(bx * 32 + r) * height + by * 32 + threadIdx.x] = tile[threadIdx.x][r];
    }
}
//// swizzled: no padding, a tile of 32 x 32
@transposeDiagonalLoop
{
    __shared__ T tile[32][32];
    const int wide = (width + 31) / 32, high = (height + 31) / 32;
    for (int i = blockIdx.y * gridDim.x + blockIdx.x; i < wide * high; i += gridDim.x * gridDim.y) {
        const int by = i % high, bx = (i / high + by) % wide, c = threadIdx.x;
        const bool in = bx * 32 + c < width, out = by * 32 + c < height;
        for (int r = threadIdx.y; r < 32; r += 8)
            if (in && by * 32 + r < height) tile[r][c ^ r] = idata[size_t(by * 32 + r) * width + bx * 32 + c];
        __syncthreads();
        for (int r = threadIdx.y; r < 32; r += 8)
            if (out && bx * 32 + r < width) odata[size_t(bx * 32 + r) * height + by * 32 + c] = tile[c][r ^ c];
        __syncthreads();
    }
}
