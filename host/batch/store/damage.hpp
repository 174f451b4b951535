// Compares the files of finished trials with the sizes and checksums in the events.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {

struct Damage {
  std::string trial_id;  // empty: a file of the batch
  std::filesystem::path file;
  std::string wanted, found;
};

// "FILE: expected 1000 lines, got 229"
std::string SentenceOf(const Damage& damage);

// Missing, empty, short or altered files of a COMPLETED or PRUNED trial: its result.json and the metrics of all attempts that
// count. Empty for other trials, because they run again or have failed. Older folders have no checksums; for them, checks only
// for a whole result and one line per iteration.
std::vector<Damage> DamageOf(const ResultsFolder& folder, const TrialRecord& trial);

// plan.jsonl without a trial, or events.jsonl without an event, although trials have run.
std::vector<Damage> DamageOfRecords(const ResultsFolder& folder, const BatchRecord& record, const std::vector<PlanLine>& plan);

// All trials in the record, including earlier plans; or the two records and the trials in the plan.
std::vector<Damage> DamageIn(const ResultsFolder& folder, const BatchRecord& record);
std::vector<Damage> DamageIn(const ResultsFolder& folder, const BatchRecord& record, const std::vector<PlanLine>& plan);

}  // namespace backplane
