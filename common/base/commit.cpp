#include "commit.h"

#include "build/commit.h"

namespace harness {

const char* const build_commit = BUILD_COMMIT;

}  // namespace harness
