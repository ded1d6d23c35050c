// Writes a machine file from what ./microbench measured earlier.
//
// usage: build/tools/machine_file MACHINE FILE.csv [OTHER.csv] > NEW.machine
//
// MACHINE, a name or a machine file, has the limits of the card. FILE.csv is the text that ./microbench printed there.
// OTHER.csv is of a card with the same SMs, for constants that FILE.csv does not have. A constant that follows from
// neither stays as MACHINE has it.

#include <cstdio>
#include <fstream>
#include <sstream>

#include "../common/base/constants.h"
#include "../common/base/error.h"

namespace {

harness::Measurements measurements_in(const std::string& path)
{
    std::ifstream file(path);
    std::stringstream text;
    if (!file || file.peek() == std::ifstream::traits_type::eof())
        throw harness::Error{harness::status_bad_input, path + ": cannot be read, or is empty"};
    text << file.rdbuf();
    return harness::parse_measurements(path, text.str());
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        if (argc < 3) throw harness::Error{harness::status_bad_input, "expected MACHINE FILE.csv [OTHER.csv]"};
        std::vector<harness::Measurements> measured;
        for (int i = 2; i < argc; ++i) measured.push_back(measurements_in(argv[i]));
        fputs(harness::measured_machine_text(harness::machine_named(argv[1]), measured).c_str(), stdout);
    } catch (const harness::Error& error) {
        fprintf(stderr, "machine_file: %s\n", harness::printable(error.message).c_str());
        return error.status;
    }
    return fflush(stdout) ? harness::status_bad_input : harness::status_ok;
}
