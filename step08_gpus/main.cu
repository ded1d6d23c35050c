// The program of step 8: makes each transpose, checks every element, and times it (GPUs) or counts what crosses (simulator).

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include <unistd.h>

#include "../common/commit.h"
#include "../common/csv.h"
#include "../common/files.h"
#include "../common/machine.h"
#include "../common/sim/devices.h"
#include "../common/statistics.h"
#include "links.h"
#include "network.h"
#include "options.h"
#include "spread.h"

using namespace harness;

namespace {

constexpr double sample_ms = 5;  // passes per sample are chosen to last this long
constexpr int most_passes = 256;

bool simulated() { return sim_take_traffic != nullptr; }

// What one way came to on one matrix.
struct Row {
    const Way* way;
    std::string refused;         // why it was not run; empty: it was
    std::vector<double> ms;      // measured
    sim::Traffic traffic;        // counted
};

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

// Every GPU's next work waits for all that was enqueued on any of them.
class Meeting {
public:
    template <typename T>
    explicit Meeting(const Exchange<T>& e) : mine_(e.mine)
    {
        for (int g : mine_) {
            device_[g] = e.device[g];
            stream_[g] = e.stream[g];
            CUDA(cudaSetDevice(device_[g]));
            CUDA(cudaEventCreateWithFlags(&here_[g], cudaEventDisableTiming));
        }
        CUDA(cudaSetDevice(device_[mine_[0]]));
        CUDA(cudaEventCreate(&begin_));
        CUDA(cudaEventCreate(&end_));
    }
    ~Meeting()
    {
        for (int g : mine_) cudaEventDestroy(here_[g]);
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    void meet()
    {
        for (int g : mine_) {
            CUDA(cudaSetDevice(device_[g]));
            CUDA(cudaEventRecord(here_[g], stream_[g]));
        }
        for (int g : mine_) {
            CUDA(cudaSetDevice(device_[g]));
            for (int other : mine_)
                if (other != g) CUDA(cudaStreamWaitEvent(stream_[g], here_[other], 0));
        }
    }
    // ms of one pass, of so many that follow each other. A pass begins when all GPUs are done with the one before.
    template <typename Work>
    double time_ms(int passes, Network& network, const Work& work)
    {
        const int first = mine_[0];
        network.most(0);
        meet();
        CUDA(cudaSetDevice(device_[first]));
        CUDA(cudaEventRecord(begin_, stream_[first]));
        for (int i = 0; i < passes; ++i) {
            work();
            meet();
        }
        CUDA(cudaSetDevice(device_[first]));
        CUDA(cudaEventRecord(end_, stream_[first]));
        network.wait(stream_[first]);
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, begin_, end_));
        return network.most(double(ms)) / passes;
    }

private:
    std::vector<int> mine_;
    int device_[MAX_GPUS];
    cudaStream_t stream_[MAX_GPUS];
    cudaEvent_t here_[MAX_GPUS], begin_, end_;
};

std::string number(double value, const char* how = "%.3f") { return format(how, value); }

// Who stores to whom, from the first blocks to the last: for each window the peer that most goes to, * if none has more than half.
std::string when_text(const sim::Traffic& t)
{
    std::string text;
    for (int from = 0; from < t.gpus; ++from) {
        text += format("    GPU %-2d ", from);
        for (int w = 0; w < t.pictured; ++w) {
            unsigned long long sum = 0, most = 0;
            int to = 0;
            for (int g = 0; g < t.gpus; ++g) {
                sum += t.picture[w][from][g];
                if (t.picture[w][from][g] > most) most = t.picture[w][from][g], to = g;
            }
            text += sum == 0 ? '.' : most > sum / 2 ? "0123456789abcdef"[to] : '*';
        }
        text += "\n";
    }
    return text;
}

// The model: in each window, the link that carries most holds up the others. Each message waits for its latency.
double model_ms(const sim::Traffic& t, const Link& link)
{
    double bytes = 0;
    for (int w = 0; w < t.pictured; ++w) {
        double most = 0;
        for (int g = 0; g < t.gpus; ++g) {
            double in = 0, out = 0;
            for (int other = 0; other < t.gpus; ++other) {
                in += double(t.picture[w][other][g]);
                out += double(t.picture[w][g][other]);
            }
            most = std::max({most, in, out});
        }
        bytes += most;
    }
    unsigned long long messages = 0;
    for (int g = 0; g < t.gpus; ++g) {
        unsigned long long sent = 0;
        for (int other = 0; other < t.gpus; ++other) sent += t.messages[g][other];
        messages = std::max(messages, sent);
    }
    return bytes / (link.gbs * 1e6) + double(messages) * link.latency_us / 1e3;
}

