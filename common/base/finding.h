// A finding: a fault that a program showed, as a record. The terminal, JSON and SARIF are written from it.
//
// Interface: FindingKind, what went wrong; FindingPlace, a line of the source and who was there; FindingRecord, both,
// with a sentence; finding_lines(), the text of the terminal.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace harness {

// Error: CUDA ends the kernel or refuses the call. Warning: the program goes on, and its result may be wrong.
enum class Level { warning, error };
const char* name_of(Level level);

struct FindingKind {
    const char* id;  // for programs: "divergent-barrier"
    Level level;
    const char* text;  // a sentence
    const char* section;  // of sim/README.md, that explains it
    const char* tool;     // of compute-sanitizer that looks for it; empty: it is reported with every tool
};

// x, y and z.
using Index = std::array<uint64_t, 3>;

struct FindingPlace {
    std::string file;  // empty: unknown
    int line = 0, column = 0;  // from 1; 0: unknown
    std::string source;  // text of the line; empty: unknown
    std::optional<Index> block, thread;  // none: the host
    std::string text;  // of another place than the first: what happens there
};

struct FindingRecord {
    const FindingKind* kind;
    std::string kernel;  // empty: it happened in no kernel
    std::string text;  // a sentence that names the places, without the kernel
    FindingPlace place;
    std::vector<FindingPlace> others;  // such as the other access of a race
    uint64_t count = 1;  // how often
};

// The text with its kernel and how often it happened.
std::string message_of(const FindingRecord& finding);

// A line in the form of a compiler, and one for each other place:
// program.cu:12:5: warning: kernel: race: ... (3 times) [race]
std::string finding_lines(const FindingRecord& finding);

}  // namespace harness
