#include "links.h"

#include <algorithm>

#include "base/suggest.h"
#include "reference.h"

namespace harness {

const Link& link_named(const std::string& name)
{
    std::vector<std::string> known;
    for (const Link& link : links) {
        if (name == link.name) return link;
        known.push_back(link.name);
    }
    throw Error{status_bad_input, "--link " + name + ": " + expected_one_of(name, known)};
}

double crossing_ms(const BetweenGpus& b, const Link& link)
{
    double bytes = 0;
    for (const std::vector<uint64_t>& period : b.picture) {
        double most = 0;
        for (int g = 0; g < b.gpus; ++g) {
            double in = 0, out = 0;
            for (int other = 0; other < b.gpus; ++other) {
                in += double(period[other * b.gpus + g]);
                out += double(period[g * b.gpus + other]);
            }
            most = std::max({most, in, out});
        }
        bytes += most;
    }
    return bytes / (link.gbs * 1e6) + double(b.most_messages) * link.latency_us / 1e3;
}

double crossing_bytes(int width, int height, int gpus, uint64_t element_bytes)
{
    double most = 0;
    for (int g = 0; g < gpus; ++g) {
        const double rows = first_row(height, g + 1, gpus) - first_row(height, g, gpus);
        const double columns = first_row(width, g + 1, gpus) - first_row(width, g, gpus);
        most = std::max(most, rows * (width - columns) * double(element_bytes));
    }
    return most;
}

std::string receivers_text(const BetweenGpus& b)
{
    std::string text;
    for (int from = 0; from < b.gpus; ++from) {
        text += format("    GPU %-2d ", from);
        for (const std::vector<uint64_t>& period : b.picture) {
            uint64_t sum = 0, most = 0;
            int to = 0;
            for (int g = 0; g < b.gpus; ++g) {
                const uint64_t bytes = period[from * b.gpus + g];
                sum += bytes;
                if (bytes > most) most = bytes, to = g;
            }
            text += sum == 0 ? '.' : most > sum / 2 ? "0123456789abcdef"[to] : '*';
        }
        text += "\n";
    }
    return text;
}

}  // namespace harness
