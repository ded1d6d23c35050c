// The names that the rewritten text of a kernel file uses: launches, and the markers that tell which turn
// of which loop, and which call, a thread is in. rewrite/ puts them there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "records.h"
#include "thread.h"

#ifdef SIMULATOR
// A kernel's memcpy is watched, too. clang also calls memcpy to copy a structure. g++ does not, or announces the copy
// before.
#ifdef __clang__
asm(".set memcpy, __tsan_memcpy\n.set memmove, __tsan_memmove\n.set memset, __tsan_memset");
#endif
#include <string.h>
extern "C" {
void* memcpy(void*, const void*, size_t) noexcept asm("sim_memcpy");
void* memmove(void*, const void*, size_t) noexcept asm("sim_memmove");
void* memset(void*, int, size_t) noexcept asm("sim_memset");
}
#endif

// The path of this header. From it, a program knows which places are the simulator's (elf/places.cpp).
#if defined SIMULATOR || defined __NVCC__
extern "C" {
__attribute__((used)) inline const char sim_own_header[] = __FILE__;
}
#endif

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

namespace sim {

// A dim3 without constructors: of such a constant, compilers know that it never changes.
struct Dimensions {
    unsigned x, y, z;
    operator dim3() const { return {x, y, z}; }
    operator uint3() const { return {x, y, z}; }
};

}  // namespace sim

// The indices of the thread that is running. The compiler takes them for constants, and does not watch them.
extern const __thread uint3 threadIdx, blockIdx;
extern const __thread sim::Dimensions blockDim, gridDim;

