// Transpose a matrix with CUDA: steps 1 to 4 and 7 in one file, each checked bit for bit and timed.
//
//   nvcc -O3 docs/transpose.cu && ./a.out    on a GPU: times. For another shape: ./a.out WIDTH HEIGHT
//   sim/simcuda docs/transpose.cu            without one: the same check, and what each line costs
//
// idata is height x width and odata width x height, both row by row. A transpose moves as many bytes as a copy, so
// cudaMemcpy is the measure. GB/s are 10^9 bytes a second, and an element counts twice: once read, once written.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// ---- Use it in your program: from here to the next such line -------------------------------------------------------
//
// transpose(odata, idata, width, height, stream) takes any shape of up to two million columns, and any type of 1, 2, 4,
// 8 or 16 bytes. Both matrices lie in the device's memory and do not overlap. It returns the error of the launch.

constexpr int LANES = 32, WARPS = 16;  // a block is WARPS warps, each of them a row of threads

// One word at the end of each row of the tile stays unused: four elements of 1 byte, or one of 4 bytes.
template <typename T> constexpr int PAD = sizeof(T) <= 4 ? 4 / sizeof(T) : 1;
template <typename T> constexpr int SECTOR = 32 / sizeof(T);  // elements

// Rows of odata may begin inside a sector. Then tiles overlap by OVERLAP rows, as many as a sector has elements.
// A block begins and ends each row of odata at a sector, so that no two blocks store to the same sector.
template <typename T, int WIDE, int HIGH, int OVERLAP>
__global__ void transposeLongPieces(T* odata, const T* idata, int width, int height, int columns)
{
    static_assert(HIGH % WARPS == 0 && WIDE % LANES == 0 && (HIGH - OVERLAP) % SECTOR<T> == 0);
    __shared__ T tile[HIGH][WIDE + PAD<T>];

    // Blocks that run together take tiles below each other. Their rows of odata then join.
    int left = (blockIdx.y + blockIdx.x % columns * gridDim.y) * WIDE;
    int top = int(blockIdx.x / columns) * (HIGH - OVERLAP) - OVERLAP;

    int x = left + threadIdx.x;
    int y = top + threadIdx.y;

    // A store to the tile waits for its element, a load into a register does not: all loads are in flight at once.
    T in[HIGH / WARPS][WIDE / LANES];
    for (int j = 0; j < HIGH; j += WARPS)
        for (int i = 0; i < WIDE; i += LANES)
            if (x + i < width && 0 <= y + j && y + j < height)
                in[j / WARPS][i / LANES] = idata[size_t(y + j) * width + x + i];

    for (int j = 0; j < HIGH; j += WARPS)
        for (int i = 0; i < WIDE; i += LANES)
            tile[threadIdx.y + j][threadIdx.x + i] = in[j / WARPS][i / LANES];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    y = left + threadIdx.y;

    for (int j = 0; j < WIDE; j += WARPS) {
        size_t row = size_t(y + j) * height;
        int first = OVERLAP ? SECTOR<T> - (row + top + OVERLAP) % SECTOR<T> : 0;  // where a sector begins
        x = top + first + threadIdx.x;
        for (int i = 0; i < HIGH - OVERLAP; i += LANES)
            if (threadIdx.x + i < HIGH - OVERLAP && 0 <= x + i && x + i < height && y + j < width)
                odata[row + x + i] = tile[first + threadIdx.x + i][threadIdx.y + j];
    }
}

// Tiles have 16 KiB (64 x 64 floats). Tiles that overlap are larger, so that less is loaded twice (64 x 80 floats).
template <typename T>
cudaError_t transpose(T* odata, const T* idata, int width, int height, cudaStream_t stream = nullptr)
{
    static_assert(sizeof(T) <= 16 && 16 % sizeof(T) == 0, "elements have 1, 2, 4, 8 or 16 bytes");
    constexpr int WIDE = sizeof(T) == 1 ? 128 : sizeof(T) <= 4 ? 64 : 32, HIGH = (16 << 10) / sizeof(T) / WIDE;
    constexpr int WIDE_CUT = sizeof(T) == 8 ? 64 : WIDE, HIGH_CUT = HIGH + (sizeof(T) == 1 ? 32 : 16), CUT = SECTOR<T>;
    const int cols = width * sizeof(T) % (256 << 10) == 128 << 10 ? 2 : 1;  // two are faster there
    const auto grid = [=](int wide, int high) { return dim3(cols * high, (wide + cols - 1) / cols); };
    dim3 block(LANES, WARPS), whole = grid((width + WIDE - 1) / WIDE, (height + HIGH - 1) / HIGH);
    dim3 cut = grid((width + WIDE_CUT - 1) / WIDE_CUT, (height + HIGH_CUT - 1) / (HIGH_CUT - CUT));
    if (height % CUT == 0)
        transposeLongPieces<T, WIDE, HIGH, 0><<<whole, block, 0, stream>>>(odata, idata, width, height, cols);
    else
        transposeLongPieces<T, WIDE_CUT, HIGH_CUT, CUT><<<cut, block, 0, stream>>>(odata, idata, width, height, cols);
    return cudaGetLastError();
}

// ---- The way there: a copy, and three transposes -------------------------------------------------------------------
constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void copy(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    // The offset is a size_t: past 2^31 elements an int would overflow.
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(y + j) * width + x] = idata[size_t(y + j) * width + x];
}

