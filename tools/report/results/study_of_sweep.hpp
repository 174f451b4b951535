// The points of a sweep without a search as a study, as if they had been suggested in the plan's order.
#pragma once

#include "record/results_folder.hpp"
#include "record/study.hpp"

namespace backplane {

// By means over seeds. `metric` empty: eval/return where it was measured, else return.
Study StudyOfSweep(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record,
                   const std::string& metric, std::optional<bool> maximize);

}  // namespace backplane
