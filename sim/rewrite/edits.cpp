// Collected changes are sorted by their place in the text and applied in one pass. At one place, insertions come first,
// in the order in which they were made, and then the longest replacement. Every line keeps its number: what replaces
// tokens gets the newlines that it lacks. The cost is that of the sort.

#include "edits.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace rewrite {

std::string filled(std::string_view pattern, std::initializer_list<std::pair<std::string_view, std::string>> values)
{
    std::string text;
    for (size_t i = 0; i < pattern.size();) {
        if (pattern[i] != '$') {
            text += pattern[i++];
            continue;
        }
        size_t end = ++i;
        while (end < pattern.size() && std::isalpha(static_cast<unsigned char>(pattern[end]))) ++end;
        const std::string_view name = pattern.substr(i, end - i);
        const auto value = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == name; });
        if (value == values.end()) std::abort();  // the pattern has a name without a value
        text += value->second;
        i = end;
    }
    return text;
}

void Edits::replace(int first, int last, std::string what)
{
    const size_t begin = source_.begin_of(first), end = source_.end_of(last - 1);
    const auto newlines = [](auto from, auto to) { return std::count(from, to, '\n'); };
    const auto old = source_.text().begin();
    const auto missing = newlines(old + begin, old + end) - newlines(what.begin(), what.end());
    if (missing > 0) what.append(missing, '\n');
    change(begin, end, std::move(what));
}

std::string Edits::cut(int first, int last)
{
    const size_t begin = source_.begin_of(first), end = source_.end_of(last - 1);
    change(begin, end, "");
    return source_.text().substr(begin, end - begin);
}

std::string Edits::apply()
{
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
        if (a.begin != b.begin) return a.begin < b.begin;
        const bool a_inserts = a.begin == a.end, b_inserts = b.begin == b.end;
        return a_inserts != b_inserts ? a_inserts : a_inserts ? a.rank > b.rank : a.end > b.end;
    });
    const std::string& text = source_.text();
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    size_t done = 0;
    for (const Edit& edit : edits_) {
        if (edit.begin < done) continue;
        pieces_.push_back({out.size(), done, edit.begin, false});
        out.append(text, done, edit.begin - done);
        pieces_.push_back({out.size(), edit.begin, edit.end, true});
        out += edit.what;
        done = edit.end;
    }
    pieces_.push_back({out.size(), done, text.size(), false});
    return out.append(text, done, std::string::npos);
}

}  // namespace rewrite
