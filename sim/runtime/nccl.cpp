// The functions of NCCL. Their messages are matched by nccl_messages.cpp.

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "../../common/base/error.h"
#include "devices.h"
#include "nccl_messages.h"
#include "notes.h"

namespace {

using namespace sim;
using harness::format;

constexpr const char* id_begins = "simulated ";

size_t bytes_of_type(ncclDataType_t type)
{
    switch (type) {
        case ncclInt8:
        case ncclUint8:
        case ncclFloat8e4m3:
        case ncclFloat8e5m2: return 1;
        case ncclFloat16:
        case ncclBfloat16: return 2;
        case ncclInt32:
        case ncclUint32:
        case ncclFloat32: return 4;
        case ncclInt64:
        case ncclUint64:
        case ncclFloat64: return 8;
        default: return 0;
    }
}

bool known(ncclComm_t comm) { return all_cliques().comms.count(comm) > 0; }

Clique* clique_of(const ncclUniqueId& id)
{
    for (const auto& clique : all_cliques().cliques)
        if (!std::memcmp(&clique->id, &id, sizeof id)) return clique.get();
    return nullptr;
}

ncclUniqueId new_id()
{
    ncclUniqueId id = {};
    snprintf(id.internal, sizeof id.internal, "%s%d %llu", id_begins, int(getpid()),
             (unsigned long long)++all_cliques().ids);
    auto clique = std::make_unique<Clique>();
    clique->id = id;
    clique->ranks = 0;
    all_cliques().cliques.push_back(std::move(clique));
    return id;
}

ncclResult_t join(ncclComm_t* comm, Clique& clique, int ranks, int rank, int device, const Called& where)
{
    if (clique.ranks == 0) {
        clique.ranks = ranks;
        clique.comms.resize(size_t(ranks));
    }
    if (clique.ranks != ranks)
        return refuse_message(where, format(": %d ranks, and another rank of this id said %d", ranks, clique.ranks),
                              ncclInvalidArgument);
    if (clique.comms[size_t(rank)]) return refuse_message(where, format(": rank %d was made before", rank));
    for (ncclComm_t other : clique.comms)
        if (other && other->device == device)
            return refuse_message(
                where, format(": device %d is that of rank %d; call cudaSetDevice before", device, other->rank));
    message_group().has_ranks = true;
    all_cliques().ended.erase(std::this_thread::get_id());  // an earlier thread may have had this id
    *comm = clique.comms[size_t(rank)] = new ncclComm{&clique, rank, device, std::this_thread::get_id()};
    all_cliques().comms.insert(*comm);
    all_cliques().arrived.notify_all();
    return ncclSuccess;
}

ncclResult_t post(bool sends, void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                  cudaStream_t stream, const void* place)
{
    refuse_in_kernel(place);
    Message m;
    m.comm = comm;
    m.sends = sends;
    m.peer = peer;
    m.data = data;
    m.count = count;
    m.stream = stream;
    m.place = place;
    {
        const RuntimeLock lock;
        if (context_lost()) return message_group().worst = ncclUnhandledCudaError;
        if (!known(comm)) return refuse_message(m.call(), ": the communicator does not exist", ncclInvalidArgument);
        const size_t size = bytes_of_type(type);
        if (!size) return refuse_message(m.call(), format(": type %d does not exist", int(type)), ncclInvalidArgument);
        if (peer < 0 || peer >= comm->clique->ranks)
            return refuse_message(
                m.call(), format(": rank %d does not exist; there are ranks 0 to %d", peer, comm->clique->ranks - 1),
                ncclInvalidArgument);
        if (count > ~size_t(0) / size) return refuse_message(m.call(), ": too many elements", ncclInvalidArgument);
        m.bytes = count * size;
        if (!known_stream(stream)) return refuse_message(m.call(), ": the stream does not exist", ncclInvalidArgument);
        {
            const OnDevice on(comm->device);
            if (device_of(stream) != comm->device)
                return refuse_message(m.call(), format(": the stream belongs to device %d, and rank %d has device %d",
                                                       device_of(stream), comm->rank, comm->device));
        }
        if (m.bytes && !good_buffer(m.function(), place, data, m.bytes, comm->device))
            return message_group().worst = ncclInvalidArgument;
        message_group().messages.push_back(m);
    }
    return message_group().depth ? ncclSuccess : end_message_group();
}

ncclResult_t refuse_collective(const char* function, const void* place)
{
    const RuntimeLock lock;
    program_finding(
        kinds::not_simulated, place,
        format("not simulated: %s %s: of NCCL there are ncclSend and ncclRecv", function, at(place).c_str()));
    return ncclInvalidUsage;
}

template <typename Value>
ncclResult_t tell(ncclComm_t comm, Value* value, Value (*of)(ncclComm_t))
{
    const RuntimeLock lock;
    if (!value || !known(comm)) return ncclInvalidArgument;
    *value = of(comm);
    return ncclSuccess;
}

ncclResult_t end_comm(ncclComm_t comm)
{
    const RuntimeLock lock;
    // The communicator stays in memory, because the report on a message that nobody received says who sent it.
    return all_cliques().comms.erase(comm) ? ncclSuccess : ncclInvalidArgument;
}

}  // namespace

