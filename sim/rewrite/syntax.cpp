// Each function walks over tokens from one place, forwards or backwards, and passes brackets by their partners. Types
// are not known, so the form of the tokens decides, for example whether a `<` opens template arguments. The cost is
// linear in the tokens that are passed.
//
// The rules above the functions say what is accepted, which is more than C++ allows: the compiler refuses the rest.
// In them x? is x or nothing, x* any number of x, x+ at least one, and ( | ) a choice. `token` is a token that no other
// alternative takes, and
//
//     parens = "(" ... ")"    brackets = "[" ... "]"    braces = "{" ... "}"    group = parens | brackets | braces

#include "syntax.h"

#include <algorithm>
#include <initializer_list>

namespace rewrite {
namespace {

// Searches backwards for the `<` that belongs to the `>` at `close`. Every `<` counts, whatever stands in front of it.
//
// angles = "<" (angles | parens | brackets | braces | token)* ">"     token: no ";"
int angles_begin(const Source& s, int close)
{
    int depth = 0;
    for (int i = close; i > 0; --i) {
        if (s.is(i, ">")) ++depth;
        else if (s.is(i, "<") && --depth == 0) return i;
        else if (s.opens(i) || s.is(i, ";")) return 0;
        else if (s[i].partner) i = s[i].partner;
    }
    return 0;
}

// Specifiers with something in parentheses that is no parameter list.
//
// bracketed = ("alignas" | "decltype" | "explicit" | "__launch_bounds__" | ...) parens
bool takes_parentheses(const Source& s, int i)
{
    return s.is_any(i, {"alignas", "_Alignas", "__align__",
                        "__attribute__", "__attribute", "__declspec",
                        "decltype", "typeof", "__typeof__", "__typeof",
                        "explicit", "noexcept",
                        "__launch_bounds__", "__maxnreg__", "__cluster_dims__"});
}

// The token behind `namespace`, which is the name or the `{` itself, or the literal of `extern "C"`; 0 if the `{` at
// `open` begins something else. Read backwards from there.
//
// namespace = "namespace" (word | "::")* "{" | "extern" text "{"
int namespace_name(const Source& s, int open)
{
    int i = open - 1;
    if (s[i].kind == Token::text) return s.is(i - 1, "extern") ? i : 0;
    while (s.is(i, "::") || (s.is_word(i) && !s.is(i, "namespace"))) --i;
    return s.is(i, "namespace") ? i + 1 : 0;
}

bool joins_terms(const Source& s, int i) { return s.is_any(i, {"&&", "||", "and", "or"}); }

// The word `requires` of the requires-expression whose body ends with the `}` at `close`; 0 if that ends something
// else. Read backwards.
//
// requires-expression = "requires" parens? braces     behind "requires" or a word that joins terms
int requires_begin(const Source& s, int close)
{
    int i = s[close].partner - 1;
    if (s.is(i, ")")) i = s[i].partner - 1;
    if (!s.is(i, "requires")) return 0;

    // Behind the parentheses of a requires-clause, the body of a function begins.
    const bool expression = s.is(i - 1, "requires") || joins_terms(s, i - 1);
    return expression ? i : 0;
}

// The token behind the requires-clause at `i`.
//
// requires-clause = "requires" term (("&&" | "||" | "and" | "or") term)*
// term            = "requires" parens? braces? | parens | name
// name            = "::"? word angles? ("::" word angles?)*
int requires_end(const Source& s, int i)
{
    do {
        ++i;
        if (s.is(i, "requires")) {
            if (s.is(++i, "(")) i = past(s, i);
            if (s.is(i, "{")) i = past(s, i);
        } else if (s.is(i, "(")) {
            i = past(s, i);
        } else {
            do {
                i += s.is(i, "::") ? 2 : 1;
                if (const int end = s.is(i, "<") ? angles_end(s, i) : 0) i = end;
            } while (s.is(i, "::"));
        }
    } while (joins_terms(s, i));
    return i;
}

// Where the declaration around token i begins: behind the last `;`, `:`, `}` or open bracket. Groups that are closed
// belong to it, and so do requires-expressions.
int declaration_begin(const Source& s, int i)
{
    for (; i > 1; --i) {
        const int before = i - 1;
        const int required = s.is(before, "}") ? requires_begin(s, before) : 0;
        if (required) i = required + 1;
        else if (s.is_any(before, {";", ":", "}"}) || s.opens(before)) break;
        else if (s[before].partner) i = s[before].partner + 1;
    }
    return i;
}

// The `{` of the function whose parameters begin at `open`: behind its qualifiers, its return
// type, and a constructor's initializers. 0 if the function is not defined here.
//
// function     = parens qualifier* (":" initializers)? "{"
// qualifier    = angles | requires-clause | parens | brackets | token     token: no ";" "=" "," and no closing bracket
// initializers = initializer ("," initializer)*
// initializer  = (word | "::" | angles)* (parens | braces) "..."?
int function_body(const Source& s, int open)
{
    int i = s[open].partner + 1;
    while (!s.is_any(i, {"{", ":"})) {
        const bool closes = s[i].partner && !s.opens(i);
        if (i > s.count() || closes || s.is_any(i, {";", "=", ","})) return 0;

        int end = 0;
        if (s.is(i, "<")) end = angles_end(s, i);
        else if (s.is(i, "requires")) end = requires_end(s, i);
        i = end ? end : past(s, i);
    }
    if (s.is(i, "{")) return i;

    for (++i; i <= s.count();) {
        while (s.is_word(i) || s.is_any(i, {"::", "<"})) {
            i = s.is(i, "<") ? angles_end(s, i) : i + 1;
            if (!i) return 0;
        }
        if (!s.is_any(i, {"(", "{"})) return 0;
        i = past(s, i);
        if (s.is(i, "...")) ++i;
        if (s.is(i, "{")) return i;
        if (!s.is(i, ",")) return 0;
        ++i;
    }
    return 0;
}

// The `(` of the parameters of the operator at i. Those of `operator()` follow its own parentheses.
int operator_parameters(const Source& s, int i)
{
    const auto is_own = [&](int j) { return s.is(j - 1, "operator") && s.is(j + 1, ")"); };
    int j = i + 1;
    while (j <= s.count() && (!s.is(j, "(") || is_own(j))) j = past(s, j);
    return j;
}

// False for a pointer to a function, `(*name)(`, and for a value, `name(3)`.
bool begins_parameters(const Source& s, int open)
{
    const Token::Kind inside = s[open + 1].kind;
    return !s.is_any(open + 1, {"*", "&"}) && inside != Token::number && inside != Token::text;
}

}  // namespace

bool is_operand(const Source& s, int i)
{
    return s.is_word(i) &&
           !s.is_any(i, {"return", "throw", "co_return", "co_yield", "co_await",
                         "if", "else", "while", "do", "for", "switch", "case", "catch", "goto",
                         "new", "delete", "sizeof",
                         "and", "or", "not"});
}

bool is_space_word(const Source& s, int i)
{
    return s.is_any(i, {"__global__", "__device__", "__shared__", "__constant__", "__managed__"});
}

// angles = "<" (word angles | parens | brackets | braces | token)* ">"     token: no ";" and no closing bracket
int angles_end(const Source& s, int open)
{
    int depth = 0;
    for (int i = open; i <= s.count(); i = past(s, i)) {
        if (s.is(i, "<") && (s.is_word(i - 1) || i == open)) ++depth;
        else if (s.is(i, ">") && --depth == 0) return i + 1;
        else if (s.is(i, ";") || (s[i].partner && !s.opens(i))) return 0;
    }
    return 0;
}

// list = part ("," part)*
// part = (word angles | parens | brackets | braces | token)*
std::vector<Tokens> split(const Source& s, int first, int last)
{
    std::vector<Tokens> parts;
    if (first >= last) return parts;
    int begin = first;
    for (int i = first; i < last;) {
        if (s.is(i, ",")) {
            parts.push_back({begin, i});
            begin = i + 1;
        }
        const int end = s.is(i, "<") && s.is_word(i - 1) ? angles_end(s, i) : 0;
        i = end && end <= last ? end : past(s, i);
    }
    parts.push_back({begin, last});
    return parts;
}

// attribute = "[" "[" ... "]" "]"
bool is_attribute(const Source& s, int open) { return s.is(open, "[") && s.is(open + 1, "["); }

// statement = attribute* (block | choice | loop | do | try | label | simple)
// block     = braces
// choice    = "if" ("constexpr" | "!" | "consteval")* parens? statement ("else" statement)?
// loop      = ("for" | "while" | "switch") parens? statement
// do        = "do" statement ("while" parens)? ";"?
// try       = "try" statement ("catch" parens braces)*
// label     = "case" token* ":" statement | word ":" statement
// simple    = (parens | brackets | braces | token)* ";"     or up to a closing bracket: the last one of a block
int statement_end(const Source& s, int i)
{
    while (is_attribute(s, i)) i = past(s, i);
    if (s.is(i, "{")) return past(s, i);

    if (s.is_any(i, {"if", "for", "while", "switch"})) {
        const bool choice = s.is(i, "if");
        ++i;
        while (s.is_any(i, {"constexpr", "!", "consteval"})) ++i;
        if (s.is(i, "(")) i = past(s, i);
        i = statement_end(s, i);
        return choice && s.is(i, "else") ? statement_end(s, i + 1) : i;
    }

    if (s.is(i, "do")) {
        i = statement_end(s, i + 1);
        if (s.is(i, "while") && s.is(i + 1, "(")) i = past(s, i + 1);
        return s.is(i, ";") ? i + 1 : i;
    }

    if (s.is(i, "try")) {
        i = statement_end(s, i + 1);
        while (s.is(i, "catch")) i = past(s, past(s, i + 1));
        return i;
    }

    if (s.is(i, "case")) {
        while (i <= s.count() && !s.is(i, ":")) i = past(s, i);
        return statement_end(s, i + 1);
    }
    if (s.is_word(i) && s.is(i + 1, ":")) return statement_end(s, i + 2);

    for (; i <= s.count(); i = past(s, i)) {
        if (s.is(i, ";")) return i + 1;
        if (s[i].partner && !s.opens(i)) return i;
    }
    return i;
}

bool entered_elsewhere(const Source& source, int first, int last, const std::vector<int>& gotos)
{
    for (int i = first + 1; i < last; ++i) {
        if (source.is(i, "switch")) i = statement_end(source, i) - 1;
        else if (source.is(i, "case") || (source.is(i, "default") && source.is(i + 1, ":"))) return true;
    }
    for (int from : gotos) {
        if (from >= first && from < last) continue;
        for (int i = first; i < last; ++i)
            if (source.is(i, source.spelling(from + 1)) && source.is(i + 1, ":") && !source.is(i - 1, "?"))
                return true;
    }
    return false;
}

int find_word(const Source& s, int first, int last, std::string_view word)
{
    for (int i = first; i < last; ++i)
        if (s.is(i, word)) return i;
    return 0;
}

// lambda = brackets (parens | angles | requires-clause | word | "->" | "::" | "*" | "&" | "&&")* "{"
//          behind no operand, since that makes the brackets a subscript
int lambda_body(const Source& s, int open)
{
    const int before = open - 1;
    const Token::Kind kind = s[before].kind;
    if (is_operand(s, before) || kind == Token::number || kind == Token::text) return 0;
    if (s.is_any(before, {")", "]", ">"})) return 0;
    if (is_attribute(s, open) || s.is(before, "[")) return 0;

    for (int i = past(s, open); i <= s.count();) {
        if (s.is(i, "{")) return i;
        if (s.is(i, "(")) {
            i = past(s, i);
        } else if (s.is(i, "requires")) {
            i = requires_end(s, i);
        } else if (s.is(i, "<")) {
            i = angles_end(s, i);
            if (!i) return 0;
        } else if (s.is_word(i) || s.is_any(i, {"->", "::", "*", "&", "&&"})) {
            ++i;
        } else {
            return 0;
        }
    }
    return 0;
}

// specified = brackets operand*     read backwards from the last operand
int lambda_around(const Source& s, int i)
{
    while (is_operand(s, i)) --i;
    const int open = s.is(i, "]") ? s[i].partner : 0;
    if (!open || is_attribute(s, open)) return 0;
    return lambda_body(s, open) ? open : 0;
}

bool at_namespace_scope(const Source& s, int i)
{
    for (int open = s[i].parent; open; open = s[open].parent)
        if (!s.is(open, "{") || !namespace_name(s, open)) return false;
    return true;
}

bool in_unnamed_namespace(const Source& s, int i)
{
    for (int open = s[i].parent; open; open = s[open].parent)
        if (s.is(open, "{") && namespace_name(s, open) == open) return true;
    return false;
}

// scope = (namespace | group)*     the brackets that are open at token i, from the outermost one to the innermost.
//                                  `namespace a::b {` gives "a::b", and one without a name gives nothing.
std::string scope_of(const Source& s, int i)
{
    std::string scope;
    for (int open = s[i].parent; open; open = s[open].parent) {
        const int name = s.is(open, "{") ? namespace_name(s, open) : 0;
        if (!name || !s.is_word(name)) continue;
        if (!scope.empty()) scope.insert(0, "::");
        scope.insert(0, s.join(name, open));
    }
    return scope;
}

// declaration = prefix* (specifier | operator)* stop
// prefix      = "extern" text | "template" (angles requires-clause?)?
// specifier   = bracketed | word angles? | attribute | "*" | "&" | "&&" | "::" | "~"
//             | braces | ":"                    of a class, behind "struct" | "class" | "union" | "enum"
// operator    = "operator" (parens | token)*    up to the parameters: operator()(...), operator+(...)
// stop        = "(" of parameters or of a value | any other token: ";" | "=" | "," | "[" | "{" | ...
//
// The last word that takes no parentheses is the name.
Declaration::Declaration(const Source& s, int i) : source(s), first(declaration_begin(s, i))
{
    for (; s.is(first, "template") || (s.is(first, "extern") && s[first + 1].kind == Token::text); ++first) {
        if (s.is(first, "extern")) {
            ++first;
            continue;
        }
        templated = true;
        const int end = s.is(first + 1, "<") ? angles_end(s, first + 1) : 0;
        if (end) {
            header = first + 1;
            header_end = end;
            first = (s.is(end, "requires") ? requires_end(s, end) : end) - 1;
        }
    }

    bool class_head = false;
    for (int j = first; j <= s.count();) {
        if (s.is(j, "operator")) {
            words.push_back(j);
            function = true;
            name = j;
            stop = operator_parameters(s, j);
            break;
        }
        if (s.is_word(j)) {
            words.push_back(j);
            class_head |= s.is_any(j, {"struct", "class", "union", "enum"});
            if (s.is(j + 1, "(") && takes_parentheses(s, j)) {
                j = past(s, j + 1);
                continue;
            }
            name = j++;
            if (const int end = s.is(j, "<") ? angles_end(s, j) : 0) j = end;
        } else if (s.is(j, "{") && class_head) {
            class_head = false;
            j = past(s, j);
        } else if (is_attribute(s, j)) {
            j = past(s, j);
        } else if (s.is_any(j, {"*", "&", "&&", "::", "~"}) || (class_head && s.is(j, ":"))) {
            words.push_back(j++);
        } else {
            stop = j;
            function = s.is(j, "(") && begins_parameters(s, j);
            break;
        }
    }
    if (function && stop) body = function_body(s, stop);
}

bool Declaration::has(std::string_view word) const
{
    return std::any_of(words.begin(), words.end(), [&](int w) { return source.is(w, word); });
}

bool Declaration::has_inline() const { return has("inline") || has("__inline__") || has("__inline"); }

bool Declaration::constant() const
{
    if (has("constexpr")) return true;
    if (source.is(stop, "(")) return find_word(source, stop, source[stop].partner, "const") != 0;

    bool constant = false;
    for (int w : words) {
        if (source.is(w, "*")) constant = false;
        constant |= source.is(w, "const");
    }
    return constant;
}

// first = (attribute | "alignas" parens | "static" | "__device__" | "__shared__" | ...)*
int Declaration::specifiers() const
{
    int i = first;
    for (;;) {
        if (is_attribute(source, i)) i = past(source, i);
        else if (source.is(i, "alignas")) i = past(source, i + 1);
        else if (is_space_word(source, i) || source.is(i, "static")) ++i;
        else return i;
    }
}

// "<<<" = "<" "<" "<"     the first two side by side, behind neither `operator` nor one more "<"
bool is_launch(const Source& s, int i)
{
    const bool three = s.is(i, "<") && s.is(i + 1, "<") && s.is(i + 2, "<");
    return three && s.end_of(i) == s.begin_of(i + 1) && !s.is_any(i - 1, {"operator", "<"});
}

// launch        = kernel "<<<" configuration ">>>" parens
// kernel        = "::"? part (("::" | "." | "->") part)*     read backwards from the `<<<`
// part          = ("template"? operand | group) (angles? group)* angles?
// configuration = list     of one to four parts, none of them empty
LaunchText::LaunchText(const Source& s, int open)
{
    const auto refuse = [&](int i, const char* what) { throw Refusal{s.begin_of(i), what}; };
    const char* const no_kernel = "<<< follows no kernel; write kernel<<<grid, block>>>(arguments)";

    // The kernel, backwards: a name or a group in brackets, and what qualifies it.
    int begin = open;
    for (bool more = true; more;) {
        if (s.is(begin - 1, ">")) {
            const int angle = angles_begin(s, begin - 1);
            if (!angle) refuse(open, no_kernel);
            begin = angle;
        }
        const int last = begin - 1;
        if (is_operand(s, last)) {
            begin = last;
            if (s.is(begin - 1, "template")) --begin;
        } else if (s.is_any(last, {")", "]"})) {
            begin = s[last].partner;
            const int before = begin - 1;
            // A call or a subscript goes on; a group behind `if (...)` does not.
            const int control = s.is(before, ")") ? s[before].partner - 1 : 0;
            const bool call = is_operand(s, before) || (control && is_operand(s, control));
            if (call || s.is_any(before, {"]", ">"})) continue;
        } else {
            refuse(open, no_kernel);
        }
        more = s.is_any(begin - 1, {"::", ".", "->"});
        if (more) --begin;
        const bool qualified = is_operand(s, begin - 1) || s.is(begin - 1, ">");
        if (more && s.is(begin, "::") && !qualified) break;  // ::name
    }
    kernel = {begin, open};

    name = kernel;
    while (s.is(name.first, "(") && s[name.first].partner == name.second - 1) {
        ++name.first;
        --name.second;
    }
    if (s.is(name.second - 1, ">")) {
        arguments = {angles_begin(s, name.second - 1) + 1, name.second - 1};
        name.second = arguments.first - 1;
    }

    // The configuration, forwards, up to the `>>>` that closes no template arguments. If it has a `<` that is a
    // comparison, this `>>>` is found too late. The first `>>>(` is then taken.
    const auto closes = [&](int i) { return s.is(i, ">") && s.is(i + 1, ">") && s.is(i + 2, ">"); };
    const auto ends = [&](int i) { return i > s.count() || s.is(i, ";") || (s[i].partner && !s.opens(i)); };
    close = 0;
    int depth = 0;
    for (int i = open + 3; !close && !ends(i); i = past(s, i)) {
        if (s.is(i, "<") && s.is_word(i - 1)) ++depth;
        else if (s.is(i, ">") && depth) --depth;
        else if (closes(i)) close = i;
    }
    for (int i = open + 3; !close && !ends(i); i = past(s, i))
        if (closes(i) && s.is(i + 3, "(")) close = i;
    if (!close) refuse(open, "this launch has no >>>; write kernel<<<grid, block>>>(arguments)");
    if (!s.is(close + 3, "("))
        refuse(open, "a launch needs its arguments in parentheses; write kernel<<<grid, block>>>(arguments)");

    configuration = {open + 3, close};
    const std::vector<Tokens> parts = split(s, configuration.first, configuration.second);
    const bool blank = std::any_of(parts.begin(), parts.end(), [](Tokens part) { return part.first == part.second; });
    if (parts.empty() || parts.size() > 4 || blank)
        refuse(open, "a launch is configured by a grid, a block, bytes of shared memory and a stream; write "
                     "kernel<<<grid, block>>>(arguments)");
}

}  // namespace rewrite
