// Rows per call of act and step if the experiment file leaves the choice to the host.
#pragma once

#include <algorithm>
#include <cstdint>

namespace backplane {

inline constexpr uint64_t kMostAutoChunkRows = 16;
constexpr uint64_t AutoChunkRows(uint64_t rows_of_a_runner) { return std::min(kMostAutoChunkRows, rows_of_a_runner); }

// For an env and a learner whose results do not depend on the number of rows (BP_FLAG_MANY_ROWS, BP_FLAG_ROW_EXACT): several
// chunks per call, as long as every thread has work.
inline constexpr uint64_t kMostRowsOfACall = 256;
constexpr uint64_t ManyRowsOfACall(uint64_t auto_chunk_rows, uint64_t rows_of_a_thread) {
  return std::max<uint64_t>(std::min(kMostRowsOfACall, rows_of_a_thread) / auto_chunk_rows, 1) * auto_chunk_rows;
}

}  // namespace backplane
