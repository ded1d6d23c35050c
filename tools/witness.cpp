// Compares the memory instructions of a simulated program with what the simulator's hooks saw. tools/completeness.py
// calls it.
//
// usage: witness SYMBOLS < TRACE
//
// TRACE: the output of `valgrind --tool=lackey --trace-mem=yes` for a program that ran with SIM_WITNESS=1. It has each
// instruction, and each load and store with address and size. The hooks' announcements (sim/core/memory/witness.h) are
// among them. SYMBOLS: `nm -C` of the program.
//
// Between two announcements, the code of kernels must make exactly the accesses that were announced, byte by byte. An
// access to device or shared memory without an announcement has escaped the hooks. An announcement without an access
// was made in vain. Both are named, and the exit status is 1. Instructions of the simulator and of libraries are not
// the kernels'. They can make an announced access, as memcpy() does. Their other accesses do not count.
//
// An atomic operation is announced once, and its instructions may access the word several times. Those of cuda::barrier
// and cuda::pipeline access no memory at all here, because the simulator keeps their state elsewhere. So an access to
// an announced word is expected, but its number is not compared.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/memory/witness.h"

namespace {

struct Symbol {
    uint64_t address;
    std::string name;
    bool of_kernels;
};

// Functions of the program, by address. What is not the simulator's, the harness's or the compiler's is taken for the
// kernels'.
std::vector<Symbol> symbols_of(const char* path)
{
    std::vector<Symbol> all;
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
        char type;
        unsigned long long address;
        int name = 0;
        if (std::sscanf(line.c_str(), "%llx %c %n", &address, &type, &name) != 2 || !std::strchr("tTwWi", type))
            continue;
        std::string text = line.substr(name);
        bool other = false;
        for (const char* prefix : {"sim::", "harness::", "__tsan_", "__sim_", "__ubsan_", "_start", "_init", "_fini",
                                   "main", "frame_dummy", "register_tm_clones", "deregister_tm", "__do_global"})
            other |= text.compare(0, std::strlen(prefix), prefix) == 0;
        for (const char* part : {" sim::", " harness::", "(sim::", "(harness::", "::sim::", "<sim::",
                                 "sim::run_threads", "sim::launch", "sim_arguments"})
            other |= text.find(part) != text.npos;
        all.push_back({address, std::move(text), !other});
    }
    std::sort(all.begin(), all.end(), [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
    return all;
}

struct Announcement {
    uint64_t address;
    unsigned bytes;
    unsigned kind;
    uint64_t seen = 0;  // bit b: byte b was accessed
    uint64_t place;     // the last instruction of a kernel before it
};

class Comparison {
public:
    explicit Comparison(const char* symbols) : symbols_(symbols_of(symbols)) {}

    void instruction(uint64_t address)
    {
        ip_ = address;
        kernel_ = find(address);
        if (kernel_) last_kernel_ip_ = address;
    }

    void access(char what, uint64_t address, unsigned bytes)
    {
        if (address - sim::mailbox < uint64_t(sim::mailbox_parts) << 16) {
            if (what == 'S') letter(unsigned((address - sim::mailbox) >> 16), unsigned(address & 0xffff));
            return;
        }
        if (!inside(address)) return;
        if (what == 'M') {
            one(sim::announced_load, address, bytes);
            one(sim::announced_store, address, bytes);
        } else {
            one(what == 'L' ? sim::announced_load : sim::announced_store, address, bytes);
        }
    }

    int report()
    {
        retire();
        const auto number = [](uint64_t n) { return (unsigned long long)n; };
        std::printf(
            "seen by the hooks: %llu loads, %llu stores, %llu atomic operations; by the observer, of the same "
            "accesses: %llu bytes\n",
            number(count_[0]), number(count_[1]), number(count_[2]), number(made_));
        print("escaped", escaped_);
        print("announced in vain", vain_);
        if (!base_) std::printf("no kernel has run\n");
        return !base_ || !escaped_.empty() || !vain_.empty();
    }

private:
    void letter(unsigned part, unsigned bits)
    {
        letter_[part] = bits;
        if (part + 1 < sim::mailbox_parts) return;
        const unsigned what = letter_[0] >> 12, bytes = letter_[0] & 0xfff;
        const uint64_t address = letter_[1] | uint64_t(letter_[2]) << 16 | uint64_t(letter_[3]) << 32;
        switch (what) {
            case sim::announced_load: case sim::announced_store: case sim::announced_atomic:
                if (closed_) retire();
                ++count_[what];
                pending_.push_back({address, bytes, what, 0, last_kernel_ip_});
                break;
            case sim::announced_base: base_ = address; break;
            case sim::announced_begin: begin_ = address; break;
            case sim::announced_end: ranges_[begin_] = address; break;
            case sim::announced_clear: retire(); ranges_.clear(); break;
        }
    }

    bool inside(uint64_t address) const
    {
        auto after = ranges_.upper_bound(address);
        return after != ranges_.begin() && address < std::prev(after)->second;
    }

    // The function of a kernel that the instruction belongs to; null: it is the simulator's or a library's.
    const Symbol* find(uint64_t address) const
    {
        if (!base_known()) return nullptr;
        const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address - base_,
                                            [](uint64_t a, const Symbol& s) { return a < s.address; });
        return after != symbols_.begin() && after != symbols_.end() && std::prev(after)->of_kernels ? &*std::prev(after)
                                                                                                    : nullptr;
    }
    bool base_known() const { return base_ != 0; }

    void one(unsigned kind, uint64_t address, unsigned bytes)
    {
        unsigned left = bytes;
        for (unsigned b = 0; b < bytes; ++b)
            for (Announcement& a : pending_) {
                const uint64_t at = address + b - a.address;
                if (at >= a.bytes || (a.kind != kind && a.kind != sim::announced_atomic) ||
                    (a.seen >> at & 1 && a.kind != sim::announced_atomic))
                    continue;
                a.seen |= uint64_t(1) << at;
                --left;
                break;
            }
        made_ += bytes - left;
        closed_ |= left < bytes;
        if (left && kernel_)
            ++escaped_[(kind == sim::announced_load ? "load of " : "store of ") + std::to_string(bytes) + " bytes" +
                       place(ip_)];
    }

    void retire()
    {
        for (const Announcement& a : pending_) {
            const uint64_t all = a.bytes >= 64 ? ~uint64_t(0) : (uint64_t(1) << a.bytes) - 1;
            if (a.seen != all && a.kind != sim::announced_atomic)
                ++vain_[(a.kind == sim::announced_load ? "load of " : "store of ") + std::to_string(a.bytes) +
                        " bytes" + place(a.place)];
        }
        pending_.clear();
        closed_ = false;
    }

    std::string place(uint64_t address) const
    {
        const Symbol* symbol = find(address);
        char text[64];
        std::snprintf(text, sizeof text, " at 0x%llx, ", (unsigned long long)(address - base_));
        return text + (symbol ? symbol->name : "?");
    }

    static void print(const char* what, const std::map<std::string, uint64_t>& all)
    {
        uint64_t sum = 0;
        for (const auto& one : all) sum += one.second;
        std::printf("%s: %llu\n", what, (unsigned long long)sum);
        for (const auto& one : all) std::printf("  %llu x %s\n", (unsigned long long)one.second, one.first.c_str());
    }

    std::vector<Symbol> symbols_;
    std::map<uint64_t, uint64_t> ranges_;  // begin, end
    std::vector<Announcement> pending_;
    bool closed_ = false;  // an announced access was made: the next announcement begins another group
    unsigned letter_[sim::mailbox_parts] = {};
    uint64_t base_ = 0, begin_ = 0, ip_ = 0, last_kernel_ip_ = 0, made_ = 0, count_[3] = {};
    const Symbol* kernel_ = nullptr;
    std::map<std::string, uint64_t> escaped_, vain_;
};

// The lines of standard input. A reader that waits is woken by each line, which costs more than the line. So this one
// sleeps until the pipe has many.
class Lines {
public:
    const char* next()
    {
        for (;;) {
            if (char* end = static_cast<char*>(std::memchr(begin_, '\n', size_t(end_ - begin_)))) {
                *end = 0;
                return std::exchange(begin_, end + 1);
            }
            std::memmove(text_.data(), begin_, size_t(end_ - begin_));
            end_ -= begin_ - text_.data();
            begin_ = text_.data();
            usleep(10000);
            const ssize_t more = read(STDIN_FILENO, end_, size_t(text_.data() + text_.size() - end_));
            if (more <= 0) return nullptr;
            end_ += more;
        }
    }

private:
    std::vector<char> text_ = std::vector<char>(1 << 20);
    char *begin_ = text_.data(), *end_ = begin_;
};

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 2) return std::fprintf(stderr, "witness: expected the file that nm -C has written of the program\n"), 2;
    Comparison comparison(argv[1]);
    Lines lines;
    while (const char* line = lines.next()) {
        if (line[0] == 'I') {
            comparison.instruction(std::strtoull(line + 3, nullptr, 16));
        } else if (line[0] == ' ' && line[2] == ' ') {
            char* comma;
            const uint64_t address = std::strtoull(line + 3, &comma, 16);
            comparison.access(line[1], address, unsigned(std::atoi(comma + 1)));
        }
    }
    return comparison.report();
}
