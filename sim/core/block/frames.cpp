// The frame of the function that makes an access ends where its call of a hook has put the return address. Below lies
// what other threads, or functions that have returned, left.

#include "frames.h"

namespace sim {

const char* fault_on_stack(const Fibers& fibers, const Caller& caller, const Access& access, unsigned bytes)
{
    const uintptr_t address = access.address;
    const Frame *at = caller.at, *link = caller.frame.link;
    uint64_t back = caller.frame.back;
    const auto here = [&](const Frame* f) { return f > at && fibers.share(uintptr_t(f), uintptr_t(at)); };
    if (!fibers.share(uintptr_t(at), address))
        return "a local variable of another thread, which none can reach; was the index set?";
    while (back != access.place()) {
        if (!here(link)) return nullptr;
        at = link;
        back = at->back;
        link = at->link;
    }
    if (address < uintptr_t(at + 1))
        return "an address below the thread's local variables, where none lies: do not keep a pointer to a variable of "
               "a function that has returned, and do not leave a local array";
    for (; access.kind() != load && here(link); at = link, link = at->link)
        if (address + bytes > uintptr_t(link) && address < uintptr_t(link + 1))
            return "a store to where a function keeps its return address, past the end of a local variable";
    return nullptr;
}

}  // namespace sim
