// One core of the CPU as a Device: plain functions, on the host's memory, by its clock.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "../base/error.h"
#include "host_memory.h"

namespace cpu {
namespace {

using namespace harness;

std::string model_name()
{
    char line[256], name[256] = "";
    if (FILE* cpuinfo = fopen("/proc/cpuinfo", "r")) {
        while (!*name && fgets(line, sizeof line, cpuinfo)) {
            if (sscanf(line, "model name : %255[^\n]", name) != 1) name[0] = '\0';
        }
        fclose(cpuinfo);
    }
    return *name ? name : "an unnamed CPU";
}

class Cpu : public HostMemory {
public:
    Cpu()
    {
        const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
        info_.backend = "cpu";
        info_.machine = model_name();
        info_.l2_bytes = uint64_t(cache > 0 ? cache : 0);
        info_.copy = "memcpy";
        info_.description = format("one core of the CPU, %s%s", info_.machine.c_str(),
                                   cache > 0 ? format(", %.1f MB last-level cache", cache / 1e6).c_str() : "");
    }

    Done enqueue(const Pass& pass) override
    {
        pass.kernel.launch[int(pass.odata.contents.type)](pass.odata.data, pass.idata.data, pass.width, pass.height,
                                                          pass.block);
        return {};
    }

    bool has_clock() const override { return true; }

    double time_ms(const std::function<void()>& work) override
    {
        const auto start = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
};

const bool registered = [] {
    backends().push_back({"cpu", [](const Wanted&, std::string&) -> std::unique_ptr<Device> {
                              return std::make_unique<Cpu>();
                          }});
    return true;
}();

}  // namespace
}  // namespace cpu
