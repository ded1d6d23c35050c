// A file becomes entries, a key with its value and its line. The table of figures then reads them: it has the unit and
// the field of each.

#include "machine_file.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <type_traits>

#include "constants.h"
#include "csv.h"
#include "error.h"
#include "files.h"
#include "suggest.h"

namespace harness {
namespace {

struct Entry {
    std::string value;
    size_t line;
};
using Entries = std::map<std::string, Entry>;

// The units of bytes, the largest first, as they are written. Of the decimal ones only those that cards are sold in.
const struct {
    const char* name;
    uint64_t bytes;
} units_of_bytes[] = {{"GiB", 1 << 30}, {"GB", 1000000000}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};

const char* name_of(Unit unit)
{
    switch (unit) {
        case Unit::mhz: return "MHz";
        case Unit::bits: return "bits";
        case Unit::bytes: return "B, KiB, MiB, GB or GiB";
        case Unit::clocks: return "clocks";
        case Unit::ns: return "ns";
        case Unit::per_s: return "/s";
        case Unit::gbs: return "GB/s";
        default: return "";
    }
}

// The line that is expected, for messages.
std::string pattern_of(const Figure& figure)
{
    const std::string key = std::string(figure.key) + " = ", unit = name_of(figure.unit);
    if (figure.unit == Unit::text) return key + "TEXT";
    if (figure.unit == Unit::yes_no) return key + "yes|no";
    if (figure.unit == Unit::version) return key + "9.0";
    if (figure.unit == Unit::lists) return key + "10 13, 11 15: for each bit of the partition, bits of the address";
    return key + "NUMBER" + (unit.empty() ? "" : " " + unit);
}

// True if its value may be 0, or is no number.
bool has_zero(const Figure& figure)
{
    return figure.zero || (figure.unit >= Unit::text && figure.unit <= Unit::lists);
}

const Figure* figure_named(const std::string& key)
{
    for (const Figure& figure : figures())
        if (figure.key == key) return &figure;
    for (const Constant& constant : constants())
        if (constant.figure.key == key) return &constant.figure;
    return nullptr;
}

// Calls f with every figure, in the order of a file.
template <typename F> void for_each_figure(F f)
{
    for (const Figure& figure : figures()) f(figure);
    for (const Constant& constant : constants()) f(constant.figure);
}

std::string trimmed(const std::string& text)
{
    const size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
    return begin == text.npos ? "" : text.substr(begin, end - begin + 1);
}

// Each reader of a value returns false where the value is not what its figure expects.

// A number that is written as 132, 2.25 or 1.6e9, and what follows it.
bool read_number(const std::string& value, double& number, std::string& unit)
{
    const size_t digits = std::min(value.find_first_not_of("0123456789.+-eE"), value.size());
    const std::string text = value.substr(0, digits);
    unit = trimmed(value.substr(digits));
    char* end = nullptr;
    number = std::strtod(text.c_str(), &end);
    return !text.empty() && !*end && std::isfinite(number) && !std::signbit(number);
}

bool read_figure(const Figure& figure, const Field& field, const std::string& value)
{
    double number = 0;
    std::string unit;
    if (!read_number(value, number, unit)) return false;
    if (figure.unit == Unit::bytes) {
        const auto known = std::find_if(std::begin(units_of_bytes), std::end(units_of_bytes),
                                        [&](const auto& each) { return unit == each.name; });
        if (known == std::end(units_of_bytes)) return false;
        number *= double(known->bytes);
    } else if (unit != name_of(figure.unit)) return false;
    if (number == 0 && !figure.zero) return false;
    if (double* const* real = std::get_if<double*>(&field)) {
        **real = number;
        return true;
    }
    uint64_t* const* wide = std::get_if<uint64_t*>(&field);
    if (number != std::floor(number) || number > (wide ? 1e15 : double(INT_MAX))) return false;
    if (wide) **wide = uint64_t(number);
    else if (int* const* small = std::get_if<int*>(&field)) **small = int(number);
    else *std::get<unsigned*>(field) = unsigned(number);
    return true;
}

// The version 9.0.
bool read_version(const std::string& value, int& major, int& minor)
{
    int end = 0;
    const int found = std::sscanf(value.c_str(), "%3d.%3d%n", &major, &minor, &end);
    return found == 2 && size_t(end) == value.size() && major >= 0 && minor >= 0;
}

// Lists of address bits, "10 13, 11 15": a mask for each.
bool read_hash(const std::string& value, std::vector<uint64_t>& hash)
{
    constexpr size_t most_lists = 16;
    std::istringstream lists(value);
    for (std::string list; std::getline(lists, list, ',');) {
        std::istringstream bits(list);
        uint64_t mask = 0;
        for (unsigned bit; bits >> bit; mask |= uint64_t(1) << bit)
            if (bit > 63) return false;
        if (!bits.eof() || !mask || hash.size() == most_lists) return false;
        hash.push_back(mask);
    }
    return !hash.empty();
}

bool read_value(const Figure& figure, Machine& machine, const std::string& value)
{
    const Field field = figure.field(machine);
    if (std::string* const* text = std::get_if<std::string*>(&field)) **text = value;
    else if (bool* const* flag = std::get_if<bool*>(&field)) {
        **flag = value == "yes";
        return value == "yes" || value == "no";
    } else if (Capability* const* limits = std::get_if<Capability*>(&field)) {
        int major = 0, minor = 0;
        if (!read_version(value, major, minor)) return false;
        **limits = capability(major, minor);
        (*limits)->major = major;
        (*limits)->minor = minor;
    } else if (auto* const* hash = std::get_if<std::vector<uint64_t>*>(&field)) return read_hash(value, **hash);
    else return read_figure(figure, field, value);
    return true;
}

class Parser {
public:
    explicit Parser(const std::string& from) : from_(from) {}

