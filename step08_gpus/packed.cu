// Step 8 by messages: for GPUs that cannot reach each other's memory, as those of another machine.
//
// A message is one piece of memory. A GPU packs what goes to a peer into a buffer, as rows of odata (it transposes the
// tiles), sends it with NCCL, and unpacks what has arrived. The rows are divided into CHUNKS: while one is on its way,
// the next is packed and the one before is unpacked.

#include "messages.h"

constexpr int TILE_DIM = 32, BLOCK_ROWS = 8;  // step 4's

// The rows of odata that GPU g has are sent in chunks. Chunk k begins here, counted from the matrix's first row.
__host__ __device__ inline int chunk_row(int n, int g, int gpus, int k, int chunks = CHUNKS)
{
    int begin = first_row(n, g, gpus);
    return begin + first_row(first_row(n, g + 1, gpus) - begin, k, chunks);
}

// Messages begin at lines of 128 bytes: at other addresses NCCL is three times slower. A row of a message is filled up.
template <typename T>
__host__ __device__ inline int pitch_of(int rows)
{
    constexpr int LINE = 128 / sizeof(T);
    return (rows + LINE - 1) / LINE * LINE;
}

// Step 4's kernel for chunk k of each GPU's rows of odata. The message to a GPU has all that it needs of this one's rows, as
// rows of odata. What stays here goes to its place at once.
template <typename T>
__global__ void packTiles(T* messages, T* odata, const T* idata, int width, int height, int me, int gpus, int k)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    int peer = (me + blockIdx.z) % gpus;

    int top = first_row(height, me, gpus), rows = first_row(height, me + 1, gpus) - top;
    int left = chunk_row(width, peer, gpus, k), columns = chunk_row(width, peer, gpus, k + 1) - left;

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < columns && y + j < rows)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + left + x];

    __syncthreads();

    size_t pitch = pitch_of<T>(rows);
    T* to = messages + left * pitch;
    if (peer == me) {
        to = odata + size_t(left - first_row(width, me, gpus)) * height + top;
        pitch = height;
    }
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < rows && y + j < columns)
            to[(y + j) * pitch + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Where the messages from a peer begin among those that have arrived, in elements.
template <typename T>
__host__ __device__ inline size_t first_message(int mine, int height, int peer, int gpus)
{
    return size_t(peer) * mine * pitch_of<T>((height + gpus - 1) / gpus);
}

// Chunk k of this GPU's rows of odata: the pieces that the other GPUs have sent.
template <typename T>
__global__ void unpackRows(T* odata, const T* messages, int width, int height, int me, int gpus, int k)
{
    int peer = (me + 1 + blockIdx.z) % gpus;
    int left = first_row(height, peer, gpus), columns = first_row(height, peer + 1, gpus) - left;
    int begin = first_row(width, me, gpus), mine = first_row(width, me + 1, gpus) - begin;
    int row = chunk_row(width, me, gpus, k) - begin + blockIdx.y, end = chunk_row(width, me, gpus, k + 1) - begin;
    if (row >= end) return;

    const T* from = messages + first_message<T>(mine, height, peer, gpus) + size_t(row) * pitch_of<T>(columns);
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < columns; x += gridDim.x * blockDim.x)
        odata[size_t(row) * height + left + x] = from[x];
}