namespace sim {

// Where a thread is in its loops and calls: a number that two lanes share if and only if (but for one
// case in 2^26) they are in the same turn of the same loops on the same path of calls. The lower bits
// are 0: there the hooks put the place of an access.
constexpr int turn_shift = 38;
constexpr uint64_t turn_bits = ~uint64_t(0) << turn_shift;
extern __thread uint64_t turn;

// A local variable that a function of the host returns by name. Compilers build such an object where the caller wants
// it, but the options for kernels have them copy it. A class that frees something and cannot be copied would then free
// it twice: the original is not destroyed.
template <typename T>
class Kept {
public:
    template <typename Make>
    explicit Kept(Make make) : object(make()) {}
    Kept(const Kept&) = delete;
    ~Kept()
    {
        if (!given_) object.~T();
    }
    T give()
    {
        given_ = true;
        return T(static_cast<T&&>(object));
    }
    union {
        T object;
    };

private:
    bool given_ = false;
};
template <typename Make>
Kept(Make make) -> Kept<decltype(make())>;

// The rewriter declares a gap behind each array, so that an index past the end, or before the start, reaches no other
// array: two rows of a matrix, and 4 kB at least. Its elements are as large as the array's, or larger.
template <typename T>
constexpr size_t row_bytes = 0;  // of the innermost rows of a matrix
template <typename T, size_t N, size_t M>
constexpr size_t row_bytes<T[N][M]> = std::is_array_v<T> ? row_bytes<T[M]> : sizeof(T[M]);
template <typename T>
constexpr size_t gap_elements =
    (row_bytes<T> > 2048 ? 2 * row_bytes<T> : 4096) / sizeof(std::remove_all_extents_t<T>) + 1;

// An access by assembly code is one that the compiler does not watch.
#if defined __x86_64__
#define SIM_PEEK(value, variable) asm volatile("movq %1, %0" : "=r"(value) : "m"(variable))
#define SIM_POKE(variable, value) asm volatile("movq %1, %0" : "=m"(variable) : "r"(value))
#define SIM_HERE(value) asm volatile("leaq 0(%%rip), %0" : "=r"(value))
#elif defined __aarch64__
#define SIM_PEEK(value, variable) asm volatile("ldr %0, %1" : "=r"(value) : "m"(variable))
#define SIM_POKE(variable, value) asm volatile("str %1, %0" : "=m"(variable) : "r"(value))
#define SIM_HERE(value) asm volatile("adr %0, ." : "=r"(value))
#else
#error "the simulator runs on x86-64 and on aarch64"
#endif

// Multiples of the golden ratio keep away from each other, in nested loops, too.
constexpr uint64_t golden = 0x9e3779b97f4a7c15u;
constexpr __attribute__((always_inline)) uint64_t mixed(uint64_t outer, uint64_t with)
{
    return (outer ^ with) * golden;
}

// Called every 65536 turns of a loop, which then counts from 0 again. It lets other threads run, and ends a thread that
// would never end.
SIM_FUNCTION void long_loop();

// Parts of the markers of a loop. They keep no state in a structure, because the compiler would have it in
// memory.
__attribute__((always_inline)) inline uint64_t outer_turn()
{
    uint64_t outer;
    SIM_PEEK(outer, turn);
    return outer;
}

// Turn 0 of a loop of the file, each of which has a number. Its lowest 16 bits count the turns.
template <unsigned loop>
__attribute__((always_inline)) inline uint64_t first_turn(uint64_t outer)
{
    return mixed(outer, loop) & ~uint64_t(0xffff);
}

constexpr __attribute__((always_inline)) uint64_t next_of(uint64_t last)
{
    return last + ((golden & ~uint64_t(0xffff)) | 1);
}

__attribute__((always_inline)) inline uint64_t next_turn(uint64_t last)
{
    const uint64_t next = next_of(last), now = next & turn_bits;
    SIM_POKE(turn, now);
    return next;
}

// True if it is time for long_loop(). The kernel itself calls it, so that its return address lies in the loop.
constexpr __attribute__((always_inline)) bool is_long(uint64_t turn)
{
    return __builtin_expect(uint16_t(turn) == 0, 0);
}

// Surrounds a loop. However the loop is left, the thread's turn is then the outer one again.
class Loop {
public:
    __attribute__((always_inline)) explicit Loop(uint64_t outer) : outer_(outer) {}
    __attribute__((always_inline)) ~Loop() { SIM_POKE(turn, outer_); }

private:
    uint64_t outer_;
};

// Called behind the declaration of a shared array: from here on, the block has the array, whichever function touches
// it. The block's last arrays are kept in `declared`, so that one thread tells for all. Their addresses are multiples
// of 256.
extern __thread uintptr_t declared[4];
constexpr unsigned declared_at(uintptr_t array) { return array / 256 % 4; }
SIM_FUNCTION void declare(uintptr_t array, const Declared& record);
__attribute__((always_inline)) inline void declares(const volatile void* array, const Listed& listed)
{
    uintptr_t last;
    SIM_PEEK(last, declared[declared_at(uintptr_t(array))]);
    if (last != uintptr_t(array)) declare(uintptr_t(array), listed.record);
}

// Stands behind the declaration of an array that is indexed at run time. nvcc keeps it in local memory, unless choosing
// among registers costs less. As seen with nvcc 13.0, it chooses among registers if the elements have 4 bytes or are
// structures, and the choices times their cost are at most 128. `dynamic`: bit d is set for an index of dimension d.
// `cost`: 2 for each load, 1 for each store.
template <typename T, unsigned dynamic>
constexpr size_t choices = 1;
template <typename T, size_t N, unsigned dynamic>
constexpr size_t choices<T[N], dynamic> = (dynamic & 1 ? N : 1) * choices<T, dynamic / 2>;
template <typename T, unsigned dynamic, unsigned cost, typename Element = std::remove_all_extents_t<T>>
constexpr bool indexed_in_memory = std::is_array_v<T> && (!(sizeof(Element) == 4 || std::is_class_v<Element>) ||
                                                        choices<T, dynamic> * cost > 128);
template <bool in_memory>
class Local {
public:
    __attribute__((always_inline)) Local(const volatile void* array, size_t bytes, bool stored)
    {
        local_begins(const_cast<const void*>(array), bytes, stored);
    }
    Local(const Local&) = delete;
    ~Local() { local_ends(); }
};
template <>
class Local<false> {
public:
    __attribute__((always_inline)) Local(const volatile void*, size_t, bool) {}
};

// Surrounds the address of an atomic operation. `joined`: all lanes share the address, and nvcc joins their operations
// on an integer of at most so many bytes. `unread`: nothing reads the result.
template <unsigned joined, bool unread, typename T>
__attribute__((always_inline)) inline T* changed(T* address)
{
    note_atomic(address, std::is_integral_v<T> && sizeof(T) >= 4 && sizeof(T) <= joined, unread);
    return address;
}

// Stands at the beginning of a function that a kernel calls. Two calls differ in their return addresses or, where the
// compiler has inlined them, in the address of this code.
class Call {
public:
    __attribute__((always_inline)) Call()
    {
        uintptr_t here;
        SIM_HERE(here);
        SIM_PEEK(outer_, turn);
        const uint64_t now = mixed(outer_, uintptr_t(__builtin_return_address(0)) + here) & turn_bits;
        SIM_POKE(turn, now);
    }
    __attribute__((always_inline)) ~Call() { SIM_POKE(turn, outer_); }

private:
    uint64_t outer_;
};

// Stands at the end of a kernel: the thread has come there, and has not left by `return`. An early return from a
// function with a barrier counts as `return`, too.
extern __thread uint64_t end_of_kernel;
__attribute__((always_inline)) inline void ends() { SIM_POKE(end_of_kernel, uint64_t(1)); }
SIM_FUNCTION void returns_early();

// The configuration between <<< and >>>.
struct Configuration {
    dim3 grid, block;
    size_t shared_bytes;
    void* stream;
    Configuration(dim3 grid, dim3 block, size_t shared_bytes = 0, void* stream = nullptr)
        : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream) {}
};

