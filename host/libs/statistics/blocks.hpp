// Compares two speeds on a drifting machine: timings in blocks A B B A, in each of which linear drift cancels.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "statistics/difference.hpp"

namespace backplane::statistics {

// Positive rates or durations in the order of measurement: A, B, B, A.
using Block = std::array<double, 4>;

// ln(B / A) in this block.
double LogRatio(const Block& block);

// Student's interval of the mean LogRatio; exp of its bounds are ratios of B to A. Absent for fewer than two blocks or zero
// spread.
std::optional<Difference> BlockDifference(const std::vector<Block>& blocks);

}  // namespace backplane::statistics
