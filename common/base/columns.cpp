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

}  // namespace harness
