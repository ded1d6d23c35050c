// Machine files: text that describes a GPU, a figure on each line, as in
//
//     sms = 132                # a comment
//     sm_clock = 1980 MHz
//
// A value that ends in a comma goes on on the next line. A file has the limits of the card, the map of its memory
// partitions where it is known and, where they were measured, the constants of the model of times. What follows from
// the compute capability need not be there. figures() and constants() (constants.h) list the keys.

#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "machine.h"

namespace harness {

enum class Unit { none, text, yes_no, version, lists, mhz, bits, bytes, clocks, ns, per_s, gbs };

// The field of a Machine that a figure is in. A capability is a row of limits, and a vector a hash of addresses.
using Field =
    std::variant<int*, unsigned*, uint64_t*, double*, bool*, std::string*, Capability*, std::vector<uint64_t>*>;

// Which files have a figure.
enum class Need {
    always,
    maybe,       // it may be 0, or an empty text
    capability,  // it follows from the capability, and a file may have another
    rules,       // it follows from the capability, and so do the rules of access: no file has it
    memory,      // the model of a memory: all of these, or none
    constants,   // the model of times: all of these, or none
};

struct Figure {
    const char* key;
    Unit unit;
    Need need;
    bool zero;  // it may be 0
    Field (*field)(Machine&);
    const char* meaning;  // for the comment of the line; empty: the key says it
};

// All figures but the constants of the model of times.
const std::vector<Figure>& figures();

// A name has these characters, and so many of them.
bool in_machine_names(char c);
constexpr size_t longest_machine_name = 30;

// The machine that the text describes. `from`: the beginning of messages. Throws bad input: one line with the file, the
// line, and what is wrong there.
Machine parse_machine(const std::string& from, const std::string& text);

// The machine that a file describes. Throws as parse_machine() does.
Machine read_machine(const std::string& from, const std::string& path);

// The rows of common/machines/capabilities.csv.
std::vector<Capability> parse_capabilities(const std::string& text);

// The text of such a file that is built in; null: there is none of this name.
const char* built_in_text(const std::string& file);

// The file of a machine. `heading`: lines of its first comment. `notes`: by key, the end of the line's comment.
std::string machine_text(const Machine& machine, const std::vector<std::string>& heading,
                         const std::map<std::string, std::string>& notes);

}  // namespace harness
