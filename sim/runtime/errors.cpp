// Errors: their names, which one was last, and what happens after a kernel failed.

#include <algorithm>
#include <vector>

#include "../../common/base/error.h"
#include "../core/hooks/thread.h"
#include "kernels.h"
#include "notes.h"
#include "runtime.h"

namespace sim {
namespace {

thread_local cudaError_t last = cudaSuccess;
thread_local uint64_t findings_at_enter = 0;  // of the last call

// Both belong to the whole program. `pending` is the error of a kernel that the program has not waited for yet.
cudaError_t pending = cudaSuccess, lost = cudaSuccess;

struct FailedLaunch {
    std::string launch;  // "k, launched at program.cu:31", or a call whose result was dropped
    const void* place;
    cudaError_t error;
    std::string refused;  // why; empty: it ran
    bool of_kernel = true;
    const char* remedy = "call cudaGetLastError after the launch, and check what cudaDeviceSynchronize returns";
    bool seen = false;
};
std::vector<FailedLaunch>& failed_launches()
{
    static std::vector<FailedLaunch>& all = *new std::vector<FailedLaunch>;
    return all;
}

void note_failure(const Launching& launching, cudaError_t error, const std::string& refused)
{
    failed_launches().push_back(
        {std::string(name_of(launching)) + ", launched " + at(launching.place), launching.place, error, refused});
}

void saw(cudaError_t error)
{
    for (FailedLaunch& f : failed_launches()) f.seen = f.seen || f.error == error;
}

}  // namespace

std::recursive_mutex& runtime_mutex()
{
    static std::recursive_mutex& mutex = *new std::recursive_mutex;
    return mutex;
}

cudaError_t result(cudaError_t error)
{
    if (error != cudaSuccess) last = error;
    return error;
}

void refuse_in_kernel(const void* place)
{
    if (in_kernel()) fail("a kernel calls the CUDA runtime, which is not simulated", place);
}

cudaError_t enter(bool waits)
{
    if (calls_back) return result(cudaErrorNotPermitted);  // as CUDA may
    findings_at_enter = findings_so_far();
    if (waits && pending != cudaSuccess) {
        lost = pending;
        pending = cudaSuccess;
    }
    if (lost != cudaSuccess) saw(lost);
    return result(lost);
}

// Notes an error that the program drops, unless a finding of this call has told of it.
void operator,(Discarded call, cudaError_t error)
{
    const RuntimeLock lock;
    const void* const place = SIM_PLACE;
    // An error that a failed kernel has left is reported as the kernel's.
    const auto known = [&](const FailedLaunch& f) {
        return f.error == error && (f.place == place ? !f.seen : f.of_kernel && f.refused.empty());
    };
    if (error == cudaSuccess || error == cudaErrorNotReady || findings_at_enter != findings_so_far() ||
        std::any_of(failed_launches().begin(), failed_launches().end(), known))
        return;
    failed_launches().push_back(
        {call.function + (" " + at(place)), place, error, "", false, "look at what the call returns"});
}

bool context_lost() { return lost != cudaSuccess || pending != cudaSuccess; }

void kernel_failed(const Launching& launching, cudaError_t error)
{
    const RuntimeLock lock;
    if (context_lost()) return;
    pending = error;
    note_failure(launching, error, "");
}

void launch_refused(const Launching& launching, cudaError_t error, const std::string& why)
{
    result(error);
    count_as_written();
    note_failure(launching, error, why);
}

cudaError_t launch_error()
{
    saw(last);
    return last;
}

std::vector<harness::Finding> unseen_errors()
{
    std::vector<harness::Finding> findings;
    for (const FailedLaunch& f : failed_launches())
        if (!f.seen)
            findings.push_back(finding_of_call(
                kinds::unchecked_error, f.place,
                "unchecked error: " + f.launch + ": " + cudaGetErrorString(f.error) +
                    (f.refused.empty() ? "" : " (" + f.refused + ")") + "; " + f.remedy));
    return findings;
}

std::vector<std::string> refused_launches()
{
    std::vector<std::string> lines;
    for (const FailedLaunch& f : failed_launches())
        if (f.seen && !f.refused.empty()) lines.push_back(f.launch + ", did not run: " + f.refused);
    return lines;
}

void restore_context() { pending = lost = last = cudaSuccess; }

}  // namespace sim

using namespace sim;

cudaError_t cudaPeekAtLastError()
{
    const RuntimeLock lock;
    const cudaError_t error = lost != cudaSuccess ? lost : last;
    if (error != cudaSuccess) saw(error);
    return error;
}

cudaError_t cudaGetLastError()
{
    const cudaError_t error = cudaPeekAtLastError();
    last = cudaSuccess;
    return error;
}

namespace {

struct NamedError {
    cudaError_t error;
    const char *name, *text;
};
const NamedError named_errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
#define NAMED(name, number, text) {cudaError##name, "cudaError" #name, text},
    SIM_CUDA_ERRORS(NAMED)
#undef NAMED
};

NamedError named(cudaError_t error)
{
    for (const NamedError& e : named_errors)
        if (e.error == error) return e;
    return {error, "unrecognized error code", "unrecognized error code"};
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) { return named(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return named(error).text; }
