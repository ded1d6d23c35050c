// Markers of loops: the simulator learns from them which turn of which loops a thread is in.
//
// A marker is an `if` with initializers in front of the loop, so that it needs no brace behind it, and one more in
// front of the body, which counts the turn:
//
//     if (outer turn) {} else if (a Loop, which restores the turn at its end) {} else if (turns) {} else
//     for (...) if (the next turn, false) {} else BODY
//
// A loop that control enters without passing its head, by `goto` or `case`, gets no marker, because it would be jumped
// over.

#include "loops.h"

#include <string_view>

namespace rewrite {
namespace {

bool follows_if(const Source& source, int i)
{
    return source.is(i - 1, "if") || (source.is(i - 1, "constexpr") && source.is(i - 2, "if"));
}

}  // namespace

void Loops::mark(int keyword, int head_end, const std::vector<int>& gotos)
{
    const int end = statement_end(source_, keyword);
    if (source_[keyword].system || entered_elsewhere(source_, keyword, end, gotos)) return;
    const std::string first = filled("::sim::first_turn<$number>(sim_outer)", {{"number", std::to_string(++number_)}});
    std::string marker = filled(
        "if (const auto sim_outer = ::sim::outer_turn(); false) {} else "
        "if (::sim::Loop sim_loop(sim_outer); false) {} else "
        "if (unsigned long sim_turns = $first; false) {} else ",
        {{"first", first}});
    // If the loop is all that an `if` does, braces keep compilers from warning of the `else`.
    const std::string turn = filled(
        " ::sim::is_long(sim_turns = ::sim::next_turn(sim_turns)) && "
        "(::sim::long_loop(), sim_turns = $first, false)",
        {{"first", first}});
    const int before = keyword - 1;
    const bool branch = source_.is(before, ")") && follows_if(source_, source_[before].partner);
    if (branch) {
        marker.insert(0, "{ ");
        edits_.after(end - 1, " }");
    }
    // Between `#pragma unroll` and its loop nothing may stand.
    const size_t gap = source_.end_of(before), begin = source_.begin_of(keyword);
    const bool pragma =
        std::string_view(source_.text()).substr(gap, begin - gap).find("#pragma") != std::string_view::npos;
    if (pragma) edits_.after(before, " " + marker);
    else edits_.before(keyword, marker);
    // A body that is only a semicolon would be an empty `else`, which compilers warn of.
    edits_.after(head_end, source_.is(head_end + 1, ";") ? turn : " if (" + turn + ", false) {} else ");
}

}  // namespace rewrite
