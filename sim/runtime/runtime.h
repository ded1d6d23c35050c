// Declarations that the parts of the simulated CUDA runtime share, and that the simulator's core needs of it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "../../common/base/error.h"
#include "../../common/base/finding.h"
#include "../cuda/cuda_runtime_api.h"
#include "../core/memory/memory.h"
#include "../core/memory/declared.h"

namespace sim {

struct Clock;
struct Work;

// Device memory is closed to the host but between these two calls, which can be nested.
void open_device_memory();
void close_device_memory();
struct OpenMemory {
    OpenMemory() { open_device_memory(); }
    ~OpenMemory() { close_device_memory(); }
    OpenMemory(const OpenMemory&) = delete;
};

// An address, for a reader: "byte 4 of d_out (cudaMalloc at program.cu:31)".
std::string address_text(uintptr_t address);

// One function of the runtime at a time.
std::recursive_mutex& runtime_mutex();

// As long as a lock exists, no other function of the runtime runs, and memory that runs out ends the program with one
// line, because a program does not expect the runtime to throw.
class RuntimeLock {
    const harness::NoWayOut no_way_out_;
    const std::lock_guard<std::recursive_mutex> lock_{runtime_mutex()};
};

// Notes the error for cudaGetLastError, and returns it.
cudaError_t result(cudaError_t error);

// Gives the program the value that it asks for. A null pointer is an error.
template <typename T, typename Value>
cudaError_t give(T* to, Value value)
{
    if (!to) return result(cudaErrorInvalidValue);
    *to = value;
    return cudaSuccess;
}

// Called at the beginning of a function. Returns cudaSuccess, or the error that every function returns after a kernel
// failed. `waits`: the function waits for kernels.
cudaError_t enter(bool waits);
inline bool calls_back = false;  // a function of the host runs in the order of a stream, and may not call the runtime
// Ends the thread of a kernel that calls the runtime.
void refuse_in_kernel(const void* place);

#define SIM_ENTER(waits)                                              \
    sim::refuse_in_kernel(SIM_PLACE);                                 \
    const sim::RuntimeLock enter_lock;                                \
    if (const cudaError_t enter_error = sim::enter(waits)) return enter_error

// "at program.cu:31", or "at an unknown line".
std::string at(const void* place);
// The first argument of the call at the place: "d_out" of cudaMalloc(&d_out, bytes). Empty if the text leaves it open.
std::string first_argument(const void* place, const char* function);

// The memory from the runtime that holds the address, freed or not, or null.
Allocation* allocation_at(uintptr_t address);
bool in_device_heap(uintptr_t address);  // which no function of the runtime copies or frees
bool in_device_range(uintptr_t address);

// A variable that the source declares for the device.
struct Variable {
    const Declared* record;
    uintptr_t begin;
    bool asked = false;  // the program asked for its address on the device

    Owner owner() const { return record->kind == Declared::managed ? Owner::managed : Owner::device; }
};
// The variable that holds the address, or null.
const Variable* variable_of(uintptr_t address);
// The same variable, but null unless the host has the address from the variable's name, and not from the device.
const Variable* host_name(uintptr_t address);
bool ask_for(uintptr_t address);  // false: no variable has this address
void for_each_managed_variable(const std::function<void(Allocation&)>& visit);
// As long as it exists, the host thread's calls may use this variable by its name.
struct NamedVariable {
    explicit NamedVariable(const void* symbol);
    ~NamedVariable();
};
// The pages of the device's variables.
bool among_variables(uintptr_t address);
void protect_variables(int protection);

// Addresses of the program go to a device as ones that no kernel can use, and come back as they were. `aligned_as`: the
// address of `memory` on the device.
void move_addresses(void* memory, size_t bytes);
void move_addresses_back(void* memory, size_t bytes, uintptr_t aligned_as);
// The finding on a kernel that uses an address of the host; empty for other addresses.
std::string host_address_text(uintptr_t address);
// How many bytes the program's own memory has from the address on; ~0: unknown.
uint64_t host_room(uintptr_t address, uint64_t wanted);

// Gives these variables the values of the device, from now on.
void use_variables_of(int device);
// The device in whose memory the address lies; -1: no device's, or every device's own.
int device_at(uintptr_t address);
// Everything that was allocated on the device is freed at once.
void free_everything(int device);
// A note for each allocation that is not freed and in which the search for races has given up.
void note_accounts();
// A finding for each allocation that the program still has.
std::vector<harness::Finding> never_freed();
uint64_t total_memory();

// True if the kernel may be launched. If not, the error that CUDA would give is noted.
bool may_launch(const Launching& launching);
// The kernel was ended: an illegal address (cudaErrorIllegalAddress), a failed assertion (cudaErrorAssert) ... From the
// next call on that waits for it, every function of the runtime returns the error, as on hardware.
void kernel_failed(const Launching& launching, cudaError_t error);
// A launch was refused, or some of its threads were ended: what it would have stored is not blamed on the program.
void count_as_written();
// Notes that a kernel was not launched.
void launch_refused(const Launching& launching, cudaError_t error, const std::string& why);
// Failed launches that the program did not ask about, and those that were not made.
std::vector<harness::Finding> unseen_errors();
std::vector<std::string> refused_launches();
// True if a kernel has failed, so that every function returns its error.
bool context_lost();
// cudaDeviceReset: everything works again.
void restore_context();

bool known_stream(cudaStream_t stream);
// A default stream has the queue and the device of the current device.
int queue_of(cudaStream_t stream);
int device_of(cudaStream_t stream);
void forget_streams(int device);

// True if the data of a message, sent or received, lie in memory of the device. If not, a finding says so.
bool good_buffer(const char* function, const void* place, const void* memory, uint64_t bytes, int device);
// Memory that host and devices share (pending.cpp), until it is freed.
void share_with_host(Allocation& memory);
bool shares_memory_with_host();
void end_sharing(const Allocation& memory);
// Notes that the work has used the memory that is marked as touched.
void note_uses(const Work& work);
// Protects the memory that is in use. PROT_NONE closes it to the host.
void protect_shared(int protection);
// The host touches memory that may be in use, at `where`: "program.cu:31". It can go on, or on by one instruction.
enum class Meeting { none, harmless, in_its_page };
Meeting host_meets_work(uintptr_t address, bool stores, const harness::FindingPlace& place, const std::string& where);
void print_later(const Work& work, const char* text);
// Opens the memory, and prints the text, of work that the host has waited for.
void host_has_waited();
std::vector<harness::Finding> launches_not_waited_for();

// An allocation begins or ends in the order of a stream, at a call of this function.
void use_whole(const char* function, const void* place, uintptr_t begin, uint64_t bytes, cudaStream_t stream);

// Copies a message. `before_send`, `before_receive`: the work before it on the side of the sender, and of the receiver.
void move_message(void* to, const void* from, uint64_t bytes, const Work& send, const Clock& before_send,
                  const Work& receive, const Clock& before_receive);
std::vector<char> bytes_at(const void* memory, uint64_t bytes);
// Messages that were sent and never received, or the other way round.
std::vector<harness::Finding> lone_messages();

// The function that is copying between memory of the host and the device now, for the handler of its fault: "cudaMemcpy
// at program.cu:50". `place`: null if no function is.
struct Copying {
    std::string text;
    const void* place = nullptr;
};
Copying copying();

}  // namespace sim
