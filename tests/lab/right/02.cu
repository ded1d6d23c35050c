//// columns_4x8: the block alone, not turned
@transposePatches
{
    int x = blockIdx.x * 4 + threadIdx.x;
    int y = blockIdx.y * 8 + threadIdx.y;
    if (x < width && y < height) odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}
@launchPatches
{
    transposePatches<T><<<dim3((width + 3) / 4, (height + 7) / 8), dim3(4, 8)>>>(odata, idata, width, height);
}
//// columns_4x32: four such patches, one below the other
@transposePatches
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}
@launchPatches
{
    dim3 block(4, 32);
    transposePatches<T><<<dim3((width + 3) / 4, (height + 31) / 32), block>>>(odata, idata, width, height);
}
//// rows_8x16: turned, in blocks of 8 x 16
constexpr int BLOCK_X = 8, BLOCK_Y = 16;
@transposePatches
{
    int x = blockIdx.y * BLOCK_Y + threadIdx.y;
    int y = blockIdx.x * BLOCK_X + threadIdx.x;
    if (y >= height) return;
    if (x < width) odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}
@launchPatches
{
    transposePatches<T>
        <<<dim3((height + BLOCK_X - 1) / BLOCK_X, (width + BLOCK_Y - 1) / BLOCK_Y), dim3(BLOCK_X, BLOCK_Y)>>>(
            odata, idata, width, height);
}
//// grid_stride: a fixed grid walks over the patches
@transposePatches
{
    for (int by = blockIdx.y; by * 8 < height; by += gridDim.y)
        for (int bx = blockIdx.x; bx * 32 < width; bx += gridDim.x) {
            const int y = by * 8 + threadIdx.x, x = bx * 32 + threadIdx.y;
            if (x < width && y < height) odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
        }
}
@launchPatches
{
    transposePatches<T><<<dim3(4, 8), dim3(8, 32)>>>(odata, idata, width, height);
}
//// shuffles: a warp turns its patch in registers, 4 sectors on both sides
@transposePatches
{
    // A warp has 32 rows of 32 columns, a register of each lane for each row, and exchanges them in five rounds.
    const int lane = threadIdx.x, x = blockIdx.x * 32, y = blockIdx.y * 32;
    T held[32];
#pragma unroll
    for (int r = 0; r < 32; ++r)
        if (x + lane < width && y + r < height) held[r] = idata[size_t(y + r) * width + x + lane];
        else held[r] = T();
#pragma unroll
    for (int side = 16; side; side /= 2)
#pragma unroll
        for (int r = 0; r < 32; ++r)
            if (!(r & side)) {
                const bool low = !(lane & side);
                const T kept = low ? held[r] : held[r + side], given = low ? held[r + side] : held[r];
                const T got = __shfl_xor_sync(0xffffffffu, given, side);
                held[r] = low ? kept : got;
                held[r + side] = low ? got : kept;
            }
#pragma unroll
    for (int r = 0; r < 32; ++r)
        if (y + lane < height && x + r < width) odata[size_t(x + r) * height + y + lane] = held[r];
}
@launchPatches
{
    transposePatches<T><<<dim3((width + 31) / 32, (height + 31) / 32), 32>>>(odata, idata, width, height);
}
