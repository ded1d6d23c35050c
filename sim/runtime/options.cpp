// One table has all options. The program's arguments are its own, so its options come in the environment. sim/simcuda
// asks for the table with --list.

#include "options.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "../../common/base/error.h"
#include "../../common/base/page.h"
#include "../../common/base/suggest.h"
#include "../../common/base/whole_number.h"
#include "../core/devices.h"

namespace sim {
namespace {

using harness::format;
using harness::whole_number;
using Words = std::vector<std::string>;

[[noreturn]] void refuse(const std::string& message)
{
    throw harness::Error{harness::status_bad_input, message};
}

// Words of a text, as a shell takes them apart: quotes hold a name with spaces together.
Words words_of(const char* text)
{
    Words words;
    bool in_word = false;
    char quote = 0;
    for (; *text; ++text) {
        const bool space = !quote && std::strchr(" \t\n", *text);
        if (!space && !in_word) words.emplace_back();
        in_word = !space;
        if (*text == quote) quote = 0;
        else if (!quote && (*text == '\'' || *text == '"')) quote = *text;
        else if (!space) words.back() += *text;
    }
    if (quote) refuse(format("a quote %c is not closed", quote));
    return words;
}

// Items of a list with commas between them.
Words items_of(const std::string& list)
{
    Words items(1);
    for (char c : list)
        if (c == ',') items.emplace_back();
        else items.back() += c;
    return items;
}

// Machines of a list. Their names are those of files, too.
std::vector<const harness::Machine*> read_machines(const std::string& list)
{
    std::vector<const harness::Machine*> machines;
    for (const std::string& item : items_of(list)) {
        const harness::Machine& next = harness::machine_named(item);
        for (const harness::Machine* other : machines)
            if (other->name == next.name)
                refuse("--machines: two machines are called " + next.name + "; expected a name of its own for each");
        machines.push_back(&next);
    }
    return machines;
}

// Tools of a list; none: all of them.
Words read_tools(const std::string& list)
{
    const Words known = {"memcheck", "racecheck", "initcheck", "synccheck", "all"}, tools = items_of(list);
    for (const std::string& tool : tools)
        if (!std::count(known.begin(), known.end(), tool))
            refuse("--tool " + tool + ": " + harness::expected_one_of(tool, known));
    return std::count(tools.begin(), tools.end(), "all") ? Words{} : tools;
}

std::string read_kernel(const std::string& pattern)
{
    try {
        std::regex(pattern, std::regex::extended);
    } catch (const std::regex_error&) {
        refuse("--kernel " + pattern + ": expected a name or a regular expression");
    }
    return pattern;
}

struct Option {
    const char* name;
    const char* value;  // as --help writes it; null: the option takes none
    const char* help;
    void (*read)(ProgramOptions& o, const std::string& value);
};

// Every option, in the order of --help.
const Option options[] = {
    {"--machine", "NAME", "the GPU that is simulated (default: h200), of ./step01 --list-machines, or a machine file",
     [](auto& o, auto& value) { o.machines = {&harness::machine_named(value)}; }},
    {"--machines", "LIST", "run the program once for each, such as h200,h100,my.machine, and print the modelled times",
     [](auto& o, auto& value) {
         o.machines = read_machines(value);
         o.each_machine = true;
     }},
    {"--gpus", "N", "so many of it (default: 1; at most 16)",
     [](auto& o, auto& value) { o.gpus = whole_number("gpus", value.c_str(), most_devices); }},
    {"--no-peers", nullptr, "the GPUs cannot access each other's memory",
     [](auto& o, auto&) { o.peers = false; }},
    {"--csv", "FILE", "also write the counts of each kernel to FILE",
     [](auto& o, auto& value) { o.csv = value; }},
    {"--json", "FILE", "also write the counts and the findings to FILE",
     [](auto& o, auto& value) { o.json = value; }},
    {"--page", "FILE", "also write the source with its costs, and requests drawn, to FILE, a page of HTML",
     [](auto& o, auto& value) { o.page = value; }},
    {"--against", "FILE", "on the page, compare with the --json FILE of an earlier run",
     [](auto& o, auto& value) { o.against = harness::read_record("--against", value); }},
    {"--sarif", "FILE", "also write the findings to FILE, for editors and code reviews",
     [](auto& o, auto& value) { o.sarif = value; }},
    {"--trace", "FILE", "write every request of every warp to FILE, with its block, warp, line and bytes",
     [](auto& o, auto& value) { o.trace = value; }},
    {"--explain", nullptr, "print the cost of each access, not only of those that cost more than they must",
     [](auto& o, auto&) { o.explain = true; }},
    {"--quiet", nullptr, "print findings alone", [](auto& o, auto&) { o.quiet = true; }},
    {"--threads", "N", "threads of the host (default: 1); with more than one, blocks are not compared with each other",
     [](auto& o, auto& value) { o.threads = whole_number("threads", value.c_str(), 1024); }},
    {"--blocks", "N", "run a sample of so many blocks of each launch (default: all)",
     [](auto& o, auto& value) { o.blocks = whole_number("blocks", value.c_str(), 1000000000); }},
    {"--patience", "S", "seconds of a launch before a line says how many blocks are done (default: 10)",
     [](auto& o, auto& value) { o.patience = whole_number("patience", value.c_str(), 1000000); }},
    {"--kernel", "NAME", "report the kernels of this name alone, or of a regular expression that fits whole names",
     [](auto& o, auto& value) { o.kernel = read_kernel(value); }},
    {"--tool", "LIST",
     "report findings of these kinds alone: memcheck, racecheck, initcheck, synccheck or all (default)",
     [](auto& o, auto& value) { o.tools = read_tools(value); }},
    {"--error-exitcode", "N",
     "exit with N if there are findings; 0: with the program's status (default: 1 instead of 0)",
     [](auto& o, auto& value) {
         o.error_exitcode = value == "0" ? 0 : whole_number("error-exitcode", value.c_str(), 255);
     }},
    {"--help", nullptr, "print this text, as -h does, and do not run the program",
     [](auto& o, auto&) { o.help = true; }},
    {"--version", nullptr, "print the version, and the commit that the simulator was built from",
     [](auto& o, auto&) { o.version = true; }},
    {"--list", nullptr, "print these options for another program, each as NAME VALUE, a tab and its effect",
     [](auto& o, auto&) { o.help = o.list = true; }},
};

static_assert(most_devices == 16, "--help says so");

const Option& option_named(const std::string& typed)
{
    Words names;
    for (const Option& option : options) {
        if (typed == option.name || (typed == "-h" && option.name == std::string("--help"))) return option;
        names.push_back(option.name);
    }
    const std::string meant = harness::did_you_mean(typed, names);
    refuse("unknown option " + typed + (meant.empty() ? ": " + harness::expected_one_of(typed, names) : meant));
}

void read_words(ProgramOptions& o, const Words& words)
{
    for (auto word = words.begin(); word != words.end(); ++word) {
        if (word->compare(0, 1, "-") != 0) refuse("unexpected argument '" + *word + "'");
        const size_t equals = word->find('=');
        const std::string typed = word->substr(0, equals);
        const Option& option = option_named(typed);
        std::string value;
        if (equals != word->npos) value = word->substr(equals + 1);
        else if (option.value && word + 1 != words.end()) value = *++word;
        if (option.value && value.empty()) refuse(typed + " needs a value");
        if (!option.value && equals != word->npos) refuse(*word + ": the option takes no value");
        option.read(o, value);
    }
}

}  // namespace

std::string program_usage()
{
    const bool list = program_options().list;
    std::string text = list ? "" : "The options of the simulator, in the environment variable SIM_OPTIONS, or in "
                                   "SIM='...' of make try:\n\n";
    for (const Option& option : options) {
        const std::string words = option.name + (option.value ? std::string(" ") + option.value : "");
        text += format(list ? "%s\t%s\n" : "  %-16s %s\n", words.c_str(), option.help);
    }
    return text;
}

ProgramOptions& program_options()
{
    static ProgramOptions& options = *new ProgramOptions;  // never destroyed: exit handlers use it
    return options;
}

void read_program_options()
{
    ProgramOptions o;
    const char* const text = std::getenv("SIM_OPTIONS");
    try {
        read_words(o, words_of(text ? text : ""));
    } catch (const harness::Error& error) {
        throw harness::Error{error.status, "SIM_OPTIONS: " + error.message};
    }
    Words words;
    while (const char* word = std::getenv(("SIM_OPTION_" + std::to_string(words.size())).c_str()))
        words.push_back(word);
    read_words(o, words);
    if (o.page.empty() && !o.against.empty()) refuse(harness::against_without_page);
    program_options() = o;
}

const harness::Machine& machine() { return *program_options().machines.front(); }

}  // namespace sim
