#include "run_page.h"

#include "base/error.h"
#include "base/page.h"
#include "figures.h"

namespace harness {

void RunPage::add(const Results& results, const Account& account, LineHead told)
{
    told.explain = true;
    shapes_.push_back(results);
    findings_.insert(findings_.end(), account.findings.begin(), account.findings.end());
    record_ += (record_.empty() ? "" : ",") + json_line(results, account, "", told);
}

std::string RunPage::html(const std::string& program, const Machine& machine, const std::string& against) const
{
    Page page{program, &machine, {}, findings_, record_, against};
    for (const Results& results : shapes_)
        for (const Result& row : results.rows)
            if (row.counts)
                page.kernels.push_back({row.kernel + row.label,
                                        format("%d × %d %s", results.height, results.width, name_of(results.type)),
                                        &*row.counts, modelled(results, machine, row), "for the matrix"});
    return page_html(page);
}

}  // namespace harness
