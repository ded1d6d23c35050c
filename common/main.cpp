// The program every step is: verify each kernel, then time it (GPU) or count its requests
// (simulator), verify again, report.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "device.h"
#include "error.h"
#include "explain.h"
#include "matrices.h"
#include "options.h"
#include "results.h"
#include "verify.h"

namespace harness {
namespace {

constexpr double sample_ms = 2;  // passes per sample are chosen to last this long
constexpr int gpu_samples = 20;
constexpr uint64_t l2_multiple = 8;  // the working set, in L2 sizes, unless the matrices are tiny
constexpr int most_buffers = 1024;
constexpr size_t most_findings = 10;  // printed of a kernel

// What is run on one matrix shape and type, and with which memory.
struct Bench {
    Device& device;
    Type type;
    int width, height;
    std::optional<Matrices> in, out;

    uint64_t elements() const { return uint64_t(width) * height; }
    uint64_t bytes() const { return elements() * bytes_of(type); }
    uint64_t pair_bytes() const { return 2 * bytes(); }

    Region input(int buffer) const { return region(*in, buffer, copies, false); }
    Region output(int buffer, Expected expected) const { return region(*out, buffer, expected, false); }
    Region poison(int buffer, Expected expected) const { return region(*out, buffer, expected, true); }

    // Inputs and guard bands as every kernel must find them.
    void prepare()
    {
        for (const Matrices* matrices : {&*in, &*out})
            for (const Region& guard : matrices->guards()) device.fill(guard);
        for (int i = 0; i < in->count(); ++i) device.fill(input(i));
    }

private:
    Region region(const Matrices& matrices, int buffer, Expected expected, bool poison) const
    {
        return {matrices[buffer], type, {expected, uint64_t(width), uint64_t(height), uint32_t(buffer), poison}};
    }
};

// A kernel under test, or the device's own copy.
struct Contender {
    const Kernel* kernel;  // null: the copy
    Expected expected;
    Result result;
    int passes = 1;  // per sample
    std::vector<double> samples;

