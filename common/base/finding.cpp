#include "finding.h"

namespace harness {
namespace {

std::string number_or_null(int number) { return number ? std::to_string(number) : "null"; }
std::string text_or_null(const std::string& text) { return text.empty() ? "null" : json_text(text); }

void add_place(JsonMembers& members, const FindingPlace& place)
{
    members.insert(members.end(), {{"file", text_or_null(place.file)},
                                   {"line", number_or_null(place.line)},
                                   {"column", number_or_null(place.column)},
                                   {"block", json_index(place.block)},
                                   {"thread", json_index(place.thread)}});
}

// [row, column] of the first wrong element and of the one that belongs there.
std::string json_wrong(const std::optional<WrongElement>& wrong)
{
    if (!wrong) return "null";
    const auto pair = [](uint64_t row, uint64_t column) {
        return json_array({std::to_string(row), std::to_string(column)});
    };
    return json_object({{"element", pair(wrong->row, wrong->column)},
                        {"expected", pair(wrong->expected_row, wrong->expected_column)}});
}

// [offset, bytes of the access, bytes of the array].
std::string json_reach(const std::optional<Reach>& reach)
{
    if (!reach) return "null";
    return json_array({std::to_string(reach->offset), std::to_string(reach->bytes),
                       std::to_string(reach->memory_bytes)});
}

// "program.cu:12:5: ", as editors look for it. Without a place, the name of the tool takes its place.
std::string prefix(const FindingPlace& place)
{
    if (place.file.empty()) return "simulator: ";
    return place.file + ":" + std::to_string(place.line) + ":" +
           (place.column ? std::to_string(place.column) + ":" : "") + " ";
}

}  // namespace

const char* name_of(Level level) { return level == Level::error ? "error" : "warning"; }

std::string message_of(const Finding& f)
{
    return (f.kernel.empty() ? "" : f.kernel + ": ") + f.text +
           (f.count > 1 ? format(" (%llu times)", (unsigned long long)f.count) : "");
}

std::string finding_lines(const Finding& f)
{
    std::string lines =
        printable(prefix(f.place) + name_of(f.kind->level) + ": " + message_of(f) + " [" + f.kind->id + "]") + "\n";
    for (const FindingPlace& other : f.others)
        if (!other.file.empty()) lines += printable(prefix(other) + "note: " + other.text) + "\n";
    return lines;
}

std::string json_index(const std::optional<Index>& index)
{
    if (!index) return "null";
    JsonValues values;
    for (const uint64_t each : *index) values.push_back(std::to_string(each));
    return json_array(values);
}

JsonMembers finding_members(const Finding& f)
{
    JsonValues related;
    for (const FindingPlace& other : f.others) {
        JsonMembers members{{"text", json_text(other.text)}};
        add_place(members, other);
        related.push_back(json_object(members));
    }
    JsonMembers members{{"kind", json_text(f.kind->id)},
                        {"level", json_text(name_of(f.kind->level))},
                        {"kernel", text_or_null(f.kernel)},
                        {"text", json_text(f.text)}};
    add_place(members, f.place);
    members.insert(members.end(), {{"count", std::to_string(f.count)},
                                   {"related", json_array(related)},
                                   {"memory", text_or_null(f.memory)},
                                   {"reach", json_reach(f.reach)},
                                   {"in_shared_memory", f.in_shared_memory ? "true" : "false"},
                                   {"costs_points", f.kind->costs_points ? "true" : "false"},
                                   {"wrong", json_wrong(f.wrong)}});
    return members;
}

}  // namespace harness
