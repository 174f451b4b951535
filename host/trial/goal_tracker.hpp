// The goal that ends a trial (budget.until), and the evaluations in a row that have reached it.
#pragma once

#include <optional>

#include "record/attempt_files.hpp"
#include "record/goal.hpp"
#include "record/results_folder.hpp"
#include "record/spread.hpp"
#include "trial/trial_count.hpp"

namespace backplane {

class GoalTracker {
 public:
  explicit GoalTracker(const std::optional<Goal>& until) {
    if (until) goal_.emplace(*until);
  }

  // Call after each whole evaluation.
  void Add(const EpisodeMeans& evaluation, const TrialCount& count);
  // Counts the evaluations that earlier attempts have recorded. Call at a resume.
  void GoOnFrom(const TrialFolder& trial, const MetricsRecord& before);

  bool reached() const { return goal_ && goal_->reached(); }
  // Absent: the trial has no goal.
  std::optional<GoalResult> Result(const TrialCount& count) const;

 private:
  void Add(const EpisodeMeans& evaluation, uint64_t iteration, uint64_t env_steps);

  std::optional<GoalCount> goal_;
  uint64_t iteration_ = 0, env_steps_ = 0;  // at which it was reached
};

}  // namespace backplane
