#include "on_parts.h"

#include <numeric>

#include "../../sim/core/host_process.h"
#include "../base/error.h"

namespace sim {

using namespace harness;

static_assert(MAX_GPUS == most_devices);

BetweenGpus Account::between(int gpus)
{
    BetweenGpus between;
    if (!traffic) return between;
    const Traffic& t = traffic->finished(gpus);
    between.gpus = gpus;
    between.busiest_receiver = t.busiest_receiver;
    for (int from = 0; from < gpus; ++from) {
        const auto sum = [&](const unsigned long long* row) { return std::accumulate(row, row + gpus, uint64_t(0)); };
        between.stores += sum(t.stores[from]);
        between.loads += sum(t.loads[from]);
        between.messages += sum(t.messages[from]);
        between.message_bytes += sum(t.message_bytes[from]);
        between.most_messages = std::max(between.most_messages, sum(t.messages[from]));
    }
    for (int i = 0; i < t.pictured; ++i) {
        between.picture.emplace_back();
        for (int from = 0; from < gpus; ++from)
            between.picture.back().insert(between.picture.back().end(), t.picture[i][from], t.picture[i][from] + gpus);
    }
    return between;
}

OnParts::OnParts(const Kernel& kernel, const Region& odata, const Region& idata, int width, int height,
                 const Unwritten& unwritten, const std::function<void()>& watch, Account& account, bool separate_host)
    : kernel_(kernel), type_(int(odata.contents.type)), width_(width), height_(height), watch_(watch),
      account_(account), separate_host_(separate_host)
{
    gpus_ = kernel.gpus;
    if (!account.traffic) account.traffic = std::make_unique<TrafficAccount>();
    const uint64_t element = harness::bytes_of(odata.contents.type);
    const auto slice = [&](void* whole, int rows, int columns, int g) {
        const uint64_t first = uint64_t(first_row(rows, g, gpus_)) * columns * element;
        return Slice(whole, first, uint64_t(first_row(rows, g + 1, gpus_)) * columns * element - first);
    };
    std::vector<PartOfMatrices> known;
    for (int g = 0; g < gpus_; ++g) {
        mine_.push_back(g);
        names_[g] = format("%s of GPU %d", kernel.name.c_str(), g);
        const Slice& in = in_.emplace_back(slice(idata.data, height, width, g));
        const Slice& out = out_.emplace_back(slice(odata.data, width, height, g));
        known.push_back(
            {in.data(), out.data(), in.bytes(), out.bytes(), uint64_t(first_row(width, g, gpus_)) * height});
        idata_[g] = in.data();
        odata_[g] = out.data();
    }
    use_parts(known, &unwritten);
    watch_();
    running_ = this;
    launch_hooks().ended = [](const Launching& launching) { running_->note_launch(launching); };
}

OnParts::~OnParts()
{
    launch_hooks().ended = nullptr;
    use_device(0, false, 0);
    use_beside({});
    for (const auto& buffers : buffers_)
        for (const auto& buffer : buffers)
            if (buffer) memory().remove(uintptr_t(buffer->data()));
    use_parts({}, nullptr);
}

void OnParts::launch()
{
    if (kernel_.launch_together[type_]) {
        if (separate_host_)
            throw Error{status_bad_input, "--separate-host: not for kernels that all GPUs run together"};
        kernel_.launch_together[type_](*this, odata_, idata_, width_, height_);
    } else {
        std::vector<Beside> earlier;  // nothing orders what different GPUs do
        for (int g = 0; g < gpus_; ++g) {
            stream(g, 0);
            launched_here_.clear();
            use_beside(earlier);
            const auto launcher = [&] { kernel_.launch_on_parts[type_](odata_, idata_, width_, height_, g, gpus_); };
            run_launcher(launcher, separate_host_);
            earlier.insert(earlier.end(), launched_here_.begin(), launched_here_.end());
        }
    }
    for (Slice& out : out_) out.put_back();
}

// A launch tells its stream by this, which points nowhere.
CUstream_st* OnParts::stream(int gpu, int number)
{
    gpu_ = gpu;
    use_device(gpu, gpus_ > 1, ~0u);
    return reinterpret_cast<CUstream_st*>(uintptr_t(number));
}

void OnParts::wait(int gpu, int later, int first)
{
    clock_[gpu][later] = std::max(clock_[gpu][later], clock_[gpu][first]);
}

// Each GPU's launches are counted when they end, because their grids may differ.
void OnParts::note_launch(const Launching& launching)
{
    const Report report = take_report();
    const uint64_t blocks = report.launched.blocks;
    uint64_t& clock = clock_[gpu_][uintptr_t(launching.configuration.stream)];
    launched_here_.push_back({blocks_run() - blocks, blocks, names_[gpu_].c_str(), launching.place, true, -1});
    account_.traffic->add(gpu_, clock, report.peers);
    clock += (blocks + report.resident_blocks - 1) / report.resident_blocks;
    for (const Finding& finding : report.findings) account_.add(finding, report, gpu_);
    account_.add(report);
}

// Throws if the sender does not have all that it sends, or the receiver has no room for it.
void OnParts::move(const Piece& piece, uint64_t window)
{
    const auto require = [&](const void* data, int gpu, const char* what) {
        const Allocation* found = memory().find(uintptr_t(data));
        const bool whole =
            found && found->device == gpu && piece.bytes <= found->bytes - (uintptr_t(data) - found->begin);
        if (!whole)
            throw Error{status_wrong_result, format("GPU %d %s %llu bytes that are not in one piece of its memory", gpu,
                                                    what, (unsigned long long)piece.bytes)};
    };
    require(piece.data, piece.from, "sends");
    require(piece.place, piece.to, "receives");
    std::memcpy(piece.place, piece.data, piece.bytes);
    account_.traffic->add_message(piece.from, piece.to, piece.bytes, window);
}

void OnParts::copy(const Piece& piece)
{
    if (piece.bytes > 0) move(piece, clock_[piece.from][0]++);
}

void OnParts::send(const std::vector<Piece>& pieces, int stream)
{
    uint64_t window = 0;
    for (const auto& clocks : clock_) window = std::max(window, clocks[stream]);
    for (const Piece& piece : pieces)
        if (piece.bytes > 0) move(piece, window);
    for (int g : mine_) clock_[g][stream] = window + 1;
}

void* OnParts::buffer(int gpu, int number, uint64_t bytes)
{
    std::vector<std::unique_ptr<Slice>>& buffers = buffers_[gpu];
    if (buffers.size() <= size_t(number)) buffers.resize(size_t(number) + 1);
    std::unique_ptr<Slice>& buffer = buffers[size_t(number)];
    if (!buffer) {
        buffer = std::make_unique<Slice>(bytes);
        // Far behind the matrices, on pages of their own.
        const uint64_t address = uint64_t(number + 1) << 44;
        Allocation allocation{uintptr_t(buffer->data()), bytes, address, format("buffer %d of GPU %d", number, gpu)};
        allocation.device = gpu;
        memory().add(allocation);
        watch_();
    }
    return buffer->data();
}

}  // namespace sim
