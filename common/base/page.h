// A run as one page: the source with its costs, and requests drawn. The file needs no network.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "counts.h"
#include "finding.h"
#include "machine.h"
#include "model.h"

namespace harness {

struct PageKernel {
    std::string name;
    std::string launch;  // for a reader: transpose<<<(32, 32), (32, 8)>>> x 2
    const LaunchCounts* counts;
    std::optional<Prediction> model;
    std::string model_of;  // what the model's time is of, such as "a launch"
};

struct Page {
    std::string program;
    const Machine* machine;
    std::vector<PageKernel> kernels;  // in the order in which the record has them
    std::vector<Finding> findings;
    std::string record;   // the JSON of the run: an object or several, with commas between them
    std::string against;  // the JSON of an earlier run, as its file has it; empty: none
};

// HTML, whatever is in the names and the source.
std::string page_html(const Page& page);

constexpr const char* against_without_page = "--against compares on a page: add --page FILE";

// The version of the JSON of a program. It stays when a member is added. It grows when a member goes or changes its
// meaning.
constexpr const char* record_version = "1";

// The text of a file of --against, as an array of runs. Throws status_bad_input if it is no JSON of such runs.
std::string read_record(const char* option, const std::string& path);

}  // namespace harness
