// The version and the commit that this program was built from.

#pragma once

#include <string>

namespace harness {

// The version of the project, as CITATION.cff has it.
extern const char* const build_version;

// The commit that this program was built from, with -dirty where files had changed; unknown outside of a checkout.
extern const char* const build_commit;

// The address of the repository's page on GitHub, which the checkout was cloned from; empty if it was not.
extern const char* const home_page;

// The line of --version: "step04 1.0.0 (commit 0123456789)".
std::string version_line(const std::string& program);

}  // namespace harness
