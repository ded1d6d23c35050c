// A file becomes entries, a key with its value and its line. The table of figures then reads them: it has the unit and
// the place of each.

#include "machine_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#include "constants.h"
#include "csv.h"
#include "error.h"
#include "suggest.h"
#include "utf8.h"

namespace harness {
namespace {

constexpr size_t most_bytes_of_a_machine = 64 << 10;

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

// Throws what is wrong, without the place. read_value() callers add it.
[[noreturn]] void wrong(const std::string& what) { throw Error{status_bad_input, what}; }

// A number that is written as 132, 2.25 or 1.6e9, and what follows it.
double number_in(const std::string& value, std::string& rest)
{
    const size_t digits = value.find_first_not_of("0123456789.+-eE");
    const std::string text = value.substr(0, digits);
    rest = digits == value.npos ? "" : trimmed(value.substr(digits));
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !std::isfinite(number)) wrong("no number");
    if (std::signbit(number)) wrong("a negative number");
    return number;
}

double scaled(double number, Unit unit, const std::string& written)
{
    if (unit != Unit::bytes) {
        if (written != name_of(unit)) wrong("another unit");
        return number;
    }
    for (const auto& known : units_of_bytes)
        if (written == known.name) return number * double(known.bytes);
    wrong("another unit");
}

void read_number(const Figure& figure, const Place& place, const std::string& value)
{
    std::string written;
    const double plain = number_in(value, written), number = scaled(plain, figure.unit, written);
    if (number == 0 && !figure.zero) wrong("a number above 0 is needed");
    if (double* const* real = std::get_if<double*>(&place)) {
        **real = number;
        return;
    }
    if (number != std::floor(number)) wrong("no whole number");
    uint64_t* const* wide = std::get_if<uint64_t*>(&place);
    if (number > (wide ? 1e15 : double(INT_MAX))) wrong("too large a number");
    if (wide) **wide = uint64_t(number);
    else if (int* const* small = std::get_if<int*>(&place)) **small = int(number);
    else *std::get<unsigned*>(place) = unsigned(number);
}

// The version 9.0.
void read_version(const std::string& value, int& major, int& minor)
{
    int end = 0;
    const int found = std::sscanf(value.c_str(), "%3d.%3d%n", &major, &minor, &end);
    if (found != 2 || size_t(end) != value.size() || major < 0 || minor < 0) wrong("no compute capability");
}

// Lists of address bits, "10 13, 11 15": a mask for each.
std::vector<uint64_t> read_hash(const std::string& value)
{
    constexpr size_t most_lists = 16;
    std::vector<uint64_t> hash;
    for (size_t at = 0; at <= value.size();) {
        const size_t comma = std::min(value.find(',', at), value.size());
        const std::string list = value.substr(at, comma - at);
        uint64_t mask = 0;
        const char* text = list.c_str();
        for (char* end; *(text += std::strspn(text, " \t")); text = end) {
            const long bit = std::strtol(text, &end, 10);
            const bool ends = *end == 0 || *end == ' ' || *end == '\t';
            if (end == text || !ends || bit < 0 || bit > 63) wrong("no bits from 0 to 63");
            mask |= uint64_t(1) << bit;
        }
        if (!mask || hash.size() == most_lists) wrong("no list, or more than 16");
        hash.push_back(mask);
        at = comma + 1;
    }
    return hash;
}

void read_value(const Figure& figure, Machine& machine, const std::string& value)
{
    const Place place = figure.place(machine);
    if (std::string* const* text = std::get_if<std::string*>(&place)) **text = value;
    else if (bool* const* flag = std::get_if<bool*>(&place)) {
        if (value != "yes" && value != "no") wrong("neither yes nor no");
        **flag = value == "yes";
    } else if (Capability* const* limits = std::get_if<Capability*>(&place)) {
        int major = 0, minor = 0;
        read_version(value, major, minor);
        **limits = capability(major, minor);
        (*limits)->major = major;
        (*limits)->minor = minor;
    } else if (auto* const* hash = std::get_if<std::vector<uint64_t>*>(&place)) **hash = read_hash(value);
    else read_number(figure, place, value);
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
        throw Error{status_bad_input, line ? format("%s:%zu: %s", from_.c_str(), line, what.c_str())
                                           : from_ + ": " + what};
    }

    const Entry* entry(const std::string& key) const
    {
        const auto found = entries_.find(key);
        return found == entries_.end() ? nullptr : &found->second;
    }

