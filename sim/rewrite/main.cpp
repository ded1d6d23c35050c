// Rewrites preprocessed CUDA C++ as C++ for the simulator: launches with <<<>>>, and the words __global__,
// __device__, __shared__ and so on.
//
//   g++ -E -x c++ program.cu | rewrite > program.ii
//
// A file of the program that is plain C++ or C (--host, --c) only loses the words of CUDA, and is checked for what the
// simulator cannot run.
//
// Every line keeps its number: text is inserted and replaced, newlines stay. Markers report what
// device code does: each loop its turns, each __device__ function and each lambda its calls.

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "../../common/base/error.h"
#include "columns.h"
#include "headers.h"
#include "libraries.h"
#include "rewriter.h"
#include "tokens.h"

namespace rewrite {
namespace {

bool read_all(std::FILE* file, std::string& text)
{
    char buffer[1 << 16];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
    return !std::ferror(file);
}

constexpr char usage[] =
    "usage: rewrite [--namespace NAME] [--plain-host] [--columns] [FILE]\n"
    "       rewrite --host | --c [--columns] [FILE]\n"
    "       rewrite --missing ERRORS\n"
    "\n"
    "Rewrites preprocessed CUDA C++ (g++ -E or clang++ -E, from FILE or standard input) as C++ for\n"
    "the simulator, to standard output. All lines keep their numbers. Exit status: 0; or 2 with one\n"
    "line on standard error, FILE:LINE: what is wrong, for what the simulator cannot run.\n"
    "\n"
    "--namespace NAME   put what the file itself declares into an inline namespace of that name, so\n"
    "                   that it can be linked with what nvcc makes of the same file\n"
    "--plain-host       keep the compiler from watching the accesses of functions that only the host calls\n"
    "--host             the file is plain C++: remove the words of CUDA and add nothing. Exit status 3,\n"
    "                   with no message, if it has kernels or launches and is CUDA C++ after all\n"
    "--c                the file is C\n"
    "--columns          add a table of the columns that the source had, for the places of findings\n"
    "--headers FOLDER   write an empty header into FOLDER where the file includes one of a library that the\n"
    "                   simulator does not have, and exit with status 4: preprocess again, with -isystem FOLDER.\n"
    "                   Then the program is refused only where it names a function of that library\n"
    "--host-text FILE   the same text, preprocessed without __CUDA_ARCH__: functions that the host calls get both\n"
    "                   branches where they differ\n"
    "--own FOLDER       where the simulator's headers are (default: sim/cuda)\n"
    "\n"
    "--missing          ERRORS is what the preprocessor wrote to standard error: print it, and one line\n"
    "                   instead where a header of CUDA was not found that the simulator does not have.\n"
    "                   Exit status: 2, or 4 with --headers\n"
    "\n"
    "  g++ -std=c++17 -E -x c++ program.cu | rewrite > program.ii\n";

int fail(const std::string& message)
{
    std::fprintf(stderr, "%s\n", harness::printable(message).c_str());
    return 2;
}

struct Options {
    std::string wrapped;  // the namespace for the program's own text; empty: none
    std::string headers;  // the folder of added headers (libraries.h)
    std::string own = "sim/cuda";
    std::string host;     // the same file, preprocessed for the host
    std::string file = "<stdin>";
    Language language = Language::cuda;
    bool plain_host = false, columns = false, missing = false;
};

// Throws what is wrong with the command line.
Options parse(int argc, char** argv)
{
    Options o;
    bool named = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--namespace" && i + 1 < argc) o.wrapped = argv[++i];
        else if (word == "--headers" && i + 1 < argc) o.headers = argv[++i];
        else if (word == "--host-text" && i + 1 < argc) o.host = argv[++i];
        else if (word == "--own" && i + 1 < argc) o.own = argv[++i];
        else if (word == "--host") o.language = Language::cpp;
        else if (word == "--c") o.language = Language::c;
        else if (word == "--plain-host") o.plain_host = true;
        else if (word == "--columns") o.columns = true;
        else if (word == "--missing") o.missing = true;
        else if (named || (word[0] == '-' && word != "-")) throw std::string(word) + ": expected one file; see --help";
        else o.file = word, named = true;
    }
    if (o.missing && !named) throw std::string("--missing: expected one file; see --help");
    return o;
}

}  // namespace
}  // namespace rewrite

int main(int argc, char** argv)
{
    using namespace rewrite;
    if (argc == 2 && !std::strcmp(argv[1], "--help")) return std::fputs(usage, stdout) < 0;
    Options o;
    try {
        o = parse(argc, argv);
    } catch (const std::string& wrong) {
        return fail("rewrite: " + wrong);
    }

    const bool standard = o.file == "-" || o.file == "<stdin>";
    std::FILE* file = standard ? stdin : std::fopen(o.file.c_str(), "rb");
    std::string text;
    if (!file || !read_all(file, text)) return fail(o.file + ": cannot be read: " + std::strerror(errno));
    if (o.missing) {
        const MissingHeader missing = find_missing(text, o.language == Language::c);
        if (missing.header.empty()) return std::fputs(text.c_str(), stderr), 2;
        return !o.headers.empty() && add_header(o.headers, missing.header) ? 4 : fail(missing.why);
    }
    if (text.size() >= UINT32_MAX) return fail(o.file + ": more than 4 GB; expected one preprocessed file");

    std::string out;
    const auto refuse = [&](const Refusal& refusal) {
        const Position place = position_in(text, refusal.offset, o.file);
        return fail(place.file + ":" + std::to_string(place.line) + ": " + refusal.what);
    };
    try {
        check_headers(text, o.language == Language::c, o.headers, o.own);
        const Source source(text);
        for (size_t at : source.joints()) text[at] = ' ';
        Rewriter rewriter(source, o.language);
        std::string host_text;
        std::FILE* const host_file = o.host.empty() ? nullptr : std::fopen(o.host.c_str(), "rb");
        if (!o.host.empty() && (!host_file || !read_all(host_file, host_text)))
            return fail(o.host + ": cannot be read");
        const std::optional<Source> host = host_file ? std::optional<Source>(host_text) : std::nullopt;
        out = rewriter.run(o.wrapped, o.plain_host, o.headers, host ? &*host : nullptr);
        if (o.columns) out += column_table(source, out, rewriter.pieces());
    } catch (const HasKernels&) {
        return 3;
    } catch (const LibraryHeader& found) {
        return !o.headers.empty() && add_header(o.headers, found.header) ? 4 : refuse(found.refusal);
    } catch (const Refusal& refusal) {
        return refuse(refusal);
    }
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout))
        return fail(std::string("rewrite: cannot write: ") + std::strerror(errno));
    return 0;
}
