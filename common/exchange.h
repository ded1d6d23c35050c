// The interface of GPUs that share a matrix: copies and messages between them, next to their kernels. A back end
// provides it.
//
//   stream(gpu, number)         a stream of a GPU, for kernel<<<grid, block, 0, stream>>>; that GPU is then the current
//                               one
//   wait(gpu, later, first)     the next work of stream `later` waits for all that stream `first` has to do
//   copy(piece)                 from one GPU's memory to another's
//   send(pieces, stream)        messages, sent and received on this stream of either GPU
//   buffer(gpu, number, bytes)  memory for messages
//
// Pieces without bytes are left out. A pass begins and ends on stream 0, which is CUDA's default stream.

#pragma once

#include <cstdint>
#include <vector>

struct CUstream_st;  // what cudaStream_t points to

namespace harness {

// A piece of memory that goes from one GPU to another. A process knows only the addresses on its own GPUs: `data` means
// something to the sender's process, `place` to the receiver's.
struct Piece {
    int from;
    const void* data;
    int to;
    void* place;
    uint64_t bytes;
};

class Exchange {
public:
    virtual ~Exchange() = default;

    int gpus() const { return gpus_; }
    const std::vector<int>& mine() const { return mine_; }  // the GPUs that this process drives

    // There are streams 0 to 2. Blocks of stream 1 start before those of stream 2, and these before those of stream 0.
    virtual CUstream_st* stream(int gpu, int number) = 0;
    virtual void wait(int gpu, int later, int first) = 0;
    // Both throw status_bad_input where the GPUs cannot do it.
    virtual void copy(const Piece& piece) = 0;
    virtual void send(const std::vector<Piece>& pieces, int stream) = 0;
    // The memory keeps its address until the matrices are released. Throws status_bad_input if a GPU has too little
    // memory.
    virtual void* buffer(int gpu, int number, uint64_t bytes) = 0;

protected:
    static constexpr int streams = 3;
    int gpus_ = 0;
    std::vector<int> mine_;
};

}  // namespace harness
