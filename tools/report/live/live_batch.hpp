// The state of a running batch for its page, updated from the files since the last read.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "live/live_trial.hpp"
#include "record/progress.hpp"
#include "results/result_set.hpp"

namespace backplane {

class LiveBatch {
 public:
  // Throws like ReadResultSet.
  explicit LiveBatch(const std::filesystem::path& out);

  // Reads about `most_bytes` of new data, running trials first; the rest waits for the next call. Returns false before any
  // progress.
  bool Read(size_t most_bytes);

  const ResultSet& head() const { return head_; }
  const ProgressHead& progress() const { return progress_; }
  const std::vector<TrialProgress>& trials() const { return trials_; }
  const BatchRecord& record() const { return events_.record(); }
  const std::vector<PlanLine>& plan() const { return plan_; }
  LiveTrial* Find(const std::string& trial_id);
  // The last ended trials. Only the latest 64 have curves.
  const std::deque<TrialData>& ended() const { return ended_; }
  size_t changes() const { return changes_; }  // of `ended`, so far
  // True if `ended` has all ended trials with the curves that the report's measures need.
  bool HasAllEnded() const;

 private:
  void ReadPlan();
  bool ReadProgress();
  size_t ReadTrial(const TrialProgress& trial, size_t most_bytes);
  size_t ReadEnded(const TrialProgress& trial);
  void Forget();

  ResultsFolder folder_;
  ResultSet head_;
  std::set<std::string> reduced_;  // curves behind measures of the report
  BatchConfig config_;
  std::filesystem::path progress_file_;
  std::vector<PlanLine> plan_;
  uintmax_t plan_bytes_ = 0;
  std::map<std::string, size_t> lines_;  // of plan_, by trial
  EventReader events_;
  ProgressHead progress_;
  std::vector<TrialProgress> trials_;
  std::map<std::string, LiveTrial> live_;
  std::deque<std::string> order_;           // of live_, the oldest first
  std::map<std::string, unsigned> whole_;   // fully read trials, with their attempt
  std::map<std::string, unsigned> judged_;  // trials that are or were in ended_
  std::deque<TrialData> ended_;
  size_t changes_ = 0;
};

}  // namespace backplane
