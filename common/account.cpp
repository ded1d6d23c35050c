#include "account.h"

#include "base/columns.h"
#include "base/json.h"
#include "figures.h"
#include "results_csv.h"

namespace harness {
namespace {

std::string json_rows(const Numbered& matrix)
{
    if (matrix.rows.empty()) return "null";
    JsonValues rows;
    for (const std::vector<std::string>& row : matrix.rows) {
        JsonValues cells;
        for (const std::string& cell : row) cells.push_back(json_text(cell));
        rows.push_back(json_array(cells));
    }
    return json_array(rows);
}

std::string json_accesses(const Result& row)
{
    JsonValues accesses;
    for (const AccessSite& site : row.counts->sites) accesses.push_back(json_access(site));
    return json_array(accesses);
}

std::string json_kernel(const Results& results, const Result& row, const Printed& printed, const LineHead& told)
{
    JsonMembers cells;
    for (const auto& [name, cell] : named_cells(results, row, told.date)) cells.push_back({name, json_text(cell)});
    return json_object({{"kernel", json_text(row.kernel)},
                        {"label", json_text(row.label)},
                        {"result", json_text(!row.refused.empty() ? "refused" : row.right ? "verified" : "wrong")},
                        {"row", json_object(cells)},
                        {"accesses", told.explain && row.counts ? json_accesses(row) : "null"},
                        {"idata", json_rows(printed.idata)},
                        {"odata", json_rows(printed.odata)}});
}

}  // namespace

std::string json_line(const Results& results, const Account& account, const std::string& text, const LineHead& told)
{
    JsonValues findings, rows;
    for (const Finding& finding : account.findings) findings.push_back(json_object(finding_members(finding)));
    for (size_t i = 0; i < results.rows.size(); ++i)
        rows.push_back(json_kernel(results, results.rows[i], account.printed[i], told));
    return json_object({{"program", json_text(told.program)},
                        {"backend", json_text(results.device.backend)},
                        {"machine", json_text(results.device.machine)},
                        {"type", json_text(name_of(results.type))},
                        {"width", std::to_string(results.width)},
                        {"height", std::to_string(results.height)},
                        {"text", json_text(text)},
                        {"findings", json_array(findings)},
                        {"kernels", json_array(rows)}}) + "\n";
}

}  // namespace harness
