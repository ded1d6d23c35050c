// Several GPUs as a Device: those of this process, and with NCCL those of other processes.
//
// A matrix lies on all of them, each with some of its rows. To the harness it has one address, at which there is
// nothing: the memory of a matrix is found by its address when the matrix is filled, compared or handed to a kernel.
// The GPUs' default streams meet after each pass. A pass therefore begins when all are done with the one before, and
// time is that of the slowest.

#include <cuda_runtime.h>

#include <cstring>
#include <map>

#include "network.h"
#include "on_gpu.h"
#include "shared_rows.h"

namespace cuda {
namespace {

// The GPUs, their streams and what they enqueue together.
class Team : public Exchange {
public:
    explicit Team(const Members& members) : members_(members)
    {
        gpus_ = members.gpus;
        mine_ = members.mine;
        for (int g : mine_) {
            use(g);
            reach_peers(g);
            int least = 0, most = 0;
            CUDA(cudaDeviceGetStreamPriorityRange(&least, &most));
            for (int s = 1; s < streams; ++s)
                CUDA(
                    cudaStreamCreateWithPriority(&stream_[g][s], cudaStreamNonBlocking, std::min(most + s - 1, least)));
            for (cudaEvent_t& event : event_[g]) CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        }
        use(mine_[0]);
        CUDA(cudaEventCreate(&begin_));
        CUDA(cudaEventCreate(&end_));
        network_ = network_maker() ? network_maker()(members_) : std::make_unique<Network>();
        shared_ = shared_rows_maker()(*network_, members_);
        if (members_.world.ranks > 1 && !shared_->works()) unreachable_ = shared_->why_not();
    }

    ~Team() override
    {
        release_buffers();
        shared_.reset();
        for (int g : mine_) {
            for (cudaEvent_t event : event_[g]) cudaEventDestroy(event);
            for (int s = 1; s < streams; ++s) cudaStreamDestroy(stream_[g][s]);
        }
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }

    Network& network() { return *network_; }
    SharedRows& shared() { return *shared_; }
    int device(int g) const { return members_.device[g]; }
    void use(int g) { CUDA(cudaSetDevice(device(g))); }

    // The largest of all processes' numbers. The processes meet here.
    double most(double value)
    {
        std::vector<double> values{value};
        network_->most(values);
        return values[0];
    }

    void need_peers() const
    {
        if (!unreachable_.empty()) throw Error{status_bad_input, unreachable_};
    }
    const std::string& unreachable() const { return unreachable_; }

    CUstream_st* stream(int g, int number) override
    {
        use(g);
        return stream_[g][number];
    }

    void wait(int g, int later, int first) override
    {
        use(g);
        CUDA(cudaEventRecord(event_[g][first], stream_[g][first]));
        CUDA(cudaStreamWaitEvent(stream_[g][later], event_[g][first], 0));
    }

    // The copy is not on the default stream, because there CUDA lets a copy between two devices wait for all work of
    // both.
    void copy(const Piece& p) override
    {
        need_peers();
        if (p.bytes == 0) return;
        wait(p.from, 1, 0);
        if (shared_->works()) CUDA(cudaMemcpyAsync(p.place, p.data, p.bytes, cudaMemcpyDefault, stream_[p.from][1]));
        else CUDA(cudaMemcpyPeerAsync(p.place, device(p.to), p.data, device(p.from), p.bytes, stream_[p.from][1]));
        wait(p.from, 0, 1);
    }

    void send(const std::vector<Piece>& pieces, int number) override
    {
        cudaStream_t by_gpu[MAX_GPUS] = {};
        for (int g : mine_) by_gpu[g] = stream_[g][number];
        network_->send(pieces, by_gpu);
    }