    void enqueue(Bench& b, int buffer) const
    {
        if (kernel)
            b.device.enqueue(*kernel, b.output(buffer, expected), b.input(buffer), b.width, b.height);
        else
            b.device.enqueue_copy((*b.out)[buffer], (*b.in)[buffer], b.bytes());
    }
};

Contender contender(const Kernel& k)
{
    return {&k, k.expected, {k.name, k.row, k.step, name_of(k.expected.what), false, {}, {}}, 1, {}};
}

void poison_outputs(Bench& b, const Contender& c, int buffers)
{
    for (int i = 0; i < buffers; ++i) b.device.fill(b.poison(i, c.expected));
}

// Checks the first `buffers` outputs, their inputs and the guard bands. Prints what is wrong.
bool check_outputs(Bench& b, Contender& c, int buffers, const char* program)
{
    std::vector<Region> regions;
    for (int i = 0; i < buffers; ++i) regions.push_back(b.output(i, c.expected));
    for (int i = 0; i < buffers; ++i) regions.push_back(b.input(i));
    const size_t first_guard = regions.size();
    for (const Matrices* matrices : {&*b.out, &*b.in})
        for (const Region& guard : matrices->guards()) regions.push_back(guard);

    const std::vector<Mismatch> mismatches = b.device.compare(regions);
    const auto bad = std::find_if(mismatches.begin(), mismatches.end(), [](const Mismatch& m) { return m.count > 0; });
    c.result.right = bad == mismatches.end();
    if (c.result.right) return true;

    const size_t i = bad - mismatches.begin();
    std::string wrong;
    if (i >= first_guard) {
        const size_t bands = b.out->guards().size();
        wrong = "written out of bounds: " + Matrices::describe_guard((i - first_guard) % bands, *bad);
    } else {
        wrong = (i < size_t(buffers) ? "" : "the input was overwritten: ") + describe(b.device, regions[i], *bad);
    }
    fprintf(stderr, "%s: %s: wrong result: %s\n", program, c.result.kernel.c_str(), wrong.c_str());
    b.prepare();  // the next kernel is not to blame for what this one damaged
    return false;
}

// The first passes of a kernel, on the first pair of buffers. The simulator's counts are those of
// one pass, its findings those of all.
bool verify(Bench& b, Contender& c, int passes, bool explain, const char* program)
{
    poison_outputs(b, c, 1);
    b.device.take_counts(false);
    c.enqueue(b, 0);
    b.device.finish();
    LaunchCounts counts = b.device.take_counts(explain);
    for (int i = 1; i < passes; ++i) c.enqueue(b, 0);
    b.device.finish();
    const LaunchCounts more = b.device.take_counts(false);
    const bool right = check_outputs(b, c, 1, program);

    const LaunchCounts& found = counts.findings.empty() ? more : counts;
    for (size_t i = 0; i < found.findings.size() && i < most_findings; ++i)
        fprintf(stderr, "%s: %s: %s\n", program, c.result.kernel.c_str(), found.findings[i].c_str());
    if (!found.findings.empty()) {
        const unsigned long long total = counts.findings_total + more.findings_total;
        fprintf(stderr, "%s: %s: %llu finding%s in all, at %zu place%s of the kernel\n", program, c.result.kernel.c_str(), total,
                total == 1 ? "" : "s", found.findings.size(), found.findings.size() == 1 ? "" : "s");
        c.result.right = false;
    }
    if (!b.device.has_clock()) c.result.counts = std::move(counts);
    return right && c.result.right;
}

// One sample: c.passes passes, each on the next pair of buffers. Verified afterwards.
bool sample(Bench& b, Contender& c, const char* program)
{
    const int buffers = std::min(c.passes, b.out->count());
    // Poisoning also keeps the GPU busy until the passes are in its queue.
    poison_outputs(b, c, buffers);
    const double ms = b.device.time_ms([&] {
        for (int i = 0; i < c.passes; ++i) c.enqueue(b, i % buffers);
    });
    c.samples.push_back(ms / c.passes);
    return check_outputs(b, c, buffers, program);
}

// Samples of all contenders in turn, so that a drift of the machine hits all alike.
void measure(Bench& b, std::vector<Contender>& contenders, int samples, const char* program)
{
    for (Contender& c : contenders) {
        if (!c.result.right) continue;
        // Two trial samples warm up and tell how many passes make a sample.
        for (int trial = 0; trial < 2 && c.result.right; ++trial) {
            sample(b, c, program);
            const double ms = std::max(c.samples.back(), 1e-4);
            c.passes = std::clamp(int(sample_ms / ms) + 1, 1, 1024);
        }
        c.samples.clear();
    }
    for (int s = 0; s < samples; ++s)
        for (Contender& c : contenders)
            if (c.result.right) sample(b, c, program);

    const DeviceInfo& info = b.device.info();
    for (Contender& c : contenders) {
        if (c.samples.empty()) continue;
        const Summary ms = summarize(c.samples);
        const int buffers = std::min(c.passes, b.out->count());
        const uint64_t working_set = buffers * b.pair_bytes();
        const double gbs = effective_bandwidth_gbs(b.elements(), bytes_of(b.type), ms.median);
        const Plausibility plausible = plausibility(gbs, info.dram_peak_gbs, working_set, info.l2_bytes);
        c.result.timing = {ms, int(c.samples.size()), c.passes, buffers, working_set, gbs, plausible};
        if (plausible == Plausibility::impossible) {
            c.result.right = false;
            fprintf(stderr, "%s: %s: impossible measurement: %.1f GB/s over %.1f MB, on a memory of %.1f GB/s\n",
                    program, c.result.kernel.c_str(), gbs, working_set / 1e6, info.dram_peak_gbs);
        }
    }
}

// The registered kernels of one back end, and only the one named if a name is given.
std::vector<const Kernel*> select(const std::string& backend, const std::string& name)
{
    std::vector<const Kernel*> selected;
    std::string known;
    for (const Kernel& k : kernels()) {
        if (k.backend != backend) continue;
        known += (known.empty() ? "" : ", ") + k.name;
        if (name.empty() || k.name == name) selected.push_back(&k);
    }
    if (selected.empty()) throw Error{status_bad_input, "--kernel " + name + ": expected one of " + known};
    return selected;
}

void list()
{
    printf("%-26s %-22s %s\n", "kernel", "produces", "source row");
    for (const Kernel* k : select("sim", ""))
        printf("%-26s %-22s %s\n", k->name.c_str(), name_of(k->expected.what), k->row.c_str());
}

// The default side: at least eight times the L2 on a GPU, but not more than it can hold.
int default_side(Device& device, Type type)
{
    uint64_t side = 1024;
    while (device.has_clock() && side * side * bytes_of(type) < l2_multiple * device.info().l2_bytes &&
           2 * Matrices::footprint(4 * side * side * bytes_of(type), 1) < device.free_bytes())
        side *= 2;
    return int(side);
}

void allocate(Bench& b)
{
    const double needed = 2.0 * b.width * b.height * bytes_of(b.type);
    const uint64_t free = b.device.free_bytes();
    const DeviceInfo& info = b.device.info();
    // Twice: past 2^63 bytes the exact sum would overflow.
    if (needed > double(free) || 2 * Matrices::footprint(b.bytes(), 1) > free)
        throw Error{status_bad_input, format("a %d x %d %s matrix and its result take %.2f GB, and the %s has %.2f GB free",
                                             b.width, b.height, name_of(b.type), needed / 1e9, info.machine.c_str(), free / 1e9)};
    int buffers = 1;
    // Matrices too small to outgrow the L2 however many there are stay alone in it.
    if (b.device.has_clock() && most_buffers * b.pair_bytes() >= 2 * info.l2_bytes) {
        const uint64_t wanted = (l2_multiple * info.l2_bytes + b.pair_bytes() - 1) / b.pair_bytes();
        buffers = int(std::clamp<uint64_t>(wanted, 1, most_buffers));
        while (buffers > 1 && 2 * Matrices::footprint(b.bytes(), buffers) > free / 2) buffers /= 2;
    }
    b.in.emplace(b.device, b.bytes(), buffers);
    b.out.emplace(b.device, b.bytes(), buffers);
    b.prepare();
}

// Beside GPU timings: the simulator's account of the same kernels. A matrix too large to simulate
// in a moment is replaced by one as wide and high as can be, which has the same rows' alignment.
bool explain_on_simulator(const Bench& timed, const Machine& machine, const std::string& name, const char* program)
{
    constexpr int most_side = 2048;
    std::string remark;
    const std::unique_ptr<Device> device = open_device("sim", machine, remark);
    const auto smaller = [&](int side) { return side <= most_side ? side : most_side + side % 32; };
    Bench b{*device, timed.type, smaller(timed.width), smaller(timed.height), {}, {}};
    allocate(b);
    printf("\nCounted on the simulator of the %s, %d rows x %d columns:\n", machine.label.c_str(), b.height, b.width);
    bool right = true;
    for (const Kernel* k : select("sim", name)) {
        Contender c = contender(*k);
        right = verify(b, c, 1, true, program) && right;
        printf("%s", explanation(k->name, *c.result.counts).c_str());
    }
    return right;
}

int run(const Options& options, const char* program)
{
    std::string remark;
    const Machine& machine = machine_named(options.machine);
    const std::unique_ptr<Device> device = open_device(options.device, machine, remark);
    const std::vector<const Kernel*> selected = select(device->info().backend, options.kernel);
    std::optional<CsvFile> file;
    if (!options.csv.empty()) file.emplace(options.csv);

    DeviceInfo info = device->info();
    if (options.peak_gbs > 0) device->override_peak(options.peak_gbs), info = device->info();
    const int side = options.width ? 0 : default_side(*device, options.type);
    Bench b{*device, options.type, options.width ? options.width : side, options.height ? options.height : side, {}, {}};
    const int reps = options.reps ? options.reps : device->has_clock() ? gpu_samples : 1;

    printf("%s on %s%s\n", program, info.description.c_str(), remark.empty() ? "" : (": " + remark).c_str());
    printf("idata: %d rows x %d columns of %s, %.1f MB\n", b.height, b.width, name_of(b.type), b.bytes() / 1e6);
    fflush(stdout);
    allocate(b);

    std::vector<Contender> contenders;
    if (device->has_clock()) contenders.push_back({nullptr, copies, {"cudaMemcpy", "", "", "copy", false, {}, {}}, 1, {}});
    for (const Kernel* k : selected) contenders.push_back(contender(*k));

    for (Contender& c : contenders) verify(b, c, device->has_clock() ? 1 : reps, options.explain, program);
    if (device->has_clock()) measure(b, contenders, reps, program);

    Results results{info, b.type, b.width, b.height, {}};
    double copy_gbs = 0;
    bool right = true;
    for (const Contender& c : contenders) {
        results.rows.push_back(c.result);
        right = right && c.result.right;
        if (!c.kernel && c.result.timing) copy_gbs = c.result.timing->gbs;
    }
    printf("\n%s", table(results, copy_gbs).c_str());
    if (!device->has_clock())
        printf("\nCounted for the %s: requests, one per warp and instruction, and what one costs on average, in %s\n"
               "of global and wavefronts of shared memory. A simulator has no time to report.\n",
               machine.label.c_str(), machine.major == 1 ? "transactions" : "sectors");
    const std::string model = device->has_clock() ? "" : model_table(results);
    if (!model.empty()) printf("\n%s", model.c_str());
    if (options.explain && !device->has_clock())
        for (const Contender& c : contenders) printf("%s", explanation(c.result.kernel, *c.result.counts).c_str());
    if (options.explain && device->has_clock()) right = explain_on_simulator(b, machine, options.kernel, program) && right;
    if (!right) {
        if (file) fprintf(stderr, "%s: --csv %s: not written, because of the above\n", program, options.csv.c_str());
        return status_wrong_result;
    }
    if (file) file->write(csv(results, copy_gbs));
    return status_ok;
}

}  // namespace
}  // namespace harness

int main(int argc, char** argv)
{
    using namespace harness;
    const char* slash = std::strrchr(argv[0], '/');
    const char* program = slash ? slash + 1 : argv[0];
    try {
        const Options options = parse_options(argc, argv);
        int status = status_ok;
        if (options.help) printf("%s", usage(program).c_str());
        else if (options.list) list();
        else if (options.list_machines) printf("%s", list_machines().c_str());
        else status = run(options, program);
        if (fflush(stdout) || ferror(stdout)) throw Error{status_bad_input, "standard output cannot be written"};
        return status;
    } catch (const Error& error) {
        fflush(stdout);
        fprintf(stderr, "%s: %s\n", program, error.message.c_str());
        return error.status;
    } catch (const std::bad_alloc&) {
        fprintf(stderr, "%s: out of memory on the host\n", program);
        return status_bad_input;
    }
}
