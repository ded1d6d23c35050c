// The program every step is: verify each kernel, then time it (GPU) or count its requests
// (simulator), verify again, report.

#include <cstdio>
#include <cstring>
#include <new>

#include "base/commit.h"
#include "base/error.h"
#include "base/files.h"
#include "base/machine.h"
#include "errata.h"
#include "list.h"
#include "options.h"
#include "run.h"

namespace harness {
namespace {

// Prints the text; with --csv FILE, programs find the same in that file.
void print_and_write(const std::string& text, const std::string& path, const std::string& csv)
{
    printf("%s", text.c_str());
    if (path.empty()) return;
    WholeFile file("--csv", path);
    file.append(csv);
    file.commit();
}

// Does what the options ask for. Returns the exit status.
int serve(const Options& options, const std::string& program)
{
    int status = status_ok;
    if (options.help) printf("%s", usage(program).c_str());
    else if (options.version) printf("%s\n", version_line(program).c_str());
    else if (options.list) print_and_write(list_text(), options.csv, list_csv());
    else if (options.list_machines)
        print_and_write(list_machines(*options.machine), options.csv, machines_csv(*options.machine));
    else if (options.errata) status = run_errata(options.kernels, *options.machine, options.csv, program);
    else status = run(options, program);
    if (fflush(stdout) || ferror(stdout)) throw Error{status_bad_input, "standard output cannot be written"};
    return status;
}

}  // namespace
}  // namespace harness

int main(int argc, char** argv)
{
    using namespace harness;
    const char* slash = std::strrchr(argv[0], '/');
    const std::string program = printable(slash ? slash + 1 : argv[0]);
    keep_standard_files();
    try {
        return serve(parse_options(argc, argv), program);
    } catch (const Error& error) {
        fflush(stdout);
        fprintf(stderr, "%s: %s\n", program.c_str(), printable(error.message).c_str());
        return error.status;
    } catch (const std::bad_alloc&) {
        fprintf(stderr, "%s: out of memory on the host\n", program.c_str());
        return status_bad_input;
    }
}
