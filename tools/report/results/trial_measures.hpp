// Measures of one trial, from the files of its attempts.
#pragma once

#include "record/budget_cut.hpp"
#include "record/results_folder.hpp"
#include "results/result_set.hpp"

namespace backplane {

// Sets measures, curves and facts. A missing or broken file adds none.
void ReadTrialMeasures(const ResultsFolder& folder, const WithinBudget& within, TrialData* trial);

}  // namespace backplane
