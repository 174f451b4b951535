// Whether the files of finished trials still are what the events say of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {

struct Damage {
  std::string trial_id;
  std::filesystem::path file;
  std::string wanted, found;
};

// "FILE: wanted 1000 lines, found 229"
std::string SentenceOf(const Damage& damage);

// What of a trial that is COMPLETED or PRUNED is missing, empty, shorter or altered: its result.json, and the metrics of all
// attempts that count. Of any other trial: nothing, as it is run again or has failed anyway. Folders of older versions, which
// took no checksums down, are checked as far as they can be: a whole result, and a line for each of its iterations.
std::vector<Damage> DamageOf(const ResultsFolder& folder, const TrialRecord& trial);

// Of all trials in the record, those of earlier plans too; or of those in the plan alone.
std::vector<Damage> DamageIn(const ResultsFolder& folder, const BatchRecord& record);
std::vector<Damage> DamageIn(const ResultsFolder& folder, const BatchRecord& record, const std::vector<PlanLine>& plan);

}  // namespace backplane