// The place of an argument of a launch in the host's memory.
struct Argument {
    uintptr_t begin;
    size_t bytes;
};

// A kernel that is about to run. `kernel`: its address, or null where the launch is of a template
// whose arguments are deduced. `name`: as it was written at the launch.
struct Launching {
    const void* kernel;
    const char* name;
    Configuration configuration;
    uint64_t arguments;  // a hash of them
    const void* place;   // of the launch
    const Argument* passed = nullptr;
    size_t passed_count = 0;
    // For a launch that another process asks for: `call` is the callable, and `again` launches it from copies of it and
    // of the arguments.
    Argument call{};
    void (*again)(const Launching& launching, void* const* objects) = nullptr;
};

// A kernel with its arguments. `threads` runs threads of it, for as long as next_thread() says that there is one for
// this fiber, with threadIdx and the others set.
struct Code {
    void (*threads)(const void* arguments);
    const void* arguments;
};
bool next_thread();
// Hands a launch to the launcher in use (simulator.h), and returns when all blocks are done.
void launch_grid(const Launching& launching, const Code& code);

// FNV-1a.
uint64_t hash_of(uint64_t hash, const void* bytes, size_t count);

template <typename Thread>
SIM_FUNCTION void run_threads(const void* thread)
{
    do
        (*static_cast<const Thread*>(thread))();
    while (next_thread());
}

// An object of a class with a copy constructor or a destructor of its own is passed by reference to one copy. On CUDA,
// the host makes this copy at the launch; every thread has the same bits, and no thread destroys them.
template <typename T>
constexpr bool by_reference =
    std::is_object_v<T> && !(std::is_trivially_destructible_v<T> &&
                             (std::is_trivially_copy_constructible_v<T> || !std::is_copy_constructible_v<T>) &&
                             (std::is_trivially_move_constructible_v<T> || !std::is_move_constructible_v<T>));
void copy_bits(void* to, const void* from, size_t bytes);
template <typename T>
struct Copied {
    alignas(T) char bytes[sizeof(T)];
    SIM_FUNCTION explicit Copied(const T& value) { copy_bits(bytes, &value, sizeof value); }
};

