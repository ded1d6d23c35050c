#include "commit.h"

#include "build/commit.h"
#include "build/home.h"

namespace harness {

const char* const build_commit = BUILD_COMMIT;
const char* const home_page = HOME_PAGE;

}  // namespace harness
