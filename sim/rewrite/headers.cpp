// In: the line markers of a preprocessed text, or the errors of a preprocessor. Out: the first header that the
// simulator does not have, as the program includes it. A stack of the files that are being included tells through which
// header of the program's choice another one came. The cost is linear in the markers.

#include "headers.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "../../common/base/paths.h"
#include "libraries.h"
#include "tokens.h"

namespace rewrite {
namespace {

// The name in a path, which is behind the last slash, and the folder up to it.
std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// The header as the program writes it: thrust/sort.h for /usr/include/thrust/sort.h.
std::string as_included(const Marker& marker)
{
    for (size_t slash = marker.file.find('/'); marker.system && slash != std::string::npos;
         slash = marker.file.find('/', slash + 1))
        if (!why_not(marker.file.substr(slash + 1)).empty()) return marker.file.substr(slash + 1);
    return name_in(marker.file);
}

}  // namespace

// Why a file of C cannot include the header: the functions of the runtime are C++ here.
static std::string why_not_in_c(const std::string& header)
{
    const bool cuda =
        begins_with(header, "cuda") || has_word(" driver_types.h vector_types.h builtin_types.h nccl.h ", header);
    return cuda && header.find('/') == std::string::npos
               ? header +
                     ": CUDA in a file of C is not supported by the simulator; give the file a name that ends in .cpp "
                     "or .cu"
               : why_not(header);
}

void check_headers(const std::string& text, bool c, const std::string& added, const std::string& own_folder)
{
    // The preprocessor names some files as they are included, and others with their whole paths.
    const std::string own = harness::whole_path(own_folder) + "/";
    const auto is_own = [&own](const std::string& file) {
        return begins_with(harness::whole_path(file), own);
    };
    const std::vector<Marker> markers = markers_in(text);
    const bool any_own = std::any_of(markers.begin(), markers.end(), [&](const Marker& m) { return is_own(m.file); });
    const std::string folder = any_own ? own : "";
    if (c) {
        for (const Marker& m : markers)
            if (const std::string why = m.enters ? why_not_in_c(as_included(m)) : ""; !why.empty())
                throw Refusal{m.offset, why};
        return;
    }
    std::vector<const Marker*> stack;  // of what is being included
    for (const Marker& m : markers) {
        if (m.enters) stack.push_back(&m);
        if (m.returns && !stack.empty()) stack.pop_back();
        if (!m.enters || m.file[0] == '<' || is_own(m.file)) continue;
        if (!added.empty() && begins_with(m.file, added + "/")) continue;
        const bool again =
            folder.empty() ? name_in(m.file) == "cuda_runtime.h" : std::ifstream(folder + name_in(m.file)).is_open();
        if (again && folder.empty())
            throw Refusal{
                m.offset,
                m.file +
                    " of a CUDA Toolkit is found before the simulator's own header; remove the option -I of its "
                    "folder"};
        if (!again && why_not(as_included(m)).empty()) continue;
        // The toolkit's headers include each other, so the first of them is named.
        size_t first = stack.size() - 1;
        while (first > 0 && folder_of(stack[first - 1]->file) == folder_of(m.file)) --first;
        const std::string header = as_included(*stack[first]), why = why_not(header);
        if (!why.empty()) throw LibraryHeader{{stack[first]->offset, why}, header};
        throw Refusal{stack[first]->offset,
                      header + ": this header of the CUDA Toolkit is not supported by the simulator"};
    }
}

MissingHeader find_missing(const std::string& errors, bool c)
{
    // Looks for program.cu:3:10: fatal error: thrust/sort.h: No such file or directory, in the reader's language. clang
    // puts the name in quotes.
    std::istringstream lines(errors);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> fields;
        std::istringstream parts(line);
        for (std::string field; std::getline(parts, field, ':');) fields.push_back(field);
        for (size_t i = 3; i < fields.size(); ++i) {
            const std::string field = fields[i].substr(fields[i].find(' ') == 0);
            const std::string name = field.find('\'') == 0 ? field.substr(1, field.find('\'', 1) - 1) : field,
                              known = c ? why_not_in_c(name) : why_not(name),
                              why = known.empty() && begins_with(name, "cuda/")
                                        ? name + ": this header of libcu++ is not supported by the simulator"
                                        : known;
            if (!why.empty() && name.find(' ') == std::string::npos && name.back() != '/')
                return {name, fields[0] + ":" + fields[1] + ": " + why};
        }
    }
    return {};
}

}  // namespace rewrite
