// The entries of .debug_info tell which code came from which call. A function that the compiler wrote itself, such as a
// copy constructor, is marked: an access in it belongs to the place that copies. Each unit is read once, when a place
// in it is first looked for, and its list is kept.

#include "inlined.h"

#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "dwarf.h"

namespace sim {
namespace {

enum : unsigned { DW_RLE_offset_pair = 0x04, DW_RLE_base_address, DW_RLE_start_end, DW_RLE_start_length };

// Calls add(begin, end) for the ranges of an entry. What clang has in tables of addresses is left out: it needs none of
// this.
template <typename Add>
void for_ranges(const Entry& entry, unsigned version, uint64_t base, Add add)
{
    const Entry::Attribute *low = entry.find(DW_AT_low_pc), *high = entry.find(DW_AT_high_pc),
                           *ranges = entry.find(DW_AT_ranges);
    if (low && high && low->form == DW_FORM_addr)
        add(low->value.number, high->value.number + (high->form == DW_FORM_addr ? 0 : low->value.number));
    if (!ranges || ranges->form != DW_FORM_sec_offset) return;
    Reader r(section_contents(version < 5 ? ".debug_ranges" : ".debug_rnglists"));
    r.skip(ranges->value.number);
    while (r.more()) {
        uint64_t begin = 0, end = 0;
        if (version < 5) {
            begin = r.get<uint64_t>();
            end = r.get<uint64_t>();
            if (!begin && !end) return;
            if (begin == ~uint64_t(0)) base = end;
            else add(base + begin, base + end);
            continue;
        }
        switch (r.get<uint8_t>()) {
        case DW_RLE_offset_pair: begin = base + r.uleb(); end = base + r.uleb(); break;
        case DW_RLE_base_address: base = r.get<uint64_t>(); continue;
        case DW_RLE_start_end: begin = r.get<uint64_t>(); end = r.get<uint64_t>(); break;
        case DW_RLE_start_length: begin = r.get<uint64_t>(); end = begin + r.uleb(); break;
        default: return;
        }
        add(begin, end);
    }
}

std::vector<Inlined> read_inlined(uint64_t line_table)
{
    std::vector<Inlined> all;
    std::unordered_map<uint64_t, uint64_t> declarations;  // of functions that are defined elsewhere
    std::unordered_set<uint64_t> implicit;
    uint64_t base = 0;
    for_entries(line_table, [&](const Entry& entry, unsigned version) {
        if (entry.find(DW_AT_stmt_list)) base = entry.number(DW_AT_low_pc);
        if (entry.tag == DW_TAG_subprogram) {
            // g++ marks the body of a lambda as artificial, too.
            const Entry::Attribute* name = entry.find(DW_AT_name);
            const bool lambda = name && !std::strcmp(name->value.text(), "operator()");
            if (!lambda && (entry.find(DW_AT_artificial) || entry.find(DW_AT_defaulted))) implicit.insert(entry.offset);
            if (const uint64_t declaration = entry.reference(DW_AT_specification))
                declarations[entry.offset] = declaration;
        } else if (entry.tag == DW_TAG_inlined_subroutine) {
            for_ranges(entry, version, base, [&](uint64_t begin, uint64_t end) {
                all.push_back({begin, end, entry.number(DW_AT_call_file), entry.number(DW_AT_call_line),
                               entry.number(DW_AT_call_column), entry.reference(DW_AT_abstract_origin)});
            });
        }
        return true;
    });
    for (Inlined& i : all) {
        const auto declared = declarations.find(i.function);
        i.implicit = implicit.count(i.function) || (declared != declarations.end() && implicit.count(declared->second));
    }
    return all;
}

}  // namespace

const std::vector<Inlined>& inlined_in(uint64_t line_table)
{
    static std::mutex mutex;
    static auto& all = *new std::map<uint64_t, std::vector<Inlined>>;  // it outlives the program's own variables, which
                                                                       // ask in their destructors
    const std::lock_guard<std::mutex> lock(mutex);
    const auto [at, is_new] = all.try_emplace(line_table);
    if (is_new) at->second = read_inlined(line_table);
    return at->second;
}

}  // namespace sim
