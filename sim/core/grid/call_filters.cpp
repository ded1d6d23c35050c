#include "call_filters.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace sim {
namespace {

#if defined __x86_64__
constexpr uint32_t architecture = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif

sock_filter statement(int code, uint32_t value) { return BPF_STMT(uint16_t(code), value); }
sock_filter jump(int code, uint32_t value, uint8_t then, uint8_t otherwise)
{
    return BPF_JUMP(uint16_t(code), value, then, otherwise);
}

void use_filter(std::vector<sock_filter> rules)
{
    const sock_filter begin[] = {
        statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
        jump(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0),
        statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    };
    rules.insert(rules.begin(), std::begin(begin), std::end(begin));
    const sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

}  // namespace

void allow_computing_only()
{
    std::vector<sock_filter> rules;
    for (long call : {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_brk, SYS_mmap, SYS_munmap,
                      SYS_futex, SYS_clock_gettime, SYS_getrandom}) {
        rules.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 1));
        rules.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
    rules.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    use_filter(std::move(rules));
}

void forbid_writing_elsewhere()
{
    static bool forbidden = false;
    if (std::exchange(forbidden, true)) return;
    std::vector<sock_filter> rules;
    for (long call : {SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_bpf,
                      SYS_mount, SYS_perf_event_open, SYS_userfaultfd}) {
        rules.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 1));
        rules.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    }
    const auto reading_only = [&](long call, unsigned flags) {
        rules.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 4));
        rules.push_back(statement(BPF_LD | BPF_W | BPF_ABS, uint32_t(offsetof(seccomp_data, args) + 8 * flags)));
        rules.push_back(jump(BPF_JMP | BPF_JSET | BPF_K, O_WRONLY | O_RDWR | O_CREAT, 0, 1));
        rules.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
        rules.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    };
    reading_only(SYS_openat, 2);
#ifdef SYS_open
    reading_only(SYS_open, 1);
#endif
    rules.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    use_filter(std::move(rules));
}

}  // namespace sim
