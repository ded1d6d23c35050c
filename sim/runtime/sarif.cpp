// In: the findings. Out: one run with a rule for each kind and a result for each finding.
//
// A file below the current folder has a path from there, so that a review finds it in its own checkout. The fingerprint
// of a result is made of its kind, its kernel and the text of its lines, without their numbers: it stays when lines are
// added above. Results that would have one fingerprint are numbered.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "../../common/base/commit.h"
#include "../../common/base/error.h"
#include "../../common/base/hash.h"
#include "../../common/base/json.h"
#include "../elf/places.h"
#include "notes.h"
#include "reports.h"

namespace sim {
namespace {

using harness::FindingPlace;
using harness::Finding;
using harness::json_array;
using harness::json_object;
using harness::json_text;
using harness::JsonMembers;
using harness::JsonValues;

constexpr const char* schema = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr const char* root = "SRCROOT";
constexpr const char* page = "sim/README.md";

std::string text_object(const std::string& text) { return json_object({{"text", json_text(text)}}); }

// A path as a part of a URI.
std::string uri_of(const std::string& path)
{
    std::string uri;
    for (const char c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           (c && std::string("-._~/").find(c) != std::string::npos);
        uri += plain ? std::string(1, c) : harness::format("%%%02X", (unsigned char)c);
    }
    return uri;
}

std::string file_of(const std::string& path)
{
    if (path[0] == '/') return json_object({{"uri", json_text("file://" + uri_of(path))}});
    return json_object({{"uri", json_text(uri_of(path))}, {"uriBaseId", json_text(root)}});
}

// `kernel`: empty if there is none. `text`: of another place than the first.
std::string sarif_location(const FindingPlace& place, const std::string& kernel)
{
    JsonMembers region{{"startLine", std::to_string(place.line)}}, members;
    if (place.column) region.push_back({"startColumn", std::to_string(place.column)});
    if (!place.file.empty())
        members.push_back({"physicalLocation",
                           json_object({{"artifactLocation", file_of(place.file)}, {"region", json_object(region)}})});
    if (!kernel.empty())
        members.push_back({"logicalLocations",
                           json_array({json_object({{"name", json_text(kernel)}, {"kind", json_text("function")}})})});
    if (!place.text.empty()) members.push_back({"message", text_object(place.text)});
    return json_object(members);
}

std::string sarif_related(const Finding& finding)
{
    JsonValues locations;
    for (const FindingPlace& other : finding.others)
        if (!other.file.empty()) locations.push_back(sarif_location(other, finding.kernel));
    return json_array(locations);
}

std::string sarif_fingerprint(const Finding& finding, std::map<uint64_t, int>& known)
{
    uint64_t hash = harness::hash_begin;
    const auto take = [&](const std::string& text) { hash = harness::hash_of(hash, text.c_str(), text.size() + 1); };
    take(finding.kind->id);
    take(finding.kernel);
    take(finding.place.file);
    take(finding.place.source);
    for (const FindingPlace& other : finding.others) take(other.source);
    return harness::format("%016llx:%d", (unsigned long long)hash, ++known[hash]);
}

std::string sarif_result(const Finding& finding, size_t rule, std::map<uint64_t, int>& known)
{
    JsonMembers properties;
    if (finding.place.block) properties.push_back({"block", json_index(finding.place.block)});
    if (finding.place.thread) properties.push_back({"thread", json_index(finding.place.thread)});
    const bool has_place = !finding.place.file.empty() || !finding.kernel.empty();
    return json_object(
        {{"ruleId", json_text(finding.kind->id)},
         {"ruleIndex", std::to_string(rule)},
         {"level", json_text(name_of(finding.kind->level))},
         {"message", text_object(message_of(finding))},
         {"locations",
          json_array(has_place ? JsonValues{sarif_location(finding.place, finding.kernel)} : JsonValues{})},
         {"relatedLocations", sarif_related(finding)},
         {"occurrenceCount", std::to_string(finding.count)},
         {"partialFingerprints", json_object({{"findingHash/v1", json_text(sarif_fingerprint(finding, known))}})},
         {"properties", json_object(properties)}});
}

std::string sarif_rule(const harness::FindingKind& kind)
{
    const std::string section = std::string(page) + "#" + kind.section, home = harness::home_page;
    JsonMembers members{{"id", json_text(kind.id)},
                        {"shortDescription", text_object(kind.text)},
                        {"help", text_object(std::string(kind.text) + " See " + section + ".")},
                        {"defaultConfiguration", json_object({{"level", json_text(name_of(kind.level))}})}};
    if (!home.empty()) members.push_back({"helpUri", json_text(home + "/blob/HEAD/" + section)});
    return json_object(members);
}

std::string sarif_driver()
{
    JsonValues rules;
    for (const harness::FindingKind* kind : harness::finding_kinds)
        if (*kind->section) rules.push_back(sarif_rule(*kind));
    JsonMembers members{{"name", json_text("simcuda")}, {"semanticVersion", json_text(harness::build_version)},
                        {"version", json_text(harness::version_line("simcuda"))}};
    if (*harness::home_page) members.push_back({"informationUri", json_text(harness::home_page)});
    members.push_back({"rules", json_array(rules)});
    return json_object(members);
}

std::string sarif_results()
{
    JsonValues all;
    std::map<uint64_t, int> known;
    for (const Finding& finding : program_findings()) {
        size_t rule = 0;
        while (harness::finding_kinds[rule] != finding.kind) ++rule;
        all.push_back(sarif_result(finding, rule, known));
    }
    return json_array(all);
}

// The notes, which are no findings.
std::string sarif_invocation()
{
    JsonValues notes;
    for (const std::string& note : program_notes())
        notes.push_back(json_object({{"level", json_text("note")}, {"message", text_object(note)}}));
    return json_object({{"executionSuccessful", "true"}, {"toolExecutionNotifications", json_array(notes)}});
}

}  // namespace

std::string sarif_text()
{
    const std::string here = start_folder();
    JsonMembers run{{"tool", json_object({{"driver", sarif_driver()}})}};
    if (!here.empty())
        run.push_back({"originalUriBaseIds",
                       json_object({{root, json_object({{"uri", json_text("file://" + uri_of(here + "/"))}})}})});
    run.insert(run.end(), {{"columnKind", json_text("unicodeCodePoints")},
                           {"invocations", json_array({sarif_invocation()})},
                           {"results", sarif_results()}});
    return json_object({{"$schema", json_text(schema)},
                        {"version", json_text("2.1.0")},
                        {"runs", json_array({json_object(run)})}}) +
           "\n";
}

}  // namespace sim
