// What a batch ends with on the screen where its file asks for no report.
#pragma once

#include <string>
#include <vector>

#include "render/document.hpp"
#include "results/result_set.hpp"

namespace backplane {

// A row for each point, the best return first: how its trials ended, if not all completed, and means over its seeds with the
// intervals that a report would give. Of what was both evaluated and trained on there is the evaluation. `live`: the names of
// output.live; what the table leaves out on a narrow screen comes last.
Table FinalTable(const ResultSet& set, const std::vector<std::string>& live);

// "best by return: 2 x 0.1; 3 others have intervals that reach into its own". Empty: there is nothing to choose.
std::string BestOf(const Table& table);

}  // namespace backplane
