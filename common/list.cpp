#include "list.h"

#include "base/csv.h"
#include "base/error.h"
#include "kernel.h"
#include "lessons.h"

namespace harness {
namespace {

const char* part_name(const Kernel& k)
{
    switch (k.part) {
        case Part::lesson: return "lesson";
        case Part::variant: return "variant";
        case Part::bound: return "bound";
        case Part::faulty: return "faulty";
    }
    return "";
}

const char* place_of(const Kernel& k)
{
    return k.transfer.way != Transfer::none ? "bus" : k.backend == "cpu" ? "CPU" : "GPU";
}

// Calls f with every kernel once, though most are compiled for two back ends.
template <typename F>
void for_each_listed(F f)
{
    for (Part part : {Part::lesson, Part::variant, Part::bound, Part::faulty})
        for (const Kernel& k : kernels())
            if (k.backend != "cuda" && k.part == part) f(k);
}

}  // namespace

std::string list_text()
{
    const char* const line = "%-18s %-30s %-8s %-4s %-21s %s\n";
    std::string text = format(line, "step", "kernel", "part", "on", "produces", "source rows");
    for_each_listed([&](const Kernel& k) {
        text += format(line, k.step.c_str(), k.name.c_str(), part_name(k), place_of(k), name_of(k.expected.what),
                       k.row.c_str());
    });
    return text;
}

std::string list_csv()
{
    std::string text = csv_line({"step", "kernel", "part", "on", "produces", "source_rows", "idea"});
    for_each_listed([&](const Kernel& k) {
        text += csv_line({k.step, k.name, part_name(k), place_of(k), name_of(k.expected.what), k.row, idea_of(k.name)});
    });
    return text;
}

}  // namespace harness