    // Runs a reader of a value, and adds the place and the value to what it throws.
    template <typename Read> void reading(const std::string& key, const Read& read)
    {
        const Entry& from = *entry(key);
        try {
            read(from.value);
        } catch (const Error& error) {
            const bool complete = error.message.find("expected") != std::string::npos;
            refuse(from.line, key + " = " + from.value.substr(0, 60) + ": " + error.message +
                                  (complete ? "" : "; expected " + pattern_of(*figure_named(key))));
        }
    }

    void split(const std::string& text)
    {
        size_t number = 0;
        std::string key;
        for (size_t at = 0; at < text.size(); ++number) {
            const size_t end = std::min(text.find('\n', at), text.size());
            const std::string line = text.substr(at, end - at);
            at = end + 1;
            check_characters(line, number + 1);
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

    void check_characters(const std::string& line, size_t number) const
    {
        for (size_t i = 0; i < line.size();) {
            const size_t bytes = utf8_bytes(line.c_str() + i);
            const unsigned char c = static_cast<unsigned char>(line[i]);
            if (bytes == 0 || c == 127 || (c < ' ' && c != '\t' && c != '\r'))
                refuse(number, "this is no text; expected a machine file, a figure on each line, as in sms = 132");
            i += bytes;
        }
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
        if (entry(figure.key))
            return reading(figure.key, [&](const std::string& value) { read_value(figure, machine_, value); });
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
        if (!map.like.empty())
            reading("map_like", [&](const std::string& value) {
                if (!map.hash.empty() || map.granularity) wrong("expected no hash and no granularity next to it");
                const char* text = built_in_text(value + ".machine");
                const PartitionMap other = text ? parse_machine(value + ".machine", text).map : PartitionMap();
                if (!other.partitions || other.assumed()) wrong("expected a built-in machine whose map is published");
                map.hash = other.hash;
                map.granularity = other.granularity;
            });
        if (map.partitions == 0 && !(map.hash.empty() && map.granularity == 0))
            refuse(0, "a map without its number of partitions; expected a line partitions = NUMBER");
        if (map.partitions && map.hash.empty() && !map.granularity)
            refuse(0, "partitions without a map; expected a line granularity = NUMBER B, hash = BITS, BITS ... or "
                      "map_like = NAME");
    }

    // Limits of the simulator.
    void check() const
    {
        const std::string& name = machine_.name;
        if (!std::all_of(name.begin(), name.end(), in_machine_names) || name.size() > longest_machine_name)
            refuse(entry("name")->line, "name = " + name.substr(0, 60) +
                                            ": expected up to 30 letters, digits, dots, dashes or underscores");
        if (machine_.map.partitions > 65536)
            refuse(entry("partitions")->line,
                   format("partitions = %d: expected at most 65536", machine_.map.partitions));
        const unsigned page = machine_.model.page_bytes;
        if (page && (page & (page - 1) || page < 1024 || page > 1 << 20))
            refuse(entry("partition_page")->line,
                   format("partition_page = %u B: expected a power of two from 1 KiB to 1 MiB", page));
        if (page && !machine_.map.granularity)
            refuse(entry("partition_page")->line, "partition_page: expected a plain map, with its granularity");
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

// Empty: 0, or nothing.
std::string value_text(const Figure& figure, const Place& place)
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
    return std::visit(text, place);
}

}  // namespace

#define AT(member) [](Machine& m) -> Place { return &m.member; }
#define LIMITS [](Machine& m) -> Place { return static_cast<Capability*>(&m); }

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
    const auto refuse = [&](const std::string& what) { wrong(from + ": " + what); };
    struct stat there;
    if (stat(path.c_str(), &there)) refuse(std::strerror(errno));
    if (S_ISDIR(there.st_mode)) refuse("a folder; expected a machine file");
    if (!S_ISREG(there.st_mode)) refuse("no regular file; expected a machine file");
    if (size_t(there.st_size) > most_bytes_of_a_machine)
        refuse(size_text(uint64_t(there.st_size)) + "; expected a machine file, of at most 64 KiB");
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
    if (!file) refuse(std::strerror(errno));
    std::string text(most_bytes_of_a_machine, 0);
    text.resize(std::fread(&text[0], 1, text.size(), file.get()));
    if (std::ferror(file.get())) refuse(std::strerror(errno));
    return parse_machine(from, text);
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
        const std::string value = value_text(figure, figure.place(machine));
        const bool follows = figure.need == Need::capability && value == value_text(figure, figure.place(usual));
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
