#include "csv.h"

#include <ctime>

namespace harness {

std::string csv_cell(const std::string& text)
{
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells)
{
    std::string line;
    for (const std::string& cell : cells) line += csv_cell(cell) + ",";
    line.back() = '\n';
    return line;
}

std::string csv_offsets(const std::vector<int64_t>& offsets)
{
    const int64_t step = offsets.size() > 1 ? offsets[1] - offsets[0] : 0;
    bool even = true;
    for (size_t i = 1; i < offsets.size(); ++i) even = even && offsets[i] - offsets[i - 1] == step;
    std::string text = std::to_string(offsets[0]);
    if (even) return text + ":" + std::to_string(step);
    for (size_t i = 1; i < offsets.size(); ++i) text += " " + std::to_string(offsets[i]);
    return text;
}

std::string utc_now()
{
    const time_t now = time(nullptr);
    char text[32];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    return text;
}

}  // namespace harness