// As with the kernels, a GPU's messages go to a different GPU than all others' at the same time.
template <typename T>
void sendChunk(const Exchange<T>& e, int k, int chunks, const cudaStream_t* stream)
{
    NCCL(ncclGroupStart());
    for (int me : e.mine) {
        Messages& m = *e.messages;
        size_t rows = pitch_of<T>(first_row(e.height, me + 1, e.gpus) - first_row(e.height, me, e.gpus));
        size_t mine = first_row(e.width, me + 1, e.gpus) - first_row(e.width, me, e.gpus);
        size_t row = chunk_row(e.width, me, e.gpus, k, chunks) - first_row(e.width, me, e.gpus);
        size_t chunk = chunk_row(e.width, me, e.gpus, k + 1, chunks) - chunk_row(e.width, me, e.gpus, k, chunks);
        for (int step = 1; step < e.gpus; ++step) {
            int to = (me + step) % e.gpus, from = (me - step + e.gpus) % e.gpus;
            size_t left = chunk_row(e.width, to, e.gpus, k, chunks), columns = chunk_row(e.width, to, e.gpus, k + 1, chunks) - left;
            size_t pitch = pitch_of<T>(first_row(e.height, from + 1, e.gpus) - first_row(e.height, from, e.gpus));
            size_t first = first_message<T>(int(mine), e.height, from, e.gpus);
            NCCL(ncclSend((T*)m.send[me] + left * rows, columns * rows * sizeof(T), ncclChar, to, m.comm[me], stream[me]));
            NCCL(ncclRecv((T*)m.receive[me] + first + row * pitch, chunk * pitch * sizeof(T), ncclChar, from, m.comm[me], stream[me]));
        }
    }
    NCCL(ncclGroupEnd());
}

template <typename T>
void launchPacked(const Exchange<T>& e)
{
    Messages& m = *e.messages;
    int rows = (e.height + e.gpus - 1) / e.gpus, columns = (e.width + e.gpus - 1) / e.gpus;  // of the GPU that has most
    int chunk = (columns + CHUNKS - 1) / CHUNKS + 1;
    dim3 tiles((chunk + TILE_DIM - 1) / TILE_DIM, (rows + TILE_DIM - 1) / TILE_DIM, e.gpus);

    for (int me : e.mine) {
        CUDA(cudaSetDevice(e.device[me]));
        CUDA(cudaEventRecord(m.begun[me], e.stream[me]));
        CUDA(cudaStreamWaitEvent(m.wire[me], m.begun[me], 0));
        CUDA(cudaStreamWaitEvent(m.unpack[me], m.begun[me], 0));
    }
    for (int k = 0; k < CHUNKS; ++k) {
        for (int me : e.mine) {
            CUDA(cudaSetDevice(e.device[me]));
            packTiles<<<tiles, dim3(TILE_DIM, BLOCK_ROWS), 0, e.stream[me]>>>((T*)m.send[me], e.odata.part[me], e.idata.part[me], e.width, e.height, me, e.gpus, k);
            CUDA(cudaGetLastError());
            CUDA(cudaEventRecord(m.packed[me][k], e.stream[me]));
            CUDA(cudaStreamWaitEvent(m.wire[me], m.packed[me][k], 0));
        }
        if (e.gpus == 1) continue;
        sendChunk(e, k, CHUNKS, m.wire);
        for (int me : e.mine) {
            CUDA(cudaSetDevice(e.device[me]));
            CUDA(cudaEventRecord(m.arrived[me][k], m.wire[me]));
            CUDA(cudaStreamWaitEvent(m.unpack[me], m.arrived[me][k], 0));
            unpackRows<<<dim3((rows + 1023) / 1024, chunk, e.gpus - 1), 256, 0, m.unpack[me]>>>(e.odata.part[me], (const T*)m.receive[me], e.width, e.height, me, e.gpus, k);
            CUDA(cudaGetLastError());
        }
    }
    for (int me : e.mine) {
        CUDA(cudaSetDevice(e.device[me]));
        CUDA(cudaEventRecord(m.done[me], m.unpack[me]));
        CUDA(cudaStreamWaitEvent(e.stream[me], m.done[me], 0));
    }
}

// The messages alone, in one piece for each pair: what NCCL can carry.
template <typename T>
void sendAll(const Exchange<T>& e)
{
    sendChunk(e, 0, 1, e.stream);
}

WAY(transposePacked, variant, messages, launchPacked)
WAY(sendMessages, bound, messages, sendAll)
