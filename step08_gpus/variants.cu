// Step 8, the rungs below the lesson. Each spreads the matrix in the same way and differs in who talks to whom, when.
//
//   make step08 && ./step08 --all

#include "../common/step.h"

constexpr int TILE_DIM = 32, BLOCK_ROWS = 8;  // step 4's

// The GPU that has row y of n.
__device__ int owner_of(int y, int n, int gpus)
{
    int gpu = int((long long)y * gpus / n);
    while (first_row(n, gpu + 1, gpus) <= y) ++gpu;
    return gpu;
}

// Step 2's kernel. Neighbouring lanes store to different rows of odata, 4 or 8 bytes to each. Each store crosses the
// link alone.
template <typename T>
__global__ void transposeElementsToPeers(const __grid_constant__ Parts<T> odata, const T* idata, int width, int height,
                                         int me, int gpus)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    int y = rows + blockIdx.y * TILE_DIM + threadIdx.y;
    if (x >= width) return;
    int peer = owner_of(x, width, gpus);

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (y + j < rows_end)
            odata.part[peer][size_t(x - first_row(width, peer, gpus)) * height + y + j] =
                idata[size_t(y + j - rows) * width + x];
}

// The same with the loads and the stores exchanged: each GPU writes its own rows of odata and fetches single elements.
template <typename T>
__global__ void transposeElementsFromPeers(T* odata, const __grid_constant__ Parts<const T> idata, int width,
                                           int height, int me, int gpus)
{
    int y = blockIdx.x * TILE_DIM + threadIdx.x;
    int columns = first_row(width, me, gpus), columns_end = first_row(width, me + 1, gpus);
    int x = columns + blockIdx.y * TILE_DIM + threadIdx.y;
    if (y >= height) return;
    int peer = owner_of(y, height, gpus);

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x + j < columns_end)
            odata[size_t(x + j - columns) * height + y] =
                idata.part[peer][size_t(y - first_row(height, peer, gpus)) * width + x + j];
}

// Which GPU's tiles a block takes.
enum class Order {
    plain,   // those for GPU 0 first, on each GPU: all of them store to GPU 0, then to GPU 1, ...
    phases,  // those for the next GPU first, and its own last: in each phase, each GPU has one that stores to it
};

template <typename T> constexpr int SIDE = sizeof(T) == 4 ? 64 : 32;
constexpr int LANES = 32, WARPS = 8;

// The lesson's kernel without overlap. blockIdx.z counts the GPUs: blocks take all tiles for one before the next.
template <typename T, Order order>
__global__ void transposeInTurn(const __grid_constant__ Parts<T> odata, const T* idata, int width, int height, int me,
                                int gpus)
{
    __shared__ T tile[SIDE<T>][SIDE<T> + 1];
    int peer = order == Order::plain ? blockIdx.z : (me + 1 + blockIdx.z) % gpus;

    int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);
    int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);

    int left = columns + blockIdx.y * SIDE<T>;
    int top = rows + blockIdx.x * SIDE<T>;

    int x = left + threadIdx.x;
    int y = top + threadIdx.y;

    T in[SIDE<T> / WARPS][SIDE<T> / LANES];
    for (int j = 0; j < SIDE<T>; j += WARPS)
        for (int i = 0; i < SIDE<T>; i += LANES)
            if (x + i < columns_end && y + j < rows_end)
                in[j / WARPS][i / LANES] = idata[size_t(y + j - rows) * width + x + i];

    for (int j = 0; j < SIDE<T>; j += WARPS)
        for (int i = 0; i < SIDE<T>; i += LANES)
            tile[threadIdx.y + j][threadIdx.x + i] = in[j / WARPS][i / LANES];

    __syncthreads();

    x = top + threadIdx.x;
    y = left + threadIdx.y;

    for (int j = 0; j < SIDE<T>; j += WARPS)
        for (int i = 0; i < SIDE<T>; i += LANES)
            if (x + i < rows_end && y + j < columns_end)
                odata.part[peer][size_t(y + j - columns) * height + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
}

