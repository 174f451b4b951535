#include "statistics/blocks.hpp"

#include <cmath>

namespace backplane::statistics {

double LogRatio(const Block& block) {
  const auto& [a1, b1, b2, a2] = block;
  return (std::log(b1) + std::log(b2) - std::log(a1) - std::log(a2)) / 2;
}

std::optional<Difference> BlockDifference(const std::vector<Block>& blocks) {
  std::vector<double> ratios;
  for (const Block& block : blocks) ratios.push_back(LogRatio(block));
  return MeanDifference(ratios);
}

}  // namespace backplane::statistics
