// The rewriter of one file: from preprocessed CUDA C++ to C++ for the simulator. It finds the words of CUDA, and
// hands each declaration and each launch to the class that rewrites it.

#pragma once

#include <string>

#include "edits.h"
#include "functions.h"
#include "host.h"
#include "launches.h"
#include "variables.h"

namespace rewrite {

// Thrown where a file that was given as plain C++ has kernels or launches.
struct HasKernels {};

// Which compiler of the program a file is for.
enum class Language { cuda, cpp, c };

class Rewriter {
public:
    Rewriter(const Source& source, Language language) : source_(source), language_(language) {}

    // The text, rewritten. Where `name` is not empty, what is not included lies in an inline namespace of
    // that name. `plain_host`: the accesses of functions that only the host calls are not watched. `added`: a folder of
    // headers of libraries (libraries.h), or empty. `host`: the same file where the preprocessor was not told of
    // __CUDA_ARCH__, or null.
    std::string run(const std::string& name, bool plain_host, const std::string& added, const Source* host);

    // The parts of what run() returned.
    const std::vector<TextPiece>& pieces() const { return edits_.pieces(); }

private:
    void wrap(const std::string& name);
    void leave_host_plain(bool wanted, const Source* host);
    void add_host_branches(const std::vector<FunctionBody>& bodies, const Source& host);
    int cuda_word(int i);
    int declaration(int i);
    void forced_inline(int i);
    bool is_discarded_call(int i) const;

    const Source& source_;
    const Language language_;
    Edits edits_{source_};
    Variables variables_{source_, edits_};
    Launches launches_{source_, edits_};
    DeviceFunctions functions_{source_, edits_, variables_, launches_};
    int declared_ = 0;  // up to here, space words belong to a declaration that is done
};

}  // namespace rewrite
