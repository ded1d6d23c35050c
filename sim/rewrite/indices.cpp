// Which objects of a thread may be indexed, which indices nvcc does not know, and which addresses lanes share.
//
// nvcc keeps an array in registers if it knows all indices of it, once loops are unrolled. Addresses show an index that
// differs between threads (core/sinks/counter.cpp), whatever the text looks like, if the compiler watches the array. So
// each object that may be indexed is announced, and then its address is known elsewhere, as compilers ask.
//
// Addresses do not show that nvcc cannot know an index that all threads share: a[n], where n is a parameter of the
// kernel. The text shows it. Nor do they show that all lanes share an address whatever the grid: nvcc then joins their
// atomic operations. Both are one question: on what does an expression depend? An index may depend on constants, an
// address on all but threadIdx. A variable depends on what is stored to it, and on the conditions under which that
// happens.
//
// In: the body of a device function. Out: a marker (launch.h) behind each object that may be indexed, and around
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

// True if members stand behind the `{` at `open`, and no statements.
bool has_members(const Source& s, int open)
{
    for (int i = open - 1; i > 0 && !s.is_any(i, {";", "{", "}", "="}); --i) {
        if (s.is_any(i, {"struct", "class", "union", "enum"})) return true;
        if (s.is(i, ")")) i = s[i].partner;
    }
    return false;
}

// The first token of the declaration around token i.
int first_of(const Source& s, int i)
{
    while (i > 1 && !s.is_any(i - 1, {";", "{", "(", "[", ":"})) {
        if (s.is(i - 1, "}") && !s.is_any(i, {",", "="}) && !has_members(s, s[i - 1].partner)) break;
        const bool closes = s[i - 1].partner && !s.opens(i - 1);
        i = closes ? s[i - 1].partner : i - 1;
    }
    return i;
}

// True if the declaration around token i has the word in front of the token.
bool has(const Source& s, int i, std::string_view word) { return find_word(s, first_of(s, i), i, word) != 0; }

// True if the type of the declaration in tokens [first, name) may be that of an object with members.
bool may_have_members(const Source& s, int first, int name)
{
    constexpr std::string_view others =
        " const volatile unsigned signed int char short long float double bool size_t half int8_t uint8_t int16_t "
        "uint16_t int32_t uint32_t int64_t uint64_t ";
    if (s.is_any(name - 1, {"*", "&"})) return false;
    for (int i = first; i < name; ++i)
        if (s.is_word(i) && !has_word(others, s.spelling(i))) return true;
    return s.is(name - 1, "}");
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

std::string if_indexable(const std::string& object)
{
    return " if constexpr (::sim::indexable<decltype(" + object + ")>) ";
}

std::string announcement(const std::string& object, unsigned cost, const std::string& stored)
{
    return filled("::sim::local_begins(__builtin_addressof($object), sizeof $object, "
                  "$cost, $stored)",
                  {{"object", object}, {"cost", std::to_string(cost)}, {"stored", stored}});
}

}  // namespace

// declaration = begin type (declarator ",")* name end     read backwards from the name at token i
// begin       = ";" | "{" | "}" | ":" | "for" "("
// type        = (word | "::" | "*" | "&" | "<" | ">" | argument)+     the first one an operand, and not `using`
//             | "struct" "{" ... "}"
// end         = "=" | ";" | "," | "[" | "{" | "(" | ":"
bool declares(const Source& s, int i)
{
    if (!s.is_any(i + 1, {"=", ";", ",", "[", "{", "(", ":"})) return false;
    if (s.is_any(i - 1, {"::", "struct", "class", "union", "enum"}) || s.is(i, "final")) return false;

    int first = i, angles = 0;
    const auto argument = [&](int k) { return angles && (s[k].kind == Token::number || s.is(k, ",")); };
    for (; s.is_word(first - 1) || s.is_any(first - 1, {"::", "*", "&", "<", ">"}) || argument(first - 1); --first) {
        angles += s.is(first - 1, ">") - s.is(first - 1, "<");
        if (angles < 0) return false;  // a comparison
    }

    if (first == i && s.is(i - 1, "}")) return has_members(s, s[i - 1].partner);
    const bool more = s.is(first - 1, ",");  // one of several declarators
    if (more) first = first_of(s, first - 1);

    const bool begins = s.is_any(first - 1, {";", "{", "}", ":"}) || (s.is(first - 1, "(") && s.is(first - 2, "for"));
    const bool typed = !more || s.is_word(first + 1) || s.is_any(first + 1, {"<", "::", "{"});
    if (!begins || first >= i || !typed) return false;
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
        const bool counted = source_.is_any(i - 1, {"++", "--"}) || source_.is_any(i + 1, {"++", "--"});
        // f(&i), which may store
        const bool passed =
            source_.is(i - 1, "&") && source_.is_any(i - 2, {"(", ","}) && source_.is_any(i + 1, {")", ","});
        if ((!counted && !passed && !changes(source_, i + 1)) || declared(i) != declaration) continue;
        if (passed || happens_if(i, declaration) || (!counted && depends(i + 2, end_of(source_, i + 2)))) return true;
    }
    if (loop) return loop_depends(head);
    return !source_.is_any(declaration + 1, {";", ","}) && depends(declaration + 2, end_of(source_, declaration + 2));
}

