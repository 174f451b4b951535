// The horizontal axis of training curves, and the best number of a table's column.
#pragma once

#include <string>
#include <vector>

#include "results/result_set.hpp"
#include "text/table.hpp"

namespace backplane {

// `against`: the axis as named in the file. `of_commands`: the trials ran commands, which define a step themselves.
std::string AxisLabel(const std::string& against, bool of_commands);

// The place of each point of `curve` on this axis. Empty if the trial has no such axis.
std::vector<double> Places(const TrialData& trial, const std::vector<CurvePoint>& curve, const std::string& against);

// True if the number in this row is better than all `rivals` (other rows) and is also printed differently.
bool IsBest(const Table& table, size_t column, size_t row, const std::vector<size_t>& rivals);

}  // namespace backplane
