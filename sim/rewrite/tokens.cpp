// One pass takes the text apart. A stack of the brackets that are open gives each token its parent, and each bracket
// its partner. The line markers on the way tell which file a token is from. The cost is linear in the text.

#include "tokens.h"

#include <cstdlib>
#include <cstring>

namespace rewrite {
namespace {

// Tokens may be asked for this far behind the last.
constexpr int tokens_behind = 4;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80);
}
bool is_name(char c) { return is_name_start(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// marker = "#" "line"? digit* '"' file '"' (" 1" | " 2" | " 3" | " 4")*
Marker read_marker(std::string_view directive)
{
    Marker marker;
    size_t i = 1;
    const auto skip_spaces = [&] { while (i < directive.size() && (directive[i] == ' ' || directive[i] == '\t')) ++i; };
    skip_spaces();
    if (directive.substr(i, 4) == "line") {
        i += 4;
        skip_spaces();
    }
    int line = 0;
    for (; i < directive.size() && is_digit(directive[i]); ++i) line = 10 * line + (directive[i] - '0');
    skip_spaces();
    if (i >= directive.size() || directive[i] != '"') return marker;
    for (++i; i < directive.size() && directive[i] != '"'; ++i) {
        if (directive[i] == '\\') ++i;
        if (i < directive.size()) marker.file += directive[i];
    }
    marker.line = line;
    const auto has = [&](const char* flag) {
        return i < directive.size() && directive.find(flag, i) != std::string_view::npos;
    };
    marker.enters = has(" 1");
    marker.returns = has(" 2");
    marker.system = has(" 3");
    return marker;
}

size_t line_end(const std::string& text, size_t i)
{
    const size_t end = text.find('\n', i);
    return end == std::string::npos ? text.size() : end;
}

}  // namespace

class Source::Lexer {
public:
    explicit Lexer(Source& source) : text_(source.text_), tokens_(source.tokens_), joints_(source.joints_) {}

    void run()
    {
        tokens_.reserve(text_.size() / 4 + tokens_behind);
        tokens_.emplace_back();
        while (skip_to_token()) next();
        if (innermost_) refuse(innermost_, "this bracket is never closed; close it");
    }

private:
    char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

    [[noreturn]] void refuse(int token, const char* what) const { throw Refusal{tokens_[token].begin, what}; }

    // Past white space, comments and directives; false at the end of the text.
    bool skip_to_token()
    {
        for (;;) {
            const char c = at(i_);
            if (is_space(c)) {
                line_begins_ |= c == '\n';
                ++i_;
            } else if (c == '\\' && ends_line(i_ + 1)) {
                joints_.push_back(i_++);
            } else if (c == '#' && line_begins_) {
                size_t end = line_end(text_, i_);
                while (end < text_.size() && text_[end - 1] == '\\') end = line_end(text_, end + 1);
                const Marker marker = read_marker(std::string_view(text_).substr(i_, end - i_));
                if (marker.line >= 0) {
                    system_ = marker.system;
                    if (file_.empty()) file_ = marker.file;
                    own_ = marker.file == file_;
                }
                i_ = end;
            } else if (c == '/' && at(i_ + 1) == '/') {
                i_ = line_end(text_, i_);
            } else if (c == '/' && at(i_ + 1) == '*') {
                const size_t end = text_.find("*/", i_ + 2);
                if (end == std::string::npos) throw Refusal{i_, "this comment is never closed; write */ at its end"};
                i_ = end + 2;
            } else {
                return i_ < text_.size();
            }
        }
    }

    bool ends_line(size_t i) const
    {
        while (at(i) != '\n' && is_space(at(i))) ++i;
        return at(i) == '\n';
    }

    void next()
    {
        line_begins_ = false;
        const size_t begin = i_;
        const char c = text_[i_];
        Token::Kind kind = Token::symbol;
        if (is_name_start(c)) {
            kind = Token::word;
            while (is_name(at(i_))) ++i_;
            if (at(i_) == '"' && is_raw(begin)) {
                kind = Token::text;
                raw_string(begin);
            }
        } else if (is_digit(c) || (c == '.' && is_digit(at(i_ + 1)))) {
            kind = Token::number;
            number();
        } else if (c == '"' || c == '\'') {
            kind = Token::text;
            literal(c);
        } else {
            i_ += symbol_length();
        }
        tokens_.emplace_back();
        Token& token = tokens_.back();
        token.begin = uint32_t(begin);
        token.length = uint32_t(i_ - begin);
        token.parent = innermost_;
        token.kind = kind;
        token.system = system_;
        token.own = own_;
        if (kind == Token::symbol) bracket(c);
    }

    // raw string = ("R" | "LR" | "uR" | "UR" | "u8R") '"' delimiter "(" ... ")" delimiter '"'
    bool is_raw(size_t begin) const
    {
        const std::string_view prefix(text_.data() + begin, i_ - begin);
        return prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
    }

    void raw_string(size_t begin)
    {
        const size_t open = text_.find('(', i_);
        const size_t close =
            open == std::string::npos ? open : text_.find(")" + text_.substr(i_ + 1, open - i_ - 1) + "\"", open);
        if (close == std::string::npos) throw Refusal{begin, "this raw string is never closed; close it"};
        i_ = close + (open - i_) + 1;
    }

    // number = (digit | ".") (name character | "." | ("e" | "E" | "p" | "P") ("+" | "-") | "'" name character)*
    void number()
    {
        for (++i_;; ++i_) {
            const char c = at(i_), before = text_[i_ - 1];
            const bool sign =
                (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
            if (!is_name(c) && c != '.' && !sign && !(c == '\'' && is_name(at(i_ + 1)))) return;
        }
    }

    // literal = quote (character | "\\" character)* quote     on one line
    void literal(char quote)
    {
        const size_t begin = i_;
        for (++i_; at(i_) != quote; ++i_) {
            if (i_ >= text_.size() || text_[i_] == '\n')
                throw Refusal{begin, std::string("this literal is never closed; write ") + quote + " at its end"};
            if (text_[i_] == '\\') ++i_;
        }
        ++i_;
    }

    size_t symbol_length() const
    {
        static const char* const longer[] = {"...", "::", "->", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=",
                                             "%=",  "&=", "|=", "^=", "&&", "||", "++", "--"};
        for (const char* symbol : longer)
            if (text_[i_] == symbol[0] && text_.compare(i_, std::strlen(symbol), symbol) == 0)
                return std::strlen(symbol);
        return 1;
    }

    void bracket(char c)
    {
        const int here = int(tokens_.size()) - 1;
        if (c == '(' || c == '[' || c == '{') {
            innermost_ = here;
        } else if (c == ')' || c == ']' || c == '}') {
            const char open = c == ')' ? '(' : c == ']' ? '[' : '{';
            if (!innermost_) refuse(here, "this bracket was never opened; remove it");
            if (text_[tokens_[innermost_].begin] != open)
                refuse(innermost_, "this bracket is closed by another kind of bracket; close it first");
            tokens_[innermost_].partner = here;
            tokens_[here].partner = innermost_;
            innermost_ = tokens_[here].parent = tokens_[innermost_].parent;
        }
    }

    const std::string& text_;
    std::vector<Token>& tokens_;
    std::vector<size_t>& joints_;
    size_t i_ = 0;
    int innermost_ = 0;
    bool line_begins_ = true, system_ = false, own_ = true;
    std::string file_;  // that was preprocessed
};

Source::Source(const std::string& text) : text_(text)
{
    Lexer(*this).run();
    count_ = int(tokens_.size()) - 1;
    tokens_.resize(tokens_.size() + tokens_behind);
    for (int i = count_ + 1; i < int(tokens_.size()); ++i) tokens_[i].begin = uint32_t(text_.size());
}

std::string Source::join(int first, int last) const
{
    std::string joined;
    for (int i = first; i < last; ++i) {
        if (i > first && begin_of(i) > end_of(i - 1)) joined += ' ';
        joined += spelling(i);
    }
    return joined;
}

std::vector<Marker> markers_in(const std::string& text)
{
    std::vector<Marker> markers;
    for (size_t i = 0, end; i < text.size(); i = end + 1) {
        end = line_end(text, i);
        size_t first = i;
        while (first < end && is_space(text[first])) ++first;
        if (text[first] != '#') continue;
        Marker marker = read_marker(std::string_view(text).substr(first, end - first));
        marker.offset = i;
        if (marker.line >= 0) markers.push_back(std::move(marker));
    }
    return markers;
}

Position position_in(const std::string& text, size_t offset, const std::string& name)
{
    Position position{name, 1};
    size_t begin = 0;
    for (const Marker& marker : markers_in(text)) {
        if (marker.offset >= offset) break;
        position = {marker.file, marker.line};
        begin = line_end(text, marker.offset) + 1;
    }
    for (size_t i = begin; i < offset; ++i) position.line += text[i] == '\n';
    return position;
}

}  // namespace rewrite
