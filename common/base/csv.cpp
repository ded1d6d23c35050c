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

// One cell. The text then stands at the comma or the line break behind it, or at its end.
std::string CsvReader::cell()
{
    std::string cell;
    if (at_ < text_.size() && text_[at_] == '"') {
        open_ = true;
        for (++at_; at_ < text_.size() && open_; ++at_) {
            if (text_[at_] == '\n') ++next_line_;
            if (text_[at_] != '"') cell += text_[at_];
            else if (text_.substr(at_ + 1, 1) == "\"") cell += text_[++at_];
            else open_ = false;
        }
    }
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_.substr(at_, 2) != "\r\n")
        cell += text_[at_++];
    return cell;
}

bool CsvReader::next(std::vector<std::string>& cells)
{
    do {
        if (at_ >= text_.size()) return false;
        cells.clear();
        line_ = next_line_++;
        open_ = false;
        for (;;) {
            cells.push_back(cell());
            if (at_ >= text_.size() || text_[at_] != ',') break;
            ++at_;
        }
        if (at_ < text_.size()) at_ += text_[at_] == '\r' ? 2 : 1;
    } while (cells.size() == 1 && cells[0].empty());
    return true;
}

std::string utc_now()
{
    const time_t now = time(nullptr);
    char text[32];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    return text;
}

}  // namespace harness
