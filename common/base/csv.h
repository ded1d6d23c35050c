// CSV files: their cells and lines, written and read. files.h writes files.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace harness {

// A cell, in quotes where it needs them.
std::string csv_cell(const std::string& text);

// A line of cells, with its end.
std::string csv_line(const std::vector<std::string>& cells);

// first:step where the offsets are as far from each other as from the next, else all of them.
std::string csv_offsets(const std::vector<int64_t>& offsets);

// Takes a table apart, row by row. A cell in quotes may have commas, line breaks and doubled quotes. A line ends with
// \n or \r\n.
class CsvReader {
public:
    // `line`: the number of the text's first line.
    explicit CsvReader(std::string_view text, size_t line = 1) : text_(text), next_line_(line) {}
    // The next row that is not blank; false: there is none.
    bool next(std::vector<std::string>& cells);
    // The line where the last row began.
    size_t line() const { return line_; }
    // True if a quote of the last row was not closed: the text ends within it.
    bool open() const { return open_; }

private:
    std::string cell();

    std::string_view text_;
    size_t at_ = 0, line_ = 0, next_line_;
    bool open_ = false;
};

// The date and time, as in 2026-01-31T12:00:00Z.
std::string utc_now();

}  // namespace harness
