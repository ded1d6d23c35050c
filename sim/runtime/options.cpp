// SIM_OPTIONS, which is a command line of its own: the program's arguments are the program's.

#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "../../common/base/error.h"
#include "../../common/base/suggest.h"
#include "../../common/base/whole_number.h"
#include "../core/devices.h"
#include "filters.h"

namespace sim {
namespace {

using harness::format;

constexpr long most_threads = 1024, most_blocks = 1000000000, most_patience = 1000000;

[[noreturn]] void refuse(const std::string& message)
{
    throw harness::Error{harness::status_bad_input, message};
}

// Words, as a shell would take them apart: quotes hold a name with spaces together.
std::vector<std::string> words_of(const std::string& text)
{
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (char c : text) {
        if (quote ? c == quote : c == '\'' || c == '"') {
            if (!in_word) words.emplace_back();
            in_word = true;
            quote = quote ? 0 : c;
        } else if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
            in_word = false;
        } else {
            if (!in_word) words.emplace_back();
            in_word = true;
            words.back() += c;
        }
    }
    if (quote) refuse(format("a quote %c is not closed", quote));
    return words;
}

// Runs a reader of another file, and turns its error into one of an option.
template <typename Read> decltype(auto) checked(const Read& read)
{
    try {
        return read();
    } catch (const harness::Error& error) {
        refuse(error.message);
    }
}

// The same numbers as in other command lines.
int whole_number(const char* option, const char* text, long most)
{
    return checked([&] { return harness::whole_number(option, text, most); });
}

// From 0 to 255.
int read_status(const char* value)
{
    return std::string(value) == "0" ? 0 : whole_number("error-exitcode", value, 255);
}

std::string read_kernel(const char* value)
{
    if (!*value) refuse("--kernel: expected a name or a regular expression");
    checked([&] { check_kernel_pattern(value); });
    return value;
}

// A file's name.
std::string read_file(const char* option, const char* value)
{
    if (!*value) refuse(format("--%s: expected a file name", option));
    return value;
}

const harness::Machine& read_machine(const char* value)
{
    return checked([&]() -> const harness::Machine& { return harness::machine_named(value); });
}

// A list of machines. Their names are those of files, too.
std::vector<const harness::Machine*> read_machines(const std::string& value)
{
    std::vector<const harness::Machine*> machines;
    for (size_t at = 0; at <= value.size();) {
        const size_t comma = std::min(value.find(',', at), value.size());
        const harness::Machine& next = read_machine(value.substr(at, comma - at).c_str());
        for (const harness::Machine* other : machines)
            if (other->name == next.name)
                refuse("--machines: two machines are called " + next.name + "; expected a name of its own for each");
        machines.push_back(&next);
        at = comma + 1;
    }
    return machines;
}

struct SimOption {
    const char* name;
    const char* value;  // as --help writes it; null: the option takes none
    const char* help;
    void (*read)(ProgramOptions& o, const char* value);
};

// Every option, in the order of --help.
const SimOption sim_options[] = {
    {"machine", "NAME", "the GPU that is simulated (default: h200), of ./step01 --list-machines, or a machine file",
     [](ProgramOptions& o, const char* value) { o.machines = {&read_machine(value)}; }},
    {"machines", "LIST", "run the program once for each, such as h200,h100,my.machine, and print the modelled times",
     [](ProgramOptions& o, const char* value) {
         o.machines = read_machines(value);
         o.each_machine = true;
     }},
    {"gpus", "N", "so many of it (default: 1; at most 16)",
     [](ProgramOptions& o, const char* value) { o.gpus = whole_number("gpus", value, most_devices); }},
    {"no-peers", nullptr, "the GPUs cannot access each other's memory",
     [](ProgramOptions& o, const char*) { o.peers = false; }},
    {"csv", "FILE", "also write the counts of each kernel to FILE",
     [](ProgramOptions& o, const char* value) { o.csv = read_file("csv", value); }},
    {"json", "FILE", "also write the counts and the findings to FILE",
     [](ProgramOptions& o, const char* value) { o.json = read_file("json", value); }},
    {"sarif", "FILE", "also write the findings to FILE, for editors and code reviews",
     [](ProgramOptions& o, const char* value) { o.sarif = read_file("sarif", value); }},
    {"trace", "FILE", "write every request of every warp to FILE, with its block, warp, line and bytes",
     [](ProgramOptions& o, const char* value) { o.trace = read_file("trace", value); }},
    {"explain", nullptr, "print the cost of each line of the source (the default)",
     [](ProgramOptions& o, const char*) { o.quiet = false; }},
    {"quiet", nullptr, "print findings alone", [](ProgramOptions& o, const char*) { o.quiet = true; }},
    {"threads", "N", "threads of the host (default: 1); with more than one, blocks are not compared with each other",
     [](ProgramOptions& o, const char* value) { o.threads = whole_number("threads", value, most_threads); }},
    {"blocks", "N", "run a sample of so many blocks of each launch (default: all)",
     [](ProgramOptions& o, const char* value) { o.blocks = whole_number("blocks", value, most_blocks); }},
    {"patience", "S", "seconds of a launch before a line says how many blocks are done (default: 10)",
     [](ProgramOptions& o, const char* value) { o.patience = whole_number("patience", value, most_patience); }},
    {"kernel", "NAME", "report the kernels of this name alone, or of a regular expression that fits whole names",
     [](ProgramOptions& o, const char* value) { o.kernel = read_kernel(value); }},
    {"tool", "LIST", "report findings of these kinds alone: memcheck, racecheck, initcheck, synccheck or all (default)",
     [](ProgramOptions& o, const char* value) { o.tools = checked([&] { return tools_named(value); }); }},
    {"error-exitcode", "N", "exit with N if there are findings; 0: with the program's status (default: 1 instead of 0)",
     [](ProgramOptions& o, const char* value) { o.error_exitcode = read_status(value); }},
    {"help", nullptr, "print this text, as -h does, and do not run the program",
     [](ProgramOptions& o, const char*) { o.help = true; }},
    {"version", nullptr, "print the version, and the commit that the simulator was built from",
     [](ProgramOptions& o, const char*) { o.version = true; }},
};

static_assert(most_devices == 16, "--help says so");

// The table as getopt_long() wants it. An option's value is its place in the table, from 1.
std::vector<option> getopt_table()
{
    std::vector<option> table;
    for (const SimOption& k : sim_options)
        table.push_back({k.name, k.value ? required_argument : no_argument, nullptr, int(table.size()) + 1});
    table.push_back({});
    return table;
}

// Throws: what is wrong with the option at which getopt_long() has just stopped.
[[noreturn]] void refuse_option(int c, char** argv)
{
    const std::string argument = argv[optind - 1];
    if (c == ':') refuse(argument + " needs a value");
    if (optopt > 0 && optopt < ' ') refuse(argument + ": the option takes no value");
    std::vector<std::string> names;
    for (const SimOption& k : sim_options) names.push_back(k.name);
    std::string expected = ": expected ";
    for (const std::string& name : names)
        expected += (name == names.front() ? "--" : name == names.back() ? " or --" : ", --") + name;
    refuse(harness::unknown_option(argv, names, expected));
}

}  // namespace

