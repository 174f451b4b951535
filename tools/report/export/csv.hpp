// The results as one table: a row per trial of the current plan.
#pragma once

#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {

// Rows in the order of the plan. Columns: trial, point, swept values in the file's order, seed, state, speed. Then mean, sd, se
// and n of the return and of each other statistic by name, then time/... . Measured on the last attempt. Lines end with a line
// feed. A non-finite number is NaN, an unmeasured one an empty field.
std::string FormatCsv(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record);

}  // namespace backplane
