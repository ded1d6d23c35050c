#include "finding.h"

#include "error.h"

namespace harness {
namespace {

// "program.cu:12:5: ", as editors look for it. Without a place, the name of the tool takes its place.
std::string prefix(const FindingPlace& place)
{
    if (place.file.empty()) return "simulator: ";
    return place.file + ":" + std::to_string(place.line) + ":" +
           (place.column ? std::to_string(place.column) + ":" : "") + " ";
}

}  // namespace

const char* name_of(Level level) { return level == Level::error ? "error" : "warning"; }

std::string message_of(const FindingRecord& f)
{
    return (f.kernel.empty() ? "" : f.kernel + ": ") + f.text +
           (f.count > 1 ? format(" (%llu times)", (unsigned long long)f.count) : "");
}

std::string finding_lines(const FindingRecord& f)
{
    std::string lines =
        printable(prefix(f.place) + name_of(f.kind->level) + ": " + message_of(f) + " [" + f.kind->id + "]") + "\n";
    for (const FindingPlace& other : f.others)
        if (!other.file.empty()) lines += printable(prefix(other) + "note: " + other.text) + "\n";
    return lines;
}

}  // namespace harness
