// Indices past the end of a row, as the compiler's check reports them. The index may be meant, because rows of a matrix
// lie one behind the other. An index of a local array may not, nor that of an array inside a structure.
//
// The check knows the type of the row and not its memory. So an index is only suspected until the access that it is
// for, on the same line: a load has the place of its last index, and a store stands behind all of them. Compilers do
// not show every access of a local array, so if no such access follows, it was one.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../../elf/places.h"
#include "../lanes/access.h"
#include "../memory/memory.h"

namespace sim {

class Suspects {
public:
    struct Wrong {
        int64_t index;
        std::string of;  // a local array, 'float[4]'
        uint64_t place;
    };
    using Verdict = std::optional<Wrong>;

    // `type`: of the row, as the compiler writes it: 'float[4]'.
    Verdict add(int64_t index, const std::string& type, Spot spot, uint64_t place);
    // The next access of the thread. `array`: that it goes to; null: none of the device's. `local`: it goes to the
    // stack.
    Verdict look(const Access& access, const Array* array, bool local);
    Verdict settle() const;  // no such access came
    bool any() const { return !suspects_.empty(); }
    void forget() { suspects_.clear(); }  // those of a thread that ends are not the next one's

private:
    struct Suspect {
        int64_t index;
        std::string type;
        Spot spot;
        uint64_t place;
    };
    static Wrong wrong(const Suspect& suspect, const std::string& array);

    std::vector<Suspect> suspects_;  // of one line
};

}  // namespace sim
