#include "report_json.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "../../common/base/commit.h"
#include "../../common/base/csv.h"
#include "../../common/base/error.h"
#include "../../common/base/json.h"
#include "count_rows.h"
#include "notes.h"
#include "options.h"

namespace sim {
namespace {

using harness::json_array;
using harness::json_object;
using harness::json_text;
using harness::JsonMembers;
using harness::JsonValues;

// The version of the format. It stays when a member is added. It grows when a member goes or changes its meaning.
constexpr const char* version = "1";

JsonMembers members_of(const std::vector<Value>& values)
{
    JsonMembers members;
    for (const Value& value : values)
        members.push_back({value.name, value.number ? value.text : json_text(value.text)});
    return members;
}

std::string json_kernel(const Launches& launches)
{
    JsonValues places;
    for (const harness::AccessSite& site : launches.counts.sites)
        places.push_back(json_object(members_of(access_values(site))));
    JsonMembers members = members_of(launch_values(launches));
    const std::optional<harness::Prediction> model = model_of(launches);
    members.push_back({"model_time_ms", model ? harness::format("%.6g", model->ms) : "null"});
    members.push_back({"model_limit", model ? json_text(model->limit) : "null"});
    members.push_back({"model_next_limit", model ? json_text(model->next) : "null"});
    members.push_back({"places", json_array(places)});
    return json_object(members);
}

}  // namespace

std::string report_json()
{
    const int blocks = program_options().blocks;
    JsonValues kernels, notes, findings;
    for (const Launches& launches : all_launches()) kernels.push_back(json_kernel(launches));
    for (const std::string& note : program_notes()) notes.push_back(json_text(note));
    for (const harness::FindingRecord& finding : program_findings())
        findings.push_back(json_object(finding_members(finding)));
    return json_object({{"version", version},
                        {"date_utc", json_text(harness::utc_now())},
                        {"commit", json_text(harness::build_commit)},
                        {"machine", json_text(machine().label)},
                        {"program", json_text(program_invocation_short_name)},
                        {"most_blocks_of_a_launch", blocks ? std::to_string(blocks) : "null"},
                        {"kernels", json_array(kernels)},
                        {"findings", json_array(findings)},
                        {"notes", json_array(notes)}}) +
           "\n";
}

}  // namespace sim
