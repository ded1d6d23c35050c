// Paths of files.

#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace harness {

// The path from the root of the file system, without links as far as they can be followed.
inline std::string whole_path(const std::filesystem::path& path)
{
    std::error_code failed;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, failed);
    return (failed ? path.lexically_normal() : whole).string();
}

}  // namespace harness
