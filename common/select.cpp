#include "select.h"

#include <algorithm>

#include "all_steps.h"
#include "base/error.h"
#include "base/suggest.h"
#include "option_values.h"

namespace harness {
namespace {

bool names(const Selection& selection, const Kernel& k)
{
    return std::any_of(selection.kernels.begin(), selection.kernels.end(),
                       [&](const std::string& n) { return goes_by(k, n); });
}

bool wants(const Selection& selection, const Kernel& k)
{
    if (!selection.blocks.empty() && !k.block.x) return false;
    if (!selection.kernels.empty()) return names(selection, k);
    if (selection.all || k.role == Role::faulty) return k.role != Role::faulty;
    if (selection.messages_only && k.gpus) return k.needs == Needs::messages;
    const bool timed_next_to_it = k.role == Role::bound && k.needs == Needs::peers && k.backend == "cuda";
    return k.role == Role::lesson || timed_next_to_it;
}

// Names of the kernels that can be asked for, separated by commas.
template <typename Predicate>
std::string names_of(Predicate wanted)
{
    std::string text;
    for (const Kernel& k : kernels())
        if (k.backend != "cuda" && k.role != Role::faulty && wanted(k)) text += (text.empty() ? "" : ", ") + k.name;
    return text;
}

void check_blocks(const Selection& selection)
{
    const std::string with_blocks = names_of([](const Kernel& k) { return k.block.x > 0; });
    for (const std::string& name : selection.kernels) {
        const auto takes_blocks = [&](const Kernel& k) { return goes_by(k, name) && k.block.x; };
        if (!with_blocks.empty() && std::none_of(kernels().begin(), kernels().end(), takes_blocks))
            refuse("--block: does not apply to " + name + ", but to " + with_blocks);
    }
    if (!select("sim", selection).empty()) return;
    refuse("--block: applies to " + (with_blocks.empty() ? "no kernel of this program"
                                                         : with_blocks + ": name one with --kernel, or add --all"));
}

[[noreturn]] void refuse_kernel(const std::string& name)
{
    const auto in_another_step = [](const std::string& kernel) {
        const std::string program = program_of(kernel);
        return "in " + program + ": type make " + program + " && ./" + program + " --kernel " + kernel;
    };
    if (!program_of(name).empty()) refuse("--kernel " + name + ": this kernel is " + in_another_step(name));
    std::vector<std::string> names;
    for (const Kernel& k : kernels()) names.push_back(k.name);
    const size_t own = names.size();
    for (const std::string& kernel : kernels_of_all_steps()) names.push_back(kernel);
    const std::string meant = nearest(name, names);
    const bool elsewhere = std::find(names.begin(), names.begin() + own, meant) == names.begin() + own;
    refuse("--kernel " + name + ": expected one of " + names_of([](const Kernel&) { return true; }) +
           (meant.empty() ? "" : "; did you mean " + meant + (elsewhere ? ", " + in_another_step(meant) : "?")));
}

}  // namespace

std::vector<Contender> select(const std::string& backend, const Selection& selection)
{
    std::vector<Contender> selected;
    for (const Kernel& k : kernels()) {
        if (k.backend != backend || !wants(selection, k)) continue;
        if (selection.blocks.empty()) selected.push_back(contender(k, k.block));
        for (const Block& block : selection.blocks) selected.push_back(contender(k, block));
    }
    const auto earlier = [](const Contender& a, const Contender& b) { return a.kernel->role < b.kernel->role; };
    std::stable_sort(selected.begin(), selected.end(), earlier);
    return selected;
}

void check_names(const Selection& selection)
{
    for (const std::string& name : selection.kernels)
        if (std::none_of(kernels().begin(), kernels().end(), [&](const Kernel& k) { return goes_by(k, name); }))
            refuse_kernel(name);
    if (!selection.blocks.empty()) check_blocks(selection);
}

std::vector<std::vector<Contender*>> by_layout(std::vector<Contender>& contenders)
{
    std::vector<std::vector<Contender*>> groups;
    for (Contender& c : contenders) {
        const auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<Contender*>& g) {
            return Bench::same_layout(g.front()->expected(), c.expected());
        });
        if (group == groups.end()) groups.push_back({&c});
        else group->push_back(&c);
    }
    return groups;
}

}  // namespace harness
