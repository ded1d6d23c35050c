#include "base/error.h"
#include "figures.h"
#include "tables.h"

namespace harness {

std::string model_table(const Results& results)
{
    const Machine& machine = *results.device.simulated;
    const bool published_size = results.width == 2048 && results.height == 2048 && results.type == Type::f32;
    const bool compare = published_size && published_gbs(machine, "W1") > 0;
    const bool estimate = machine.roofline.stream_gbs > 0;
    TableLines lines{{"kernel", "limited by", "model ms", "model GB/s"}};
    if (estimate) lines[0].insert(lines[0].begin() + 2, "then by");
    if (compare) lines[0].insert(lines[0].end(), {"published GB/s", "difference %"});
    for (const Result& r : results.rows) {
        if (!r.counts) continue;
        const std::optional<Prediction> model = modelled(results, machine, r);
        if (!model && r.counts->bytes_asked() > 0 && r.expected.passes == 1 && !r.gpus &&
            machine.roofline.stream_gbs > 0)
            return format("The %s also has a model of times, for matrices larger than its L2: add --size 8192.\n",
                          machine.label.c_str());
        if (!model) continue;
        const double gbs = gbs_of(results, r, model->ms);
        lines.push_back({r.kernel + r.label, model->limit, ms_text(model->ms), gbs_text(gbs)});
        if (estimate) lines.back().insert(lines.back().begin() + 2, model->next);
        const double published = published_gbs(machine, r.row);
        if (!compare || published <= 0) continue;
        lines.back().push_back(gbs_text(published));
        lines.back().push_back(format("%+.1f", 100 * (gbs / published - 1)));
    }
    if (lines.size() == 1) return "";
    return format("The model of the %s, not a measurement%s:\n\n", machine.label.c_str(),
                  estimate ? " (an estimate: latencies, and what the counts keep busiest)" : "") + aligned(lines);
}

}  // namespace harness
