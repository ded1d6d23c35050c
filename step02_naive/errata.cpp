// Step 2, errata: examples and host code with the faults that were published at this stage. The checks compute the same
// indices again.
//
//   make step02 && ./step02 --errata

#include "../common/step.h"

using harness::format;

// Row y of a matrix that is numbered from 1 on, row by row: its first number.
static std::string first_of_row(int width, int y, int published)
{
    const int number = y * width + 1;
    if (number == published) return "";
    return format("wrong example: row %d of a matrix of %d columns begins with %d and not with %d", y, width, number,
                  published);
}

static std::string numbersRowsWithHalfTheWidth() { return first_of_row(64, 1, 33); }
static std::string numbersRowsWithTheWidth() { return first_of_row(64, 1, 65); }

ERRATUM(numbersRowsWithHalfTheWidth, E25)
    .published_in("whitepaper's translation, example of coalescing")
    .with_methods(numbersRowsWithHalfTheWidth, numbersRowsWithTheWidth)
    .corrected_by("numbersRowsWithTheWidth")
    .story("Published: the first tile of a 64 x 64 matrix, element by element. Its rows are numbered 32 to a row, as "
           "if the matrix were as wide as the tile, and a half-warp sits on rows 0, 1, 2 and 3. With BLOCK_ROWS = 8 "
           "the threads of one half-warp take rows 0, 8, 16 and 24. The example calls this coalesced for the wrong "
           "reason. What remains: each half-warp reads 16 neighbouring floats of one row at a time.");

// How often a loop over i < i_end and j < j_end reads b[j * columns + i] outside of b, which has so many elements.
static std::string reads_outside(int i_end, int j_end, int columns, int elements)
{
    int outside = 0;
    for (int i = 0; i < i_end; ++i)
        for (int j = 0; j < j_end; ++j) outside += j * columns + i >= elements;
    return outside ? format("outside: %d of %d reads are beyond the end of the matrix", outside, i_end * j_end) : "";
}

// b has 50 rows of 70 columns.
static std::string loopsOverRowsFirst() { return reads_outside(50, 70, 70, 50 * 70); }
static std::string loopsOverColumnsFirst() { return reads_outside(70, 50, 70, 50 * 70); }

ERRATUM(loopsOverRowsFirst, E26)
    .published_in("book 8.1, a matrix product on one core")
    .with_methods(loopsOverRowsFirst, loopsOverColumnsFirst)
    .corrected_by("loopsOverColumnsFirst")
    .story("Published: before the product, b is transposed, so that its columns lie in a row. b has l rows of n "
           "columns, and the loops end at l and n where they must end at n and l: of 50 rows x 70 columns, 1000 of "
           "3500 reads are beyond the end of b. A later listing, in 18.1, has the right order. Squares are right. "
           "What remains: the gain of the product, which is of squares.");

// 2^24 floats, read and written, in so many seconds: is this the printed bandwidth?
static std::string divides_by(double seconds, double printed_gbs)
{
    const double gbs = 2.0 * 4 * 4096 * 4096 / seconds * 1e-9;
    if (gbs / printed_gbs < 1.001 && gbs / printed_gbs > 0.999) return "";
    return format("wrong formula: 0.134217728 GB / %.6f s is %.1f GB/s and not %.1f", seconds, gbs, printed_gbs);
}

static std::string dividesByTheCopysTime() { return divides_by(0.001610, 33.4874); }
static std::string dividesByItsOwnTime() { return divides_by(0.004008, 33.4874); }

ERRATUM(dividesByTheCopysTime, E33)
    .published_in("bandwidth post, naive transposes")
    .with_methods(dividesByTheCopysTime, dividesByItsOwnTime)
    .corrected_by("dividesByItsOwnTime")
    .story("Published: the bandwidths of the naive kernels by rows and by columns, with their formulas. The first "
           "fraction of each divides by the time of another kernel, 0.001610 s and 0.004202 s, which are those of "
           "copyRow and copyCol. The second one divides by the right time. What remains: the results, 33.5 and 63.2 "
           "GB/s.");
