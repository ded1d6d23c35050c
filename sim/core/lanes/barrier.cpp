#include "barrier.h"

#include <algorithm>

#include "../../elf/places.h"

namespace sim {

// Compilers make several calls of one barrier.
void Barrier::note_other_place(int thread, uint64_t place)
{
    if (place_number(place) != place_number(place_)) elsewhere_.push_back({thread, place});
}

void Barrier::open()
{
    opened_with_ = predicates_;
    arrived_ = predicates_ = 0;
    place_ = 0;
    elsewhere_.clear();
}

uint64_t Barrier::place_of(int thread) const
{
    const auto same = [=](const Elsewhere& other) { return other.thread == thread; };
    const auto other = std::find_if(elsewhere_.begin(), elsewhere_.end(), same);
    return other == elsewhere_.end() ? place_ : other->place;
}

void Barrier::add(std::vector<Waiting>& groups, int thread, uint64_t place)
{
    const auto same = [&](const Waiting& group) { return place_number(group.place) == place_number(place); };
    const auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) groups.push_back({place, thread, 1});
    else ++group->count;
}

}  // namespace sim
