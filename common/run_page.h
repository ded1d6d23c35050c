// The page of a run of a step (--page).

#pragma once

#include <list>
#include <string>
#include <vector>

#include "account.h"
#include "results.h"

namespace harness {

class RunPage {
public:
    // One shape. Its line of JSON is in the page's record.
    void add(const Results& results, const Account& account, LineHead told);
    // `against`: the record of an earlier run, or nothing.
    std::string html(const std::string& program, const Machine& machine, const std::string& against) const;

private:
    std::list<Results> shapes_;
    std::vector<Finding> findings_;
    std::string record_;
};

}  // namespace harness
