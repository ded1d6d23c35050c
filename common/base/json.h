// JSON, as programs read it. files.h writes it.

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

}  // namespace harness
