// Which of two is faster, on a machine that drifts: timings in blocks A B B A, so that a drift in a straight line cancels in
// each.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "statistics/difference.hpp"

namespace backplane::statistics {

// Rates or durations above zero, in the order in which they were measured: A, B, B, A.
using Block = std::array<double, 4>;

// ln of B over A in this block.
double LogRatio(const Block& block);

// Student's interval of the mean LogRatio; exp of its parts are ratios of B to A. Absent for fewer than two blocks or without a
// spread.
std::optional<Difference> BlockDifference(const std::vector<Block>& blocks);

}  // namespace backplane::statistics
