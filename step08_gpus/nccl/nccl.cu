// NCCL for step 8: a communicator for each GPU, messages, and what processes tell each other.

#include <nccl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "../../common/devices/network.h"

namespace {

using namespace cuda;

#define NCCL(call) succeed(call, #call, __FILE__, __LINE__)

void succeed(ncclResult_t status, const char* call, const char* file, int line)
{
    if (status == ncclSuccess) return;
    throw Error{status_no_device, format("%s:%d: %s: %s", file, line, call, ncclGetErrorString(status))};
}

// Ends the program with a line unless it is gone in time: for calls that wait for other processes and cannot be broken
// off.
class Watchdog {
public:
    Watchdog(const World& world, int seconds)
        : thread_([this, world, seconds] {
              std::unique_lock<std::mutex> lock(mutex_);
              if (gone_.wait_for(lock, std::chrono::seconds(seconds), [this] { return over_; })) return;
              fprintf(stderr, "step08: process %d of %d: not all processes have come within %d s\n", world.rank,
                      world.ranks, seconds);
              _exit(status_no_device);
          })
    {
    }
    ~Watchdog()
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            over_ = true;
        }
        gone_.notify_one();
        thread_.join();
    }

private:
    std::mutex mutex_;
    std::condition_variable gone_;
    bool over_ = false;
    std::thread thread_;
};

class Nccl : public Network {
public:
    explicit Nccl(const Members& members) : m_(members)
    {
        std::optional<Watchdog> watchdog;
        if (m_.world.ranks > 1) {
            agree_on_a_place();
            watchdog.emplace(m_.world, m_.patience_s);
        }
        ncclUniqueId id;
        NCCL(ncclGetUniqueId(&id));
        NCCL(ncclGroupStart());
        for (int g : m_.mine) {
            CUDA(cudaSetDevice(m_.device[g]));
            NCCL(ncclCommInitRank(&comm_[g], m_.gpus, id, g));
        }
        NCCL(ncclGroupEnd());
        CUDA(cudaSetDevice(m_.device[m_.mine[0]]));
        CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    }

    ~Nccl() override
    {
        cudaFree(numbers_);
        cudaStreamDestroy(stream_);
        for (int g : m_.mine)
            if (!broken_) ncclCommDestroy(comm_[g]);
    }

    // Registered memory is written by the sender itself. Into any other, a block of the receiver copies what has come
    // to a buffer of NCCL.
    void* allocate(int g, uint64_t bytes) override
    {
        void* memory = nullptr;
        if (ncclMemAlloc(&memory, bytes) != ncclSuccess) {
            cudaGetLastError();
            return nullptr;
        }
        NCCL(ncclCommRegister(comm_[g], memory, bytes, &handles_[memory]));
        return memory;
    }

    void release(int g, void* memory) noexcept override
    {
        if (!memory || broken_) return;
        ncclCommDeregister(comm_[g], handles_[memory]);
        handles_.erase(memory);
        ncclMemFree(memory);
    }

    void send(const std::vector<Piece>& pieces, const cudaStream_t* stream) override
    {
        NCCL(ncclGroupStart());
        for (const Piece& p : pieces) {
            if (p.bytes == 0) continue;
            if (comm_[p.from]) NCCL(ncclSend(p.data, p.bytes, ncclChar, p.to, comm_[p.from], stream[p.from]));
            if (comm_[p.to]) NCCL(ncclRecv(p.place, p.bytes, ncclChar, p.from, comm_[p.to], stream[p.to]));
        }
        NCCL(ncclGroupEnd());
    }

    void sum(std::vector<double>& values) override { reduce(values, ncclSum); }
    void most(std::vector<double>& values) override { reduce(values, ncclMax); }

    // Asks NCCL again and again whether all processes are there: a stream whose messages never come is never done.
    void wait(cudaStream_t stream) override
    {
        if (m_.world.ranks == 1) return Network::wait(stream);
        const ncclComm_t comm = comm_[m_.mine[0]];
        const auto begun = std::chrono::steady_clock::now();
        for (;;) {
            const cudaError_t status = cudaStreamQuery(stream);
            if (status == cudaSuccess) return;
            if (status != cudaErrorNotReady) CUDA(status);
            ncclResult_t error = ncclSuccess;
            ncclCommGetAsyncError(comm, &error);
            const bool late = std::chrono::steady_clock::now() - begun > std::chrono::seconds(m_.patience_s);
            if (error != ncclSuccess || late) {
                broken_ = true;
                ncclCommAbort(comm);
                throw Error{status_no_device,
                            format("process %d of %d: another process has ended (%s)", m_.world.rank, m_.world.ranks,
                                   late ? "its messages do not come" : ncclGetErrorString(error))};
            }
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }

private:
    void reduce(std::vector<double>& values, ncclRedOp_t operation)
    {
        if (m_.world.ranks == 1) return;
        const int g = m_.mine[0];
        const size_t bytes = values.size() * sizeof(double);
        CUDA(cudaSetDevice(m_.device[g]));
        if (values.size() > room_) {
            CUDA(cudaFree(numbers_));
            CUDA(cudaMalloc(&numbers_, bytes));
            room_ = values.size();
        }
        CUDA(cudaMemcpyAsync(numbers_, values.data(), bytes, cudaMemcpyHostToDevice, stream_));
        NCCL(ncclAllReduce(numbers_, numbers_, values.size(), ncclDouble, operation, comm_[g], stream_));
        wait(stream_);
        CUDA(cudaMemcpy(values.data(), numbers_, bytes, cudaMemcpyDeviceToHost));
    }

    // NCCL itself hands the id round, where NCCL_COMM_ID names the address of process 0. On one machine any free port
    // does, and processes of one mpirun have the same parent.
    void agree_on_a_place()
    {
        if (getenv("NCCL_COMM_ID")) return;
        const char* host = getenv("SLURM_LAUNCH_NODE_IPADDR");
        const char* job = getenv("SLURM_JOB_ID");
        const int port = 20000 + (job ? atoi(job) : int(getppid())) % 20000;
        setenv("NCCL_COMM_ID", format("%s:%d", host ? host : "127.0.0.1", port).c_str(), 1);
    }

    Members m_;
    ncclComm_t comm_[MAX_GPUS] = {};  // null: another process's
    cudaStream_t stream_ = nullptr;   // of what processes tell each other
    double* numbers_ = nullptr;
    size_t room_ = 0;  // of numbers_
    std::map<void*, void*> handles_;  // of registered memory
    bool broken_ = false;
};

const bool registered = [] {
    network_maker() = [](const Members& members) -> std::unique_ptr<Network> {
        return std::make_unique<Nccl>(members);
    };
    return true;
}();

}  // namespace
