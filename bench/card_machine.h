// The machine file of the card on which a program runs: --machine-file FILE.

#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/arguments.h"
#include "bench/card.h"
#include "common/base/constants.h"
#include "common/base/files.h"

inline int attribute(cudaDeviceAttr which)
{
    int value = 0;
    CUDA(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

// The card with its limits, as the driver tells them. The map of its memory partitions is that of the built-in machine
// of this card, or not known. `path`: of the file, which gives the machine its name.
inline harness::Machine limits_of(const cudaDeviceProp& device, const std::string& path)
{
    harness::Machine m = harness::machine_of_card(device.name, device.major, device.minor, path);
    m.sms = device.multiProcessorCount;
    m.sm_mhz = attribute(cudaDevAttrClockRate) / 1000;
    m.dram_bytes = device.totalGlobalMem;
    m.dram_mhz = attribute(cudaDevAttrMemoryClockRate) / 1000;
    m.bus_bits = device.memoryBusWidth;
    m.l2_bytes = uint64_t(device.l2CacheSize);
    m.threads_per_block = unsigned(device.maxThreadsPerBlock);
    for (int i = 0; i < 3; ++i) {
        m.block[i] = unsigned(device.maxThreadsDim[i]);
        m.grid[i] = unsigned(device.maxGridSize[i]);
    }
    m.blocks_per_sm = device.maxBlocksPerMultiProcessor;
    m.threads_per_sm = device.maxThreadsPerMultiProcessor;
    m.registers_per_sm = device.regsPerMultiprocessor;
    m.registers_per_block = device.regsPerBlock;
    m.shared_per_sm = device.sharedMemPerMultiprocessor;
    m.shared_per_block = device.sharedMemPerBlock;
    m.shared_per_block_optin = device.sharedMemPerBlockOptin;
    m.reserved_shared = device.reservedSharedMemPerBlock;
    m.copy_engines = device.asyncEngineCount;
    m.double_ratio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
    return m;
}

// The file of --machine-file FILE, which is tried before anything is measured. Null: there is no such option.
inline std::unique_ptr<harness::WholeFile> open_machine_file(const std::vector<std::string>& arguments)
{
    const std::string path = value_of(arguments, "--machine-file");
    return or_exit([&] {
        return path.empty() ? nullptr : std::make_unique<harness::WholeFile>("--machine-file", path);
    });
}

// `csv`: what the program printed.
inline void write_machine_file(harness::WholeFile& file, const cudaDeviceProp& device, const std::string& csv)
{
    or_exit([&] {
        const harness::Measurements measured = harness::parse_measurements("the results", csv);
        file.append(harness::measured_machine_text(limits_of(device, file.path()), {measured}));
        file.commit();
    });
}
