// The program of step 8: makes each transpose, checks every element, and times it (GPUs) or counts what crosses (simulator).

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include <unistd.h>

#include "../common/base/files.h"
#include "../common/base/driver.h"
#include "meeting.h"
#include "options.h"
#include "results.h"
#include "spread.h"

using namespace harness;

namespace {

constexpr double sample_ms = 5;  // passes per sample are chosen to last this long
constexpr int most_passes = 256;

static_assert(MAX_GPUS == sim::most_devices);

bool simulated() { return sim_take_traffic != nullptr; }

// The simulator's own report at the end.
void no_report()
{
    if (sim_quiet_report) sim_quiet_report();
}

// The most bytes that one GPU has for others: what its link must carry out.
template <typename T>
double crossing_bytes(const Exchange<T>& e)
{
    double most = 0;
    for (int g = 0; g < e.gpus; ++g) {
        const double rows = first_row(e.height, g + 1, e.gpus) - first_row(e.height, g, e.gpus);
        const double columns = first_row(e.width, g + 1, e.gpus) - first_row(e.width, g, e.gpus);
        most = std::max(most, rows * (e.width - columns) * sizeof(T));
    }
    return most;
}

struct Run {
    CommandLine options;
    World world;
    std::string machine, driver;
    int gpus;
    std::vector<int> mine;
    int device[MAX_GPUS];
    cudaStream_t stream[MAX_GPUS];
    std::unique_ptr<Network> network;
    std::vector<const Way*> chosen;
    std::string csv;
    bool right = true;

