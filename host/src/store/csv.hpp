// The results as one table: a row per trial of the current plan.
#pragma once

#include <string>
#include <vector>

#include "record/results_folder.hpp"
#include "store/batch_record.hpp"
#include "store/plan_file.hpp"

namespace backplane {

// RFC 4180: a field with a comma, a quote or a line break stands in quotes, quotes within are doubled.
std::string CsvField(const std::string& text);

// For each path the last part of its name; the whole path where that would name two columns. `taken` are names of other
// columns.
std::vector<std::string> ShortNames(const std::vector<std::string>& paths, const std::vector<std::string>& taken);

// Rows in the order of the plan; columns: trial, point, swept values in the file's order, seed, how it ended, speed, then mean,
// sd, se and n of the return and of every other statistic by name, then where the time went (time/...). Measured on the last
// attempt. Lines end with a line feed. A number that is not finite is NaN, one that was not measured an empty field.
std::string FormatCsv(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record);

}  // namespace backplane
