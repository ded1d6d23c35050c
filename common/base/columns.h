// Counts as columns of CSV files and as members of JSON: one list of names and values for both.

#pragma once

#include <string>
#include <vector>

#include "counts.h"
#include "json.h"

namespace harness {

struct Value {
    Value(const char* called, uint64_t count) : name(called), text(std::to_string(count)), number(true) {}
    Value(const char* called, const std::string& word) : name(called), text(word), number(false) {}

    const char* name;
    std::string text;
    bool number;
};
using Values = std::vector<Value>;

// The counts of one access of a kernel.
Values site_values(const AccessSite& site);

JsonMembers members_of(const Values& values);

// The object of an access in JSON: its counts, what they mean, and the requests that are kept for a page.
std::string json_access(const AccessSite& site);

}  // namespace harness
