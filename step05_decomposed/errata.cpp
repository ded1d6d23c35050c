// Step 5, errata: how the fine- and the coarse-grained kernel were checked when they were published.
//
//   make step05 && ./step05 --errata

#include <cmath>
#include <cstring>

#include "../common/step.h"

// Neither kernel makes a transpose, and the program had no other reference. It used the output itself.
static bool comparesWithOwnOutput(const float* odata, const float*, int width, int height)
{
    const float* gold = odata;
    for (size_t i = 0; i < size_t(width) * height; ++i)
        if (std::fabs(gold[i] - odata[i]) > 0.01f * std::fabs(gold[i])) return false;
    return true;
}

// A reference for the fine-grained kernel: element (x, y) of a tile of 32 comes from (y, x) of the
// same tile, if the matrix has such an element.
static bool comparesWithTurnedTiles(const float* odata, const float* idata, int width, int height)
{
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            int from_x = x / 32 * 32 + y % 32, from_y = y / 32 * 32 + x % 32;
            if (from_x >= width || from_y >= height) from_x = x, from_y = y;
            const float &found = odata[size_t(y) * width + x], &due = idata[size_t(from_y) * width + from_x];
            if (std::memcmp(&found, &due, sizeof(float))) return false;
        }
    return true;
}

ERRATUM(comparesWithOwnOutput, E4)
    .published_in("whitepaper's program, and the sample shipped with the toolkit")
    .caught_by("check-cannot-fail")
    .with_checks(comparesWithOwnOutput, comparesWithTurnedTiles, transposes_each_tile(32))
    .corrected_by("comparesWithTurnedTiles")
    .shown_on(100, 70)
    .story("Published: all kernels pass. The two that make half a transpose are compared with their own output, "
           "and would pass with nothing written at all. The program prints that it leaves this check out. What "
           "remains: their bandwidths, and with them the argument that the cost is in where the tiles go; that "
           "the kernels do what they are called had to be shown by others.");
