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

// The arguments of the program, each one of `known`. --help or -h prints `about`, --version the version. Either ends
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
