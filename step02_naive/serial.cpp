// Step 2, variants: the transpose on one core of the CPU.
//
//   make step02 && ./step02 --all
//
// A CPU has the same problem: along one side it steps through memory, along the other it
// jumps. The remedy here is to stay within a block that fits into the caches.

#include <algorithm>
#include <cstring>

#include "../common/step.h"

// Reads along the rows of idata, writes down the columns of odata.
template <typename T>
void transposeSerialRead(T* odata, const T* idata, int width, int height)
{
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

SERIAL(transposeSerialRead, "B1", transposes)

// Reads down the columns of idata, writes along the rows of odata.
template <typename T>
void transposeSerialWrite(T* odata, const T* idata, int width, int height)
{
    for (int x = 0; x < width; ++x)
        for (int y = 0; y < height; ++y)
            odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

SERIAL(transposeSerialWrite, "B2", transposes)

// Block by block: the cache holds the block's 64 pieces of rows of idata and 64 of odata, so all
// of a cache line is used before it leaves the cache.
template <typename T>
void transposeSerialBlocked(T* odata, const T* idata, int width, int height)
{
    constexpr int BLOCK = 64;
    for (int top = 0; top < height; top += BLOCK)
        for (int left = 0; left < width; left += BLOCK)
            for (int x = left; x < std::min(left + BLOCK, width); ++x)
                for (int y = top; y < std::min(top + BLOCK, height); ++y)
                    odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

SERIAL(transposeSerialBlocked, "-", transposes)

// width and height change places: the loops run over the wrong sides of the matrix.
template <typename T>
void transposeSerialExchanged(T* odata, const T* idata, int width, int height)
{
    for (int x = 0; x < height; ++x)
        for (int y = 0; y < width; ++y)
            odata[size_t(x) * width + y] = idata[size_t(y) * height + x];
}

SERIAL(transposeSerialExchanged, "E9", transposes)

ERRATUM(transposeSerialExchanged, E9)
    .published_in("book 9.1")
    .caught_by("wrong-result")
    .corrected_by("transposeSerialWrite")
    .shown_on(70, 50)
    .story("Published: the second of two serial transposes of an m x n matrix, as fast as the first. It "
           "indexes with m and n exchanged, which is right for squares and nothing else, and only squares were "
           "run. What remains: the times, which are of squares; not the function.");

// The reference that kernels are compared with. It takes the width for the height.
template <typename T>
void transposeSerialSquare(T* odata, const T* idata, int width, int height)
{
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            odata[size_t(x) * width + y] = idata[size_t(y) * width + x];
}

SERIAL(transposeSerialSquare, "E17", transposes)

ERRATUM(transposeSerialSquare, E17)
    .published_in("bandwidth post")
    .caught_by("wrong-result")
    .corrected_by("transposeSerialRead")
    .shown_on(50, 70)
    .story("Published: a transpose on the CPU, as the reference for all kernels. It takes the width for the "
           "length of a row of the output, which is right for squares: of 70 rows x 50 columns 3430 of 3500 "
           "elements are wrong. A wrong reference convicts right kernels, and acquits those with the same fault. "
           "What remains: the times; only squares were run.");

// Is the largest difference small enough? But the result is compared with itself.
static bool comparesWithItself(const float* odata, const float*, int width, int height)
{
    const float* host_result = odata;
    for (size_t i = 0; i < size_t(width) * height; ++i)
        if (std::max(odata[i], host_result[i]) - std::min(odata[i], host_result[i]) > 1e-8f) return false;
    return true;
}

// Every element must be the one that belongs there. Bits are compared and not values, because
// a difference that is NaN exceeds no bound.
static bool comparesWithTheInput(const float* odata, const float* idata, int width, int height)
{
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            if (std::memcmp(&odata[size_t(x) * height + y], &idata[size_t(y) * width + x], sizeof(float))) return false;
    return true;
}

ERRATUM(comparesWithItself, E5)
    .published_in("bandwidth post")
    .caught_by("check-cannot-fail")
    .with_checks(comparesWithItself, comparesWithTheInput, transposes)
    .corrected_by("comparesWithTheInput")
    .shown_on(70, 50)
    .story("Published: every kernel's result passes the check. The check is given the same array twice, so it "
           "would pass anything, an output that was never written included. What remains: the times, of kernels "
           "that nothing has shown to be right.");
