#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/machine.h"

namespace harness {
namespace {

// Indices in a kernel are ints and run on to the end of the last tile.
constexpr long max_side = 2147400000;
constexpr long max_reps = 100000;
constexpr long max_seed = 2000000000;
constexpr long max_block = 1024;
constexpr int max_printed = 32;

[[noreturn]] void refuse(const std::string& message) { throw Error{status_bad_input, message}; }

}  // namespace

Type type_named(const std::string& name)
{
    std::string known;
    for (Type type : all_types) {
        if (name == name_of(type)) return type;
        known += (known.empty() ? "" : ", ") + std::string(name_of(type));
    }
    refuse("--type " + name + ": expected one of " + known);
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts(1);
    for (char c : text)
        if (c == separator) parts.emplace_back();
        else parts.back() += c;
    return parts;
}

std::string file_named(const char* option, const char* text)
{
    if (!*text) refuse(format("--%s: expected a file name", option));
    return text;
}

std::string device_named(const std::string& name)
{
    if (name != "auto" && name != "cuda" && name != "sim") refuse("--device " + name + ": expected auto, cuda or sim");
    return name;
}

void refuse_argument(int c, char** argv)
{
    const char* argument = argv[optind - 1];
    if (c == ':') refuse(format("%s needs a value; see --help", argument));
    if (optopt > 0 && optopt < ' ') refuse(format("%s: the option takes no value; see --help", argument));
    if (optopt) refuse(format("unknown option -%c; see --help", optopt));
    refuse(format("unknown option %s; see --help", argument));
}

namespace {

double bandwidth(const char* option, const char* text)
{
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || *end || !std::isfinite(value) || value <= 0)
        refuse(format("--%s %s: expected a bandwidth in GB/s above 0", option, text));
    return value;
}

// N or WxH.
Shape shape(const std::string& text)
{
    const std::vector<std::string> sides = split(text, 'x');
    if (sides.size() > 2) refuse("--size " + text + ": expected N, or WIDTHxHEIGHT");
    return {whole_number("size", sides.front().c_str(), max_side), whole_number("size", sides.back().c_str(), max_side)};
}

Block block_shape(const std::string& text)
{
    const std::vector<std::string> sides = split(text, 'x');
    if (sides.size() != 2) refuse("--block " + text + ": expected threads in x and in y, for example 32x8");
    const Block block{unsigned(whole_number("block", sides[0].c_str(), max_block)), unsigned(whole_number("block", sides[1].c_str(), max_block))};
    if (block.x * block.y > max_block) refuse(format("--block %s: %u threads, and CUDA allows 1 to %ld", text.c_str(), block.x * block.y, max_block));
    return block;
}

// The sides that a source's table has.
std::vector<Shape> sweep(const std::string& name)
{
    std::vector<Shape> shapes;
    if (name != "book") refuse("--sweep " + name + ": expected book, which is 256, 512, 1024, 2048, 4096, 8192");
    for (int side = 256; side <= 8192; side *= 2) shapes.push_back({side, side});
    return shapes;
}

}  // namespace

std::vector<Shape> shapes_in(const std::string& list)
{
    std::vector<Shape> shapes;
    for (const std::string& text : split(list, ',')) shapes.push_back(shape(text));
    return shapes;
}

