// The constants of the model of times: their keys in machine files, and how each follows from the micro-benchmarks of
// bench/microbench.cu. A new constant is a member of Roofline and a row of the table in constants.cpp.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "machine_file.h"

namespace harness {

// The results of the micro-benchmarks on one card, by name.
class Measurements {
public:
    std::string date, card, driver;

    void set(const std::string& constant, double value) { values_[constant] = value; }
    // The value of a constant; not a number if it was not measured.
    double operator()(const char* constant) const;

private:
    std::map<std::string, double> values_;
};

// The CSV text that ./microbench prints. `from`: the beginning of messages. Throws bad input.
Measurements parse_measurements(const std::string& from, const std::string& text);

// A term of a constant, of one card. It is not a number if a measurement that it needs is missing.
using Term = double (*)(const Measurements& m);

struct Constant {
    Figure figure;
    std::vector<Term> terms;  // their sum is the constant
};

const std::vector<Constant>& constants();

// Gives the machine the constants that follow from the measurements. The first measurements are its own. Those of
// another card, which has the same SMs, count where its own do not have what a term needs. A constant that follows from
// none stays as it is. Returns a note for each key that does not follow from the card's own measurements. Throws bad
// input if a constant is then missing.
std::map<std::string, std::string> derive_constants(Machine& machine, const std::vector<Measurements>& measured);

// The machine on which a micro-benchmark runs, before its limits are known: the built-in one whose constants were
// measured on a card of this name, or one that has the label of the card and the limits of its capability. It is called
// as the file at `path`, in which it will be.
Machine machine_of_card(const std::string& card, int major, int minor, const std::string& path);

// The machine file that follows from measurements.
std::string measured_machine_text(Machine machine, const std::vector<Measurements>& measured);

}  // namespace harness
