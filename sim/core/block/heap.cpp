#include "heap.h"

#include <cstring>
#include <memory>

#include "../../../common/base/error.h"
#include "../../elf/places.h"
#include "../sinks/global_checker.h"

namespace sim {

void note_malloc(uintptr_t address, size_t bytes, uintptr_t heap, uint64_t place, const Settings& settings)
{
    if (Allocation* whole = memory().find(heap)) whole->bytes = 0;  // from now on, each piece is an allocation
    const Place at = place_of(place);
    Allocation* const again = memory().find(address);
    Allocation& piece = again ? *again : memory().add({address, 0, (uint64_t(1) << 42) + address - heap, ""});
    piece.bytes = bytes;
    piece.name = harness::format("memory from malloc in a kernel at %s:%d", at.file.c_str(), at.line);
    piece.freed = false;
    // The accesses that threads made to what was freed here may not have been looked at yet.
    piece.shadow = again || settings.sample ? nullptr : std::make_shared<Shadow>(bytes);
    std::memset(reinterpret_cast<void*>(address), 0xff, bytes);
}

void note_free(uintptr_t address, uint64_t place, bool checked, Watch& watch)
{
    if (address && !checked) return;
    Allocation* piece = memory().find(address);
    if (!piece || piece->begin != address)
        watch.fail(kinds::bad_free,
                   piece ? "bad free: the pointer is not to the beginning of " + piece->name
                         : "bad free: the pointer is not one that malloc or new gave in a kernel",
                   place);
    if (piece->freed) watch.fail(kinds::bad_free, "bad free: freed before: " + piece->name, place);
    piece->freed = true;
    Watch::forget_likely();
}

}  // namespace sim
