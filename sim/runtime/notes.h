// The findings and the notes that the report gives about the program as a whole.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../core/sinks/faults.h"

namespace sim {

// Something that the program must not do. A finding with the same key, or without a key the same text, is counted and
// not repeated.
void program_finding(const harness::Finding& finding, const std::string& key = "");
// A finding about a call that the program makes at a place.
void program_finding(const harness::FindingKind& kind, const void* place, const std::string& text,
                     const std::string& key = "");
harness::Finding finding_of_call(const harness::FindingKind& kind, const void* place, const std::string& text);
uint64_t findings_so_far();  // repeated ones included
// Something that a reader of the program's output has to know. A text is noted once.
void program_note(const std::string& text);

// All findings and notes, in the order in which they came.
const std::vector<harness::Finding>& program_findings();
const std::vector<std::string>& program_notes();

}  // namespace sim
