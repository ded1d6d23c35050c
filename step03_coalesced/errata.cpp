// Step 3, errata: a program and an example with the faults that were published at this stage.
//
//   make step03 && ./step03 --errata

#include <vector>

#include "../common/step.h"

using harness::format;

// One kernel of a program that times several, each after the one before. The launch of this one fails, so it writes
// nothing. Does the comparison with the reference find that? `clears`: whether the output is cleared before the launch.
static std::string after_a_failed_launch(bool clears)
{
    const std::vector<float> reference{1, 3, 2, 4};
    std::vector<float> odata = reference;  // the result of the kernel before
    if (clears) odata.assign(odata.size(), -1);
    if (odata != reference) return "";
    return "a check that a failed launch passes: the output still has the last kernel's result";
}

static std::string keepsTheLastOutput() { return after_a_failed_launch(false); }
static std::string clearsTheOutput() { return after_a_failed_launch(true); }

ERRATUM(keepsTheLastOutput, E27)
    .published_in("whitepaper's program")
    .with_methods(keepsTheLastOutput, clearsTheOutput)
    .corrected_by("clearsTheOutput")
    .story("Published: one program that runs eight kernels in turn and compares each result with a reference. The "
           "output is never cleared, and no launch is asked for its error. A kernel that does not run at all leaves "
           "the result of the kernel before it. Where both have the same reference, as the shared memory copy after "
           "the copy and the coalesced kernel after the naive one, the check passes. What remains: all times, if "
           "every launch succeeded. Here the output is poisoned before each run.");

// Where the seventh thread of a block is, and which element of the transposed tile it takes: 6 counted from 0, row by
// row, first in `columns` x `rows` and then by columns.
static std::string seventh_thread(int columns, int rows)
{
    const int tid = 6, x = tid % columns, y = tid / columns, to_x = tid / rows, to_y = tid % rows;
    if (x == 2 && y == 1 && to_x == 2 && to_y == 0) return "";
    return format("wrong example: of %d columns and %d rows, the seventh thread is (%d, %d) and takes (%d, %d); "
                  "(2, 1) and (2, 0) are those of %d columns and %d rows",
                  columns, rows, x, y, to_x, to_y, rows, columns);
}

static std::string hasThreeColumns() { return seventh_thread(3, 4); }
static std::string hasFourColumns() { return seventh_thread(4, 3); }

ERRATUM(hasThreeColumns, E28)
    .published_in("remap post")
    .with_methods(hasThreeColumns, hasFourColumns)
    .corrected_by("hasFourColumns")
    .story("Published: in a block of 3 columns and 4 rows the seventh thread, (2, 1), takes element (2, 0) of the "
           "tile. In such a block this thread is (0, 2) and takes (1, 2). The example is computed with 4 columns and "
           "3 rows. What remains: the way to number the threads again, which the code has right.");
