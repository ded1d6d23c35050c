// The program's own file, /proc/self/exe, is mapped as a whole and stays so: others keep pointers into it. In: sections
// and symbols, each with a type, a mangled name and an address. Out: the symbols of a type, sorted by address, so that
// the one that holds an address costs a logarithm. They are gathered at the first question, and what was read to find
// them is given back to the system.

#include "symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "../../common/base/error.h"

namespace sim {
namespace {

struct File {
    std::string_view all;
    int error = 0;  // why it cannot be read; 0 if it can
    std::vector<Elf64_Shdr> sections;
    std::string_view names;  // of sections

    static const File& get()
    {
        static const File& file = *new File;
        return file;
    }

    std::string_view contents(const Elf64_Shdr& s) const
    {
        if (s.sh_type == SHT_NOBITS || s.sh_flags & SHF_COMPRESSED || s.sh_offset > all.size()) return {};
        return all.substr(s.sh_offset, s.sh_size);
    }

private:
    File()
    {
        const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (file < 0 || fstat(file, &status)) {
            error = errno;
            return;
        }
        const size_t bytes = status.st_size;
        void* at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        close(file);
        if (at == MAP_FAILED) harness::out_of_memory();
        all = {static_cast<const char*>(at), bytes};
        Elf64_Ehdr header;  // of the kind that the system has started
        std::memcpy(&header, at, sizeof header);
        if (header.e_shoff > bytes || header.e_shnum > (bytes - header.e_shoff) / sizeof(Elf64_Shdr)) return;
        const auto first = reinterpret_cast<const Elf64_Shdr*>(all.data() + header.e_shoff);
        sections.assign(first, first + header.e_shnum);
        if (header.e_shstrndx < sections.size()) names = contents(sections[header.e_shstrndx]);
    }
};

std::string_view from(std::string_view part, uint64_t offset)
{
    return part.substr(std::min<uint64_t>(offset, part.size()));
}

std::string_view name_in(std::string_view names, uint64_t offset)
{
    names = from(names, offset);
    return names.substr(0, names.find('\0'));
}

// The defined symbols of a type, by address.
template <int type>
const std::vector<Symbol>& symbols_of()
{
    static const auto& sorted = *new std::vector<Symbol>([] {
        std::vector<Symbol> all;
        const File& file = File::get();
        for (const Elf64_Shdr& table : file.sections) {
            if (table.sh_type != SHT_SYMTAB || table.sh_link >= file.sections.size()) continue;
            std::string_view symbols = file.contents(table), names = file.contents(file.sections[table.sh_link]);
            Elf64_Sym s;
            for (; symbols.size() >= sizeof s; symbols.remove_prefix(sizeof s)) {
                std::memcpy(&s, symbols.data(), sizeof s);
                if (ELF64_ST_TYPE(s.st_info) == type && s.st_shndx && s.st_shndx < file.sections.size() && s.st_size)
                    all.push_back({name_in(names, s.st_name), s.st_value + (type == STT_TLS ? 0 : load_address()),
                                   s.st_size});
            }
        }
        forget_file();
        std::sort(all.begin(), all.end(), [](const Symbol& a, const Symbol& b) {
            return a.address != b.address ? a.address < b.address : a.name < b.name;
        });
        return all;
    }());
    return sorted;
}

template <int type>
const Symbol* symbol_at(uint64_t address)
{
    const std::vector<Symbol>& all = symbols_of<type>();
    auto next = std::upper_bound(all.begin(), all.end(), address,
                                 [](uint64_t a, const Symbol& s) { return a < s.address; });
    if (next == all.begin()) return nullptr;
    // One function may have several names, as constructors do. The first one is always taken.
    auto found = std::lower_bound(all.begin(), next, std::prev(next)->address,
                                  [](const Symbol& s, uint64_t a) { return s.address < a; });
    return address - found->address < found->bytes ? &*found : nullptr;
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

}  // namespace

uint64_t load_address()
{
    static const uint64_t address = program().dlpi_addr;
    return address;
}

std::string_view section_contents(const char* name, uint64_t offset)
{
    const File& file = File::get();
    for (const Elf64_Shdr& s : file.sections)
        if (name_in(file.names, s.sh_name) == name) return from(file.contents(s), offset);
    return {};
}

void forget_file()
{
    madvise(const_cast<char*>(File::get().all.data()), File::get().all.size(), MADV_DONTNEED);
}

void need_symbols()
{
    const File& file = File::get();
    if (file.error)
        throw harness::Error{harness::status_bad_input,
                             harness::format("the simulator cannot read this program's own file, /proc/self/exe: %s",
                                             strerror(file.error))};
    const auto is_table = [](const Elf64_Shdr& s) { return s.sh_type == SHT_SYMTAB && s.sh_size; };
    if (std::none_of(file.sections.begin(), file.sections.end(), is_table))
        throw harness::Error{harness::status_bad_input, "this program has been stripped of its symbols, by which the "
                                                        "simulator finds shared memory: build it without strip and -s"};
}

const Symbol* function_at(uint64_t address) { return symbol_at<STT_FUNC>(address); }
const Symbol* object_at(uint64_t address) { return symbol_at<STT_OBJECT>(address); }

namespace {

bool looks_like_guard(uint64_t offset, uint64_t return_address)
{
    for (const Symbol& s : symbols_of<STT_TLS>()) {
        if (offset - s.address >= s.bytes || s.name.compare(0, 4, "_ZGV")) continue;
        const Symbol* function = function_at(return_address - 1);
        // _ZGVZ1kvE4tile is that of _ZZ1kvE4tile.
        const std::string variable = "_Z" + std::string(s.name.substr(4));
        return function && is_inside({variable}, *function);
    }
    return false;
}

}  // namespace

// Each thread of a kernel may look at a guard, so answers are remembered.
bool is_guard(uint64_t offset, uint64_t return_address)
{
    static thread_local std::unordered_map<uint64_t, bool> known;
    if (offset >> 32) return false;  // not in the storage of this thread
    const auto [at, fresh] = known.try_emplace(offset << 32 | uint32_t(return_address));
    if (fresh) at->second = looks_like_guard(offset, return_address);
    return at->second;
}

uintptr_t thread_local_base()
{
    static thread_local const uintptr_t base = reinterpret_cast<uintptr_t>(program().dlpi_tls_data);
    return base;
}

std::string demangle(const std::string& name)
{
    char* text = name.compare(0, 2, "_Z") ? nullptr : abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr);
    std::string plain = text ? text : name;
    std::free(text);
    // Some types have other names in CUDA (sim/cuda/cuda_fp16.h, sim/cuda/cuda_bf16.h).
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

std::string source_function(const Symbol& function)
{
    return std::string(function.name.substr(0, function.name.find('.', 1)));
}

bool is_inside(const Symbol& inner, const Symbol& function)
{
    const std::string name = source_function(function);
    if (name.empty() || inner.name.compare(0, 3, "_ZZ")) return false;
    // Names in the function's body begin with Z, its name without _Z, and E. C functions and main are not mangled.
    const std::string prefix =
        "Z" + (name.compare(0, 2, "_Z") ? std::to_string(name.size()) + name : name.substr(2)) + "E";
    // A name in k is _ZZ1kvE4tile, and one in a lambda in k is _ZZZ1kvENKUlvE_clEvE4tile.
    for (size_t at = 2; at < inner.name.size() && inner.name[at] == 'Z'; ++at)
        if (!inner.name.compare(at, prefix.size(), prefix)) return true;
    return false;
}

}  // namespace sim
