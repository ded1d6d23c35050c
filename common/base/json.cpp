#include "json.h"

#include <algorithm>

#include "error.h"
#include "utf8.h"

namespace harness {
namespace {

constexpr int deepest = 64;  // array or object in another

// Reads a text from its beginning.
class JsonReader {
public:
    explicit JsonReader(const std::string& text) : text_(text) {}

    bool at_end()
    {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
        return at_ == text_.size();
    }

    // object = "{" (string ":" value ("," string ":" value)*)? "}"
    JsonMembers object(int depth)
    {
        JsonMembers members;
        take('{');
        while (peek() != '}') {
            if (!members.empty()) take(',');
            if (peek() != '"') refuse("expected the name of a member");
            const std::string quoted = string();
            if (quoted.find('\\') != quoted.npos) refuse("expected a name without \\");
            take(':');
            members.emplace_back(quoted.substr(1, quoted.size() - 2), value(depth + 1));
        }
        take('}');
        return members;
    }

private:
    // value = object | array | string | number | "true" | "false" | "null"
    std::string value(int depth)
    {
        if (depth == deepest) refuse("too deep");
        const char next = peek();
        if (next == '{') return json_object(object(depth));
        if (next == '[') return json_array(array(depth));
        if (next == '"') return string();
        const size_t end = std::min(text_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", at_),
                                    text_.size());
        const std::string word = text_.substr(at_, end - at_);
        const bool number = !word.empty() && word.find_first_not_of("+-.0123456789eE") == word.npos;
        if (!number && word != "true" && word != "false" && word != "null") refuse("expected a value");
        at_ = end;
        return word;
    }

    // array = "[" (value ("," value)*)? "]"
    JsonValues array(int depth)
    {
        JsonValues values;
        take('[');
        while (peek() != ']') {
            if (!values.empty()) take(',');
            values.push_back(value(depth + 1));
        }
        take(']');
        return values;
    }

    // The string as it stands, in quotes.
    std::string string()
    {
        size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
        if (end >= text_.size() || text_[end] != '"') refuse("a string has no end");
        const std::string quoted = text_.substr(at_, end + 1 - at_);
        at_ = end + 1;
        return quoted;
    }

    char peek()
    {
        if (at_end()) refuse("it ends too early");
        return text_[at_];
    }
    void take(char expected)
    {
        if (peek() != expected) refuse(format("expected %c", expected).c_str());
        ++at_;
    }
    [[noreturn]] void refuse(const char* why) const
    {
        const auto line = 1 + std::count(text_.begin(), text_.begin() + ptrdiff_t(at_), '\n');
        throw Error{status_bad_input, format("line %lld: %s", (long long)line, why)};
    }

    const std::string& text_;
    size_t at_ = 0;
};

}  // namespace

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

std::vector<JsonMembers> json_objects(const std::string& text)
{
    std::vector<JsonMembers> all;
    for (JsonReader reader(text); !reader.at_end();) all.push_back(reader.object(0));
    return all;
}

}  // namespace harness