Options parse_options(int argc, char** argv)
{
    enum { size = 1, width, height, sweeps, type, reps, device, kernel, all, block, one_launch, once, print, errata, csv, peak, machine, gpus, explain, trace, seed,
           list, list_machines, help };
    static const option known[] = {
        {"size", required_argument, nullptr, size},     {"width", required_argument, nullptr, width},
        {"height", required_argument, nullptr, height}, {"sweep", required_argument, nullptr, sweeps},
        {"type", required_argument, nullptr, type},     {"seed", required_argument, nullptr, seed},     {"reps", required_argument, nullptr, reps},
        {"device", required_argument, nullptr, device}, {"kernel", required_argument, nullptr, kernel},
        {"all", no_argument, nullptr, all},             {"block", required_argument, nullptr, block},
        {"one-launch", no_argument, nullptr, one_launch}, {"once", no_argument, nullptr, once},
        {"print", no_argument, nullptr, print},
        {"errata", no_argument, nullptr, errata},       {"csv", required_argument, nullptr, csv},
        {"peak", required_argument, nullptr, peak},     {"machine", required_argument, nullptr, machine},
        {"gpus", required_argument, nullptr, gpus},
        {"explain", no_argument, nullptr, explain},     {"trace", required_argument, nullptr, trace},
        {"list", no_argument, nullptr, list},
        {"list-machines", no_argument, nullptr, list_machines},
        {"help", no_argument, nullptr, help},           {nullptr, 0, nullptr, 0}};

    Options o;
    Shape sides{};
    bool typed = false;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":", known, nullptr)) != -1;) {
        switch (c) {
            case size:
                for (const Shape& shape : shapes_in(optarg)) o.shapes.push_back(shape);
                break;
            case sweeps:
                for (const Shape& s : sweep(optarg)) o.shapes.push_back(s);
                break;
            case width: sides.width = whole_number("width", optarg, max_side); break;
            case height: sides.height = whole_number("height", optarg, max_side); break;
            case type:
                o.type = type_named(optarg);
                typed = true;
                break;
            case seed: o.seed = uint32_t(whole_number("seed", optarg, max_seed)); break;
            case reps: o.reps = whole_number("reps", optarg, max_reps); break;
            case device: o.device = device_named(optarg); break;
            case kernel:
                for (const std::string& name : split(optarg, ',')) o.kernels.push_back(name);
                break;
            case all: o.all = true; break;
            case block:
                for (const std::string& text : split(optarg, ',')) {
                    const Block b = block_shape(text);
                    const auto same = [&](const Block& known) { return known.x == b.x && known.y == b.y; };
                    if (std::none_of(o.blocks.begin(), o.blocks.end(), same)) o.blocks.push_back(b);
                }
                break;
            case one_launch: o.one_launch = true; break;
            case once: o.once = true; break;
            case print: o.print = true; break;
            case errata: o.errata = true; break;
            case csv: o.csv = file_named("csv", optarg); break;
            case trace: o.trace = file_named("trace", optarg); break;
            case peak: o.peak_gbs = bandwidth("peak", optarg); break;
            case machine: o.machine = machine_named(optarg).name; break;
            case gpus:
                if (!any_on_parts()) refuse("--gpus: no kernel of this program is for several GPUs");
                o.gpus = whole_number("gpus", optarg, MAX_GPUS);
                break;
            case explain: o.explain = true; break;
            case list_machines: o.list_machines = true; break;
            case list: o.list = true; break;
            case help: o.help = true; break;
            default: refuse_argument(c, argv);
        }
    }
    if (optind < argc) refuse(format("unexpected argument '%s'; see --help", argv[optind]));
    if (!o.shapes.empty() && (sides.width || sides.height)) refuse("--size excludes --width and --height: give one or the other");
    if (sides.width && !sides.height) refuse("--width without --height: give both, or --size for a square");
    if (sides.height && !sides.width) refuse("--height without --width: give both, or --size for a square");
    if (sides.width) o.shapes.push_back(sides);
    if (o.once && (o.one_launch || o.reps)) refuse("--once excludes --reps and --one-launch: it times nothing");
    if (o.all && !o.kernels.empty()) refuse("--all excludes --kernel: give one or the other");
    if (o.print) {
        if (o.shapes.empty()) o.shapes.push_back({8, 4});
        for (const Shape& s : o.shapes)
            if (s.width > max_printed || s.height > max_printed)
                refuse(format("--print: a matrix of %d rows and %d columns; at most %d of each fit on a line", s.height, s.width, max_printed));
    }
    if (o.errata) {
        if (o.device == "cuda") refuse("--errata: the faults are shown on the simulator; to run one on the GPU, name it with --kernel");
        if (o.all || !o.shapes.empty() || !o.csv.empty() || !o.trace.empty() || !o.blocks.empty() || o.one_launch || o.once || o.print || o.explain || o.reps || o.seed || o.peak_gbs > 0 || typed)
            refuse("--errata: each fault has its own matrix and report; of the other options it takes --kernel and --machine");
    }
    return o;
}

std::string usage(const std::string& program)
{
    return "usage: ./" + program + R"( [options]

Runs this step's kernels, checks every element of every result, and reports the bandwidth
(on a GPU) or the requests to memory and what they cost (on the simulator).

  --size N[,N|WxH...]      a square matrix of N x N elements, or one of H rows of W elements;
                           a list, separated by commas, is run size by size
  --sweep book             the sizes of the book's tables: 256, 512, 1024, 2048, 4096, 8192
  --width W --height H     a matrix of H rows of W elements
                           (default: on a GPU at least eight times its L2; on the simulator 1024 x 1024)
  --type char|half|float|double|int|double2
                           the type of the elements (default: float)
  --seed N                 the seed of the elements' values; from 65536 on, no kernel can know them in advance
  --reps R                 timed samples per kernel on a GPU (default: 20);
                           runs per kernel on the simulator (default: 1)
  --device auto|cuda|sim   where to run (default: auto, the GPU if there is one)
  --all                    also run the step's variants
  --kernel NAME[,NAME...]  run only these kernels of --list, given by name, by source row (B7), or by the
                           letter of a source (B)
  --block 32x8[,...]       threads of a block in x and y, for the kernels that allow a choice
  --once                   run each kernel once, verified and untimed, for use with a profiler
  --one-launch             also time many passes inside one launch (GPU)
  --print                  print the matrix before and after, at most 32 x 32, each element as its number
  --errata                 run the faults published at this stage: what each does, and which check finds it
  --machine NAME           the GPU that the simulator counts for (default: h200); see --list-machines
)" + (any_on_parts() ? format("  --gpus G                 spread the matrix over so many GPUs (default: %d; at most %d)\n", usual_gpus, MAX_GPUS) : "") + R"(  --explain                for each load and store of a kernel: what it asks for, what it costs, and why
  --trace FILE             write every request of every warp to FILE, with its block, warp, line and bytes (simulator)
  --peak GBS               the DRAM peak of the card in GB/s, in place of the driver's figures
  --csv FILE               also write the results to FILE
  --list                   list the kernels, what each must produce and its row in the table of sources
  --list-machines          list the GPUs that the simulator knows; --csv FILE writes their full descriptions
  --help                   print this text

Exit status: 0 all results right; 1 a wrong result, a race, an access out of bounds or another
fault of a kernel, or an impossible measurement; 2 bad input; 3 no CUDA device, or a CUDA error.
)";
}

}  // namespace harness
