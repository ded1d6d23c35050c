#pragma once

namespace sim {

// Makes the variables known that the source declares for the device. A launch does so by itself. `exact`: races between
// accesses to them are looked for.
void add_device_variables(bool exact);

}  // namespace sim