ncclResult_t ncclGetVersion(int* version)
{
    if (!version) return ncclInvalidArgument;
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
        case ncclSuccess: return "no error";
        case ncclUnhandledCudaError: return "a CUDA call failed";
        case ncclSystemError: return "a call of the operating system failed";
        case ncclInternalError: return "internal error";
        case ncclInvalidArgument: return "invalid argument";
        case ncclInvalidUsage: return "invalid usage";
        case ncclRemoteError: return "another process failed or has ended";
        case ncclInProgress: return "the operation is in progress";
        default: return "unknown result code";
    }
}

const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id)
{
    if (!id) return ncclInvalidArgument;
    const RuntimeLock lock;
    *id = new_id();
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank)
{
    const RuntimeLock lock;
    const Called where{"ncclCommInitRank", SIM_PLACE};
    if (!comm) return ncclInvalidArgument;
    *comm = nullptr;
    if (ranks < 1 || ranks > device_count())
        return refuse_message(where,
                              format(": %d ranks, where 1 to %d are allowed: each has a device (SIM_OPTIONS: --gpus)",
                                     ranks, device_count()),
                              ncclInvalidArgument);
    if (rank < 0 || rank >= ranks)
        return refuse_message(where, format(": rank %d, where 0 to %d are allowed", rank, ranks - 1),
                              ncclInvalidArgument);
    Clique* clique = clique_of(id);
    if (!clique)
        return refuse_message(where,
                              ": the id is not from ncclGetUniqueId in this process, and the simulator has no "
                              "messages between processes",
                              ncclInvalidArgument);
    if (!message_group().depth)
        for (ncclComm_t other : clique->comms)
            if (other && other->thread == std::this_thread::get_id())
                return refuse_message(where, format(": the thread made rank %d, too, and waits for ever there; put "
                                                    "the calls between ncclGroupStart and ncclGroupEnd",
                                                    other->rank));
    return join(comm, *clique, ranks, rank, current_device(), where);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices)
{
    const RuntimeLock lock;
    const Called where{"ncclCommInitAll", SIM_PLACE};
    if (!comms || count < 1) return ncclInvalidArgument;
    const ncclUniqueId id = new_id();
    for (int rank = 0; rank < count; ++rank) {
        const int device = devices ? devices[rank] : rank;
        if (device < 0 || device >= device_count())
            return refuse_message(where, format(": device %d, and there are %d", device, device_count()),
                                  ncclInvalidArgument);
        if (const ncclResult_t error = join(&comms[rank], *clique_of(id), count, rank, device, where)) return error;
    }
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    const RuntimeLock lock;
    return known(comm) ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) { return end_comm(comm); }
ncclResult_t ncclCommAbort(ncclComm_t comm) { return end_comm(comm); }

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error)
{
    return tell<ncclResult_t>(comm, error, [](ncclComm_t) { return ncclSuccess; });
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count)
{
    return tell<int>(comm, count, [](ncclComm_t c) { return c->clique->ranks; });
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device)
{
    return tell<int>(comm, device, [](ncclComm_t c) { return c->device; });
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank)
{
    return tell<int>(comm, rank, [](ncclComm_t c) { return c->rank; });
}

ncclResult_t ncclCommRegister(ncclComm_t comm, void* memory, size_t, void** handle)
{
    const RuntimeLock lock;
    if (!handle || !known(comm)) return ncclInvalidArgument;
    *handle = memory;
    return ncclSuccess;
}

ncclResult_t ncclCommDeregister(ncclComm_t comm, void*)
{
    const RuntimeLock lock;
    return known(comm) ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclGroupStart()
{
    ++message_group().depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd()
{
    if (message_group().depth == 0) {
        const RuntimeLock lock;
        refuse_message({"ncclGroupEnd", SIM_PLACE}, " without ncclGroupStart");
        return std::exchange(message_group().worst, ncclSuccess);
    }
    return --message_group().depth ? ncclSuccess : end_message_group();
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    return post(true, const_cast<void*>(data), count, type, peer, comm, stream, SIM_PLACE);
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    return post(false, data, count, type, peer, comm, stream, SIM_PLACE);
}

#define COLLECTIVE(function, ...)                                                  \
    ncclResult_t function(const void*, void*, size_t, ncclDataType_t, __VA_ARGS__) \
    {                                                                              \
        return refuse_collective(#function, SIM_PLACE);                            \
    }
COLLECTIVE(ncclAllReduce, ncclRedOp_t, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclReduce, ncclRedOp_t, int, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclReduceScatter, ncclRedOp_t, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclBroadcast, int, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclAllGather, ncclComm_t, cudaStream_t)
COLLECTIVE(ncclAlltoAll, ncclComm_t, cudaStream_t)
