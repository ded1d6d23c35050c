#include "on_parts.h"

#include <numeric>

#include "../../sim/core/sinks/global_checker.h"
#include "../../sim/core/grid/host_process.h"
#include "../../sim/core/memory/declared_list.h"
#include "../base/error.h"

namespace sim {

using namespace harness;

static_assert(MAX_GPUS == most_devices);

BetweenGpus PassSums::between(int gpus)
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

void PassSums::add(const std::vector<Fault>& findings, int gpu)
{
    for (const Fault& finding : findings) {
        const auto known = std::find_if(found.begin(), found.end(), [&](const Found& f) {
            return (f.gpu < 0) == (gpu < 0) && same_fault(f.finding, finding);
        });
        if (known == found.end()) found.push_back({finding, report.grid, report.block, gpu});
        else known->finding.count += finding.count;
    }
}

PassSums OnOne::run()
{
    launch_all();
    sums_.add(take_host_faults(), -1);
    for (const auto& memory : memory().all()) {
        sums_.gave_up |= memory->shadow && memory->shadow->gave_up();
        memory->shadow.reset();
    }
    return std::move(sums_);
}

void OnOne::launch_all()
{
    const Region &in = pass_.idata, &out = pass_.odata;
    const auto bytes = [](const Contents& c) { return c.elements() * harness::bytes_of(c.type); };
    use_matrices({{in.data, bytes(in.contents), out.data, bytes(out.contents)}}, &unwritten_);
    watch();
    run_host_code([&] {
        pass_.kernel.launch[int(out.contents.type)](out.data, in.data, pass_.width, pass_.height, pass_.block);
    });
}

void OnOne::run_host_code(const std::function<void()>& code)
{
    struct Restored {
        Launcher* before;
        ~Restored() { use_launcher(before); }
    } restored{use_launcher(this)};
    run_launcher(code, separate_host_);
}

void OnOne::launch(const Launching& launching, const Code& code)
{
    const dim3 grid = launching.configuration.grid, block = launching.configuration.block;
    sums_.last = {launching.kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, launching.arguments};
    check_launch(sums_.last);
    check_bound(sums_.last, launch_bound(launching.kernel));
    const Report report = run_grid(launching, code, settings_);
    sums_.report.add(report);
    ended(launching, report);
}

void OnOne::watch()
{
    for (const auto& memory : memory().all())
        if (settings_.exact && memory->space == global && !memory->read_only && !memory->shadow) {
            memory->shadow = std::make_shared<Shadow>(memory->bytes);
            if (!memory->unwritten) memory->shadow->note_written(0, memory->bytes);
        }
}

OnParts::OnParts(const Pass& pass, const Settings& settings, const Unwritten& unwritten, bool separate_host)
    : OnOne(pass, settings, unwritten, separate_host)
{
    const Kernel& kernel = pass.kernel;
    gpus_ = kernel.gpus;
    sums_.traffic = std::make_unique<TrafficAccount>();
    const uint64_t element = harness::bytes_of(pass.odata.contents.type);
    const auto slice = [&](void* whole, int rows, int columns, int g) {
        const uint64_t first = uint64_t(first_row(rows, g, gpus_)) * columns * element;
        return Slice(whole, first, uint64_t(first_row(rows, g + 1, gpus_)) * columns * element - first);
    };
    for (int g = 0; g < gpus_; ++g) {
        mine_.push_back(g);
        names_[g] = format("%s of GPU %d", kernel.name.c_str(), g);
        idata_[g] = in_.emplace_back(slice(pass.idata.data, pass.height, pass.width, g)).data();
        odata_[g] = out_.emplace_back(slice(pass.odata.data, pass.width, pass.height, g)).data();
    }
}

OnParts::~OnParts()
{
    for (const auto& buffers : buffers_)
        for (const auto& buffer : buffers)
            if (buffer) memory().remove(uintptr_t(buffer->data()));
}

void OnParts::launch_all()
{
    const Kernel& kernel = pass_.kernel;
    const int type = int(pass_.odata.contents.type), width = pass_.width, height = pass_.height;
    std::vector<PartOfMatrices> parts;
    for (int g = 0; g < gpus_; ++g)
        parts.push_back({in_[g].data(), in_[g].bytes(), out_[g].data(), out_[g].bytes(),
                         uint64_t(first_row(width, g, gpus_)) * height});
    use_matrices(parts, &unwritten_);
    watch();
    if (kernel.launch_together[type]) {
        if (separate_host_)
            throw Error{status_bad_input, "--separate-host: not for kernels that all GPUs run together"};
        run_host_code([&] { kernel.launch_together[type](*this, odata_, idata_, width, height); });
    } else {
        std::vector<Beside> earlier;  // nothing orders what different GPUs do
        for (int g = 0; g < gpus_; ++g) {
            stream(g, 0);
            launched_here_.clear();
            settings_.beside = earlier.empty() ? nullptr : &earlier;
            run_host_code([&] { kernel.launch_on_parts[type](odata_, idata_, width, height, g, gpus_); });
            earlier.insert(earlier.end(), launched_here_.begin(), launched_here_.end());
        }
    }
    for (Slice& out : out_) out.put_back();
    // The model is of one GPU.
    sums_.report.roofline = {};
    sums_.report.partitions.bursts = sums_.report.partitions.scattered = 0;
    sums_.report.partitions.dram = {};
}

// The handle by which a launch names its stream. It points nowhere.
CUstream_st* OnParts::stream(int gpu, int number)
{
    settings_.device = gpu;
    settings_.several = gpus_ > 1;
    settings_.peers = ~0u;
    return reinterpret_cast<CUstream_st*>(uintptr_t(number));
}

void OnParts::wait(int gpu, int later, int first)
{
    clock_[gpu][later] = std::max(clock_[gpu][later], clock_[gpu][first]);
}

void OnParts::ended(const Launching& launching, const Report& report)
{
    const int gpu = settings_.device;
    const uint64_t blocks = report.launched.blocks;
    uint64_t& clock = clock_[gpu][uintptr_t(launching.configuration.stream)];
    launched_here_.push_back({blocks_run() - blocks, blocks, names_[gpu].c_str(), launching.place, true, -1});
    sums_.traffic->add(gpu, clock, report.peers);
    clock += (blocks + report.resident_blocks - 1) / report.resident_blocks;
    sums_.add(report.faults, gpu);
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
    sums_.traffic->add_message(piece.from, piece.to, piece.bytes, window);
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
        watch();
    }
    return buffer->data();
}

}  // namespace sim
