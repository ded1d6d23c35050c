#include "filters.h"

#include <algorithm>
#include <regex>

#include "options.h"

namespace sim {

bool reported(const harness::FindingKind& kind)
{
    const std::vector<std::string>& tools = program_options().tools;
    return !*kind.tool || tools.empty() || std::count(tools.begin(), tools.end(), kind.tool);
}

bool reported_kernel(const std::string& name)
{
    const std::string& pattern = program_options().kernel;
    if (pattern.empty() || name == pattern) return true;
    static const std::regex& regex = *new std::regex(pattern, std::regex::extended);  // for exit handlers, too
    return std::regex_match(name, regex) || std::regex_match(name.substr(0, name.find('<')), regex);
}

std::string tools_note()
{
    std::string names;
    for (const std::string& tool : program_options().tools) names += (names.empty() ? "" : ",") + tool;
    return names.empty() ? "" : "--tool " + names + ": findings of other kinds are left out";
}

}  // namespace sim
