#include "all_steps.h"

namespace harness {
namespace {

const struct {
    const char *program, *kernel;
} steps_kernels[] = {
#include "build/kernels.h"
};

}  // namespace

std::vector<std::string> kernels_of_all_steps()
{
    std::vector<std::string> names;
    for (const auto& one : steps_kernels) names.push_back(one.kernel);
    return names;
}

std::string program_of(const std::string& kernel)
{
    for (const auto& one : steps_kernels)
        if (kernel == one.kernel) return one.program;
    return "";
}

}  // namespace harness
