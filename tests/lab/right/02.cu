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
//// counted: registers by an index that counts in the body of the loop
@transposePatches
{
    T r[8];
    int n = 0;
    int c = blockIdx.x * 8 + threadIdx.x, y0 = blockIdx.y * 128 + threadIdx.y;
    for (int j = 0; j < 128; j += 16) {
        if (c < height && y0 + j < width) r[n] = idata[(size_t)c * width + y0 + j];
        n++;
    }
    n = 0;
    for (int j = 0; j < 128; j += 16) {
        if (c < height && y0 + j < width) odata[(size_t)(y0 + j) * height + c] = r[n];
        n++;
    }
}
@launchPatches
{
    transposePatches<T><<<dim3((height + 7) / 8, (width + 127) / 128), dim3(8, 16)>>>(odata, idata, width, height);
}
//// butterfly: shuffles between 32 registers, in loops that nvcc unrolls
@transposePatches
{
    const int lane = threadIdx.x, x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
    T a[32];
#pragma unroll
    for (int r = 0; r < 32; r++) {
        a[r] = T();
        if (x0 + lane < width && y0 + r < height) a[r] = idata[size_t(y0 + r) * width + x0 + lane];
    }
#pragma unroll
    for (int s = 16; s > 0; s /= 2) {
#pragma unroll
        for (int i = 0; i < 32; i++) {
            if ((i & s) == 0) {
                bool up = (lane & s) != 0;
                T mine = up ? a[i] : a[i + s];
                T other = __shfl_xor_sync(0xffffffff, mine, s);
                if (up) a[i] = other; else a[i + s] = other;
            }
        }
    }
#pragma unroll
    for (int c = 0; c < 32; c++)
        if (x0 + c < width && y0 + lane < height) odata[size_t(x0 + c) * height + y0 + lane] = a[c];
}
@launchPatches
{
    transposePatches<T><<<dim3((width + 31) / 32, (height + 31) / 32), dim3(32, 1)>>>(odata, idata, width, height);
}
//// butterfly_of_steps: each step is a template
template <int S, typename T>
__device__ __forceinline__ void step(T (&a)[32], int lane)
{
    const bool up = lane & S;
#pragma unroll
    for (int i = 0; i < 32; i++)
        if (!(i & S)) {
            T got = __shfl_xor_sync(0xffffffff, up ? a[i] : a[i + S], S);
            if (up) a[i] = got; else a[i + S] = got;
        }
}
@transposePatches
{
    const int lane = threadIdx.x, x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
    T a[32];
#pragma unroll
    for (int r = 0; r < 32; r++) {
        a[r] = T();
        if (x0 + lane < width && y0 + r < height) a[r] = idata[size_t(y0 + r) * width + x0 + lane];
    }
    step<16>(a, lane); step<8>(a, lane); step<4>(a, lane); step<2>(a, lane); step<1>(a, lane);
#pragma unroll
    for (int c = 0; c < 32; c++)
        if (x0 + c < width && y0 + lane < height) odata[size_t(x0 + c) * height + y0 + lane] = a[c];
}
@launchPatches
{
    transposePatches<T><<<dim3((width + 31) / 32, (height + 31) / 32), dim3(32, 1)>>>(odata, idata, width, height);
}
