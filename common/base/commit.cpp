#include "commit.h"

namespace harness {

// BUILT_FROM in mk/compile.mk defines them.

const char* const build_version = BUILD_VERSION;
const char* const build_commit = BUILD_COMMIT;
const char* const home_page = HOME_PAGE;

std::string version_line(const std::string& program)
{
    return program + " " + build_version + " (commit " + build_commit + ")";
}

}  // namespace harness
