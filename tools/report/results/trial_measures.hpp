// Measures of one trial, from the files of its attempts.
#pragma once

#include "record/batch_record.hpp"
#include "record/results_folder.hpp"
#include "results/result_set.hpp"

namespace backplane {

// Sets measures, curves and facts. A missing or broken file adds none.
void ReadTrialMeasures(const ResultsFolder& folder, const TrialRecord& record, TrialData* trial);

}  // namespace backplane
