// results.sqlite: the batch as tables, for queries. The host can rebuild it at any time from the events, the plan and the
// trials' files, and never depends on it.
//
//   trials        one row per trial; `planned` is its place in the current plan, NULL if it left the plan. In a search,
//                 `number` is the suggestion's, and `confirms` is 1 for a confirming trial with a fresh seed
//   trial_values  the swept values: JSON text except for numbers and strings
//   results       mean, sd, se, n by name: "return", metrics, "eval/...", baselines; from the last attempt
//   iterations    metrics.jsonl, one value per row
//   attempts      the end of each attempt
//   meta          schema, last_seq (of the newest included event)
// NULL stands for a number that was not measured and for NaN, which SQLite lacks.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/plan_file.hpp"

namespace backplane {

// The supervisor that holds the folder's lock is the only writer; others may read at any time.
class Database {
 public:
  using Warn = std::function<void(const std::string& sentence)>;

  // Updates OUT/results.sqlite to the record. Rebuilds it if it is absent, broken, or of a different schema or different
  // events. Never throws: the first error goes to `warn`, and later calls do nothing.
  Database(const std::filesystem::path& out, const std::vector<PlanLine>& plan, const BatchRecord& record, Warn warn);
  ~Database();

  // Adds the new trials of the plan.
  void Grow(const std::vector<PlanLine>& plan, const BatchRecord& record);
  // Call after attempts ended or trials changed state. Adds all missing events. Never throws.
  void Update(const BatchRecord& record);

 private:
  void Guard(const std::function<void()>& work);

  std::filesystem::path out_;
  Warn warn_;
  std::unique_ptr<class DatabaseTables> tables_;  // NULL after a failure
};

// Rebuilds OUT/results.sqlite, under another name until it is complete. Throws std::runtime_error.
void RebuildDatabase(const std::filesystem::path& out, const std::vector<PlanLine>& plan, const BatchRecord& record);

// Copies the database into one self-contained file, also while a batch runs. Replaces `to` by a rename. Throws
// std::runtime_error, also if there is no database yet.
void CopyDatabase(const std::filesystem::path& out, const std::filesystem::path& to);

}  // namespace backplane
