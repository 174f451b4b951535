// The trade-offs between settings: speed against efficiency, memory and return, with the Pareto fronts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figures/figure.hpp"
#include "results/parallel_efficiency.hpp"

namespace backplane {

inline constexpr const char* kTradeOffFigure = "trade_off";

// Absent if no panel has two settings.
std::optional<Figure> TradeOffFigure(const Combined& combined, const ParallelEfficiency& analysis);
// A sentence per panel with the settings on its front.
std::vector<std::string> TradeOffNotes(const Combined& combined, const ParallelEfficiency& analysis);

struct TradeOffPoint {
  double x = 0, speed = 0;
};
// Indices of the points that no other point beats in both values, by rising x. Higher speed is better, and so is higher x, or
// lower x if `less_is_better`.
std::vector<size_t> ParetoFront(const std::vector<TradeOffPoint>& points, bool less_is_better);

}  // namespace backplane
