#include "json.h"

#include "error.h"

namespace harness {

std::string json_text(const std::string& text)
{
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < ' ') out += format("\\u%04x", c);
        else out += c;
    }
    return out + "\"";
}

std::string json_array(const JsonValues& values)
{
    std::string out = "[";
    for (const std::string& value : values) out += (out.size() > 1 ? ", " : "") + value;
    return out + "]";
}

std::string json_object(const JsonMembers& members)
{
    std::string out = "{";
    for (const auto& [name, value] : members) out += (out.size() > 1 ? ", " : "") + json_text(name) + ": " + value;
    return out + "}";
}

}  // namespace harness
