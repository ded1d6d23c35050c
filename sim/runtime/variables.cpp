// The variables that the source declares for the device.
//
// Their sections share no page with others, so that the host is kept out as out of cudaMalloc's memory. On a GPU, such
// a name stands for something else on the host. Here both addresses are equal, so it is noted for which variables the
// program asked for the device's address.
//
// Each device has its own values. All devices' values have one address in the program: before a device uses the
// variables, its values are copied there.

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "../core/sinks/global_checker.h"
#include "../core/memory/declared_list.h"
#include "../core/grid/simulator.h"
#include "devices.h"
#include "options.h"
#include "runtime.h"

// The linker takes the sections in the order in which it meets them, and these come first.
#ifdef __aarch64__
#define SIM_BEGINS(name) ".pushsection " name ",\"aw\",@progbits\n.balign 65536\n.zero 1\n"
#else
#define SIM_BEGINS(name) ".pushsection " name ",\"aw\",@progbits\n.balign 4096\n.zero 1\n"
#endif
#define SIM_ENDS ".popsection\n"
asm(SIM_BEGINS("sim_device") "sim_pages = . - 1\n" SIM_ENDS SIM_BEGINS("sim_device_inline") SIM_ENDS
        SIM_BEGINS("sim_constant") SIM_ENDS SIM_BEGINS("sim_constant_inline") SIM_ENDS
            SIM_BEGINS("sim_managed") "sim_managed_pages = . - 1\n" SIM_ENDS SIM_BEGINS("sim_managed_inline") SIM_ENDS
                SIM_BEGINS("sim_behind") SIM_ENDS);
extern "C" __attribute__((visibility("hidden"))) char sim_pages[], sim_managed_pages[];

namespace sim {
namespace {

size_t page_range()
{
    const ptrdiff_t bytes = +sim_managed_pages - +sim_pages;
    return bytes > 0 ? size_t(bytes) : 0;
}

std::vector<Variable>& variables()
{
    static std::vector<Variable>& all = *new std::vector<Variable>;
    static const Declared* known = nullptr;
    if (known == records) return all;
    for (const Declared* r : device_variables(std::exchange(known, records)))
        all.push_back({r, uintptr_t(r->address())});
    std::sort(all.begin(), all.end(), [](const Variable& a, const Variable& b) { return a.begin < b.begin; });
    return all;
}

thread_local uintptr_t named = 0;

struct Values {
    std::vector<std::vector<char>> bytes;          // by variable
    std::vector<std::shared_ptr<Shadow>> shadows;  // by variable, too
};

struct DeviceVariables {
    std::vector<const Declared*> variables;
    std::vector<Values> values;  // by device
    int device = 0;              // whose values are in their places

    DeviceVariables() : values(size_t(device_count()))
    {
        for (const Declared* r : device_variables())
            if (r->kind != Declared::managed && !r->read_only) variables.push_back(r);
        for (Values& v : values) {
            for (const Declared* r : variables) {
                const char* begin = static_cast<const char*>(r->address());
                v.bytes.emplace_back(begin, begin + r->bytes);
            }
            v.shadows.resize(variables.size());
        }
    }
};

}  // namespace

void protect_variables(int protection) { mprotect(sim_pages, page_range(), protection); }

bool among_variables(uintptr_t address) { return address - uintptr_t(sim_pages) < page_range(); }

const Variable* variable_of(uintptr_t address)
{
    std::vector<Variable>& all = variables();
    const auto next = std::upper_bound(all.begin(), all.end(), address,
                                       [](uintptr_t a, const Variable& v) { return a < v.begin; });
    if (next == all.begin() || address - std::prev(next)->begin >= std::prev(next)->record->bytes) return nullptr;
    return &*std::prev(next);
}

const Variable* host_name(uintptr_t address)
{
    const Variable* v = variable_of(address);
    return v && v->owner() == Owner::device && !v->asked && v->begin != named ? v : nullptr;
}

bool ask_for(uintptr_t address)
{
    const Variable* v = variable_of(address);
    return v && (const_cast<Variable*>(v)->asked = true);
}

static void know_variables() { add_device_variables(program_options().threads <= 1); }

void for_each_managed_variable(const std::function<void(Allocation&)>& visit)
{
    know_variables();
    for (const Variable& v : variables())
        if (v.owner() == Owner::managed) visit(*memory().find(v.begin));
}

NamedVariable::NamedVariable(const void* symbol)
{
    know_variables();
    const Variable* v = variable_of(uintptr_t(symbol));
    named = v ? v->begin : 0;
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
        void* const place = s.variables[i]->address();
        std::memcpy(before.bytes[i].data(), place, before.bytes[i].size());
        std::memcpy(place, now.bytes[i].data(), now.bytes[i].size());
        Allocation* const allocation = memory().find(uintptr_t(place));
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
