#include "global_checker.h"

#include <algorithm>

namespace sim {

void Shadow::note_written(uint64_t offset, uint64_t bytes)
{
    visit(offset, bytes, [](Cell& cell, uint64_t) {
        cell = {};
        cell.written = true;
    });
}

bool Shadow::written(uint64_t offset, uint64_t bytes)
{
    bool all = true;
    visit(offset, bytes, [&](Cell& cell, uint64_t) { all = all && cell.written; });
    return all;
}

void GlobalChecker::check(const Request& request, int first_thread, const Allocation& first, Findings& findings)
{
    const unsigned bytes = bytes_of(request.site);
    const Kind kind = kind_of(request.site);
    const uint64_t block = order_.block();
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(request.lanes >> lane & 1)) continue;
        // The lanes of a request may have pointers to different memory.
        const Allocation& memory = first.holds(request.address[lane]) ? first : *sim::memory().find(request.address[lane]);
        if (!memory.shadow) continue;
        const Moment at{block, order_.epoch(), request.times[lane], first_thread + lane};
        const Actor actor = actor_of(at.thread, strength_of(request.site));
        bool unset = false;
        memory.shadow->visit(request.address[lane] - memory.begin, bytes, [&](Shadow::Cell& cell, uint64_t offset) {
            const auto conflict = [&](uint32_t place, Kind other_kind, Actor who, uint64_t other_block, uint32_t epoch, uint32_t time) {
                if (other_block == block && (thread_of(who) == at.thread || epoch != at.epoch)) return;
                hazards_.look({request.site, site_of(return_address(place), other_kind, 2), at, {other_block, epoch, time, thread_of(who)},
                               strength_of_actor(who), request.order, &memory.name, int64_t(offset), memory.begin + offset});
            };
            unset = unset || (kind != store && !cell.written);
            if (cell.writer_block) conflict(cell.write_site, store, cell.writer, cell.writer_block, cell.write_epoch, cell.write_time);
            if (kind != load && cell.reader_block) {
                conflict(cell.read_site, load, cell.reader, cell.reader_block, cell.read_epoch, cell.read_time);
                if (cell.other_reader != cell.reader)
                    conflict(cell.read_site, load, cell.other_reader, cell.reader_block, cell.read_epoch, cell.other_read_time);
            }
            if (kind != load) {
                cell.note_store(actor, at.epoch, at.time, uint32_t(request.site));
                cell.writer_block = block;
                cell.written = true;
            } else {
                cell.note_load(actor, at.epoch, at.time, uint32_t(request.site), cell.reader_block != block || cell.read_epoch != at.epoch);
                cell.reader_block = block;
            }
        });
        if (unset)
            findings.add({Fault::uninitialized, request.site, 0, at.thread, 0, block - order_.first_block() - 1, memory.name,
                          int64_t(request.address[lane] - memory.begin), 1, 0, true, ""});
    }
}

}  // namespace sim
