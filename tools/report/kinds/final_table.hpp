// What a batch ends with on the screen where its file asks for no report.
#pragma once

#include <string>
#include <vector>

#include "render/document.hpp"
#include "results/result_set.hpp"

namespace backplane {

// A row for each point, the best return first: how its trials ended, if not all completed, and means over its seeds with the
// intervals of a report. For a measure of both training and evaluation, it has the evaluation. `live`: the names of
// output.live. Columns that a narrow screen omits come last. `eligible`, if not NULL, is set to the number of rows that may be
// the best. They come first: all their runs have a finite return.
Table FinalTable(const ResultSet& set, const std::vector<std::string>& live, size_t* eligible = nullptr);

// "best by return: 2 x 0.1; 3 others have intervals that reach into its own". Empty: there is nothing to choose. Only the first
// `eligible` rows may be the best.
std::string BestOf(const Table& table, size_t eligible = SIZE_MAX);

}  // namespace backplane
