// Takes the command line apart. A word with two dashes may be an option of the simulator, whose table is asked first.
// The table of compiler options is next. Other words that begin with a dash are refused, with the name that is nearest.

#include "arguments.h"

#include <algorithm>
#include <utility>

#include "../../common/base/error.h"
#include "../../common/base/suggest.h"
#include "../runtime/options.h"
#include "options.h"

namespace command {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw harness::Error{harness::status_bad_input, message}; }

// For words_of() of sim/runtime/options.cpp, where a quote ends at the next one.
std::string quoted(const std::string& word)
{
    std::string text = "'";
    for (char c : word) text += c == '\'' ? "'\"'\"'" : std::string(1, c);
    return text + "'";
}

bool begins(const std::string& word, const std::string& with) { return word.compare(0, with.size(), with) == 0; }

// A word of the command line, and those behind it.
struct Reader {
    const Words& words;
    size_t at = 0;
    const std::string& word() const { return words[at]; }
    // The value of the option that is at the front, where its word has none.
    std::string next()
    {
        if (at + 1 == words.size() || words[at + 1] == "--") refuse(word() + " needs a value");
        return words[++at];
    }
};

// The value of an option of that name and form, if the word is one. `with_name`: the word up to the value.
bool matches(Reader& reader, const std::string& with_name, Form form, std::string& value)
{
    const std::string word = reader.word();
    if (!begins(word, with_name)) return false;
    const std::string rest = word.substr(with_name.size());
    if (form == Form::none ? !rest.empty() : form == Form::value ? !rest.empty() && rest[0] != '=' : false)
        return false;
    if (form == Form::none || form == Form::prefix) value = rest;
    else if (rest.empty()) value = reader.next();
    else value = form == Form::value ? rest.substr(1) : rest;
    return true;
}

class Parser {
public:
    explicit Parser(const Words& words) : reader_{words} {}

    Arguments run()
    {
        for (; reader_.at < reader_.words.size(); ++reader_.at) {
            if (reader_.word() == "--") {
                a_.program.assign(reader_.words.begin() + long(reader_.at) + 1, reader_.words.end());
                break;
            }
            if (reader_.word()[0] != '-' || reader_.word() == "-") file(reader_.word());
            else if (!simulators() && !compilers()) unknown(reader_.word());
        }
        if (!a_.help && !a_.version) check();
        return a_;
    }

private:
    bool simulators()
    {
        const std::string word = reader_.word();
        if (!begins(word, "--")) return false;
        const std::string name = word.substr(2, word.find('=') == word.npos ? word.npos : word.find('=') - 2);
        for (const sim::OptionText& known : sim::known_program_options()) {
            if (name != known.name) continue;
            a_.simulator += " " + quoted(word);
            if (known.value && word.find('=') == word.npos) a_.simulator += " " + quoted(reader_.next());
            return true;
        }
        return false;
    }

    bool compilers()
    {
        const size_t first = reader_.at;
        for (const sim::OptionText& known : sim::known_program_options())
            if (reader_.word() == std::string("-") + known.name) return false;  // it has two dashes
        for (const CompilerOption& option : compiler_options()) {
            for (const std::string dashes : {"-", "--"}) {
                const bool takes = dashes == option.dashes || option.dashes == std::string("-/--");
                std::string value;
                if (!takes || !matches(reader_, dashes + option.name, option.form, value)) continue;
                const auto words = reader_.words.begin();
                use(option, value, Words(words + long(first), words + long(reader_.at) + 1));
                return true;
            }
        }
        return false;
    }

    void use(const CompilerOption& option, const std::string& value, const Words& words)
    {
        if (option.purpose != For::simcuda || option.name == std::string("x"))
            a_.nvcc.insert(a_.nvcc.end(), words.begin(), words.end());
        const std::string name = option.as ? option.as : option.name;
        switch (option.purpose) {
            case For::preprocessor: add(a_.cpp, name, option.form, value); break;
            case For::standard: add_standard(value); break;
            case For::host: a_.host.push_back(words[0]); break;
            case For::compiler: a_.compiler.push_back(words[0]); break;
            case For::linker: link(name, option.form, value); break;
            case For::parts: parts(value); break;
            case For::nothing: ignore(words); break;
            case For::refused: refuse(words[0] + ": the simulator makes objects (-c) and programs (-o) only");
            case For::simcuda: own(name, value); break;
        }
    }

    static void add(Words& to, const std::string& name, Form form, const std::string& value)
    {
        to.push_back("-" + name);
        if (form != Form::none) to.push_back(value);
    }

    void ignore(const Words& words)
    {
        std::string text;
        for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
        a_.ignored.push_back(text);
    }

    // The simulator's headers are C++17.
    void add_standard(const std::string& value)
    {
        for (const char* earlier : {"++98", "++03", "++11", "++0x", "++14", "++1y"})
            if (value.find(earlier) != value.npos) return ignore({"-std=" + value});
        (value.find("++") == value.npos ? a_.std_c : a_.std_cpp).push_back("-std=" + value);
    }

