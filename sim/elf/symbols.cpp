#include "symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "../../common/base/error.h"

namespace sim {
namespace {

// The program's file. It stays mapped: others keep pointers into it.
class File {
  public:
    static const File& get()
    {
        static const File file;
        return file;
    }

    int error() const { return error_; }  // why it cannot be read; 0 if it can

    const std::vector<Elf64_Shdr>& sections() const { return sections_; }

    const Elf64_Shdr* section(const char* name) const
    {
        for (const Elf64_Shdr& s : sections_)
            if (s.sh_name < names_.size() && !std::strcmp(names_.c_str() + s.sh_name, name)) return &s;
        return nullptr;
    }

    Bytes contents(const Elf64_Shdr& s) const
    {
        if (s.sh_type == SHT_NOBITS || s.sh_flags & SHF_COMPRESSED || s.sh_offset > bytes_ ||
            s.sh_size > bytes_ - s.sh_offset)
            return {};
        return {data_ + s.sh_offset, data_ + s.sh_offset + s.sh_size};
    }

    // The defined symbols of this type, and the number of the section of each.
    template <typename Visit>
    void for_each_symbol(int type, Visit visit) const
    {
        for (const Elf64_Shdr& table : sections_) {
            if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections_.size()) continue;
            const Bytes symbols = contents(table), names = contents(sections_[table.sh_link]);
            Elf64_Sym s;
            for (const unsigned char* at = symbols.begin; size_t(symbols.end - at) >= sizeof s; at += sizeof s) {
                std::memcpy(&s, at, sizeof s);
                if (ELF64_ST_TYPE(s.st_info) != type || s.st_shndx == SHN_UNDEF || s.st_shndx >= SHN_LORESERVE ||
                    !s.st_size)
                    continue;
                if (s.st_name >= size_t(names.end - names.begin)) continue;
                const char* name = reinterpret_cast<const char*>(names.begin) + s.st_name;
                visit(Symbol{{name, strnlen(name, names.end - names.begin - s.st_name)}, s.st_value, s.st_size},
                      s.st_shndx);
            }
            forget({data_, data_ + bytes_});
        }
    }

  private:
    File()
    {
        const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
            void* at = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
            if (at == MAP_FAILED) {
                close(file);
                harness::out_of_memory();
            }
            data_ = static_cast<const unsigned char*>(at);
            bytes_ = status.st_size;
        }
        else error_ = errno;
        if (file >= 0) close(file);
        Elf64_Ehdr header;
        if (bytes_ < sizeof header) return;
        std::memcpy(&header, data_, sizeof header);
        if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
            header.e_ident[EI_DATA] != ELFDATA2LSB)
            return;
        if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > bytes_ ||
            header.e_shnum > (bytes_ - header.e_shoff) / sizeof(Elf64_Shdr))
            return;
        sections_.resize(header.e_shnum);
        if (sections_.empty()) return;
        std::memcpy(sections_.data(), data_ + header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
        if (header.e_shstrndx >= sections_.size()) return;
        const Bytes names = contents(sections_[header.e_shstrndx]);
        names_.assign(names.begin, names.end);
    }

    const unsigned char* data_ = nullptr;
    size_t bytes_ = 0;
    int error_ = 0;
    std::vector<Elf64_Shdr> sections_;
    std::string names_;
};

bool by_address(const Symbol& a, const Symbol& b)
{
    return a.address != b.address ? a.address < b.address : a.name < b.name;
}

// The program is the first in the list.
dl_phdr_info program()
{
    dl_phdr_info found = {};
    dl_iterate_phdr([](dl_phdr_info* info, size_t bytes, void* out) {
        std::memcpy(out, info, std::min(bytes, sizeof *info));
        return 1;
    }, &found);
    return found;
}

// A function as the name of its local variables begins: Z, its name without _Z, E.
std::string prefix_of_locals(const Symbol& function)
{
    const std::string name = source_function(function);
    if (name.empty()) return "";
    // C functions and main are not mangled.
    return name.compare(0, 2, "_Z") == 0 ? "Z" + name.substr(2) + "E" : "Z" + std::to_string(name.size()) + name + "E";
}

}  // namespace

uint64_t load_address()
{
    static const uint64_t address = program().dlpi_addr;
    return address;
}

Bytes section_contents(const char* name)
{
    const Elf64_Shdr* section = File::get().section(name);
    return section ? File::get().contents(*section) : Bytes();
}

