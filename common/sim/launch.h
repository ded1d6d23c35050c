// The simulator as a kernel file sees it: enough of CUDA C++ for an ordinary compiler to
// build the kernels, with every access to global and shared memory on record.
//
// An element is a Value: its conversion operators and assignments report loads and stores.
// A thread is a fiber; __syncthreads() is where it hands over to the next one. The kernel's
// `__shared__` arrays are thread-local to the host thread that runs the block.

#pragma once

#include <cstdint>

#include "../kernel.h"

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
// A load like any other: it goes the way of all loads on cards since 2014, too.
#define __ldg(address) (*(address))
// Banks are counted from the beginning of an array.
#define __shared__ alignas(256) static thread_local

// An access is known by its return address. Two accesses of a kernel must not become one call
// with a choice of arguments, nor one access two calls on different paths: clang is told so
// here, g++ by the Makefile.
#ifdef __clang__
#define SIM_ACCESS __attribute__((nomerge, noduplicate))
#else
#define SIM_ACCESS
#endif

namespace sim {

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// Of the thread that is running.
inline thread_local uint3 threadIdx, blockIdx;
inline thread_local dim3 blockDim, gridDim;

SIM_ACCESS void __syncthreads();

// The fibers' stacks on this host thread. What lies there is a register or a local of a
// simulated thread, no memory of the GPU's.
struct Stacks {
    uintptr_t base = 0;
    uintptr_t bytes = 0;
    bool hold(const void* address) const { return uintptr_t(address) - base < bytes; }
};
inline thread_local Stacks stacks;

// Tells the simulator that the running kernel has `bytes` of shared memory at `address`.
void declare_shared(void* address, size_t bytes);

// An element of a matrix or of a tile, wherever it lives. The members that touch memory are
// never inlined: their return address is the place in the kernel that makes the access.
template <typename Raw>
class Value {
public:
    Value()
    {
        if (!stacks.hold(this)) declare_shared(this, sizeof *this);
    }
    Value(Raw raw) : raw_(raw) {}
    SIM_ACCESS Value(const Value& from);             // loads `from`
    SIM_ACCESS operator Raw() const;                 // loads
    SIM_ACCESS Value& operator=(const Value& from);  // loads `from`, stores
    SIM_ACCESS Value& operator=(Raw raw);            // stores

private:
    Value& assign(const Value& from, uint64_t loads, uint64_t stores);

    Raw raw_;
};

extern template class Value<float>;
extern template class Value<double>;
extern template class Value<int>;

// Sixteen bytes, loaded and stored as one.
template <typename Element>
class alignas(16) Vector {
public:
    Vector() {}
    SIM_ACCESS Vector(const Vector& from);             // loads `from`
    SIM_ACCESS Vector& operator=(const Vector& from);  // loads `from`, stores
    Element& operator[](int i) { return element_[i]; }

private:
    Element element_[16 / sizeof(Element)];
};

extern template class Vector<Value<float>>;
extern template class Vector<Value<double>>;
extern template class Vector<Value<int>>;

// Runs every block of the grid and returns when all are done. `kernel` identifies the kernel;
// `threads` runs threads of it, for as long as next_thread() says that there is one for this
// fiber, with threadIdx and the others set.
void run_grid(const void* kernel, dim3 grid, dim3 block, void (*threads)(const void* arguments),
              const void* arguments);
bool next_thread();

template <typename... Parameters>
auto launch(void (*kernel)(Parameters...), dim3 grid, dim3 block)
{
    return [=](Parameters... arguments) {
        auto thread = [&] { kernel(arguments...); };
        auto threads = [](const void* t) {
            do
                (*static_cast<const decltype(thread)*>(t))();
            while (next_thread());
        };
        const void* identity = reinterpret_cast<const void*>(kernel);
        dim3 deep = grid;
        deep.z = harness::note_launch(identity, grid, block, arguments...);
        run_grid(identity, deep, block, threads, &thread);
    };
}

template <typename Pass>
using Registration = harness::Registration<Pass, Value<float>, Value<double>, Value<int>>;

constexpr char name[] = "sim";

}  // namespace sim

using sim::blockDim;
using sim::blockIdx;
using sim::dim3;
using sim::gridDim;
using sim::threadIdx;
using sim::Vector;
using sim::__syncthreads;

#define LAUNCH(kernel, grid, block) sim::launch(kernel, grid, block)