    // All processes ask for their buffers in the same order.
    void* buffer(int g, int number, uint64_t bytes) override
    {
        Buffer& b = buffers_[{g, number}];
        if (b.bytes >= bytes) return b.data;
        use(g);
        network_->release(g, b.data);
        b = {network_->allocate(g, bytes), 0};
        if (most(b.data == nullptr))
            throw Error{status_bad_input,
                        format("messages take %.2f GB more than a GPU has; choose a smaller --size", bytes / 1e9)};
        b.bytes = bytes;
        return b.data;
    }

    void release_buffers() noexcept
    {
        for (auto& [key, buffer] : buffers_) network_->release(key.first, buffer.data);
        buffers_.clear();
    }

    // Every GPU's next work waits for all that was enqueued on any of this process's, and on those of the others that
    // reach its memory.
    void meet()
    {
        shared_->meet();
        for (int g : mine_) {
            use(g);
            CUDA(cudaEventRecord(event_[g][0], nullptr));
        }
        for (int g : mine_) {
            use(g);
            for (int other : mine_)
                if (other != g) CUDA(cudaStreamWaitEvent(nullptr, event_[other][0], 0));
        }
    }

    void finish()
    {
        for (int g : mine_) {
            use(g);
            network_->wait(nullptr);
        }
    }

    double time_ms(const std::function<void()>& work)
    {
        most(0);
        meet();
        use(mine_[0]);
        CUDA(cudaEventRecord(begin_, nullptr));
        work();
        use(mine_[0]);
        CUDA(cudaEventRecord(end_, nullptr));
        network_->wait(nullptr);
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, begin_, end_));
        return most(double(ms));
    }

private:
    struct Buffer {
        void* data = nullptr;
        uint64_t bytes = 0;
    };

    void reach_peers(int g)
    {
        for (int other : mine_) {
            int can = 0;
            if (other == g) continue;
            CUDA(cudaDeviceCanAccessPeer(&can, device(g), device(other)));
            if (can) CUDA(cudaDeviceEnablePeerAccess(device(other), 0));
            else unreachable_ = format("GPU %d cannot reach the memory of GPU %d", g, other);
        }
    }

    Members members_;
    std::string unreachable_;
    cudaStream_t stream_[MAX_GPUS][streams] = {};  // the first is null, the default one
    cudaEvent_t event_[MAX_GPUS][streams] = {};
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    std::map<std::pair<int, int>, Buffer> buffers_;
    std::unique_ptr<Network> network_;
    std::unique_ptr<SharedRows> shared_;
};

// The rows of a matrix that one of this process's GPUs has.
struct Rows {
    int gpu;
    uint64_t first, elements;  // of the matrix
    void* data;
    std::vector<void*> everywhere = {};  // of all GPUs, where processes share memory
};

class Gpus : public Device {
public:
    explicit Gpus(const Members& members) : team_(members), processes_(members.world.ranks)
    {
        cudaDeviceProp first{};
        for (int g : team_.mine()) {
            cudaDeviceProp properties;
            CUDA(cudaGetDeviceProperties(&properties, team_.device(g)));
            if (g == team_.mine()[0]) first = properties;
            else if (std::strcmp(first.name, properties.name))
                fprintf(stderr, "GPU %d is a %s and GPU %d a %s: the slowest decides\n", team_.mine()[0], first.name, g,
                        properties.name);
        }
        most_blocks_ = 8 * first.multiProcessorCount;
        info_.backend = "cuda";
        info_.machine = first.name;
        info_.driver = driver_version();
        info_.l2_bytes = uint64_t(first.l2CacheSize) * team_.gpus();
        info_.gpus = team_.gpus();
        info_.no_peers = team_.unreachable();
        override_peak(dram_peak_gbs(team_.device(team_.mine()[0])));
    }

    ~Gpus() override
    {
        for (auto& [address, rows] : matrices_) free_rows(rows, team_.shared());
        for (auto& [gpu, memory] : mismatches_) cudaFree(memory);
    }

    const DeviceInfo& info() const override { return info_; }

