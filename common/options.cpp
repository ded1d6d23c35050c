#include "options.h"

#include <getopt.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "error.h"
#include "machine.h"

namespace harness {
namespace {

// Indices in a kernel are ints and run on to the end of the last tile.
constexpr long max_side = 2147400000;
constexpr long max_reps = 100000;

[[noreturn]] void refuse(const std::string& message) { throw Error{status_bad_input, message}; }

int whole_number(const char* option, const char* text, long most)
{
    char* end = nullptr;
    errno = 0;
    const long value = std::strtol(text, &end, 10);
    if (end == text || *end || errno || value < 1 || value > most)
        refuse(format("--%s %s: expected a whole number from 1 to %ld", option, text, most));
    return int(value);
}

double bandwidth(const char* option, const char* text)
{
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || *end || !std::isfinite(value) || value <= 0)
        refuse(format("--%s %s: expected a bandwidth in GB/s above 0", option, text));
    return value;
}

Type type_named(const std::string& name)
{
    for (Type type : all_types)
        if (name == name_of(type)) return type;
    refuse("--type " + name + ": expected float, double or int");
}

}  // namespace

Options parse_options(int argc, char** argv)
{
    enum { size = 1, width, height, type, reps, device, kernel, csv, peak, machine, explain, list, list_machines, help };
    static const option known[] = {
        {"size", required_argument, nullptr, size},     {"width", required_argument, nullptr, width},
        {"height", required_argument, nullptr, height}, {"type", required_argument, nullptr, type},
        {"reps", required_argument, nullptr, reps},     {"device", required_argument, nullptr, device},
        {"kernel", required_argument, nullptr, kernel}, {"csv", required_argument, nullptr, csv},
        {"peak", required_argument, nullptr, peak},     {"machine", required_argument, nullptr, machine},
        {"explain", no_argument, nullptr, explain},     {"list", no_argument, nullptr, list},
        {"list-machines", no_argument, nullptr, list_machines},
        {"help", no_argument, nullptr, help},           {nullptr, 0, nullptr, 0}};

    Options o;
    int side = 0;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":", known, nullptr)) != -1;) {
        switch (c) {
            case size: side = whole_number("size", optarg, max_side); break;
            case width: o.width = whole_number("width", optarg, max_side); break;
            case height: o.height = whole_number("height", optarg, max_side); break;
            case type: o.type = type_named(optarg); break;
            case reps: o.reps = whole_number("reps", optarg, max_reps); break;
            case device:
                o.device = optarg;
                if (o.device != "auto" && o.device != "cuda" && o.device != "sim")
                    refuse("--device " + o.device + ": expected auto, cuda or sim");
                break;
            case kernel: o.kernel = optarg; break;
            case csv:
                o.csv = optarg;
                if (o.csv.empty()) refuse("--csv: expected a file name");
                break;
            case peak: o.peak_gbs = bandwidth("peak", optarg); break;
            case machine: o.machine = machine_named(optarg).name; break;
            case explain: o.explain = true; break;
            case list_machines: o.list_machines = true; break;
            case list: o.list = true; break;
            case help: o.help = true; break;
            case ':': refuse(format("%s needs a value; see --help", argv[optind - 1]));
            default:
                if (optopt > 0 && optopt < ' ') refuse(format("%s: the option takes no value; see --help", argv[optind - 1]));
                if (optopt) refuse(format("unknown option -%c; see --help", optopt));
                refuse(format("unknown option %s; see --help", argv[optind - 1]));
        }
    }
    if (optind < argc) refuse(format("unexpected argument '%s'; see --help", argv[optind]));
    if (side && (o.width || o.height)) refuse("--size excludes --width and --height: give one or the other");
    if (side) o.width = o.height = side;
    if (o.width && !o.height) refuse("--width without --height: give both, or --size for a square");
    if (o.height && !o.width) refuse("--height without --width: give both, or --size for a square");
    return o;
}

std::string usage(const std::string& program)
{
    return "usage: ./" + program + R"( [options]

Runs this step's kernels, checks every element of every result, and reports the bandwidth
(on a GPU) or the requests to memory and what they cost (on the simulator).

  --size N                 a square matrix of N x N elements
  --width W --height H     a matrix of H rows of W elements
                           (default: on a GPU at least eight times its L2; on the simulator 1024 x 1024)
  --type float|double|int  element type (default: float)
  --reps R                 timed samples per kernel on a GPU (default: 20);
                           runs per kernel on the simulator (default: 1)
  --device auto|cuda|sim   where to run (default: auto, the GPU if there is one)
  --kernel NAME            only this kernel
  --machine NAME           the GPU the simulator counts for (default: h200); see --list-machines
  --explain                what each access of a kernel asks for, what it costs, and why
  --peak GBS               DRAM peak of the card in GB/s, instead of the driver's figures
  --csv FILE               also write the results to FILE
  --list                   list the kernels and what each must produce
  --list-machines          list the GPUs the simulator knows
  --help                   this text

Exit status: 0 all results right; 1 a wrong result, a race, an access out of bounds or the
like, or an impossible measurement;
2 bad input; 3 no CUDA device, or a CUDA error.
)";
}

}  // namespace harness
