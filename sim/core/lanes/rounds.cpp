#include "rounds.h"

#include <unwind.h>

#include <cstring>

#include "../../../common/base/hash.h"
#include "fibers.h"
#include "turns.h"

namespace sim {
namespace {

// Left out are the simulator's own frames beneath, and the number that counts the turns of the thread's loop.
struct ProgramState {
    const Fibers& fibers;
    uint64_t place, hash;

    void add(uint64_t word)
    {
        const uint64_t after = next_of(word);  // -O0 keeps the number of the last turn, too
        if (turn && (!((word ^ turn) & turn_bits) || !((after ^ turn) & turn_bits))) return;
        hash = harness::hash_of(hash, &word, sizeof word);
    }
    static _Unwind_Reason_Code look(_Unwind_Context* context, void* of)
    {
        ProgramState& state = *static_cast<ProgramState*>(of);
        if (_Unwind_GetIP(context) != state.place) return _URC_NO_REASON;
#if defined __x86_64__
        for (int r : {3, 6, 12, 13, 14, 15}) state.add(_Unwind_GetGR(context, r));
#else
        for (int r = 19; r < 30; ++r) state.add(_Unwind_GetGR(context, r));
#endif
        const std::string_view stack = state.fibers.stack(reinterpret_cast<const char*>(_Unwind_GetCFA(context)));
        for (size_t at = 0; at + sizeof(uint64_t) <= stack.size(); at += sizeof(uint64_t)) {
            uint64_t word;
            std::memcpy(&word, &stack[at], sizeof word);
            state.add(word);
        }
        return _URC_NORMAL_STOP;
    }
};

}  // namespace

__thread uint64_t clock_reads;
volatile sig_atomic_t stopping = 0;

uint64_t& most_turns()
{
    static uint64_t most = uint64_t(1) << 30;
    return most;
}

uint64_t program_state(const Fibers& fibers, uint64_t place)
{
    ProgramState state{fibers, place, 0};
    _Unwind_Backtrace(ProgramState::look, &state);
    return state.hash;
}

}  // namespace sim
