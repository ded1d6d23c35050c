// The variables that the source declares for the device.
//
// Their sections begin and end with pages, so that the host can be kept out of them as out of cudaMalloc's memory. On a
// GPU, the name of such a variable stands for a copy of its own on the host, and its address for nothing that a kernel
// could use. cudaGetSymbolAddress gives the other one. Here both are equal, so it is noted which ones were asked for.
//
// Each device has its own values. They have one address in the program, where the values of the device are put that
// uses them next.

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "../core/global_checker.h"
#include "../core/simulator.h"
#include "../elf/symbols.h"
#include "devices.h"
#include "options.h"
#include "runtime.h"

// The linker takes the sections in the order in which it meets them, and the simulator's objects come first.
#define SIM_SECTION(name) \
    ".pushsection sim_" name ",\"aw\",@progbits\n.balign " SIM_LARGEST_PAGE "\nsim_pages_" name ": .zero 1\n.popsection\n"
#ifdef __aarch64__
#define SIM_LARGEST_PAGE "65536"
#else
#define SIM_LARGEST_PAGE "4096"
#endif
asm(SIM_SECTION("device") SIM_SECTION("device_inline") SIM_SECTION("constant") SIM_SECTION("constant_inline")
        SIM_SECTION("managed") SIM_SECTION("managed_inline") SIM_SECTION("behind"));
extern "C" __attribute__((visibility("hidden"))) char sim_pages_device[], sim_pages_device_inline[],
    sim_pages_constant[], sim_pages_constant_inline[], sim_pages_managed[], sim_pages_managed_inline[],
    sim_pages_behind[];

namespace sim {
namespace {

// False: a linker has another order. There is no wall then.
bool in_order()
{
    const char* const all[] = {sim_pages_device,  sim_pages_device_inline,  sim_pages_constant, sim_pages_constant_inline,
                               sim_pages_managed, sim_pages_managed_inline, sim_pages_behind};
    return std::is_sorted(std::begin(all), std::end(all));
}

std::vector<Variable>& variables()
{
    static std::vector<Variable>& all = *[] {
        auto* all = new std::vector<Variable>;
        const auto add = [&](const char* section, Owner owner) {
            for (const Symbol& s : device_variables(section)) all->push_back({s, owner});
        };
        for (const char* section :
             {"sim_device", "sim_device_const", "sim_device_table", "sim_constant", "sim_constant_const"})
            add(section, Owner::device);
        add("sim_managed", Owner::managed);
        std::sort(all->begin(), all->end(),
                  [](const Variable& a, const Variable& b) { return a.symbol.address < b.symbol.address; });
        return all;
    }();
    return all;
}

thread_local uintptr_t named = 0;

struct Values {
    std::vector<std::vector<char>> bytes;          // by variable
    std::vector<std::shared_ptr<Shadow>> shadows;  // the same
};

struct DeviceVariables {
    std::vector<Symbol> variables;
    std::vector<Values> values;  // by device
    int device = 0;              // whose values are in their places

    DeviceVariables() : values(size_t(device_count()))
    {
        for (const char* section : {"sim_device", "sim_constant"})
            for (const Symbol& s : device_variables(section)) variables.push_back(s);
        for (Values& v : values) {
            for (const Symbol& s : variables) {
                const char* begin = reinterpret_cast<const char*>(s.address);
                v.bytes.emplace_back(begin, begin + s.bytes);
            }
            v.shadows.resize(variables.size());
        }
    }
};

}  // namespace

void protect_variables(int protection)
{
    static const bool can = in_order();
    if (can) mprotect(sim_pages_device, size_t(sim_pages_managed - sim_pages_device), protection);
}

bool among_variables(uintptr_t address)
{
    return address - uintptr_t(sim_pages_device) < size_t(sim_pages_managed - sim_pages_device);
}

const Variable* variable_of(uintptr_t address)
{
    std::vector<Variable>& all = variables();
    const auto next = std::upper_bound(all.begin(), all.end(), address,
                                       [](uintptr_t a, const Variable& v) { return a < v.symbol.address; });
    if (next == all.begin() || address - std::prev(next)->symbol.address >= std::prev(next)->symbol.bytes)
        return nullptr;
    return &*std::prev(next);
}

const Variable* host_name(uintptr_t address)
{
    const Variable* v = variable_of(address);
    return v && v->owner == Owner::device && !v->asked && v->symbol.address != named ? v : nullptr;
}

void ask_for(uintptr_t address)
{
    if (const Variable* v = variable_of(address)) const_cast<Variable*>(v)->asked = true;
}

std::vector<Variable> managed_variables()
{
    std::vector<Variable> managed;
    for (const Variable& v : variables())
        if (v.owner == Owner::managed) managed.push_back(v);
    return managed;
}

NamedVariable::NamedVariable(const void* symbol)
{
    use_exact_checks(program_options().threads <= 1);
    add_device_variables();
    const Variable* v = variable_of(uintptr_t(symbol));
    named = v ? v->symbol.address : 0;
}
NamedVariable::~NamedVariable() { named = 0; }

void use_variables_of(int device)
{
    if (device_count() == 1) return;
    const OpenMemory open;
    static DeviceVariables& s = *new DeviceVariables;  // with the values that the program begins with
    if (device == s.device) return;
    Values &before = s.values[size_t(s.device)], &now = s.values[size_t(device)];
    for (size_t i = 0; i < s.variables.size(); ++i) {
        void* const place = reinterpret_cast<void*>(s.variables[i].address);
        std::memcpy(before.bytes[i].data(), place, before.bytes[i].size());
        std::memcpy(place, now.bytes[i].data(), now.bytes[i].size());
        Allocation* const allocation = memory().find(s.variables[i].address);
        if (!allocation || !allocation->shadow) continue;
        before.shadows[i] = allocation->shadow;
        if (!now.shadows[i]) {
            now.shadows[i] = std::make_shared<Shadow>(allocation->bytes);
            now.shadows[i]->note_written(0, allocation->bytes);
        }
        allocation->shadow = now.shadows[i];
    }
    s.device = device;
}

}  // namespace sim
