// Reads the command line of simcuda for the script of that name. It prints variables and arrays, as text that bash
// evaluates, or one line on standard error with exit status 2.
//
// usage: simcuda-arguments [ARGUMENT...]

#include <cstdio>

#include "../../common/base/error.h"
#include "arguments.h"

namespace command {
namespace {

std::string for_bash(const std::string& word)
{
    std::string text = "'";
    for (char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

void print(const char* name, const std::string& value) { std::printf("%s=%s\n", name, for_bash(value).c_str()); }
void print(const char* name, bool value) { std::printf("%s=%s\n", name, value ? "1" : ""); }
void print(const char* name, const Words& words)
{
    std::printf("%s=(", name);
    for (const std::string& word : words) std::printf("%s ", for_bash(word).c_str());
    std::printf(")\n");
}

void print(const Arguments& a)
{
    print("files", a.files);
    print("kinds", a.kinds);
    print("cpp_options", a.cpp);
    print("std_cpp_options", a.std_cpp);
    print("std_c_options", a.std_c);
    print("host_options", a.host);
    print("compiler_options", a.compiler);
    print("linker_options", a.linker);
    print("nvcc_options", a.nvcc);
    print("ignored", a.ignored);
    print("program_arguments", a.program);
    print("simulator_options", a.simulator);
    print("output", a.output);
    print("keep", a.keep);
    print("device", a.device);
    print("compile_only", a.compile_only);
    print("help", a.help ? usage() : "");
    print("version", a.version);
}

}  // namespace
}  // namespace command

int main(int argc, char** argv)
{
    try {
        command::print(command::parse(command::Words(argv + 1, argv + argc)));
    } catch (const harness::Error& error) {
        std::fprintf(stderr, "simcuda: %s\n", harness::printable(error.message).c_str());
        return error.status;
    }
    return std::fflush(stdout) ? 2 : 0;
}
