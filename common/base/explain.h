// --explain: what each access of a kernel asks for, what it costs, and why.

#pragma once

#include <string>
#include <vector>

#include "counts.h"

namespace harness {

// A table of the kernel's access sites and a sentence on each.
std::string explanation(const std::string& kernel, const LaunchCounts& counts);

// The same in a few lines: the accesses that cost more than they must, most of all first, and how many others there
// are.
std::string summary(const std::string& kernel, const LaunchCounts& counts);

// True if a request costs more than it must, by more than a twentieth.
bool is_costly(const AccessSite& site);
// The accesses that do, beginning with the one that has most to gain.
std::vector<const AccessSite*> costly_sites(const LaunchCounts& counts);

// "load of shared memory"
std::string access_text(const AccessSite& site);
// A number of units, such as "1 sector" or "3.5 wavefronts".
std::string units_text(double number, const AccessSite& site);

// Kind of access, as reports name it: load, store or atomic.
const char* access_name(const AccessSite& site);

// Memory, as reports name it: shared, global, or peer for another device's.
const char* memory_name(const AccessSite& site);

// One plain sentence on what a site's requests cost and why.
std::string diagnosis(const AccessSite& site);

}  // namespace harness