    // `gbs`: of one card. The peak that is reported is that of all.
    void override_peak(double gbs) override
    {
        info_.dram_peak_gbs = gbs * team_.gpus();
        info_.description = format("%d x %s%s%s", team_.gpus(), info_.machine.c_str(),
                                   processes_ > 1 ? format(", %d processes", processes_).c_str() : "",
                                   gbs > 0 ? format(", DRAM peak %.0f GB/s each", gbs).c_str() : ", DRAM peak unknown");
    }

    // The GPU that has least decides, because all have as many rows.
    uint64_t free_bytes() override
    {
        double least = 1e18;
        for (int g : team_.mine()) {
            size_t free = 0, total = 0;
            team_.use(g);
            CUDA(cudaMemGetInfo(&free, &total));
            least = std::min(least, double(free));
        }
        return uint64_t(-team_.most(-least)) * team_.gpus();
    }

    void* allocate(uint64_t bytes) override
    {
        constexpr uint64_t page = 2 << 20;
        void* const address = reinterpret_cast<void*>(next_);
        sizes_[next_] = bytes;
        next_ += (bytes + 2 * page - 1) / page * page;
        return address;
    }

    void release(void* memory) noexcept override
    {
        const auto size = sizes_.find(uintptr_t(memory));
        if (size == sizes_.end()) return;
        const auto begin = matrices_.lower_bound(size->first), end = matrices_.lower_bound(size->first + size->second);
        for (auto m = begin; m != end; ++m) free_rows(m->second, team_.shared());
        matrices_.erase(begin, end);
        sizes_.erase(size);
        team_.release_buffers();
    }

    // Each process adds the rows that its GPUs have; the other words are 0.
    void read(void* to, const void* from, uint64_t bytes) override
    {
        std::vector<uint32_t> words((bytes + 3) / 4);
        const auto matrix = std::prev(matrices_.upper_bound(uintptr_t(from)));
        const uint64_t begin = uintptr_t(from) - matrix->first, element = element_bytes_.at(matrix->first);
        for (const Rows& rows : matrix->second) {
            const uint64_t first = std::max(begin, rows.first * element);
            const uint64_t last = std::min(begin + bytes, (rows.first + rows.elements) * element);
            if (first >= last) continue;
            team_.use(rows.gpu);
            CUDA(cudaMemcpy(reinterpret_cast<char*>(words.data()) + (first - begin),
                            static_cast<const char*>(rows.data) + (first - rows.first * element), last - first,
                            cudaMemcpyDeviceToHost));
        }
        std::vector<double> numbers(words.begin(), words.end());
        if (processes_ > 1) team_.network().sum(numbers);
        std::copy(numbers.begin(), numbers.end(), words.begin());
        std::memcpy(to, words.data(), bytes);
    }

    void* allocate_host(uint64_t, bool) override
    {
        throw Error{status_bad_input, "for one GPU: this program drives several"};
    }
    void release_host(void*, bool) noexcept override {}
    void enqueue_copy(void*, const void*, uint64_t) override
    {
        throw Error{status_bad_input, "for one GPU: this program drives several"};
    }

    void fill(const Region& region) override
    {
        for (const Rows& rows : rows_of(region)) {
            team_.use(rows.gpu);
            with_bits(region.contents.type, [&](auto zero) {
                fill_kernel<<<blocks(most_blocks_, rows.elements), threads>>>(
                    static_cast<decltype(zero)*>(rows.data), region.contents, rows.first, rows.elements);
            });
            CUDA(cudaGetLastError());
        }
        met_ = false;
    }

