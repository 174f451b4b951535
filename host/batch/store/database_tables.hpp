// Creates and fills the tables of results.sqlite.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {

// Throws SQLite::Exception.
class DatabaseTables {
 public:
  // `file` may be outside of `folder`, whose trials are read.
  DatabaseTables(const std::filesystem::path& file, const ResultsFolder& folder);

  bool OfThisSchema();
  uint64_t LastSeq();
  void Make();  // in an empty file
  // Every trial with an event after LastSeq(), in one transaction; the plan too.
  void CatchUp(const std::vector<PlanLine>& plan, const BatchRecord& record);
  void Update(const BatchRecord& record);

 private:
  void PutEvents(const BatchRecord& record);
  void PutPlan(const std::vector<PlanLine>& plan);
  void PutTrial(const TrialRecord& trial);
  void PutAttempt(const TrialRecord& trial, const AttemptRecord& attempt);
  void PutLastSeq(uint64_t seq);

  ResultsFolder folder_;
  SQLite::Database database_;
};

// The copy is one self-contained file. Throws SQLite::Exception.
void CopyInto(const std::filesystem::path& copy, const std::filesystem::path& from);

}  // namespace backplane
