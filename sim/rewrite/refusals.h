// Refusals of code that the simulator cannot run. Each gives the line, and what to write instead.

#pragma once

#include <string>

#include "tokens.h"

namespace rewrite {

[[noreturn]] inline void refuse(const Source& source, int i, const std::string& what)
{
    throw Refusal{source.begin_of(i), what};
}

// Each looks at one word of the text: any word, one that begins with `cu`, and one in device code.
void check_namespace_word(const Source& source, int i);
void check_runtime_word(const Source& source, int i);
void check_device_word(const Source& source, int i);

// Refuses the first function or type of the CUDA runtime or the driver that the program uses and the simulator's
// headers do not declare: one line instead of the compiler's many. Without these headers in the text, it does nothing.
void check_declared(const Source& source);

}  // namespace rewrite