void forget(Bytes part)
{
    const uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE)), begin = uintptr_t(part.begin) / page * page;
    madvise(reinterpret_cast<void*>(begin), uintptr_t(part.end) - begin, MADV_DONTNEED);
}

bool is_code(uint64_t begin, uint64_t end)
{
    for (const Elf64_Shdr& s : File::get().sections())
        if (s.sh_flags & SHF_EXECINSTR && s.sh_addr <= begin && begin < end && end <= s.sh_addr + s.sh_size)
            return true;
    return false;
}

void need_symbols()
{
    const File& file = File::get();
    if (file.error())
        throw harness::Error{harness::status_bad_input,
                             harness::format("the simulator cannot read this program's own file, /proc/self/exe: %s",
                                             strerror(file.error()))};
    const std::vector<Elf64_Shdr>& all = file.sections();
    if (std::none_of(all.begin(), all.end(), [](const Elf64_Shdr& s) { return s.sh_type == SHT_SYMTAB; }))
        throw harness::Error{harness::status_bad_input, "this program has been stripped of its symbols, by which the "
                                                        "simulator finds shared memory: build it without strip and -s"};
}

template <int type>
static const Symbol* symbol_at(uint64_t address)
{
    static const std::vector<Symbol> symbols = [] {
        std::vector<Symbol> all;
        File::get().for_each_symbol(type, [&](Symbol s, unsigned) {
            s.address += load_address();
            all.push_back(std::move(s));
        });
        std::sort(all.begin(), all.end(), by_address);
        return all;
    }();
    auto next = std::upper_bound(symbols.begin(), symbols.end(), address,
                                 [](uint64_t a, const Symbol& s) { return a < s.address; });
    if (next == symbols.begin()) return nullptr;
    // One function may have several names, as constructors do: always the first.
    auto found = std::lower_bound(symbols.begin(), next, std::prev(next)->address,
                                  [](const Symbol& s, uint64_t a) { return s.address < a; });
    return address - found->address < found->bytes ? &*found : nullptr;
}

const Symbol* function_at(uint64_t address) { return symbol_at<STT_FUNC>(address); }
const Symbol* object_at(uint64_t address) { return symbol_at<STT_OBJECT>(address); }

const std::vector<Symbol>& thread_local_symbols()
{
    static const std::vector<Symbol> symbols = [] {
        std::vector<Symbol> all;
        File::get().for_each_symbol(STT_TLS, [&](Symbol s, unsigned) {
            if (s.name.compare(0, 4, "_ZGV")) all.push_back(std::move(s));
        });
        std::sort(all.begin(), all.end(), by_address);
        return all;
    }();
    return symbols;
}

const Symbol* note(const std::string& name)
{
    static const std::unordered_map<std::string_view, Symbol> notes = [] {
        std::unordered_map<std::string_view, Symbol> all;
        File::get().for_each_symbol(STT_OBJECT, [&](Symbol s, unsigned) {
            if (s.name.find("sim_array_") == std::string_view::npos &&
                s.name.find("sim_members_") == std::string_view::npos &&
                s.name.find("sim_launch_bound") == std::string_view::npos)
                return;
            s.address += load_address();
            all.emplace(s.name, s);
        });
        return all;
    }();
    const auto found = notes.find(name);
    return found == notes.end() ? nullptr : &found->second;
}

bool is_guard(uint64_t offset, uint64_t return_address)
{
    static const std::vector<Symbol> guards = [] {
        std::vector<Symbol> all;
        File::get().for_each_symbol(STT_TLS, [&](Symbol s, unsigned) {
            if (s.name.compare(0, 4, "_ZGV") == 0) all.push_back(std::move(s));
        });
        return all;
    }();
    const auto guard =
        std::find_if(guards.begin(), guards.end(), [&](const Symbol& s) { return offset - s.address < s.bytes; });
    const Symbol* function = guard == guards.end() ? nullptr : function_at(return_address - 1);
    if (!function) return false;
    // _ZGVZ1kvE4tile is that of _ZZ1kvE4tile.
    const std::string name = "_Z" + std::string(guard->name.substr(4));
    Symbol variable = *guard;
    variable.name = name;
    return belongs_to(variable, *function);
}

uintptr_t thread_local_base()
{
    static thread_local const uintptr_t base = reinterpret_cast<uintptr_t>(program().dlpi_tls_data);
    return base;
}

