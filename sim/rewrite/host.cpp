// Finds the functions and lambdas of a CUDA program that only the host calls.
//
// In:   the tokens of a preprocessed program.
// Out:  where each such function begins, and where an attribute of each such lambda goes.
//
// A function belongs to the host if it is neither __global__ nor __device__, nor constexpr, which nvcc can let kernels
// call. nvcc refuses a kernel that calls another function of the host. The simulator has always run it, so its accesses
// must still be seen. Therefore a function stays watched if device code names it, or if such a function names it in
// turn. Names decide, without regard to scopes and types. A name that is also that of a device function is taken for
// the device function.
//
// Invariant: a function of the host is left out only if no token of device code can be a call of it, as far as names
// tell. Cost: one pass over the declarations, and one more over the host's functions for each step of a chain of calls
// from device code.

#include "host.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "sides.h"
#include "syntax.h"

namespace rewrite {
namespace {

using Words = std::set<std::string_view>;

bool begins_class(const Source& s, int i) { return s.is_any(i, {"struct", "class", "union"}); }

bool is_for_device(const Source& s, int first, int last)
{
    for (const char* word : {"__device__", "__global__", "constexpr", "consteval"})
        if (find_word(s, first, last, word)) return true;
    return false;
}

// True if the code is for the device alone: neither for both sides, nor constexpr.
bool is_strict(const Source& s, int first, int last)
{
    for (const char* word : {"__host__", "constexpr", "consteval"})
        if (find_word(s, first, last, word)) return false;
    return is_for_device(s, first, last);
}

class Finder {
public:
    explicit Finder(const Source& source) : s_(source) {}
    HostFunctions run(bool check);

private:
    struct Function {
        int at;      // the attribute goes in front of this token
        Tokens text;  // from the specifiers to the end of the body
        std::string_view name;
        std::vector<int> types;  // of an operator, a constructor or a destructor: words of the types that it belongs to
        bool watched = false;
    };

    void declarations(int first, int last, std::string_view of_class);
    int function(const Declaration& d, std::string_view of_class);
    void note_sides(const Declaration& d, bool member);
    int class_body(int keyword) const;
    int class_keyword(int first, int body) const;
    std::string_view class_name(int keyword, int body) const;
    void local_classes(int first, int last);
    void lambdas();
    void note_owners();
    void note_returned(const Declaration& d);
    bool is_owner(int i) const { return s_.is_word(i) && owners_.count(s_.spelling(i)); }
    void launch(int open);
    void note_device(int first, int last);
    void note_type_of(int variable);
    bool in_device(int i) const;
    bool is_called(const Function& f) const;

