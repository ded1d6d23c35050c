// Leads from the address that a call returns to, to a line and column of the source.
//
// In: an address. Out: the file, the line, the column and the text of the line, or a number that stands for them. The
// line table has the row of the instruction. If a function of a library or of the compiler was inlined there, its place
// is that of the call, so that an access in an operator of half belongs to the line of the kernel. Two addresses have
// one number if and only if they agree in function, file, line and column. A look into the file takes microseconds and
// requests ask for millions of places, so answers are remembered twice: for all host threads under a lock, and for each
// in a small table.

#include "places.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../common/base/error.h"
#include "../../common/base/paths.h"
#include "inlined.h"
#include "line_table.h"
#include "symbols.h"

// core/hooks/launch.h defines it in the program's files, and the simulator's library does not. Null in a program
// without CUDA.
extern "C" const char sim_own_header[] __attribute__((weak));

namespace sim {
namespace {

std::string text_of(const std::string& file, int number)
{
    std::ifstream in(file);
    std::string line;
    for (int i = 0; i < number && std::getline(in, line); ++i) {}
    if (!in) return "";
    line.erase(std::min(line.find("//"), line.size()));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    std::replace(line.begin(), line.end(), '\t', ' ');
    return harness::printable(line);
}

// Objects that make compiles name the source by paths from the checkout, which may have been moved since. Their program
// is in its folder, next to build/, or below build/.
const std::filesystem::path& checkout()
{
    static const std::filesystem::path& folder = *new std::filesystem::path([] {
        std::error_code failed;
        const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
        if (std::filesystem::exists(program.parent_path() / "build", failed)) return program.parent_path();
        return std::filesystem::path(program.string().substr(0, program.string().rfind("/build/")));
    }());
    return folder;
}

// True if a file is no text of the program: it belongs to the simulator, to the C++ library or to the system. A program
// may have a folder sim/, too. Objects that simcuda compiles name the simulator's headers by whole paths, and those
// that make compiles by paths from the folder where make runs.
bool is_library(const Unit& unit, const std::string& file)
{
    const std::filesystem::path header = sim_own_header ? sim_own_header : "sim/core/hooks/launch.h",
                                whole = checkout() / folder_of(unit) / header,
                                sim = whole.lexically_normal().parent_path().parent_path().parent_path();
    return harness::whole_path(file).rfind(harness::whole_path(sim) + "/", 0) == 0 ||
           file.find("/include/c++/") != file.npos || file.rfind("/usr/include/", 0) == 0 ||
           file.rfind("/usr/lib/", 0) == 0;
}

// The place without its text, the file with its whole path.
Place find(uint64_t return_address)
{
    Place place;
    const Unit* unit = nullptr;
    // The call is in front of where it returns to.
    const uint64_t address = return_address - load_address() - 1;
    const LineRow row = row_at(address, unit);
    // Line 0: the compiler does not say.
    if (!row.line) return place;
    const auto set = [&](uint64_t file, uint64_t line, uint64_t column) {
        place.file = file_name(*unit, file);
        if (!place.file.empty()) place.file = (checkout() / place.file).lexically_normal();
        place.line = place.file.empty() ? 0 : int(line);
        place.column = place.file.empty() ? 0 : int(column);
        place.in_library = is_library(*unit, place.file);
    };
    set(row.file, row.line, row.column);
    // An inlined function of a library, such as an operator of half, has the place where the program calls it. A copy
    // that the compiler makes of an object has the place where the program copies.
    const std::vector<Inlined>& inlined = inlined_in(unit->offset);
    for (auto i = inlined.rbegin(); i != inlined.rend(); ++i) {
        if (address < i->begin || address >= i->end || !i->line) continue;
        if (!i->implicit && !place.in_library) break;
        set(i->file, i->line, i->column);
    }
    return place;
}

// Remembered for all threads, under a lock.
Spot known(uint64_t return_address)
{
    static std::mutex mutex;
    static auto& all = *new std::unordered_map<uint64_t, Spot>;
    static auto& numbers = *new std::map<std::tuple<std::string, std::string, int, int>, uint32_t>;
    static uint32_t next = 0;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto [at, is_new] = all.try_emplace(return_address);
    Spot& spot = at->second;
    if (!is_new) return spot;
    const Place place = find(return_address);
    const Symbol* function = function_at(return_address - 1);
    spot = {place.line, place.column, next};
    if (!place.file.empty() && function)
        spot.number =
            numbers.try_emplace({source_function(*function), place.file, place.line, place.column}, next).first->second;
    next += spot.number == next;
    return spot;
}

}  // namespace

Place place_of(uint64_t return_address)
{
    Place place = find(return_address);
    if (place.file.empty()) return place;
    place.path = place.file;
    place.text = text_of(place.path, place.line);
    // The path begins at the folder where the program was started, as the reader there names the file.
    const std::string& here = start_folder();
    if (!here.empty() && place.file.rfind(here + "/", 0) == 0) place.file.erase(0, here.size() + 1);
    place.file = harness::printable(place.file);
    return place;
}

const std::string& start_folder()
{
    static const std::string& folder = *new std::string([] {
        std::error_code failed;
        return std::filesystem::current_path(failed).string();
    }());
    return folder;
}

Spot spot_of(uint64_t return_address)
{
    // Looks without the lock among the addresses that this thread asked for last.
    static thread_local std::pair<uint64_t, Spot> asked[256];
    auto& [address, spot] = asked[(return_address ^ return_address >> 8) % 256];
    if (address != return_address) {
        spot = known(return_address);
        address = return_address;
    }
    return spot;
}

}  // namespace sim