    Machine run(const std::string& text)
    {
        split(text);
        if (entries_.empty()) refuse(0, "the file is empty; expected a figure on each line, as in sms = 132");
        for_each_figure([&](const Figure& figure) { read(figure); });
        read_map();
        check();
        return machine_;
    }

private:
    [[noreturn]] void refuse(size_t line, const std::string& what) const
    {
        throw Error{status_bad_input, from_ + (line ? ":" + std::to_string(line) : "") + ": " + what};
    }

    const Entry* entry(const std::string& key) const
    {
        const auto found = entries_.find(key);
        return found == entries_.end() ? nullptr : &found->second;
    }

    // Refuses the value of a key.
    [[noreturn]] void refuse_value(const std::string& key, const std::string& expected) const
    {
        const Entry& from = *entry(key);
        refuse(from.line, key + " = " + from.value.substr(0, 60) + ": expected " + expected);
    }

    void split(const std::string& text)
    {
        size_t number = 0;
        std::string key;
        for (size_t at = 0; at < text.size(); ++number) {
            const size_t end = std::min(text.find('\n', at), text.size());
            const std::string line = text.substr(at, end - at);
            at = end + 1;
            const std::string kept = trimmed(line.substr(0, line.find('#')));
            if (kept.empty()) continue;
            const bool goes_on = !key.empty() && entries_[key].value.back() == ',';
            if (goes_on && kept.find('=') != kept.npos)
                refuse(number + 1, "the value of " + key + " goes on after its last comma; expected more of it here");
            if (goes_on) entries_[key].value += " " + kept;
            else key = add(kept, number + 1);
        }
        if (!key.empty() && entries_[key].value.back() == ',')
            refuse(number, "the value of " + key + " goes on after its last comma; expected more of it");
    }

