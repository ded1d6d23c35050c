// The text of a comparison with Nsight Compute.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ncu.h"

namespace sim {

// Numbers of launches, in few words.
class Numbers {
public:
    // In ascending order.
    void add(uint64_t n);
    // launch 3; launches 1 to 10, 12
    std::string text(const char* one, const char* several) const;

private:
    std::vector<std::pair<uint64_t, uint64_t>> ranges_;
};

// One count on both sides.
struct ComparedCount {
    MaybeCount theirs, ours;
    size_t way = 0;  // of NcuCount::ways, by which ncu's was found

    bool operator==(const ComparedCount& o) const { return theirs == o.theirs && ours == o.ours && way == o.way; }
    bool differs() const { return theirs && ours && *theirs != *ours; }
};

// A count of one line of the source.
struct ComparedLine {
    std::string file;  // without folders, which differ from machine to machine
    int line;
    size_t count;  // its number in ncu_counts()
    uint64_t theirs;
    MaybeCount ours;

    bool operator==(const ComparedLine& o) const
    {
        return file == o.file && line == o.line && count == o.count && theirs == o.theirs && ours == o.ours;
    }
};

// Launches with the same counts on both sides.
struct ComparedLaunches {
    std::string title;  // kernel and shape
    std::vector<ComparedCount> counts;  // in the order of ncu_counts()
    std::vector<ComparedLine> lines;  // of the page `source`, in the order of the source
    Numbers launches, ids;  // of the program, and of the file
};

struct Comparison {
    NcuFile file;
    std::vector<ComparedLaunches> compared;
    uint64_t launches = 0;  // that were compared
    std::map<std::string, Numbers> ours;  // launches that only the simulator has, by title
    std::map<std::string, Numbers> theirs;  // launches that only the file has
};

std::string text_of(const Comparison& comparison);

}  // namespace sim
