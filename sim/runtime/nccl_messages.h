// Messages of NCCL between the devices of one process: what is posted, and how it is matched.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../cuda/nccl.h"
#include "runtime.h"
#include "timeline.h"

namespace sim {

struct Clique;

}  // namespace sim

struct ncclComm {
    sim::Clique* clique;
    int rank, device;
    std::thread::id thread;  // that made it
};

namespace sim {

// A call of the program.
struct Called {
    const char* function;
    const void* place;
    std::string text() const { return std::string(function) + " " + at(place); }
};

// A send or a receive.
struct Message {
    ncclComm_t comm = nullptr;
    bool sends = false;
    int peer = 0;
    void* data = nullptr;
    uint64_t count = 0, bytes = 0;
    cudaStream_t stream = nullptr;
    const void* place = nullptr;
    uint64_t posted = 0;     // counts groups
    Work work;
    Clock clock;             // before it
    std::vector<char> kept;  // what is sent, until it is received

    const char* function() const { return sends ? "ncclSend" : "ncclRecv"; }
    Called call() const { return {function(), place}; }
    std::string who() const;  // "rank 0 sends to rank 1"
};

// The ranks that were made with one id, and what they have not matched yet.
struct Clique {
    ncclUniqueId id;
    int ranks;
    std::vector<ncclComm_t> comms;  // by rank; null: not made yet
    std::list<Message> messages;    // sends and receives
    std::map<std::thread::id, uint64_t> waiting;  // threads, and the group whose messages they wait for

    // True if the group waits for a message that was not sent. A thread whose last message has just come is not
    // stuck: it has not gone on yet.
    bool misses(uint64_t group) const;
    bool stuck(std::thread::id thread) const;
};

struct Cliques {
    std::vector<std::unique_ptr<Clique>> cliques;
    std::set<ncclComm_t> comms;
    std::set<std::thread::id> ended;  // threads that had ranks
    uint64_t ids = 0, groups = 0;
    std::condition_variable_any arrived;
};

Cliques& all_cliques();

// The group that a host thread has begun.
struct MessageGroup {
    int depth = 0;
    std::vector<Message> messages;
    bool has_ranks = false;
    ncclResult_t worst = ncclSuccess;

    ~MessageGroup();
};
MessageGroup& message_group();

// Notes a finding about the call, and returns the error, which the group then has.
ncclResult_t refuse_message(const Called& call, const std::string& what, ncclResult_t error = ncclInvalidUsage);

// Matches the messages of this host thread's group, copies them, and waits for those that other threads may send.
ncclResult_t end_message_group();

}  // namespace sim
