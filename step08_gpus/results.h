// The results of step 8: a table for people, a CSV file for programs.

#pragma once

#include <string>
#include <vector>

#include "../common/options.h"
#include "traffic.h"

// What one way came to on one matrix.
struct Row {
    std::string kernel;
    bool verified;            // false: it transposes nothing, see Way::bound
    std::string refused;      // why it was not run; empty: it was
    std::vector<double> ms;   // measured
    sim::Traffic traffic;     // counted
};

// What the rows of one matrix share.
struct Setting {
    bool simulated;
    std::string machine, driver;
    int processes, gpus;
    harness::Type type;
    harness::Shape shape;
    double crossing;          // bytes that a GPU has for others, at most
    const Link& link;         // of the model
};

void print(const std::vector<Row>& rows, const Setting& setting);
// Simulator: who sends to whom, when.
void print_receivers(const std::vector<Row>& rows);

std::string csv_heading();
std::string csv_lines(const std::vector<Row>& rows, const Setting& setting);