    // Adds a line. Returns its key.
    std::string add(const std::string& line, size_t number)
    {
        const size_t sign = line.find('=');
        if (sign == line.npos) refuse(number, "'" + line.substr(0, 60) + "': expected KEY = VALUE, as in sms = 132");
        const std::string key = trimmed(line.substr(0, sign)), value = trimmed(line.substr(sign + 1));
        const Figure* figure = figure_named(key);
        if (!figure) refuse(number, "unknown key " + key.substr(0, 60) + near(key));
        if (figure->need == Need::rules)
            refuse(number, key + " follows from the capability; expected no line with it");
        if (value.empty()) refuse(number, key + " has no value; expected " + pattern_of(*figure));
        if (const Entry* earlier = entry(key))
            refuse(number, format("%s is there twice, first on line %zu", key.c_str(), earlier->line));
        entries_[key] = {value, number};
        return key;
    }

    static std::string near(const std::string& key)
    {
        std::vector<std::string> keys;
        for_each_figure([&](const Figure& figure) { keys.push_back(figure.key); });
        return did_you_mean(key, keys);
    }

    void read(const Figure& figure)
    {
        if (const Entry* there = entry(figure.key)) {
            bool understood = false;
            try {
                understood = read_value(figure, machine_, there->value);
            } catch (const Error& error) {  // there are no limits for the capability
                refuse(there->line, figure.key + (" = " + there->value) + ": " + error.message);
            }
            if (!understood) refuse_value(figure.key, pattern_of(figure) + (has_zero(figure) ? "" : ", above 0"));
            return;
        }
        if (figure.need == Need::always) refuse(0, missing(figure));
        if (figure.need != Need::memory && figure.need != Need::constants) return;
        for (const auto& [key, other] : entries_)
            if (const Figure* there = figure_named(key); there && there->need == figure.need)
                refuse(0, missing(figure) + format(", because %s is there on line %zu", key.c_str(), other.line));
    }

    static std::string missing(const Figure& figure)
    {
        return std::string(figure.key) + " is missing; expected a line " + pattern_of(figure);
    }

    void read_map()
    {
        PartitionMap& map = machine_.map;
        if (!map.like.empty()) {
            if (!map.hash.empty() || map.granularity) refuse_value("map_like", "no hash and no granularity next to it");
            const char* text = built_in_text(map.like + ".machine");
            const PartitionMap other = text ? parse_machine(map.like + ".machine", text).map : PartitionMap();
            if (!other.partitions || other.assumed())
                refuse_value("map_like", "a built-in machine whose map is published");
            map.hash = other.hash;
            map.granularity = other.granularity;
        }
        if (map.partitions == 0 && !(map.hash.empty() && map.granularity == 0))
            refuse(0, "a map without its number of partitions; expected a line partitions = NUMBER");
        if (map.partitions && map.hash.empty() && !map.granularity)
            refuse(0, "partitions without a map; expected a line granularity = NUMBER B, hash = BITS, BITS ... or "
                      "map_like = NAME");
    }

    // Checks the limits of the simulator.
    void check() const
    {
        const std::string& name = machine_.name;
        if (!std::all_of(name.begin(), name.end(), in_machine_names) || name.size() > longest_machine_name)
            refuse_value("name", "up to 30 letters, digits, dots, dashes or underscores");
        if (machine_.map.partitions > 65536) refuse_value("partitions", "at most 65536");
        const unsigned page = machine_.model.page_bytes;
        if (page && (page & (page - 1) || page < 1024 || page > 1 << 20))
            refuse_value("partition_page", "a power of two from 1 KiB to 1 MiB");
        if (page && !machine_.map.granularity) refuse_value("partition_page", "a plain map, with its granularity");
    }

