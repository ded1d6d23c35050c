// One host thread's share of the simulator: it runs blocks, one at a time, and has an account of what
// their threads did.

#pragma once

#include <atomic>
#include <unordered_map>
#include <vector>

#include "checker.h"
#include "counter.h"
#include "drawer.h"
#include "findings.h"
#include "global_checker.h"
#include "memory.h"
#include "order.h"
#include "splitter.h"
#include "../elf/places.h"
#include "shared_memory.h"
#include "simulator.h"
#include "threads.h"
#include "tracer.h"
#include "watch.h"

namespace sim {

// A launch, as all host threads see it.
struct Grid {
    const Launching* launching;
    const Code* code;
    const Settings* settings;
    const harness::Machine* machine;
    const Rules* rules;
    Windows* windows;
    dim3 grid{}, block{};
    uint64_t blocks = 0;                  // that run
    uint64_t earlier_blocks = 0;          // of earlier launches
    uint64_t chunk = 1;                   // blocks taken at a time
    std::atomic<uint64_t> next_block{0};  // the first one nobody has taken
    bool alone = true;                    // one host thread runs them all
    std::atomic<bool> endless{false};  // a thread was found that never ends: the grid ends there
    uint64_t l1_share = 0;             // bytes of the L1 that a block has
    uint64_t all_blocks = 0;           // of the grid: more than `blocks` if these are a sample
    std::atomic<uint64_t> done{0};     // blocks that have run
    // The number of the nth block of a sample: the first, the last, and others evenly between.
    uint64_t block_at(uint64_t n) const
    {
        if (blocks < 2 || blocks == all_blocks) return n;
        return uint64_t((unsigned __int128)n * (all_blocks - 1) / (blocks - 1));
    }
    bool over() const { return stopping || endless; }
};

class Worker : private ThreadObserver {
public:
    Worker();
    Worker(const Worker&) = delete;
    static Worker* here();  // of this host thread, while it runs blocks

    void start(Grid& grid);
    void run_block(uint64_t number);  // `number`: among the blocks that run
    void run_the_rest();

    // The following functions are called on the fiber of a thread.
    // The beginning of a function's frame, if compilers keep a frame pointer.
    struct Frame {
        const Frame* link;
        uint64_t back;  // where it returns to
    };
    // The frame of a function that a hook is, or was called by.
    Worker& called_by(const void* frame)
    {
        caller_at_ = static_cast<const Frame*>(frame);
        caller_ = *caller_at_;  // copied, because the frame may be gone soon: compilers turn the last call into a jump
        return *this;
    }
    void look(uintptr_t address, Site site);
    void look_at_range(uintptr_t address, size_t bytes, Kind kind, uint64_t place, unsigned otherwise);
    void note_fence(Scope scope, uint64_t place);
    void note_release(uintptr_t address, bool relaxed, Scope scope, uint64_t place);
    void note_acquire(uintptr_t address, bool relaxed, uint64_t place);
    void note_confirmed(uintptr_t address);
    void note_unread(uint64_t place) { sites_.note_unread(uint32_t(place)); }
    // An array of the running thread that lies in local memory, while it lives.
    void local_begins(Range array);
    void local_ends();
    [[noreturn]] void fail(const FindingKind& kind, const std::string& text, uint64_t place, bool asserted = false);
    void fail_if_host_address(uintptr_t address, uint64_t place);
    // A shuffle reads the value of a lane that takes no part in it. `spare`: the last lanes of a sum over a warp may,
    // because nothing uses what they have then. It is a finding if they store before they load or exchange again.
    void note_absent(unsigned source, uint32_t mask, bool spare, uint64_t place);
    void forget_absent() { doubtful_[threads_.current() / warp_size] &= ~(1u << threads_.current() % warp_size); }
    // An index lies beyond the end of an array of this type: a finding, unless an access shows that the array is a row
    // of a larger one.
    void suspect_index(int64_t index, const std::string& type, Spot spot, uint64_t place);
    void settle_index();  // no such access came: the array is the thread's own
    // An access through a pointer to a type that needs more alignment than the address has.
    [[noreturn]] void refuse_misaligned(uintptr_t address, Kind kind, const std::string& type, unsigned alignment,
                                        uint64_t place);
    // A reference to a type was bound to an address that lacks its alignment.
    struct Misaligned {
        uintptr_t address = 0;
        unsigned alignment = 1;
        const char* type = nullptr;
    };
    // malloc and free in a kernel. The pieces are checked where one host thread runs all blocks, because the others
    // would look for memory while it changes.
    void note_malloc(uintptr_t address, size_t bytes, uintptr_t heap, uint64_t place);
    void note_free(uintptr_t address, uint64_t place);
    void note_misaligned(const Misaligned& reference);

