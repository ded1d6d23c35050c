#include "beside.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "../../../common/base/error.h"
#include "../../elf/places.h"

namespace sim {

std::string Beside::text() const
{
    const Place at = place_of(uint64_t(place));
    return harness::format("%s%s at %s%s", name, launch ? ", launched" : "",
                           at.file.empty() ? "an unknown line"
                                           : harness::format("%s:%d", at.file.c_str(), at.line).c_str(),
                           device >= 0 ? harness::format(" on device %d", device).c_str() : "");
}

const char* verb(const char* function, bool writes)
{
    return !writes                                         ? " reads it"
           : std::strncmp(function, "cudaMalloc", 10) == 0 ? " allocates it"
           : std::strncmp(function, "cudaFree", 8) == 0    ? " frees it"
                                                           : " writes it";
}

std::string Beside::text(bool writes) const { return text() + verb(name, writes); }

const Beside* beside_of(uint64_t block, const std::vector<Beside>& all)
{
    const auto after =
        std::upper_bound(all.begin(), all.end(), block, [](uint64_t b, const Beside& one) { return b <= one.first; });
    if (after == all.begin()) return nullptr;
    const Beside& one = *std::prev(after);
    return block <= one.first + one.blocks ? &one : nullptr;
}

}  // namespace sim
