// The kinds of findings. A new one is a row of this table, and the code that finds it.
//
// A row: its name in C++, its id for programs, how grave it is, the section of sim/README.md that explains it, the tool
// of compute-sanitizer that looks for it, the CUDA error that it leaves, whether it costs points in the lab, what its
// sentence begins with, and one sentence about it. The rows are in the order of sim/README.md. The last ones, which
// have no section there, are findings of the steps' harness about a kernel as a whole.

#pragma once

#include "finding.h"

namespace harness {

// Columns of the table. Findings that end a thread or a kernel have no tool, because nothing after them was checked.
namespace finding_columns {
constexpr const char *order = "findings-about-order", *memory = "findings-about-memory",
                     *kernels = "findings-that-end-a-kernel", *calls = "findings-about-calls-of-the-runtime",
                     *steps = "";
constexpr const char *memcheck = "memcheck", *racecheck = "racecheck", *initcheck = "initcheck",
                     *synccheck = "synccheck", *every = "";
constexpr bool points = true, no_points = false;
// The numbers of cudaErrorIllegalAddress and so on. The kernel goes on where there is none.
constexpr int no_error = 0, illegal_address = 700, launch_timeout = 702, stack_error = 714, misaligned_address = 716,
              launch_failure = 719;
}  // namespace finding_columns

// clang-format off
#define FINDING_KINDS(ROW) \
    ROW(race, "race", warning, order, racecheck, no_error, points, "", \
        "Two accesses to the same bytes, one of them a store, are not ordered.") \
    ROW(divergent_barrier, "divergent-barrier", warning, order, synccheck, no_error, points, "", \
        "Some threads of a block do not come to a barrier.") \
    ROW(divergent_warp, "divergent-warp", warning, order, synccheck, no_error, points, "", \
        "Lanes that a warp operation names or reads do not take part in it.") \
    ROW(uninitialized_load, "uninitialized-load", warning, memory, initcheck, no_error, points, "uninitialized load", \
        "A kernel loads memory that was never written.") \
    ROW(never_written, "never-written", warning, memory, initcheck, no_error, no_points, "", \
        "A copy takes memory to the host that was never written.") \
    ROW(out_of_bounds_load, "out-of-bounds-load", error, memory, memcheck, illegal_address, points, \
        "out-of-bounds load", "A load lies outside every array.") \
    ROW(out_of_bounds_store, "out-of-bounds-store", error, memory, memcheck, illegal_address, points, \
        "out-of-bounds store", "A store lies outside every array.") \
    ROW(misaligned_access, "misaligned-access", error, memory, memcheck, misaligned_address, points, \
        "misaligned access", "An address is not a multiple of its type's alignment.") \
    ROW(use_after_free, "use-after-free", error, memory, memcheck, illegal_address, points, "use after free,", \
        "An access lies in memory that was freed.") \
    ROW(host_pointer, "host-pointer", error, memory, memcheck, illegal_address, points, "", \
        "A kernel accesses memory of the host, or through a null pointer.") \
    ROW(host_access, "host-access", error, memory, memcheck, no_error, points, "", \
        "The host accesses memory of the device.") \
    ROW(no_peer_access, "no-peer-access", error, memory, memcheck, illegal_address, points, \
        "no peer access: a {access}", "A kernel accesses another device without peer access.") \
    ROW(local_array, "local-array", warning, memory, memcheck, no_error, points, "", \
        "An index leaves an array that is a local variable.") \
    ROW(division_by_zero, "division-by-zero", warning, memory, every, no_error, points, "", \
        "An integer is divided by zero, so the result is undefined.") \
    ROW(store_to_input, "store-to-input", warning, memory, memcheck, no_error, points, "store to the input,", \
        "A kernel changes its input.") \
    ROW(never_freed, "never-freed", warning, memory, memcheck, no_error, no_points, "", \
        "The program ends and has not freed this memory.") \
    ROW(local_memory, "local-memory", error, kernels, every, stack_error, points, "", \
        "The local variables of a thread do not fit its stack.") \
    ROW(endless_loop, "endless-loop", error, kernels, every, launch_timeout, points, "", \
        "A loop of a kernel does not end.") \
    ROW(kernel_failed, "kernel-failed", error, kernels, every, launch_failure, points, "", \
        "A thread stopped at an assertion, a trap, a store to a constant or a refused call.") \
    ROW(bad_copy, "bad-copy", error, calls, memcheck, no_error, no_points, "", \
        "A copy does not fit the memory that it names.") \
    ROW(bad_free, "bad-free", error, calls, memcheck, launch_failure, points, "", \
        "A pointer is freed that cannot be.") \
    ROW(bad_message, "bad-message", error, calls, memcheck, no_error, no_points, "", \
        "A message of NCCL has no partner, or does not fit its memory.") \
    ROW(event_not_reached, "event-not-reached", error, calls, memcheck, no_error, no_points, "", \
        "A time is asked for before its event was waited for.") \
    ROW(not_waited_for, "not-waited-for", warning, calls, memcheck, no_error, no_points, "", \
        "The program ends and has not waited for a kernel.") \
    ROW(unchecked_error, "unchecked-error", error, calls, memcheck, no_error, no_points, "", \
        "A launch or a call failed and the program did not look.") \
    ROW(not_simulated, "not-simulated", error, calls, every, no_error, no_points, "", \
        "The simulator does not have what the program asks for.") \
    ROW(wrong_result, "wrong-result", error, steps, every, no_error, no_points, "", \
        "The output is not what the kernel must produce.") \
    ROW(same_launch, "same-launch", error, steps, every, no_error, no_points, "", \
        "Two kernels of a program launch the same.") \
    ROW(refused_launch, "refused-launch", error, steps, every, no_error, no_points, "", \
        "The kernel cannot be launched on this shape.") \
    ROW(impossible_time, "impossible-time", error, steps, every, no_error, no_points, "", \
        "A bandwidth is above the DRAM's peak, and the data do not fit the L2.") \
    ROW(bank_conflicts, "bank-conflicts", warning, steps, every, no_error, no_points, "", \
        "Lanes of a warp meet in a bank of shared memory.") \
    ROW(check_cannot_fail, "check-cannot-fail", error, steps, every, no_error, no_points, "", \
        "A check of results accepts a wrong one.") \
    ROW(check_refuses, "check-refuses", error, steps, every, no_error, no_points, "", \
        "A check of results refuses a right one.") \
    ROW(bad_method, "bad-method", error, steps, every, no_error, no_points, "", \
        "A published figure, or the method behind it, cannot be right.") \
    ROW(failed_peer, "failed-peer", error, steps, every, no_error, no_points, "", \
        "A kernel of another library could not run.") \
    ROW(failed_run, "failed-run", error, steps, every, no_error, no_points, "", \
        "The run ended before it had a result.") \
    ROW(total, "total", warning, steps, every, no_error, no_points, "", \
        "The number of findings on a kernel.")
// clang-format on

namespace kinds {

#define FINDING_KIND(name, id, level, section, tool, error, costs, title, text)                                        \
    inline constexpr FindingKind name{id,                                                                              \
                                      Level::level,                                                                    \
                                      finding_columns::section,                                                        \
                                      finding_columns::tool,                                                           \
                                      finding_columns::error,                                                          \
                                      finding_columns::costs,                                                          \
                                      title,                                                                           \
                                      text};
FINDING_KINDS(FINDING_KIND)
#undef FINDING_KIND

}  // namespace kinds

#define FINDING_KIND(name, ...) &kinds::name,
inline constexpr const FindingKind* finding_kinds[] = {FINDING_KINDS(FINDING_KIND)};
#undef FINDING_KIND

}  // namespace harness
