// What a batch ends with on the screen where its file asks for no report.
#pragma once

#include <string>
#include <vector>

#include "render/document.hpp"
#include "results/result_set.hpp"

namespace backplane {

// A row for each point, in the order of the plan: how its trials ended, and means over its seeds with the intervals that a
// report would give. Of what was both evaluated and trained on there is the evaluation. `live`: the names of output.live; what
// the table leaves out on a narrow screen comes last.
Table FinalTable(const ResultSet& set, const std::vector<std::string>& live);

}  // namespace backplane
