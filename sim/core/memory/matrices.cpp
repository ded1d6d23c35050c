#include "matrices.h"

#include "../../../common/base/error.h"

namespace sim {
namespace {

const Allocation* output = nullptr;
std::vector<uintptr_t> matrices;  // addresses of the matrices that are known now

void forget_matrices()
{
    for (uintptr_t begin : matrices) memory().remove(begin);
    matrices.clear();
    output = nullptr;
}

}  // namespace

void use_matrices(const std::vector<PartOfMatrices>& parts, const Unwritten* unwritten)
{
    constexpr uint64_t page = 2 << 20;
    forget_matrices();
    for (size_t g = 0; g < parts.size(); ++g) {
        const PartOfMatrices& part = parts[g];
        const std::string of = parts.size() > 1 ? harness::format(" of GPU %zu", g) : "";
        Allocation in{uintptr_t(part.idata), part.idata_bytes, 0, "idata" + of};
        Allocation out{uintptr_t(part.odata), part.odata_bytes, (part.idata_bytes + page - 1) / page * page,
                       "odata" + of};
        in.device = out.device = parts.size() > 1 ? int(g) : -1;
        in.read_only = true;
        out.unwritten = unwritten;
        out.first_element = part.first_element;
        memory().add(in);
        const Allocation& added = memory().add(out);
        if (!output) output = &added;
        matrices.insert(matrices.end(), {in.begin, out.begin});
    }
}

const Allocation* output_matrix() { return output; }

}  // namespace sim
