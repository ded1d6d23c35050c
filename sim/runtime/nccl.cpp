// NCCL between the devices of one process: messages are matched when a group ends, and copied at once.
//
// The ranks may be one host thread's, which puts them into a group, or of a thread each. A thread that receives then waits here for
// the one that sends. What is sent before it is received is kept.

#include "../cuda/nccl.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "../../common/base/error.h"
#include "../core/simulator.h"
#include "devices.h"
#include "notes.h"
#include "runtime.h"
#include "timeline.h"
#include "traffic.h"

namespace {

struct Clique;

}  // namespace

struct ncclComm {
    Clique* clique;
    int rank, device;
    std::thread::id thread;  // that made it
};

namespace {

using namespace sim;
using harness::format;

// A send or a receive.
struct Message {
    ncclComm_t comm;
    bool sends;
    int peer;
    void* data;
    uint64_t count, bytes;
    cudaStream_t stream;
    const void* place;
    uint64_t posted = 0;   // counts groups
    Work work = {};
    Clock clock = {};      // before it
    std::vector<char> kept = {};  // what is sent, until it is received

    const char* function() const { return sends ? "ncclSend" : "ncclRecv"; }
    std::string text() const { return std::string(function()) + " " + at(place); }
    std::string who() const { return format(sends ? "rank %d sends to rank %d" : "rank %d receives from rank %d", comm->rank, peer); }
};

// The ranks that were made with one id, and what they have not matched yet.
struct Clique {
    ncclUniqueId id;
    int ranks;
    std::vector<ncclComm_t> comms;  // by rank; null: not made yet
    std::list<Message> sends, receives;
    std::map<std::thread::id, uint64_t> waiting;  // threads, and the group whose messages they wait for

    // Whether the group has a message that nobody has sent. A thread whose last one has just come is not stuck: it has not gone on yet.
    bool misses(uint64_t group) const
    {
        return std::any_of(receives.begin(), receives.end(), [&](const Message& m) { return m.posted == group; });
    }
    bool stuck(std::thread::id thread) const
    {
        const auto waits = waiting.find(thread);
        return waits != waiting.end() && misses(waits->second);
    }
};

struct Cliques {
    std::vector<std::unique_ptr<Clique>> cliques;
    std::set<ncclComm_t> comms;
    std::set<std::thread::id> ended;  // threads that had ranks
    uint64_t ids = 0, groups = 0;
    std::condition_variable_any arrived;
};

Cliques& all_cliques()
{
    static Cliques& all = *new Cliques;  // used until the very end
    return all;
}

// Of this host thread.
struct Group {
    int depth = 0;
    std::vector<Message> messages;
    bool has_ranks = false;
    ncclResult_t worst = ncclSuccess;

