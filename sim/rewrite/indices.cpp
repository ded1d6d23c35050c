// Which indices nvcc knows, and which addresses the lanes of a warp share.
//
// nvcc keeps an array in registers if it knows all indices of it, once loops are unrolled. It joins the atomic
// operations of a warp if all lanes have one address. Both are one question: on what does an expression depend? An
// index may depend on constants, an address on all but threadIdx. A variable of a `for` depends on the tokens of the
// loop's head. Any other variable depends on its first value; if it is assigned again, it is not followed any further.
//
// In: the body of a device function. Out: markers (launch.h) behind arrays with an index that is not known, and around
// addresses that lanes share. The cost is a search for the declaration of each name in an index or an address.

#include "indices.h"

#include <algorithm>
#include <vector>

namespace rewrite {
namespace {

bool is_head(const Source& s, int open) { return s.is_any(open - 1, {"for", "while", "if", "switch"}); }

bool is_member(const Source& s, int i) { return s.is_any(i - 1, {".", "->", "::"}); }

// change = "=" | "+=" | ... | "++" | "--" | "<" "<=" | ">" ">="     the last two are <<= and >>=
bool changes(const Source& s, int i)
{
    const bool shifts = s.is_any(i, {"<", ">"}) && s.is_any(i + 1, {"<=", ">="});
    return shifts || s.is_any(i, {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--"});
}

// True if the declaration around token i has the word in front of the token.
bool has(const Source& s, int i, std::string_view word)
{
    int first = i;
    while (first > 1 && !s.is_any(first - 1, {";", "{", "}", "("})) --first;
    return find_word(s, first, i, word) != 0;
}

// The number of turns that the `#pragma` in front of a loop names, as text; empty if it names none. `head`: the `(` of
// the loop.
//
// pragma = "#pragma unroll" ("(" | " ")* digit+
std::string_view unroll_number(const Source& s, int head)
{
    const size_t begin = s.end_of(head - 2), end = s.begin_of(head);
    std::string_view text = std::string_view(s.text()).substr(begin, end - begin);
    text.remove_prefix(std::min(text.find("unroll"), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of("unrol ("), text.size()));
    return text.substr(0, text.find_first_not_of("0123456789"));
}

// The token behind an expression: the next `,`, `;` or closing bracket.
int end_of(const Source& s, int i)
{
    while (i <= s.count() && !s.is_any(i, {",", ";", ")", "]", "}"})) i = past(s, i);
    return i;
}

}  // namespace

// declaration = begin type (declarator ",")* name end     read backwards from the name at token i
// begin       = ";" | "{" | "}" | ":" | "for" "("
// type        = (word | "::" | "*" | "&" | "<" | ">")+     the first one an operand, and not `using`
// end         = "=" | ";" | "," | "[" | "{" | "(" | ":"
bool declares(const Source& s, int i)
{
    if (!s.is_any(i + 1, {"=", ";", ",", "[", "{", "(", ":"})) return false;

    int first = i, angles = 0;
    for (; s.is_word(first - 1) || s.is_any(first - 1, {"::", "*", "&", "<", ">"}); --first) {
        angles += s.is(first - 1, ">") - s.is(first - 1, "<");
        if (angles < 0) return false;  // a comparison
    }

    const bool more = s.is(first - 1, ",");  // one of several declarators
    while (more && !s.is_any(first - 1, {";", "{", "}", "(", "["})) {
        const int before = first - 1;
        const bool closes = s[before].partner && !s.opens(before);
        first = closes ? s[before].partner : before;
    }

    const bool begins = s.is_any(first - 1, {";", "{", "}", ":"}) || (s.is(first - 1, "(") && s.is(first - 2, "for"));
    if (!begins || first >= i || (more && !s.is_word(first + 1))) return false;
    return is_operand(s, first) && !s.is(first, "using");
}

// The last declaration of the variable in front of token i: its name there; 0 if the function declares none.
int Indices::declared(int i) const
{
    for (int j = i; j > body_.parameters; --j) {
        if (!source_.is(j, source_.spelling(i))) continue;
        if (declares(source_, j)) return j;
        if (is_parameter(j) && source_.is_any(j + 1, {",", ")", "=", "["})) return j;
    }
    return 0;
}

// True if tokens [first, last) depend on what nvcc does not know, or on the lane. What follows `&` at the beginning has
// an address, whatever its value.
bool Indices::depends(int first, int last)
{
    for (int i = first; i < last; ++i) {
        if (!source_.is_word(i) || is_member(source_, i)) continue;
        const std::string_view word = source_.spelling(i);
        const bool call = source_.is(i + 1, "(");
        const bool element = source_.is_any(i + 1, {"[", "->"});
        if (word == "threadIdx") return true;
        if (call && (source_[i + 1].partner == i + 2 || begins_with(word, "__") || begins_with(word, "atomic")))
            return true;
        if (i == first + 1 && source_.is(first, "&") && !element) continue;

        const int declaration = declared(i);
        if (question_ == at_compile_time) {
            if (element || variables_.count(word)) return true;
            if (source_.is_any(i, {"blockIdx", "blockDim", "gridDim"})) return true;
            if (declaration && is_parameter(declaration) && !known_parameters_) return true;
        } else if (declaration && is_parameter(declaration) && !body_.of_kernel) {
            return true;
        }
        if (!declaration || is_parameter(declaration) || !asked_.insert(declaration).second) continue;

        const bool does = variable_depends(declaration);
        asked_.erase(declaration);
        if (does) return true;
    }
    return false;
}

bool Indices::variable_depends(int declaration)
{
    const int head = source_[declaration].parent;
    if (has(source_, declaration, "__shared__")) return question_ == at_compile_time;
    if (source_.is(declaration + 1, "[")) return question_ == among_lanes;  // each lane has an array of its own

    const bool loop = source_.is(head, "(");
    for (int i = declaration + 1; i < source_[body_.open].partner; ++i) {
        if (!source_.is(i, source_.spelling(declaration))) continue;
        if (loop && i < source_[head].partner) continue;
        const bool counted = source_.is_any(i - 1, {"++", "--"});
        const bool passed = source_.is(i - 1, "&") && source_.is_any(i + 1, {")", ","});  // f(&i), which may store
        if ((counted || passed || changes(source_, i + 1)) && declared(i) == declaration) return true;
    }
    if (!loop) {
        if (source_.is_any(declaration + 1, {";", ","})) return true;
        return depends(declaration + 2, end_of(source_, declaration + 2));
    }
    if (question_ == at_compile_time) {
        // A #pragma may have the loop unrolled in part, or not at all.
        const std::string_view number = unroll_number(source_, head);
        if (!number.empty() && !find_word(source_, head, source_[head].partner, number)) return true;
    }
    const int condition = find_word(source_, head, source_[head].partner, ";") + 1;
    return source_.is(condition, ";") || depends(head + 1, source_[head].partner);
}

// The declaration of the array that the name at token i is, or points into.
//
// pointer = ("*" | "&") name "=" token* array     the first name behind `=` that is declared
int Indices::root(int i, unsigned& dynamic)
{
    int declaration = declared(i);
    while (declaration && source_.is_any(declaration - 1, {"*", "&"}) && !is_parameter(declaration)) {
        if (depends(declaration, declaration + 1)) dynamic |= 1;
        int at = source_.is(declaration + 1, "=") ? declaration + 2 : 0;
        const int end = at ? end_of(source_, at) : 0;
        for (declaration = 0; at < end && !declaration; ++at)
            if (source_.is_word(at) && !is_member(source_, at)) declaration = declared(at);
    }
    return declaration;
}

// Uses of arrays with an index that is not known.
//
// use      = element | sum | argument
// element  = array ("." member)* ("[" index "]")+
// sum      = "*" "(" array ("+" | "-") index ")" ("[" index "]")*
// argument = function "(" ... array ("," | ")")     whose parameter the function indexes so
Indices::Uses Indices::uses()
{
    Uses all;
    for (int i = body_.open; i < source_[body_.open].partner; ++i) {
        if (!source_.is_word(i) || is_member(source_, i)) continue;
        const int group = source_[i].parent;
        const bool argument = source_.is(group, "(") && source_.is_any(i + 1, {")", ","});
        const bool sum = source_.is_any(i + 1, {"+", "-"}) && source_.is(group, "(") && source_.is(group - 1, "*");

        int behind = i + 1;
        while (source_.is(behind, ".")) behind += 2;
        if ((!argument && !sum && !source_.is(behind, "[")) || declares(source_, i)) continue;
        std::string path;
        for (int k = i + 1; k < behind; ++k) path += source_.spelling(k);

        unsigned dynamic = 0;
        const int declaration = root(i, dynamic);
        if (!declaration) continue;
        if (sum) {
            behind = past(source_, group);
            dynamic |= depends(group + 1, behind - 1);
        }
        for (unsigned bit = 1; source_.is(behind, "["); bit *= 2, behind = past(source_, behind))
            if (depends(behind + 1, source_[behind].partner)) dynamic |= bit;

        unsigned cost = source_.is(behind, "=") ? 1 : changes(source_, behind) ? 3 : 2;
        if (argument) {
            const auto function = functions_.find(source_.spelling(group - 1));
            const unsigned does = function == functions_.end() ? 0 : function->second;
            dynamic = does & 2 || (does & 1 && depends(group + 1, source_[group].partner));
        }
        if (!dynamic) continue;

        bool loop = false;
        for (int k = i; k > body_.open && !loop; --k)
            loop = source_.is_any(k, {"for", "while", "do"}) && statement_end(source_, k) > i && declaration < k;
        Use& use = all[{declaration, path}];
        use.dynamic |= dynamic;
        use.cost += loop ? 8 * cost : cost;
    }
    return all;
}

void Indices::local_arrays()
{
    int renamed = 0;
    for (const auto& [at, use] : uses()) {
        const auto& [declaration, path] = at;
        const int block = source_[declaration].parent;
        int end = declaration;
        // No declaration may be jumped over in a switch, so nothing is inserted there.
        const bool jumps = source_.is(block - 1, ")") && source_.is(source_[block - 1].partner - 1, "switch");
        if (is_parameter(declaration) || !source_.is(block, "{") || jumps ||
            has(source_, declaration, "__shared__") || has(source_, declaration, "static") ||
            has(source_, declaration, "extern") || has(source_, declaration, "constexpr"))
            continue;
        while (source_.is(++end, "[")) end = source_[end].partner;
        const bool stored = source_.is_any(end, {"=", "{"});
        end = semicolon(source_, end);
        // clang does not watch a variable that it knows to be local, but it watches accesses through a reference.
        const std::string name(source_.spelling(declaration)), own = "sim_own_" + name;
        if (find_word(source_, declaration + 1, end, name)) continue;
        if (std::exchange(renamed, declaration) != declaration) {
            edits_.replace(declaration, declaration + 1, own);
            edits_.declare_after(end, " auto& " + name + " = " + own + ";");
        }
        edits_.first_after(end, filled(" ::sim::Local<::sim::indexed_in_memory<decltype($array), $dynamic, $cost>> "
                                       "sim_local_$number(&$array, sizeof $array, $stored);",
                                       {{"array", own + path},
                                        {"dynamic", std::to_string(use.dynamic)},
                                        {"cost", std::to_string(use.cost)},
                                        {"number", std::to_string(++locals_)},
                                        {"stored", stored ? "true" : "false"}}));
    }
}

// atomic = head "::"? operation "(" list ")"
// head   = ";" | "{" | "}" | ":" | "else" | "do" | ("if" | "for" | ...) parens | "(" "void" ")"
//          or anything else: then the result is used
void Indices::atomic(int i)
{
    const std::string_view operation = source_.spelling(i).substr(6, 3);
    const auto is = [&](auto... names) { return ((operation == names) || ...); };
    const bool adds = is("Add", "Sub");
    const int close = source_[i + 1].partner;
    const std::vector<Tokens> arguments = split(source_, i + 2, close);

    // True if the operation is a whole statement, or the rest of one behind `if (...)` or `(void)`.
    const int before = source_.is(i - 1, "::") ? i - 2 : i - 1;
    const int open = source_[before].partner;
    const bool behind = source_.is(before, ")") && (is_head(source_, open) || source_.is(open + 1, "void"));
    const bool begins = behind || source_.is_any(before, {";", "{", "}", ":", "else", "do"});
    const bool unused = begins && source_.is(close + 1, ";");

    const bool joins = adds || (unused && !is("Exc", "CAS", "Inc", "Dec"));
    const bool joined = joins && arguments.size() == 2 && !depends(arguments[0].first, arguments[0].second);
    if (arguments.empty() || (!unused && !joined)) return;

    const bool one_value = joined && !depends(arguments[1].first, arguments[1].second);
    const std::string bytes = !joined ? "0" : adds && one_value ? "8" : "4";
    edits_.before(arguments[0].first, "::sim::changed<" + bytes + (unused ? ", true>(" : ", false>("));
    edits_.after(arguments[0].second - 1, ")");
}

void Indices::function(std::string_view name, const Body& body)
{
    body_ = body;
    const int last = source_[body.open].partner;
    if (find_word(source_, body.open, last, "goto")) return;  // it may jump past a declaration
    question_ = at_compile_time;
    for (unsigned known : {0, 1}) {
        known_parameters_ = known;
        for (const auto& use : uses())
            if (is_parameter(use.first.first)) functions_[name] |= 1 + known;
    }
    known_parameters_ = false;
    local_arrays();
    question_ = among_lanes;
    for (int i = body.open; i < last; ++i)
        if (begins_with(source_.spelling(i), "atomic") && source_.is(i + 1, "(")) atomic(i);
}

}  // namespace rewrite
