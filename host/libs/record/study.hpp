// The trials of a search as a study: suggestions, their ends and their scores.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/batch_record.hpp"
#include "record/plan_line.hpp"
#include "record/search_space.hpp"

namespace backplane {

enum class StudyState { kWaiting = 1, kRunning, kComplete, kPruned, kFailed };

constexpr auto WordsOf(StudyState) {
  return std::to_array<WordOf<StudyState>>({{StudyState::kWaiting, "waiting"},
                                            {StudyState::kRunning, "running"},
                                            {StudyState::kComplete, "complete"},
                                            {StudyState::kPruned, "pruned"},
                                            {StudyState::kFailed, "failed"}});
}

struct StudyTrial {
  uint64_t number = 0;
  std::string point_id, point;  // empty: the experiment file drops it; `point`: its name
  nlohmann::json params;        // {path: value}
  StudyState state = StudyState::kWaiting;
  std::optional<double> value;                     // final objective, finite; only if complete
  std::vector<std::pair<uint64_t, double>> steps;  // intermediate objective, finite values only: iteration, value
  std::vector<std::string> trials, confirming;     // ids: trials that the search saw, and trials with new seeds
  std::vector<uint64_t> seeds;                     // of `trials`
  double started = 0;                              // seconds since 1970; 0: not started
  std::optional<double> ended;
  // Pruned but COMPLETED: the trial ended before it was stopped, or was resumed later.
  bool came_to_end = false;
  std::string why;  // reason of a failure

  // The latest known objective.
  std::optional<double> Latest() const { return value || steps.empty() ? value : std::optional(steps.back().second); }
};

struct Study {
  std::string name, method, metric;  // method: tpe, ...; empty: no search
  bool maximize = true;
  std::vector<SearchedOption> space;
  std::vector<StudyTrial> trials;  // by number

  bool IsBetter(double a, double b) const { return maximize ? a > b : a < b; }
  // The best complete trial, the first of equals; NULL if there is none.
  const StudyTrial* Best() const;
  size_t Count(StudyState state) const;
  size_t CountPrunedAtEnd() const;
};

// "26 pruned, of which 8 ran to their end", "26 pruned".
std::string PrunedText(const Study& study);

// Absent if the batch has no search.
std::optional<Study> StudyOfSearch(const std::vector<PlanLine>& plan, const BatchRecord& record);

}  // namespace backplane
