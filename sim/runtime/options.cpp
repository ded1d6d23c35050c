// SIM_OPTIONS, which is a command line of its own: the program's arguments are the program's.

#include "options.h"

#include <getopt.h>

#include <cstdlib>
#include <vector>

#include "../../common/base/error.h"
#include "../../common/base/suggest.h"
#include "../../common/base/whole_number.h"
#include "../core/devices.h"

namespace sim {
namespace {

using harness::format;

constexpr long most_threads = 1024, most_blocks = 1000000000, most_patience = 1000000;

[[noreturn]] void refuse(const std::string& message)
{
    throw harness::Error{harness::status_bad_input, "SIM_OPTIONS: " + message};
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

// The same numbers as in other command lines.
int whole_number(const char* option, const char* text, long most)
{
    try {
        return harness::whole_number(option, text, most);
    } catch (const harness::Error& error) {
        refuse(error.message);
    }
}

std::vector<std::string> names_of(const option* known)
{
    std::vector<std::string> names;
    for (; known->name; ++known) names.push_back(known->name);
    return names;
}

// "expected --machine, --csv or --quiet".
std::string expected(const std::vector<std::string>& names)
{
    std::string text = "expected ";
    for (size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "--" : i + 1 < names.size() ? ", --" : " or --") + names[i];
    return text;
}

std::string file_name(const char* option, const char* name)
{
    if (!*name) refuse(format("--%s: expected a file name", option));
    return name;
}

}  // namespace

ProgramOptions parse_program_options(const std::string& text)
{
    enum { machine = 1, gpus, no_peers, csv, json, sarif, trace, ncu, explain, quiet, threads, blocks, patience };
    static const option known[] = {{"machine", required_argument, nullptr, machine},
                                   {"gpus", required_argument, nullptr, gpus},
                                   {"no-peers", no_argument, nullptr, no_peers},
                                   {"csv", required_argument, nullptr, csv},
                                   {"json", required_argument, nullptr, json},
                                   {"sarif", required_argument, nullptr, sarif},
                                   {"trace", required_argument, nullptr, trace},
                                   {"ncu", required_argument, nullptr, ncu},
                                   {"explain", no_argument, nullptr, explain},
                                   {"quiet", no_argument, nullptr, quiet},
                                   {"threads", required_argument, nullptr, threads},
                                   {"blocks", required_argument, nullptr, blocks},
                                   {"patience", required_argument, nullptr, patience},
                                   {nullptr, 0, nullptr, 0}};
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
    for (int c; (c = getopt_long(argc, argv.data(), ":", known, nullptr)) != -1;) {
        switch (c) {
            case machine:
                try {
                    o.machine = harness::machine_named(optarg).name;
                } catch (const harness::Error& error) {
                    refuse(error.message);
                }
                break;
            case gpus: o.gpus = whole_number("gpus", optarg, most_devices); break;
            case no_peers: o.peers = false; break;
            case csv:
                o.csv = file_name("csv", optarg);
                break;
            case json:
                o.json = file_name("json", optarg);
                break;
            case sarif:
                o.sarif = file_name("sarif", optarg);
                break;
            case trace:
                o.trace = file_name("trace", optarg);
                break;
            case ncu:
                o.ncu = file_name("ncu", optarg);
                break;
            case explain: o.quiet = false; break;
            case quiet: o.quiet = true; break;
            case threads: o.threads = whole_number("threads", optarg, most_threads); break;
            case blocks: o.blocks = whole_number("blocks", optarg, most_blocks); break;
            case patience: o.patience = whole_number("patience", optarg, most_patience); break;
            case ':': refuse(format("%s needs a value", argv[size_t(optind - 1)]));
            default:
                if (optopt > 0 && optopt < ' ')
                    refuse(format("%s: the option takes no value", argv[size_t(optind - 1)]));
                refuse(harness::unknown_option(argv.data(), names_of(known), ": " + expected(names_of(known))));
        }
    }
    if (!o.ncu.empty() && o.blocks) refuse("--ncu compares whole launches; remove --blocks");
    if (optind < argc) refuse(format("unexpected argument '%s'", argv[size_t(optind)]));
    return o;
}

namespace {

const harness::Machine* simulated = nullptr;

}  // namespace

ProgramOptions& program_options()
{
    static ProgramOptions& options = *new ProgramOptions;  // used until the very end
    return options;
}

void read_program_options()
{
    const char* text = std::getenv("SIM_OPTIONS");
    program_options() = parse_program_options(text ? text : "");
    simulated = &harness::machine_named(program_options().machine);
}

const harness::Machine& machine() { return *simulated; }

}  // namespace sim
