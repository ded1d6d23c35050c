// A matrix and its transpose, spread over the GPUs of this process: their memory, what they hold, and whether that is right.

#pragma once

#include <algorithm>
#include <memory>

#include "../common/kernel.h"
#include "gpus.h"

// Elements `first` to `first + elements` of a matrix get their contents.
template <typename Bits>
__global__ void fillPart(Bits* data, harness::Contents contents, unsigned long long first, unsigned long long elements)
{
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < elements; i += (unsigned long long)gridDim.x * blockDim.x)
        data[i] = contents.at<Bits>(first + i);
}

constexpr int THREADS = 256;

// Blocks for so many elements, which may take several turns.
inline unsigned blocks_of(size_t elements) { return std::max<size_t>(1, std::min<size_t>(1024, (elements + THREADS - 1) / THREADS)); }

struct Wrong {
    unsigned long long count, first;  // elements that differ, and the lowest index among them
};

template <typename Bits>
__global__ void checkPart(const Bits* data, harness::Contents contents, unsigned long long first, unsigned long long elements, Wrong* wrong)
{
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < elements; i += (unsigned long long)gridDim.x * blockDim.x)
        if (data[i] != contents.at<Bits>(first + i)) {
            atomicAdd(&wrong->count, 1ull);
            atomicMin(&wrong->first, first + i);
        }
}

// Memory of one GPU. cudaFree needs no current device.
class OnGpu {
public:
    OnGpu(int device, size_t bytes)
    {
        CUDA(cudaSetDevice(device));
        CUDA(cudaMalloc(&data_, std::max<size_t>(bytes, 1)));
    }
    ~OnGpu() { cudaFree(data_); }
    OnGpu(const OnGpu&) = delete;
    template <typename T> T* as() const { return static_cast<T*>(data_); }

private:
    void* data_ = nullptr;
};

template <typename T>
class Spread {
public:
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

    // Memory for idata and odata, and what `e` lacks: its addresses. `e` has everything else. Throws status_bad_input where a GPU
    // has too little memory.
    explicit Spread(Exchange<T>& e) : e_(e)
    {
        for (int g : e.mine) {
            const size_t bytes[] = {in_elements(g) * sizeof(T), out_elements(g) * sizeof(T)};
            size_t free = 0, total = 0;
            CUDA(cudaSetDevice(e.device[g]));
            CUDA(cudaMemGetInfo(&free, &total));
            if (double(bytes[0]) + double(bytes[1]) > double(free))
                throw harness::Error{harness::status_bad_input, harness::format("a %d x %d matrix and its transpose take %.2f GB of GPU %d, which has %.2f GB free; choose a smaller --size",
                                                                                e.width, e.height, (double(bytes[0]) + double(bytes[1])) / 1e9, g, double(free) / 1e9)};
            in_.push_back(std::make_unique<OnGpu>(e.device[g], bytes[0]));
            out_.push_back(std::make_unique<OnGpu>(e.device[g], bytes[1]));
            wrong_.push_back(std::make_unique<OnGpu>(e.device[g], sizeof(Wrong)));
            e.idata.part[g] = in_.back()->template as<T>();
            e.odata.part[g] = out_.back()->template as<T>();
        }
        fill(in_, harness::Holds::input);
    }

    // odata gets contents that no right transpose leaves.
    void poison() { fill(out_, harness::Holds::poison); }

    // What is wrong with odata, or with idata afterwards: a line. Empty: nothing.
    std::string check()
    {
        const std::string wrong = check(out_, harness::Holds::result, "odata", e_.height);
        return wrong.empty() ? check(in_, harness::Holds::input, "the input was overwritten: idata", e_.width) : wrong;
    }

    size_t in_elements(int g) const { return size_t(first_row(e_.height, g + 1, e_.gpus) - first_row(e_.height, g, e_.gpus)) * e_.width; }
    size_t out_elements(int g) const { return size_t(first_row(e_.width, g + 1, e_.gpus) - first_row(e_.width, g, e_.gpus)) * e_.height; }

private:
    using PerGpu = std::vector<std::unique_ptr<OnGpu>>;

    harness::Contents contents(harness::Holds holds) const
    {
        return {sizeof(T) == 8 ? harness::Type::f64 : harness::Type::f32, harness::transposes, uint64_t(e_.width), uint64_t(e_.height), 0, holds};
    }
    size_t first(int g, harness::Holds holds) const
    {
        return holds == harness::Holds::input ? size_t(first_row(e_.height, g, e_.gpus)) * e_.width : size_t(first_row(e_.width, g, e_.gpus)) * e_.height;
    }
    size_t elements(int g, harness::Holds holds) const { return holds == harness::Holds::input ? in_elements(g) : out_elements(g); }

    void fill(const PerGpu& memory, harness::Holds holds)
    {
        for (size_t i = 0; i < e_.mine.size(); ++i) {
            const int g = e_.mine[i];
            CUDA(cudaSetDevice(e_.device[g]));
            fillPart<<<blocks_of(elements(g, holds)), THREADS, 0, e_.stream[g]>>>(memory[i]->template as<Bits>(), contents(holds), first(g, holds), elements(g, holds));
            CUDA(cudaGetLastError());
        }
        for (int g : e_.mine) {
            CUDA(cudaSetDevice(e_.device[g]));
            CUDA(cudaStreamSynchronize(e_.stream[g]));
        }
    }

    std::string check(const PerGpu& memory, harness::Holds holds, const char* name, int columns)
    {
        const Wrong none{0, ~0ull};
        Wrong all = none;
        for (size_t i = 0; i < e_.mine.size(); ++i) {
            const int g = e_.mine[i];
            CUDA(cudaSetDevice(e_.device[g]));
            CUDA(cudaMemcpyAsync(wrong_[i]->as<Wrong>(), &none, sizeof none, cudaMemcpyHostToDevice, e_.stream[g]));
            checkPart<<<blocks_of(elements(g, holds)), THREADS, 0, e_.stream[g]>>>(memory[i]->template as<Bits>(), contents(holds), first(g, holds), elements(g, holds), wrong_[i]->as<Wrong>());
            CUDA(cudaGetLastError());
        }
        for (size_t i = 0; i < e_.mine.size(); ++i) {
            const int g = e_.mine[i];
            Wrong wrong;
            CUDA(cudaSetDevice(e_.device[g]));
            CUDA(cudaMemcpyAsync(&wrong, wrong_[i]->as<Wrong>(), sizeof wrong, cudaMemcpyDeviceToHost, e_.stream[g]));
            CUDA(cudaStreamSynchronize(e_.stream[g]));
            all.count += wrong.count;
            all.first = std::min(all.first, wrong.first);
        }
        if (all.count == 0) return "";
        return harness::format("%s: %llu element%s differ, the first in row %llu, column %llu", name, all.count, all.count == 1 ? "" : "s", all.first / columns, all.first % columns);
    }

    Exchange<T>& e_;
    PerGpu in_, out_, wrong_;
};
