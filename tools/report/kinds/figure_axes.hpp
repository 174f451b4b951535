// The horizontal axis of training curves, and the best number of a table's column.
#pragma once

#include <string>
#include <vector>

#include "results/result_set.hpp"
#include "text/table.hpp"

namespace backplane {

// `against`: what the file names as the axis. `of_commands`: only the command knows what a step is.
std::string AxisLabel(const std::string& against, bool of_commands);

// The place of each point of `curve` on this axis. Empty if the trial has no such axis.
std::vector<double> Places(const TrialData& trial, const std::vector<CurvePoint>& curve, const std::string& against);

// Whether the number in that row is better than those of all `rivals`, other rows, and also reads differently.
bool IsBest(const Table& table, size_t column, size_t row, const std::vector<size_t>& rivals);

}  // namespace backplane
