// results.sqlite: the batch as tables, for whoever wants to ask questions. Derived: it can be made anew at any time from the
// events, the plan and the trials' own files, and nothing that the host does depends on it.
//
//   trials        one row per trial; `planned` is its place in the current plan, NULL for one that left it; of a search
//   `number`
//                 is the suggestion's, and `confirms` is 1 for a run with a fresh seed after it
//   trial_values  what the sweep set: JSON text for anything but numbers and strings
//   results       mean, sd, se, n by name: "return", metrics, "eval/...", floors; of the last attempt
//   iterations    metrics.jsonl, one value a row
//   attempts      how each ended
//   meta          schema, last_seq (of the newest event that is in)
// NULL stands for a number that was not measured and for NaN, which SQLite does not have.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/plan_file.hpp"

namespace backplane {

// One writer, the supervisor that holds the folder's lock; others may read at any time.
class Database {
 public:
  using Warn = std::function<void(const std::string& sentence)>;

  // Brings OUT/results.sqlite up to the record: makes it if it is absent, makes it anew if it is broken, of another schema or
  // of other events. Never throws: what goes wrong is said once through `warn`, and from then on nothing is done.
  Database(const std::filesystem::path& out, const std::vector<PlanLine>& plan, const BatchRecord& record, Warn warn);
  ~Database();

  // The plan has grown.
  void Grow(const std::vector<PlanLine>& plan, const BatchRecord& record);
  // After attempts ended or trials' states changed: takes in all events that are not in yet. Never throws.
  void Update(const BatchRecord& record);

 private:
  void Guard(const std::function<void()>& work);

  std::filesystem::path out_;
  Warn warn_;
  std::unique_ptr<class DatabaseTables> tables_;  // NULL after a failure
};

// Makes OUT/results.sqlite anew, under another name until it is whole. Throws std::runtime_error.
void RebuildDatabase(const std::filesystem::path& out, const std::vector<PlanLine>& plan, const BatchRecord& record);

// A copy that is one whole file, readable alone; a batch may run meanwhile. By rename, in place of what `to` was. Throws
// std::runtime_error, also if there is no database yet.
void CopyDatabase(const std::filesystem::path& out, const std::filesystem::path& to);

}  // namespace backplane
