// The names that the rewritten text of a kernel file uses: launches, and the markers that tell which turn
// of which loop, and which call, a thread is in. rewrite/ puts them there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../lanes/indices.h"
#include "../lanes/launching.h"
#include "../lanes/turns.h"
#include "../memory/declared.h"
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

namespace sim {

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

// Called every 65536 turns of a loop, which then counts from 0 again. It lets other threads run, and ends a thread that
// would never end.
SIM_FUNCTION void long_loop();

// Called behind the declaration of a shared array: from here on, the block has the array, whichever function touches
// it.
SIM_FUNCTION void declare(uintptr_t array, const Declared& record);
__attribute__((always_inline)) inline void declares(const volatile void* array, const Listed& listed)
{
    uintptr_t last;
    SIM_PEEK(last, declared[declared_at(uintptr_t(array))]);
    if (last != uintptr_t(array)) declare(uintptr_t(array), listed.record);
}

// An object that an index may lead into.
template <typename T>
constexpr bool indexable = std::is_array_v<T> || std::is_class_v<T> || std::is_union_v<T>;

// Surrounds the address of an atomic operation. `joined`: all lanes share the address, and nvcc joins their operations
// on an integer of at most so many bytes. `unread`: nothing reads the result.
template <unsigned joined, bool unread, typename T>
__attribute__((always_inline)) inline T* changed(T* address)
{
    note_atomic(address, std::is_integral_v<T> && sizeof(T) >= 4 && sizeof(T) <= joined, unread);
    return address;
}

SIM_FUNCTION void returns_early();

// Hands a launch to the launcher in use (launcher.h), and returns when all blocks are done.
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
        __attribute__((always_inline, no_sanitize("thread", "kernel-address"))) {
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
    auto thread = [&]() __attribute__((always_inline, no_sanitize("thread", "kernel-address"))) { call(arguments...); };
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
    __attribute__((no_sanitize("thread", "kernel-address"))) void operator()(Parameters... arguments) const
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
    __attribute__((no_sanitize("thread", "kernel-address"))) void operator()(Arguments... arguments) const
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
