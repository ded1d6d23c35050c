// Messages are matched when a group ends, and copied at once.
//
// All ranks may belong to one host thread, which puts their calls into a group, or each rank to a thread of its own. A
// thread that receives then waits here for the one that sends, until no other thread can make that call any more. A
// message that is sent before it is received is kept. All messages that a group's end matches are in one window of
// time, which is later than all that their queues did before.

#include "nccl_messages.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "../../common/base/error.h"
#include "../core/grid/simulator.h"
#include "devices.h"
#include "notes.h"
#include "traffic.h"

namespace sim {

using harness::format;

std::string Message::who() const
{
    return format(sends ? "rank %d sends to rank %d" : "rank %d receives from rank %d", comm->rank, peer);
}

bool Clique::misses(uint64_t group) const
{
    return std::any_of(messages.begin(), messages.end(),
                       [&](const Message& m) { return !m.sends && m.posted == group; });
}

bool Clique::stuck(std::thread::id thread) const
{
    const auto waits = waiting.find(thread);
    return waits != waiting.end() && misses(waits->second);
}

Cliques& all_cliques()
{
    static Cliques& all = *new Cliques;  // never destroyed: exit handlers use it
    return all;
}

MessageGroup::~MessageGroup()
{
    if (!has_ranks) return;
    const RuntimeLock lock;
    all_cliques().ended.insert(std::this_thread::get_id());
    all_cliques().arrived.notify_all();
}

MessageGroup& message_group()
{
    static thread_local MessageGroup group;
    return group;
}

ncclResult_t refuse_message(const Called& call, const std::string& what, ncclResult_t error)
{
    program_finding(kinds::bad_message, call.place, "bad message: " + call.text() + what);
    return message_group().worst = error;
}

namespace {

// True if the program has no other thread than this one. Threads of the simulator do not count.
bool alone()
{
    std::error_code error;
    int tasks = 0;
    for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end;
         task.increment(error))
        ++tasks;
    return !error && tasks <= 1 + sleeping_threads();
}

// True if another thread may still make the calls that this one waits for.
bool may_come(const Clique& clique)
{
    if (alone()) return false;
    for (ncclComm_t comm : clique.comms)
        if (!comm || (!clique.stuck(comm->thread) && !all_cliques().ended.count(comm->thread))) return true;
    return false;
}

// Copies what has been sent and received. `start`: the window of all messages.
void carry(Message& send, Message& receive, uint64_t start)
{
    if (send.bytes != receive.bytes) {
        refuse_message(
            send.call(),
            format(": %s %llu bytes, and %s expects %llu", send.who().c_str(), (unsigned long long)send.bytes,
                   receive.call().text().c_str(), (unsigned long long)receive.bytes),
            ncclInvalidArgument);
        return;
    }
    move_message(receive.data, send.kept.empty() ? send.data : send.kept.data(), send.bytes, send.work, send.clock,
                 receive.work, receive.clock);
    if (send.comm != receive.comm && send.bytes)
        note_message(send.comm->device, receive.comm->device, send.bytes, start);
}

// Finds the pairs of sends and receives in one clique, and copies their bytes.
void match(Clique& clique)
{
    std::vector<std::pair<Message, Message>> pairs;
    std::list<Message>& all = clique.messages;
    for (auto receive = all.begin(); receive != all.end();) {
        const auto send = receive->sends ? all.end() : std::find_if(all.begin(), all.end(), [&](const Message& m) {
            return m.sends && m.comm->rank == receive->peer && m.peer == receive->comm->rank;
        });
        if (send == all.end()) {
            ++receive;
            continue;
        }
        pairs.emplace_back(std::move(*send), std::move(*receive));
        const auto next = std::next(receive) == send ? std::next(send) : std::next(receive);
        all.erase(send);
        all.erase(receive);
        receive = next;
    }
    uint64_t start = 0;
    for (const auto& [send, receive] : pairs) start = std::max({start, send.clock.window, receive.clock.window});
    for (auto& [send, receive] : pairs) carry(send, receive, start);
    Clock after;
    after.window = start + 1;
    for (const auto& [send, receive] : pairs) {
        // The receiver reads what the sender did before, so it comes after all of that.
        timeline().wait(receive.work.queue, send.clock);
        for (const Message* m : {&send, &receive}) timeline().wait(m->work.queue, after);
    }
    if (!pairs.empty()) all_cliques().arrived.notify_all();
}

}  // namespace

ncclResult_t end_message_group()
{
    std::unique_lock<std::recursive_mutex> lock(runtime_mutex());
    std::vector<Message> messages = std::move(message_group().messages);
    message_group().messages.clear();
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
        m.comm->clique->messages.push_back(m);
    }
    for (Clique* clique : cliques) match(*clique);
    for (const Work& work : works) timeline().end_work(work, 0);
    for (Clique* clique : cliques)
        for (Message& m : clique->messages)
            if (m.sends && m.posted == number && m.kept.empty() && m.bytes) m.kept = bytes_at(m.data, m.bytes);
    for (Clique* clique : cliques) {
        clique->waiting[std::this_thread::get_id()] = number;
        while (clique->misses(number) && may_come(*clique))
            all_cliques().arrived.wait_for(lock, std::chrono::milliseconds(20));
        const bool last = !may_come(*clique);
        clique->waiting.erase(std::this_thread::get_id());
        for (auto m = clique->messages.begin(); m != clique->messages.end();) {
            if (m->posted != number || !(last || !m->sends)) {
                ++m;
                continue;
            }
            refuse_message(m->call(),
                           format(": %s, which does not %s; put both calls between ncclGroupStart and ncclGroupEnd",
                                  m->who().c_str(), m->sends ? "receive" : "send"));
            m = clique->messages.erase(m);
        }
        all_cliques().arrived.notify_all();
    }
    return std::exchange(message_group().worst, ncclSuccess);
}

std::vector<harness::Finding> lone_messages()
{
    std::vector<harness::Finding> findings;
    for (const auto& clique : all_cliques().cliques)
        for (const Message& m : clique->messages)
            findings.push_back(finding_of_call(kinds::bad_message, m.place,
                                               format("bad message: %s: %s, which never %s", m.call().text().c_str(),
                                                      m.who().c_str(), m.sends ? "receives" : "sends")));
    return findings;
}

}  // namespace sim