    bool speaks() const { return world.rank == 0; }
};

std::string why_not(const Run& run, const Way& way)
{
    if (way.needs == Way::messages && !run.network->messages()) return "built without NCCL";
    if (way.needs == Way::peers && run.world.ranks > 1) return "processes do not share memory";
    if (way.needs == Way::peers)
        for (int a : run.mine)
            for (int b : run.mine) {
                int can = a == b;
                if (a != b) CUDA(cudaDeviceCanAccessPeer(&can, run.device[a], run.device[b]));
                if (!can) return format("GPU %d cannot reach the memory of GPU %d", a, b);
            }
    return "";
}

// Bytes of a GPU's messages. Their rows are filled up to lines, by less than 128 bytes each.
template <typename T>
size_t message_bytes(const Spread<T>& matrix, const Exchange<T>& e, int g)
{
    const size_t sent = matrix.in_elements(g) * sizeof(T) + size_t(e.width) * 128;
    const size_t mine = first_row(e.width, g + 1, e.gpus) - first_row(e.width, g, e.gpus);
    return std::max(sent, (matrix.out_elements(g) + mine * e.gpus) * sizeof(T) + mine * e.gpus * 128);
}

template <typename T>
void transpose(Run& run, Shape shape)
{
    Exchange<T> e{};
    e.width = shape.width;
    e.height = shape.height;
    e.gpus = run.gpus;
    e.mine = run.mine;
    for (int g : run.mine) {
        e.device[g] = run.device[g];
        e.stream[g] = run.stream[g];
    }
    if (run.speaks()) printf("\nidata: %d rows x %d columns of %s, %.1f MB, in rows over %d GPU%s\n", e.height, e.width, name_of(run.options.type), double(e.width) * e.height * sizeof(T) / 1e6, e.gpus, e.gpus == 1 ? "" : "s");
    Spread<T> matrix(e);
    Meeting meeting(e);
    // Whether the result is right on all processes; says what is wrong here.
    const auto right = [&](const Way& way, const char* when) {
        const std::string wrong = matrix.check();
        if (!wrong.empty()) fprintf(stderr, "step08: %s: wrong result%s: %s\n", way.name, when, wrong.c_str());
        const bool all_right = run.network->most(wrong.empty() ? 0 : 1) == 0;
        run.right = run.right && all_right;
        return all_right;
    };
    std::vector<Row> rows;
    bool reserved = false;
    for (const Way* way : run.chosen) {
        rows.push_back({way->name, way->part != Way::bound, why_not(run, *way), {}, {}});
        Row& row = rows.back();
        if (!row.refused.empty()) continue;
        if (way->needs == Way::messages && !reserved) {
            std::vector<size_t> bytes;
            for (int g : e.mine) bytes.push_back(message_bytes(matrix, e, g));
            try {
                run.network->reserve(bytes);
                reserved = true;
            } catch (const Error& error) {
                row.refused = error.message;
            }
            if (run.network->most(row.refused.empty() ? 0 : 1) > 0 && row.refused.empty()) row.refused = "messages take too much memory of another GPU";
            if (!row.refused.empty()) continue;
        }
        e.messages = run.network->messages();
        matrix.poison();
        if (sim_take_traffic) sim_take_traffic();
        (*way)(e);
        meeting.meet();
        meeting.wait(*run.network);
        if (sim_take_traffic) row.traffic = *sim_take_traffic();
        if (row.verified && !right(*way, "")) row.refused = "wrong";
    }
    if (!simulated() && !run.options.once) {
        const auto time_ms = [&](size_t i, int passes) { return meeting.time_ms(passes, *run.network, [&] { (*run.chosen[i])(e); }); };
        std::vector<int> passes(rows.size(), 1);
        for (size_t i = 0; i < rows.size(); ++i)
            if (rows[i].refused.empty()) {
                time_ms(i, 1);
                passes[i] = std::min(std::max(int(sample_ms / std::max(time_ms(i, 2), 1e-3)), 1), most_passes);
            }
        // In turns, so that a drift of the machine hits all alike.
        for (int s = 0; s < run.options.reps; ++s)
            for (size_t i = 0; i < rows.size(); ++i)
                if (rows[i].refused.empty()) rows[i].ms.push_back(time_ms(i, passes[i]));
        // What was timed is what was verified.
        for (size_t i = 0; i < rows.size(); ++i)
            if (rows[i].refused.empty() && rows[i].verified) {
                matrix.poison();
                time_ms(i, 3);
                right(*run.chosen[i], " after timing");
            }
    }
    if (!run.speaks()) return;
    const Setting setting{simulated(), run.machine, run.driver, run.world.ranks, run.gpus, run.options.type, shape, crossing_bytes(e), link_named(run.options.link)};
    print(rows, setting);
    if (simulated() && run.options.explain) print_receivers(rows);
    run.csv += csv_lines(rows, setting);
    fflush(stdout);
}

std::vector<const Way*> choose(const CommandLine& options)
{
    std::vector<const Way*> chosen;
    for (const Way::Part part : {Way::lesson, Way::variant, Way::bound})
        for (const Way& way : ways()) {
            const bool named = std::find(options.kernels.begin(), options.kernels.end(), way.name) != options.kernels.end();
            if (way.part == part && (named || (options.kernels.empty() && (options.all || part == Way::lesson || (part == Way::bound && !simulated() && way.needs == Way::peers))))) chosen.push_back(&way);
        }
    for (const std::string& name : options.kernels)
        if (std::none_of(ways().begin(), ways().end(), [&](const Way& way) { return name == way.name; }))
            throw Error{status_bad_input, "--kernel " + name + ": no such kernel; see --list"};
    return chosen;
}

void list()
{
    printf("%-27s %-8s %s\n", "kernel", "part", "needs");
    for (const Way::Part part : {Way::lesson, Way::variant, Way::bound})
        for (const Way& way : ways())
            if (way.part == part)
                printf("%-27s %-8s %s\n", way.name, part == Way::lesson ? "lesson" : part == Way::variant ? "variant" : "bound", way.needs == Way::peers ? "the other GPUs' memory" : "NCCL");
}

int run(const CommandLine& options)
{
    Run run;
    run.options = options;
    run.world = world();
    int count = 0;
    CUDA(cudaGetDeviceCount(&count));
    const bool many = run.world.ranks > 1;
    if (many && simulated()) throw Error{status_bad_input, "the simulator runs all GPUs in one process: start ./step08 without mpirun"};
    if (many && options.gpus && options.gpus != run.world.ranks) throw Error{status_bad_input, format("--gpus %d: %d processes were started, one for each GPU", options.gpus, run.world.ranks)};
    run.gpus = many ? run.world.ranks : options.gpus ? options.gpus : count;
    if (run.gpus > MAX_GPUS) throw Error{status_bad_input, format("%d GPUs: at most %d", run.gpus, MAX_GPUS)};
    if (many ? run.world.local >= count : run.gpus > count) throw Error{status_no_device, format("%d GPUs are asked for, and there %s %d", many ? run.world.local + 1 : run.gpus, count == 1 ? "is" : "are", count)};
    for (int g = 0; g < run.gpus; ++g)
        if (!many || g == run.world.rank) {
            run.mine.push_back(g);
            run.device[g] = many ? run.world.local : g;
        }
    cudaDeviceProp first{};
    for (int g : run.mine) {
        cudaDeviceProp properties;
        CUDA(cudaGetDeviceProperties(&properties, run.device[g]));
        if (g == run.mine[0]) first = properties;
        else if (std::strcmp(first.name, properties.name)) fprintf(stderr, "step08: GPU %d is a %s and GPU %d a %s: the slowest decides\n", run.mine[0], first.name, g, properties.name);
        CUDA(cudaSetDevice(run.device[g]));
        CUDA(cudaStreamCreateWithFlags(&run.stream[g], cudaStreamNonBlocking));
        for (int other : run.mine) {
            int can = 0;
            if (other == g || cudaDeviceCanAccessPeer(&can, run.device[g], run.device[other]) != cudaSuccess || !can) continue;
            CUDA(cudaDeviceEnablePeerAccess(run.device[other], 0));
        }
    }
    run.machine = first.name;
    if (!simulated()) run.driver = nvidia_driver();
    run.network = network_maker() ? network_maker()(run.world, run.gpus, run.mine, run.device, options.patience_s) : std::make_unique<Network>();
    if (many && !run.network->messages()) throw Error{status_bad_input, "this program was built without NCCL, which processes need: start ./step08 without mpirun"};
    run.chosen = choose(options);

    std::optional<WholeFile> file;
    if (!options.csv.empty() && run.speaks()) {
        file.emplace("--csv", options.csv);
        run.csv = csv_heading();
    }
    const char* remark = getenv("STEP08_REMARK");
    if (run.speaks()) printf("step08 on %d x %s%s%s%s\n", run.gpus, run.machine.c_str(), many ? format(", %d processes", run.world.ranks).c_str() : "", remark ? ": " : "", remark ? remark : "");
    std::vector<Shape> shapes = options.shapes;
    if (shapes.empty()) shapes.push_back(simulated() ? Shape{512, 512} : Shape{8192, 8192});
    for (const Shape& shape : shapes) {
        if (options.type == Type::f64) transpose<double>(run, shape);
        else transpose<float>(run, shape);
    }
    if (run.speaks() && simulated())
        printf("\nCounted: requests of warps to other GPUs' memory, and the bytes that cross in sectors of 32. busiest: what the busiest GPU receives\n"
               "while blocks run together, over the mean. Modelled: ms, of links of the kind %s. The simulator measures no time.\n", options.link.c_str());
    if (!run.right) {
        if (file) fprintf(stderr, "step08: --csv %s: not written, because of the errors above\n", options.csv.c_str());
        return status_wrong_result;
    }
    if (file) {
        file->append(run.csv);
        file->commit();
    }
    for (int g : run.mine) cudaStreamDestroy(run.stream[g]);
    return status_ok;
}

// The program for GPUs hands over to that for the simulator where there are too few of them. The same text is compiled for both.
void hand_over(const CommandLine& options, char** argv)
{
    if (simulated()) {
        if (options.device == "cuda") throw Error{status_no_device, "--device cuda: this program was built without nvcc"};
        if (getenv("STEP08_SIMULATES")) return;
    } else if (options.device == "cuda" || world().ranks > 1) {
        return;
    } else {
        int count = 0;
        const cudaError_t status = cudaGetDeviceCount(&count);
        const int wanted = options.gpus ? options.gpus : 2;
        if (options.device == "auto" && status == cudaSuccess && count >= wanted) return;
        if (options.device == "auto") setenv("STEP08_REMARK", status == cudaSuccess && count ? format("%d GPU%s here, and %d wanted", count, count == 1 ? "" : "s", wanted).c_str() : "no GPU here", 1);
    }
    std::string folder(4096, '\0');
    folder.resize(std::max<ssize_t>(readlink("/proc/self/exe", &folder[0], folder.size()), 0));
    const std::string program = simulated() ? folder : folder.substr(0, folder.rfind('/')) + "/build/try/step08";
    const char* own = getenv("SIM_OPTIONS");
    setenv("SIM_OPTIONS", format("%s --machine %s --gpus %d%s", own ? own : "", options.machine.c_str(), options.gpus ? options.gpus : 4, options.explain ? "" : " --quiet").c_str(), 1);
    setenv("STEP08_SIMULATES", "yes", 1);
    execv(program.c_str(), argv);
    throw Error{status_bad_input, program + " cannot be started: type make step08"};
}

}  // namespace

int main(int argc, char** argv)
{
    keep_standard_files();
    try {
        const CommandLine options = parse(argc, argv);
        int status = status_ok;
        if (!options.help) hand_over(options, argv);  // the list, too, is of the program that runs: it may know more kernels
        if (!options.explain || options.help || options.list) no_report();
        if (options.help) printf("%s", usage().c_str());
        else if (options.list) list();
        else status = run(options);
        if (fflush(stdout) || ferror(stdout)) throw Error{status_bad_input, "standard output cannot be written"};
        return status;
    } catch (const Error& error) {
        no_report();
        fflush(stdout);
        fprintf(stderr, "step08: %s\n", printable(error.message).c_str());
        return error.status;
    } catch (const std::bad_alloc&) {
        no_report();
        fprintf(stderr, "step08: out of memory on the host\n");
        return status_bad_input;
    }
}
