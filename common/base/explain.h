// --explain: what each access of a kernel asks for, what it costs, and why.

#pragma once

#include <string>

#include "counts.h"

namespace harness {

// A table of the kernel's access sites and a sentence on each.
std::string explanation(const std::string& kernel, const LaunchCounts& counts);

// Kind of access, as reports name it: load, store or atomic.
const char* access_name(const AccessSite& site);

// Memory, as reports name it: shared, global, or peer for another device's.
const char* memory_name(const AccessSite& site);

// One plain sentence on what a site's requests cost and why.
std::string diagnosis(const AccessSite& site);

}  // namespace harness
