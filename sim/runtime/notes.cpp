#include "notes.h"

#include <algorithm>

#include "runtime.h"

namespace sim {
namespace {

std::vector<ProgramFinding>& findings()
{
    static auto& findings = *new std::vector<ProgramFinding>;  // used until the very end
    return findings;
}

std::vector<std::string>& notes()
{
    static auto& notes = *new std::vector<std::string>;
    return notes;
}

}  // namespace

void program_finding(const std::string& text, uint64_t count, const std::string& key, Tool tool)
{
    if (!reported(tool)) return;
    const RuntimeLock lock;
    const std::string& own = key.empty() ? text : key;
    for (ProgramFinding& known : findings())
        if (known.key == own) {
            known.count += count;
            return;
        }
    findings().push_back({own, text, count});
}

void not_simulated(const std::string& text) { program_finding("not simulated: " + text, 1, "", Tool::any); }

void program_note(const std::string& text)
{
    const RuntimeLock lock;
    if (std::find(notes().begin(), notes().end(), text) == notes().end()) notes().push_back(text);
}

const std::vector<ProgramFinding>& program_findings() { return findings(); }
const std::vector<std::string>& program_notes() { return notes(); }

}  // namespace sim
