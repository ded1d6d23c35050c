// The findings and the notes that the report gives about the program as a whole.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "filters.h"

namespace sim {

struct ProgramFinding {
    std::string key, text;
    uint64_t count;
};

// Something that the program must not do. A finding with the same key, or without a key the same text, is counted and
// not repeated. One that --tool leaves out is dropped.
void program_finding(const std::string& text, uint64_t count = 1, const std::string& key = "",
                     Tool tool = Tool::memcheck);
// What the program asks for and the simulator does not have: "not simulated: " and the text.
void not_simulated(const std::string& text);
// Something that a reader of the program's output has to know. A text is noted once.
void program_note(const std::string& text);

// In the order in which they came.
const std::vector<ProgramFinding>& program_findings();
const std::vector<std::string>& program_notes();

}  // namespace sim
