// Step 8 by messages: for GPUs that cannot reach each other's memory, as those of another machine.
//
//   make step08 && ./step08 --kernel transposePacked
//
// A message is one piece of memory. A GPU packs what goes to a peer into a buffer, as rows of odata (it transposes the
// tiles), sends it with NCCL, and unpacks what has arrived. The rows are divided into CHUNKS, and three streams work at
// the same time:
//
//   PACK    | pack 0 | pack 1 |    what stays here    |
//   WIRE             |    messages 0    |    messages 1    |
//   UNPACK                              | unpack 0 |       | unpack 1 |

#include "../common/step.h"

constexpr int CHUNKS = 2;
constexpr int LANES = 32, WARPS = 8;  // a block is WARPS warps, each of them a row of threads

template <typename T> constexpr int SIDE = sizeof(T) == 4 ? 64 : 32;  // of a tile

// The rows of odata that GPU g has are sent in chunks. Chunk k begins here, counted from the matrix's first row.
__host__ __device__ inline int chunk_row(int n, int g, int gpus, int k, int chunks)
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

// The tiles of chunk k of each GPU's rows of odata, with all loads in flight as in step 7. The message to a GPU has all
// that it needs of this one's rows, as rows of odata. What stays here goes to its place at once. blockIdx.z counts the
// GPUs from `me + first` on.
template <typename T>
__global__ void packTiles(T* messages, T* odata, const T* idata, int width, int height, int me, int first, int gpus,
                          int k, int chunks)
{
    __shared__ T tile[SIDE<T>][SIDE<T> + 1];
    int peer = (me + first + blockIdx.z) % gpus;

    int rows = first_row(height, me, gpus), rows_here = first_row(height, me + 1, gpus) - rows;
    int left = chunk_row(width, peer, gpus, k, chunks), columns = chunk_row(width, peer, gpus, k + 1, chunks) - left;

    int x = blockIdx.x * SIDE<T> + threadIdx.x;
    int y = blockIdx.y * SIDE<T> + threadIdx.y;

    T in[SIDE<T> / WARPS][SIDE<T> / LANES];
    for (int j = 0; j < SIDE<T>; j += WARPS)
        for (int i = 0; i < SIDE<T>; i += LANES)
            if (x + i < columns && y + j < rows_here)
                in[j / WARPS][i / LANES] = idata[size_t(y + j) * width + left + x + i];

    for (int j = 0; j < SIDE<T>; j += WARPS)
        for (int i = 0; i < SIDE<T>; i += LANES)
            tile[threadIdx.y + j][threadIdx.x + i] = in[j / WARPS][i / LANES];

    __syncthreads();

    size_t pitch = pitch_of<T>(rows_here);
    T* to = messages + left * pitch;
    if (peer == me) {
        to = odata + size_t(left - first_row(width, me, gpus)) * height + rows;
        pitch = height;
    }
    x = blockIdx.y * SIDE<T> + threadIdx.x;
    y = blockIdx.x * SIDE<T> + threadIdx.y;

    for (int j = 0; j < SIDE<T>; j += WARPS)
        for (int i = 0; i < SIDE<T>; i += LANES)
            if (x + i < rows_here && y + j < columns)
                to[(y + j) * pitch + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
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
    int row = chunk_row(width, me, gpus, k, CHUNKS) - begin + blockIdx.y;
    int end = chunk_row(width, me, gpus, k + 1, CHUNKS) - begin;
    if (row >= end) return;

    const T* from = messages + first_message<T>(mine, height, peer, gpus) + size_t(row) * pitch_of<T>(columns);
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < columns; x += gridDim.x * blockDim.x)
        odata[size_t(row) * height + left + x] = from[x];
}

// Streams: a pass begins and ends on PACK. Messages come first: while their blocks wait for those that pack, the link
// is idle.
enum Stream { PACK, WIRE, UNPACK };

// A GPU's messages, those that it sends and those that it receives. Their rows are filled up, by less than a line each.
template <typename T>
size_t message_bytes(int width, int height, int me, int gpus)
{
    size_t rows = first_row(height, me + 1, gpus) - first_row(height, me, gpus);
    size_t columns = first_row(width, me + 1, gpus) - first_row(width, me, gpus);
    size_t sent = rows * width * sizeof(T) + size_t(width) * 128;
    size_t received = (columns * height + columns * gpus) * sizeof(T) + columns * gpus * 128;
    return sent > received ? sent : received;
}

