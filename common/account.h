// The lines of --json: what a run of one matrix found and printed, for programs. The grader of the lab reads them.
//
// A line is an object:
//   program   the name it was started under, which a kernel cannot know
//   backend, machine, type, width, height
//   text      the tables and explanations as the terminal shows them
//   findings  what was reported as wrong, with the members that findings of `make try` have (docs/OUTPUT.md)
//   kernels   [{kernel, label, result, row, accesses, idata, odata}]
//     result    verified, wrong or refused
//     row       the columns of --csv and their cells, as text
//     accesses  with --explain: for each load and store its place, counts, and a diagnosis; null without
//     idata, odata  with --print: the rows of the matrix, each element as its number, or "?"; null without

#pragma once

#include <string>
#include <vector>

#include "results.h"
#include "verify.h"

namespace harness {

// The settings that all lines of a run share.
struct LineHead {
    std::string program;
    std::string date;      // as utc_now() gives it
    bool explain = false;  // the line has the accesses
};

// The matrices that --print prints for one row of results.
struct Printed {
    Numbered idata, odata;
};

// The findings of a run of one matrix, and the matrices that it printed.
struct Account {
    std::vector<Finding> findings;
    std::vector<Printed> printed;  // one for each row of the results, empty where nothing was printed
};

// The line for these results, with its end. `text`: what the terminal shows of them.
std::string json_line(const Results& results, const Account& account, const std::string& text, const LineHead& told);

}  // namespace harness
