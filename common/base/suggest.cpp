// The distance of two names is the least number of edits that make one of the other. An edit adds, leaves out or
// changes a letter, or exchanges two neighbours. d[i][j] is the distance of the first i letters of one and the first j
// of the other, computed from shorter beginnings. The cost is the product of the two lengths.

#include "suggest.h"

#include <getopt.h>

#include <algorithm>
#include <cctype>

namespace harness {
namespace {

std::string in_small_letters(std::string text)
{
    for (char& c : text) c = char(std::tolower((unsigned char)c));
    return text;
}

size_t distance(const std::string& a, const std::string& b)
{
    std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i)
        for (size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& typed, const std::vector<std::string>& known)
{
    constexpr size_t longest = 100;  // no name has so many letters
    std::string found;
    if (typed.size() > longest) return found;
    size_t least = typed.size() / 3 + 1;
    for (const std::string& name : known) {
        const size_t far = distance(in_small_letters(typed), in_small_letters(name));
        if (far < least) least = far, found = name;
    }
    return found;
}

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& known, const std::string& before)
{
    const std::string name = nearest(typed, known);
    return name.empty() ? "" : "; did you mean " + before + name + "?";
}

std::string expected_one_of(const std::string& typed, const std::vector<std::string>& known)
{
    std::string listed;
    for (const std::string& name : known) listed += (listed.empty() ? "" : ", ") + name;
    return "expected one of " + listed + did_you_mean(typed, known);
}

std::string unknown_option(char** argv, const std::vector<std::string>& known, const std::string& otherwise)
{
    // getopt_long() takes -explain for -e, -x, -p and so on. At the first of these letters it has not gone on to the
    // next argument.
    const char* next = optopt ? argv[optind] : nullptr;
    const bool several_letters = next && next[0] == '-' && next[1] == optopt && next[2];
    const std::string argument = several_letters ? next : argv[optind - 1];
    const size_t begin = argument.find_first_not_of('-');
    const std::string name = begin == argument.npos ? "" : argument.substr(begin, argument.find('=') - begin);
    const std::string suggestion = did_you_mean(name, known, "--");
    return "unknown option " + argument + (suggestion.empty() ? otherwise : suggestion);
}

bool short_help(char** argv) { return optopt == 'h' && std::string(argv[optind - 1]) == "-h"; }

}  // namespace harness
