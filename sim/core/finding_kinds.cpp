#include "finding_kinds.h"

namespace sim {
namespace kinds {
namespace {

constexpr harness::Level error = harness::Level::error, warning = harness::Level::warning;

constexpr const char *of_order = "findings-about-order", *of_memory = "findings-about-memory",
                     *of_kernels = "findings-that-end-a-kernel", *of_calls = "findings-about-calls-of-the-runtime";

// Findings that end a thread or a kernel have none, because nothing after them was checked.
constexpr const char *memcheck = "memcheck", *racecheck = "racecheck", *initcheck = "initcheck",
                     *synccheck = "synccheck";

}  // namespace

const FindingKind race{"race", warning, "Two accesses to the same bytes, one of them a store, are not ordered.",
                       of_order, racecheck},
    divergent_barrier{"divergent-barrier", warning, "Some threads of a block do not come to a barrier.",
                      of_order, synccheck},
    divergent_warp{"divergent-warp", warning, "Lanes that a warp operation names or reads do not take part in it.",
                   of_order, synccheck},
    uninitialized_load{"uninitialized-load", warning, "A kernel loads memory that was never written.",
                       of_memory, initcheck},
    never_written{"never-written", warning, "A copy takes memory to the host that was never written.",
                  of_memory, initcheck},
    out_of_bounds_load{"out-of-bounds-load", error, "A load lies outside every array.", of_memory, memcheck},
    out_of_bounds_store{"out-of-bounds-store", error, "A store lies outside every array.", of_memory, memcheck},
    misaligned_access{"misaligned-access", error, "An address is not a multiple of its type's alignment.",
                      of_memory, memcheck},
    use_after_free{"use-after-free", error, "An access lies in memory that was freed.", of_memory, memcheck},
    host_pointer{"host-pointer", error, "A kernel accesses memory of the host, or through a null pointer.",
                 of_memory, memcheck},
    host_access{"host-access", error, "The host accesses memory of the device.", of_memory, memcheck},
    no_peer_access{"no-peer-access", error, "A kernel accesses another device without peer access.",
                   of_memory, memcheck},
    local_array{"local-array", warning, "An index leaves an array that is a local variable.", of_memory, memcheck},
    store_to_input{"store-to-input", warning, "A kernel changes its input.", of_memory, memcheck},
    never_freed{"never-freed", warning, "The program ends and has not freed this memory.", of_memory, memcheck},
    local_memory{"local-memory", error, "The local variables of a thread do not fit its stack.", of_kernels, ""},
    endless_loop{"endless-loop", error, "A loop of a kernel does not end.", of_kernels, ""},
    kernel_failed{"kernel-failed", error, "A thread stopped at an assertion, a trap or a call that is refused.",
                  of_kernels, ""},
    bad_copy{"bad-copy", error, "A copy does not fit the memory that it names.", of_calls, memcheck},
    bad_free{"bad-free", error, "A pointer is freed that cannot be.", of_calls, memcheck},
    bad_message{"bad-message", error, "A message of NCCL has no partner, or does not fit its memory.",
                of_calls, memcheck},
    event_not_reached{"event-not-reached", error, "A time is asked for before its event was waited for.",
                      of_calls, memcheck},
    not_waited_for{"not-waited-for", warning, "The program ends and has not waited for a kernel.",
                   of_calls, memcheck},
    unchecked_error{"unchecked-error", error, "A launch or a call failed and the program did not look.",
                    of_calls, memcheck},
    not_simulated{"not-simulated", error, "The simulator does not have what the program asks for.", of_calls, ""};

}  // namespace kinds

const std::vector<const harness::FindingKind*>& finding_kinds()
{
    using namespace kinds;
    static const auto& all = *new std::vector<const harness::FindingKind*>{&race,
                                                                           &divergent_barrier,
                                                                           &divergent_warp,
                                                                           &uninitialized_load,
                                                                           &never_written,
                                                                           &out_of_bounds_load,
                                                                           &out_of_bounds_store,
                                                                           &misaligned_access,
                                                                           &use_after_free,
                                                                           &host_pointer,
                                                                           &host_access,
                                                                           &no_peer_access,
                                                                           &local_array,
                                                                           &store_to_input,
                                                                           &never_freed,
                                                                           &local_memory,
                                                                           &endless_loop,
                                                                           &kernel_failed,
                                                                           &bad_copy,
                                                                           &bad_free,
                                                                           &bad_message,
                                                                           &event_not_reached,
                                                                           &not_waited_for,
                                                                           &unchecked_error,
                                                                           &not_simulated};
    return all;
}

}  // namespace sim
