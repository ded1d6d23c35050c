#include "json.h"

#include <algorithm>

#include "error.h"
#include "utf8.h"

namespace harness {
namespace {

constexpr int deepest = 64;  // array or object in another

// Reads a text from its beginning. What it has read is added to `out` without spaces.
class JsonReader {
public:
    explicit JsonReader(const std::string& text) : text_(text) {}

    bool at_end()
    {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
        return at_ == text_.size();
    }
    [[noreturn]] void refuse(const char* why) const
    {
        const auto line = 1 + std::count(text_.begin(), text_.begin() + ptrdiff_t(at_), '\n');
        throw Error{status_bad_input, format("line %lld: %s", (long long)line, why)};
    }

    // value = object | array | string | number | "true" | "false" | "null"
    void value(std::string& out, int depth)
    {
        if (depth == deepest) refuse("too deep");
        const char next = peek();
        if (next == '{') {
            out += '{';
            members(depth, [&](const std::string& name, const std::string& value) {
                out += (out.back() == '{' ? "" : ", ") + name + ": " + value;
            });
            out += '}';
        } else if (next == '[') {
            out += '[';
            take('[');
            for (bool first = true; peek() != ']'; first = false) {
                if (!first) take(','), out += ", ";
                value(out, depth + 1);
            }
            take(']');
            out += ']';
        } else if (next == '"') {
            out += string();
        } else {
            const size_t end = std::min(text_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", at_),
                                        text_.size());
            const std::string word = text_.substr(at_, end - at_);
            const bool number = !word.empty() && word.find_first_not_of("+-.0123456789eE") == word.npos;
            if (!number && word != "true" && word != "false" && word != "null") refuse("expected a value");
            out += word;
            at_ = end;
        }
    }

    // object = "{" (string ":" value ("," string ":" value)*)? "}"
    template <typename Member>
    void members(int depth, Member member)
    {
        take('{');
        for (bool first = true; peek() != '}'; first = false) {
            if (!first) take(',');
            if (peek() != '"') refuse("expected the name of a member");
            const std::string name = string();
            take(':');
            std::string of_it;
            value(of_it, depth + 1);
            member(name, of_it);
        }
        take('}');
    }

private:
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
    std::string string()
    {
        size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
        if (end >= text_.size() || text_[end] != '"') refuse("a string has no end");
        const std::string quoted = text_.substr(at_, end + 1 - at_);
        at_ = end + 1;
        return quoted;
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
    JsonReader reader(text);
    while (!reader.at_end()) {
        JsonMembers& object = all.emplace_back();
        reader.members(0, [&](const std::string& name, const std::string& value) {
            object.emplace_back(name.substr(1, name.size() - 2), value);
        });
    }
    return all;
}

}  // namespace harness
