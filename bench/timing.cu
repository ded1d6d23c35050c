// One kernel, a copy, timed in seven ways: what each of them says.
//
//   make timing && ./timing > timing.csv          (needs a GPU)
//
// On a matrix whose copy takes less than a launch, and on one that is large. The first launch of a kernel is a sample
// by itself; of the others, the median of 15 and the distance from the 10th to the 90th percentile as a share of it.
// The copy is compared with its original, element by element. Exits 1 if it is wrong, 3 where there is no GPU or on a
// CUDA error.

#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "bench/elements.h"

constexpr int PASSES = 100;

// One element per thread, `passes` times. NUMBER: a kernel for each matrix, so that each has a first launch.
template <int NUMBER>
__global__ void copy(float* odata, const float* idata, size_t n, int passes)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int pass = 0; pass < passes; ++pass)
        if (i < n) odata[i] = idata[i];  // which no pass can leave out: odata may overlap idata
}

double host_seconds(const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <int NUMBER>
void time_copy(const std::string& card, int side)
{
    const size_t n = size_t(side) * side;
    float *idata, *odata;
    CUDA(cudaMalloc(&idata, n * sizeof(float)));
    CUDA(cudaMalloc(&odata, n * sizeof(float)));
    fill<<<1024, 256>>>(idata, n);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());

    const auto launch = [&](int launches, int passes) {
        for (int i = 0; i < launches; ++i) copy<NUMBER><<<unsigned((n + 255) / 256), 256>>>(odata, idata, n, passes);
        CUDA(cudaGetLastError());
    };
    // `sample`: seconds of so many launches with so many passes each.
    const auto report = [&](const char* method, int launches, int passes, int samples,
                            const std::function<double()>& sample) {
        CUDA(cudaMemset(odata, 0xff, n * sizeof(float)));
        std::vector<double> seconds;
        for (int i = 0; i < samples; ++i) {
            CUDA(cudaDeviceSynchronize());
            seconds.push_back(sample() / (double(launches) * passes));
        }
        if (const auto wrong = wrong_elements(odata, n, 1, n)) {
            fprintf(stderr, "timing: %s, %d x %d: %llu elements are wrong\n", method, side, side, wrong);
            exit(harness::status_wrong_result);
        }
        const harness::Summary s = harness::summarize(seconds);
        printf("%s,%s,%d,%d,float,%d,%d,%d,%.3f,%.1f,%.1f\n", card.c_str(), method, side, side, launches, passes,
               samples, s.median * 1e6, 100 * s.spread, 2e-9 * n * sizeof(float) / s.median);
    };
    const auto synchronized = [&](int launches) {
        return host_seconds([&] {
            launch(launches, 1);
            CUDA(cudaDeviceSynchronize());
        });
    };
    report("events; the first launch", 1, 1, 1, [&] { return event_seconds([&] { launch(1, 1); }); });
    report("host clock; not synchronized", 1, 1, 15, [&] { return host_seconds([&] { launch(1, 1); }); });
    report("host clock; synchronized", 1, 1, 15, [&] { return synchronized(1); });
    report("host clock; synchronized; many launches", PASSES, 1, 15, [&] { return synchronized(PASSES); });
    report("events; one launch", 1, 1, 15, [&] { return event_seconds([&] { launch(1, 1); }); });
    report("events; many launches", PASSES, 1, 15, [&] { return event_seconds([&] { launch(PASSES, 1); }); });
    report("events; loop in the kernel", 1, PASSES, 15, [&] { return event_seconds([&] { launch(1, PASSES); }); });
    CUDA(cudaFree(idata));
    CUDA(cudaFree(odata));
}

int main(int argc, char** argv)
{
    arguments_of(argc, argv, "Times one copy in seven ways, on a small matrix and on a large one.");
    const std::string card = card_columns();
    printf(
        "date_utc,machine,cuda_driver,method,width,height,type,launches,passes,samples,us_per_pass,spread_percent,"
        "bandwidth_gbs\n");
    time_copy<0>(card, 256);
    time_copy<1>(card, 8192);
    return 0;
}