    ~Group()
    {
        if (!has_ranks) return;
        const RuntimeLock lock;
        all_cliques().ended.insert(std::this_thread::get_id());
        all_cliques().arrived.notify_all();
    }
};
thread_local Group group;

constexpr const char* id_begins = "simulated ";

ncclResult_t refuse(const std::string& text, ncclResult_t error = ncclInvalidUsage)
{
    program_finding("bad message: " + text);
    return group.worst = error;
}

size_t bytes_of_type(ncclDataType_t type)
{
    switch (type) {
        case ncclInt8:
        case ncclUint8:
        case ncclFloat8e4m3:
        case ncclFloat8e5m2: return 1;
        case ncclFloat16:
        case ncclBfloat16: return 2;
        case ncclInt32:
        case ncclUint32:
        case ncclFloat32: return 4;
        case ncclInt64:
        case ncclUint64:
        case ncclFloat64: return 8;
        default: return 0;
    }
}

bool known(ncclComm_t comm) { return all_cliques().comms.count(comm) > 0; }

Clique* clique_of(const ncclUniqueId& id)
{
    for (const auto& clique : all_cliques().cliques)
        if (!std::memcmp(&clique->id, &id, sizeof id)) return clique.get();
    return nullptr;
}

ncclUniqueId new_id()
{
    ncclUniqueId id = {};
    snprintf(id.internal, sizeof id.internal, "%s%d %llu", id_begins, int(getpid()), (unsigned long long)++all_cliques().ids);
    auto clique = std::make_unique<Clique>();
    clique->id = id;
    clique->ranks = 0;
    all_cliques().cliques.push_back(std::move(clique));
    return id;
}

ncclResult_t join(ncclComm_t* comm, Clique& clique, int ranks, int rank, int device, const std::string& where)
{
    if (clique.ranks == 0) {
        clique.ranks = ranks;
        clique.comms.resize(size_t(ranks));
    }
    if (clique.ranks != ranks) return refuse(where + format(": %d ranks, and another rank of this id said %d", ranks, clique.ranks), ncclInvalidArgument);
    if (clique.comms[size_t(rank)]) return refuse(where + format(": rank %d was made before", rank));
    for (ncclComm_t other : clique.comms)
        if (other && other->device == device) return refuse(where + format(": device %d is that of rank %d; call cudaSetDevice before", device, other->rank));
    group.has_ranks = true;
    all_cliques().ended.erase(std::this_thread::get_id());  // of an earlier thread
    *comm = clique.comms[size_t(rank)] = new ncclComm{&clique, rank, device, std::this_thread::get_id()};
    all_cliques().comms.insert(*comm);
    all_cliques().arrived.notify_all();
    return ncclSuccess;
}

// Threads of the program besides this one, those of the simulator left out.
bool alone()
{
    std::error_code error;
    int tasks = 0;
    for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end; task.increment(error)) ++tasks;
    return !error && tasks <= 1 + sleeping_threads();
}

// Whether another thread may still make the calls that this one waits for.
bool may_come(const Clique& clique)
{
    if (alone()) return false;
    for (ncclComm_t comm : clique.comms)
        if (!comm || (!clique.stuck(comm->thread) && !all_cliques().ended.count(comm->thread))) return true;
    return false;
}

// Copies what has been sent and received. `start`: the window of them all.
void carry(Message& send, Message& receive, uint64_t start)
{
    if (send.bytes != receive.bytes) {
        refuse(format("%s: %s %llu bytes, and %s expects %llu", send.text().c_str(), send.who().c_str(), (unsigned long long)send.bytes, receive.text().c_str(), (unsigned long long)receive.bytes),
               ncclInvalidArgument);
        return;
    }
    move_message(receive.data, send.kept.empty() ? send.data : send.kept.data(), send.bytes, send.work, send.clock, receive.work, receive.clock);
    if (send.comm != receive.comm && send.bytes) note_message(send.comm->device, receive.comm->device, send.bytes, start);
}

// The messages of one clique that have found each other.
void match(Clique& clique)
{
    std::vector<std::pair<Message, Message>> pairs;
    for (auto receive = clique.receives.begin(); receive != clique.receives.end();) {
        auto send = clique.sends.begin();
        while (send != clique.sends.end() && (send->comm->rank != receive->peer || send->peer != receive->comm->rank)) ++send;
        if (send == clique.sends.end()) {
            ++receive;
            continue;
        }
        pairs.emplace_back(std::move(*send), std::move(*receive));
        clique.sends.erase(send);
        receive = clique.receives.erase(receive);
    }
    uint64_t start = 0;
    for (const auto& [send, receive] : pairs) start = std::max({start, send.clock.window, receive.clock.window});
    for (auto& [send, receive] : pairs) carry(send, receive, start);
    Clock after;
    after.window = start + 1;
    for (const auto& [send, receive] : pairs) {
        // What is received comes after all that the sender did before.
        timeline().wait(receive.work.queue, send.clock);
        for (const Message* m : {&send, &receive}) timeline().wait(m->work.queue, after);
    }
    if (!pairs.empty()) all_cliques().arrived.notify_all();
}

