// Step 4, errata: an explanation with the fault that was published at this stage. The check computes the banks again.
//
//   make step04 && ./step04 --errata

#include "../common/step.h"

using harness::format;

// The bank of tile[row][column], of 16 banks as the whitepaper's cards have them. `columns`: of a row with its padding.
static int bank_of(int row, int column, int columns) { return (row * columns + column) % 16; }

struct Element {
    int row, column;
};

// Do all of these elements of a padded tile of 32 x 33 lie in bank 0?
static std::string in_bank_0(const Element (&elements)[4])
{
    for (const Element& e : elements)
        if (const int bank = bank_of(e.row, e.column, 33))
            return format("wrong bank: tile[%d][%d] of a padded tile lies in bank %d and not in bank 0",
                          e.row, e.column, bank);
    return "";
}

static std::string shiftsBanksTheWrongWay()
{
    const Element published[] = {{0, 0}, {0, 17}, {1, 0}, {1, 17}};
    return in_bank_0(published);
}

static std::string shiftsBanksByTheRow()
{
    const Element right[] = {{0, 0}, {0, 16}, {1, 15}, {1, 31}};
    return in_bank_0(right);
}

ERRATUM(shiftsBanksTheWrongWay, E29)
    .published_in("whitepaper's translation, explanation of bank conflicts")
    .with_methods(shiftsBanksTheWrongWay, shiftsBanksByTheRow)
    .corrected_by("shiftsBanksByTheRow")
    .story("Published: columns k and k + 16 of the tile share a bank, two half-warps read them at the same time, and "
           "this is the conflict of 16 ways. After padding, bank 0 has tile[0][17] and tile[1][0]. Two half-warps "
           "never conflict, since each is a request. The 16 lanes of one half-warp read one column, and without "
           "padding all of it lies in one bank. With padding, tile[row][column] lies in bank (row + column) mod 16, "
           "so bank 0 has tile[1][15]. What remains: the cure, one more column.");
