#include "device.h"

#include <algorithm>

#include "base/error.h"

namespace harness {

uint64_t LaunchCounts::requests(bool shared, bool store) const
{
    uint64_t sum = 0;
    for (const AccessSite& s : sites) sum += s.shared == shared && s.store == store ? s.requests : 0;
    return sum;
}

uint64_t LaunchCounts::units(bool shared, bool store) const
{
    uint64_t sum = 0;
    for (const AccessSite& s : sites) sum += s.shared == shared && s.store == store ? s.units : 0;
    return sum;
}

uint64_t LaunchCounts::accesses() const
{
    uint64_t sum = 0;
    for (const AccessSite& s : sites) sum += s.accesses;
    return sum;
}

uint64_t LaunchCounts::bytes_moved() const
{
    uint64_t sum = 0;
    for (const AccessSite& s : sites) sum += s.bytes;
    return sum;
}

uint64_t LaunchCounts::bytes_asked() const
{
    uint64_t sum = 0;
    for (const AccessSite& s : sites) sum += s.asked;
    return sum;
}

uint64_t LaunchCounts::bytes_between_gpus() const
{
    uint64_t sum = 0;
    for (const AccessSite& s : sites) sum += s.peer ? s.bytes : 0;
    return sum;
}

uint64_t LaunchCounts::bytes_asked_between_gpus() const
{
    uint64_t sum = 0;
    for (const AccessSite& s : sites) sum += s.peer ? s.asked : 0;
    return sum;
}

int LaunchCounts::worst_conflict() const
{
    int worst = 0;
    for (const AccessSite& s : sites) worst = std::max(worst, s.shared ? s.worst : 0);
    return worst;
}

std::vector<Backend>& backends()
{
    static std::vector<Backend> all;
    return all;
}

std::unique_ptr<Device> open_device(const std::string& choice, const Machine& machine, std::string& remark)
{
    std::string why_not = "this program was built without nvcc";
    for (const std::string name : {"cuda", "sim", "cpu"}) {
        if (choice != name && (choice != "auto" || name == "cpu")) continue;
        for (const Backend& backend : backends()) {
            if (backend.name != name) continue;
            if (std::unique_ptr<Device> device = backend.open(machine, why_not)) {
                if (choice == "auto" && backend.name == "sim") remark = why_not;
                return device;
            }
        }
    }
    throw Error{status_no_device, "--device " + choice + ": no CUDA device: " + why_not};
}

}  // namespace harness
