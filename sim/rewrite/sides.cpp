// Host and device functions, told apart by their names.
//
// In:    which side the program's functions are for, and where code of either side stands.
// Idea:  a name that is called is that of a function if nothing else in the function around has it. It is refused if
//        all functions of this name are for the other side. The functions of C and C++ are the host's, except those
//        that are constexpr, that the simulator's headers declare, of mathematics, and a few that CUDA has, too. clang
//        knows types and overloads, and is asked besides where it is installed (command/build.sh).
// Invariant: what nvcc accepts is not refused. In doubt, a call is let pass.
// Cost:  one pass over the program's own code, and one over the headers for each name of theirs.

#include "sides.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "refusals.h"

namespace rewrite {
namespace {

// Beginnings of functions that CUDA has for the device alone.
constexpr const char* device_names[] = {"__syncthreads", "__syncwarp", "__threadfence", "__shfl_",   "__ballot",
                                        "__any_sync",    "__all_sync", "atomicAdd",     "atomicCAS", "atomicMax",
                                        "atomicMin",     "atomicExch", "atomicSub",     "atomicInc"};

class Checker {
public:
    Checker(const Source& source, const Sides& sides) : s_(source), sides_(sides), markers_(markers_in(source.text()))
    {
        for (int i = 1; i <= s_.count(); ++i)
            imports_std_ |= !s_[i].system && s_.is(i, "std") && s_.is(i - 1, "namespace") && s_.is(i - 2, "using");
    }

    // A call in `range`, which is code of the device or of the host.
    void call(int i, Range range, bool device)
    {
        const std::string_view word = s_.spelling(i);
        const int open = s_.is(i + 1, "<") ? angles_end(s_, i + 1) : i + 1;
        if (!open || !s_.is(open, "(") || declares(i) || is_unevaluated(i)) return;
        const bool of_std = s_.is(i - 1, "::") && s_.is(i - 2, "std");
        const auto known = of_std ? sides_.end() : sides_.find(word);
        const std::string name = (of_std ? "std::" : "") + std::string(word);
        if (known == sides_.end()) {
            const bool other_scope = s_.is(i - 1, "::") && s_.is_word(i - 2) && !of_std;
            if (device && !other_scope && is_of_host(name, word, of_std) && !is_local(word, range) && !is_own(word))
                refuse(s_, i, name + " is a function of the host; nvcc refuses to call it in device code");
            const bool of_device = std::any_of(std::begin(device_names), std::end(device_names),
                                               [&](const char* begin) { return begins_with(word, begin); });
            if (!device && of_device && !is_own(word))
                refuse(s_, i, name + " is a function of the device; the host cannot call it");
            return;
        }
        if (known->second != kernel_side && known->second != (device ? host_side : device_side)) return;
        if (is_local(word, range) || is_of_headers(word)) return;
        if (known->second == kernel_side)
            refuse(s_, i, name + " is a kernel, and is called without <<<>>>; write " + name +
                              "<<<grid, block>>>(arguments)");
        refuse(s_, i,
               device ? name + " is a function of the host; nvcc refuses to call it in device code. Declare it __device__"
                      : name + " is a function of the device; the host cannot call it. Call it in a kernel, or declare "
                               "it __host__ __device__");
    }

