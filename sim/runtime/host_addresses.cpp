// Addresses of the program that mean nothing on a device: of the host's variables and functions, of tables of virtual
// functions, and of the device's variables by their names. On a GPU, host and device have others for each.
//
// What goes from the host to a device, as an argument or by a copy, is searched for words that are addresses inside the
// program's file. They are moved to a range of the same size with nothing behind it, where a kernel that uses one ends.
// On the way back, they are moved back. An address that comes from the device, or from cudaGetSymbolAddress, may go
// there again. So may that of memory that the runtime knows.

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "address_range.h"
#include "runtime.h"

namespace sim {
namespace {

struct Image {
    uintptr_t begin = 0, bytes = 0, moved = 0;
    std::set<uintptr_t> of_device;  // addresses of functions that the device has told

    Image()
    {
        dl_iterate_phdr([](dl_phdr_info* info, size_t, void* out) {
            uintptr_t first = ~uintptr_t(0), end = 0;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& p = info->dlpi_phdr[i];
                if (p.p_type != PT_LOAD) continue;
                first = std::min(first, uintptr_t(info->dlpi_addr + p.p_vaddr));
                end = std::max(end, uintptr_t(info->dlpi_addr + p.p_vaddr + p.p_memsz));
            }
            static_cast<Image*>(out)->begin = first / gpu_page * gpu_page;
            static_cast<Image*>(out)->bytes = end - first / gpu_page * gpu_page;
            return 1;  // the program is the first in the list
        }, this);
        void* at = mmap(nullptr, bytes + gpu_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) bytes = 0;
        else moved = rounded(uintptr_t(at), gpu_page);
    }

    bool means_something(uintptr_t address) const
    {
        if (const Variable* v = variable_of(address)) return v->owner == Owner::managed || v->asked;
        return block_of(address) || of_device.count(address);
    }
};

Image& image()
{
    static Image& image = *new Image;
    return image;
}

// Calls change(word) for each word of the range that is an address inside [begin, begin + image's bytes).
template <typename Change>
void for_each_address(void* memory, size_t bytes, uintptr_t aligned_as, uintptr_t begin, Change change)
{
    char* const at = static_cast<char*>(memory);
    const uintptr_t size = image().bytes;
    for (size_t i = -aligned_as % sizeof(uintptr_t); i + sizeof(uintptr_t) <= bytes; i += sizeof(uintptr_t)) {
        uintptr_t word;
        std::memcpy(&word, at + i, sizeof word);
        if (word - begin >= size) continue;
        word = change(word);
        std::memcpy(at + i, &word, sizeof word);
    }
}

}  // namespace

void move_addresses(void* memory, size_t bytes)
{
    const Image& i = image();
    for_each_address(memory, bytes, uintptr_t(memory), i.begin, [&](uintptr_t word) {
        return i.means_something(word) ? word : word - i.begin + i.moved;
    });
}

void move_addresses_back(void* memory, size_t bytes, uintptr_t aligned_as, bool of_device)
{
    Image& i = image();
    if (of_device)
        for_each_address(memory, bytes, aligned_as, i.begin, [&](uintptr_t word) {
            if (const Variable* v = variable_of(word)) ask_for(v->symbol.address);
            else i.of_device.insert(word);
            return word;
        });
    for_each_address(memory, bytes, aligned_as, i.moved, [&](uintptr_t word) { return word - i.moved + i.begin; });
}

std::string host_address_text(uintptr_t address)
{
    const Image& i = image();
    if (address - i.moved >= i.bytes) return "";
    const uintptr_t own = address - i.moved + i.begin;
    const Symbol *function = function_at(own), *object = object_at(own);
    const bool table = object && object->name.substr(0, 4) == "_ZTV";
    const std::string name = function  ? demangle(std::string(function->name))
                             : table   ? "the virtual functions of " + demangle(std::string(object->name)).substr(11)
                             : object  ? variable_name(*object)
                                       : "a constant";
    return "the kernel uses the address of " + name + " that the host has" +
           (function           ? "; take it in device code"
            : table            ? ", where the object was made; make it in a kernel"
            : variable_of(own) ? "; pass the one that cudaGetSymbolAddress gives, or use the name in the kernel"
                               : "; pass a pointer from cudaMalloc");
}

}  // namespace sim
