// The rewriter leaves a table in each object: paths, and points of the lines in which columns have changed
// (sim/rewrite/columns.cpp). A line that is not in it has the compiler's columns. Only findings need columns, so the
// tables are searched anew each time.

#include "columns.h"

#include <cstring>
#include <sstream>

extern const char __start_sim_columns[] __attribute__((weak)), __stop_sim_columns[] __attribute__((weak));

namespace sim {

int source_column(const std::string& path, int line, int column)
{
    int found = column;
    bool known = false;
    const char* table = __start_sim_columns;
    for (; table && table < __stop_sim_columns; table += std::strlen(table) + 1) {
        std::istringstream in(table);
        bool here = false;
        for (std::string text; std::getline(in, text);) {
            if (text[0] == '/') {
                here = text == path;
                known = known || here;
            } else if (here) {
                std::istringstream points(text);
                int number, from, to;
                points >> number;
                if (number != line) continue;
                for (char kind; points >> from >> kind >> to;)
                    if (from <= column) found = kind == '=' ? to + column - from : to;
            }
        }
    }
    return known && column ? found : 0;
}

}  // namespace sim
