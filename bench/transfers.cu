// Copies between host and device over their size: from and to memory of malloc(), which is pageable, and pinned memory.
//
//   make transfers && ./transfers > transfers.csv          (needs a GPU)
//
// By the host's clock around cudaMemcpy, which returns when the bytes are there: the median of 15 after three that warm
// up. What arrives is compared with what was sent. Exits 1 if it is wrong, 3 where there is no GPU or on a CUDA error.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/card.h"

constexpr size_t LEAST = size_t(1) << 10, MOST = size_t(1) << 30;

int main(int argc, char** argv)
{
    arguments_of(argc, argv, "Times copies between host and GPU by their size, with pageable and with pinned memory.");
    const std::string card = card_columns();
    unsigned char *pinned, *pageable = static_cast<unsigned char*>(malloc(MOST)), *device;
    std::vector<unsigned char> sent(MOST);
    for (size_t i = 0; i < MOST; ++i) sent[i] = (unsigned char)(i * 2654435761u >> 24);
    if (!pageable) {
        fprintf(stderr, "transfers: the host has no %zu bytes of memory to give\n", MOST);
        return harness::status_bad_input;
    }
    CUDA(cudaMallocHost(&pinned, MOST));
    CUDA(cudaMalloc(&device, MOST));

    printf("date_utc,machine,cuda_driver,way,memory,bytes,us,spread_percent,bandwidth_gbs\n");
    for (size_t bytes = LEAST; bytes <= MOST; bytes *= 4)
        for (const bool to_device : {true, false})
            for (unsigned char* host : {pageable, pinned}) {
                if (to_device) memcpy(host, sent.data(), bytes);
                else memset(host, 0, bytes);
                if (to_device) CUDA(cudaMemset(device, 0, bytes));
                else CUDA(cudaMemcpy(device, sent.data(), bytes, cudaMemcpyHostToDevice));
                CUDA(cudaDeviceSynchronize());
                std::vector<double> seconds;
                for (int i = 0; i < 18; ++i) {
                    const auto start = std::chrono::steady_clock::now();
                    CUDA(to_device ? cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)
                                   : cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
                    CUDA(cudaDeviceSynchronize());
                    if (i >= 3)
                        seconds.push_back(
                            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
                }
                const char *way = to_device ? "to_device" : "to_host", *memory = host == pinned ? "pinned" : "pageable";
                if (to_device) {
                    memset(host, 0, bytes);
                    CUDA(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
                }
                if (memcmp(host, sent.data(), bytes)) {
                    fprintf(stderr, "transfers: %s, %s, %zu bytes: other bytes arrived than were sent\n", way, memory,
                            bytes);
                    return harness::status_wrong_result;
                }
                const harness::Summary s = harness::summarize(seconds);
                printf("%s,%s,%s,%zu,%.3f,%.1f,%.3f\n", card.c_str(), way, memory, bytes, s.median * 1e6,
                       100 * s.spread, 1e-9 * bytes / s.median);
            }
    return 0;
}
