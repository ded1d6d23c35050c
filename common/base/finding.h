// A finding: a fault that a program showed, as a record. The terminal, JSON and SARIF are written from it. Programs
// read its kind and its fields, and nothing reads its sentence but people.
//
// Interface: FindingKind, what went wrong; FindingPlace, a line of the source and who was there; Finding, both,
// with a sentence; finding_lines(), the text of the terminal; finding_members(), JSON.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "error.h"
#include "json.h"

namespace harness {

// Error: CUDA ends the kernel or refuses the call. Warning: the program goes on, and its result may be wrong.
enum class Level { warning, error };
const char* name_of(Level level);

// A row of the table in finding_kinds.h.
struct FindingKind {
    const char* id;  // for programs: "divergent-barrier"
    Level level;
    const char* section;  // of sim/README.md, that explains it; empty: it is a finding of the steps' harness
    const char* tool;     // of compute-sanitizer that looks for it; empty: it is reported with every tool
    int cuda_error;       // that it leaves; 0: the kernel goes on
    bool costs_points;    // in the lab, even if the result is right
    const char* title;    // its sentence begins with it; empty: each finding says it
    const char* text;     // a sentence
};

// x, y and z.
using Index = std::array<uint64_t, 3>;

struct FindingPlace {
    std::string file;  // empty: unknown
    std::string path;  // of the file, from the root
    int line = 0, column = 0;  // from 1; 0: unknown
    std::string source;  // text of the line; empty: unknown
    std::optional<Index> block, thread;  // none: the host
    std::string text;  // of another place than the first: what happens there
};

// The bytes that an access touches, and the array that they belong to.
struct Reach {
    int64_t offset;         // in bytes, from where the array begins
    uint64_t bytes;         // of the access
    uint64_t memory_bytes;  // of the array
};

// The first wrong element of a matrix, and the element of idata that belongs there.
struct WrongElement {
    uint64_t row, column;
    uint64_t expected_row, expected_column;
};

struct Finding {
    Finding(const FindingKind& of, const std::string& sentence, const FindingPlace& at = {})
        : kind(&of), text(sentence), place(at)
    {
    }

    const FindingKind* kind;
    std::string kernel;  // empty: it happened in no kernel
    std::string text;  // a sentence that names the places, without the kernel
    FindingPlace place;
    std::vector<FindingPlace> others;  // such as the other access of a race
    uint64_t count = 1;  // how often
    std::string memory;  // the array that was accessed; empty: unknown
    bool in_shared_memory = false;
    std::optional<Reach> reach;  // unknown for findings on more than one access
    std::optional<WrongElement> wrong;
};

// Thrown by a function that cannot go on after a finding. main prints its sentence.
struct FindingError : Error {
    explicit FindingError(const Finding& found) : Error{status_wrong_result, found.text}, finding(found) {}
    Finding finding;
};

// The text with its kernel and how often it happened.
std::string message_of(const Finding& finding);

// A line in the form of a compiler, and one for each other place:
// program.cu:12:5: warning: kernel: race: ... (3 times) [race]
std::string finding_lines(const Finding& finding);

// The members of its object in JSON: docs/OUTPUT.md lists them.
JsonMembers finding_members(const Finding& finding);
// [x, y, z], or null.
std::string json_index(const std::optional<Index>& index);

}  // namespace harness
