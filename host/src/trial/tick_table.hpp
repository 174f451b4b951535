// Which phases had ticks of more than a second (record/long_ticks.hpp).
#pragma once

#include <string>
#include <vector>

#include "record/long_ticks.hpp"

namespace backplane {

// Adds one to its phase's entry. There is room for so many phases; those that come after them share an entry, "other".
inline constexpr size_t kMaxTickPhases = 32;
void NoteLongTick(const std::string& phase, double seconds, std::vector<LongTicks>* table);

}  // namespace backplane
