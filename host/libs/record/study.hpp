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
  std::optional<double> value;                     // of the objective, finite: where it is complete
  std::vector<std::pair<uint64_t, double>> steps;  // the objective while it ran, finite alone: iteration, value
  std::vector<std::string> trials, confirming;     // ids: those that the search saw, and with fresh seeds
  std::vector<uint64_t> seeds;                     // of `trials`
  double started = 0;                              // seconds since 1970; 0: it has not
  std::optional<double> ended;
  // Pruned, and its trial is COMPLETED: it ended before it could be stopped, or was let go on afterwards.
  bool came_to_end = false;
  std::string why;  // of what failed

  // The last that is known of it.
  std::optional<double> Latest() const { return value || steps.empty() ? value : std::optional(steps.back().second); }
};

struct Study {
  std::string name, method, metric;  // method: tpe, ...; empty: it is no search
  bool maximize = true;
  std::vector<SearchedOption> space;
  std::vector<StudyTrial> trials;  // by number

  bool IsBetter(double a, double b) const { return maximize ? a > b : a < b; }
  // Of the complete ones the best, of equals the first; NULL: none is.
  const StudyTrial* Best() const;
  size_t Count(StudyState state) const;
  size_t CountPrunedAtEnd() const;
};

// "26 pruned, of which 8 came to their end", "26 pruned".
std::string PrunedText(const Study& study);

// Absent: nothing was searched.
std::optional<Study> StudyOfSearch(const std::vector<PlanLine>& plan, const BatchRecord& record);

}  // namespace backplane
