// Finds where the program calls the runtime, and which variable the call is about.

#include <cctype>
#include <cstring>
#include <fstream>

#include "../../common/base/error.h"
#include "../elf/places.h"
#include "runtime.h"

namespace sim {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string trimmed(const std::string& text)
{
    const size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The position after the bracket that closes the one at `open`; npos if there is none.
size_t behind(const std::string& text, size_t open)
{
    int depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
        if (std::strchr("([{", text[i])) ++depth;
        if (std::strchr(")]}", text[i]) && --depth == 0) return i + 1;
    }
    return std::string::npos;
}

// (void**)&d_out, &d_out and reinterpret_cast<void**>(&d_out) are about d_out.
std::string without_casts(std::string text)
{
    for (;;) {
        text = trimmed(text);
        if (text.empty()) return text;
        if (text[0] == '&') {
            text.erase(0, 1);
        } else if (text[0] == '(') {
            const size_t end = behind(text, 0);
            if (end == std::string::npos) return "";
            text = end == text.size() ? text.substr(1, end - 2) : text.substr(end);
        } else if (text.find("_cast<") != std::string::npos && text.back() == ')') {
            text = text.substr(text.find('('));
        } else {
            return text;
        }
    }
}

}  // namespace

std::string at(const void* place)
{
    const Place p = place_of(uint64_t(place));
    return p.file.empty() ? "at an unknown line" : harness::format("at %s:%d", p.file.c_str(), p.line);
}

std::string first_argument(const void* place, const char* function)
{
    const Place spot = place_of(uint64_t(place));
    std::ifstream in(spot.path);
    std::string text;
    // A call can go on for a few lines; a second one in the same line leaves it open which is meant.
    int number = 0;
    for (std::string line; number < spot.line + 2 && std::getline(in, line);)
        if (++number >= spot.line) text += line.substr(0, line.find("//")) + "\n";
    const std::string first_line = text.substr(0, text.find('\n'));
    const auto find = [&](size_t from) {
        for (size_t i = text.find(function, from); i != std::string::npos; i = text.find(function, i + 1))
            if ((i == 0 || !in_word(text[i - 1])) && !in_word(text[i + std::strlen(function)])) return i;
        return std::string::npos;
    };
    const size_t call = find(0);
    if (call == std::string::npos || call > first_line.size() || find(call + 1) < first_line.size()) return "";
    // A comma stands behind the name of a function that a macro gets.
    const size_t open = text.find_first_not_of(" \t\n", call + std::strlen(function));
    if (open == std::string::npos || !std::strchr("(,", text[open])) return "";
    size_t end = open + 1;
    for (int depth = 0; end < text.size() && (depth > 0 || !std::strchr(",)", text[end])); ++end) {
        if (std::strchr("([{", text[end])) ++depth;
        if (std::strchr(")]}", text[end])) --depth;
    }
    const std::string name = without_casts(text.substr(open + 1, end - open - 1));
    for (char c : name)
        if (!in_word(c) && !std::strchr("[].->:*", c)) return "";
    return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "" : name;
}

}  // namespace sim