// The kernel as it is called, without the copies that the language would make.
template <typename Kernel>
Kernel callable(Kernel kernel)
{
    return kernel;
}
template <typename... Parameters>
auto callable(void (*kernel)(Parameters...))
{
    return [kernel](std::remove_reference_t<Parameters>&... arguments)
        __attribute__((always_inline, no_sanitize("thread"))) {
            reinterpret_cast<void (*)(
                std::conditional_t<by_reference<Parameters>, const Copied<Parameters>&, Parameters>...)>(kernel)(
                static_cast<std::conditional_t<by_reference<Parameters>, Copied<Parameters>,
                                               std::remove_reference_t<Parameters>&>>(arguments)...);
        };
}

template <typename Call, typename... Arguments>
SIM_FUNCTION void launch_again(const Launching& launching, void* const* objects);

template <typename Call, typename... Arguments>
SIM_FUNCTION void launch_call(Launching launching, const Call& call, Arguments&... arguments)
{
    const Argument passed[] = {{uintptr_t(&arguments), sizeof arguments}..., {}};
    launching.passed = passed;
    launching.passed_count = sizeof...(arguments);
    launching.call = {uintptr_t(&call), sizeof call};
    launching.again = launch_again<Call, Arguments...>;
    auto thread = [&]() __attribute__((always_inline, no_sanitize("thread"))) { call(arguments...); };
    launch_grid(launching, {run_threads<decltype(thread)>, &thread});
}

template <typename Call, typename... Arguments, size_t... number>
SIM_FUNCTION void launch_objects(const Launching& launching, void* const* objects, std::index_sequence<number...>)
{
    launch_call(launching, *static_cast<const Call*>(objects[0]), *static_cast<Arguments*>(objects[number + 1])...);
}

template <typename Call, typename... Arguments>
SIM_FUNCTION void launch_again(const Launching& launching, void* const* objects)
{
    launch_objects<Call, Arguments...>(launching, objects, std::index_sequence_for<Arguments...>());
}

template <typename Kernel, typename... Arguments>
SIM_FUNCTION void launch_with(Launching launching, Kernel kernel, Arguments&&... arguments)
{
    launching.arguments = 0xcbf29ce484222325u;
    ((launching.arguments = sim::hash_of(launching.arguments, &arguments, sizeof arguments)), ...);
    launch_call(launching, callable(kernel), arguments...);
}

// The arguments of a launch are handed to one of these. If they do not fit, overload resolution takes the function
// without a body, and the compiler refuses it at the line of the launch.
#define SIM_REFUSED(why) template <int = 0> __attribute__((error(why))) void operator()(...) const
struct LargeLaunch {
    SIM_REFUSED("nvcc allows 32764 bytes of parameters; pass a pointer to memory of the device");
};
template <typename... Parameters>
struct KernelLaunch {
    Launching launching;
    void (*kernel)(Parameters...);
    SIM_REFUSED("the arguments of the launch do not fit the parameters of the kernel");
    __attribute__((no_sanitize("thread"))) void operator()(Parameters... arguments) const
    {
        launch_with(launching, kernel, arguments...);
    }
};
template <typename Kernel>
struct CallLaunch {
    Launching launching;
    Kernel kernel;
    SIM_REFUSED("no kernel of this name fits the arguments of the launch; write nullptr for a null pointer");
    template <typename... Arguments, typename = std::invoke_result_t<Kernel, Arguments&...>>
    __attribute__((no_sanitize("thread"))) void operator()(Arguments... arguments) const
    {
        launch_with(launching, kernel, arguments...);
    }
};

template <typename... Parameters>
SIM_FUNCTION auto launch(const Configuration& configuration, const char* name, void (*kernel)(Parameters...))
{
    const Launching launching{reinterpret_cast<const void*>(kernel), name, configuration, 0, SIM_PLACE};
    if constexpr ((0 + ... + sizeof(Parameters)) > 32764) return LargeLaunch();
    else return KernelLaunch<Parameters...>{launching, kernel};
}

template <typename Kernel>
SIM_FUNCTION auto launch(const Configuration& configuration, const char* name, Kernel kernel)
{
    return CallLaunch<Kernel>{{nullptr, name, configuration, 0, SIM_PLACE}, kernel};
}

}  // namespace sim
