#pragma once

namespace harness {

// The commit that this program was built from, with -dirty where files had changed; unknown outside of a checkout.
extern const char* const build_commit;

}  // namespace harness
