// Values of options on a command line.

#pragma once

namespace harness {

// The number from 1 to `most` that `text` is. `option`: its name without dashes. Throws status_bad_input for other
// texts.
int whole_number(const char* option, const char* text, long most);

}  // namespace harness
