// The report of a program, from its counts, findings and notes: for the terminal, and as text of files.

#pragma once

#include <string>

namespace sim {

// Prints the report on standard output, when the program has ended.
void print_summary();

// --csv: a line for each access of each kernel and shape, all launches together.
std::string counts_csv();

// --json: the counts and the findings, for other programs. docs/OUTPUT.md lists the members.
std::string report_json();
std::string report_page();

// --sarif: the findings in the Static Analysis Results Interchange Format 2.1.0, which code reviews show at the line.
std::string sarif_text();

}  // namespace sim
