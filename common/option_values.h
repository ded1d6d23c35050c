// The values of options: each function reads one kind, and throws status_bad_input with one line that says what was
// wrong and what would be right.

#pragma once

#include <string>
#include <vector>

#include "base/whole_number.h"
#include "kernel.h"

namespace harness {

// The shape of idata: `height` rows of `width` elements.
struct Shape {
    int width, height;
};

// Indices in a kernel are ints and run on to the end of the last tile.
constexpr long max_side = 2147400000;

// `option`, here and below: the option's name without dashes, for the message.
double bandwidth_in(const char* option, const char* text);          // GB/s, above 0
std::string file_named(const char* option, const char* text);       // not empty
Type type_named(const std::string& name);
std::string device_named(const std::string& name);                  // auto, cuda or sim
std::vector<std::string> split(const std::string& text, char separator);  // an empty part stays one, to be refused
std::vector<Shape> shapes_in(const std::string& list);              // N or WxH, separated by commas
std::vector<Shape> sweep_named(const std::string& name);            // the sides that a source's table has
std::vector<Block> blocks_in(const std::string& list);              // XxY, separated by commas

// Refuses an argument that getopt_long() refused. `c`: what it returned, with options that begin with ':', for the
// argument before optind. `known`: the options that there are, for a suggestion.
[[noreturn]] void refuse_argument(int c, char** argv, const std::vector<std::string>& known);

// Throws status_bad_input with this message.
[[noreturn]] void refuse(const std::string& message);

}  // namespace harness