// True if the turns of the loop with the head at this `(` depend on it.
bool Indices::loop_depends(int head)
{
    if (question_ == at_compile_time) {
        // A #pragma may have the loop unrolled in part, or not at all.
        const std::string_view number = unroll_number(source_, head);
        if (!number.empty() && !find_word(source_, head, source_[head].partner, number)) return true;
    }
    const int condition = find_word(source_, head, source_[head].partner, ";") + 1;
    return (condition > 1 && source_.is(condition, ";")) || depends(head + 1, source_[head].partner);
}

// True if it depends on a condition whether token i is reached, or how often, once the declaration was.
bool Indices::happens_if(int i, int declaration)
{
    for (int k = i; k > declaration; --k)
        if (is_head(source_, k) && statement_end(source_, k - 1) > i && loop_depends(k)) return true;
    return false;
}

// The declaration of the array that the name at token i is, or points into.
//
// pointer = ("*" | "&") name "=" token* array     the first name behind `=` that is declared
int Indices::root(int i, bool& not_known)
{
    int declaration = declared(i);
    while (declaration && source_.is_any(declaration - 1, {"*", "&"}) && !is_parameter(declaration)) {
        not_known |= depends(declaration, declaration + 1);
        int at = source_.is(declaration + 1, "=") ? declaration + 2 : 0;
        const int end = at ? end_of(source_, at) : 0;
        for (declaration = 0; at < end && !declaration; ++at)
            if (source_.is_word(at) && !is_member(source_, at)) declaration = declared(at);
    }
    return declaration;
}

// The costs of indices that are not known (counter.h), by the declaration of the array.
//
// use      = element | argument
// element  = array ("." member)* ("[" index "]")+
// argument = function "(" ... array ("," | ")")     whose parameter the function indexes so
std::map<int, unsigned> Indices::unknown()
{
    std::map<int, unsigned> costs;
    for (int i = body_.open; i < source_[body_.open].partner; ++i) {
        if (!source_.is_word(i) || is_member(source_, i)) continue;
        const int group = source_[i].parent;
        const bool argument = source_.is(group, "(") && source_.is_any(i + 1, {")", ","});
        int behind = i + 1;
        while (source_.is(behind, ".")) behind += 2;
        if ((!argument && !source_.is(behind, "[")) || declares(source_, i)) continue;

        bool not_known = false;
        const int declaration = root(i, not_known);
        if (!declaration) continue;
        for (; source_.is(behind, "["); behind = past(source_, behind))
            not_known |= depends(behind + 1, source_[behind].partner);
        if (argument) {
            const auto function = functions_.find(source_.spelling(group - 1));
            const unsigned does = function == functions_.end() ? 0 : function->second;
            not_known = does & 2 || (does & 1 && depends(group + 1, source_[group].partner));
        }
        if (!not_known) continue;

        const unsigned cost = source_.is(behind, "=") ? 1 : changes(source_, behind) ? 3 : 2;
        bool loop = false;
        for (int k = i; k > declaration && !loop; --k)
            loop = source_.is_any(k, {"for", "while", "do"}) && statement_end(source_, k) > i;
        costs[declaration] += loop ? 8 * cost : cost;
    }
    return costs;
}