std::vector<Symbol> device_variables(const char* section)
{
    const File& file = File::get();
    const std::string name = section, note = "sim_template_" + name + "_";
    // How the mangled names of a template's variables begin, from the name that the rewriter left beside it:
    // _ZN1NL23sim_template_sim_device_xE stands for _ZN1N1xI, and for _ZN1NL1xI. The L may be missing, so that the
    // number follows a digit of the scope. _ZZ1kvE24sim_template_sim_device_x_0 stands for _ZZ1kvE1x_0, in a function.
    std::vector<std::string> begins;
    file.for_each_symbol(STT_OBJECT, [&](const Symbol& s, unsigned) {
        const size_t at = s.name.find(note);
        if (at == std::string_view::npos) return;
        if (s.name.compare(0, 3, "_ZZ") == 0) {
            const size_t scope = s.name.rfind('E', at) + 1, bytes = std::stoul(std::string(s.name.substr(scope, at)));
            begins.push_back(std::string(s.name.substr(0, scope)) + std::to_string(bytes - note.size()) +
                             std::string(s.name.substr(at + note.size())));
            return;
        }
        const bool in_a_scope = s.name.compare(0, 3, "_ZN") == 0;  // whose end is an E
        const std::string_view whole = s.name.substr(at, s.name.size() - at - in_a_scope),
                               of = whole.substr(note.size());
        const size_t digits = at - std::to_string(whole.size()).size();
        const std::string scope(s.name.substr(0, digits - (s.name[digits - 1] == 'L'))),
            variable = std::to_string(of.size()) + std::string(of) + "I";
        for (const char* linkage : {"", "L"}) begins.push_back(scope + linkage + variable);
    });
    std::vector<Symbol> all;
    const Elf64_Shdr* wanted[] = {file.section(section), file.section((name + "_inline").c_str())};
    file.for_each_symbol(STT_OBJECT, [&](Symbol s, unsigned in) {
        const bool there = std::any_of(std::begin(wanted), std::end(wanted),
                                       [&](const Elf64_Shdr* w) { return w == &file.sections()[in]; });
        if (is_gap(s.name)) return;
        if (!there && std::none_of(begins.begin(), begins.end(),
                                   [&](const std::string& b) { return s.name.compare(0, b.size(), b) == 0; }))
            return;
        s.address += load_address();
        all.push_back(std::move(s));
    });
    std::sort(all.begin(), all.end(), [](const Symbol& a, const Symbol& b) { return a.name < b.name; });
    return all;
}

std::string demangle(const std::string& name)
{
    int status = 0;
    char* text = name.compare(0, 2, "_Z") ? nullptr : abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    std::string plain = text && !status ? text : name;
    std::free(text);
    // Some types have other names in CUDA (include/cuda_fp16.h, include/cuda_bf16.h).
    for (const auto& [ours, cudas] : {std::pair{"sim::Small<sim::Binary16>", "__half"},
                                      {"sim::Pair<sim::Binary16>", "__half2"},
                                      {"sim::Small<sim::Brain16>", "__nv_bfloat16"},
                                      {"sim::Pair<sim::Brain16>", "__nv_bfloat162"}})
        for (size_t at; (at = plain.find(ours)) != std::string::npos;) {
            size_t length = std::strlen(ours);
            if (plain.compare(at + length, 2, " >") == 0) ++length;  // a space that holds > > apart
            plain.replace(at, length, cudas);
        }
    return plain;
}

std::string variable_name(const Symbol& variable)
{
    const std::string whole = demangle(std::string(variable.name));
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i < whole.size(); ++i) {
        const char c = whole[i];
        depth += (c == '<' || c == '(' || c == '{') - (c == '>' || c == ')' || c == '}');
        if (!depth && c == ':') begin = i + 1;
    }
    const std::string table = "sim_table_";  // the rewriter's
    if (whole.compare(begin, table.size(), table) == 0) begin += table.size();
    return whole.substr(begin);
}

std::string source_function(const Symbol& function)
{
    return std::string(function.name.substr(0, function.name.find('.', 1)));
}

bool belongs_to(const Symbol& variable, const Symbol& function)
{
    const std::string prefix = prefix_of_locals(function);
    if (prefix.empty() || variable.name.compare(0, 3, "_ZZ")) return false;
    // A variable of k is _ZZ1kvE4tile, and one of a lambda in k is _ZZZ1kvENKUlvE_clEvE4tile.
    for (size_t at = 2; at < variable.name.size() && variable.name[at] == 'Z'; ++at)
        if (!variable.name.compare(at, prefix.size(), prefix)) return true;
    return false;
}

}  // namespace sim
