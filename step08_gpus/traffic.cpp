#include "traffic.h"

#include <algorithm>

using harness::format;

std::string receivers(const sim::Traffic& t)
{
    std::string text;
    for (int from = 0; from < t.gpus; ++from) {
        text += format("    GPU %-2d ", from);
        for (int w = 0; w < t.pictured; ++w) {
            unsigned long long sum = 0, most = 0;
            int to = 0;
            for (int g = 0; g < t.gpus; ++g) {
                sum += t.picture[w][from][g];
                if (t.picture[w][from][g] > most) most = t.picture[w][from][g], to = g;
            }
            text += sum == 0 ? '.' : most > sum / 2 ? "0123456789abcdef"[to] : '*';
        }
        text += "\n";
    }
    return text;
}

double model_ms(const sim::Traffic& t, const Link& link)
{
    double bytes = 0;
    for (int w = 0; w < t.pictured; ++w) {
        double most = 0;
        for (int g = 0; g < t.gpus; ++g) {
            double in = 0, out = 0;
            for (int other = 0; other < t.gpus; ++other) {
                in += double(t.picture[w][other][g]);
                out += double(t.picture[w][g][other]);
            }
            most = std::max({most, in, out});
        }
        bytes += most;
    }
    unsigned long long messages = 0;
    for (int g = 0; g < t.gpus; ++g) {
        unsigned long long sent = 0;
        for (int other = 0; other < t.gpus; ++other) sent += t.messages[g][other];
        messages = std::max(messages, sent);
    }
    return bytes / (link.gbs * 1e6) + double(messages) * link.latency_us / 1e3;
}
