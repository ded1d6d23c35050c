#include "checker.h"

#include <algorithm>

namespace sim {
namespace {

// Sites are kept as distances from here: they lie in the same program.
const uint64_t site_base = uint64_t(&site_base);

}  // namespace

void Findings::add(const Finding& finding)
{
    for (Finding& known : list)
        if (known.fault == finding.fault && known.first == finding.first && known.second == finding.second) {
            known.count += finding.count;
            // Blocks run in any order: name the first.
            if (finding.block < known.block) {
                const uint64_t count = known.count;
                known = finding;
                known.count = count;
            }
            return;
        }
    list.push_back(finding);
}

void SharedChecker::start_block(uint64_t block, uintptr_t begin, size_t bytes)
{
    begin_ = begin;
    if (words_.size() < bytes / 4) words_.resize(bytes / 4);
    block_ = block;
    block_epoch_ = ++epoch_;
}

void SharedChecker::check(const Request& request, int first_thread, int order, Findings& findings)
{
    const unsigned words = std::max(1u, bytes_of(request.site) / 4);
    const bool stores = kind_of(request.site) == store;
    const uint16_t at = uint16_t(std::min(order, 65535));
    const int32_t here = int32_t(return_address(request.site) - site_base);
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(request.lanes >> lane & 1)) continue;
        const uint16_t thread = uint16_t(first_thread + lane);
        const size_t index = (request.address[lane] - begin_) / 4;
        for (size_t i = index; i < index + words; ++i) {
            if (i >= words_.size()) words_.resize(i + 1);  // the first block declares as it goes
            Word& word = words_[i];
            // The usual case: nobody else was here since the barrier, and a load finds something.
            const bool usual = word.read_epoch != epoch_ && word.write_epoch != epoch_ && (stores || word.write_epoch >= block_epoch_);
            if (!usual) look(word, i, request.site, thread, at, findings);
            if (stores) {
                word.write_epoch = epoch_;
                word.writer = thread;
                word.write_order = at;
                word.write_site = here;
            } else {
                if (word.read_epoch != epoch_) word.reader = word.other_reader = thread;
                else if (word.reader != thread) word.other_reader = thread;
                word.read_epoch = epoch_;
                word.read_order = at;
                word.read_site = here;
            }
        }
    }
}

// Looks for what is wrong with an access to a word that was accessed since the barrier, or never.
void SharedChecker::look(const Word& word, size_t index, Site site, int thread, int at, Findings& findings)
{
    const auto report = [&](Fault fault, Site first, int who, Site second, int other) {
        findings.add({fault, first, second, who, other, block_, Place::shared, int64_t(4 * index), 1});
    };
    const Site write_site = site_of(site_base + word.write_site, store, 2), read_site = site_of(site_base + word.read_site, load, 2);
    const bool written = word.write_epoch == epoch_ && word.writer != thread;
    // Which access comes first in the program, not in this run, names the hazard.
    if (kind_of(site) == store) {
        if (written) report(Fault::write_after_write, write_site, word.writer, site, thread);
        if (word.read_epoch == epoch_ && (word.reader != thread || word.other_reader != thread)) {
            const int who = word.reader != thread ? word.reader : word.other_reader;
            if (at < word.read_order) report(Fault::read_after_write, site, thread, read_site, who);
            else report(Fault::write_after_read, read_site, who, site, thread);
        }
    } else if (written) {
        if (word.write_order < at) report(Fault::read_after_write, write_site, word.writer, site, thread);
        else report(Fault::write_after_read, site, thread, write_site, word.writer);
    } else if (word.write_epoch < block_epoch_) {
        report(Fault::uninitialized_shared, site, thread, 0, 0);
    }
}

}  // namespace sim
