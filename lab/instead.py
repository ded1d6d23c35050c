"""Names that a submission may not use, and what to write instead: the one list for the reader of its text
(submission.py), the judge of its object (objects.py) and the compiler's messages.

A row has the names, as an expression; what messages call them, or '' for the name itself; and what to do instead. Rows
of TEXT are refused wherever they stand in the text. Those of LIBRARY are names of functions and headers of the system,
or symbols that the compiler makes for them.
"""

import re

OWN = "choose another name"
OTHER_COMPILER = "it depends on the compiler, and nvcc has different ones"
NO_OUTPUT = "the grader reads no output; use make labNN CHECK=--explain or SHOW=1"
NO_MEMORY = "the matrices and the tile are all the memory that an exercise needs; use a local array or __shared__"
LOADS = "the exercises count plain loads and stores; use an assignment"

TEXT = [
    (r"asm", "", "the simulator cannot count its accesses; write CUDA C++"),
    (r"sim|harness|(?i:sim_)\w*", "", f"the name belongs to the simulator; {OWN}"),
    (r"gnu|clang", "", f"attributes of a compiler: {OTHER_COMPILER}; leave the attribute out"),
    (r"__builtin\w*|__attribute\w*|__declspec|__asm\w*|__extension__", "",
     f"{OTHER_COMPILER}; use CUDA's own functions"),
    (r"__CUDA\w*|__NVCC__|__GNUC\w*|__clang\w*|__cplusplus", "",
     "it differs between compilers; leave the condition out"),
    (r"_\w*|\w*__\w*", "", f"names with _ in front or __ inside belong to the compiler; {OWN}"),
]
LIBRARY = [
    (r"_ZN3sim5print\w*", "printf", NO_OUTPUT),
    (r"f?printf|f?put(s|char)|_?c(out|err)|_ZSt4c(out|err)|_ZNSo\w*|_ZStls\w*|c?stdio|[io]*stream", "", NO_OUTPUT),
    (r"_ZN3sim11note_malloc\w*|_Zn[wa]\w+", "new or malloc", NO_MEMORY),
    (r"_ZN3sim9note_free\w*|_Zd[la]\w+", "delete or free", NO_MEMORY),
    (r"malloc|calloc|realloc|free|c?stdlib|memory|vector|array", "", NO_MEMORY),
    (r"(sim_)?mem(cpy|move|set|cmp)|str\w+", "a function that copies memory or text", LOADS),
    (r"c?string|pipeline", "", LOADS),
    (r"_ZN3sim(6access|11note_atomic)\w*|__tsan_atomic\w*", "an atomic function", LOADS),
    (r"cooperative_groups", "", "use __syncthreads() for a block, and __shfl_sync() and __syncwarp() for a warp"),
    (r"_Z\d+cuda\w+|cuda[A-Z]\w*", "", "the harness allocates, waits and reports errors; leave it out"),
    (r"sort|copy|fill|algorithm|numeric|utility|thrust|cub|_ZN?K?St\w*", "",
     "the C++ library is host code; use loops, min, max and abs"),
    (r"s?rand(om)?|c?time|clock\w*|gettimeofday|chrono", "", "the result depends only on idata; leave it out"),
    (r"__cxa_((re)?throw|(allocate|free)_exception|(begin|end)_catch)|_ZTI[a-z]", "throw or catch",
     "kernels have no exceptions; use if"),
    (r"__cxa_guard\w+|__cxa_(thread_)?atexit|__dso_handle", "a static variable that is computed",
     "a kernel keeps nothing between launches; write static constexpr"),
    (r"__cxa_\w+|_ZT[VI]\w+|__dynamic_cast", "a virtual function", "use plain structures"),
    (r"abort|_?_?exit|quick_exit", "", "a function ends by return"),
    (r"f?open|read|write|system|popen|f?get[cs]|fork|exec\w+|unistd|fcntl|pthread|thread", "",
     "a submission has no files and no processes; leave it out"),
    (r"(sqrt|sin|cos|tan|exp|log|pow|fabs|floor|ceil|round|fmod)f?|c?math", "",
     "no exercise needs mathematics; leave it out"),
]
TABLES = {id(rows): re.compile("|".join(f"(?P<row{i}>{names})" for i, (names, *_) in enumerate(rows)))
          for rows in (TEXT, LIBRARY)}


def instead(name, rows=LIBRARY):
    """(what a name is called, what to do instead) of the first row that has it; or None."""
    match = TABLES[id(rows)].fullmatch(name)
    row = match and next(i for i in range(len(rows)) if match[f"row{i}"] is not None)
    return None if row is None else (rows[row][1] or name, rows[row][2])