// Announces an array, or another object that has members, behind its declaration. `cost`: of its unknown indices.
void Indices::announce(int declaration, unsigned cost)
{
    const int block = source_[declaration].parent, first = first_of(source_, declaration);
    const bool array = source_.is(declaration + 1, "["), in_head = source_.is(block, "(");
    for (std::string_view word : {"__shared__", "static", "extern", "constexpr", "typedef", "using"})
        if (find_word(source_, first, declaration, word)) return;
    if (!array && (in_head || !may_have_members(source_, first, declaration))) return;
    int end = semicolon(source_, declaration);
    const bool member = !in_head && has_members(source_, block);
    if (member) {
        // A member of `union { ... };` is a variable of the function.
        end = source_[block].partner + 1;
        if (!array || !source_.is(block - 1, "union") || !source_.is(end, ";")) return;
    } else if (!in_head && !source_.is(block, "{")) {
        return;
    }

    // clang does not watch a variable that it knows to be local, but it watches accesses through a reference. The
    // variables that get one are no constants, which a constant expression might need.
    bool refers = array || source_.is(declaration - 1, "}");
    for (int i = first; i < declaration; ++i) refers |= is_class(source_.spelling(i));
    if (!in_head) refers &= !member && !entered_elsewhere(source_, declaration, source_[block].partner, gotos_);
    const std::string name(source_.spelling(declaration)), own = refers ? "sim_own_" + name : name;
    int behind = declaration + 1;
    while (source_.is(behind, "[")) behind = past(source_, behind);
    const std::string stored = array && source_.is_any(behind, {"=", "{"}) ? "true" : "false";
    const std::string marker = announcement(own, cost, stored);
    if (refers) edits_.replace(declaration, declaration + 1, own);
    // Compilers do not watch loads of constants. A pointer may be one, and lead to others.
    const int constant = find_word(source_, first, declaration, "const");
    const bool own_constant = refers && array && constant && !find_word(source_, first, declaration, "*");
    if (own_constant && no_constants_.insert(constant).second) edits_.remove(constant);
    if (in_head) {
        // for (T own[4], (&a)[4] = own; marker, condition; ...)
        edits_.before(end_of(source_, behind),
                      filled(", (&$name)$length = $own",
                             {{"name", name}, {"length", source_.join(declaration + 1, behind)}, {"own", own}}));
        edits_.after(end, " " + marker + (source_.is(end + 1, ";") ? ", true" : ","));
        return;
    }
    if (refers) {
        for (int i = declaration + 1; i < end; ++i)
            if (source_.is(i, name) && !is_member(source_, i)) edits_.replace(i, i + 1, own);
        edits_.declare_after(end, " [[maybe_unused]] " + std::string(own_constant ? "const " : "") + "auto& " + name +
                                      " = " + own + ";");
    }
    edits_.first_after(end, (array ? " " : if_indexable(own)) + marker + ";");
}

// parameter = ... type name ("=" ...)?     by value
void Indices::announce_parameters()
{
    for (const auto& [first, end] : split(source_, body_.parameters + 1, source_[body_.parameters].partner)) {
        int stop = first;
        while (stop < end && !source_.is(stop, "=")) stop = past(source_, stop);
        const int name = stop - 1;
        const bool named = is_operand(source_, name) && (source_.is(name - 1, ">") || is_operand(source_, name - 1)) &&
                           !source_.is_any(name - 1, {"const", "volatile", "typename", "struct"});
        if (name <= first || !named || !may_have_members(source_, first, name)) continue;
        const std::string own(source_.spelling(name));
        edits_.first_after(body_.open, if_indexable(own) + announcement(own, 0, "false") + "; ");
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
    gotos_.clear();
    for (int i = body.open; i < last; ++i)
        if (source_.is(i, "goto")) gotos_.push_back(i);
    question_ = at_compile_time;
    for (unsigned known : {0, 1}) {
        known_parameters_ = known;
        for (const auto& [declaration, cost] : unknown())
            if (is_parameter(declaration)) functions_[name] |= 1 + known;
    }
    known_parameters_ = false;
    std::map<int, unsigned> costs = unknown();
    if (!body.of_kernel) announce_parameters();
    for (int i = body.open; i < last; ++i)
        if (source_.is_word(i) && declares(source_, i)) announce(i, costs[i]);
    question_ = among_lanes;
    for (int i = body.open; i < last; ++i)
        if (begins_with(source_.spelling(i), "atomic") && source_.is(i + 1, "(")) atomic(i);
}

}  // namespace rewrite