    void link(const std::string& name, Form form, const std::string& value)
    {
        if (name == "l" && is_cuda_library(value)) ignore({"-l" + value});
        else if (form == Form::prefix) a_.linker.push_back("-" + name + value);
        else if (name == "Xlinker") a_.linker.insert(a_.linker.end(), {"-Xlinker", value});
        else a_.linker.push_back("-" + name + value);
    }

    // The options of g++ in the value of -Xcompiler, with commas between them, or spaces.
    void parts(const std::string& value)
    {
        Words words;
        bool in_word = false;
        for (char c : value) {
            const bool between = c == ' ' || (c == ',' && !(in_word && begins(words.back(), "-Wl")));
            if (!between && !in_word) words.emplace_back();
            in_word = !between;
            if (in_word) words.back() += c;
        }
        Parser inner(words);
        const Arguments found = inner.only_options();
        for (const auto part : {&Arguments::cpp, &Arguments::std_cpp, &Arguments::std_c, &Arguments::host,
                                &Arguments::compiler, &Arguments::linker, &Arguments::ignored})
            (a_.*part).insert((a_.*part).end(), (found.*part).begin(), (found.*part).end());
    }

    Arguments only_options()
    {
        for (; reader_.at < reader_.words.size(); ++reader_.at)
            if (!compilers()) unknown(reader_.word());
        return a_;
    }

    void own(const std::string& name, const std::string& value)
    {
        if (name == "o") a_.output = value;
        else if (name == "c") a_.compile_only = true;
        else if (name == "help") a_.help = true;
        else if (name == "version") a_.version = true;
        else if (name == "keep-dir") a_.keep = value;
        else if (name == "x") language(value);
        else if (value != "sim" && value != "cuda")
            refuse("--device " + value + ": " + harness::expected_one_of(value, {"sim", "cuda"}));
        else a_.device = value;
    }

    void language(const std::string& value)
    {
        for (const auto& [name, kind] : {std::pair{"cu", "cu"}, {"c++", "cpp"}, {"c", "c"}, {"none", ""}})
            if (value == name) {
                language_ = kind;
                return;
            }
        refuse("-x " + value + ": " + harness::expected_one_of(value, {"cu", "c++", "c", "none"}));
    }

    void file(const std::string& name)
    {
        a_.files.push_back(name);
        a_.nvcc.push_back(name);
        const std::string end = name.substr(std::min(name.size(), name.rfind('.')));
        std::string kind;
        for (const auto& [known, as] :
             {std::pair{".cu", "cu"}, {".cpp", "cpp"}, {".cc", "cpp"}, {".cxx", "cpp"}, {".C", "cpp"}, {".c", "c"},
              {".o", "object"}, {".a", "object"}, {".so", "object"}})
            if (end == known) kind = as;
        a_.kinds.push_back(kind == "object" || language_.empty() ? kind : language_);
    }

    [[noreturn]] void unknown(const std::string& word)
    {
        std::vector<std::string> names;
        for (const sim::OptionText& known : sim::known_program_options()) names.push_back(known.name);
        for (const CompilerOption& option : compiler_options())
            if (std::string(option.name).size() > 2) names.push_back(option.name);
        const size_t begin = word.find_first_not_of('-');
        const std::string typed = begin == word.npos ? "" : word.substr(begin, word.find('=') - begin);
        const std::string name = harness::nearest(typed, names);
        refuse("unknown option " + word +
               (name.empty() ? "; simcuda --help lists the options"
                             : "; did you mean " + dashes_of(name) + name + "?"));
    }

    static std::string dashes_of(const std::string& name)
    {
        for (const sim::OptionText& known : sim::known_program_options())
            if (name == known.name) return "--";
        for (const CompilerOption& option : compiler_options())
            if (name == option.name) return option.dashes == std::string("--") ? "--" : "-";
        return "";
    }

    void check()
    {
        const bool depends = std::any_of(a_.cpp.begin(), a_.cpp.end(), [](const std::string& word) {
            return begins(word, "-M");
        });
        if (a_.files.empty()) refuse("no program given; write simcuda program.cu -- ARGUMENTS");
        if (depends && !a_.compile_only) refuse("-MD and its kin need -c");
        if (a_.compile_only && !a_.output.empty() && a_.files.size() > 1) refuse("-c with -o: expected one file");
        const bool builds_only = a_.compile_only || !a_.output.empty();
        if (builds_only && !a_.program.empty()) refuse("-c and -o build and do not run: expected nothing after --");
        if (builds_only && !a_.simulator.empty())
            refuse("-c and -o build and do not run: give" + a_.simulator + " to the program in SIM_OPTIONS");
        if (a_.device == "cuda" && !a_.simulator.empty())
            refuse("--device cuda: there is no simulator to give" + a_.simulator + " to");
        sim::parse_program_options(a_.simulator);
        if (!builds_only && a_.device == "sim") sim::read_program_options();  // of the environment
    }

    Reader reader_;
    Arguments a_;
    std::string language_;  // of the files that follow; empty: by their names
};

}  // namespace

Arguments parse(const Words& words) { return Parser(words).run(); }

}  // namespace command
