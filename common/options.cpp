#include "options.h"

#include <getopt.h>

#include <algorithm>

#include "base/error.h"
#include "base/machine.h"
#include "base/suggest.h"
#include "links.h"

namespace harness {
namespace {

constexpr long max_reps = 100000;
constexpr long max_seed = 2000000000;
constexpr int max_printed = 32;
constexpr long max_patience_s = 86400;

// --width and --height are one shape, given in two parts.
struct Parsed {
    Options options;
    Shape sides{};
};

using Read = void (*)(Parsed& parsed, const char* value);

struct Option {
    const char* name;
    const char* value;   // as --help writes it; null: the option takes none
    const char* help;    // lines; empty: the option before says it
    bool with_errata;    // whether --errata takes it
    Read read;
    bool several = false;  // only programs with a kernel for several GPUs have it in --help
};

template <bool Options::*flag>
void set(Parsed& p, const char*) { p.options.*flag = true; }

template <typename T>
void add_all(std::vector<T>& all, const std::vector<T>& more) { all.insert(all.end(), more.begin(), more.end()); }

void add_blocks(Parsed& p, const char* value)
{
    std::vector<Block>& blocks = p.options.blocks;
    for (const Block& b : blocks_in(value)) {
        const auto same = [&](const Block& known) { return known.x == b.x && known.y == b.y; };
        if (std::none_of(blocks.begin(), blocks.end(), same)) blocks.push_back(b);
    }
}

// Programs with a kernel for several GPUs have more options.
void need_several(const char* option)
{
    if (!any_on_parts()) refuse(format("--%s: no kernel of this program is for several GPUs", option));
}

void set_gpus(Parsed& p, const char* value)
{
    need_several("gpus");
    p.options.gpus = whole_number("gpus", value, MAX_GPUS);
}

void set_link(Parsed& p, const char* value)
{
    need_several("link");
    p.options.link = link_named(value).name;
}

void set_patience(Parsed& p, const char* value)
{
    need_several("patience");
    p.options.patience_s = whole_number("patience", value, max_patience_s);
}

// Every option, in the order of --help.
const Option known[] = {
    {"size", "N[,N|WxH...]",
     "a square matrix of N x N elements, or one of H rows of W elements;\n"
     "a list, separated by commas, is run size by size",
     false, [](Parsed& p, const char* value) { add_all(p.options.shapes, shapes_in(value)); }},
    {"sweep", "book", "the sizes of the book's tables: 256, 512, 1024, 2048, 4096, 8192",
     false, [](Parsed& p, const char* value) { add_all(p.options.shapes, sweep_named(value)); }},
    {"width", "W --height H",
     "a matrix of H rows of W elements\n"
     "(default: on a GPU at least eight times its L2; on the simulator 1024 x 1024)",
     false, [](Parsed& p, const char* value) { p.sides.width = whole_number("width", value, max_side); }},
    {"height", "H", "",
     false, [](Parsed& p, const char* value) { p.sides.height = whole_number("height", value, max_side); }},
    {"type", "char|half|float|double|int|double2", "the type of the elements (default: float)",
     false, [](Parsed& p, const char* value) { p.options.type = type_named(value); }},
    {"seed", "N", "the seed of the elements' values; from 65536 on, no kernel can know them in advance",
     false, [](Parsed& p, const char* value) { p.options.seed = uint32_t(whole_number("seed", value, max_seed)); }},
    {"reps", "R",
     "timed samples per kernel on a GPU (default: 20);\n"
     "runs per kernel on the simulator (default: 1)",
     false, [](Parsed& p, const char* value) { p.options.reps = whole_number("reps", value, max_reps); }},
    {"device", "auto|cuda|sim", "where to run (default: auto, the GPU if there is one)",
     true, [](Parsed& p, const char* value) { p.options.device = device_named(value); }},
    {"all", nullptr, "also run the step's variants",
     false, set<&Options::all>},
    {"kernel", "NAME[,NAME...]",
     "run only these kernels of --list, given by name, by source row (B7), or by the\n"
     "letter of a source (B)",
     true, [](Parsed& p, const char* value) { add_all(p.options.kernels, split(value, ',')); }},
    {"block", "32x8[,...]", "threads of a block in x and y, for the kernels that allow a choice",
     false, add_blocks},
    {"once", nullptr, "run each kernel once, verified and untimed, for use with a profiler",
     false, set<&Options::once>},
    {"one-launch", nullptr, "also time many passes inside one launch (GPU)",
     false, set<&Options::one_launch>},
    {"print", nullptr, "print the matrix before and after, at most 32 x 32, each element as its number",
     false, set<&Options::print>},
    {"errata", nullptr, "run the faults published at this stage: what each does, and which check finds it",
     true, set<&Options::errata>},
    {"machine", "NAME|FILE", "the GPU that the simulator counts for (default: h200): one of --list-machines,\n"
     "or a machine file, FILE.machine or any file with a / in its name",
     true, [](Parsed& p, const char* value) { p.options.machine = &machine_named(value); }},
    {"gpus", "G", "spread the matrix over so many GPUs (default: all; on the simulator 4; at most 16)", true, set_gpus,
     true},
    {"link", "NAME",
     "the links of the model (default: nvlink4): nvlink2, nvlink3, nvlink4, pcie4, pcie5, ndr", true, set_link, true},
    {"patience", "S", "seconds to wait for another process (default: 60)", true, set_patience, true},
    {"explain", nullptr, "for each load and store of a kernel: what it asks for, what it costs, and why",
     false, set<&Options::explain>},
    {"trace", "FILE", "write every request of every warp to FILE, with its block, warp, line and bytes (simulator)",
     false, [](Parsed& p, const char* value) { p.options.trace = file_named("trace", value); }},
    {"separate-host", nullptr,
     "run the host's code of each launch in a process of its own, which reaches neither\n"
     "matrices nor counts (simulator)",
     false, set<&Options::separate_host>},
    {"peak", "GBS", "the DRAM peak of the card in GB/s, in place of the driver's figures",
     false, [](Parsed& p, const char* value) { p.options.peak_gbs = bandwidth_in("peak", value); }},
    {"csv", "FILE", "also write the results to FILE; with --list or --errata, what these print",
     true, [](Parsed& p, const char* value) { p.options.csv = file_named("csv", value); }},
    {"json", "FILE", "also write to FILE what the run finds and prints of each matrix, a line of JSON for each",
     false, [](Parsed& p, const char* value) { p.options.json = file_named("json", value); }},
    {"page", "FILE", "also write a page to FILE: the source with its costs, and requests drawn (simulator)",
     false, [](Parsed& p, const char* value) { p.options.page = file_named("page", value); }},
    {"against", "FILE", "on the page, compare with the --json FILE of an earlier run",
     false, [](Parsed& p, const char* value) { p.options.against = value; }},
    {"list", nullptr, "list the kernels, what each must produce and its row in the table of sources",
     true, set<&Options::list>},
    {"list-machines", nullptr, "list the GPUs that the simulator knows, and the file of --machine; --csv FILE writes\n"
     "their full descriptions",
     true, set<&Options::list_machines>},
    {"help", nullptr, "print this text, as -h does", true, set<&Options::help>},
    {"version", nullptr, "print the version, and the commit that this program was built from", true,
     set<&Options::version>},
};

static_assert(usual_gpus == 4 && MAX_GPUS == 16, "--help says so");

// Throws if an option was given that --errata does not take.
void refuse_beside_errata(const std::vector<const Option*>& given)
{
    if (std::all_of(given.begin(), given.end(), [](const Option* k) { return k->with_errata; })) return;
    refuse("--errata: each fault has its own matrix and report; of the other options it takes --kernel, --machine "
           "and --csv");
}

// Both sides, or neither; and no --size next to them.
void add_sides(Options& o, Shape sides)
{
    if (!o.shapes.empty() && (sides.width || sides.height))
        refuse("--size excludes --width and --height: give one or the other");
    if (sides.width && !sides.height) refuse("--width without --height: give both, or --size for a square");
    if (sides.height && !sides.width) refuse("--height without --width: give both, or --size for a square");
    if (sides.width) o.shapes.push_back(sides);
}

// Gives --print its default shape, and refuses those too large for it.
void limit_print(Options& o)
{
    if (o.shapes.empty()) o.shapes.push_back({8, 4});
    for (const Shape& s : o.shapes)
        if (s.width > max_printed || s.height > max_printed)
            refuse(format("--print: a matrix of %d rows and %d columns; at most %d of each fit on a line",
                          s.height, s.width, max_printed));
}

// The table in the form of getopt_long(). An option's value is its place in the table, from 1.
std::vector<option> getopt_table()
{
    std::vector<option> table;
    for (const Option& k : known)
        table.push_back({k.name, k.value ? required_argument : no_argument, nullptr, int(table.size()) + 1});
    table.push_back({});
    return table;
}

std::vector<std::string> names_of_options()
{
    std::vector<std::string> names;
    for (const Option& k : known) names.push_back(k.name);
    return names;
}

}  // namespace

Options parse_options(int argc, char** argv)
{
    const std::vector<option> table = getopt_table();
    Parsed parsed;
    std::vector<const Option*> given;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":", table.data(), nullptr)) != -1;) {
        if (c == '?' && short_help(argv)) {
            parsed.options.help = true;
            continue;
        }
        if (c < 1 || c >= int(table.size())) refuse_argument(c, argv, names_of_options());
        given.push_back(&known[c - 1]);
        given.back()->read(parsed, optarg);
    }
    Options& o = parsed.options;
    if (optind < argc) refuse(format("unexpected argument '%s'; see --help", argv[optind]));
    add_sides(o, parsed.sides);
    if (o.once && (o.one_launch || o.reps)) refuse("--once excludes --reps and --one-launch: it times nothing");
    if (o.all && !o.kernels.empty()) refuse("--all excludes --kernel: give one or the other");
    if (o.print) limit_print(o);
    if (o.errata && o.device == "cuda")
        refuse("--errata: the faults are shown on the simulator; to run one on the GPU, name it with --kernel");
    if (o.errata) refuse_beside_errata(given);
    return o;
}

std::string usage(const std::string& program)
{
    constexpr size_t indent = 27;  // of the right column
    std::string text = "usage: ./" + program + R"( [options]

Runs this step's kernels, checks every element of every result, and reports the bandwidth
(on a GPU) or the requests to memory and what they cost (on the simulator).

)";
    for (const Option& k : known) {
        const std::string help = k.several && !any_on_parts() ? "" : k.help;
        if (help.empty()) continue;
        std::string line = std::string("  --") + k.name + (k.value ? std::string(" ") + k.value : "");
        if (line.size() < indent - 1) line.resize(indent, ' ');
        else line += "\n" + std::string(indent, ' ');
        for (char c : help) line += c == '\n' ? "\n" + std::string(indent, ' ') : std::string(1, c);
        text += line + "\n";
    }
    return text + R"(
Exit status: 0 all results right; 1 a wrong result, a race, an access out of bounds or another
fault of a kernel, or an impossible measurement; 2 bad input; 3 no CUDA device, or a CUDA error.
)";
}

}  // namespace harness
