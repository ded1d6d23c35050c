// A latency of the model is a difference of two lives of a block, so that whatever else a block does cancels. A rate is
// measured directly.

#include "constants.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "csv.h"
#include "error.h"

namespace harness {
namespace {

using M = Measurements;

// ns of a barrier: the difference of the lives with 9 and with 1 pair of barriers is 16 barriers.
double barrier_of_32(const M& m) { return (m("life_9_barrier_pairs_32") - m("life_1_barrier_pair_32")) / 16; }
double barrier_of_1024(const M& m) { return (m("life_9_barrier_pairs_1024") - m("life_1_barrier_pair_1024")) / 16; }

// Lines of 128 bytes per second, in order.
double line(const M& m) { return m("stream") * 1e9 / 128; }

// mine for folder/mine.machine: a name for --machines that is not that of a built-in machine, unless it is wanted.
std::string name_of_file(const std::string& path)
{
    std::string name = path.substr(path.rfind('/') + 1);
    name = name.substr(0, name.find('.', 1));
    name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return !in_machine_names(c); }), name.end());
    return name.empty() ? "mine" : name.substr(0, longest_machine_name);
}

constexpr double more_threads = 1024 - 32, warp = 32;

}  // namespace

double Measurements::operator()(const char* constant) const
{
    const auto found = values_.find(constant);
    return found == values_.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

#define CONSTANT(key, unit, member, meaning) \
    {key, Unit::unit, Need::constants, false, [](Machine& m) -> Field { return &m.roofline.member; }, meaning}

const std::vector<Constant>& constants()
{
    static const std::vector<Constant>& all = *new std::vector<Constant>{
        // Launches of a kernel that waits, back to back, less the time that it waits.
        {CONSTANT("launch_time", ns, launch_ns, "a launch, beside the time of its kernel"),
         {[](const M& m) { return m("launch"); }}},
        // A block alone on its SM, whose threads do nothing.
        {CONSTANT("block_time", ns, block_ns, "a block of 32 threads starts and ends"),
         {[](const M& m) { return m("life_empty_32"); }}},
        {CONSTANT("thread_time", ns, thread_ns, "more for each further thread"),
         {[](const M& m) { return (m("life_empty_1024") - m("life_empty_32")) / more_threads; }}},
        // A block that loads lives longer, by the way through the SM and the latency of the DRAM. These two may be
        // measured on two cards.
        {CONSTANT("load_time", ns, load_ns, "a load from DRAM"),
         {[](const M& m) { return m("life_load_32") - m("life_empty_32") - m("latency_dram_ns"); },
          [](const M& m) { return m("latency_dram_ns"); }}},
        {CONSTANT("loads_in_flight", per_s, loads_in_flight_per_s, "loads of a warp, one in flight for each thread"),
         {[](const M& m) { return m("one_in_flight"); }}},
        {CONSTANT("hit_time", ns, hit_ns, "a load from the L1"), {[](const M& m) { return m("latency_l1_ns"); }}},
        {CONSTANT("store_time", ns, store_ns, "a store, with its address"),
         {[](const M& m) { return m("life_store_32") - m("life_empty_32"); }}},
        {CONSTANT("barrier_time", ns, barrier_ns, "a barrier of 32 threads"), {barrier_of_32}},
        {CONSTANT("barrier_thread_time", ns, barrier_thread_ns, "more for each further thread"),
         {[](const M& m) { return (barrier_of_1024(m) - barrier_of_32(m)) / more_threads; }}},
        // Empty blocks of 8 warps, as many as fit on an SM.
        {CONSTANT("blocks_started", per_s, blocks_per_s, "blocks"),
         {[](const M& m) { return m("empty_warps_256") / 8; }}},
        {CONSTANT("dram_stream", gbs, stream_gbs, "DRAM, reads and writes in order"),
         {[](const M& m) { return m("stream"); }}},
        {CONSTANT("dram_scatter", gbs, scatter_gbs, "the same, every 128 bytes stored about 64 KB from the last"),
         {[](const M& m) { return m("scatter_near"); }}},
        {CONSTANT("half_load", none, half_load, "of a line's time: 64 bytes from anywhere"),
         {[](const M& m) { return line(m) / m("random_sectors"); }}},
        {CONSTANT("half_store", none, half_store, "of a line's time: 64 bytes stored anywhere"),
         {[](const M& m) { return line(m) / (m("random_stores_of_pairs") / 16); }}},
        {CONSTANT("unfilled_store", none, unfilled_store, "of a line's time: 4 bytes stored anywhere"),
         {[](const M& m) { return line(m) / m("random_stores"); }}},
        {CONSTANT("partial_lines", per_s, partial_lines_per_s, "lines in the L2 that stores touch and do not fill"),
         {[](const M& m) { return m("partial_lines_l2"); }}},
        // Every lane loads from the same place of another line: 32 turns for each load of a warp.
        {CONSTANT("l1_turns", per_s, l1_turns_per_s, "sectors that loads read from one place of their lines"),
         {[](const M& m) { return warp * m("l1_loads_stride_32"); }}},
        {CONSTANT("l1_lines", per_s, l1_lines_per_s, "lines that miss the L1 and hit the L2"),
         {[](const M& m) { return m("line_misses"); }}},
        {CONSTANT("wavefronts", per_s, wavefronts_per_s, "of shared memory"),
         {[](const M& m) { return m("wavefronts"); }}},
        // Every lane loads another word.
        {CONSTANT("constant_words", per_s, constant_words_per_s, "words of __constant__ memory"),
         {[](const M& m) { return warp * m("constant_by_lane_near"); }}},
    };
    return all;
}

#undef CONSTANT

Measurements parse_measurements(const std::string& from, const std::string& text)
{
    const std::vector<std::string> names{"date_utc", "machine", "cuda_driver", "constant", "unit", "value",
                                         "spread_percent"};
    CsvReader reader(text);
    std::vector<std::string> cells;
    if (!reader.next(cells) || cells != names)
        throw Error{status_bad_input, from + ": expected what ./microbench prints, beginning with date_utc,machine,"};
    Measurements found;
    while (reader.next(cells)) {
        char* end = nullptr;
        const double value = cells.size() == names.size() ? std::strtod(cells[5].c_str(), &end) : 0;
        if (!end || end == cells[5].c_str() || *end || !std::isfinite(value))
            throw Error{status_bad_input,
                        format("%s:%zu: expected a constant and its value", from.c_str(), reader.line())};
        if (found.card.empty()) found.card = cells[1];
        if (cells[1] != found.card)
            throw Error{status_bad_input, format("%s:%zu: of the %s, but the lines before are of the %s", from.c_str(),
                                                 reader.line(), cells[1].c_str(), found.card.c_str())};
        found.date = std::max(found.date, cells[0].substr(0, 10));
        found.driver = cells[2];
        found.set(cells[3], value);
    }
    if (found.card.empty()) throw Error{status_bad_input, from + ": has no measurement"};
    return found;
}

std::map<std::string, std::string> derive_constants(Machine& machine, const std::vector<Measurements>& measured)
{
    std::map<std::string, std::string> notes;
    for (const Constant& constant : constants()) {
        const Figure& figure = constant.figure;
        double& value = *std::get<double*>(figure.field(machine));
        double sum = 0;
        const Measurements* source = &measured.front();
        for (const Term term : constant.terms) {
            auto of = measured.begin();
            while (of != measured.end() && std::isnan(term(*of))) ++of;
            if (of == measured.end()) {
                sum = std::numeric_limits<double>::quiet_NaN();
                break;
            }
            sum += term(*of);
            if (of != measured.begin()) source = &*of;
        }
        if (!std::isnan(sum)) {
            value = std::strtod(format("%.6g", sum).c_str(), nullptr);  // with the digits that the file gets
            if (source != &measured.front()) notes[figure.key] = "of the " + source->card;
            continue;
        }
        if (value <= 0)
            throw Error{status_bad_input, std::string(figure.key) + " does not follow from these measurements: measure "
                                                                    "them again with this ./microbench"};
        notes[figure.key] = "not among these measurements";
    }
    machine.measured = measured.front().date;
    machine.driver = measured.front().driver;
    machine.card = measured.front().card;
    return notes;
}

Machine machine_of_card(const std::string& card, int major, int minor, const std::string& path)
{
    const auto is_it = [&](const Machine& m) { return m.card == card; };
    const auto known = std::find_if(machines().begin(), machines().end(), is_it);
    Machine m = known == machines().end() ? Machine() : *known;
    m.name = name_of_file(path);
    if (known != machines().end()) return m;
    static_cast<Capability&>(m) = capability(major, minor);
    m.major = major;
    m.minor = minor;
    const std::string maker = "NVIDIA ";
    m.label = card.compare(0, maker.size(), maker) ? card : card.substr(maker.size());
    m.latency_source = "one load in flight per thread, measured";
    return m;
}

std::string measured_machine_text(Machine machine, const std::vector<Measurements>& measured)
{
    const std::map<std::string, std::string> notes = derive_constants(machine, measured);
    const std::string text = machine_text(
        machine,
        {"A machine for --machine FILE. Its last part has the constants of the model of times. They follow from what",
         "./microbench measured, by the formulas of common/base/constants.cpp."},
        notes);
    parse_machine("the machine that was measured", text);  // checks the text: a driver may not know its clock
    return text;
}

}  // namespace harness
