// The results as one table: a row per trial of the current plan.
#pragma once

#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {

// Rows in the order of the plan; columns: trial, point, swept values in the file's order, seed, how it ended, speed, then mean,
// sd, se and n of the return and of every other statistic by name, then where the time went (time/...). Measured on the last
// attempt. Lines end with a line feed. A number that is not finite is NaN, one that was not measured an empty field.
std::string FormatCsv(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record);

}  // namespace backplane
