#include "notes.h"

#include <algorithm>

#include "runtime.h"

namespace sim {
namespace {

struct AllFindings {
    std::vector<std::string> keys;
    std::vector<harness::Finding> records;  // one for each key
};

AllFindings& all_findings()
{
    static auto& findings = *new AllFindings;  // never destroyed: exit handlers use it
    return findings;
}

std::vector<std::string>& notes()
{
    static auto& notes = *new std::vector<std::string>;
    return notes;
}

}  // namespace

static uint64_t findings_made = 0;
uint64_t findings_so_far() { return findings_made; }

void program_finding(const harness::Finding& finding, const std::string& key)
{
    ++findings_made;
    if (!reported(*finding.kind)) return;
    const RuntimeLock lock;
    auto& [keys, records] = all_findings();
    const std::string& own = key.empty() ? finding.text : key;
    const auto known = std::find(keys.begin(), keys.end(), own);
    if (known != keys.end()) {
        records[size_t(known - keys.begin())].count += finding.count;
        return;
    }
    keys.push_back(own);
    records.push_back(finding);
}

harness::Finding finding_of_call(const harness::FindingKind& kind, const void* place, const std::string& text)
{
    return harness::Finding(kind, text, finding_place(uint64_t(place)));
}

void program_finding(const harness::FindingKind& kind, const void* place, const std::string& text,
                     const std::string& key)
{
    program_finding(finding_of_call(kind, place, text), key);
}

void program_note(const std::string& text)
{
    const RuntimeLock lock;
    if (std::find(notes().begin(), notes().end(), text) == notes().end()) notes().push_back(text);
}

const std::vector<harness::Finding>& program_findings() { return all_findings().records; }
const std::vector<std::string>& program_notes() { return notes(); }

}  // namespace sim
