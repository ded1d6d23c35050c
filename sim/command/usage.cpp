// The text of simcuda --help.

#include "../../common/base/error.h"
#include "../runtime/options.h"
#include "arguments.h"

namespace command {
namespace {

const char intro[] =
    "usage: simcuda [OPTION]... FILE... [-- ARGUMENT...]\n"
    "\n"
    "Compiles a CUDA program for the simulator and runs it, without a GPU. A report follows the\n"
    "program's output: what each line costs, and what the program must not do. The arguments after --\n"
    "are the program's. A FILE is .cu, .cpp or .c, or an object or a library to link.\n"
    "\n"
    "Building:\n"
    "  -o FILE               write the program to FILE, and do not run it. Started later, it takes options\n"
    "                        of the simulator from the environment variable SIM_OPTIONS\n"
    "  -c                    write objects, and do not link. -MD, -MF and -MT write what they depend on\n"
    "  -I -D -U -isystem -include   for the preprocessor\n"
    "  -std=c++20            the language's standard (default: c++17, and no earlier one)\n"
    "  -L -l -Xlinker        for the linker\n"
    "  -O -g -W              for files of the host; kernels have fixed options, because counts depend on them,\n"
    "                        and show the warnings that -W asks for\n"
    "  -f -m -Xcompiler      for the compiler of all files\n"
    "  -x cu|c++|c           compile the files that follow as this language\n"
    "  --keep-dir FOLDER     leave there what is made on the way, and the program\n"
    "  --device cuda         compile with nvcc and run on a GPU instead\n"
    "Options of nvcc that have no effect here, such as -arch and -lineinfo, are ignored with a note.\n"
    "\n"
    "Checking and counting:\n";

const char ending[] =
    "  --help, -h            print this text\n"
    "  --version             print the version\n"
    "\n"
    "Exit status: that of the program; 1 instead of 0 if there are findings (see --error-exitcode); 2 if\n"
    "a file does not compile or an option is wrong.\n";

}  // namespace

std::string usage()
{
    std::string text = intro;
    for (const sim::OptionText& option : sim::known_program_options()) {
        const std::string value = option.value ? std::string(" ") + option.value : "";
        text += harness::format("  %-20s  %s\n", ("--" + (option.name + value)).c_str(), option.help);
    }
    return text + ending;
}

}  // namespace command
