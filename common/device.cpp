#include "device.h"

#include "base/error.h"

namespace harness {

std::vector<Backend>& backends()
{
    static std::vector<Backend> all;
    return all;
}

std::unique_ptr<Device> open_device(const std::string& choice, Wanted wanted, std::string& remark)
{
    wanted.otherwise_simulated = choice == "auto";
    std::string why_not = "built without nvcc";
    for (const std::string name : {"cuda", "sim", "cpu"}) {
        if (choice != name && (choice != "auto" || name == "cpu")) continue;
        for (const Backend& backend : backends()) {
            if (backend.name != (name == "cuda" && any_on_parts() ? "gpus" : name)) continue;
            if (std::unique_ptr<Device> device = backend.open(wanted, why_not)) {
                if (choice == "auto" && backend.name == "sim") remark = why_not;
                return device;
            }
        }
    }
    throw Error{status_no_device, "--device " + choice + ": no CUDA device: " + why_not};
}

}  // namespace harness
