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

// Ends the program with the error's line and its status.
[[noreturn]] inline void exit_with(const harness::Error& error)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, harness::printable(error.message).c_str());
    exit(error.status);
}

// Runs f. An error ends the program.
template <typename F> auto or_exit(const F& f)
{
    try {
        return f();
    } catch (const harness::Error& error) {
        exit_with(error);
    }
}

[[noreturn]] inline void refuse_argument(const std::string& message)
{
    exit_with({harness::status_bad_input, message});
}

// The arguments of the program, each one of `known`. Of these, "--option FILE" has a value, as in --option FILE or
// --option=FILE. It is among the arguments as --option=FILE, for value_of(). --help or -h prints `about`, --version the
// version. Either ends the program. Exits 2 at any other argument.
inline std::vector<std::string> arguments_of(int argc, char** argv, const char* about,
                                             const std::vector<std::string>& known = {})
{
    std::vector<std::string> given;
    const char* program = program_invocation_short_name;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i], word = argument.substr(0, argument.find('='));
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
        const auto fits = [&](const std::string& name) {
            return name == argument || name.compare(0, word.size() + 1, word + " ") == 0;
        };
        const auto option = std::find_if(known.begin(), known.end(), fits);
        if (option == known.end()) {
            std::vector<std::string> expected = known;
            expected.insert(expected.end(), {"--help", "--version"});
            refuse_argument(argument + ": " + harness::expected_one_of(argument, expected));
        }
        given.push_back(argument);
        if (*option == argument) continue;
        if (word == argument) given.back() += std::string("=") + (i + 1 < argc ? argv[++i] : "");
        if (given.back() == word + "=") refuse_argument(word + " needs a value");
    }
    return given;
}

// The last value of such an option; empty: it was not given.
inline std::string value_of(const std::vector<std::string>& given, const std::string& option)
{
    std::string value;
    for (const std::string& argument : given)
        if (argument.compare(0, option.size() + 1, option + "=") == 0) value = argument.substr(option.size() + 1);
    return value;
}
