#include "limits.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace harness {
namespace {

constexpr uint64_t unlimited = ~uint64_t(0);

// The number of a file that holds nothing else; `otherwise` where there is none, as in "max".
uint64_t number_in(const std::string& path, uint64_t otherwise)
{
    std::ifstream in(path);
    uint64_t value = 0;
    return in >> value ? value : otherwise;
}

// The number behind the name that a line of the file begins with; 0 if there is none.
uint64_t number_of(const std::string& path, const std::string& name)
{
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string word;
        uint64_t value = 0;
        if (words >> word && word == name && words >> value) return value;
    }
    return 0;
}

// The names that a version of the control groups has.
struct Names {
    const char *folder, *limit, *usage, *cache;
};
constexpr Names version_1{"/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr Names version_2{"", "/memory.max", "/memory.current", "inactive_file"};

// The bytes that a group leaves. A limit holds for all groups inside the group. A container may see itself as the root,
// whatever the path says, so folders that are not there are passed over.
uint64_t left_in(const std::string& root, std::string path, const Names& names)
{
    uint64_t least = unlimited;
    for (;;) {
        const std::string group = root + names.folder + path;
        const uint64_t limit = number_in(group + names.limit, unlimited);
        if (limit != unlimited) {
            // The kernel drops cached files before it refuses memory.
            const uint64_t usage = number_in(group + names.usage, 0),
                           cache = number_of(group + "/memory.stat", names.cache),
                           used = usage - std::min(usage, cache);
            least = std::min(least, limit - std::min(limit, used));
        }
        if (path.empty()) return least;
        path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
    }
}

}  // namespace

uint64_t left_in_groups(const std::string& groups, const std::string& root)
{
    uint64_t least = unlimited;
    std::istringstream lines(groups);
    // 4:memory:/user.slice is version 1, 0::/user.slice version 2.
    for (std::string line; std::getline(lines, line);) {
        const size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",",
                          path = line.substr(second + 1);
        if (controllers == ",,") least = std::min(least, left_in(root, path, version_2));
        else if (controllers.find(",memory,") != std::string::npos)
            least = std::min(least, left_in(root, path, version_1));
    }
    return least;
}

uint64_t available_memory()
{
    // MemAvailable counts caches that give way; sysconf does not.
    const uint64_t kib = number_of("/proc/meminfo", "MemAvailable:");
    const uint64_t machine = kib ? kib * 1024 : uint64_t(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    std::ifstream groups("/proc/self/cgroup");
    return std::min(machine, left_in_groups({std::istreambuf_iterator<char>(groups), {}}, "/sys/fs/cgroup"));
}

uint64_t address_limit()
{
    rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : unlimited;
}

int usable_processors()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

}  // namespace harness
