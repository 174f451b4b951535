// A sweep's points as a study, as if a search had suggested them in the plan's order.
#pragma once

#include "record/results_folder.hpp"
#include "record/study.hpp"

namespace backplane {

// Uses means over seeds. Without a `metric`: eval/return if it was measured, else return.
Study StudyOfSweep(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record,
                   const std::string& metric, std::optional<bool> maximize);

}  // namespace backplane