template <size_t N>
unsigned long long total(const unsigned long long (&table)[N][N])
{
    unsigned long long sum = 0;
    for (const auto& row : table)
        for (unsigned long long value : row) sum += value;
    return sum;
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

void print(const Run& run, const std::vector<Row>& rows, double crossing)
{
    const Link* link = nullptr;
    for (const Link& l : links)
        if (run.options.link == l.name) link = &l;
    if (simulated()) printf("\n%-27s %9s  %11s  %11s  %8s  %9s  %7s  %8s  %9s\n", "kernel", "result", "peer stores", "peer loads", "messages", "MB cross", "asked %", "busiest", "model ms");
    else printf("\n%-27s %9s  %9s  %8s  %20s  %20s\n", "kernel", "result", "ms", "spread", "GB/s out of each GPU", "% of copyToPeers");
    double bound = 0;
    for (const Row& r : rows)
        if (!r.ms.empty() && !std::strcmp(r.way->name, "copyToPeers")) bound = summarize(r.ms).median;
    for (const Row& r : rows) {
        const char* result = r.way->part == Way::bound ? "-" : "verified";
        if (!r.refused.empty()) {
            printf("%-27s  not run: %s\n", r.way->name, r.refused.c_str());
        } else if (simulated()) {
            const sim::Traffic& t = r.traffic;
            const double bytes = double(total(t.bytes)), message_bytes = double(total(t.message_bytes));
            printf("%-27s %9s  %11llu  %11llu  %8llu  %9.3f  %7s  %8s  %9.4f\n", r.way->name, result, total(t.stores), total(t.loads), total(t.messages), (bytes + message_bytes) / 1e6,
                   bytes + message_bytes == 0 ? "-" : number(100 * (double(total(t.asked)) + message_bytes) / (bytes + message_bytes), "%.1f").c_str(),
                   t.busiest_receiver == 0 ? "-" : number(t.busiest_receiver, "%.2f").c_str(), model_ms(t, *link));
        } else if (r.ms.empty()) {
            printf("%-27s %9s\n", r.way->name, result);
        } else {
            const Summary s = summarize(r.ms);
            printf("%-27s %9s  %9.4f  %7.1f%%  %20.1f  %20s\n", r.way->name, result, s.median, 100 * s.spread, crossing / (s.median * 1e6),
                   bound == 0 ? "-" : number(100 * bound / s.median, "%.1f").c_str());
        }
    }
    if (simulated() && run.options.explain)
        for (const Row& r : rows)
            if (r.refused.empty() && r.traffic.pictured > 0)
                printf("\n  %s: to whom each GPU's data goes, from the first blocks to the last (*: to no GPU more than half)\n%s", r.way->name, when_text(r.traffic).c_str());
}

constexpr const char* heading[] = {"date_utc", "commit", "backend", "machine", "driver", "processes", "gpus", "kernel", "type", "width", "height", "result_right", "samples", "time_median_ms",
                                   "time_min_ms", "time_spread_percent", "crossing_bytes_of_a_gpu", "gbs_out_of_each_gpu", "percent_of_peer_copies", "peer_store_requests", "peer_load_requests",
                                   "bytes_between_gpus", "bytes_asked", "messages", "message_bytes", "busiest_receiver", "link", "link_gbs", "model_ms"};

void add_csv(Run& run, const std::vector<Row>& rows, Shape shape, double crossing)
{
    double bound = 0;
    for (const Row& r : rows)
        if (!r.ms.empty() && !std::strcmp(r.way->name, "copyToPeers")) bound = summarize(r.ms).median;
    for (const Row& r : rows) {
        if (!r.refused.empty()) continue;
        std::vector<std::string> cells{utc_now(), build_commit, simulated() ? "sim" : "cuda", run.machine, run.driver, std::to_string(run.world.ranks), std::to_string(run.gpus), r.way->name,
                                       name_of(run.options.type), std::to_string(shape.width), std::to_string(shape.height), r.way->part == Way::bound ? "" : "yes"};
        if (r.ms.empty()) cells.resize(cells.size() + 6);
        else {
            const Summary s = summarize(r.ms);
            for (const std::string& cell : {std::to_string(r.ms.size()), number(s.median, "%.5f"), number(s.min, "%.5f"), number(100 * s.spread, "%.2f"), number(crossing, "%.0f"),
                                            number(crossing / (s.median * 1e6), "%.2f")})
                cells.push_back(cell);
        }
        cells.push_back(bound == 0 || r.ms.empty() ? "" : number(100 * bound / summarize(r.ms).median, "%.2f"));
        if (!simulated()) cells.resize(std::size(heading));
        else {
            const sim::Traffic& t = r.traffic;
            for (unsigned long long value : {total(t.stores), total(t.loads), total(t.bytes), total(t.asked), total(t.messages), total(t.message_bytes)}) cells.push_back(std::to_string(value));
            cells.push_back(number(t.busiest_receiver, "%.4f"));
            for (const Link& l : links)
                if (run.options.link == l.name)
                    for (const std::string& cell : {std::string(l.name), number(l.gbs, "%.1f"), number(model_ms(t, l), "%.6f")}) cells.push_back(cell);
        }
        run.csv += csv_line(cells);
    }
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
    Spread<T> matrix(e, 0);
    Meeting meeting(e);
    std::vector<Row> rows;
    bool reserved = false;
    for (const Way* way : run.chosen) {
        rows.push_back({way, why_not(run, *way), {}, {}});
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
        for (int g : e.mine) {
            CUDA(cudaSetDevice(e.device[g]));
            run.network->wait(e.stream[g]);
        }
        if (sim_take_traffic) row.traffic = *sim_take_traffic();
        if (way->part == Way::bound) continue;
        std::string wrong = matrix.check();
        if (run.network->most(wrong.empty() ? 0 : 1) > 0) {
            if (!wrong.empty()) fprintf(stderr, "step08: %s: wrong result: %s\n", way->name, wrong.c_str());
            run.right = false;
            row.refused = "wrong";
        }
    }
    if (!simulated() && !run.options.once) {
        std::vector<int> passes(rows.size(), 1);
        for (size_t i = 0; i < rows.size(); ++i)
            if (rows[i].refused.empty()) {
                const auto pass = [&] { (*rows[i].way)(e); };
                meeting.time_ms(1, *run.network, pass);
                passes[i] = std::min(std::max(int(sample_ms / std::max(meeting.time_ms(2, *run.network, pass), 1e-3)), 1), most_passes);
            }
        // In turns, so that a drift of the machine hits all alike.
        for (int s = 0; s < run.options.reps; ++s)
            for (size_t i = 0; i < rows.size(); ++i)
                if (rows[i].refused.empty()) rows[i].ms.push_back(meeting.time_ms(passes[i], *run.network, [&] { (*rows[i].way)(e); }));
        // What was timed is what was verified.
        for (Row& row : rows)
            if (row.refused.empty() && row.way->part != Way::bound) {
                matrix.poison();
                for (int again = 0; again < 3; ++again) {
                    (*row.way)(e);
                    meeting.meet();
                }
                for (int g : e.mine) run.network->wait(e.stream[g]);
                const std::string wrong = matrix.check();
                if (run.network->most(wrong.empty() ? 0 : 1) > 0) {
                    if (!wrong.empty()) fprintf(stderr, "step08: %s: wrong result after timing: %s\n", row.way->name, wrong.c_str());
                    run.right = false;
                }
            }
    }
    if (!run.speaks()) return;
    print(run, rows, crossing_bytes(e));
    add_csv(run, rows, shape, crossing_bytes(e));
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
    if (FILE* file = simulated() ? nullptr : fopen("/proc/driver/nvidia/version", "r")) {
        char line[256] = "", version[64] = "";
        if (fgets(line, sizeof line, file))
            for (const char* word = strtok(line, " \n"); word && run.driver.empty(); word = strtok(nullptr, " \n"))
                if (sscanf(word, "%63[0-9.]", version) == 1 && strchr(version, '.')) run.driver = version;
        fclose(file);
    }
    run.network = network_maker() ? network_maker()(run.world, run.gpus, run.mine, run.device, options.patience_s) : std::make_unique<Network>();
    if (many && !run.network->messages()) throw Error{status_bad_input, "this program was built without NCCL, which processes need: start ./step08 without mpirun"};
    run.chosen = choose(options);

    std::optional<WholeFile> file;
    if (!options.csv.empty() && run.speaks()) {
        file.emplace("--csv", options.csv);
        run.csv = csv_line({std::begin(heading), std::end(heading)});
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
        if (options.help) printf("%s", usage().c_str());
        else if (options.list) list();
        else hand_over(options, argv);
        if (sim_quiet_report && !options.explain) sim_quiet_report();
        const int status = options.help || options.list ? int(status_ok) : run(options);
        if (fflush(stdout) || ferror(stdout)) throw Error{status_bad_input, "standard output cannot be written"};
        return status;
    } catch (const Error& error) {
        fflush(stdout);
        fprintf(stderr, "step08: %s\n", printable(error.message).c_str());
        return error.status;
    } catch (const std::bad_alloc&) {
        fprintf(stderr, "step08: out of memory on the host\n");
        return status_bad_input;
    }
}