ncclResult_t end_group()
{
    std::unique_lock<std::recursive_mutex> lock(runtime_mutex());
    std::vector<Message> messages = std::move(group.messages);
    group.messages.clear();
    const uint64_t number = ++all_cliques().groups;
    std::set<Clique*> cliques;
    std::vector<Work> works;
    for (Message& m : messages) {
        const OnDevice on(m.comm->device);
        const int queue = queue_of(m.stream);
        m.posted = number;
        m.work = timeline().begin_work(queue, 1, m.function(), m.place);
        count_a_copy();
        works.push_back(m.work);
        m.clock = timeline().clock_of(queue);
        cliques.insert(m.comm->clique);
        (m.sends ? m.comm->clique->sends : m.comm->clique->receives).push_back(m);
    }
    for (Clique* clique : cliques) match(*clique);
    for (const Work& work : works) timeline().end_work(work, 0);
    for (Clique* clique : cliques)
        for (Message& m : clique->sends)
            if (m.posted == number && m.kept.empty() && m.bytes) m.kept = bytes_at(m.data, m.bytes);
    for (Clique* clique : cliques) {
        clique->waiting[std::this_thread::get_id()] = number;
        while (clique->misses(number) && may_come(*clique)) all_cliques().arrived.wait_for(lock, std::chrono::milliseconds(20));
        const bool last = !may_come(*clique);
        clique->waiting.erase(std::this_thread::get_id());
        for (auto* list : {&clique->sends, &clique->receives})
            for (auto m = list->begin(); m != list->end();) {
                if (m->posted != number || !(last || !m->sends)) {
                    ++m;
                    continue;
                }
                refuse(format("%s: %s, which does not %s; put both calls between ncclGroupStart and ncclGroupEnd", m->text().c_str(), m->who().c_str(), m->sends ? "receive" : "send"));
                m = list->erase(m);
            }
        all_cliques().arrived.notify_all();
    }
    return std::exchange(group.worst, ncclSuccess);
}

ncclResult_t post(bool sends, void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream, const void* place)
{
    refuse_in_kernel(place);
    Message m{comm, sends, peer, data, count, 0, stream, place};
    {
        const RuntimeLock lock;
        if (context_lost()) return group.worst = ncclUnhandledCudaError;
        if (!known(comm)) return refuse(m.text() + ": the communicator does not exist", ncclInvalidArgument);
        const size_t size = bytes_of_type(type);
        if (!size) return refuse(m.text() + format(": type %d does not exist", int(type)), ncclInvalidArgument);
        if (peer < 0 || peer >= comm->clique->ranks)
            return refuse(m.text() + format(": rank %d does not exist; there are ranks 0 to %d", peer, comm->clique->ranks - 1), ncclInvalidArgument);
        if (count > ~size_t(0) / size) return refuse(m.text() + ": too many elements", ncclInvalidArgument);
        m.bytes = count * size;
        if (!known_stream(stream)) return refuse(m.text() + ": the stream does not exist", ncclInvalidArgument);
        {
            const OnDevice on(comm->device);
            if (device_of(stream) != comm->device)
                return refuse(m.text() + format(": the stream belongs to device %d, and rank %d has device %d", device_of(stream), comm->rank, comm->device));
        }
        if (m.bytes && !good_buffer(m.function(), place, data, m.bytes, comm->device)) return group.worst = ncclInvalidArgument;
        group.messages.push_back(m);
    }
    return group.depth ? ncclSuccess : end_group();
}

ncclResult_t refuse_collective(const char* function, const void* place)
{
    const RuntimeLock lock;
    program_finding(format("not simulated: %s %s: of NCCL there are ncclSend and ncclRecv", function, at(place).c_str()));
    return ncclInvalidUsage;
}

template <typename Value>
ncclResult_t tell(ncclComm_t comm, Value* value, Value (*of)(ncclComm_t))
{
    const RuntimeLock lock;
    if (!value || !known(comm)) return ncclInvalidArgument;
    *value = of(comm);
    return ncclSuccess;
}

ncclResult_t end_comm(ncclComm_t comm)
{
    const RuntimeLock lock;
    // It stays in memory: messages that nobody received tell who sent them.
    return all_cliques().comms.erase(comm) ? ncclSuccess : ncclInvalidArgument;
}

}  // namespace

std::vector<std::string> sim::lone_messages()
{
    std::vector<std::string> lines;
    for (const auto& clique : all_cliques().cliques)
        for (const auto* list : {&clique->sends, &clique->receives})
            for (const Message& m : *list) lines.push_back(format("bad message: %s: %s, which never %s", m.text().c_str(), m.who().c_str(), m.sends ? "receives" : "sends"));
    return lines;
}

