#include "lessons.h"

#include <iterator>

namespace harness {
namespace {

// Every cell of the file is in quotes, and every line ends with a comma: it is CSV, which Python reads, and also a list
// of C++ strings.
const char* const lesson_cells[] = {
#include "lessons.csv"
};

enum LessonColumn { lesson_step, lesson_kernel, lesson_idea, lesson_columns };

static_assert(std::size(lesson_cells) % lesson_columns == 0, "a line of lessons.csv has too few or too many cells");

std::string lesson_cell(const std::string& kernel, LessonColumn column)
{
    for (size_t i = lesson_columns; i < std::size(lesson_cells); i += lesson_columns)  // after the heading
        if (lesson_cells[i + lesson_kernel] == kernel) return lesson_cells[i + column];
    return "";
}

}  // namespace

std::string idea_of(const std::string& kernel) { return lesson_cell(kernel, lesson_idea); }

}  // namespace harness
