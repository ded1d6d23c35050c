// The GPUs of this process at one point: their streams wait for each other, and passes are timed from one such point to the next.

#pragma once

#include "network.h"

// Every GPU's next work waits for all that was enqueued on any of them.
class Meeting {
public:
    template <typename T>
    explicit Meeting(const Exchange<T>& e) : mine_(e.mine)
    {
        for (int g : mine_) {
            device_[g] = e.device[g];
            stream_[g] = e.stream[g];
            CUDA(cudaSetDevice(device_[g]));
            CUDA(cudaEventCreateWithFlags(&here_[g], cudaEventDisableTiming));
        }
        CUDA(cudaSetDevice(device_[mine_[0]]));
        CUDA(cudaEventCreate(&begin_));
        CUDA(cudaEventCreate(&end_));
    }
    ~Meeting()
    {
        for (int g : mine_) cudaEventDestroy(here_[g]);
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    void meet()
    {
        for (int g : mine_) {
            CUDA(cudaSetDevice(device_[g]));
            CUDA(cudaEventRecord(here_[g], stream_[g]));
        }
        for (int g : mine_) {
            CUDA(cudaSetDevice(device_[g]));
            for (int other : mine_)
                if (other != g) CUDA(cudaStreamWaitEvent(stream_[g], here_[other], 0));
        }
    }
    // The host waits for all of them.
    void wait(Network& network)
    {
        for (int g : mine_) {
            CUDA(cudaSetDevice(device_[g]));
            network.wait(stream_[g]);
        }
    }
    // ms of one pass, of so many that follow each other. A pass begins when all GPUs are done with the one before.
    template <typename Work>
    double time_ms(int passes, Network& network, const Work& work)
    {
        const int first = mine_[0];
        network.most(0);
        meet();
        CUDA(cudaSetDevice(device_[first]));
        CUDA(cudaEventRecord(begin_, stream_[first]));
        for (int i = 0; i < passes; ++i) {
            work();
            meet();
        }
        CUDA(cudaSetDevice(device_[first]));
        CUDA(cudaEventRecord(end_, stream_[first]));
        network.wait(stream_[first]);
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, begin_, end_));
        return network.most(double(ms)) / passes;
    }

private:
    std::vector<int> mine_;
    int device_[MAX_GPUS];
    cudaStream_t stream_[MAX_GPUS];
    cudaEvent_t here_[MAX_GPUS], begin_, end_;
};
