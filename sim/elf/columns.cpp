// The rewriter leaves a table in each object: paths, and points of the lines in which columns have changed
// (sim/rewrite/columns.cpp). It is read once. A line that is not in it has the columns that the compiler says.

#include "columns.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <vector>

extern const char __start_sim_columns[] __attribute__((weak)), __stop_sim_columns[] __attribute__((weak));

namespace sim {
namespace {

struct Point {
    int from, column;
    bool exact;
};
using Lines = std::map<int, std::vector<Point>>;

void read_line(const std::string& text, Lines& lines)
{
    std::istringstream in(text);
    int line = 0;
    Point point{};
    in >> line;
    for (char kind; in >> point.from >> kind >> point.column;) {
        point.exact = kind == '=';
        lines[line].push_back(point);
    }
}

std::map<std::string, Lines> read_tables()
{
    std::map<std::string, Lines> files;
    for (const char* table = __start_sim_columns; table && table < __stop_sim_columns;
         table += std::strlen(table) + 1) {
        std::istringstream in(table);
        Lines* file = nullptr;
        for (std::string line; std::getline(in, line);)
            if (line[0] == '/') file = &files[line];
            else if (file) read_line(line, *file);
    }
    return files;
}

}  // namespace

int source_column(const std::string& path, int line, int column)
{
    static const auto& files = *new std::map<std::string, Lines>(read_tables());
    const auto file = files.find(path);
    if (!column || file == files.end()) return 0;
    const auto points = file->second.find(line);
    if (points == file->second.end()) return column;
    Point last{1, 1, true};
    for (const Point& point : points->second)
        if (point.from <= column) last = point;
    return last.exact ? last.column + column - last.from : last.column;
}

}  // namespace sim
