// malloc, free, new and delete in kernels. The rewriter writes these names in their place, and defines the memory.

#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "base.h"

// The rewriter defines it, as a variable of the device, in a program that allocates in kernels.
extern "C" __attribute__((weak)) char device_heap[];

namespace sim {

// A piece of the heap is given to the program, and taken back. The second ends the thread if it is no such piece.
void note_malloc(void* piece, size_t bytes, void* heap, const void* place);
void note_free(void* piece, const void* place);

constexpr size_t device_heap_bytes = 8 << 20;  // cudaLimitMallocHeapSize, where a program does not set it

// The header in front of each piece. Freed pieces are kept by their sizes, and used again only when the heap has
// come to its end: two threads that get one piece would be taken for a race.
struct alignas(16) HeapPiece {
    size_t size;  // the power
    HeapPiece* next;
};

struct Heap {
    size_t used = 0;
    HeapPiece* freed[64] = {};
    bool locked = false;

    SIM_FUNCTION void lock() { while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE)) {} }
    SIM_FUNCTION void unlock() { __atomic_clear(&locked, __ATOMIC_RELEASE); }
};
inline Heap heap;

SIM_FUNCTION inline bool in_heap(const void* address)
{
    return device_heap && uintptr_t(address) - uintptr_t(device_heap) < device_heap_bytes;
}

// Pieces are powers of two of bytes. Null if the heap is full, as on hardware.
SIM_FUNCTION inline void* heap_take(size_t bytes, const void* place)
{
    if (bytes == 0 || bytes > device_heap_bytes) return nullptr;
    const int size = 64 - __builtin_clzll((bytes + sizeof(HeapPiece) - 1) | 16);
    heap.lock();
    HeapPiece* piece = nullptr;
    if (heap.used + (size_t(1) << size) <= device_heap_bytes) {
        piece = reinterpret_cast<HeapPiece*>(device_heap + heap.used);
        heap.used += size_t(1) << size;
        piece->size = size;
    } else if (heap.freed[size]) {
        piece = heap.freed[size];
        heap.freed[size] = piece->next;
    }
    heap.unlock();
    if (!piece) return nullptr;
    note_malloc(piece + 1, bytes, device_heap, place);
    return piece + 1;
}
SIM_FUNCTION inline void* heap_malloc(size_t bytes)
{
    return in_kernel() ? heap_take(bytes, SIM_PLACE) : ::malloc(bytes);
}

SIM_FUNCTION inline void heap_give(void* memory, const void* place)
{
    if (!memory) return;
    note_free(in_heap(memory) ? memory : nullptr, place);
    HeapPiece* const piece = static_cast<HeapPiece*>(memory) - 1;
    heap.lock();
    piece->next = heap.freed[piece->size];
    heap.freed[piece->size] = piece;
    heap.unlock();
}
SIM_FUNCTION inline void heap_free(void* memory)
{
    if (in_kernel()) heap_give(memory, SIM_PLACE);
    else ::free(memory);
}

// `new T` is `new (sim::on_heap) T`.
struct OnHeap {};
inline constexpr OnHeap on_heap;

// `delete p` is `sim::heap_delete->*p`: an operator that takes as much of what follows as `delete` does.
struct HeapDelete {};
inline constexpr HeapDelete heap_delete;
struct HeapDeleteArray {};
inline constexpr HeapDeleteArray heap_delete_array;

template <typename T>
SIM_FUNCTION void operator->*(HeapDelete, T* object)
{
    if (!in_kernel()) {
        delete object;
        return;
    }
    if (!object) return;
    void* whole = const_cast<std::remove_cv_t<T>*>(object);
    if constexpr (std::is_polymorphic_v<T>) whole = dynamic_cast<void*>(const_cast<std::remove_cv_t<T>*>(object));
    object->~T();
    heap_give(whole, SIM_PLACE);
}

// In front of an array whose elements have destructors, compilers write how many there are.
template <typename T>
SIM_FUNCTION void operator->*(HeapDeleteArray, T* array)
{
    if (!in_kernel()) {
        delete[] array;
    } else if constexpr (std::is_trivially_destructible_v<T>) {
        heap_give(const_cast<std::remove_cv_t<T>*>(array), SIM_PLACE);
    } else if (array) {
        constexpr size_t head = alignof(T) > sizeof(size_t) ? alignof(T) : sizeof(size_t);
        for (size_t i = reinterpret_cast<const size_t*>(array)[-1]; i > 0; --i) array[i - 1].~T();
        heap_give(reinterpret_cast<char*>(array) - head, SIM_PLACE);
    }
}

}  // namespace sim

SIM_FUNCTION inline void* operator new(size_t bytes, sim::OnHeap) noexcept
{
    return sim::in_kernel() ? sim::heap_take(bytes, SIM_PLACE) : ::operator new(bytes);
}
SIM_FUNCTION inline void* operator new[](size_t bytes, sim::OnHeap) noexcept
{
    return sim::in_kernel() ? sim::heap_take(bytes, SIM_PLACE) : ::operator new[](bytes);
}
SIM_FUNCTION inline void operator delete(void*, sim::OnHeap) noexcept {}
SIM_FUNCTION inline void operator delete[](void*, sim::OnHeap) noexcept {}
