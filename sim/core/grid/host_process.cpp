// Runs the host's code of a launch in a process of its own.
//
// The process is forked for each call. It has a copy of this one's memory, but no page of the matrices, no file, and
// no call of the system but those that computing needs. So whatever its code does, it can only ask for launches. A
// message has the kernel, the grid, the block and the bytes of the arguments. This process checks that the kernel is a
// function of the program's text, copies the bytes, and runs the blocks. Counts, findings and results are in this
// process alone. The other one waits for each launch to end, as a stream would make it wait at the next launch.
//
// Invariant: nothing that comes from the other process is called or followed, unless it is in the table of symbols.
// The accesses of a kernel are checked here, as always, whatever its arguments are.

#include "host_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "../../../common/base/error.h"
#include "../../elf/places.h"
#include "../../elf/symbols.h"
#include "../block/signals.h"
#include "../sinks/faults.h"
#include "../memory/memory.h"
#include "call_filters.h"
#include "launcher.h"

// The linker's: where the program's code is.
extern "C" const char __executable_start, etext;

namespace sim {
namespace {

using harness::Error;
using harness::format;

constexpr size_t most_objects = 65;  // the callable, and the arguments
constexpr size_t most_bytes = 4096;  // of each object

// A request of the other process, or news of it. It is followed by the bytes of the objects.
struct Message {
    enum { launch, access, error, done } kind = done;
    const void* kernel = nullptr;
    Dimensions grid{}, block{};
    uint64_t shared_bytes = 0, stream = 0, arguments = 0, place = 0;
    void (*again)(const Launching&, void* const*) = nullptr;
    uint32_t objects = 0, bytes[most_objects] = {};
    char text[512] = "";  // the kernel's name, or the error
    int status = 0;
    uint64_t address = 0;      // of an access that the processor refused
    uint64_t callers[16] = {};  // the return address, and addresses on the stack that may be those of its callers
    bool store = false;
};

// ---- The other process -------------------------------------------------------------------------------------------

// The numbers of this process's ends of both pipes.
constexpr int from_here = 0, to_there = 1;

void write_all(const void* data, size_t bytes)
{
    for (const char* at = static_cast<const char*>(data); bytes > 0;) {
        const ssize_t n = write(to_there, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(1);
        at += n;
        bytes -= size_t(n);
    }
}

void send(const Launching& launching)
{
    Message message;
    message.kind = Message::launch;
    message.kernel = launching.kernel;
    const auto plain = [](dim3 d) { return Dimensions{d.x, d.y, d.z}; };
    message.grid = plain(launching.configuration.grid);
    message.block = plain(launching.configuration.block);
    message.shared_bytes = launching.configuration.shared_bytes;
    message.stream = uint64_t(launching.configuration.stream);
    message.arguments = launching.arguments;
    message.place = uint64_t(launching.place);
    message.again = launching.again;
    std::vector<Argument> objects{launching.call};
    objects.insert(objects.end(), launching.passed, launching.passed + launching.passed_count);
    if (objects.size() > most_objects)
        throw Error{harness::status_bad_input, format("a kernel has at most %zu parameters here", most_objects - 1)};
    for (const Argument& object : objects) {
        if (object.bytes > most_bytes)
            throw Error{harness::status_bad_input, format("an argument has at most %zu bytes here", most_bytes)};
        message.bytes[message.objects++] = uint32_t(object.bytes);
    }
    std::strncpy(message.text, launching.name, sizeof message.text - 1);
    write_all(&message, sizeof message);
    for (const Argument& object : objects) write_all(reinterpret_cast<const void*>(object.begin), object.bytes);
    char ended;
    while (read(from_here, &ended, 1) < 0 && errno == EINTR) {}
}

class Sender : public Launcher {
    void launch(const Launching& launching, const Code&) override { send(launching); }
};

void on_access(int, siginfo_t* info, void* context)
{
    Message message;
    message.kind = Message::access;
    message.address = uint64_t(info->si_addr);
    message.callers[0] = faulting_place(context);
    const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
    message.store = faulting_store(context);
#if defined __x86_64__
    const uint64_t* stack = reinterpret_cast<const uint64_t*>(machine.gregs[REG_RSP]);
#else
    const uint64_t* stack = reinterpret_cast<const uint64_t*>(machine.sp);
#endif
    // An access in a function of the C library has the place of its call.
    for (size_t found = 1, i = 0; found < std::size(message.callers) && i < 256; ++i)
        if (stack[i] - uint64_t(&__executable_start) < uint64_t(&etext - &__executable_start))
            message.callers[found++] = stack[i];
    write_all(&message, sizeof message);
    _exit(1);
}

void catch_accesses()
{
    use_signal_stack();
    struct sigaction action{};
    action.sa_sigaction = on_access;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
    signal(SIGFPE, SIG_DFL);  // the kernels' handler comes back by a call that is not allowed here
}

void close_files(int reads, int writes)
{
    // Both are moved out of the way first, because their numbers may be 0 and 1.
    reads = fcntl(reads, F_DUPFD, 3);
    writes = fcntl(writes, F_DUPFD, 3);
    dup2(reads, from_here);
    dup2(writes, to_there);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 2u, ~0u, 0u) == 0) return;
#endif
    for (int file = int(sysconf(_SC_OPEN_MAX)) - 1; file >= 2; --file) close(file);
}

[[noreturn]] void run_there(const std::function<void()>& host_code, int reads, int writes)
{
    close_files(reads, writes);
    Sender sender;
    use_launcher(&sender);
    catch_accesses();
    allow_computing_only();
    Message last;
    try {
        host_code();
    } catch (const Error& error) {
        last.kind = Message::error;
        last.status = error.status;
        std::strncpy(last.text, error.message.c_str(), sizeof last.text - 1);
    } catch (...) {
        last.kind = Message::error;
        last.status = harness::status_wrong_result;
        std::strcpy(last.text, "the host's code threw an exception");
    }
    write_all(&last, sizeof last);
    _exit(0);
}

// ---- This process ------------------------------------------------------------------------------------------------

// MADV_DONTFORK: another process does not get the pages of the matrices. MADV_DOFORK: it does again.
void advise_matrices(int advice)
{
    const uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
    for (const auto& m : memory().all()) {
        if (!m->unwritten && !m->read_only) continue;
        const uintptr_t begin = m->begin / page * page, end = (m->begin + m->bytes + page - 1) / page * page;
        madvise(reinterpret_cast<void*>(begin), end - begin, advice);
    }
}

class OtherProcess {
public:
    explicit OtherProcess(const std::function<void()>& host_code)
    {
        int there[2], back[2];
        if (pipe2(there, O_CLOEXEC)) fail("pipe2");
        if (pipe2(back, O_CLOEXEC)) fail("pipe2");
        forbid_writing_elsewhere();
        advise_matrices(MADV_DONTFORK);
        process_ = fork();
        if (process_ == 0) run_there(host_code, there[0], back[1]);
        advise_matrices(MADV_DOFORK);
        close(there[0]);
        close(back[1]);
        writes_ = there[1];
        reads_ = back[0];
        if (process_ < 0) fail("fork");
    }
    ~OtherProcess()
    {
        if (process_ > 0) kill(process_, SIGKILL);
        end();
        close(writes_);
        close(reads_);
    }
    OtherProcess(const OtherProcess&) = delete;

