#include "declared.h"

namespace sim {

const Declared* records = nullptr;
__thread uintptr_t declared[4];

void add_record(Declared& record)
{
    record.next = records;
    records = &record;
}

}  // namespace sim