    Threads& threads() { return threads_; }
    SharedMemory& shared() { return shared_; }
    const Grid& grid() const { return *grid_; }
    const Settings& settings() const { return *grid_->settings; }
    GlobalChecker& begin_copy(uint64_t block, const std::vector<Beside>& beside);  // no kernel runs

    // Counts and findings since they were last taken.
    Counter counter;
    Findings findings;
    uint64_t barriers = 0;
    uint64_t most_shared_bytes = 0;   // of a block

private:
    void warp_stopped(int warp) override;
    void barrier_opens() override;
    void warp_syncs(int warp, uint32_t lanes) override;
    void barriers_differ(const Waiting& first, const Waiting& second, int elsewhere) override;
    void barrier_missed(uint64_t place, int missing) override;
    void barrier_passed_by(const Waiting& here, const Waiting& missing) override;
    void lanes_missed(uint64_t place, int thread, uint32_t mask, uint32_t came, const Waiting& missing) override;
    void mask_differs(uint64_t place, int thread, uint32_t mask, int other, uint32_t other_mask) override;
    void never_ends(uint64_t place, int thread, bool stuck, const Arrivals* awaited) override;
    uint64_t changes() override;
    __attribute__((cold)) void note_change(const Request& request);
    void settle() override { settle_index(); }

    template <typename Event>
    void note_event(uint64_t place, Event event);
    void add(const FindingKind& kind, uint64_t place, int thread, const std::string& text, bool asserted = false);
    __attribute__((cold)) void look_for_doubt(const Request& request, int warp);
    void look_for_suspect(uintptr_t address, Site site);
    void look_for_misaligned(uintptr_t address, size_t bytes, Kind kind, uint64_t place);
    [[noreturn]] void fail_index(const std::string& array, size_t suspect = 0);
    void forget_suspects()  // those of a thread that ends are not the next one's
    {
        suspects_.clear();
        suspicious = false;
    }
    void make_room(uint64_t place);
    bool may_pass(uintptr_t address, Site site, unsigned piece);
    void look_at_local(uintptr_t address, Site site);
    const char* fault_on_stack(uintptr_t address, Site site, unsigned bytes) const;
    bool is_unwatched(uintptr_t address, Site site, unsigned piece) const;
    // The array or allocation that holds an address, freed ones included, or null.
    Array* array_at(uintptr_t address, uint64_t place);
    unsigned piece_of(uintptr_t address, size_t bytes, uint64_t place, unsigned otherwise);
    [[noreturn]] void refuse(const FindingKind& kind, uintptr_t address, Site site, const Array* array,
                             const std::string& text = "");
    [[noreturn]] void refuse_stray(uintptr_t address, Site site);
    void check_output(const Allocation& memory, uintptr_t address, Site site);
    void request(const Request& request, int warp);

    Grid* grid_ = nullptr;
    uint64_t block_ = 0;
    WarpRecord record_;
    Threads threads_;
    SharedMemory shared_;
    Order order_;
    Sites sites_;
    Splitter splitter_{shared_};
    SharedChecker shared_checker_{order_, sites_, shared_, findings};
    GlobalChecker global_checker_{order_, sites_, findings};
    Tracer tracer_{counter, threads_};
    Drawer drawer_{counter, block_};
    Sequence sequence_;  // of the warp that stopped last, since the barrier
    int sequence_warp_ = -1;
    int requests_ = 0;       // of that warp, since then
    uint64_t changes_ = 0;  // see changes()
    std::vector<Range> locals_[Fibers::most];  // of each thread
    bool has_locals_ = false;
    std::unordered_map<uint64_t, uint64_t> values_;  // hashes of what threads that run long stored, by address
    const Frame* caller_at_ = nullptr;
    Frame caller_{};
    uint32_t doubtful_[32] = {};          // lanes of each warp whose value may be undefined
    std::vector<Finding> doubts_;         // on what these lanes read; one for each thread of the block
    struct Suspect {
        int64_t index;
        std::string type, last_type;  // of a[i][j], where both indices are suspected: of a and of a[i]
        int64_t ahead;                // how many elements further all of them lead
        Spot spot;                    // of the last index
        uint64_t place;
    };
    Misaligned misaligned_[8];  // those of the launch that were bound last
    unsigned next_misaligned_ = 0;
    // g++ does not show accesses of local arrays. So in tile[own[i]] = 1, where `own` is local, the access to tile
    // proves no more than that the index of `own` was wrong.
    bool from_index_ = false;
    std::vector<Suspect> suspects_;  // indices of one line of the running thread, whose accesses have not come
};

}  // namespace sim
