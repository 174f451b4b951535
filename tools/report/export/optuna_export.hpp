// A search, or another sweep, as a study that Optuna and its dashboard open: their journal file.
#pragma once

#include <string>

#include "record/batch_record.hpp"
#include "record/results_folder.hpp"
#include "record/study.hpp"

namespace backplane {

// JSON lines of Optuna's journal: the study, its attributes, then one line per suggestion. States, seeds and trials are user
// attributes. Failed suggestions have no value; waiting points are enqueued. Non-finite numbers are omitted because JSON has
// none.
std::string FormatOptunaJournal(const Study& study, const ResultsFolder& folder, const BatchRecord& record);

}  // namespace backplane
