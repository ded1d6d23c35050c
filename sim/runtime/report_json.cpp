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

std::string number_or_null(int number) { return number ? std::to_string(number) : "null"; }
std::string text_or_null(const std::string& text) { return text.empty() ? "null" : json_text(text); }

std::string json_index(const std::optional<harness::Index>& index)
{
    if (!index) return "null";
    JsonValues values;
    for (const uint64_t each : *index) values.push_back(std::to_string(each));
    return json_array(values);
}

void add_place(JsonMembers& members, const harness::FindingPlace& place)
{
    members.insert(members.end(), {{"file", text_or_null(place.file)},
                                   {"line", number_or_null(place.line)},
                                   {"column", number_or_null(place.column)},
                                   {"block", json_index(place.block)},
                                   {"thread", json_index(place.thread)}});
}

std::string json_finding(const harness::FindingRecord& finding)
{
    JsonValues related;
    for (const harness::FindingPlace& other : finding.others) {
        JsonMembers members{{"text", json_text(other.text)}};
        add_place(members, other);
        related.push_back(json_object(members));
    }
    JsonMembers members{{"kind", json_text(finding.kind->id)},
                        {"level", json_text(name_of(finding.kind->level))},
                        {"kernel", text_or_null(finding.kernel)},
                        {"text", json_text(finding.text)}};
    add_place(members, finding.place);
    members.push_back({"count", std::to_string(finding.count)});
    members.push_back({"related", json_array(related)});
    return json_object(members);
}

}  // namespace

std::string report_json()
{
    JsonValues kernels, notes, findings;
    for (const Launches& launches : all_launches()) kernels.push_back(json_kernel(launches));
    for (const std::string& note : program_notes()) notes.push_back(json_text(note));
    for (const harness::FindingRecord& finding : program_findings()) findings.push_back(json_finding(finding));
    return json_object({{"version", version},
                        {"date_utc", json_text(harness::utc_now())},
                        {"commit", json_text(harness::build_commit)},
                        {"machine", json_text(machine().label)},
                        {"program", json_text(program_invocation_short_name)},
                        {"most_blocks_of_a_launch", number_or_null(program_options().blocks)},
                        {"kernels", json_array(kernels)},
                        {"findings", json_array(findings)},
                        {"notes", json_array(notes)}}) +
           "\n";
}

}  // namespace sim
