#include "device.h"

#include "error.h"

namespace harness {

std::vector<Backend>& backends()
{
    static std::vector<Backend> all;
    return all;
}

std::unique_ptr<Device> open_device(const std::string& choice, std::string& remark)
{
    std::string why_not = "this program was built without nvcc";
    for (const char* name : {"cuda", "sim"}) {
        if (choice != "auto" && choice != name) continue;
        for (const Backend& backend : backends()) {
            if (backend.name != name) continue;
            if (std::unique_ptr<Device> device = backend.open(why_not)) {
                if (choice == "auto" && backend.name == "sim") remark = why_not;
                return device;
            }
        }
    }
    throw Error{status_no_device, "--device " + choice + ": no CUDA device: " + why_not};
}

}  // namespace harness
