// What a whole checkpoint holds, looked at once more before the trial takes it over: the bytes are those that were written, and
// who wrote them may have been another version. All throw CheckpointError.
#pragma once

#include <cstdint>
#include <vector>

#include "rollout/rows.hpp"
#include "trial/checkpoint.hpp"

namespace backplane {

// The part "rows", of `rows` rows.
std::vector<RowState> RowStatesOf(const Checkpoint& checkpoint, uint64_t rows);
// The iteration that is not in the metrics yet is the one that was counted last, and has what the loop reads of it.
void CheckUnwritten(const CheckpointHeader& header);

}  // namespace backplane