// Step 2: row and column of the output change places. A warp reads neighbours and writes what is a row apart.
template <typename T>
__global__ void transposeNaive(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    // Column x of idata is row x of odata.
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(x) * height + (y + j)] = idata[size_t(y + j) * width + x];
}

// Step 3: a tile in shared memory is filled by rows and emptied by columns, so a warp reads and writes neighbours.
template <typename T>
__global__ void transposeCoalesced(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Step 4: an unused word moves each row of the tile on by one bank, so a column lies in all 32 banks.
template <typename T>
__global__ void transposeNoBankConflicts(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];  // the + 1 is the whole step

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// ---- Check and time ------------------------------------------------------------------------------------------------
void check(cudaError_t error, int line)
{
    if (error != cudaSuccess) exit((fprintf(stderr, "transpose.cu:%d: %s\n", line, cudaGetErrorString(error)), 3));
}
#define CHECK(call) check(call, __LINE__)

using Launch = cudaError_t (*)(float* odata, const float* idata, int width, int height, cudaStream_t stream);

template <void (*kernel)(float*, const float*, int, int)>
cudaError_t in_tiles(float* odata, const float* idata, int width, int height, cudaStream_t stream)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM), block(TILE_DIM, BLOCK_ROWS);
    kernel<<<grid, block, 0, stream>>>(odata, idata, width, height);
    return cudaGetLastError();
}

// The bits of element i of idata. The factor is odd, so no two elements are equal.
uint32_t element(size_t i) { return uint32_t(i) * 2654435761u; }

// Poisons the output, launches, and compares every element. Returns the median of the samples in ms. The first launch
// is the warm-up.
float run(Launch launch, bool transposes, float* odata, const float* idata, int width, int height, int samples)
{
    std::vector<uint32_t> out(size_t(width) * height);
    std::vector<float> ms(1 + samples);
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMemset(odata, 0xff, 4 * out.size()));  // no element has these bits
    for (float& time : ms) {
        CHECK(cudaEventRecord(start));
        CHECK(launch(odata, idata, width, height, nullptr));
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&time, start, stop));
    }
    CHECK(cudaMemcpy(out.data(), odata, 4 * out.size(), cudaMemcpyDeviceToHost));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    const size_t rows = transposes ? width : height, columns = transposes ? height : width;
    for (size_t row = 0; row < rows; ++row)
        for (size_t column = 0; column < columns; ++column)
            if (out[row * columns + column] != element(transposes ? column * width + row : row * width + column))
                exit((printf(" wrong at row %zu, column %zu of odata\n", row, column), 1));
    std::sort(ms.begin() + 1, ms.end());
    return ms[(1 + samples) / 2];
}

int main(int argc, char** argv)
{
    cudaDeviceProp card;
    CHECK(cudaGetDeviceProperties(&card, 0));
    const bool simulated = strstr(card.name, "simulated");  // no times then
    const int width = argc == 3 ? atoi(argv[1]) : simulated ? 1024 : 16384, height = argc == 3 ? atoi(argv[2]) : width;
    if (width < 1 || height < 1 || (argc != 1 && argc != 3)) return printf("usage: %s [WIDTH HEIGHT]\n", argv[0]), 2;

    std::vector<uint32_t> in(size_t(width) * height);
    const size_t bytes = 4 * in.size();
    for (size_t i = 0; i < in.size(); ++i) in[i] = element(i);
    float *idata, *odata;
    CHECK(cudaMalloc(&idata, bytes)), CHECK(cudaMalloc(&odata, bytes));
    CHECK(cudaMemcpy(idata, in.data(), bytes, cudaMemcpyHostToDevice));

    printf("%s: %d x %d floats%s\n", card.name, width, height,
           2 * bytes < 4 * size_t(card.l2CacheSize) ? ", much of which the L2 holds" : "");
    const struct { const char* name; Launch launch; bool transposes; } rows[] = {
        {"cudaMemcpy", [](float* odata, const float* idata, int width, int height, cudaStream_t stream) {
             return cudaMemcpyAsync(odata, idata, 4 * size_t(width) * height, cudaMemcpyDeviceToDevice, stream);
         }, false},
        {"copy", in_tiles<copy<float>>, false},
        {"transposeNaive", in_tiles<transposeNaive<float>>, true},
        {"transposeCoalesced", in_tiles<transposeCoalesced<float>>, true},
        {"transposeNoBankConflicts", in_tiles<transposeNoBankConflicts<float>>, true},
        {"transposeLongPieces", transpose<float>, true},
    };
    double memcpy_ms = 0;
    for (const auto& row : rows) {
        printf("%-25s", row.name);
        if (!simulated)  // first a shape that fits no tile
            run(row.launch, row.transposes, odata, idata, width - width / 7, height - height / 5, 0);
        const double ms = run(row.launch, row.transposes, odata, idata, width, height, simulated ? 0 : 21);
        if (!memcpy_ms) memcpy_ms = ms;
        if (simulated) printf(" right\n");
        else printf("%8.4f ms %7.0f GB/s %6.2f of cudaMemcpy\n", ms, 2e-6 * bytes / ms, memcpy_ms / ms);
    }
    CHECK(cudaFree(idata)), CHECK(cudaFree(odata));
}
