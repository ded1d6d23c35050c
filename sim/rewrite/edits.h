// Changes of a source text, and the code that they put in.
//
// Interface: Edits collects insertions and replacements in any order and makes the new text of them; filled() writes
// generated code from a pattern.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokens.h"

namespace rewrite {

// A pattern of code with `$name` in the places that differ. Each name must be among the values.
std::string filled(std::string_view pattern, std::initializer_list<std::pair<std::string_view, std::string>> values);

// A part of the new text: bytes [begin, end) of the old one, or what takes their place.
struct TextPiece {
    size_t out;  // where it begins in the new text
    size_t begin, end;
    bool is_new;
};

class Edits {
public:
    explicit Edits(const Source& source) : source_(source) {}

    void before(int token, std::string what) { insert(source_.begin_of(token), std::move(what), 0); }
    void after(int token, std::string what) { insert(source_.end_of(token), std::move(what), 0); }
    // Inserts in front of all else that stands after the token, except for declarations.
    void first_after(int token, std::string what) { insert(source_.end_of(token), std::move(what), 1); }
    void declare_after(int token, std::string what) { insert(source_.end_of(token), std::move(what), 2); }

    // Replaces tokens [first, last). Newlines that the new text lacks are added behind it.
    void replace(int first, int last, std::string what);
    void remove(int token) { replace(token, token + 1, ""); }
    void remove_call(int word) { replace(word, source_[word + 1].partner + 1, ""); }
    // Takes tokens [first, last) away, newlines and all, to stand elsewhere.
    std::string cut(int first, int last);

    // The text with all changes. A change inside of what another one replaces is dropped.
    std::string apply();
    // The parts of that text, in their order.
    const std::vector<TextPiece>& pieces() const { return pieces_; }

private:
    struct Edit {
        size_t begin, end;
        std::string what;
        int rank;  // at one place, the highest comes first
    };
    void change(size_t begin, size_t end, std::string what) { edits_.push_back({begin, end, std::move(what), false}); }
    void insert(size_t at, std::string what, int rank) { edits_.push_back({at, at, std::move(what), rank}); }

    const Source& source_;
    std::vector<Edit> edits_;
    std::vector<TextPiece> pieces_;
};

}  // namespace rewrite
