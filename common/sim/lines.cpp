#include "lines.h"

#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "../error.h"

namespace sim {
namespace {

// Where the program was loaded: debug information counts from there. It is the first in the list.
uint64_t load_address()
{
    uint64_t base = 0;
    dl_iterate_phdr([](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;
    }, &base);
    return base;
}

std::string text_of(const std::string& file, int number)
{
    std::ifstream in(file);
    std::string line;
    for (int i = 0; i < number && std::getline(in, line); ++i) {}
    if (!in) return "";
    const size_t begin = line.find_first_not_of(" \t"), comment = line.find("//");
    if (begin == std::string::npos) return "";
    line = line.substr(begin, comment == std::string::npos ? comment : comment - begin);
    return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

}  // namespace

std::vector<Line> lines_of(const std::vector<uint64_t>& return_addresses)
{
    std::vector<Line> lines(return_addresses.size());
    char program[PATH_MAX] = "";
    if (return_addresses.empty() || readlink("/proc/self/exe", program, sizeof program - 1) < 0) return lines;
    std::string command = "addr2line -e '";
    for (const char* c = program; *c; ++c) command += *c == '\'' ? std::string("'\\''") : std::string(1, *c);
    command += "'";
    // The call is in front of where it returns to.
    for (uint64_t address : return_addresses)
        command += harness::format(" 0x%llx", (unsigned long long)(address - load_address() - 1));
    FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (!pipe) return lines;
    char buffer[PATH_MAX + 64];
    for (Line& line : lines) {
        if (!fgets(buffer, sizeof buffer, pipe)) break;
        const std::string answer(buffer);
        const size_t colon = answer.rfind(':');
        if (colon == std::string::npos || answer[0] == '?') continue;
        line.number = std::atoi(answer.c_str() + colon + 1);
        line.file = answer.substr(0, colon);
        line.text = text_of(line.file, line.number);
        // As a reader of this folder would name it.
        char here[PATH_MAX];
        if (getcwd(here, sizeof here) && line.file.rfind(std::string(here) + "/", 0) == 0) line.file.erase(0, std::string(here).size() + 1);
    }
    pclose(pipe);
    return lines;
}

}  // namespace sim