    const std::string from_;
    Entries entries_;
    Machine machine_;
};

// A size in the largest unit that divides it.
std::string bytes_text(uint64_t bytes)
{
    for (const auto& unit : units_of_bytes)
        if (bytes % unit.bytes == 0) return format("%llu %s", (unsigned long long)(bytes / unit.bytes), unit.name);
    return "";
}

std::string hash_text(const std::vector<uint64_t>& hash)
{
    std::string text;
    for (uint64_t mask : hash) {
        text += text.empty() ? "" : ",\n      ";
        for (int bit = 0; bit < 64; ++bit)
            if (mask >> bit & 1) text += format(" %d", bit);
    }
    return trimmed(text);
}

// The text of a value; empty if it is 0 or missing.
std::string value_text(const Figure& figure, const Field& field)
{
    const std::string unit = name_of(figure.unit), written = unit.empty() ? "" : " " + unit;
    const auto text = [&](auto* at) -> std::string {
        using T = std::decay_t<decltype(*at)>;
        if constexpr (std::is_same_v<T, std::string>) return *at;
        else if constexpr (std::is_same_v<T, bool>) return *at ? "yes" : "no";
        else if constexpr (std::is_same_v<T, Capability>) return format("%d.%d", at->major, at->minor);
        else if constexpr (std::is_same_v<T, std::vector<uint64_t>>) return hash_text(*at);
        else if (*at == 0) return "";
        else if (figure.unit == Unit::bytes) return bytes_text(uint64_t(*at));
        else if constexpr (std::is_same_v<T, double>) return format("%.6g", *at) + written;
        else return std::to_string(*at) + written;
    };
    return std::visit(text, field);
}

}  // namespace

#define AT(member) [](Machine& m) -> Field { return &m.member; }
#define LIMITS [](Machine& m) -> Field { return static_cast<Capability*>(&m); }

const std::vector<Figure>& figures()
{
    using U = Unit;
    using N = Need;
    static const std::vector<Figure>& all = *new std::vector<Figure>{
        // clang-format off
        {"name", U::text, N::always, false, AT(name), "for --machine"},
        {"label", U::text, N::always, false, AT(label), "for people"},
        {"capability", U::version, N::always, false, LIMITS, ""},
        {"sms", U::none, N::always, false, AT(sms), "multiprocessors"},
        {"sm_clock", U::mhz, N::always, false, AT(sm_mhz), "the highest"},
        {"dram", U::bytes, N::always, false, AT(dram_bytes), ""},
        {"dram_clock", U::mhz, N::always, false, AT(dram_mhz), "two transfers each"},
        {"bus", U::bits, N::always, false, AT(bus_bits), "width of the DRAM's bus"},
        {"l2", U::bytes, N::always, true, AT(l2_bytes), "0 B: none"},
        {"partitions", U::none, N::always, true, AT(map.partitions), "of the memory; 0: not known"},
        {"hash", U::lists, N::maybe, true, AT(map.hash), ""},
        {"granularity", U::bytes, N::maybe, true, AT(map.granularity), "so many neighbours share a partition"},
        {"map_like", U::text, N::maybe, true, AT(map.like), "assumed: the map of addresses is that of this machine"},
        {"source", U::text, N::maybe, true, AT(source), ""},
        {"latency", U::clocks, N::maybe, true, AT(latency_clocks), "of a load from DRAM"},
        {"latency_source", U::text, N::maybe, true, AT(latency_source), ""},
        {"threads_per_block", U::none, N::capability, false, AT(threads_per_block), ""},
        {"block_x", U::none, N::capability, false, AT(block[0]), ""},
        {"block_y", U::none, N::capability, false, AT(block[1]), ""},
        {"block_z", U::none, N::capability, false, AT(block[2]), ""},
        {"grid_x", U::none, N::capability, false, AT(grid[0]), ""},
        {"grid_y", U::none, N::capability, false, AT(grid[1]), ""},
        {"grid_z", U::none, N::capability, false, AT(grid[2]), ""},
        {"blocks_per_sm", U::none, N::capability, false, AT(blocks_per_sm), ""},
        {"threads_per_sm", U::none, N::capability, false, AT(threads_per_sm), ""},
        {"registers_per_sm", U::none, N::capability, false, AT(registers_per_sm), ""},
        {"registers_per_block", U::none, N::capability, false, AT(registers_per_block), ""},
        {"shared_per_sm", U::bytes, N::capability, false, AT(shared_per_sm), ""},
        {"shared_per_block", U::bytes, N::capability, false, AT(shared_per_block), ""},
        {"shared_per_block_optin", U::bytes, N::capability, false, AT(shared_per_block_optin), ""},
        {"reserved_shared", U::bytes, N::capability, true, AT(reserved_shared), "of each block"},
        {"shared_unit", U::bytes, N::capability, false, AT(shared_unit), "a block takes a multiple of it"},
        {"l1", U::bytes, N::capability, true, AT(l1_bytes), "of an SM, with its shared memory"},
        {"load_bytes", U::bytes, N::rules, false, AT(load_bytes), ""},
        {"store_bytes", U::bytes, N::rules, false, AT(store_bytes), ""},
        {"banks", U::none, N::rules, false, AT(banks), ""},
        {"bank_bytes", U::bytes, N::rules, false, AT(bank_bytes), ""},
        {"lockstep", U::yes_no, N::rules, false, AT(lockstep), ""},
        {"copy_engines", U::none, N::capability, false, AT(copy_engines), ""},
        {"double_ratio", U::none, N::capability, true, AT(double_ratio), ""},
        {"burst_time", U::ns, N::memory, false, AT(model.burst_ns), "a partition moves 32 bytes"},
        {"scattered_time", U::ns, N::memory, false, AT(model.scattered_ns), "more, if its page is not half written"},
        {"partition_barrier_time", U::ns, N::memory, false, AT(model.barrier_ns), "a barrier of all blocks together"},
        {"partition_page", U::bytes, N::memory, false, AT(model.page_bytes), "of the DRAM of a partition"},
        {"measured", U::text, N::constants, false, AT(measured), ""},
        {"driver", U::text, N::constants, false, AT(driver), "the CUDA version that it has"},
        {"card", U::text, N::constants, false, AT(card), ""},
        // clang-format on
    };
    return all;
}

#undef AT
#undef LIMITS

bool in_machine_names(char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-", c); }

Machine parse_machine(const std::string& from, const std::string& text) { return Parser(from).run(text); }

Machine read_machine(const std::string& from, const std::string& path)
{
    return parse_machine(from, read_file(from, path));
}

std::vector<Capability> parse_capabilities(const std::string& text)
{
    size_t begin = 0;
    for (; text[begin] == '#'; begin = text.find('\n', begin) + 1) {}
    CsvReader reader(std::string_view(text).substr(begin));
    std::vector<std::string> keys, units, cells;
    reader.next(keys);
    reader.next(units);
    std::vector<Capability> rows;
    while (reader.next(cells)) {
        Machine row;
        read_version(cells.at(0), row.major, row.minor);
        for (size_t i = 1; i < keys.size(); ++i)
            read_value(*figure_named(keys[i]), row, trimmed(cells.at(i) + " " + units.at(i)));
        rows.push_back(row);
    }
    return rows;
}

std::string machine_text(const Machine& given, const std::vector<std::string>& heading,
                         const std::map<std::string, std::string>& notes)
{
    Machine machine = given, usual;
    static_cast<Capability&>(usual) = capability(given.major, given.minor);
    if (machine.map.assumed()) machine.map.hash.clear(), machine.map.granularity = 0;
    std::string text;
    for (const std::string& line : heading) text += "# " + line + "\n";
    Need before = Need::always;
    for_each_figure([&](const Figure& figure) {
        const std::string value = value_text(figure, figure.field(machine));
        const bool follows = figure.need == Need::capability && value == value_text(figure, figure.field(usual));
        if (figure.need == Need::rules || follows || (value.empty() && figure.need != Need::always)) return;
        text += figure.need == before ? "" : "\n";
        before = figure.need;
        const auto note = notes.find(figure.key);
        std::string comment = figure.meaning;
        if (note != notes.end()) comment += (comment.empty() ? "" : "; ") + note->second;
        const std::string zero = figure.unit == Unit::bytes ? "0 B" : "0";
        const std::string line = std::string(figure.key) + " = " + (value.empty() ? zero : value);
        text += comment.empty() ? line + "\n" : format("%-34s # %s\n", line.c_str(), comment.c_str());
    });
    return text;
}

}  // namespace harness
