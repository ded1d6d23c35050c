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
//// backwards: its own rows first, then those of the GPU before
@transposeExchange
{
    __shared__ T tile[TILE_DIM][TILE_DIM];
    const int peer = (me + gpus - int(blockIdx.z)) % gpus;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    const int left = columns + blockIdx.x * TILE_DIM, top = rows + blockIdx.y * TILE_DIM;
    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (left + int(threadIdx.x) < columns_end && top + r < rows_end)
            tile[r][threadIdx.x ^ r] = idata[size_t(top + r - rows) * width + left + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (top + int(threadIdx.x) < rows_end && left + r < columns_end)
            odata.part[peer][size_t(left + r - columns) * height + top + threadIdx.x] =
                tile[threadIdx.x][r ^ threadIdx.x];
}
//// line_of_blocks: one index for all blocks and one for all threads
@transposeExchange
{
    __shared__ T tile[1024];
    const int across = ((width + gpus - 1) / gpus + 31) / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int peer = (int(blockIdx.x) + me) % gpus, i = blockIdx.x / gpus;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    const int left = columns + i % across * 32, top = rows + i / across * 32;
    for (int r = warp; r < 32; r += 8)
        if (left + lane < columns_end && top + r < rows_end)
            tile[32 * r + (lane ^ r)] = idata[size_t(top + r - rows) * width + left + lane];
    __syncthreads();
    for (int r = warp; r < 32; r += 8)
        if (top + lane < rows_end && left + r < columns_end)
            odata.part[peer][size_t(left + r - columns) * height + top + lane] = tile[32 * lane + (r ^ lane)];
}
@launchExchange
{
    const int across = ((width + gpus - 1) / gpus + 31) / 32, down = ((height + gpus - 1) / gpus + 31) / 32;
    transposeExchange<T><<<gpus * across * down, 256>>>(odata, idata, width, height, me, gpus);
}
//// tile_16: tiles of 16 x 16, rows of two sectors
@transposeExchange
{
    __shared__ T tile[16][16];
    const int peer = (me + 1 + blockIdx.z) % gpus;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    const int left = columns + blockIdx.x * 16, top = rows + blockIdx.y * 16, tx = threadIdx.x, ty = threadIdx.y;
    if (left + tx < columns_end && top + ty < rows_end)
        tile[ty][tx ^ ty] = idata[size_t(top + ty - rows) * width + left + tx];
    __syncthreads();
    if (top + tx < rows_end && left + ty < columns_end)
        odata.part[peer][size_t(left + ty - columns) * height + top + tx] = tile[tx][ty ^ tx];
}
@launchExchange
{
    const int columns = (width + gpus - 1) / gpus, rows = (height + gpus - 1) / gpus;
    dim3 grid((columns + 15) / 16, (rows + 15) / 16, gpus), block(16, 16);
    transposeExchange<T><<<grid, block>>>(odata, idata, width, height, me, gpus);
}
//// registers: a warp transposes 32 x 32 elements by shuffles, without shared memory
@transposeExchange
{
    const int peer = (me + 1 + blockIdx.z) % gpus, lane = threadIdx.x;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    const int left = columns + blockIdx.x * 32, top = rows + blockIdx.y * 32;
    T v[32];
    for (int r = 0; r < 32; ++r)
        v[r] =
            left + lane < columns_end && top + r < rows_end ? idata[size_t(top + r - rows) * width + left + lane] : T();
    for (int m = 16; m > 0; m /= 2)
        for (int i = 0; i < 32; ++i)
            if (!(i & m)) {
                const bool upper = lane & m;
                const T got = __shfl_xor_sync(0xffffffff, upper ? v[i] : v[i + m], m);
                if (upper) v[i] = got;
                else v[i + m] = got;
            }
    for (int r = 0; r < 32; ++r)
        if (top + lane < rows_end && left + r < columns_end)
            odata.part[peer][size_t(left + r - columns) * height + top + lane] = v[r];
}
@launchExchange
{
    const int columns = (width + gpus - 1) / gpus, rows = (height + gpus - 1) / gpus;
    dim3 grid((columns + 31) / 32, (rows + 31) / 32, gpus);
    transposeExchange<T><<<grid, 32>>>(odata, idata, width, height, me, gpus);
}
//// dynamic: the tile as dynamic shared memory
@transposeExchange
{
    extern __shared__ double storage[];
    T* tile = reinterpret_cast<T*>(storage);
    const int peer = (me + blockIdx.z) % gpus;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    const int left = columns + blockIdx.x * 32, top = rows + blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (left + int(threadIdx.x) < columns_end && top + r < rows_end)
            tile[32 * r + (threadIdx.x ^ r)] = idata[size_t(top + r - rows) * width + left + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (top + int(threadIdx.x) < rows_end && left + r < columns_end)
            odata.part[peer][size_t(left + r - columns) * height + top + threadIdx.x] =
                tile[32 * threadIdx.x + (r ^ threadIdx.x)];
}
@launchExchange
{
    const int columns = (width + gpus - 1) / gpus, rows = (height + gpus - 1) / gpus;
    dim3 grid((columns + 31) / 32, (rows + 31) / 32, gpus);
    transposeExchange<T><<<grid, dim3(32, 8), 1024 * sizeof(T)>>>(odata, idata, width, height, me, gpus);
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
//// hoisted_guards: whole tiles need no guards
@transposeExchange
{
    __shared__ T tile[32][32];
    int peer = me + 1 + blockIdx.z;
    if (peer >= gpus) peer -= gpus;
    const int rows = first_row(height, me, gpus), columns = first_row(width, peer, gpus);
    const int left = blockIdx.x * 32, top = blockIdx.y * 32, tx = threadIdx.x, ty = threadIdx.y;
    const int wide = min(32, first_row(width, peer + 1, gpus) - columns - left),
              high = min(32, first_row(height, me + 1, gpus) - rows - top);
    if (wide <= 0 || high <= 0) return;  // all of the block's threads
    const T* in = idata + size_t(top) * width + columns + left;
    T* out = odata.part[peer] + size_t(left) * height + rows + top;
    if (wide == 32 && high == 32) {
#pragma unroll
        for (int j = 0; j < 32; j += 8) tile[ty + j][tx ^ (ty + j)] = in[size_t(ty + j) * width + tx];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; j += 8) out[size_t(ty + j) * height + tx] = tile[tx][(ty + j) ^ tx];
        return;
    }
    for (int r = ty; r < high; r += 8)
        if (tx < wide) tile[r][tx ^ r] = in[size_t(r) * width + tx];
    __syncthreads();
    for (int r = ty; r < wide; r += 8)
        if (tx < high) out[size_t(r) * height + tx] = tile[tx][r ^ tx];
}
//// helpers: functions and structures
struct Span {
    int begin, end;
    __device__ bool holds(int i) const { return begin <= i && i < end; }
};
__device__ Span rows_of(int gpu, int n, int gpus) { return {first_row(n, gpu, gpus), first_row(n, gpu + 1, gpus)}; }
__device__ int place(int row, int column) { return row * 32 + (column ^ row); }
@transposeExchange
{
    __shared__ T tile[32 * 32];
    const int peer = (me + gpus - 1 - int(blockIdx.z)) % gpus;
    const Span here = rows_of(me, height, gpus), there = rows_of(peer, width, gpus);
    const auto each = [&](auto move) {
        for (int r = threadIdx.y; r < 32; r += 8) move(r, int(threadIdx.x));
    };
    each([&](int r, int c) {
        const int y = here.begin + 32 * int(blockIdx.y) + r, x = there.begin + 32 * int(blockIdx.x) + c;
        if (here.holds(y) && there.holds(x)) tile[place(r, c)] = idata[size_t(y - here.begin) * width + x];
    });
    __syncthreads();
    each([&](int r, int c) {
        const int y = there.begin + 32 * int(blockIdx.x) + r, x = here.begin + 32 * int(blockIdx.y) + c;
        if (there.holds(y) && here.holds(x)) odata.part[peer][size_t(y - there.begin) * height + x] = tile[place(c, r)];
    });
}
//// rotated_rows: rows of the tile rotated instead of permuted by XOR
@transposeExchange
{
    __shared__ T tile[32][32];
    const int peer = (blockIdx.z + me) % gpus;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    const int left = columns + blockIdx.x * 32, top = rows + blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (left + int(threadIdx.x) < columns_end && top + r < rows_end)
            tile[r][(threadIdx.x + r) % 32] = idata[size_t(top + r - rows) * width + left + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (top + int(threadIdx.x) < rows_end && left + r < columns_end)
            odata.part[peer][size_t(left + r - columns) * height + top + threadIdx.x] =
                tile[threadIdx.x][(r + threadIdx.x) % 32];
}
//// loads_first: all loads in flight, then the tile; a block of 32 x 4 threads
@transposeExchange
{
    __shared__ T tile[32][32];
    const int peer = (me + 1 + blockIdx.z) % gpus;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    int x = columns + blockIdx.x * 32 + threadIdx.x, y = rows + blockIdx.y * 32 + threadIdx.y;
    T in[8];
    for (int j = 0; j < 8; ++j)
        if (x < columns_end && y + 4 * j < rows_end) in[j] = idata[size_t(y + 4 * j - rows) * width + x];
    for (int j = 0; j < 8; ++j) tile[threadIdx.y + 4 * j][threadIdx.x ^ (threadIdx.y + 4 * j)] = in[j];
    __syncthreads();
    x = rows + blockIdx.y * 32 + threadIdx.x;
    y = columns + blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 4)
        if (x < rows_end && y + j < columns_end)
            odata.part[peer][size_t(y + j - columns) * height + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
}
@launchExchange
{
    const int columns = (width + gpus - 1) / gpus, rows = (height + gpus - 1) / gpus;
    dim3 grid((columns + 31) / 32, (rows + 31) / 32, gpus);
    transposeExchange<T><<<grid, dim3(32, 4)>>>(odata, idata, width, height, me, gpus);
}
//// blocks_of_a_peer: as many blocks for each GPU as it needs, and none where there are no rows here
@transposeExchange
{
    __shared__ T tile[32][32];
    const int peer = (int(blockIdx.y) + me) % gpus;
    const int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    const int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);
    const int left = columns + int(blockIdx.y) / gpus * 32, top = rows + blockIdx.x * 32;
    if (left >= columns_end) return;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (left + int(threadIdx.x) < columns_end && top + r < rows_end)
            tile[r][threadIdx.x ^ r] = __ldg(&idata[size_t(top + r - rows) * width + left + threadIdx.x]);
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (top + int(threadIdx.x) < rows_end && left + r < columns_end)
            odata.part[peer][size_t(left + r - columns) * height + top + threadIdx.x] =
                tile[threadIdx.x][r ^ threadIdx.x];
}
@launchExchange
{
    const int rows = first_row(height, me + 1, gpus) - first_row(height, me, gpus), columns = (width + gpus - 1) / gpus;
    if (rows == 0) return;
    transposeExchange<T>
        <<<dim3((rows + 31) / 32, gpus * ((columns + 31) / 32)), dim3(32, 8)>>>(odata, idata, width, height, me, gpus);
}
