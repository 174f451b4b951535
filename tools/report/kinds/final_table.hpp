// The final table of a batch whose file has no report.
#pragma once

#include <string>
#include <vector>

#include "kinds/question.hpp"
#include "render/document.hpp"
#include "results/result_set.hpp"

namespace backplane {

// A row for each point: how its trials ended, if not all completed, and means over its seeds with the intervals of a report.
// For a measure of both training and evaluation, it has the evaluation. The measure that decides is the first column; if it has
// a best, points all of whose runs have a finite value come first, the best one at the top. `live`: the names of output.live.
// Columns that a narrow screen omits come last.
Table FinalTable(ResultSet set, const std::vector<std::string>& live, const Question& question = {});

}  // namespace backplane
