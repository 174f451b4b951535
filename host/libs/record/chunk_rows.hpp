// Rows of one call of act and step where the experiment file leaves the choice to the host.
#pragma once

#include <algorithm>
#include <cstdint>

namespace backplane {

inline constexpr uint64_t kMostAutoChunkRows = 16;
constexpr uint64_t AutoChunkRows(uint64_t rows_of_a_runner) { return std::min(kMostAutoChunkRows, rows_of_a_runner); }

}  // namespace backplane
