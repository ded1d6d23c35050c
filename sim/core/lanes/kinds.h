#pragma once

namespace sim {

enum Kind : unsigned { load, store, atomic };
// A load or store that is volatile or atomic may meet one of another thread without a race.
enum Strength : unsigned { as_data, as_volatile, as_atomic };

}  // namespace sim