std::vector<OptionText> known_program_options()
{
    std::vector<OptionText> texts;
    for (const SimOption& k : sim_options)
        if (k.name != std::string("help") && k.name != std::string("version"))
            texts.push_back({k.name, k.value, k.help});
    return texts;
}

ProgramOptions parse_program_options(const std::string& text)
{
    const std::vector<option> table = getopt_table();
    std::vector<std::string> words = words_of(text);
    words.insert(words.begin(), "SIM_OPTIONS");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(&word[0]);
    argv.push_back(nullptr);
    const int argc = int(words.size());

    ProgramOptions o;
    // The program's own use of getopt begins as if this one had not been.
    struct Restore {
        int saved_err = opterr;
        ~Restore()
        {
            optind = 1;
            opterr = saved_err;
        }
    } restore;
    optind = 0;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv.data(), ":", table.data(), nullptr)) != -1;) {
        if (c == '?' && harness::short_help(argv.data())) {
            o.help = true;
            continue;
        }
        if (c < 1 || c >= int(table.size())) refuse_option(c, argv.data());
        sim_options[c - 1].read(o, optarg);
    }
    if (optind < argc) refuse(format("unexpected argument '%s'", argv[size_t(optind)]));
    return o;
}

std::string program_usage()
{
    std::string text =
        "The options of the simulator, in the environment variable SIM_OPTIONS, or in SIM='...' of make try:\n\n";
    for (const SimOption& option : sim_options) {
        const std::string value = option.value ? std::string(" ") + option.value : "";
        text += format("  --%-14s %s\n", (option.name + value).c_str(), option.help);
    }
    return text;
}

ProgramOptions& program_options()
{
    static ProgramOptions& options = *new ProgramOptions;  // used until the very end
    return options;
}

void read_program_options()
{
    const char* text = std::getenv("SIM_OPTIONS");
    try {
        program_options() = parse_program_options(text ? text : "");
    } catch (const harness::Error& error) {
        throw harness::Error{error.status, "SIM_OPTIONS: " + error.message};
    }
}

const harness::Machine& machine() { return *program_options().machines.front(); }

}  // namespace sim
