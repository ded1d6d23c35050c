// An announcement is a row of stores to a mailbox whose pages hold nothing else. The place of each store in a page of
// 64 kB stands for 16 bits, so a tool that sees addresses alone can read the announcement.

#include "witness.h"

#include <sys/mman.h>

#include <cstdlib>

#include "../../../common/base/error.h"
#include "../../elf/symbols.h"
#include "memory.h"

namespace sim {
namespace {

bool open_mailbox()
{
    if (!std::getenv("SIM_WITNESS")) return false;
    void* const at = reinterpret_cast<void*>(mailbox);
    if (mmap(at, mailbox_parts << 16, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != at)
        throw harness::Error{harness::status_bad_input, "SIM_WITNESS: the address of the mailbox is in use"};
    return true;
}

void put(unsigned part, unsigned bits)
{
    reinterpret_cast<volatile char*>(mailbox)[(part << 16) + (bits & 0xffff)] = 1;
}

}  // namespace

const bool witnessed = open_mailbox();

void announce(Announced what, unsigned bytes, uintptr_t address)
{
    put(0, what << 12 | bytes);
    for (unsigned part = 1; part < 4; ++part) put(part, unsigned(address >> 16 * (part - 1)));
    put(4, 0);
}

void announce_range(uintptr_t begin, uint64_t bytes)
{
    announce(announced_begin, 0, begin);
    announce(announced_end, 0, begin + bytes);
}

void announce_memory()
{
    announce(announced_clear, 0, 0);
    announce(announced_base, 0, load_address());
    for (const auto& allocation : memory().all()) announce_range(allocation->begin, allocation->bytes);
}

}  // namespace sim
