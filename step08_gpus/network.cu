// NCCL for step 8: a communicator for each GPU, buffers and streams for packing, and what processes tell each other.

#include "network.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

#include "messages.h"
#include "spread.h"

namespace {

// Ends the program with a line unless it is gone in time: for calls that wait for other processes and cannot be broken off.
class Watchdog {
public:
    Watchdog(const World& world, int seconds) : thread_([this, world, seconds] {
        std::unique_lock<std::mutex> lock(mutex_);
        if (gone_.wait_for(lock, std::chrono::seconds(seconds), [this] { return over_; })) return;
        fprintf(stderr, "step08: process %d of %d: not all processes have come within %d s\n", world.rank, world.ranks, seconds);
        _exit(harness::status_no_device);
    }) {}
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
    Nccl(const World& world, int gpus, const std::vector<int>& mine, const int* device, int patience_s)
        : world_(world), patience_s_(patience_s), mine_(mine), device_(device, device + MAX_GPUS)
    {
        std::optional<Watchdog> watchdog;
        if (world.ranks > 1) {
            agree_on_a_place();
            watchdog.emplace(world, patience_s);
        }
        ncclUniqueId id;
        NCCL(ncclGetUniqueId(&id));
        NCCL(ncclGroupStart());
        for (int g : mine_) {
            CUDA(cudaSetDevice(device_[g]));
            NCCL(ncclCommInitRank(&m_.comm[g], gpus, id, g));
        }
        NCCL(ncclGroupEnd());
        for (int g : mine_) {
            CUDA(cudaSetDevice(device_[g]));
            // Messages first: while their blocks wait for those that pack, the link is idle.
            int least = 0, most = 0;
            CUDA(cudaDeviceGetStreamPriorityRange(&least, &most));
            CUDA(cudaStreamCreateWithPriority(&m_.wire[g], cudaStreamNonBlocking, most));
            CUDA(cudaStreamCreateWithPriority(&m_.unpack[g], cudaStreamNonBlocking, std::min(most + 1, least)));
            for (cudaEvent_t* event : {&m_.begun[g], &m_.done[g]}) CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
            for (int k = 0; k < CHUNKS; ++k)
                for (cudaEvent_t* event : {&m_.packed[g][k], &m_.arrived[g][k]}) CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
        }
    }

    ~Nccl() override
    {
        for (int g : mine_) {
            cudaSetDevice(device_[g]);
            for (cudaStream_t stream : {m_.wire[g], m_.unpack[g]}) cudaStreamDestroy(stream);
            for (cudaEvent_t event : {m_.begun[g], m_.done[g]}) cudaEventDestroy(event);
            for (int k = 0; k < CHUNKS; ++k)
                for (cudaEvent_t event : {m_.packed[g][k], m_.arrived[g][k]}) cudaEventDestroy(event);
            if (!broken_) ncclCommDestroy(m_.comm[g]);
        }
    }

    void reserve(const std::vector<size_t>& bytes) override
    {
        buffers_.clear();
        for (size_t i = 0; i < mine_.size(); ++i) {
            size_t free = 0, total = 0;
            CUDA(cudaSetDevice(device_[mine_[i]]));
            CUDA(cudaMemGetInfo(&free, &total));
            if (2 * bytes[i] > free)
                throw harness::Error{harness::status_bad_input, harness::format("messages take %.2f GB of GPU %d, which has %.2f GB free", 2 * double(bytes[i]) / 1e9, mine_[i], double(free) / 1e9)};
        }
        for (size_t i = 0; i < mine_.size(); ++i)
            for (void** buffer : {&m_.send[mine_[i]], &m_.receive[mine_[i]]}) {
                buffers_.push_back(std::make_unique<OnGpu>(device_[mine_[i]], bytes[i]));
                *buffer = buffers_.back()->as<void>();
            }
    }

    Messages* messages() override { return &m_; }

    double most(double value) override
    {
        if (world_.ranks == 1) return value;
        const int g = mine_[0];
        OnGpu number(device_[g], sizeof value);
        CUDA(cudaMemcpyAsync(number.as<void>(), &value, sizeof value, cudaMemcpyHostToDevice, m_.wire[g]));
        NCCL(ncclAllReduce(number.as<void>(), number.as<void>(), 1, ncclDouble, ncclMax, m_.comm[g], m_.wire[g]));
        wait(m_.wire[g]);
        CUDA(cudaMemcpy(&value, number.as<void>(), sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }

    // Asks NCCL again and again whether all processes are there: a stream whose messages never come is never done.
    void wait(cudaStream_t stream) override
    {
        if (world_.ranks == 1) return Network::wait(stream);
        const auto begun = std::chrono::steady_clock::now();
        for (;;) {
            const cudaError_t status = cudaStreamQuery(stream);
            if (status == cudaSuccess) return;
            if (status != cudaErrorNotReady) CUDA(status);
            ncclResult_t error = ncclSuccess;
            ncclCommGetAsyncError(m_.comm[mine_[0]], &error);
            const bool late = std::chrono::steady_clock::now() - begun > std::chrono::seconds(patience_s_);
            if (error != ncclSuccess || late) {
                broken_ = true;
                ncclCommAbort(m_.comm[mine_[0]]);
                throw harness::Error{harness::status_no_device, harness::format("process %d of %d: another process has ended (%s)", world_.rank, world_.ranks,
                                                                                late ? "its messages do not come" : ncclGetErrorString(error))};
            }
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }

private:
    // NCCL itself hands the id round, where NCCL_COMM_ID names the address of process 0. On one machine any free port does,
    // and processes of one mpirun have the same parent.
    void agree_on_a_place()
    {
        if (getenv("NCCL_COMM_ID")) return;
        const char* host = getenv("SLURM_LAUNCH_NODE_IPADDR");
        const char* job = getenv("SLURM_JOB_ID");
        setenv("NCCL_COMM_ID", harness::format("%s:%d", host ? host : "127.0.0.1", 20000 + (job ? atoi(job) : int(getppid())) % 20000).c_str(), 1);
    }

    World world_;
    int patience_s_;
    std::vector<int> mine_;
    std::vector<int> device_;
    Messages m_{};
    std::vector<std::unique_ptr<OnGpu>> buffers_;
    bool broken_ = false;
};

const bool registered = [] {
    network_maker() = [](const World& world, int gpus, const std::vector<int>& mine, const int* device, int patience_s) -> std::unique_ptr<Network> {
        return std::make_unique<Nccl>(world, gpus, mine, device, patience_s);
    };
    return true;
}();

}  // namespace
