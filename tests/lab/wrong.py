"""Wrong solutions of the exercises: what is wrong, which checks that costs, and what the student is told.

Each is made from another file by a few edits, so that what stands here is what is wrong with it. `base`: the reference
solution; the hand-out; a kernel of a step, FILE KERNEL, with what it needs, under the exercise's name; or all of a
FILE.

python3 tests/lab/wrong.py FOLDER writes them, with the hand-outs and the solutions: a class to try `make grade` on.
"""

import pathlib
import re
import sys
from dataclasses import dataclass, field

from edits import edited

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclass
class Wrong:
    exercise: int
    name: str
    what: str   # is wrong, or done otherwise
    loses: str  # the names of the checks, all that are lost
    hint: str   # words in the hint of one of them
    edits: dict = field(default_factory=dict)  # {old: new}; each old stands in the base once
    base: str = "solution"


BARRIER = """
    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();
"""
NO_BARRIER = {BARRIER: ""}

WRONG = [
    # Exercise 1.
    Wrong(1, "columns", "A warp goes down a column: each of its lanes is in a sector of its own.",
          "loads, stores", "bytes apart", base="step01_copy/variants.cu copyCol"),
    Wrong(1, "copied_lesson", "The copy of step 1 under the exercise's name.",
          "loads, stores", "rows do not begin on the boundaries of sectors", base="step01_copy/step01.cu copy"),
    Wrong(1, "eight_lanes", "Sectors are all used, but a warp's request is for one of them alone.", "loads, stores",
          "the task needs", {"x * TILE_DIM + threadIdx": "x * SECTOR<T> + threadIdx",
                             "if (x >": "if (threadIdx.x < SECTOR<T> && x >",
                             "TILE_DIM - 1) / TILE_DIM,": "SECTOR<T> - 1) / SECTOR<T>,"}),
    Wrong(1, "floats_only", "Elements pass through a float on their way.", "double, loads, stores", "not for doubles",
          {"idata[size_t(y + j) * width + x]": "float(idata[size_t(y + j) * width + x])"}),
    Wrong(1, "only_squares", "Rows are tested against the width: right where width and height are the same.",
          "shapes, loads, stores", "wrong result", {"< height)": "< width && y + j < height)"}),
    Wrong(1, "only_tiles", "No block for what is left over of a whole number of tiles.",
          "shapes, loads, stores", "1025 x 64",
          {"(width + SECTOR<T> - 1 + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1)": "width / TILE_DIM, height"}),
    Wrong(1, "out_of_bounds", "Nobody tests the end of a row: the last one ends behind the matrix.",
          "double, clean, loads, stores", "out-of-bounds load", {"x < width && ": ""}),
    Wrong(1, "race", "Through shared memory, where another warp reads what this one wrote, and nobody waits.",
          "squares, shapes, double, clean, loads, stores", "race: read-after-write",
          {"    __syncthreads();\n": "    y += BLOCK_ROWS - 1 - 2 * int(threadIdx.y);\n",
           "= tile[threadIdx.y": "= tile[BLOCK_ROWS - 1 - threadIdx.y"},
          base="step01_copy/step01.cu copySharedMem"),
    Wrong(1, "wrong_direction",
          "Moved forwards by what it should be moved back; what is in front of that is left to the first block.",
          "loads, stores", "rows do not begin on the boundaries of sectors",
          {"- late": "+ late - TILE_DIM", "SECTOR<T> - 1 +": "2 *"}),
    # Exercise 2.
    Wrong(2, "copied_columns", "The variant by columns: one row of 32 per warp, on the other side.",
          "stores", "bytes apart", base="step02_naive/variants.cu transposeCol"),
    Wrong(2, "copied_lesson", "The naive transpose of step 2 under the exercise's name.",
          "stores", "bytes apart", base="step02_naive/step02.cu transposeNaive"),
    Wrong(2, "grid_exchanged", "The grid has its sides as those of the matrix, and not as the kernel uses them.",
          "shapes, stores", "so no thread comes to the others: look at the grid",
          {"(height + BLOCK_X - 1)": "(width + BLOCK_X - 1)", "(width + BLOCK_Y - 1)": "(height + BLOCK_Y - 1)"}),
    Wrong(2, "on_the_host", "The launcher transposes by itself, on the host, what a kernel has only touched.",
          "squares, shapes, double, clean, stores", "the host accesses device memory",
          {"block>>>(odata, idata, width, height);\n":
               "block>>>(odata, idata, width, height);\n    for (int y = 0; y < height; ++y)\n"
               "        for (int x = 0; x < width; ++x) odata[size_t(x) * height + y] = idata[size_t(y) * width + "
               "x];\n"}),
    Wrong(2, "only_squares", "Rows of odata are height long, not width.", "shapes, clean, stores", "wrong result",
          {" height ": " width "}),
    Wrong(2, "only_tiles", "No block for what is left over of a whole number of patches.", "shapes, stores", "1 x 1",
          {"(height + BLOCK_X - 1) / BLOCK_X, (width + BLOCK_Y - 1)": "height / BLOCK_X, width"}),
    Wrong(2, "out_of_bounds", "Nobody tests the end of a column: threads behind the matrix read there, and end.",
          "clean, stores", "out-of-bounds load", {" && y < height": ""}),
    Wrong(2, "patch_16x2", "A patch of 16 rows and 2 columns: stores could be no better, loads could.", "stores",
          "sectors of loads", {"BLOCK_X = 8;": "BLOCK_X = 16;", "= 32;": "= 16;"}),
    Wrong(2, "patch_4x8", "A patch of 4 rows and 8 columns: half of each sector that is stored.", "stores",
          "sectors of stores", {"BLOCK_X = 8;": "BLOCK_X = 4;"}),
    Wrong(2, "sides_exchanged", "The patch lies the other way round: it is the stores that get half sectors.", "stores",
          "sectors of stores", {"BLOCK_X = 32;": "BLOCK_X = 8;", "BLOCK_Y = 8;": "BLOCK_Y = 32;"}, base="hand-out"),
    Wrong(2, "tile", "Step 3: 4 sectors on both sides, and a tile that was not to be used.",
          "stores", "shared memory", base="step03_coalesced/step03.cu transposeCoalesced"),
    # Exercise 3.
    Wrong(3, "copied_lesson", "The tile of step 3, 32 x 32, under the exercise's name.",
          "stores", "4096 bytes", base="step03_coalesced/step03.cu transposeCoalesced"),
    Wrong(3, "copied_tile16", "The variant's tile of 16 x 16: half of what was asked for.",
          "stores", "1024 bytes", base="step03_coalesced/variants.cu transposeTile16"),
    Wrong(3, "divergent_barrier", "Threads behind the edge wait at another barrier than the others.",
          "clean, stores", "divergent barrier",
          {"    __syncthreads();\n": "    if (x < width)\n        __syncthreads();\n    else\n"
                                     "        __syncthreads();\n"}),
    Wrong(3, "early_return", "Threads behind the edge leave, and are missing when the tile is emptied.",
          "shapes, stores", "never written",
          {"TILE_HEIGHT + threadIdx.y;\n": "TILE_HEIGHT + threadIdx.y;\n\n    if (x >= width && blockIdx.x > 0 && "
                                           "width % 2) return;\n"}),
    Wrong(3, "guard_exchanged", "The guard of the store compares with the sides of idata.", "shapes, clean, stores",
          "it was never written", {"x < height && y + j < width": "x < width && y + j < height"}),
    Wrong(3, "no_barrier", "No barrier between filling and emptying the tile.",
          "squares, shapes, double, clean, stores", "race: read-after-write", NO_BARRIER),
    Wrong(3, "only_squares", "Rows of odata are height long, not width.", "shapes, clean, stores", "wrong result",
          {"* height +": "* width +"}),
    Wrong(3, "only_tiles", "No block for what is left over of a whole number of tiles.",
          "shapes, stores", "Not right at 1 x 1",
          {"(width + TILE_WIDTH - 1) / TILE_WIDTH, (height + TILE_HEIGHT - 1)": "width / TILE_WIDTH, height"}),
    Wrong(3, "tile_of_ints", "The tile holds ints, whatever the elements are.",
          "squares, shapes, double, stores", "check that tile and variables have the type T",
          {"__shared__ T tile": "__shared__ int tile"}),
    # Exercise 4.
    Wrong(4, "copied_lesson", "The padded tile of step 4 under the exercise's name.",
          "conflicts", "4224 bytes", base="step04_padding/step04.cu transposeNoBankConflicts"),
    Wrong(4, "copied_tile16", "The variant's swizzled tile of 16 x 16.",
          "conflicts", "1024 bytes", base="step04_padding/variants.cu transposeTile16Swizzled"),
    Wrong(4, "filled_only", "Swizzled when it is filled, and looked for where it would have been.",
          "squares, shapes, double, clean, conflicts", "wrong result", {"(row + j) ^ col / 2": "row + j"}),
    Wrong(4, "leaves_its_row", "XOR with all of the row: places 16 and above are in the next row.",
          "squares, shapes, double, clean, conflicts", "out-of-bounds load", {") / 2]": ")]", "col / 2]": "col]"}),
    Wrong(4, "no_barrier", "No barrier between filling and emptying the tile.",
          "squares, shapes, double, clean, conflicts", "race: read-after-write", NO_BARRIER),
    Wrong(4, "only_tiles", "No block for what is left over of a whole number of tiles.",
          "shapes, conflicts", "Not right at 1 x 1",
          {"(width + TILE_WIDTH - 1) / TILE_WIDTH, (height + TILE_HEIGHT - 1)": "width / TILE_WIDTH, height"}),
    Wrong(4, "padded", "Padded: columns do not conflict, but two rows filled together do.", "conflicts", "2176 bytes",
          {"TILE_WIDTH]": "TILE_WIDTH + 1]", " ^ (threadIdx.y + j) / 2": "", "(row + j) ^ col / 2": "row + j"}),
    Wrong(4, "swizzled_by_row", "The row modulo 16: of a column's 16 even rows two each meet.", "conflicts",
          "wavefronts for each", {") / 2]": ") % 16]", "col / 2];": "col % 16];"}),
    Wrong(4, "unswizzled", "Neither padded nor swizzled.", "conflicts", "16 wavefronts where 1",
          {" ^ (threadIdx.y + j) / 2": "", "(row + j) ^ col / 2": "row + j"}),
    Wrong(4, "missed_barrier", "Half of the threads pass by a barrier that nobody needs.", "double, clean, conflicts",
          "of the same warps pass it by",
          {"(row + j) ^ col / 2];\n": "(row + j) ^ col / 2];\n\n    if (threadIdx.x < 8) __syncthreads();\n"}),
    # Exercise 5.
    Wrong(5, "coarse", "The other half: tiles that are moved.", "squares, shapes, double, clean, conflicts",
          "as it was handed out", base="step05_decomposed/step05.cu transposeCoarseGrained"),
    Wrong(5, "conflicts", "Neither padded nor swizzled.", "conflicts", "a column of the tile lies in one bank",
          {".x ^ (threadIdx.y + j)] ": ".x] ",
           "(threadIdx.y + j) ^ threadIdx.x": "threadIdx.y + j",
           ".x ^ (threadIdx.y + j)];": ".x];"}),
    Wrong(5, "constant_changed", "The fine-grained kernel of step 5 with another constant: padded.", "conflicts",
          "16640 bytes", {"= 32;": "= 64;", "= 8;  /": "= 4;  /", "(TILE_DIM)": "(64)"},
          base="step05_decomposed/step05.cu transposeFineGrained"),
    Wrong(5, "copied_lesson", "The fine-grained kernel of step 5 with its own tiles of 32 x 32.",
          "squares, shapes, double, conflicts", "wrong result", {"(TILE_DIM)": "(64)"},
          base="step05_decomposed/step05.cu transposeFineGrained"),
    Wrong(5, "easier_tile", "Tiles of 32 x 32, and a KERNEL line that says so: an easier task.",
          "squares, shapes, double, clean, conflicts", "as it was handed out",
          {"= 64;": "= 32;", "transposes_each_tile(64),": "transposes_each_tile(32),"}),
    Wrong(5, "edge_left_out", "What has no mirror image is not written at all.", "shapes, conflicts", "never written",
          {"            else\n                odata[size_t(y + j) * width + x] = "
           "tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)];\n": ""}),
    Wrong(5, "no_barrier", "No barrier between filling and emptying the tile.",
          "squares, shapes, double, clean, conflicts", "race: read-after-write", NO_BARRIER),
    Wrong(5, "only_squares",
          "The mirror image of a column is tested against the height, that of a row against the width.",
          "shapes, clean, conflicts", "uninitialized", {"width && my < height": "height && my < width"}),
    Wrong(5, "only_tiles", "Nobody asks whether the mirror image is inside the matrix.", "shapes, clean, conflicts",
          "its mirror image in the tile, row 0, column 31, lies outside the matrix of 33 rows and 31 columns",
          {"mx + j < width && my < height": "true"}),
    Wrong(5, "swizzled_too_little", "XOR with half of the row: two rows each meet in a bank.", "conflicts",
          "2 wavefronts where 1", {"j)] =": "j) / 2] =", "threadIdx.x];": "threadIdx.x / 2];", "+ j)];": "+ j) / 2];"}),
    # Exercise 6.
    Wrong(6, "column_by_column", "Tiles in columns: blocks that run together read from one partition.",
          "partitions, looping", "busiest partition", {"(i / high + by) % wide": "i / high"}),
    Wrong(6, "copied_lesson", "The diagonal of step 6, a block for each tile: CUDA may not allow so many.",
          "tall, partitions, looping", "the task asks for 32 x 32", base="step06_diagonal/step06.cu transposeDiagonal"),
    Wrong(6, "divergent_barrier", "Threads that have nothing to store wait at another barrier than the others.",
          "clean, looping", "divergent barrier",
          {"must be done reading it.\n        __syncthreads();": "must be done reading it.\n        if (x < height)\n"
                                                                 "            __syncthreads();\n        else\n"
                                                                 "            __syncthreads();"}),
    Wrong(6, "one_barrier", "No barrier between emptying the tile and filling it again.",
          "shapes, clean, tall, looping", "race: write-after-read",
          {"must be done reading it.\n        __syncthreads();": "must be done reading it."}),
    Wrong(6, "one_turn", "Each block takes one tile: the first 1024.", "shapes, tall, partitions, looping",
          "never written",
          {"+= gridDim.x * gridDim.y": "= wide * high"}),
    Wrong(6, "other_barrier_only", "No barrier between filling and emptying the tile.",
          "squares, shapes, double, clean, tall, partitions, looping", "race: read-after-write",
          {"must be done writing.\n        __syncthreads();": "must be done writing."}),
    Wrong(6, "row_by_row", "Tiles in rows: blocks that run together write into one partition.", "partitions, looping",
          "busiest partition", {"by = i % high": "bx = i % wide", "bx = (i / high + by) %": "by = i /"}),
    Wrong(6, "unpadded", "The tile of step 3 on the way of step 6.", "partitions, looping",
          "lanes 0 and 1 meet in bank 0, at words 0 and 32 of shared memory", {"TILE_DIM + 1]": "TILE_DIM]"}),
    # Exercise 7.
    Wrong(7, "always_vectors", "Vectors whatever the width: most rows of an odd one begin where no vector may.",
          "shapes, clean, requests, height, doubles", "out-of-bounds",
          {"% N<T> ==": ">", "whole ? width / N<T> : width": "(width + N<T> - 1) / N<T>"}),
    Wrong(7, "copied_copy", "The copy of step 1: neither vectors nor tile.",
          "requests, height, doubles", "loads and stores for each", base="step01_copy/step01.cu copy"),
    Wrong(7, "dead_tile", "The copy goes into the tile, and not out of it.", "requests, height, doubles",
          "a tile that each element is loaded from",
          {"            tile[threadIdx.y + j][threadIdx.x] = *rein": "        {\n            const Vector<T> v = *rein",
           "idata[size_t(y + j) * width + x]);\n":
               "idata[size_t(y + j) * width + x]);\n            tile[threadIdx.y + j][threadIdx.x] = v;\n"
               "            *reinterpret_cast<Vector<T>*>(&odata[size_t(y + j) * width + x]) = v;\n        }\n",
           "            *reinterpret_cast<Vector<T>*>(&odata[size_t(y + j) * width + x]) = tile[threadIdx.y + j]"
           "[threadIdx.x];\n": "            continue;\n"}),
    Wrong(7, "copied_lesson", "The lesson of step 7 under the exercise's name: a transpose.",
          "squares, shapes, double, clean, requests, height, doubles", "as it was handed out",
          base="step07_long_pieces/step07.cu"),
    Wrong(7, "floats_only_vectors", "Doubles by elements.", "doubles", "256 x 256",
          {"== 0;": "== 0 && sizeof(T) == 4;"}),
    Wrong(7, "grid_not_divided", "A vector for each thread, and a thread for each element.",
          "requests, height, doubles", "divide the grid by the vector's length",
          {"BLOCK_ROWS = 8;": "BLOCK_ROWS = 32;", "width / N<T> :": "width :"}),
    Wrong(7, "height_too", "Vectors only where the height is a whole number of them, as a transpose needs it.",
          "height", "loads and stores for each", {"== 0;": "== 0 && height % N<T> == 0;"}),
    Wrong(7, "no_fallback", "Vectors for every matrix: what is left over of a row stays unwritten.",
          "shapes, clean, requests, height, doubles", "check that copyElements is launched for this width",
          {"width % N<T> == 0;": "true;", "int x = (blockIdx.x * TILE_DIM + threadIdx.x) * N<T>;\n": ""
           "int x = (blockIdx.x * TILE_DIM + threadIdx.x) * N<T>;\n    if (x + N<T> > width) x = width;\n"}),
    Wrong(7, "only_tiles", "No block for what is left over of a whole number of tiles.",
          "squares, shapes, requests, height, doubles", "round up where you divide",
          {"(across + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1)": "across / TILE_DIM, height"}),
    Wrong(7, "out_of_bounds", "Nobody tests where the rows of the elements end: the last one ends behind the matrix.",
          "clean, requests, height, doubles", "out-of-bounds load",
          {"(x < width && y + j < height)\n            odata": "(y + j < height)\n            odata"}),
    # Exercise 8.
    Wrong(8, "as_floats", "The elements pass through floats.",
          "double, speed", "Right for floats, not for doubles", {"    T in[": "    float in["}),
    Wrong(8, "copied_conflicts", "The lesson of step 3: the tile has bank conflicts.",
          "speed", "shared-memory wavefronts", base="step03_coalesced/step03.cu"),
    Wrong(8, "copied_copy", "A copy is faster than a transpose.",
          "squares, shapes, double, clean, speed", "as it was handed out", base="step01_copy/step01.cu copy"),
    Wrong(8, "copied_lesson", "The lesson of step 7, which reaches the target, and may be pasted in.",
          "", "", base="step07_long_pieces/step07.cu"),
    Wrong(8, "copied_one_load", "The book's kernel with tiles of 16 x 16: a thread loads one element.",
          "speed", "scattered stores", base="step04_padding/variants.cu transposeTile16Padded"),
    Wrong(8, "copied_padding", "The lesson of step 4: blocks that run together store far apart.",
          "speed", "scattered stores", base="step04_padding/step04.cu"),
    Wrong(8, "only_tiles", "No block for what is left over of a whole number of tiles.",
          "shapes, speed", "Not right at 1 x 1",
          {"(height + TILE_DIM - 1) / TILE_DIM, (width + TILE_DIM - 1)": "height / TILE_DIM, width"}),
    Wrong(8, "out_of_bounds", "The loads are not guarded.", "shapes, clean, speed", "out-of-bounds load",
          {"(x < width && y + j < height)\n            in": "(true)\n            in"}),
    Wrong(8, "race", "Nobody waits for the tile.",
          "squares, shapes, double, clean, speed", "race: read-after-write", {"    __syncthreads();\n": ""}),
    # Exercise 9.
    Wrong(9, "as_floats", "The elements pass through floats.", "double, crossing, receivers, conflicts",
          "Right for floats, not for doubles", {"__shared__ T tile": "__shared__ float tile"}),
    Wrong(9, "copied_lesson", "The lesson of step 8 with a launcher as the exercise has it: its tile is larger.",
          "crossing, receivers, conflicts", "8448 bytes", base="step08_gpus/step08.cu transposeToPeers"),
    Wrong(9, "forgets_itself", "Only the others get their rows.",
          "squares, shapes, crossing, receivers, conflicts", "never written",
          {"(columns + TILE_DIM - 1) / TILE_DIM, (rows + TILE_DIM - 1) / TILE_DIM, gpus)":
               "(columns + TILE_DIM - 1) / TILE_DIM, (rows + TILE_DIM - 1) / TILE_DIM, gpus - (gpus > 1))"}),
    Wrong(9, "grid_of_nothing", "No blocks on a GPU without rows: CUDA launches at least one.",
          "shapes, crossing, receivers, conflicts", "asks for 0 blocks",
          {"rows = (height + gpus - 1) / gpus;": "rows = first_row(height, me + 1, gpus) - first_row(height, me, "
                                                 "gpus);"}),
    Wrong(9, "looping", "A block takes all tiles of a row for a GPU: to the simulator this is one moment.",
          "crossing, receivers, conflicts", "a block for each 32 x 32 elements",
          {"    int left = columns + blockIdx.x * TILE_DIM;": "    for (int left = columns; left < columns_end; "
                                                              "left += TILE_DIM) {\n    __syncthreads();",
           "^ threadIdx.x];": "^ threadIdx.x];\n    }", "grid((columns + TILE_DIM - 1) / TILE_DIM,": "grid(1,"}),
    Wrong(9, "no_barrier", "No barrier between filling and emptying the tile.",
          "squares, shapes, double, clean, crossing, receivers, conflicts", "race: read-after-write", NO_BARRIER),
    Wrong(9, "only_tiles", "No block for what is left over of a whole number of tiles, unless there is none.",
          "shapes, crossing, receivers, conflicts", "never written",
          {"(columns + TILE_DIM - 1) / TILE_DIM, (rows + TILE_DIM - 1) / TILE_DIM,": "max(columns / TILE_DIM, 1), "
                                                                                     "max(rows / TILE_DIM, 1),"}),
    Wrong(9, "padded", "Padded, as in step 4.", "crossing, receivers, conflicts", "4224 bytes",
          {"tile[TILE_DIM][TILE_DIM]": "tile[TILE_DIM][TILE_DIM + 1]",
           "threadIdx.x ^ (threadIdx.y + j)] = idata": "threadIdx.x] = idata",
           "(threadIdx.y + j) ^ threadIdx.x]": "threadIdx.y + j]"}),
    Wrong(9, "plain_order", "All GPUs send to GPU 0 first.",
          "receivers", "different receivers", {"(me + 1 + blockIdx.z) % gpus": "blockIdx.z"}),
    Wrong(9, "rotated_only", "The order is right, and elements cross one by one.", "crossing, conflicts", "bytes apart",
          {"int peer = blockIdx.z;": "int peer = (me + blockIdx.z) % gpus;"}, base="hand-out"),
    Wrong(9, "unswizzled", "The tile has conflicts.", "conflicts", "a column of the tile lies in one bank",
          {"threadIdx.x ^ (threadIdx.y + j)] = idata": "threadIdx.x] = idata",
           "(threadIdx.y + j) ^ threadIdx.x]": "threadIdx.y + j]"}),
]

