// Host and device functions, told apart by their names.
//
// In:    which side the program's functions are for, and where code of either side stands.
// Idea:  a call is refused if all functions of its name are for the other side, and the name means nothing else around
//        it or in a header. Usual names of C and C++ are in a table. clang knows types, and is asked where names leave
//        it open and it is installed (sim/simcuda).
// Invariant: what nvcc accepts is not refused. In doubt, a call is let pass.
// Cost:  one pass over the program's own code, and one over the text for each name that is in question.

#include "sides.h"

#include <algorithm>
#include <string>

#include "refusals.h"

namespace rewrite {
namespace {

constexpr char of_c[] =
    " rand srand drand48 exit abort strlen strcpy strcat strcmp strncmp puts putchar fprintf sprintf snprintf scanf "
    "getenv atoi atof time qsort bsearch fflush fopen fclose fread fwrite realloc calloc gettimeofday usleep sleep "
    "toupper tolower isdigit isalpha ",
               of_cpp[] =
    " sort stable_sort swap fill copy transform accumulate reverse find count generate iota shuffle exchange to_string "
    "stoi make_unique make_shared getline async ",
               classes[] =
    " vector string map set list deque unordered_map unordered_set function unique_ptr shared_ptr thread mutex ",
               streams[] = " cout cerr clog cin ",
               of_device[] = " __syncthreads __syncwarp __threadfence __shfl_sync __shfl_down_sync __shfl_up_sync "
                             "__shfl_xor_sync __ballot_sync __activemask atomicAdd atomicCAS atomicMax atomicMin "
                             "atomicExch ";

class Checker {
public:
    Checker(const Source& source, const Sides& sides) : s_(source), sides_(sides)
    {
        for (int i = 1; i <= s_.count(); ++i)
            imports_std_ |= !s_[i].system && s_.is(i, "std") && s_.is(i - 1, "namespace") && s_.is(i - 2, "using");
    }

    // Looks at a word of `range`, which is code of the device or of the host.
    //
    // call   = (word "::")? word angles? "("
    // object = ("std" "::")? (class angles? word | stream ("<" | ">"))     without std:: behind `using namespace std`
    void word(int i, Tokens range, bool device)
    {
        const bool scoped = s_.is(i - 1, "::") && s_.is_word(i - 2);
        const bool of_std = scoped && s_.is(i - 2, "std");
        const int behind = s_.is(i + 1, "<") ? angles_end(s_, i + 1) : i + 1;
        const bool call = behind && s_.is(behind, "(") && !declares(i) && !is_unevaluated(i);
        const auto known = of_std ? sides_.end() : sides_.find(s_.spelling(i));
        if (known != sides_.end()) {
            const unsigned other = device ? host_side : device_side, side = known->second;
            if (!call || (side != kernel_side && side != other)) return;
            if (is_named(i, range) || in_headers(i)) {
                sure = false;
                return;
            }
            const std::string name(known->first);
            refuse(s_, i, name + (side == kernel_side
                                      ? " is a kernel, and is called without <<<>>>; write " + name +
                                            "<<<grid, block>>>(arguments)"
                                  : device ? " is a function of the host; nvcc refuses to call it in device code. "
                                             "Declare it __device__"
                                           : " is a function of the device; the host cannot call it. Call it in a "
                                             "kernel, or declare it __host__ __device__"));
        }
        if (scoped && !of_std) return;
        const bool in_std = of_std || (imports_std_ && !declares(i));
        const bool object = in_std && ((is_in(classes, i) && s_.is_word(behind)) ||
                                       (is_in(streams, i) && (s_.is_any(i + 1, {"<", ">"}))));
        const bool found = device ? object || (call && (is_in(of_c, i) || (in_std && is_in(of_cpp, i))))
                                  : call && is_in(of_device, i);
        if (found && (of_std || !is_named(i, {1, s_.count()})))
            refuse(s_, i, (of_std ? "std::" : "") + std::string(s_.spelling(i)) +
                              (device ? " is of the host; nvcc refuses it in device code"
                                      : " is a function of the device; the host cannot call it"));
    }

    bool sure = true;

private:
    bool is_in(std::string_view list, int i) const { return has_word(list, s_.spelling(i)); }
    // True if a word in front of i may be a type.
    bool typed(int i) const { return is_operand(s_, i - 1); }
    // `T name(...)`, `T a, name(...)`, `__launch_bounds__(32) name(...)`, x.name(...) and the like.
    bool declares(int i) const
    {
        return typed(i) || s_.is_any(i - 1, {".", "->", "~"}) ||
               (s_.is(i - 1, ",") && s_.is(s_[i].parent, "{")) ||
               (s_.is(i - 1, ")") && begins_with(s_.spelling(s_[i - 1].partner - 1), "__"));
    }
    bool is_unevaluated(int i) const
    {
        for (int open = s_[i].parent; open; open = s_[open].parent)
            if (s_.is_any(open - 1, {"decltype", "sizeof", "noexcept", "requires"})) return true;
        return false;
    }
    // True if something in the range has this name: `auto name = `, `T* name)`.
    bool is_named(int name, Tokens range) const
    {
        for (int i = range.first; i < range.second; ++i)
            if (!s_[i].system && s_.is(i, s_.spelling(name)) && !is_launch(s_, i + 1) &&
                (typed(i) || (s_.is_any(i - 1, {"*", "&", "&&", ">"}) && !s_.is(i + 1, "("))))
                return true;
        return false;
    }
    bool in_headers(int name) const
    {
        for (int i = 1; i <= s_.count(); ++i)
            if (s_[i].system && s_.is(i + 1, "(") && s_.is(i, s_.spelling(name)) && typed(i) &&
                at_namespace_scope(s_, i))
                return true;
        return false;
    }

    const Source& s_;
    const Sides& sides_;
    bool imports_std_ = false;  // using namespace std
};

}  // namespace

bool check_sides(const Source& s, const Sides& sides, const std::vector<Tokens>& strict,
                 const std::vector<Tokens>& host, const std::vector<Tokens>& device)
{
    Checker checker(s, sides);
    const auto holds = [](int i) { return [i](Tokens r) { return i >= r.first && i < r.second; }; };
    for (const auto* ranges : {&strict, &host})
        for (Tokens range : *ranges)
            for (int i = range.first; i < range.second; ++i)
                if (s.is_word(i) && !s[i].system &&
                    (ranges == &strict || std::none_of(device.begin(), device.end(), holds(i))))
                    checker.word(i, range, ranges == &strict);
    return checker.sure;
}

}  // namespace rewrite
