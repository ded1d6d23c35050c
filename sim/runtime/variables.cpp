// The variables that the source declares for the device: each device has its own. They have one address in the program,
// where the values of the device are put that uses them next.

#include <cstring>
#include <memory>
#include <vector>

#include "../core/global_checker.h"
#include "../elf/symbols.h"
#include "devices.h"
#include "runtime.h"

namespace sim {
namespace {

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

void use_variables_of(int device)
{
    if (device_count() == 1) return;
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