# How exercise 9 launches kernels of step 8.
ON_GPUS = {
    "transposeToPeers": """    constexpr int HIGH = 256 / sizeof(T);
    int rows = first_row(height, me + 1, gpus) - first_row(height, me, gpus), columns = (width + gpus - 1) / gpus;
    if (rows == 0) return;
    if (height % (gpus * LINE<T>) == 0)
        transposeToPeers<T, HIGH, 0>
            <<<dim3(gpus * ((rows + HIGH - 1) / HIGH), (columns + 31) / 32), dim3(LANES, WARPS)>>>(
                odata, idata, width, height, me, gpus);
    else
        transposeToPeers<T, HIGH + LINE<T>, LINE<T>>
            <<<dim3(gpus * ((rows + HIGH + LINE<T> - 1) / HIGH), (columns + 31) / 32), dim3(LANES, WARPS)>>>(
                odata, idata, width, height, me, gpus);
""",
}


def handout(exercise):
    own = next(ROOT.glob(f"step*/exercise{exercise:02}.cu"), None)
    return own or next(ROOT.glob(f"step{exercise:02}_*/exercise.cu"))


def solution(exercise):
    return ROOT / f"tests/lab/solutions/step{exercise:02}.cu"


def kernel_alone(text, kernel):
    """An exercise.cu with this kernel of a step's file: the constants it uses, itself, its launcher and its KERNEL
    line."""
    produces, launcher, shape = re.search(rf'^(?:BLOCK_)?KERNEL\({kernel}, "[^"]*", (.*?), (\w+)(?:, (\d+, \d+))?\)$',
                                          text, re.MULTILINE).groups()
    functions = {
        re.search(r"void (\w+)\(", function).group(1): function
        for function in re.findall(r"^template <typename T>\n(?:__global__ )?void .*?^}\n", text,
                                   re.MULTILINE | re.DOTALL)}
    code = functions[kernel] + "\n" + functions[launcher].replace("dim3 block)", f"dim3 block = dim3({shape}))")
    constants = [
        line for name, line in re.findall(r"^(?=constexpr int (\w+))(.*\n)", text, re.MULTILINE)
        if re.search(rf"\b{name}\b", code)]
    return ('#include "../common/step.h"\n\n' + "".join(constants) + "\n" + code
            + f'\nKERNEL({kernel}, "-", {produces}, {launcher})\n')


