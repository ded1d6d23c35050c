// Verifies, counts and times kernels on one matrix shape. In: contenders whose matrices have one layout. Out: their
// results.
//
// Before a pass, outputs are filled with poison; after it, every element, the inputs and the guard bands are compared.
// When passes are timed, they go round over so many pairs of matrices that none finds its data in the L2. All
// contenders take a sample in turn, so that a drift of the machine hits all alike. Invariant: the results of timed
// passes are verified, too.

#include "bench.h"

#include <algorithm>

#include "base/error.h"
#include "base/finding_kinds.h"
#include "verify.h"

namespace harness {
namespace {

constexpr double sample_ms = 2;      // passes per sample are chosen to last this long
constexpr double patience_ms = 3000;  // for timing one kernel; after that, fewest_samples are enough
constexpr int fewest_samples = 3;
constexpr int fewest_passes_in_one_launch = 10;
constexpr uint64_t l2_multiple = 8;  // the working set, in L2 sizes, unless the matrices are tiny
constexpr int most_buffers = 1024;
constexpr size_t most_findings = 10;  // printed of a kernel

uint64_t bytes_in(Type type, Shape shape, Expected layout, Holds holds)
{
    return Contents{type, layout, uint64_t(shape.width), uint64_t(shape.height), 0, holds}.elements() * bytes_of(type);
}

// The bytes that so many inputs and outputs take on the device.
uint64_t footprint(Type type, Shape shape, Expected layout, int buffers)
{
    return Matrices::footprint(bytes_in(type, shape, layout, Holds::input), buffers) +
           Matrices::footprint(bytes_in(type, shape, layout, Holds::result), buffers);
}

void add_findings(LaunchCounts& found, const LaunchCounts& more)
{
    found.findings.insert(found.findings.end(), more.findings.begin(), more.findings.end());
    found.findings_total += more.findings_total;
}

// Complains about the findings, and makes the result wrong if there are any.
void report(Contender& c, const LaunchCounts& found, const Complain& complain)
{
    if (found.findings.empty()) return;
    const size_t places = found.findings.size();
    for (size_t i = 0; i < places && i < most_findings; ++i) complain(c.result.kernel, found.findings[i]);
    const unsigned long long total = found.findings_total;
    complain(c.result.kernel, {kinds::total, format("%llu finding%s in all, at %zu place%s of the kernel", total,
                                                    total == 1 ? "" : "s", places, places == 1 ? "" : "s")});
    c.result.right = false;
}

}  // namespace

Contender contender(const Kernel& k, Block block)
{
    Contender c;
    c.kernel = &k;
    c.block = block;
    c.result.kernel = k.name;
    if (block.x) c.result.block = format("%ux%u", block.x, block.y);
    if (block.x != k.block.x || block.y != k.block.y) c.result.label = " " + c.result.block;
    c.result.gpus = k.gpus;
    if (k.gpus) c.result.label += format(" on %d GPU%s", k.gpus, k.gpus == 1 ? "" : "s");
    c.result.row = k.row;
    c.result.step = k.step;
    c.result.expected = k.expected;
    if (k.expected.what == Produces::pieces) c.result.expected.tile = k.gpus;
    c.result.bound = k.role == Role::bound && k.needs == Needs::peers;
    c.result.bus = k.transfer.way != Transfer::none;
    return c;
}

Contender copy_contender(const Device& device)
{
    Contender c;
    c.result.kernel = device.info().copy;
    return c;
}

int default_side(Device& device, Type type)
{
    uint64_t side = 1024;
    while (device.info().backend == "cuda" && side * side * bytes_of(type) < l2_multiple * device.info().l2_bytes &&
           2 * Matrices::footprint(4 * side * side * bytes_of(type), 1) < device.free_bytes())
        side *= 2;
    return int(side);
}

void require_room(Device& device, Type type, Shape shape, Expected layout)
{
    const uint64_t free = device.free_bytes(), elements = uint64_t(shape.width) * shape.height;
    // The sum is first made in floating point, because past 2^63 bytes the exact one would overflow.
    const double rows = double(elements) / output_columns(layout, shape.width, shape.height);
    const double needed = double(elements) * bytes_of(type) * (1 + layout.operands()) + rows * layout.pad_bytes;
    const bool on_gpu = device.info().backend == "cuda", simulated = device.info().backend == "sim";
    if (needed > double(free) || footprint(type, shape, layout, 1) > free)
        throw Error{
            status_bad_input,
            format("a %d x %d %s matrix and its result take %.2f GB, and %s%s has %.2f GB free%s; choose a smaller "
                   "--size", shape.width, shape.height, name_of(type), needed / 1e9, on_gpu ? "the " : "this machine",
                   on_gpu ? device.info().machine.c_str() : "", free / 1e9,
                   simulated ? (" for the simulated " + device.info().machine).c_str() : "")};
}

uint32_t& seed_of_inputs()
{
    static uint32_t seed = 0;
    return seed;
}

Bench::Bench(Device& device, Type type, Shape shape, Expected layout, bool timed, Progress& progress)
    : device_(device), type_(type), shape_(shape), layout_(layout), progress_(progress)
{
    require_room(device, type, shape, layout);
    const DeviceInfo& info = device.info();
    int buffers = 1;
    // If no number of matrices would outgrow the L2, there is one pair, which stays in the L2.
    const uint64_t in = bytes_in(type, shape, layout, Holds::input), out = bytes_in(type, shape, layout, Holds::result),
                   pair = in + out;
    if (timed && info.backend == "cuda" && most_buffers * pair >= 2 * info.l2_bytes) {
        const uint64_t wanted = (l2_multiple * info.l2_bytes + pair - 1) / pair;
        buffers = int(std::clamp<uint64_t>(wanted, 1, most_buffers));
        while (buffers > 1 && footprint(type, shape, layout, buffers) > device.free_bytes() / 2) buffers /= 2;
    }
    in_.emplace(device, in, buffers);
    out_.emplace(device, out, buffers);
    prepare();
}

Bench::~Bench()
{
    for (bool pinned : {false, true})
        if (host_[pinned]) device_.release_host(host_[pinned], pinned);
}

Region Bench::region(const Matrices& matrices, int buffer, Expected expected, Holds holds) const
{
    expected.finite = layout_.finite;
    return {
        matrices[buffer],
        {type_, expected, uint64_t(shape_.width), uint64_t(shape_.height), seed_of_inputs() + uint32_t(buffer), holds}};
}

std::string Bench::label(const Contender& c, const char* doing) const
{
    return format("%s %s%s, %d x %d", doing, c.result.kernel.c_str(), c.result.label.c_str(), shape_.width,
                  shape_.height);
}

// The bus is slower than any memory: transfers need no rotation.
int Bench::buffers_of(const Contender& c) const { return c.result.bus ? 1 : std::min(c.passes, out_->count()); }

// Inputs and guard bands as every kernel must find them.
void Bench::prepare()
{
    for (const Matrices* matrices : {&*in_, &*out_})
        for (const Region& guard : matrices->guards()) device_.fill(guard);
    for (int i = 0; i < in_->count(); ++i) device_.fill(input(i));
}

void* Bench::host_memory(bool pinned)
{
    if (!host_[pinned]) host_[pinned] = device_.allocate_host(elements() * bytes_of(type_), pinned);
    return host_[pinned];
}

void Bench::poison(const Contender& c, int buffers)
{
    for (int i = 0; i < buffers; ++i) device_.fill(output(i, c.expected(), Holds::poison));
    if (!c.result.bus) return;
    // The memory of the host before the transfer: it has what it is to send, or the poison.
    const bool sends = c.kernel->transfer.way == Transfer::to_device;
    device_.enqueue_copy(host_memory(c.kernel->transfer.pinned), sends ? (*in_)[0] : (*out_)[0],
                         elements() * bytes_of(type_));
}

Pass Bench::pass_of(const Contender& c, int buffer)
{
    return {*c.kernel,     output(buffer, c.expected(), Holds::result), input(buffer), shape_.width,
            shape_.height, c.block};
}

Done Bench::enqueue(const Contender& c, int buffer, const Look& look)
{
    const uint64_t bytes = elements() * bytes_of(type_);
    if (!c.kernel) {
        device_.enqueue_copy((*out_)[buffer], (*in_)[buffer], bytes);
    } else if (c.result.bus) {
        void* host = host_memory(c.kernel->transfer.pinned);
        const bool sends = c.kernel->transfer.way == Transfer::to_device;
        device_.enqueue_copy(sends ? (*out_)[buffer] : host, sends ? host : (*in_)[buffer], bytes);
    } else {
        Pass pass = pass_of(c, buffer);
        pass.look = look;
        return device_.enqueue(pass);
    }
    return {};
}

// Checks the first `buffers` outputs, their inputs and the guard bands.
bool Bench::check(Contender& c, int buffers, const Complain& complain)
{
    // Data that have arrived on the host are checked on the device.
    if (c.result.bus && c.kernel->transfer.way == Transfer::to_host)
        device_.enqueue_copy((*out_)[0], host_memory(c.kernel->transfer.pinned), elements() * bytes_of(type_));

    std::vector<Region> regions;
    for (int i = 0; i < buffers; ++i) regions.push_back(output(i, c.expected(), Holds::result));
    for (int i = 0; i < buffers; ++i) regions.push_back(input(i));
    const size_t first_guard = regions.size();
    for (const Matrices* matrices : {&*out_, &*in_})
        for (const Region& guard : matrices->guards()) regions.push_back(guard);

    const std::vector<Mismatch> mismatches = device_.compare(regions);
    const auto bad = std::find_if(mismatches.begin(), mismatches.end(), [](const Mismatch& m) { return m.count > 0; });
    c.result.right = bad == mismatches.end();
    if (c.result.right) return true;

    const size_t i = bad - mismatches.begin();
    Finding wrong(kinds::wrong_result, "");
    if (i >= first_guard) {
        const size_t bands = out_->guards().size();
        wrong.text = "written out of bounds: " + Matrices::describe_guard((i - first_guard) % bands, *bad);
    } else {
        wrong = describe(device_, regions[i], *bad);
        if (i >= size_t(buffers)) wrong.text = "the input was overwritten: " + wrong.text;
    }
    wrong.text = "wrong result: " + wrong.text;
    complain(c.result.kernel, wrong);
    prepare();  // the next kernel is not to blame for what this one damaged
    return false;
}

// The pass once more, on an output that nothing has written.
LaunchCounts Bench::look_closely(const Contender& c)
{
    poison(c, 1);
    return device_.look_closely(pass_of(c, 0));
}

void Bench::verify(Contender& c, int passes, bool explain, const Complain& complain, bool drawn)
{
    progress_.doing(label(c, "verifying"));
    if (c.kernel && c.kernel->peer) {
        c.result.refused = c.kernel->peer->absent();
        if (c.result.refused.empty()) peer_ms(c, 1, 1, complain);
        return;
    }
    poison(c, 1);
    Done first;
    LaunchCounts found;
    try {
        Look look;
        look.locate = explain || drawn;
        look.drawn = drawn;
        first = enqueue(c, 0, look);
        found = first.counts;
        if (first.may_have_raced) add_findings(found, look_closely(c));
    } catch (const Error& error) {
        if (error.status != status_bad_input) throw;
        c.result.refused = error.message;
        return;
    }
    c.launch = first.launch;
    for (int i = 1; i < passes; ++i) {
        Done again = enqueue(c, 0);
        // Later passes would race as this one.
        if (i == 1 && again.may_have_raced) add_findings(again.counts, look_closely(c));
        found.findings_total += again.counts.findings_total;
        if (found.findings.empty()) found.findings = std::move(again.counts.findings);
    }
    device_.finish();
    const bool right = check(c, 1, complain);
    if (!right && found.findings.empty() && c.kernel && !c.result.bus) found = look_closely(c);
    report(c, found, complain);
    if (!device_.has_clock()) c.result.counts = std::move(first.counts);
    if (explain) c.result.occupancy = device_.occupancy(c.launch);
}

void Bench::trace(Contender& c, const TraceSink& sink)
{
    progress_.doing(label(c, "tracing"));
    poison(c, 1);
    Look look;
    look.trace = &sink;
    enqueue(c, 0, look);
    device_.finish();
}

// The time in ms of a sample of a peer, which runs and checks everything itself.
double Bench::peer_ms(Contender& c, int buffers, int passes, const Complain& complain)
{
    c.result.right = false;
    try {
        const double ms = c.kernel->peer->time_ms(type_, shape_.width, shape_.height, buffers, passes);
        c.result.right = true;
        return ms;
    } catch (const Error& error) {
        if (error.status == status_bad_input) c.result.refused = error.message;
        else complain(c.result.kernel, {kinds::failed_peer, error.message});
        return 0;
    }
}

// ms per pass of one sample: `launches` of `passes` passes each, on one pair of buffers after the
// other. Verified afterwards.
double Bench::timed(Contender& c, int passes, int launches, const Complain& complain)
{
    const int buffers = passes > 1 ? 1 : buffers_of(c);
    if (c.kernel && c.kernel->peer) {
        const double ms = peer_ms(c, buffers, launches, complain);
        c.timed_ms += ms;
        return ms / launches;
    }
    // Poisoning also keeps the GPU busy until the passes are in its queue.
    poison(c, buffers);
    Look look;
    look.depth = unsigned(passes);
    const double ms = device_.time_ms([&] {
        for (int i = 0; i < launches; ++i) enqueue(c, i % buffers, look);
    });
    c.timed_ms += ms;
    check(c, buffers, complain);
    return ms / (double(launches) * passes);
}

void Bench::measure(const std::vector<Contender*>& contenders, int samples, bool one_launch, const Complain& complain)
{
    const auto tired = [](const Contender& c) {
        return c.timed_ms > patience_ms && int(c.samples.size()) >= fewest_samples;
    };
    const auto inside = [&](const Contender& c) {
        return one_launch && c.kernel && !c.kernel->peer && !c.result.bus && !c.result.gpus;
    };
    for (Contender* contender : contenders) {
        Contender& c = *contender;
        progress_.doing(label(c, "warming up"));
        // Two trial samples warm up and tell how many passes make a sample.
        double ms = 0;
        for (int trial = 0; trial < 2 && c.result.right && ms < patience_ms / 10; ++trial) {
            ms = std::max(timed(c, 1, c.passes, complain), 1e-4);
            c.passes = std::clamp(int(sample_ms / ms) + 1, 1, 1024);
        }
    }
    const auto passes_inside = [](const Contender& c) { return std::max(c.passes, fewest_passes_in_one_launch); };
    for (int s = 0; s < samples; ++s)
        for (Contender* contender : contenders) {
            Contender& c = *contender;
            if (!c.result.right || tired(c)) continue;
            progress_.doing(label(c, "timing") + format(", sample %d of %d", s + 1, samples));
            c.samples.push_back(timed(c, 1, c.passes, complain));
            if (c.result.right && inside(c)) c.one_launch_samples.push_back(timed(c, passes_inside(c), 1, complain));
        }

    const DeviceInfo& info = device_.info();
    for (Contender* contender : contenders) {
        Contender& c = *contender;
        if (c.samples.empty() || !c.result.right) continue;
        const int repeats = c.expected().passes;
        const int traffic = c.result.bus ? 1 : c.expected().traffic();
        const uint64_t pair = elements() * bytes_of(type_) * traffic, touched = pair / repeats;
        const auto timing = [&](const std::vector<double>& ms, int passes, int buffers,
                                const char* how) -> Result::Timing {
            const Summary summary = summarize(ms);
            const double gbs = bandwidth_gbs(pair, summary.median);
            Plausibility plausible = plausibility(gbs, info.dram_peak_gbs, buffers * touched, info.l2_bytes);
            if (pair == 0) plausible = Plausibility::dram;  // nothing is moved
            if (repeats > 1) plausible = Plausibility::cache_resident;  // a tile's later passes find it in a cache
            if (plausible == Plausibility::impossible) {
                c.result.right = false;
                complain(c.result.kernel,
                         {kinds::impossible_time,
                          impossible(gbs, info.dram_peak_gbs, buffers * touched, info.l2_bytes, how)});
            }
            Result::Timing timing;
            timing.ms = summary;
            timing.samples = int(ms.size());
            timing.passes_per_sample = passes;
            timing.buffers = buffers;
            timing.working_set_bytes = buffers * touched;
            timing.gbs = gbs;
            timing.plausibility = plausible;
            return timing;
        };
        c.result.timing = timing(c.samples, c.passes, buffers_of(c), "");
        if (inside(c)) c.result.one_launch = timing(c.one_launch_samples, passes_inside(c), 1, " inside one launch");
    }
}

Numbered Bench::numbered_input() { return numbered(device_, input(0)); }
Numbered Bench::numbered_output(const Contender& c)
{
    return numbered(device_, output(0, c.expected(), Holds::result));
}

std::optional<Finding> same_launch(const Contender& c, const Contender& other)
{
    if (!c.launch.kernel || !(c.launch == other.launch)) return {};
    return Finding(kinds::same_launch,
                         "same launch: kernel, grid and block are those of " + other.result.kernel);
}

void check_distinct(const std::vector<Contender*>& contenders, const Complain& complain)
{
    for (size_t i = 0; i < contenders.size(); ++i)
        for (size_t j = 0; j < i; ++j) {
            const std::optional<Finding> same = same_launch(*contenders[i], *contenders[j]);
            if (!same) continue;
            contenders[i]->result.right = false;
            complain(contenders[i]->result.kernel, *same);
        }
}

}  // namespace harness