// The other direction: a GPU loads the tiles of others and writes its own rows of odata. Blocks in the lesson's order.
template <typename T>
__global__ void transposeFromPeers(T* odata, const __grid_constant__ Parts<const T> idata, int width, int height,
                                   int me, int gpus)
{
    __shared__ T tile[SIDE<T>][SIDE<T> + 1];
    int peer = (blockIdx.x + me) % gpus;

    int rows = first_row(height, peer, gpus), rows_end = first_row(height, peer + 1, gpus);
    int columns = first_row(width, me, gpus), columns_end = first_row(width, me + 1, gpus);

    int left = columns + blockIdx.y * SIDE<T>;
    int top = rows + blockIdx.x / gpus * SIDE<T>;

    int x = left + threadIdx.x;
    int y = top + threadIdx.y;

    T in[SIDE<T> / WARPS][SIDE<T> / LANES];
    for (int j = 0; j < SIDE<T>; j += WARPS)
        for (int i = 0; i < SIDE<T>; i += LANES)
            if (x + i < columns_end && y + j < rows_end)
                in[j / WARPS][i / LANES] = idata.part[peer][size_t(y + j - rows) * width + x + i];

    for (int j = 0; j < SIDE<T>; j += WARPS)
        for (int i = 0; i < SIDE<T>; i += LANES)
            tile[threadIdx.y + j][threadIdx.x + i] = in[j / WARPS][i / LANES];

    __syncthreads();

    x = top + threadIdx.x;
    y = left + threadIdx.y;

    for (int j = 0; j < SIDE<T>; j += WARPS)
        for (int i = 0; i < SIDE<T>; i += LANES)
            if (x + i < rows_end && y + j < columns_end)
                odata[size_t(y + j - columns) * height + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
}

int tiles(int n, int side) { return (n + side - 1) / side; }
// The most rows that a GPU has.
int most_rows(int n, int gpus) { return tiles(n, gpus); }

template <typename T>
void launchElementsToPeers(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    dim3 grid(tiles(width, TILE_DIM), tiles(most_rows(height, gpus), TILE_DIM));
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeElementsToPeers<<<grid, block>>>(odata, idata, width, height, me, gpus);
}

template <typename T>
void launchElementsFromPeers(T* odata, Parts<const T> idata, int width, int height, int me, int gpus)
{
    dim3 grid(tiles(height, TILE_DIM), tiles(most_rows(width, gpus), TILE_DIM));
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeElementsFromPeers<<<grid, block>>>(odata, idata, width, height, me, gpus);
}

template <typename T, Order order>
void launchInTurn(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    dim3 grid(tiles(most_rows(height, gpus), SIDE<T>), tiles(most_rows(width, gpus), SIDE<T>), gpus);
    dim3 block(LANES, WARPS);
    transposeInTurn<T, order><<<grid, block>>>(odata, idata, width, height, me, gpus);
}

template <typename T>
void launchPlain(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    launchInTurn<T, Order::plain>(odata, idata, width, height, me, gpus);
}

template <typename T>
void launchPhases(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    launchInTurn<T, Order::phases>(odata, idata, width, height, me, gpus);
}

template <typename T>
void launchFromPeers(T* odata, Parts<const T> idata, int width, int height, int me, int gpus)
{
    dim3 grid(gpus * tiles(most_rows(height, gpus), SIDE<T>), tiles(most_rows(width, gpus), SIDE<T>));
    dim3 block(LANES, WARPS);
    transposeFromPeers<<<grid, block>>>(odata, idata, width, height, me, gpus);
}

// No transpose: a kernel stores the pieces that copyToPeers copies. It is what stores can carry.
constexpr int AT_ONCE = 16;  // elements of a thread

template <typename T>
__global__ void storeToPeers(const __grid_constant__ Parts<T> odata, const T* idata, int width, int height, int me,
                             int gpus)
{
    int peer = (me + 1 + blockIdx.x % (gpus - 1)) % gpus;
    int rows = first_row(height, me, gpus), rows_here = first_row(height, me + 1, gpus) - rows;
    int columns = first_row(width, peer + 1, gpus) - first_row(width, peer, gpus);

    size_t first = size_t(blockIdx.x / (gpus - 1)) * blockDim.x * AT_ONCE + threadIdx.x;
    size_t end = size_t(rows_here) * columns;

    T in[AT_ONCE];
    for (int i = 0; i < AT_ONCE; ++i)
        if (first + i * blockDim.x < end) in[i] = idata[first + i * blockDim.x];

    for (int i = 0; i < AT_ONCE; ++i)
        if (first + i * blockDim.x < end) odata.part[peer][size_t(columns) * rows + first + i * blockDim.x] = in[i];
}

template <typename T>
void launchStores(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    size_t most = size_t(most_rows(height, gpus)) * most_rows(width, gpus);  // elements of a piece
    int threads = 256;
    size_t blocks = (most + threads * AT_ONCE - 1) / (threads * AT_ONCE);
    if (gpus > 1) storeToPeers<<<(gpus - 1) * blocks, threads>>>(odata, idata, width, height, me, gpus);
}

// No transpose, and no kernel: each GPU copies what must cross to each other GPU, in one piece. It is what the links
// can carry. The pieces begin where the rows of idata do, and no two GPUs write to the same place.
template <typename T>
void enqueueCopies(Exchange& exchange, Parts<T> odata, Parts<const T> idata, int width, int height)
{
    int gpus = exchange.gpus();
    for (int me : exchange.mine()) {
        size_t rows = first_row(height, me + 1, gpus) - first_row(height, me, gpus);
        for (int step = 1; step < gpus; ++step) {
            int peer = (me + step) % gpus;
            size_t columns = first_row(width, peer + 1, gpus) - first_row(width, peer, gpus);
            T* place = odata.part[peer] + columns * first_row(height, me, gpus);
            exchange.copy({me, idata.part[me], peer, place, rows * columns * sizeof(T)});
        }
    }
}

KERNEL(transposeElementsFromPeers, "-", transposes, launchElementsFromPeers)
KERNEL(transposeElementsToPeers, "-", transposes, launchElementsToPeers)
KERNEL(transposePlain, "-", transposes, launchPlain)
KERNEL(transposePhases, "-", transposes, launchPhases)
KERNEL(transposeFromPeers, "-", transposes, launchFromPeers)
KERNEL(storeToPeers, "-", copies_to_peers, launchStores)
TOGETHER(copyToPeers, bound, peers, copies_to_peers, enqueueCopies)
