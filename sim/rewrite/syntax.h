// The part of C++'s grammar that the rewriter needs: where declarations, statements, lambdas and template argument
// lists begin and end. Positions are numbers of tokens; 0 means none.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokens.h"

namespace rewrite {

using Tokens = std::pair<int, int>;  // tokens [first, second)

// The token behind the `>` that closes the `<` at `open`; 0 if that is no list of template arguments.
int angles_end(const Source& source, int open);

// Past token i, and past all that it opens.
inline int past(const Source& source, int i) { return (source.opens(i) ? source[i].partner : i) + 1; }

// The first `;` from token i on that is in no bracket opened behind it.
inline int semicolon(const Source& source, int i)
{
    while (i <= source.count() && !source.is(i, ";")) i = past(source, i);
    return i;
}

// A word that may name a variable, a function or a type, and not one that an expression follows, such as `return`.
bool is_operand(const Source& source, int i);

// The parts that commas separate in tokens [first, last). Commas of template arguments do not count. Empty: no part.
std::vector<Tokens> split(const Source& source, int first, int last);

// The token behind the statement that begins at `first`.
int statement_end(const Source& source, int first);

// The first of these words in [first, last).
int find_word(const Source& source, int first, int last, std::string_view word);

// True if control gets into tokens [first, last) without passing the first: by `case`, or by one of these gotos. A
// marker there would be jumped over.
bool entered_elsewhere(const Source& source, int first, int last, const std::vector<int>& gotos);

// The `{` of the lambda that begins with the `[` at `open`.
int lambda_body(const Source& source, int open);

// The lambda whose specifiers hold token i: its `[`.
int lambda_around(const Source& source, int i);

// True if the `[` at token i begins [[...]].
bool is_attribute(const Source& source, int i);

bool at_namespace_scope(const Source& source, int i);

bool in_unnamed_namespace(const Source& source, int i);

// The namespaces around token i: "a::b".
std::string scope_of(const Source& source, int i);

// The declaration with a specifier at token i, up to where a function and a variable differ.
struct Declaration {
    Declaration(const Source& source, int i);

    bool has(std::string_view word) const;
    bool has_inline() const;
    bool constant() const;   // at the top level: not a pointer to something constant
    int specifiers() const;  // behind what must come first: alignas, [[...]], and words that the rewriter removes

    const Source& source;
    int first;               // behind `template <...>`, what that requires, and `extern "C"`
    int header = 0;          // the `<` of the last `template <...>`
    int header_end = 0;      // behind its `>`
    bool templated = false;  // also where `template` has no header: an explicit instantiation
    bool function = false;
    int name = 0;
    int stop = 0;            // the `(` of the parameters; of a variable: what follows its name
    int body = 0;            // of a function that is defined here: its `{`
    std::vector<int> words;  // the words and symbols before `stop`, outside of brackets and angles
};

// Words of CUDA that say where a variable or a function lives.
bool is_space_word(const Source& source, int i);

// A launch, KERNEL<<<CONFIG>>>(ARGS): its parts.
struct LaunchText {
    LaunchText(const Source& source, int open);  // the first `<` of the three; throws Refusal

    Tokens kernel, configuration, name;  // name: the template arguments and parentheses stripped
    int close;                          // the first `>` of the three
    Tokens arguments{};                  // between the `<` and `>` of the kernel's name, if it has them
};
bool is_launch(const Source& source, int i);

}  // namespace rewrite
