#pragma once

namespace harness {

// The commit that this program was built from, with -dirty where files had changed; unknown outside of a checkout.
extern const char* const build_commit;

// The address of the repository's page on GitHub, which the checkout was cloned from; empty if it was not.
extern const char* const home_page;

}  // namespace harness
