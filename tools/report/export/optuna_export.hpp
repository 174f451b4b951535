// A search, or another sweep, as a study that Optuna and its dashboard open: their journal file.
#pragma once

#include <string>

#include "record/batch_record.hpp"
#include "record/results_folder.hpp"
#include "record/study.hpp"

namespace backplane {

// JSON lines, each a step of Optuna's journal: the study, its attributes, then each suggestion in one line, with our state,
// seeds and trials as user attributes. What failed has no value there; a point that waits is enqueued. No number that is not
// finite stands in it: JSON has none.
std::string FormatOptunaJournal(const Study& study, const ResultsFolder& folder, const BatchRecord& record);

}  // namespace backplane
