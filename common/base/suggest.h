// Suggestions for a name that is not known: of an option, a kernel or a machine.

#pragma once

#include <string>
#include <vector>

namespace harness {

// The known name that is nearest to `typed`, or empty if none is near: capitals count for nothing, and at most a third
// of the letters may be added, left out, changed or exchanged with a neighbour. Of equally near ones the first.
std::string nearest(const std::string& typed, const std::vector<std::string>& known);

// "; did you mean --explain?", or nothing: for the end of a message. `before`: stands before the name, for example
// "--".
std::string did_you_mean(const std::string& typed, const std::vector<std::string>& known,
                         const std::string& before = "");

// "expected one of h100, h200; did you mean h200?": the end of a message about a name that is not among the known.
std::string expected_one_of(const std::string& typed, const std::vector<std::string>& known);

// The message about an option that getopt_long() did not know, just after it returned: "unknown option --expain; did
// you mean --explain?" `otherwise`: what ends it if no option is near.
std::string unknown_option(char** argv, const std::vector<std::string>& known, const std::string& otherwise);

// True if the unknown option is -h, just after getopt_long() returned. getopt_long() is not told of it, because -help
// would then be -h and more letters, and not a word that is nearly --help.
bool short_help(char** argv);

}  // namespace harness
