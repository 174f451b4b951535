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
  std::string trial_id;  // empty: of the batch
  std::filesystem::path file;
  std::string wanted, found;
};

// "FILE: expected 1000 lines, got 229"
std::string SentenceOf(const Damage& damage);

// What of a trial that is COMPLETED or PRUNED is missing, empty, shorter or altered: its result.json, and the metrics of all
// attempts that count. Of any other trial: nothing, as it is run again or has failed anyway. Folders of older versions, which
// took no checksums down, are checked as far as they can be: a whole result, and a line for each of its iterations.
std::vector<Damage> DamageOf(const ResultsFolder& folder, const TrialRecord& trial);

// plan.jsonl without a trial, or events.jsonl without an event, although trials have run.
std::vector<Damage> DamageOfRecords(const ResultsFolder& folder, const BatchRecord& record, const std::vector<PlanLine>& plan);

// All trials in the record, including earlier plans; or the two records and the trials in the plan.
std::vector<Damage> DamageIn(const ResultsFolder& folder, const BatchRecord& record);
std::vector<Damage> DamageIn(const ResultsFolder& folder, const BatchRecord& record, const std::vector<PlanLine>& plan);

}  // namespace backplane