    std::vector<Mismatch> compare(const std::vector<Region>& regions) override
    {
        std::vector<Mismatch> all(regions.size(), Mismatch{0, ~0ull});
        for (int g : team_.mine()) start_to_compare(g, regions);
        for (int g : team_.mine()) {
            std::vector<Mismatch> here(regions.size());
            team_.use(g);
            CUDA(cudaMemcpy(here.data(), mismatches_[g], here.size() * sizeof(Mismatch), cudaMemcpyDeviceToHost));
            for (size_t i = 0; i < all.size(); ++i) {
                all[i].count += here[i].count;
                all[i].first = std::min(all[i].first, here[i].first);
            }
        }
        if (processes_ > 1) agree(all);
        return all;
    }

    Done enqueue(const Pass& pass) override
    {
        const Kernel& kernel = pass.kernel;
        const int type = int(pass.odata.contents.type), width = pass.width, height = pass.height;
        void *out[MAX_GPUS] = {}, *in[MAX_GPUS] = {};
        find_rows(pass.odata, out);
        find_rows(pass.idata, in);
        launched = kernel.name;
        if (!met_) team_.meet();
        launches() = {};
        if (kernel.launch_together[type]) {
            kernel.launch_together[type](team_, out, in, width, height);
        } else {
            team_.need_peers();
            for (int g : team_.mine()) {
                team_.use(g);
                kernel.launch_on_parts[type](out, in, width, height, g, team_.gpus());
                CUDA(cudaGetLastError());
            }
        }
        CUDA(cudaGetLastError());
        Done done;
        done.launch = launches().last;
        team_.meet();
        met_ = true;
        return done;
    }

    void finish() override { team_.finish(); }
    bool has_clock() const override { return true; }
    double time_ms(const std::function<void()>& work) override { return team_.time_ms(work); }

private:
    using Matrix = std::vector<Rows>;

    // The address of each GPU's rows; null where this process does not reach them.
    void find_rows(const Region& region, void** by_gpu)
    {
        for (const Rows& rows : rows_of(region)) {
            std::copy(rows.everywhere.begin(), rows.everywhere.end(), by_gpu);
            by_gpu[rows.gpu] = rows.data;
        }
    }

    // A matrix gets its memory when it is first filled. Rows are those of idata, or those of its transpose.
    Matrix& rows_of(const Region& region)
    {
        const uintptr_t address = uintptr_t(region.data);
        const auto known = matrices_.find(address);
        if (known != matrices_.end()) return known->second;
        const Contents& c = region.contents;
        const bool input = c.holds == Holds::input;
        const int n = int(input ? c.height : c.width);
        const uint64_t columns = input ? c.width : c.height;
        Matrix& matrix = matrices_[address];
        element_bytes_[address] = bytes_of(c.type);
        for (int g : team_.mine()) {
            Rows rows{g, first_row(n, g, team_.gpus()) * columns, 0, nullptr};
            rows.elements = first_row(n, g + 1, team_.gpus()) * columns - rows.first;
            team_.use(g);
            const uint64_t bytes = std::max<uint64_t>(rows.elements * bytes_of(c.type), 1);
            const cudaError_t status = cudaMalloc(&rows.data, bytes);
            if (team_.shared().works()) rows.everywhere = team_.shared().open(rows.data);
            if (status == cudaErrorMemoryAllocation) {
                cudaGetLastError();
                throw Error{status_bad_input,
                            format("GPU %d has no %.2f GB of memory to give; choose a smaller --size", g, bytes / 1e9)};
            }
            CUDA(status);
            if (team_.shared().works() && rows.everywhere.empty())  // another process has no memory
                throw Error{status_bad_input, team_.shared().why_not()};
            matrix.push_back(rows);
        }
        return matrix;
    }

    static void free_rows(Matrix& matrix, SharedRows& shared) noexcept
    {
        for (Rows& rows : matrix) {
            if (!rows.everywhere.empty()) shared.close(rows.everywhere);
            cudaFree(rows.data);
        }
    }