    // An object of a class of the C++ library in device code.
    void object(int i, Range range)
    {
        const bool of_std = s_.is(i - 1, "::") && s_.is(i - 2, "std");
        const std::string_view word = s_.spelling(i);
        if (!of_std && (!imports_std_ || s_.is(i - 1, "::") || is_local(word, range) || is_own(word))) return;
        const int behind = s_.is(i + 1, "<") ? angles_end(s_, i + 1) : i + 1;
        const bool stream = one_of(word, {"cout", "cerr", "clog", "cin"}) && s_.is(behind, s_.is(i, "cin") ? ">" : "<");
        const bool object = one_of(word, {"vector", "string", "map", "set", "list", "deque", "unordered_map", "function",
                                          "unordered_set", "unique_ptr", "shared_ptr", "mutex", "thread"}) &&
                            s_.is_word(behind);
        if (stream || object)
            refuse(s_, i, "std::" + std::string(word) + " is of the host; nvcc refuses it in device code" +
                              (stream && !s_.is(i, "cin") ? ". Use printf" : ""));
    }

private:
    bool is_statement(int i) const
    {
        return one_of(s_.spelling(i), {"return", "else", "do", "case", "and", "or", "not", "throw", "co_return"});
    }
    // `T name(...)`, `T a, name(...)`, `__launch_bounds__(32) name(...)`, x.name(...) and the like.
    bool declares(int i) const
    {
        const bool listed = s_.is(i - 1, ",") && s_.is(s_[i].parent, "{"),
                   attributed = s_.is(i - 1, ")") && begins_with(s_.spelling(s_[i - 1].partner - 1), "__");
        return listed || attributed || s_.is(i - 1, ".") || s_.is(i - 1, "->") || s_.is(i - 1, "~") || s_.is(i - 1, "new") ||
               (s_.is_word(i - 1) && !is_statement(i - 1));
    }
    bool is_unevaluated(int i) const
    {
        for (int open = s_[i].parent; open; open = s_[open].parent)
            if (s_.is(open, "(") && one_of(s_.spelling(open - 1), {"decltype", "sizeof", "noexcept", "requires"}))
                return true;
        return false;
    }
    // A word that names something else here: `auto name = `, `T name)`.
    bool is_named(int i) const
    {
        const bool typed = (s_.is_word(i - 1) && !is_statement(i - 1)) || s_.is(i - 1, "*") || s_.is(i - 1, "&") ||
                           s_.is(i - 1, "&&") || s_.is(i - 1, ">");
        return typed && !(s_.is(i + 1, "(") && !s_.is_word(i - 1)) && !is_launch(s_, i + 1);
    }
    bool is_local(std::string_view word, Range range) const
    {
        for (int i = range.first; i < range.second; ++i)
            if (s_.is(i, word) && is_named(i)) return true;
        return false;
    }
    bool is_own(std::string_view word) const
    {
        for (int i = 1; i <= s_.count(); ++i)
            if (!s_[i].system && s_.is(i, word) && is_named(i)) return true;
        return false;
    }

    // Where a header declares a function of this name.
    template <typename Use>
    void declarations(std::string_view word, Use use) const
    {
        for (int i = 1; i <= s_.count(); ++i)
            if (s_[i].system && s_.is(i, word) && s_.is(i + 1, "(") && at_namespace_scope(s_, i) &&
                (s_.is_word(i - 1) || s_.is(i - 1, "*") || s_.is(i - 1, "&") || s_.is(i - 1, ">")))
                if (const Declaration d(s_, i); d.function && d.name == i) use(d);
    }
    bool is_of_headers(std::string_view word) const
    {
        bool any = false;
        declarations(word, [&](const Declaration& d) { any |= imports_std_ || scope_of(s_, d.name).empty(); });
        return any;
    }
    bool is_of_host(const std::string& name, std::string_view word, bool of_std)
    {
        const auto found = of_host_.find(name);
        return found != of_host_.end() ? found->second : (of_host_[name] = asked_of_headers(word, of_std));
    }
    bool asked_of_headers(std::string_view word, bool of_std) const
    {
        if (one_of(word, {"printf", "vprintf", "malloc", "free", "memcpy", "memset", "memmove", "abs", "labs", "llabs",
                          "clock", "alloca"}))
            return false;
        bool host = false, both = false;
        declarations(word, [&](const Declaration& d) {
            if (!of_std && !imports_std_ && !scope_of(s_, d.name).empty()) return;
            const std::string& file = file_of(d.name);
            host = true;
            both |= file.find("sim/cuda/") != file.npos || file.find("sim/core/") != file.npos ||
                    file.find("math") != file.npos || d.has("constexpr");
        });
        return host && !both;
    }
    const std::string& file_of(int i) const
    {
        static const std::string none;
        const auto after = std::upper_bound(markers_.begin(), markers_.end(), s_.begin_of(i),
                                            [](size_t at, const Marker& m) { return at < m.offset; });
        return after == markers_.begin() ? none : (after - 1)->file;
    }

    const Source& s_;
    const Sides& sides_;
    const std::vector<Marker> markers_;
    std::map<std::string, bool> of_host_;  // names of headers
    bool imports_std_ = false;             // using namespace std
};

}  // namespace

void check_sides(const Source& s, const Sides& sides, const std::vector<Range>& strict, const std::vector<Range>& host,
                 const std::vector<Range>& device)
{
    Checker checker(s, sides);
    const auto each = [&](Range range, auto use) {
        for (int i = range.first; i < range.second; ++i)
            if (s.is_word(i) && !s[i].system) use(i);
    };
    for (Range range : strict)
        each(range, [&](int i) {
            checker.call(i, range, true);
            checker.object(i, range);
        });
    for (Range range : host)
        each(range, [&](int i) {
            const auto in = [i](Range r) { return i >= r.first && i < r.second; };
            if (std::none_of(device.begin(), device.end(), in)) checker.call(i, range, false);
        });
}

}  // namespace rewrite
