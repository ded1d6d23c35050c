#include "json.h"

#include "error.h"
#include "utf8.h"

namespace harness {

std::string json_text(const std::string& text)
{
    std::string out = "\"";
    for (size_t i = 0; i < text.size();) {
        const size_t bytes = utf8_bytes(&text[i]);
        if (text[i] == '"' || text[i] == '\\') out += '\\';
        if (!bytes) out += "\\ufffd";
        else if (static_cast<unsigned char>(text[i]) < ' ') out += format("\\u%04x", text[i]);
        else out.append(text, i, bytes);
        i += bytes ? bytes : 1;
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
