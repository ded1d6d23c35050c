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