    // False if the other process has ended.
    bool receive(void* data, size_t bytes)
    {
        for (char* at = static_cast<char*>(data); bytes > 0;) {
            const ssize_t n = read(reads_, at, bytes);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            at += n;
            bytes -= size_t(n);
        }
        return true;
    }
    void go_on()
    {
        const char byte = 0;
        while (write(writes_, &byte, 1) < 0 && errno == EINTR) {}
    }
    // The other process's status at its end, as waitpid() gives it.
    int end()
    {
        int status = 0;
        if (process_ > 0)
            while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {}
        process_ = -1;
        return status;
    }

private:
    [[noreturn]] static void fail(const char* call)
    {
        throw Error{harness::status_bad_input, format("the host's code cannot have a process of its own: %s: %s", call,
                                                      std::strerror(errno))};
    }

    pid_t process_ = -1;
    int reads_ = -1, writes_ = -1;
};

// The mangled name of a function that begins at this address; empty if there is none.
std::string_view function_named(uint64_t address)
{
    const Symbol* symbol = address ? function_at(address) : nullptr;
    return symbol && symbol->address == address ? symbol->name : "";
}

bool begins(std::string_view name, std::string_view with) { return name.substr(0, with.size()) == with; }

[[noreturn]] void refuse(const char* what)
{
    throw Error{harness::status_wrong_result, format("the host's code asks for a launch with %s", what)};
}

void run_launch(const Message& message, OtherProcess& other)
{
    static std::deque<std::string> names;  // reports keep pointers to them
    const std::string_view again = function_named(uint64_t(message.again)),
                           kernel = function_named(uint64_t(message.kernel));
    if (!begins(again, "_ZN3sim12launch_again")) refuse("code that is no launch");
    if (message.kernel && (!begins(kernel, "_Z") || begins(kernel, "_ZN3sim") || begins(kernel, "_ZN7harness")))
        refuse("code that is no kernel");
    if (message.objects == 0 || message.objects > most_objects) refuse("too many arguments");
    // A slot is as large as any object may be, and there is one for each that may be asked for.
    struct alignas(64) Slot {
        char bytes[most_bytes];
    };
    std::vector<Slot> slots(most_objects);
    void* objects[most_objects];
    for (size_t i = 0; i < most_objects; ++i) objects[i] = slots[i].bytes;
    for (uint32_t i = 0; i < message.objects; ++i)
        if (message.bytes[i] > most_bytes || !other.receive(objects[i], message.bytes[i])) refuse("cut arguments");
    if (message.kernel ? message.bytes[0] != sizeof message.kernel ||
                             std::memcmp(objects[0], &message.kernel, sizeof message.kernel) != 0
                       : message.bytes[0] != 1)
        refuse("another kernel than it names");
    names.emplace_back(message.text, strnlen(message.text, sizeof message.text));
    if (names.size() > 64) names.pop_front();
    const auto size = [](Dimensions d) { return dim3(d.x, d.y, d.z); };
    const Launching launching{
        message.kernel, names.back().c_str(),
        Configuration(size(message.grid), size(message.block), message.shared_bytes,
                      reinterpret_cast<void*>(message.stream)),
        message.arguments, reinterpret_cast<const void*>(message.place)};
    message.again(launching, objects);
    other.go_on();
}

[[noreturn]] void refuse_access(const Message& message)
{
    uint64_t place = message.callers[0];
    for (uint64_t caller : message.callers) {
        const Place found = place_of(caller);
        if (found.file.empty() || found.in_library) continue;
        place = caller;
        break;
    }
    const Allocation* target = memory().find(message.address);
    if (target && (target->unwritten || target->read_only)) {
        Fault fault(kinds::host_access, site_of(place, message.store ? store : load, 2), 0);
        fault.memory = target->name;
        fault.offset = int64_t(message.address - target->begin);
        throw harness::FindingError(finding_of(fault, "", {}, {}));
    }
    const Place found = place_of(place);
    throw Error{harness::status_wrong_result,
                "the host's code touches memory that is none of its own" +
                    (found.file.empty() ? "" : format(", at %s:%d", found.file.c_str(), found.line))};
}

std::string printable(const Message& message)
{
    std::string text(message.text, strnlen(message.text, sizeof message.text));
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c); }, ' ');
    return text;
}

}  // namespace

void run_launcher(const std::function<void()>& host_code, bool apart)
{
    if (!apart) return host_code();
    OtherProcess other(host_code);
    Message message;
    while (other.receive(&message, sizeof message)) {
        if (message.kind == Message::done) return;
        if (message.kind == Message::access) refuse_access(message);
        if (message.kind == Message::error)
            throw Error{message.status == harness::status_bad_input ? harness::status_bad_input
                                                                    : harness::status_wrong_result,
                        printable(message)};
        if (message.kind != Message::launch) refuse("a message of its own");
        run_launch(message, other);
    }
    const int status = other.end();
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) raise(SIGXCPU);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        throw Error{harness::status_wrong_result, "the host's code calls the operating system"};
    throw Error{harness::status_wrong_result,
                WIFSIGNALED(status) ? format("the host's code crashed: %s", strsignal(WTERMSIG(status)))
                                    : "the host's code does not return"};
}

}  // namespace sim
