#include "suspects.h"

namespace sim {
namespace {

// True if the elements of a row are numbers, and no structures. The name of a type begins behind a quote.
bool has_numbers(const std::string& type)
{
    for (const std::string number : {"char", "bool", "short", "int", "long", "float", "double", "signed", "unsigned"})
        for (const std::string qualifier : {"'", "'const ", "'volatile "}) {
            const std::string begin = qualifier + number;
            if (type.compare(0, begin.size(), begin) == 0) return true;
        }
    return false;
}

bool has_rows(const std::string& type) { return type.find("][") != type.npos; }

}  // namespace

Suspects::Verdict Suspects::add(int64_t index, const std::string& type, Spot spot, uint64_t place)
{
    // Suspects of an earlier line have had their accesses. So has a suspect of this place, if the line is in a loop.
    for (const Suspect& s : suspects_)
        if (s.spot.line != spot.line || s.place == place) return settle();
    suspects_.push_back({index, type, spot, place});
    return {};
}

Suspects::Verdict Suspects::look(const Access& access, const Array* array, bool local)
{
    const Spot here = spot_of(access.place());
    if (here.line != suspects_.front().spot.line) return settle();
    const bool of_structures = array && array->in_shared() && array->elements.bytes > access.bytes();
    for (size_t i = 0; i < suspects_.size();) {
        const Suspect& s = suspects_[i];
        const bool last = has_numbers(s.type) && !has_rows(s.type);  // no other index, and no member, is behind it
        const bool may_be_behind = access.kind() != load || !last;
        const bool its_own = here.column == s.spot.column || (here.column > s.spot.column && may_be_behind);
        if (!its_own) {
            ++i;
            continue;
        }
        if (local) return wrong(s, "a local array");
        if (of_structures && has_numbers(s.type)) return wrong(s, "a member of " + array->name);
        suspects_.erase(suspects_.begin() + int(i));
    }
    return {};
}

Suspects::Verdict Suspects::settle() const
{
    if (suspects_.empty()) return {};
    return wrong(suspects_.front(), "a local array");
}

Suspects::Wrong Suspects::wrong(const Suspect& s, const std::string& array)
{
    return {s.index, array + ", " + s.type, s.place};
}

}  // namespace sim
