// What the programs of this folder have in common: each row of the table of the language is checked on
// the host against what CUDA says the result is.

#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline int& wrong_rows()
{
    static int count = 0;
    return count;
}

inline void row(const char* name, bool ok)
{
    std::printf("ROW %s %s\n", name, ok ? "ok" : "WRONG");
    wrong_rows() += !ok;
}

inline void must(cudaError_t error)
{
    if (error == cudaSuccess) return;
    std::printf("%s\n", cudaGetErrorString(error));
    std::exit(1);
}

// An array on the device, all of its bytes 0 at first, and what it holds after a kernel.
template <typename T>
class Array {
public:
    explicit Array(size_t n) : n_(n)
    {
        must(cudaMalloc(reinterpret_cast<void**>(&device_), n * sizeof(T)));
        must(cudaMemset(device_, 0, n * sizeof(T)));
    }
    explicit Array(const std::vector<T>& values) : Array(values.size())
    {
        must(cudaMemcpy(device_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Array() { cudaFree(device_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    T* device() const { return device_; }
    std::vector<T> host() const
    {
        std::vector<T> values(n_);
        must(cudaGetLastError());
        must(cudaDeviceSynchronize());
        must(cudaMemcpy(values.data(), device_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }

    // Whether it begins with these; the first that differs is printed.
    bool is(const std::vector<T>& expected) const { return near(expected, 0); }
    bool near(const std::vector<T>& expected, double relative) const
    {
        const std::vector<T> values = host();
        for (size_t i = 0; i < expected.size(); ++i) {
            const double value = double(values[i]), wanted = double(expected[i]);
            if (values[i] == expected[i] || std::fabs(value - wanted) <= relative * std::fabs(wanted)) continue;
            std::printf("  [%zu]: %.9g instead of %.9g\n", i, value, wanted);
            return false;
        }
        return true;
    }

private:
    size_t n_;
    T* device_ = nullptr;
};

// A kernel that computes all rows of a table, X(expression, value), and a function of the host with the values.
// `before` stands in front of the expressions. `as` is what becomes of each.
#define TABLE_OF(name, T, Parameter, before, as, ROWS) \
    __global__ void name(T* out, Parameter x) \
    { \
        const auto row = [&](T value) { *out++ = value; }; \
        (void)x; \
        before; \
        const auto bits = [](auto value) { return as(value); }; \
        ROWS(COMPUTED) \
    } \
    std::vector<T> expected_##name(double x) \
    { \
        using Value = T; \
        (void)x; \
        return {ROWS(EXPECTED)}; \
    }
#define TABLE(name, T, Parameter, before, ROWS) TABLE_OF(name, T, Parameter, before, static_cast<T>, ROWS)
#define COMPUTED(expression, value) row(bits(expression));
#define EXPECTED(expression, value) Value(value),

template <typename T, typename Parameter>
void compare(const char* name, void (*table)(T*, Parameter), const std::vector<T>& expected, double x,
             double relative = 0)
{
    Array<T> out(expected.size());
    table<<<1, 1>>>(out.device(), Parameter(x));
    row(name, out.near(expected, relative));
}