def on_gpus(text, kernel):
    """An exercise.cu with this kernel of step 8, which is launched as the exercise's is."""
    functions = re.findall(r"^template <typename T[^\n]*>\n__global__ .*?^}\n", text, re.MULTILINE | re.DOTALL)
    code = next(function for function in functions if f"void {kernel}(" in function)
    declared = re.findall(r"^(?:template <typename T> )?constexpr int [^\n]*\n|^enum class .*?^};\n", text,
                          re.MULTILINE | re.DOTALL)
    launcher = ("template <typename T>\nvoid launchExchange(Parts<T> odata, const T* idata, int width, int height, "
                f"int me, int gpus)\n{{\n{ON_GPUS[kernel]}}}\n")
    return ('#include "../common/step.h"\n\n' + "".join(declared) + "\n" + code + "\n" + launcher
            + f'\nKERNEL({kernel}, "-", transposes, launchExchange)\n')


def text_of(wrong):
    """The submission. AssertionError where an edit no longer finds its place."""
    if wrong.base in ("solution", "hand-out"):
        text = {"solution": solution, "hand-out": handout}[wrong.base](wrong.exercise).read_text()
    else:
        file, *kernels = wrong.base.split()
        text = (ROOT / file).read_text()
        if kernels:
            text = (on_gpus if wrong.exercise == 9 else kernel_alone)(text, *kernels)
        kernel, asked_for = (re.findall(r"^KERNEL\((\w+)", code, re.MULTILINE)[0]
                             for code in (text, handout(wrong.exercise).read_text()))
        text = re.sub(rf"\b{kernel}\b", asked_for, text)
    return edited(text, wrong.edits)


def write_class(folder):
    """Writes folder/NAME/stepNN/exercise.cu of every wrong solution, and NAME handed_out and solved: {(NAME, exercise):
    file}."""
    texts = {(wrong.name, wrong.exercise): text_of(wrong) for wrong in WRONG}
    for exercise in sorted({wrong.exercise for wrong in WRONG}):
        texts["handed_out", exercise] = handout(exercise).read_text()
        texts["solved", exercise] = solution(exercise).read_text()
    files = {
        (name, exercise): pathlib.Path(folder, name, f"step{exercise:02}", "exercise.cu") for name, exercise in texts}
    for key, file in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts[key])
    return files


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "plots"))
    import command_line
    parser = command_line.parser(__doc__)
    parser.add_argument("folder", metavar="FOLDER")
    folder = parser.parse_args().folder
    print(f"{len(write_class(folder))} submissions: make grade SUBMISSIONS={folder}")
