#include "filters.h"

#include <algorithm>
#include <map>
#include <regex>
#include <vector>

#include "../../common/base/error.h"
#include "../../common/base/suggest.h"
#include "options.h"

namespace sim {
namespace {

using harness::Error;
using harness::status_bad_input;

// The first is bit 0. A function, because options are read before variables are initialized.
std::vector<std::string> tool_names() { return {"memcheck", "racecheck", "initcheck", "synccheck", "all"}; }

std::regex as_regex(const std::string& pattern) { return std::regex(pattern, std::regex::extended); }

}  // namespace

unsigned tools_named(const std::string& list)
{
    unsigned tools = 0;
    for (size_t begin = 0, end = 0; end != list.npos; begin = end + 1) {
        end = list.find(',', begin);
        const std::string name = list.substr(begin, end == list.npos ? end : end - begin);
        const std::vector<std::string> names = tool_names();
        const size_t i = size_t(std::find(names.begin(), names.end(), name) - names.begin());
        if (i == names.size())
            throw Error{status_bad_input, "--tool " + name + ": " + harness::expected_one_of(name, names)};
        tools |= name == "all" ? all_tools : 1u << i;
    }
    return tools;
}

bool reported(const harness::FindingKind& kind)
{
    return !*kind.tool || program_options().tools & tools_named(kind.tool);
}

void check_kernel_pattern(const std::string& pattern)
{
    try {
        as_regex(pattern);
    } catch (const std::regex_error&) {
        throw Error{status_bad_input, "--kernel " + pattern + ": expected a name or a regular expression"};
    }
}

bool reported_kernel(const std::string& name)
{
    const std::string& pattern = program_options().kernel;
    if (pattern.empty()) return true;
    static auto& known = *new std::map<std::string, bool>;  // a program may launch a kernel a million times
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    const std::regex regex = as_regex(pattern);
    const std::string plain = name.substr(0, name.find('<'));
    return known[name] = name == pattern || std::regex_match(name, regex) || std::regex_match(plain, regex);
}

std::string tools_note()
{
    const unsigned tools = program_options().tools;
    if (tools == all_tools) return "";
    std::string names;
    for (size_t i = 0; i + 1 < tool_names().size(); ++i)
        if (tools & 1u << i) names += (names.empty() ? "" : ",") + tool_names()[i];
    return "--tool " + names + ": findings of other kinds are left out";
}

}  // namespace sim
