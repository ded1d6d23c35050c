#include "commit.h"

#include "build/commit.h"
#include "build/home.h"
#include "build/version.h"

namespace harness {

const char* const build_version = BUILD_VERSION;
const char* const build_commit = BUILD_COMMIT;
const char* const home_page = HOME_PAGE;

std::string version_line(const std::string& program)
{
    return program + " " + build_version + " (commit " + build_commit + ")";
}

}  // namespace harness
