//// interleaved: the lesson's order, neighbouring blocks store to different GPUs
@transposeExchange
{
    __shared__ T tile[32][32];
    const int peer = (blockIdx.x + me) % gpus;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    const int left = columns + blockIdx.x / gpus * 32, top = rows + blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (left + int(threadIdx.x) < columns_end && top + r < rows_end)
            tile[r][threadIdx.x ^ r] = idata[size_t(top + r - rows) * width + left + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (top + int(threadIdx.x) < rows_end && left + r < columns_end)
            odata.part[peer][size_t(left + r - columns) * height + top + threadIdx.x] =
                tile[threadIdx.x][r ^ threadIdx.x];
}
@launchExchange
{
    const int columns = (width + gpus - 1) / gpus, rows = (height + gpus - 1) / gpus;
    transposeExchange<T>
        <<<dim3(gpus * ((columns + 31) / 32), (rows + 31) / 32), dim3(32, 8)>>>(odata, idata, width, height, me, gpus);
}
//// vectors: sixteen bytes cross with each store, where rows are aligned to that
template <typename T>
struct alignas(16) Piece {
    T element[16 / sizeof(T)];
};
@transposeExchange
{
    constexpr int N = 16 / sizeof(T);
    __shared__ T tile[32][32];
    const int peer = (me + 1 + blockIdx.z) % gpus;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    const int left = columns + blockIdx.x * 32, top = rows + blockIdx.y * 32, tid = threadIdx.y * 32 + threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (left + int(threadIdx.x) < columns_end && top + r < rows_end)
            tile[r][threadIdx.x ^ r] = idata[size_t(top + r - rows) * width + left + threadIdx.x];
    __syncthreads();
    if (height % N == 0 && rows % N == 0 && top + 32 <= rows_end) {
        for (int i = tid; i < 1024 / N; i += 256) {
            const int r = i / (32 / N), x = i % (32 / N) * N;
            if (left + r >= columns_end) continue;
            Piece<T> piece;
            for (int k = 0; k < N; ++k) piece.element[k] = tile[x + k][r ^ (x + k)];
            *reinterpret_cast<Piece<T>*>(&odata.part[peer][size_t(left + r - columns) * height + top + x]) = piece;
        }
    } else {
        for (int r = threadIdx.y; r < 32; r += 8)
            if (top + int(threadIdx.x) < rows_end && left + r < columns_end)
                odata.part[peer][size_t(left + r - columns) * height + top + threadIdx.x] =
                    tile[threadIdx.x][r ^ threadIdx.x];
    }
}
