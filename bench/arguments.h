// The command line of the programs that measure a card outside of the steps.

#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/base/commit.h"
#include "common/base/error.h"
#include "common/base/suggest.h"

// Runs f. An error ends the program with its line and its status.
template <typename F> auto or_exit(const F& f)
{
    try {
        return f();
    } catch (const harness::Error& error) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, harness::printable(error.message).c_str());
        exit(error.status);
    }
}

// Takes an option and its value, --machine-file FILE or --machine-file=FILE, out of the arguments. Returns the value;
// empty: the option is not there. Exits 2 if it has no value, or is there twice.
inline std::string taken_option(int& argc, char** argv, const std::string& option)
{
    std::string value;
    int kept = 1;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const bool with_value = word.compare(0, option.size() + 1, option + "=") == 0;
        if (!with_value && word != option) {
            argv[kept++] = argv[i];
            continue;
        }
        or_exit([&] {
            if (!value.empty()) throw harness::Error{harness::status_bad_input, option + " is there twice"};
            value = with_value ? word.substr(option.size() + 1) : i + 1 < argc ? argv[++i] : "";
            if (value.empty()) throw harness::Error{harness::status_bad_input, option + " needs a value"};
        });
    }
    argc = kept;
    return value;
}

// The arguments of the program, each one of `known`. An option that taken_option() took is in `known` with the name of
// its value, for the messages. --help or -h prints `about`, --version the version. Either ends
// the program. Exits 2 at any other argument.
inline std::vector<std::string> arguments_of(int argc, char** argv, const char* about,
                                             const std::vector<std::string>& known = {})
{
    const std::vector<std::string> given(argv + 1, argv + argc);
    const char* program = program_invocation_short_name;
    for (const std::string& argument : given) {
        const bool help = argument == "--help" || argument == "-h", version = argument == "--version";
        if (help) {
            std::string choice;
            for (const std::string& name : known) choice += " [" + name + "]";
            printf("usage: ./%s%s > FILE.csv\n       ./%s --help | --version\n\n%s\n\n"
                   "Exit status: 0; 1 a wrong result; 2 bad input; 3 no GPU, or a CUDA error.\n",
                   program, choice.c_str(), program, about);
        }
        if (version) printf("%s\n", harness::version_line(program).c_str());
        if (help || version) exit(harness::status_ok);
        if (std::find(known.begin(), known.end(), argument) != known.end()) continue;
        std::vector<std::string> expected = known;
        expected.insert(expected.end(), {"--help", "--version"});
        fprintf(stderr, "%s: %s: %s\n", program, harness::printable(argument).c_str(),
                harness::expected_one_of(argument, expected).c_str());
        exit(harness::status_bad_input);
    }
    return given;
}