    void start_to_compare(int g, const std::vector<Region>& regions)
    {
        const std::vector<Mismatch> none(regions.size(), Mismatch{0, ~0ull});
        DeviceMismatch*& found = mismatches_[g];
        team_.use(g);
        CUDA(cudaFree(found));
        found = nullptr;
        CUDA(cudaMalloc(&found, none.size() * sizeof(Mismatch)));
        CUDA(cudaMemcpy(found, none.data(), none.size() * sizeof(Mismatch), cudaMemcpyHostToDevice));
        for (size_t i = 0; i < regions.size(); ++i)
            for (const Rows& rows : rows_of(regions[i])) {
                if (rows.gpu != g) continue;
                with_bits(regions[i].contents.type, [&](auto zero) {
                    compare_kernel<<<blocks(most_blocks_, rows.elements), threads>>>(
                        static_cast<const decltype(zero)*>(rows.data), regions[i].contents, rows.first, rows.elements,
                        found + i);
                });
                CUDA(cudaGetLastError());
            }
    }

    // Gives all processes the same result: the sum of the counts, and the first mismatch.
    void agree(std::vector<Mismatch>& all)
    {
        std::vector<double> counts, firsts;
        for (const Mismatch& m : all) {
            counts.push_back(double(m.count));
            firsts.push_back(-double(m.first));
        }
        team_.network().sum(counts);
        team_.network().most(firsts);
        for (size_t i = 0; i < all.size(); ++i)
            if (counts[i] > 0) all[i] = {uint64_t(counts[i]), uint64_t(-firsts[i])};
    }

    Team team_;
    int processes_;
    DeviceInfo info_;
    uint64_t most_blocks_ = 1;
    bool met_ = false;  // nothing was enqueued since the GPUs met
    uintptr_t next_ = uintptr_t(1) << 50;
    std::map<uintptr_t, uint64_t> sizes_;  // of allocations, by address
    std::map<uintptr_t, Matrix> matrices_;
    std::map<uintptr_t, uint64_t> element_bytes_;
    std::map<int, DeviceMismatch*> mismatches_;
};

// The GPUs of this process. Throws status_no_device where they are fewer than were asked for.
Members members_of(const Wanted& wanted, int count)
{
    Members m{world(), 0, {}, {}, wanted.patience_s};
    const bool many = m.world.ranks > 1;
    if (many && wanted.gpus && wanted.gpus != m.world.ranks)
        throw Error{status_bad_input,
                    format("--gpus %d: %d processes were started, one for each GPU", wanted.gpus, m.world.ranks)};
    if (many && !network_maker())
        throw Error{status_bad_input,
                    "this program was built without NCCL, which processes need: start it without mpirun"};
    m.gpus = many ? m.world.ranks : wanted.gpus ? wanted.gpus : count;
    if (m.gpus > MAX_GPUS) throw Error{status_bad_input, format("%d GPUs: at most %d", m.gpus, MAX_GPUS)};
    const int needed = many ? m.world.local + 1 : m.gpus;
    if (needed > count)
        throw Error{status_no_device,
                    format("%d GPUs are asked for, and there %s %d", needed, count == 1 ? "is" : "are", count)};
    for (int g = many ? m.world.rank : 0; g < (many ? m.world.rank + 1 : m.gpus); ++g) {
        m.mine.push_back(g);
        m.device[g] = many ? m.world.local : g;
    }
    return m;
}

std::unique_ptr<Device> open(const Wanted& wanted, std::string& why_not)
{
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) cudaGetLastError();
    const int least = wanted.gpus ? wanted.gpus : 2;
    if (status != cudaSuccess || count == 0) {
        why_not = why_no_gpu(status);
        return nullptr;
    }
    if (wanted.otherwise_simulated && world().ranks == 1 && count < least) {
        why_not = format("%d GPU%s here, and %d wanted", count, count == 1 ? "" : "s", least);
        return nullptr;
    }
    return std::make_unique<Gpus>(members_of(wanted, count));
}

const bool registered = [] {
    backends().push_back({"gpus", open});
    return true;
}();

}  // namespace
}  // namespace cuda
