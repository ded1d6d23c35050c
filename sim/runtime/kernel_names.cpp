// One spelling for the names of kernels.
//
// In: a name as cu++filt writes it, with the result's type, casts of constants and the types of parameters, or as
// abi::__cxa_demangle does, or mangled. Out: the name and its template arguments, without blanks, casts, `const`,
// suffixes of numbers and unnamed namespaces. The arguments are read word by word. Two kernels that differ in nothing
// but what is left out get one spelling. The order of their launches then tells them apart.

#include "kernel_names.h"

#include <cctype>
#include <cstring>

#include "../elf/symbols.h"

namespace sim {
namespace {

bool in_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); }

void erase_all(std::string& text, const std::string& part)
{
    for (size_t i = 0; (i = text.find(part, i)) != std::string::npos;) text.erase(i, part.size());
}

// The end of a cast that begins at `at`, as (int) of (int)32; `at` if none does.
size_t after_cast(const std::string& text, size_t at)
{
    int depth = 0;
    for (size_t i = at; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')' && --depth == 0)
            return i + 1 < text.size() && (in_name(text[i + 1]) || text[i + 1] == '-') ? i + 1 : at;
    }
    return at;
}

// A word of a template argument, in its common spelling.
std::string common_word(std::string word)
{
    if (word == "const") return "";
    if (word == "true") return "1";
    if (word == "false") return "0";
    if (std::isdigit(static_cast<unsigned char>(word[0])))
        while (word.size() > 1 && std::strchr("uUlL", word.back())) word.pop_back();
    return word;
}

}  // namespace

std::string without_types(std::string name)
{
    erase_all(name, "(anonymous namespace)::");
    erase_all(name, "<unnamed>::");
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') ++depth;
        if (name[i] == '>') --depth;
        if (depth == 0 && name[i] == '(') return name.substr(begin, i - begin);
        if (depth == 0 && name[i] == ' ') begin = i + 1;
    }
    return name.substr(begin);
}

std::string common_spelling(const std::string& kernel)
{
    const std::string name = without_types(demangle(kernel));
    std::string spelling;
    for (size_t i = 0; i < name.size();) {
        const size_t begin = i;
        while (i < name.size() && in_name(name[i])) ++i;
        if (i > begin) {
            spelling += common_word(name.substr(begin, i - begin));
            continue;
        }
        const bool argument = !spelling.empty() && (spelling.back() == '<' || spelling.back() == ',');
        if (argument && name[i] == '(' && after_cast(name, i) > i) i = after_cast(name, i);
        else if (name[i++] != ' ') spelling += name[i - 1];
    }
    return spelling;
}

std::string without_template_arguments(const std::string& spelling) { return spelling.substr(0, spelling.find('<')); }

}  // namespace sim
