#include "list.h"

#include "base/csv.h"
#include "base/error.h"
#include "kernel.h"
#include "lessons.h"

namespace harness {
namespace {

const char* role_name(const Kernel& k)
{
    switch (k.role) {
        case Role::lesson: return "lesson";
        case Role::variant: return "variant";
        case Role::bound: return "bound";
        case Role::faulty: return "faulty";
    }
    return "";
}

const char* runs_on(const Kernel& k)
{
    return k.transfer.way != Transfer::none ? "bus" : k.backend == "cpu" ? "CPU" : "GPU";
}

// Calls f with every kernel once, though most are compiled for two back ends.
template <typename F>
void for_each_listed(F f)
{
    for (Role role : {Role::lesson, Role::variant, Role::bound, Role::faulty})
        for (const Kernel& k : kernels())
            if (k.backend != "cuda" && k.role == role) f(k);
}

}  // namespace

std::string list_text()
{
    const char* const line = "%-18s %-30s %-8s %-4s %-21s %s\n";
    std::string text = format(line, "step", "kernel", "role", "on", "produces", "source rows");
    for_each_listed([&](const Kernel& k) {
        text += format(line, k.step.c_str(), k.name.c_str(), role_name(k), runs_on(k), name_of(k.expected.what),
                       k.row.c_str());
    });
    return text;
}

std::string list_csv()
{
    std::string text = csv_line({"step", "kernel", "role", "on", "produces", "source_rows", "idea"});
    for_each_listed([&](const Kernel& k) {
        text += csv_line({k.step, k.name, role_name(k), runs_on(k), name_of(k.expected.what), k.row, idea_of(k.name)});
    });
    return text;
}

}  // namespace harness
