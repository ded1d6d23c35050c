#include "columns.h"

#include "explain.h"

namespace harness {

Values site_values(const AccessSite& s)
{
    Values values{{"file", s.file},
                  {"line", uint64_t(s.line)},
                  {"access", access_name(s)},
                  {"memory", memory_name(s)},
                  {"element_bytes", s.element_bytes}};
    for (const AccessSum& each : access_sums) {
        if (each.sum == &AccessCounts::units) values.emplace_back("unit", std::string(s.unit));
        values.emplace_back(each.name, s.*each.sum);
        if (each.sum == &AccessCounts::ideal) values.emplace_back("worst_request", uint64_t(s.worst));
    }
    return values;
}

JsonMembers members_of(const Values& values)
{
    JsonMembers members;
    for (const Value& value : values)
        members.push_back({value.name, value.number ? value.text : json_text(value.text)});
    return members;
}

namespace {

std::string json_drawn(const DrawnRequest& r)
{
    JsonValues offsets;
    for (const auto& offset : r.offset) offsets.push_back(offset ? std::to_string(*offset) : "null");
    return json_object({{"units", std::to_string(r.units)},
                        {"requests", std::to_string(r.times)},
                        {"block", json_index(r.block)},
                        {"warp", std::to_string(r.warp)},
                        {"memory", r.memory.empty() ? "null" : json_text(r.memory)},
                        {"begin", std::to_string(r.begin)},
                        {"offsets", json_array(offsets)}});
}

}  // namespace

std::string json_access(const AccessSite& s)
{
    JsonMembers members = members_of(site_values(s));
    members.insert(members.end(), {{"source", json_text(s.text)}, {"diagnosis", json_text(diagnosis(s))}});
    if (!s.drawn.empty()) {
        const Chosen chosen = choose(s.drawn);
        members.push_back({"drawn", json_object({{"first", json_drawn(s.drawn[chosen.first])},
                                                 {"worst", json_drawn(s.drawn[chosen.worst])},
                                                 {"typical", json_drawn(s.drawn[chosen.typical])}})});
    }
    return json_object(members);
}

}  // namespace harness
