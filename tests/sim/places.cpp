// Places in the source and symbols, of this program itself. Compile it with -gdwarf-5, at any level
// of optimisation, and run it in the folder where it was compiled. --stripped checks a stripped
// copy, --no-debug one that has symbols only.
// Prints each check that fails; exits 1 if any did.

#include "sim/elf/places.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "sim/elf/symbols.h"
#include "tests/check.h"

using namespace sim;

#define NOINLINE __attribute__((noinline))

// At the end of a function: keeps the last call from becoming a jump, which returns elsewhere.
#define NO_TAIL_CALL asm volatile("" ::: "memory")

// clang makes one call of two that are alike, such as the last ones of two branches. That call
// has line 0.
#if defined(__has_attribute)
#if __has_attribute(nomerge)
#define NOMERGE __attribute__((nomerge))
#endif
#endif
#ifndef NOMERGE
#define NOMERGE
#endif

// Not in the namespace below: their names are compared.
NOINLINE void outside(std::vector<uint64_t>& to)
{
    to.push_back(reinterpret_cast<uint64_t>(__builtin_return_address(0)));
}

namespace {

// Where each call of record returned to, by the number that it was given.
std::map<int, std::set<uint64_t>> calls;

NOINLINE NOMERGE int record(int call)
{
    calls[call].insert(reinterpret_cast<uint64_t>(__builtin_return_address(0)));
    return call;
}

uint64_t address_of(int call)
{
    return calls[call].empty() ? 0 : *calls[call].begin();
}

std::string line_of_this_file(int number)
{
    std::ifstream in(__FILE__);
    std::string line;
    for (int i = 0; i < number; ++i) std::getline(in, line);
    return line;
}

int sum = 0, line_of_sum = 0, line_of_product = 0;

NOINLINE void calls_at_known_lines()
{
    line_of_sum = __LINE__ + 1;
    sum += record(1) + record(2);  // two of them
    line_of_product = __LINE__ + 2;
    sum *=
        record(3);
    NO_TAIL_CALL;
}

void check_lines()
{
    calls_at_known_lines();
    const Place a = place_of(address_of(1)), b = place_of(address_of(2)), c = place_of(address_of(3));
    const std::string file = std::filesystem::path(__FILE__).filename().string();
    for (const Place* p : {&a, &b, &c})
        check(p->file.size() >= file.size() && !p->file.compare(p->file.size() - file.size(), file.size(), file),
              "the file is " + p->file);
    check(a.line == line_of_sum && b.line == line_of_sum,
          "two calls on a line: " + std::to_string(a.line) + ", " + std::to_string(b.line));
    check(c.line == line_of_product, "a call on the next line: " + std::to_string(c.line));
    check(a.text == "sum += record(1) + record(2);" || a.text.empty(), "text without comment: " + a.text);
    // From the name to the closing bracket: compilers choose differently.
    const std::string text = line_of_this_file(line_of_sum);
    const int first = int(text.find("record(1)")) + 1, second = int(text.find("record(2)")) + 1;
    check(a.column >= first && a.column < first + 9, "column of the first call: " + std::to_string(a.column));
    check(b.column >= second && b.column < second + 9, "column of the second call: " + std::to_string(b.column));
    check(place_number(address_of(1)) != place_number(address_of(2)), "two calls on a line are two places");
    check(place_number(address_of(1)) == place_number(address_of(1)), "a place keeps its number");
    check(before(address_of(1), address_of(2)) && !before(address_of(2), address_of(1)), "order on a line");
    check(before(address_of(2), address_of(3)) && !before(address_of(3), address_of(1)), "order of lines");
    check(!before(address_of(1), address_of(1)), "not before itself");
    const Symbol* f = function_at(address_of(1) - 1);
    check(f && f->name.find("calls_at_known_lines") != std::string::npos, "the function of a call");
    const Symbol* function = function_at(reinterpret_cast<uint64_t>(&outside));
    check(function && function->name == "_Z7outsideRSt6vectorImSaImEE" && function->bytes > 0,
          "a function by its address");
    check(function && demangle(std::string(function->name)).compare(0, 8, "outside(") == 0, "its name in the source");
    check(function && function_at(function->address + function->bytes) != function, "its end");

    char here[4096];
    if (getcwd(here, sizeof here)) {
        const std::string path =
            std::filesystem::path(__FILE__).is_absolute() ? __FILE__ : std::string(here) + "/" + __FILE__;
        if (std::ifstream(__FILE__) && path == std::string(here) + "/tests/sim/places.cpp")
            check(a.file == "tests/sim/places.cpp", "as seen from this folder: " + a.file);
        if (chdir("/") == 0) {
            check(place_of(address_of(1)).file == a.file, "as seen from the folder of the start");
            check(place_of(address_of(1)).text == a.text, "the text, from the root");
            if (chdir(here)) check(false, "chdir");
        }
    }
}

// g++ -O1 and -O2 make two calls of the one in the middle.
NOINLINE void tests_twice(bool inside)
{
    if (inside) record(10);
    record(11);
    if (inside) record(12);
    NO_TAIL_CALL;
}

// At -O3, compilers make a loop for each value of the condition.
NOINLINE void tests_in_loop(int n, bool inside)
{
    for (int i = 0; i < n; ++i) {
        record(20);
        if (inside) record(21);
        record(22);
    }
    NO_TAIL_CALL;
}

template <typename T>
NOINLINE void instance(int call)
{
    // Different code: g++ -O2 makes one function of two that are the same.
    volatile T variable = T(1);
    record(call + int(variable) - 1);
    NO_TAIL_CALL;
}

void check_copies()
{
    for (bool inside : {false, true}) {
        tests_twice(inside);
        tests_in_loop(3, inside);
    }
    for (int call : {10, 11, 12, 20, 21, 22}) {
        std::set<uint32_t> numbers;
        for (uint64_t address : calls[call]) numbers.insert(place_number(address));
        check(numbers.size() == 1, "copies of a call are one place, call " + std::to_string(call) + ": " +
                                       std::to_string(numbers.size()) + " places");
    }
    std::set<uint32_t> all;
    for (const auto& call : calls) all.insert(place_number(*call.second.begin()));
    check(all.size() == calls.size(), "different calls are different places");
    check(before(*calls[10].rbegin(), *calls[11].begin()) && before(*calls[11].rbegin(), *calls[12].begin()),
          "the order of copies is the source's");

    instance<int>(30);
    instance<float>(31);
    check(place_of(address_of(30)).line == place_of(address_of(31)).line,
          "instances of a template have the same lines");
    check(place_number(address_of(30)) != place_number(address_of(31)), "instances of a template are different places");
}

void check_threads()
{
    std::vector<std::thread> threads;
    std::vector<std::map<uint64_t, uint32_t>> seen(8);
    for (auto& s : seen) {
        threads.emplace_back([&s] {
            const Symbol* f = function_at(reinterpret_cast<uint64_t>(&calls_at_known_lines));
            if (!f) return;
            for (uint64_t i = 1; i < f->bytes; ++i) s[f->address + i] = place_number(f->address + i);
        });
    }
    for (std::thread& t : threads) t.join();
    check(!seen[0].empty(), "the addresses of a function");
    for (const auto& s : seen) check(s == seen[0], "threads see the same numbers");
}

void check_names()
{
    const auto in = [](const char* inner, const char* function) {
        return is_inside({inner, 0, 4}, {function, 0, 4});
    };
    check(in("_ZZ1kIfEvPT_PKS0_iEN1r1fEv", "_Z1kIfEvPT_PKS0_i"), "in a template");
    check(!in("_ZZ1kIfEvPT_PKS0_iEN1r1fEv", "_Z1kIdEvPT_PKS0_i"), "not in another instance");
    check(in("_ZZ1kPfEN1r1fEv", "_Z1kPf.constprop.0") && in("_ZZ1kPfEN1r1fEv", "_Z1kPf.cold"),
          "in a copy and in a part");
    check(in("_ZZ1kEN1r1fEv", "k"), "in a function of C");
    check(in("_ZZZ1kPfENKUlvE_clEvEN1r1fEv", "_Z1kPf") &&
              in("_ZZZ1kPfENKUlvE_clEvEN1r1fEv", "_ZZ1kPfENKUlvE_clEv"), "in a lambda");
    check(!in("_ZN1r1fEv", "_Z1kPf") && !in("f", "_Z1kPf") && !in("_ZZ1kPfEN1r1fEv", "") && !in("", "_Z1kPf"),
          "in none");
    check(!in("_ZZ1kPfEN1r1fEv", "_Z1kP") && !in("_ZZ2kkPfEN1r1fEv", "_Z1kPf"), "a whole name");
    check(demangle("main") == "main" && demangle("_Znonsense") == "_Znonsense" && demangle("") == "",
          "names that are not mangled");
}

// Addresses of this program's functions, compared with addr2line's: one of 13.
void check_addr2line()
{
    if (system("addr2line --version >/dev/null 2>&1")) return;
    char program[4096] = "", list[] = "/tmp/places.XXXXXX";
    const int file = mkstemp(list);
    if (file < 0 || readlink("/proc/self/exe", program, sizeof program - 1) < 0) return;
    std::vector<uint64_t> addresses;
    std::string text;
    for (uint64_t a = reinterpret_cast<uint64_t>(&outside) & ~uint64_t(0xffff), i = 0; i < 0x40000; i += 13) {
        // Only what is code: elsewhere, addr2line answers with the nearest.
        if (!function_at(a + i)) continue;
        addresses.push_back(a + i);
        std::ostringstream hex;
        hex << std::hex << a + i - load_address() << "\n";
        text += hex.str();
    }
    if (write(file, text.data(), text.size()) != ssize_t(text.size())) return;
    setenv("PROGRAM", program, 1);  // whatever characters its path has
    // For each address: the address, then the place, and where functions that were inlined there are called, inner ones
    // first.
    FILE* pipe = popen(("addr2line -a -i -e \"$PROGRAM\" < " + std::string(list)).c_str(), "r");
    char buffer[8192];
    size_t known = 0, wrong = 0;
    bool more = pipe && fgets(buffer, sizeof buffer, pipe);
    for (uint64_t a : addresses) {
        if (!more) {
            check(false, "an answer of addr2line");
            break;
        }
        std::vector<std::string> answers;
        while ((more = fgets(buffer, sizeof buffer, pipe)) && std::strncmp(buffer, "0x", 2) != 0) {
            std::string answer(buffer);
            answer.erase(answer.find_last_not_of(" \n") + 1);
            answers.push_back(answer.substr(0, answer.find(" (discriminator")));
        }
        // A function of the C++ library is at the place of its call, and so is a copy that the compiler makes.
        size_t first = 0;
        while (first + 1 < answers.size() && (answers[first].find("/include/c++/") != std::string::npos ||
                                              answers[first].compare(0, 13, "/usr/include/") == 0))
            ++first;
        const Place p = place_of(a + 1);
        const std::string absolute =
            p.file.empty() || p.file[0] == '/' ? p.file : std::filesystem::current_path().string() + "/" + p.file;
        const auto same = [&](const std::string& answer) {
            const size_t colon = answer.rfind(':');
            const int line = std::atoi(answer.c_str() + colon + 1);
            const std::string path = std::filesystem::path(answer.substr(0, colon)).lexically_normal().string();
            // GNU addr2line 2.40 does not find all. And it answers with the unit's own file where a
            // sequence of a table of version 5 does not set one; the standard has the file of number 1.
            const bool own = path.size() > 4 && path.substr(path.size() - 4) == ".cpp";
            return line ? p.line == line && (absolute == path || own) : p.line == 0 || answer[0] == '?';
        };
        known += p.line > 0;
        const bool right = first < answers.size() &&
                           (same(answers[first]) || (first + 1 < answers.size() && same(answers[first + 1])));
        if (!right && wrong++ < 5)
            check(false, "addr2line has " + (first < answers.size() ? answers[first] : "nothing") + ", we have " +
                             p.file + ":" + std::to_string(p.line) + " in " + std::string(function_at(a)->name));
    }
    if (pipe) pclose(pipe);
    unlink(list);
    check(known > 1000 && !wrong, std::to_string(wrong) + " of " + std::to_string(addresses.size()) +
                                      " addresses differ from addr2line's, " + std::to_string(known) + " are known");
}

// Of a program without debug information or symbols.
void check_stripped(bool symbols)
{
    calls_at_known_lines();
    tests_twice(true);
    const std::set<uint32_t> numbers = {place_number(address_of(1)), place_number(address_of(2)),
                                        place_number(address_of(3))};
    check(numbers.size() == 3, "unknown places have a number for each address");
    check(place_of(address_of(1)).file.empty() && !before(address_of(1), address_of(3)), "unknown places");
    if (symbols) return;
    check(!function_at(address_of(1)), "unknown symbols");
}

}  // namespace

int main(int count, char** arguments)
{
    const std::string option = count > 1 ? arguments[1] : "";
    if (option == "--stripped" || option == "--no-debug") check_stripped(option == "--no-debug");
    else {
        check_lines();
        check_copies();
        check_threads();
        check_addr2line();
    }
    check_names();
    return checked();
}
