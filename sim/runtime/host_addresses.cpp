// Addresses of the program that mean nothing on a device: of functions, tables of virtual functions, and variables by
// their names. On a GPU, host and device have others for each.
//
// Data that go from the host to a device, as an argument or by a copy, are searched for words that are addresses inside
// the program's file. These are moved to a range of the same size with nothing behind it, where a kernel that uses one
// ends. On the way back they are moved back. Addresses that the program got from the device, or from
// cudaGetSymbolAddress, go to a device as they are.

#include <link.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "../elf/symbols.h"
#include "address_range.h"
#include "runtime.h"

namespace sim {
namespace {

struct Image {
    uintptr_t begin = ~uintptr_t(0), bytes = 0, moved = 0;
    std::set<uintptr_t> told;  // addresses of functions that the device has told

    Image()
    {
        dl_iterate_phdr([](dl_phdr_info* info, size_t, void* out) {
            Image& image = *static_cast<Image*>(out);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& p = info->dlpi_phdr[i];
                if (p.p_type != PT_LOAD) continue;
                image.begin = std::min(image.begin, uintptr_t(info->dlpi_addr + p.p_vaddr) / gpu_page * gpu_page);
                image.bytes = uintptr_t(info->dlpi_addr + p.p_vaddr + p.p_memsz) - image.begin;
            }
            return 1;  // the program is the first
        }, this);
        const AddressRange range(0, rounded(bytes, gpu_page));
        if (!range.holds(range.begin() + bytes - 1)) bytes = 0;
        moved = range.begin();
    }
};

Image& image()
{
    static Image& image = *new Image;
    return image;
}

// Changes the words that are addresses in a range as large as the image. `aligned_as`: the address of `memory` on the
// device.
template <typename Change>
void change_words(void* memory, size_t bytes, uintptr_t aligned_as, uintptr_t begin, Change change)
{
    for (size_t i = -aligned_as % 8, size = image().bytes; i + 8 <= bytes; i += 8) {
        char* const at = static_cast<char*>(memory) + i;
        uint64_t word;
        std::memcpy(&word, at, 8);
        if (word - begin >= size) continue;
        word = change(word);
        std::memcpy(at, &word, 8);
    }
}

}  // namespace

void move_addresses(void* memory, size_t bytes)
{
    const Image& i = image();
    change_words(memory, bytes, uintptr_t(memory), i.begin, [&](uintptr_t word) {
        const bool good = variable_of(word) ? !host_name(word) : allocation_at(word) || i.told.count(word);
        return good ? word : word - i.begin + i.moved;
    });
}

void move_addresses_back(void* memory, size_t bytes, uintptr_t aligned_as)
{
    Image& i = image();
    change_words(memory, bytes, aligned_as, i.begin, [&](uintptr_t word) {
        if (!ask_for(word)) i.told.insert(word);
        return word;
    });
    change_words(memory, bytes, aligned_as, i.moved, [&](uintptr_t word) { return word - i.moved + i.begin; });
}

std::string host_address_text(uintptr_t address)
{
    const Image& i = image();
    if (address - i.moved >= i.bytes) return "";
    const uintptr_t own = address - i.moved + i.begin;
    const Symbol *function = function_at(own), *object = object_at(own);
    const Variable* variable = variable_of(own);
    const bool table = object && object->name.substr(0, 4) == "_ZTV";
    const std::string name = variable   ? variable->record->name
                             : function ? demangle(std::string(function->name))
                             : object   ? demangle(std::string(object->name))
                                        : "a constant";
    return "the kernel uses the address of " + name + " that the host has; " +
           (function   ? "take it in device code"
            : table    ? "make the object in a kernel"
            : variable ? "pass the one that cudaGetSymbolAddress gives, or use the name in the kernel"
                       : "pass a pointer from cudaMalloc");
}

}  // namespace sim
