// Each word becomes a call or an operator of namespace sim. `new` keeps its type and gets the heap as an argument, so
// that constructors still run. The heap is a variable of the device, declared once, behind the program's text.

#include "heap.h"

#include <string>
#include <string_view>

namespace rewrite {

void Heap::word(int i)
{
    const std::string_view word = source_.spelling(i);
    const int before = i - 1;
    if (source_[i].system || source_.is_any(before, {".", "->", "operator"})) return;
    const bool prints = word == "printf";
    if (word == "malloc" || word == "free" || prints) {
        const bool qualified = source_.is(before, "::"), standard = qualified && source_.is(i - 2, "std");
        if (!source_.is(i + 1, "(") || is_operand(source_, before) ||
            (qualified && !standard && source_.is_word(i - 2)))
            return;
        edits_.replace(standard ? i - 2 : qualified ? before : i, i + 1,
                       prints ? "::sim::print" : "::sim::heap_" + std::string(word));
        if (prints) return;
    } else if (word == "new" && !source_.is(i + 1, "(")) {
        edits_.after(i, " (::sim::on_heap)");
    } else if (word == "delete" && !source_.is_any(before, {"=", "::"})) {
        const bool array = source_.is(i + 1, "[") && source_[i + 1].partner == i + 2;
        edits_.replace(i, array ? i + 3 : i + 1, array ? "::sim::heap_delete_array->*" : "::sim::heap_delete->*");
    } else {
        return;
    }
    used_ = true;
}

void Heap::declare()
{
    if (!used_) return;
    edits_.after(source_.count(),
                 " extern \"C\" {"
                 " __attribute__((section(\"sim_device\"), weak, aligned(65536)))"
                 " char device_heap[::sim::device_heap_bytes] = {};"
                 " }" + variables_.record(true, "device", "device_heap", "device_heap"));
}

}  // namespace rewrite
