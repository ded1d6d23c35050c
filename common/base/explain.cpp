#include "explain.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "error.h"

namespace harness {
namespace {

std::string per_request(uint64_t n, const AccessSite& site)
{
    return format("%.4g", double(n) / double(site.requests));
}

std::string one_unit(const AccessSite& s) { return std::string(s.unit, std::strlen(s.unit) - 1); }

std::string place_text(const AccessSite& s)
{
    return s.file.empty() ? "an unknown line" : format("%s:%d", s.file.c_str(), s.line);
}

std::string occupancy_text(const LaunchCounts& counts)
{
    const Occupancy& o = counts.occupancy;
    const auto number = [](uint64_t n) { return (unsigned long long)n; };
    std::string text =
        format("  occupancy: %llu block%s of %llu threads per SM, %.0f %% of its %llu threads; "
               "limited by %s; %llu on all %llu SMs\n",
               number(o.blocks), o.blocks == 1 ? "" : "s", number(o.threads),
               o.percent(), number(o.threads_per_sm), o.limit(),
               number(o.sms * o.blocks), number(o.sms));
    text += format("    an SM has room for %llu blocks of any size, %llu of this many threads", number(o.by_blocks),
                   number(o.by_threads));
    if (counts.shared_bytes)
        text += format(", %llu of this much shared memory (each %llu of %llu bytes)", number(o.by_shared),
                       number(o.shared_bytes), number(o.shared_per_sm));
    return text + format("\n    registers are not counted; with more than %llu in a thread, fewer blocks fit\n",
                         number(o.registers));
}

std::string partitions_text(const LaunchCounts& counts)
{
    const auto part = [&](bool store, double busiest) {
        const char* what = store ? "stores" : "loads";
        return busiest > 0 ? format("%.2f times the mean of the %s", busiest, what) : std::string();
    };
    const std::string loads = part(false, counts.busiest(false)), stores = part(true, counts.busiest(true));
    if (loads.empty() && stores.empty()) return "";
    return format("  memory partitions, %llu blocks at a time: the busiest of %d gets %s%s%s%s\n",
                  (unsigned long long)counts.resident_blocks, counts.partitions, loads.c_str(),
                  loads.empty() || stores.empty() ? "" : " and ", stores.c_str(),
                  counts.map_assumed ? " (which address lies in which partition is assumed)" : "");
}

}  // namespace

const char* access_name(const AccessSite& s) { return s.atomic ? "atomic" : s.store ? "store" : "load"; }

const char* memory_name(const AccessSite& s)
{
    constexpr const char* names[] = {"global", "shared", "peer", "local", "constant"};
    return names[s.memory];
}

std::string diagnosis(const AccessSite& s)
{
    const double cost = double(s.units) / s.requests, ideal = double(s.ideal) / s.requests;
    if (s.memory == local)
        return "an array that is indexed at run time lies in local memory and not in registers" +
               (s.conflict.empty() ? "" : ": " + s.conflict) +
               "; index it with constants, or in loops that nvcc can unroll, or put it into shared memory";
    if (s.memory == constant)
        return s.units == s.ideal
                   ? "all lanes read one word: it goes to all of them at once"
                   : format("lanes read different words, one after another: %.4g where 1 would do", cost);
    if (s.memory == shared) {
        if (s.units == s.ideal) return "no two lanes meet in a bank: no conflicts";
        const bool column = s.stride != 0 && s.stride % 128 == 0;
        return format("%s: a warp's %s takes %.4g wavefronts where %.4g would do%s",
                      column ? "a column of the tile lies in one bank" : "lanes meet in the same banks",
                      s.atomic  ? "atomic operation"
                      : s.store ? "store"
                                : "load",
                      cost, ideal, s.conflict.empty() ? "" : ("; for example, " + s.conflict).c_str());
    }
    const double share = double(s.asked) / s.bytes;
    if (s.accesses == s.requests)
        return format("one lane of the warp takes part: it has no neighbour to share its %s with",
                      one_unit(s).c_str());
    if (s.atomic && s.asked < s.accesses * s.element_bytes && s.units > s.ideal)
        return format("several lanes change one element, and take turns: %.4g %s where %.4g would do", cost, s.unit,
                      ideal);
    if (s.atomic && s.units == s.requests && s.asked < s.accesses * s.element_bytes)
        return "all lanes change one element: nvcc adds up first, and one lane makes the operation";
    if (s.asked == s.requests * s.element_bytes && s.accesses > s.requests)
        return format("all lanes ask for one element: %.4g bytes move for each that is asked for", 1 / share);
    if (s.units == s.ideal) return "neighbouring lanes access neighbouring elements: coalesced";
    if (std::llabs(s.stride) > int64_t(2 * s.element_bytes))
        return format("neighbouring lanes are %lld bytes apart: the warp moves %.4g times the bytes it asks for",
                      (long long)s.stride, 1 / share);
    if (share > 0.5)
        return format("rows do not begin on the boundaries of %s: a request takes %.4g where %.4g would do", s.unit,
                      cost, ideal);
    return format("each lane's access needs separate %s: the warp moves %.4g times the bytes it asks for", s.unit,
                  1 / share);
}

bool is_costly(const AccessSite& s) { return double(s.units) > 1.05 * double(s.ideal); }

std::vector<const AccessSite*> costly_sites(const LaunchCounts& counts)
{
    std::vector<const AccessSite*> costly;
    for (const AccessSite& s : counts.sites)
        if (is_costly(s)) costly.push_back(&s);
    std::stable_sort(costly.begin(), costly.end(), [](const AccessSite* a, const AccessSite* b) {
        return a->units - a->ideal > b->units - b->ideal;
    });
    return costly;
}

std::string access_text(const AccessSite& s) { return format("%s of %s memory", access_name(s), memory_name(s)); }

std::string units_text(double number, const AccessSite& s)
{
    return format("%.4g ", number) + (number == 1 ? one_unit(s) : s.unit);
}

std::string summary(const std::string& kernel, const LaunchCounts& counts)
{
    std::string text = "\n" + kernel + "\n";
    const std::vector<const AccessSite*> costly = costly_sites(counts);
    for (const AccessSite* s : costly) {
        const std::string why = diagnosis(*s);  // behind a colon come numbers
        text += "  " + place_text(*s) + ": " + access_text(*s) + ": " +
                units_text(double(s->units) / double(s->requests), *s) +
                format(" each, ideal %s: ", per_request(s->ideal, *s).c_str()) + why.substr(0, why.find(':')) + "\n";
    }
    const size_t others = counts.sites.size() - costly.size();
    if (others)
        text += format("  %zu %saccess%s no more than %s must\n", others, costly.empty() ? "" : "other ",
                       others == 1 ? " costs" : "es cost", others == 1 ? "it" : "they");
    return text;
}

std::string explanation(const std::string& kernel, const LaunchCounts& counts)
{
    std::string text = "\n" + kernel + "\n";
    for (const AccessSite& s : counts.sites) {
        text += "  " + access_text(s) + " at " + place_text(s) + (s.text.empty() ? "" : ": " + s.text) + "\n";
        text +=
            format("    %llu request%s of %s x %llu bytes; %s each, ideal %s", (unsigned long long)s.requests,
                   s.requests == 1 ? "" : "s", per_request(s.accesses, s).c_str(), (unsigned long long)s.element_bytes,
                   units_text(double(s.units) / double(s.requests), s).c_str(), per_request(s.ideal, s).c_str());
        if (s.memory == shared || s.memory == constant) text += format(", at worst %d\n", s.worst);
        else if (s.accesses == s.requests) text += "\n";
        else text += format("; %.1f %% of the bytes moved were asked for\n", 100.0 * s.asked / s.bytes);
        text += "    " + diagnosis(s) + "\n";
    }
    if (counts.launched.launches == 0) return text;  // copies and messages alone
    return text + occupancy_text(counts) + partitions_text(counts);
}

}  // namespace harness
