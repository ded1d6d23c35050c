// JSON, as programs read it. files.h writes it to files.

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace harness {

// A string, in quotes. Each byte that is no UTF-8 becomes U+FFFD.
std::string json_text(const std::string& text);

// An array or an object of values that are JSON already. Its members keep their order.
using JsonValues = std::vector<std::string>;
using JsonMembers = std::vector<std::pair<std::string, std::string>>;
std::string json_array(const JsonValues& values);
std::string json_object(const JsonMembers& members);

// The objects that a text has one after another, laid out in any way: the members of each, whose values are JSON in one
// line. Throws status_bad_input, with the line, if the text is no JSON, or has another value.
std::vector<JsonMembers> json_objects(const std::string& text);

}  // namespace harness
