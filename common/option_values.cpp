#include "option_values.h"

#include <getopt.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/suggest.h"

namespace harness {
namespace {

constexpr long max_block = 1024;

// N or WxH.
Shape shape(const std::string& text)
{
    const std::vector<std::string> sides = split(text, 'x');
    const auto side = [&](const std::string& digits) {
        try {
            return whole_number("size", digits.c_str(), max_side);
        } catch (const Error&) {
            refuse(format("--size %s: expected N or WxH, for example 1024 or 2048x512, of whole numbers from 1 to %ld",
                          text.c_str(), max_side));
        }
    };
    if (sides.size() > 2) refuse("--size " + text + ": expected N or WxH, for example 1024 or 2048x512");
    return {side(sides.front()), side(sides.back())};
}

Block block_shape(const std::string& text)
{
    const std::vector<std::string> sides = split(text, 'x');
    if (sides.size() != 2) refuse("--block " + text + ": expected threads in x and in y, for example 32x8");
    const auto threads = [](const std::string& side) {
        return unsigned(whole_number("block", side.c_str(), max_block));
    };
    const Block block{threads(sides[0]), threads(sides[1])};
    if (block.x * block.y > max_block)
        refuse(format("--block %s: %u threads, and CUDA allows 1 to %ld", text.c_str(), block.x * block.y, max_block));
    return block;
}

}  // namespace

void refuse(const std::string& message) { throw Error{status_bad_input, message}; }

Type type_named(const std::string& name)
{
    std::vector<std::string> known;
    for (Type type : all_types) {
        if (name == name_of(type)) return type;
        known.push_back(name_of(type));
    }
    refuse("--type " + name + ": " + expected_one_of(name, known));
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts(1);
    for (char c : text)
        if (c == separator) parts.emplace_back();
        else parts.back() += c;
    return parts;
}

std::string file_named(const char* option, const char* text)
{
    if (!*text) refuse(format("--%s: expected a file name", option));
    return text;
}

std::string device_named(const std::string& name)
{
    const std::vector<std::string> known{"auto", "cuda", "sim"};
    if (std::find(known.begin(), known.end(), name) == known.end())
        refuse("--device " + name + ": " + expected_one_of(name, known));
    return name;
}

double bandwidth_in(const char* option, const char* text)
{
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || *end || !std::isfinite(value) || value <= 0)
        refuse(format("--%s %s: expected a bandwidth in GB/s above 0", option, text));
    return value;
}

std::vector<Shape> sweep_named(const std::string& name)
{
    std::vector<Shape> shapes;
    if (name != "book") refuse("--sweep " + name + ": expected book, which is 256, 512, 1024, 2048, 4096, 8192");
    for (int side = 256; side <= 8192; side *= 2) shapes.push_back({side, side});
    return shapes;
}

std::vector<Shape> shapes_in(const std::string& list)
{
    std::vector<Shape> shapes;
    for (const std::string& text : split(list, ',')) shapes.push_back(shape(text));
    return shapes;
}

std::vector<Block> blocks_in(const std::string& list)
{
    std::vector<Block> blocks;
    for (const std::string& text : split(list, ',')) blocks.push_back(block_shape(text));
    return blocks;
}

void refuse_argument(int c, char** argv, const std::vector<std::string>& known)
{
    const char* argument = argv[optind - 1];
    if (c == ':') refuse(format("%s needs a value; see --help", argument));
    if (optopt > 0 && optopt < ' ') refuse(format("%s: the option takes no value; see --help", argument));
    refuse(unknown_option(argv, known, "; see --help"));
}

}  // namespace harness
