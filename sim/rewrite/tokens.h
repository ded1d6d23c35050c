// Preprocessed C++ as tokens: where each begins, which bracket pairs with which, and what it came from.

#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace rewrite {

inline bool begins_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

// True if a list of words between spaces has this one.
inline bool has_word(std::string_view list, std::string_view word)
{
    return list.find(" " + std::string(word) + " ") != list.npos;
}

// Thrown where the text cannot be rewritten. `what`: what is wrong, and what to write instead.
struct Refusal {
    size_t offset;
    std::string what;
};

struct Token {
    enum Kind : uint8_t { word, number, text, symbol, none };
    uint32_t begin = 0, length = 0;
    int partner = 0;      // of a bracket: the one it pairs with
    int parent = 0;       // the innermost bracket that is open here; 0: none
    Kind kind = none;
    bool system = false;  // from a system header, where nothing is rewritten
    bool own = false;     // of the file that was preprocessed, and not of one that it includes
};

// A line of a source file, as a message names it.
struct Position {
    std::string file;
    int line;
};

// A line marker, `# 12 "file" 1 3`, in its parts.
struct Marker {
    size_t offset = 0;     // where its line begins
    int line = -1;         // of the next line; -1: not a line marker
    std::string file;
    bool enters = false;   // a file that is included
    bool returns = false;  // to the one that includes it
    bool system = false;
};
std::vector<Marker> markers_in(const std::string& text);

// The position of a byte of the text, by its line markers. `name`: the file where the text begins without a marker.
Position position_in(const std::string& text, size_t offset, const std::string& name);

// `<` and `>` are tokens of one character each, so that `<<<`, `<< <` and `>>>>` need no care;
// only `->`, `<=` and `>=` stay whole. Comments, directives and line markers are no tokens. Token 0
// and all behind the last are of the kind none: a look to either side of a token is always allowed.
class Source {
public:
    // Throws Refusal where a literal or a bracket has no end. The text must stay where it is.
    explicit Source(const std::string& text);

    const std::string& text() const { return text_; }
    // Backslashes at ends of lines, outside of literals. One before a comment is there once the preprocessor has
    // removed the comment. nvcc preprocesses twice, and joins the lines. To the compiler it is an error.
    const std::vector<size_t>& joints() const { return joints_; }
    int count() const { return count_; }  // tokens 1 to count() are the text
    const Token& operator[](int i) const { return tokens_[i]; }

    size_t begin_of(int i) const { return tokens_[i].begin; }
    size_t end_of(int i) const { return tokens_[i].begin + tokens_[i].length; }
    std::string_view spelling(int i) const { return {text_.data() + tokens_[i].begin, tokens_[i].length}; }
    char first_of(int i) const { return tokens_[i].length ? text_[tokens_[i].begin] : '\0'; }
    bool is(int i, std::string_view spelled) const { return spelling(i) == spelled; }
    bool is_any(int i, std::initializer_list<std::string_view> words) const
    {
        return std::find(words.begin(), words.end(), spelling(i)) != words.end();
    }
    bool is_word(int i) const { return tokens_[i].kind == Token::word; }
    bool opens(int i) const { return tokens_[i].partner > i; }  // a bracket that opens

    // Tokens [first, last) on one line, with one space where there was room.
    std::string join(int first, int last) const;

private:
    class Lexer;

    const std::string& text_;
    std::vector<Token> tokens_;
    std::vector<size_t> joints_;
    int count_ = 0;
};

}  // namespace rewrite
