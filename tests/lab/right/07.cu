//// flat: the matrix is one row of vectors
template <typename T>
struct alignas(16) Sixteen {
    T part[16 / sizeof(T)];
};
template <typename T>
__global__ void copyVectorized(T* odata, const T* idata, size_t vectors)
{
    __shared__ Sixteen<T> tile[256];
    size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < vectors) tile[threadIdx.x] = ((const Sixteen<T>*)idata)[i];
    __syncthreads();
    if (i < vectors) ((Sixteen<T>*)odata)[i] = tile[threadIdx.x];
}
template <typename T>
__global__ void copyElements(T* odata, const T* idata, size_t elements)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < elements) odata[i] = idata[i];
}
@launchVectorized
{
    size_t elements = size_t(width) * height, vectors = elements * sizeof(T) / 16;
    if (elements * sizeof(T) % 16 == 0)
        copyVectorized<T><<<unsigned((vectors + 255) / 256), 256>>>(odata, idata, vectors);
    else copyElements<T><<<unsigned((elements + 255) / 256), 256>>>(odata, idata, elements);
}
//// float4: CUDA's own vector, whatever the elements are
@copyVectorized
{
    __shared__ float4 tile[32][32];
    const int per = 16 / sizeof(T);
    int x = (blockIdx.x * 32 + threadIdx.x) * per, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = *(const float4*)&idata[size_t(y + j) * width + x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height)
            *(float4*)&odata[size_t(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x];
}
@copyElements
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height) odata[size_t(y + j) * width + x] = idata[size_t(y + j) * width + x];
}
@launchVectorized
{
    dim3 block(32, 8);
    if (width * sizeof(T) % 16 == 0)
        copyVectorized<T>
            <<<dim3((width * sizeof(T) / 16 + 31) / 32, (height + 31) / 32), block>>>(odata, idata, width, height);
    else copyElements<T><<<dim3((width + 31) / 32, (height + 31) / 32), block>>>(odata, idata, width, height);
}
//// tile_of_elements: the tile is of T, and reached by vectors
template <typename T>
struct alignas(16) Vector {
    T element[16 / sizeof(T)];
};
@copyVectorized
{
    constexpr int N = 16 / sizeof(T);
    __shared__ alignas(16) T tile[8][32 * N];
    int x = (blockIdx.x * 32 + threadIdx.x) * N, y = blockIdx.y * 8 + threadIdx.y;
    Vector<T>* place = reinterpret_cast<Vector<T>*>(&tile[threadIdx.y][threadIdx.x * N]);
    if (x < width && y < height) *place = *reinterpret_cast<const Vector<T>*>(&idata[size_t(y) * width + x]);
    __syncthreads();
    if (x < width && y < height) *reinterpret_cast<Vector<T>*>(&odata[size_t(y) * width + x]) = *place;
}
@copyElements
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < width && y < height) odata[size_t(y) * width + x] = idata[size_t(y) * width + x];
}
@launchVectorized
{
    dim3 block(32, 8);
    bool whole = width % int(16 / sizeof(T)) == 0;
    dim3 grid(((whole ? width / int(16 / sizeof(T)) : width) + 31) / 32, (height + 7) / 8);
    if (whole) copyVectorized<T><<<grid, block>>>(odata, idata, width, height);
    else copyElements<T><<<grid, block>>>(odata, idata, width, height);
}
//// walking: a fixed number of blocks walks over the tiles
template <class T>
struct alignas(16) Pack {
    T e[16 / sizeof(T)];
};
template <class T>
__global__ void copyVectorized(T* __restrict__ out, const T* __restrict__ in, int width, int height)
{
    __shared__ Pack<T> tile[8][32];
    const int n = 16 / sizeof(T);
    for (int y0 = blockIdx.y * 8; y0 < height; y0 += gridDim.y * 8) {
        const int x = (blockIdx.x * 32 + threadIdx.x) * n, y = y0 + threadIdx.y;
        const size_t at = (size_t)y * width + x;
        if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = *(const Pack<T>*)(in + at);
        __syncthreads();
        if (x < width && y < height) *(Pack<T>*)(out + at) = tile[threadIdx.y][threadIdx.x];
    }
}
template <class T>
__global__ void copyElements(T* out, const T* in, int width, int height)
{
    for (int y = blockIdx.y * 8 + threadIdx.y, x = blockIdx.x * 32 + threadIdx.x; y < height && x < width;
         y += gridDim.y * 8)
        out[(size_t)y * width + x] = in[(size_t)y * width + x];
}
template <class T>
void launchVectorized(T* out, const T* in, int width, int height)
{
    const int n = 16 / sizeof(T), tall = min(16, (height + 7) / 8);
    if (width % n == 0) copyVectorized<T><<<dim3((width / n + 31) / 32, tall), dim3(32, 8)>>>(out, in, width, height);
    else copyElements<T><<<dim3((width + 31) / 32, tall), dim3(32, 8)>>>(out, in, width, height);
}
