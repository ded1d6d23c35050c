// Memory that frees itself, in C++: one pointer is freed after main. Nothing is wrong.
#include <iostream>
#include <memory>
#include <vector>

#include "check.h"

template <typename T>
class DeviceVector {
public:
    explicit DeviceVector(size_t n) : n_(n) { CHECK(cudaMalloc(&data_, n * sizeof(T))); }
    ~DeviceVector() { cudaFree(data_); }
    DeviceVector(const DeviceVector&) = delete;
    T* get() { return data_; }
    size_t bytes() const { return n_ * sizeof(T); }

private:
    T* data_ = nullptr;
    size_t n_;
};

template <typename T, typename F>
__global__ void apply(T* data, F f)
{
    data[threadIdx.x] = f(data[threadIdx.x]);
}

struct Triple {
    __device__ int operator()(int x) const { return 3 * x; }
};

static std::unique_ptr<int, cudaError_t (*)(void*)> late(nullptr, cudaFree);

int main()
{
    std::vector<int> h(32);
    for (int i = 0; i < 32; ++i) h[i] = i;
    DeviceVector<int> d(32);
    int* p = nullptr;
    CHECK(cudaMalloc(&p, 128));
    late.reset(p);
    CHECK(cudaMemcpy(d.get(), h.data(), d.bytes(), cudaMemcpyHostToDevice));
    apply<<<1, 32>>>(d.get(), Triple());
    CHECK(cudaMemcpy(h.data(), d.get(), d.bytes(), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < 32; ++i) wrong += h[i] != 3 * i;
    std::cout << (wrong ? "FAILED" : "PASSED") << std::endl;
    return wrong != 0;
}