template <typename T>
struct Messages {
    Parts<T> send, receive;

    Messages(Exchange& exchange, int width, int height)
    {
        for (int me : exchange.mine()) {
            size_t bytes = message_bytes<T>(width, height, me, exchange.gpus());
            send.part[me] = (T*)exchange.buffer(me, 0, bytes);
            receive.part[me] = (T*)exchange.buffer(me, 1, bytes);
        }
    }
};

// Chunk k of all messages. As with the kernels, a GPU's messages go to another GPU than those of all others at the
// time.
template <typename T>
void sendChunk(Exchange& exchange, const Messages<T>& messages, int width, int height, int k, int chunks, Stream stream)
{
    int gpus = exchange.gpus();
    std::vector<Piece> pieces;
    for (int step = 1; step < gpus; ++step)
        for (int from = 0; from < gpus; ++from) {
            int to = (from + step) % gpus, first = first_row(width, to, gpus);
            size_t pitch = pitch_of<T>(first_row(height, from + 1, gpus) - first_row(height, from, gpus));
            size_t left = chunk_row(width, to, gpus, k, chunks);
            size_t columns = chunk_row(width, to, gpus, k + 1, chunks) - left;
            size_t message = first_message<T>(first_row(width, to + 1, gpus) - first, height, from, gpus);
            pieces.push_back({from, messages.send.part[from] + left * pitch, to,
                              messages.receive.part[to] + message + (left - first) * pitch,
                              columns * pitch * sizeof(T)});
        }
    exchange.send(pieces, stream);
}

template <typename T>
void enqueuePacked(Exchange& exchange, Parts<T> odata, Parts<const T> idata, int width, int height)
{
    int gpus = exchange.gpus();
    Messages<T> messages(exchange, width, height);
    int rows = (height + gpus - 1) / gpus, columns = (width + gpus - 1) / gpus;  // of the GPU that has most
    int chunk = (columns + CHUNKS - 1) / CHUNKS + 1;
    dim3 block(LANES, WARPS);
    dim3 tiles((chunk + SIDE<T> - 1) / SIDE<T>, (rows + SIDE<T> - 1) / SIDE<T>, gpus - 1);
    dim3 lines((rows + 1023) / 1024, chunk, gpus - 1);

    for (int me : exchange.mine()) {
        exchange.wait(me, WIRE, PACK);
        exchange.wait(me, UNPACK, PACK);
    }
    for (int k = 0; k < CHUNKS && gpus > 1; ++k) {
        for (int me : exchange.mine()) {
            auto stream = exchange.stream(me, PACK);
            packTiles<<<tiles, block, 0, stream>>>(messages.send.part[me], odata.part[me], idata.part[me], width,
                                                   height, me, 1, gpus, k, CHUNKS);
            exchange.wait(me, WIRE, PACK);
        }
        sendChunk(exchange, messages, width, height, k, CHUNKS, WIRE);
        for (int me : exchange.mine()) {
            exchange.wait(me, UNPACK, WIRE);
            auto stream = exchange.stream(me, UNPACK);
            const T* received = messages.receive.part[me];
            unpackRows<<<lines, 256, 0, stream>>>(odata.part[me], received, width, height, me, gpus, k);
        }
    }
    // The tiles that stay here come last, while the last messages travel.
    tiles = dim3((columns + SIDE<T> - 1) / SIDE<T>, (rows + SIDE<T> - 1) / SIDE<T>);
    for (int me : exchange.mine()) {
        auto stream = exchange.stream(me, PACK);
        packTiles<<<tiles, block, 0, stream>>>(messages.send.part[me], odata.part[me], idata.part[me], width, height,
                                               me, 0, gpus, 0, 1);
        exchange.wait(me, PACK, UNPACK);
    }
}

// The messages alone, in one piece for each pair: what NCCL can carry.
template <typename T>
void enqueueMessages(Exchange& exchange, Parts<T>, Parts<const T>, int width, int height)
{
    Messages<T> messages(exchange, width, height);
    for (int me : exchange.mine()) exchange.wait(me, WIRE, PACK);
    sendChunk(exchange, messages, width, height, 0, 1, WIRE);
    for (int me : exchange.mine()) exchange.wait(me, PACK, WIRE);
}

TOGETHER(transposePacked, variant, messages, transposes, enqueuePacked)
TOGETHER(sendMessages, bound, messages, writes_nothing, enqueueMessages)
