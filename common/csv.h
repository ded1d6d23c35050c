// CSV files: their cells, and how they reach the disk.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace harness {

// A cell, in quotes where it needs them.
std::string csv_cell(const std::string& text);

// A line of cells, with its end.
std::string csv_line(const std::vector<std::string>& cells);

// first:step where the offsets are as far from each other as from the next, else all of them.
std::string csv_offsets(const std::vector<int64_t>& offsets);

// The date and time, as in 2026-01-31T12:00:00Z.
std::string utc_now();

// Writes a file whole or not at all: text goes to a temporary file beside `path`, which takes its place at once. Tried
// before the work, so that a path that cannot be written costs no results; until write(), nothing of it is there.
class CsvFile {
public:
    // `option`: that named the path. Throws status_bad_input.
    CsvFile(const char* option, const std::string& path);
    ~CsvFile();
    CsvFile(const CsvFile&) = delete;
    void write(const std::string& text);  // throws status_bad_input

private:
    void open_temporary();
    [[noreturn]] void fail() const;

    std::string option_, path_, temporary_;
    int file_ = -1;
    unsigned mode_ = 0;     // of the file; 0: it is a pipe or a device, open from the beginning
};

}  // namespace harness