    const Source& s_;
    std::vector<Function> functions_;
    std::vector<Tokens> device_;    // code of the device
    std::vector<int> lambdas_;     // of the host: each one's `[`
    std::vector<Tokens> launched_;  // arguments of launches
    Words owners_;                 // classes that have a destructor, and no copy or move constructor of their own
    std::vector<Returned> returned_;
    Words declared_;               // names of device functions, where they are only declared
    Words device_functions_;       // their names
    Words named_, called_;         // by device code
    Words passed_;                 // to kernels, by their names
    std::vector<Tokens> strict_;    // code of the device alone, which may call nothing of the host
    Sides sides_;
    bool sure_ = true;
    std::vector<FunctionBody> bodies_;
};

HostFunctions Finder::run(bool check)
{
    note_owners();
    declarations(1, s_.count() + 1, "");
    lambdas();
    for (int i = 1; i <= s_.count(); ++i)
        if (s_.is_word(i) && !s_[i].system && passed_.count(s_.spelling(i))) note_type_of(i);
    for (const Tokens& range : device_) note_device(range.first, range.second);
    for (bool more = true; more;) {
        more = false;
        for (Function& f : functions_) {
            if (f.watched || !is_called(f)) continue;
            f.watched = more = true;
            note_device(f.text.first, f.text.second);
        }
    }
    const auto watched = [&](int i) {
        return std::any_of(functions_.begin(), functions_.end(),
                           [&](const Function& f) { return f.watched && i >= f.text.first && i < f.text.second; });
    };
    std::vector<Tokens> host;
    for (const Function& f : functions_) host.push_back(f.text);
    if (check) sure_ &= check_sides(s_, sides_, strict_, host, device_);
    HostFunctions found;
    found.sure = sure_;
    found.bodies = bodies_;
    found.returned = returned_;
    for (const Function& f : functions_)
        if (!f.watched && !in_device(f.at)) found.functions.push_back(f.at);
    for (int open : lambdas_) {
        // True if the lambda is the value of a variable that is passed to a kernel, or the argument itself.
        const bool passed = (s_.is(open - 1, "=") && passed_.count(s_.spelling(open - 2))) ||
                            std::any_of(launched_.begin(), launched_.end(),
                                        [&](Tokens r) { return open >= r.first && open < r.second; });
        if (passed || in_device(open) || watched(open)) continue;
        int behind = s_[open].partner;
        if (const int end = s_.is(behind + 1, "<") ? angles_end(s_, behind + 1) : 0) behind = end - 1;
        const bool parameters = s_.is(behind + 1, "(");
        if (parameters) behind = s_[behind + 1].partner;
        // g++ has attributes behind `mutable` and `noexcept`, clang in front of them: such a lambda stays watched.
        if (s_.is_any(behind + 1, {"{", "->"})) found.lambdas.push_back({behind, !parameters});
    }
    return found;
}

// Tokens [first, last) of a namespace or a class.
//
// declarations = (label | function | scope | other)*
// label        = ("public" | "protected" | "private") ":"
// function     = declaration parens ... braces ("catch" parens braces)*
// scope        = "namespace" ... "{" declarations "}" | "extern" text "{" declarations "}" | class declarations "}"
// other        = declaration ... (";" | braces)
void Finder::declarations(int first, int last, std::string_view of_class)
{
    for (int i = first; i < last;) {
        const bool label = s_.is(i + 1, ":") && s_.is_any(i, {"public", "protected", "private"});
        if (label) ++i;
        if (label || s_[i].system || !(s_.is_word(i) || s_.is_any(i, {"~", "[", "::"}))) {
            i = past(s_, i);
            continue;
        }
        const Declaration d(s_, i);
        if (d.function && d.body && d.body < last) {
            i = function(d, of_class);
            continue;
        }
        if (d.function && !d.body) note_sides(d, !of_class.empty());
        // nvcc takes a function for one of the device if only its declaration says so.
        if (d.function && !d.body && is_for_device(s_, d.first, d.stop))
            declared_.insert(s_.is(d.name, "operator") ? of_class : s_.spelling(d.name));
        // A namespace or a class has declarations in its braces. All others hold a list or an initializer.
        int j = std::max(i, d.first);
        while (j < last && !s_.is_any(j, {";", "{"}) && !s_[j].system) j = past(s_, j);
        if (s_.is(j, "{") && j < last) {
            const bool space = j > 1 && (s_[j - 1].kind == Token::text || find_word(s_, d.first, j, "namespace"));
            if (space) declarations(j + 1, s_[j].partner, "");
            else if (const int c = class_keyword(d.first, j)) declarations(j + 1, s_[j].partner, class_name(c, j));
            j = past(s_, j);
        }
        i = std::max(j, i + 1);
    }
}

// The `{` of the class whose definition begins with this keyword; 0 if none does.
//
// class = ("struct" | "class" | "union") ("alignas" parens | brackets | token)* "{"
//         behind neither "enum", "<" nor ","; token: no ";" "=" "(" ")"
int Finder::class_body(int keyword) const
{
    if (!begins_class(s_, keyword) || s_.is_any(keyword - 1, {"enum", "<", ","})) return 0;
    int i = keyword + 1;
    while (i < s_.count() && !s_.is_any(i, {";", "{", "=", ")"}) && (!s_.is(i, "(") || s_.is(i - 1, "alignas")))
        i = past(s_, i);
    return s_.is(i, "{") ? i : 0;
}

// The keyword of the class that has this body; 0 if it is none of a class.
int Finder::class_keyword(int first, int body) const
{
    for (int i = first; i < body; ++i)
        if (class_body(i) == body) return i;
    return 0;
}

// The last word of the name.
//
// name = (word parens? | brackets | "::")*     up to ":", "<" or the body
std::string_view Finder::class_name(int keyword, int body) const
{
    std::string_view name;
    for (int i = keyword + 1; i < body && !s_.is_any(i, {":", "<"}); i = past(s_, i))
        if (s_.is_word(i) && !s_.is(i, "final") && !s_.is(i + 1, "(")) name = s_.spelling(i);
    return name;
}

// Notes a function that is defined; returns what follows it.
//
// name = (outer "::")? ("~"? word | "operator" token*)     outer: its class, where it stands outside of it
int Finder::function(const Declaration& d, std::string_view of_class)
{
    int end = past(s_, d.body);
    while (s_.is(end, "catch") && s_.is(end + 1, "("))
        end = past(s_, past(s_, end + 1));  // a function that is one `try`
    const auto place = std::find(d.words.begin(), d.words.end(), d.name) - d.words.begin();
    note_sides(d, !of_class.empty() || (place > 0 && s_.is(d.name - 1, "::")));
    if (!is_strict(s_, d.first, d.body) && !find_word(s_, d.first, d.body, "constexpr"))
        bodies_.push_back({d.name, d.body, !is_for_device(s_, d.first, d.body)});
    if (is_for_device(s_, d.first, d.body)) {
        device_.push_back({d.first, end});
        if (is_strict(s_, d.first, d.body)) strict_.push_back(device_.back());
        device_functions_.insert(s_.spelling(d.name));
        return end;
    }
    Function f{d.words.front(), {d.first, end}, s_.spelling(d.name), {}};
    // Outside of its class: S::S(), S<T>::operator()().
    const auto name = std::find(d.words.begin(), d.words.end(), d.name);
    const auto here = name - d.words.begin();
    const bool destructor = here > 0 && s_.is(d.words[size_t(here) - 1], "~");
    const auto before = here - destructor;
    const bool qualified = before > 1 && s_.is(d.words[size_t(before) - 1], "::");
    const int outer = qualified ? d.words[size_t(before) - 2] : 0;
    if (qualified) of_class = s_.spelling(outer);
    const bool is_operator = f.name == "operator";
    if (is_operator || destructor || f.name == of_class) {
        // Any word of its parameters may be the type that device code has. Those of its class are its name.
        for (int i = d.stop + 1; is_operator && i < s_[d.stop].partner; ++i)
            if (s_.is_word(i)) f.types.push_back(i);
        f.name = of_class;
        if (f.types.empty()) f.types.push_back(0);
    }
    functions_.push_back(f);
    if (!owners_.empty() && !in_device(f.at)) note_returned(d);
    local_classes(d.body + 1, s_[d.body].partner);
    return end;
}

// Notes which side the functions of a name are for. A name without a word of CUDA may be a constructor or a variable,
// which is never called by its name alone. Names that begin with __ are never the program's own.
void Finder::note_sides(const Declaration& d, bool member)
{
    if (begins_with(s_.spelling(d.name), "__")) return;
    const int last = d.body ? d.body : s_[d.stop].partner;
    unsigned side = d.has("__global__")                ? kernel_side
                    : is_strict(s_, d.first, last)     ? device_side
                    : is_for_device(s_, d.first, last) ? other_side
                                                       : host_side;
    if (member || d.has("friend") || s_.is(d.name, "operator")) {
        sure_ &= side == other_side;
        side = other_side;
    }
    sides_[s_.spelling(d.name)] |= side;
}

// The classes that a function defines.
void Finder::local_classes(int first, int last)
{
    for (int i = first; i < last; ++i)
        if (const int body = s_[i].system ? 0 : class_body(i)) {
            declarations(body + 1, s_[body].partner, class_name(i, body));
            i = s_[body].partner;
        }
}

// Finds the classes whose objects must not be copied, although C++ allows it: a copy's destructor frees what the
// original holds, too. The same is true of a class with such a member or base.
void Finder::note_owners()
{
    struct Class {
        int at, body;
        bool copies = false;
    };
    std::vector<std::pair<std::string_view, Class>> others;
    for (int i = 1; i <= s_.count(); ++i) {
        const int j = s_[i].system ? 0 : class_body(i);
        if (!j) continue;
        const std::string_view name = class_name(i, j);
        Class found{i, j};
        bool destructor = false;
        for (int k = j + 1; k < s_[j].partner; k = past(s_, k)) {
            if (name.empty() || !s_.is(k, name) || !s_.is(k + 1, "(")) continue;
            const int close = s_[k + 1].partner;
            if (s_.is(k - 1, "~")) {
                destructor = !(s_.is(close + 1, "=") && s_.is(close + 2, "default"));
                continue;
            }
            int p = k + 2;
            while (s_.is_any(p, {"const", "volatile"})) ++p;
            if (!s_.is(p, name)) continue;
            const int behind = s_.is(p + 1, "<") ? angles_end(s_, p + 1) : p + 1;
            found.copies |= s_.is_any(behind, {"&", "&&"});
        }
        if (found.copies || name.empty()) continue;
        if (destructor) owners_.insert(name);
        else others.push_back({name, found});
    }
    for (bool more = true; more;) {
        more = false;
        for (const auto& [name, c] : others) {
            bool owns = false;
            for (int k = c.at + 1; k < c.body; ++k) owns |= is_owner(k) && !s_.is(k, name);
            for (int k = c.body + 1; k < s_[c.body].partner; k = past(s_, k))
                owns |= is_owner(k) && s_.is_word(k + 1) && !s_.is_any(k - 1, {"<", ","});
            if (owns) more |= owners_.insert(name).second;
        }
    }
}

// The local variables of such a class that this function, or a lambda in it, returns by name.
//
// variable = "const"? type name ("=" token* | parens | braces)? ";"     behind ";", "{" or "}"
// type     = (word "::")* (owner | "auto") angles?
// return   = "return" name ";"
void Finder::note_returned(const Declaration& d)
{
    bool returns_one = false;
    for (int i = d.first; i < d.name; ++i) returns_one |= is_owner(i);
    for (int i = d.body + 1; i < s_[d.body].partner; ++i) {
        if (!s_.is_any(i - 1, {";", "{", "}"})) continue;
        Returned r{i, 0, 0, "", {}};

        const int type = i + s_.is(i, "const");
        int word = type;
        while (s_.is_word(word) && s_.is(word + 1, "::")) word += 2;
        const bool automatic = s_.is(word, "auto");
        r.name = s_.is(word + 1, "<") ? angles_end(s_, word + 1) : word + 1;
        if (!(is_owner(word) || automatic) || !r.name || !s_.is_word(r.name)) continue;

        r.type = s_.join(type, r.name);
        r.end = r.name + 1;
        if (s_.is(r.end, "=")) {
            if (automatic && !returns_one && !is_owner(r.end + 1)) continue;
            while (r.end < s_.count() && !s_.is_any(r.end, {";", ","})) r.end = past(s_, r.end);
        } else if (automatic) {
            continue;
        } else if (s_.is_any(r.end, {"(", "{"})) {
            r.end = past(s_, r.end);
        }
        if (!s_.is(r.end, ";")) continue;

        for (int k = r.end; k < s_[s_[i].parent].partner; ++k) {
            if (const int inner = s_.is(k, "[") ? lambda_body(s_, k) : 0) k = s_[inner].partner;
            if (s_.is(k, "return") && s_.is(k + 1, s_.spelling(r.name)) && s_.is(k + 2, ";")) r.returns.push_back(k);
        }
        if (!r.returns.empty()) returned_.push_back(r);
    }
}

void Finder::lambdas()
{
    for (int i = 1; i <= s_.count(); ++i) {
        if (s_[i].system) continue;
        if (is_launch(s_, i)) launch(i);
        const int body = s_.is(i, "[") ? lambda_body(s_, i) : 0;
        if (!body) continue;
        if (is_for_device(s_, i, body)) {
            device_.push_back({i, past(s_, body)});
            if (is_strict(s_, i, body)) strict_.push_back(device_.back());
        } else {
            lambdas_.push_back(i);
        }
    }
}

// The words of a launch: those of its arguments are passed to the kernel, and those of its kernel are named by it.
void Finder::launch(int open)
{
    const LaunchText l(s_, open);
    const int arguments = l.close + 3;
    launched_.push_back({arguments, s_[arguments].partner});
    for (int i = arguments; i < s_[arguments].partner; ++i)
        if (s_.is_word(i)) passed_.insert(s_.spelling(i)), named_.insert(s_.spelling(i));
    for (int i = l.kernel.first; i < l.kernel.second; ++i)
        if (s_.is_word(i)) named_.insert(s_.spelling(i));
}

// The words in front of a variable that is declared, or behind the `=` of its initializer, may be its type.
//
// declared = word ("<" token* ">")? ("*" | "&" | "&&" | "const")* variable ("=" word)?     read backwards
void Finder::note_type_of(int variable)
{
    int i = variable - 1;
    while (s_.is_any(i, {"*", "&", "&&", "const"})) --i;
    if (s_.is(i, ">"))
        for (int depth = 0; i > 0 && !s_.is_any(i, {";", "{"}); --i) {
            depth += s_.is(i, ">") - s_.is(i, "<");
            if (s_.is_word(i)) named_.insert(s_.spelling(i));
            if (depth == 0 && s_.is(i, "<") && i--) break;
        }
    if (s_.is_word(i)) named_.insert(s_.spelling(i));
    if (s_.is(variable + 1, "=") && s_.is_word(variable + 2)) named_.insert(s_.spelling(variable + 2));
}

void Finder::note_device(int first, int last)
{
    for (int i = first; i < last; ++i) {
        if (!s_.is_word(i)) continue;
        named_.insert(s_.spelling(i));
        // A call, or the address of a function.
        const int behind = s_.is(i + 1, "<") ? angles_end(s_, i + 1) : i + 1;
        const bool address = s_.is(i - 1, "&") && s_.is_any(i - 2, {"(", ",", "=", "return"});
        if ((behind && s_.is(behind, "(")) || address) called_.insert(s_.spelling(i));
    }
}

bool Finder::in_device(int i) const
{
    return std::any_of(device_.begin(), device_.end(), [&](Tokens r) { return i >= r.first && i < r.second; });
}

bool Finder::is_called(const Function& f) const
{
    if (declared_.count(f.name)) return true;
    if (f.types.empty()) return called_.count(f.name) && !device_functions_.count(f.name);
    return named_.count(f.name) || std::any_of(f.types.begin(), f.types.end(), [&](int i) {
               static const Words common = {"const",    "volatile", "void",  "bool",   "char",   "short", "int", "long",
                                            "unsigned", "signed",   "float", "double", "size_t", "std",   "auto"};
               return i && !common.count(s_.spelling(i)) && named_.count(s_.spelling(i)) && !s_[i].system;
           });
}

}  // namespace

HostFunctions host_functions(const Source& source, bool check) { return Finder(source).run(check); }

}  // namespace rewrite