ncclResult_t ncclGetVersion(int* version)
{
    if (!version) return ncclInvalidArgument;
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
        case ncclSuccess: return "no error";
        case ncclUnhandledCudaError: return "a CUDA call failed";
        case ncclSystemError: return "a call of the operating system failed";
        case ncclInternalError: return "internal error";
        case ncclInvalidArgument: return "invalid argument";
        case ncclInvalidUsage: return "invalid usage";
        case ncclRemoteError: return "another process failed or has ended";
        case ncclInProgress: return "the operation is in progress";
        default: return "unknown result code";
    }
}

const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id)
{
    if (!id) return ncclInvalidArgument;
    const RuntimeLock lock;
    *id = new_id();
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank)
{
    const RuntimeLock lock;
    const std::string where = "ncclCommInitRank " + at(SIM_PLACE);
    if (!comm) return ncclInvalidArgument;
    *comm = nullptr;
    if (ranks < 1 || ranks > device_count()) return refuse(where + format(": %d ranks, where 1 to %d are allowed: each has a device (SIM_OPTIONS: --gpus)", ranks, device_count()), ncclInvalidArgument);
    if (rank < 0 || rank >= ranks) return refuse(where + format(": rank %d, where 0 to %d are allowed", rank, ranks - 1), ncclInvalidArgument);
    Clique* clique = clique_of(id);
    if (!clique) return refuse(where + ": the id is not from ncclGetUniqueId in this process, and the simulator has no messages between processes", ncclInvalidArgument);
    if (!group.depth)
        for (ncclComm_t other : clique->comms)
            if (other && other->thread == std::this_thread::get_id())
                return refuse(where + format(": the thread made rank %d, too, and waits for ever there; put the calls between ncclGroupStart and ncclGroupEnd", other->rank));
    return join(comm, *clique, ranks, rank, current_device(), where);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices)
{
    const RuntimeLock lock;
    const std::string where = "ncclCommInitAll " + at(SIM_PLACE);
    if (!comms || count < 1) return ncclInvalidArgument;
    const ncclUniqueId id = new_id();
    for (int rank = 0; rank < count; ++rank) {
        const int device = devices ? devices[rank] : rank;
        if (device < 0 || device >= device_count()) return refuse(where + format(": device %d, and there are %d", device, device_count()), ncclInvalidArgument);
        if (const ncclResult_t error = join(&comms[rank], *clique_of(id), count, rank, device, where)) return error;
    }
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    const RuntimeLock lock;
    return known(comm) ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) { return end_comm(comm); }
ncclResult_t ncclCommAbort(ncclComm_t comm) { return end_comm(comm); }

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error)
{
    return tell<ncclResult_t>(comm, error, [](ncclComm_t) { return ncclSuccess; });
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count)
{
    return tell<int>(comm, count, [](ncclComm_t c) { return c->clique->ranks; });
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device)
{
    return tell<int>(comm, device, [](ncclComm_t c) { return c->device; });
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank)
{
    return tell<int>(comm, rank, [](ncclComm_t c) { return c->rank; });
}

ncclResult_t ncclGroupStart()
{
    ++group.depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd()
{
    if (group.depth == 0) {
        const RuntimeLock lock;
        refuse("ncclGroupEnd " + at(SIM_PLACE) + " without ncclGroupStart");
        return std::exchange(group.worst, ncclSuccess);
    }
    return --group.depth ? ncclSuccess : end_group();
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    return post(true, const_cast<void*>(data), count, type, peer, comm, stream, SIM_PLACE);
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    return post(false, data, count, type, peer, comm, stream, SIM_PLACE);
}

#define COLLECTIVE(function, ...) \
    ncclResult_t function(const void*, void*, size_t, ncclDataType_t, __VA_ARGS__) { return refuse_collective(#function, SIM_PLACE); }
COLLECTIVE(ncclAllReduce, ncclRedOp_t, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclReduce, ncclRedOp_t, int, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclReduceScatter, ncclRedOp_t, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclBroadcast, int, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclAllGather, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclAlltoAll, ncclComm_t, cudaStream_t)
