// Rows that the processes of one host share through CUDA's interprocess handles. A handle goes from each process to all
// others as numbers that NCCL adds up, and nowhere else: CUDA lets any process that has a handle open it, also one of
// another user.

#include <unistd.h>

#include <cstring>

#include "../../common/base/hash.h"
#include "../../common/devices/shared_rows.h"

namespace cuda {
namespace {

// Ends when all GPUs have come to this pass: each writes its number into the others' flags, and waits for its own. A
// GPU that waits in vain for too long, because a process was killed, ends in an error.
__global__ void meet_kernel(Parts<unsigned> flags, int me, int gpus, unsigned pass, unsigned long long patience_ns)
{
    const int other = threadIdx.x;
    if (other >= gpus) return;
    unsigned long long begun, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begun));
    __threadfence_system();
    *static_cast<volatile unsigned*>(flags.part[other] + me) = pass;
    while (int(*static_cast<volatile unsigned*>(flags.part[me] + other) - pass) < 0) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        if (now - begun > patience_ns) __trap();
    }
    __threadfence_system();
}

class IpcRows : public SharedRows {
public:
    // All processes do this together. why_not() is empty if their GPUs can reach each other's memory.
    IpcRows(Network& network, const Members& members) : network_(network), members_(members)
    {
        if (members.world.ranks == 1) return;
        char host[256] = "";
        gethostname(host, sizeof host - 1);
        const double hash = double(hash_of(hash_begin, host, std::strlen(host)) >> 12);
        std::vector<double> ends{hash, -hash};
        network_.most(ends);
        if (ends[0] != -ends[1]) {
            why_not_ = "processes of several hosts do not share memory";
            return;
        }
        void* own = nullptr;
        const bool have = cudaMalloc(&own, MAX_GPUS * sizeof(unsigned)) == cudaSuccess &&
                          cudaMemset(own, 0, MAX_GPUS * sizeof(unsigned)) == cudaSuccess;
        flags_ = open(have ? own : nullptr);
        if (flags_.empty()) cudaFree(own);
    }

    ~IpcRows() override
    {
        if (flags_.empty()) return;
        void* const own = flags_[size_t(me())];
        close(flags_);
        cudaFree(own);
    }

    bool works() const override { return !flags_.empty(); }
    std::string why_not() const override { return why_not_; }

    std::vector<void*> open(void* own) override
    {
        constexpr size_t bytes = sizeof(cudaIpcMemHandle_t);
        std::vector<double> handles(bytes * size_t(members_.gpus) + 1);
        cudaIpcMemHandle_t handle{};
        cudaError_t status = own ? cudaIpcGetMemHandle(&handle, own) : cudaErrorMemoryAllocation;
        for (size_t i = 0; i < bytes; ++i)
            handles[bytes * size_t(me()) + i] = reinterpret_cast<const unsigned char*>(&handle)[i];
        handles.back() = status != cudaSuccess;
        network_.sum(handles);
        std::vector<void*> all(size_t(members_.gpus));
        all[size_t(me())] = own;
        for (size_t g = 0; g < all.size() && handles.back() == 0 && status == cudaSuccess; ++g) {
            if (int(g) == me()) continue;
            for (size_t i = 0; i < bytes; ++i)
                reinterpret_cast<unsigned char*>(&handle)[i] = static_cast<unsigned char>(handles[bytes * g + i]);
            status = cudaIpcOpenMemHandle(&all[g], handle, cudaIpcMemLazyEnablePeerAccess);
        }
        std::vector<double> failed{double(status != cudaSuccess)};
        network_.most(failed);
        if (status != cudaSuccess) cudaGetLastError();
        if (failed[0] == 0) return all;
        why_not_ = format("processes do not share memory here (%s)",
                          status == cudaSuccess ? "another process failed" : cudaGetErrorString(status));
        close(all);
        return {};
    }

    void close(std::vector<void*>& all) noexcept override
    {
        for (size_t g = 0; g < all.size(); ++g)
            if (int(g) != me() && all[g]) cudaIpcCloseMemHandle(all[g]);
        all.clear();
        try {
            std::vector<double> here{0};
            network_.most(here);
        } catch (const Error&) {
            // Another process has ended, and needs no memory.
        }
    }

    void meet() override
    {
        if (!works()) return;
        Parts<unsigned> flags{};
        for (size_t g = 0; g < flags_.size(); ++g) flags.part[g] = static_cast<unsigned*>(flags_[g]);
        meet_kernel<<<1, MAX_GPUS>>>(flags, me(), members_.gpus, ++pass_, members_.patience_s * 1000000000ull);
        CUDA(cudaGetLastError());
    }

private:
    int me() const { return members_.world.rank; }

    Network& network_;
    const Members& members_;
    std::vector<void*> flags_;  // of all GPUs; empty: none
    std::string why_not_;
    unsigned pass_ = 0;
};

const bool registered = [] {
    shared_rows_maker() = [](Network& network, const Members& members) -> std::unique_ptr<SharedRows> {
        return std::make_unique<IpcRows>(network, members);
    };
    return true;
}();

}  // namespace
}  // namespace cuda
