// The search of a batch: maps suggestions to points, reports results of trials, and asks for new suggestions.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batch/job_table.hpp"
#include "batch/schedule.hpp"
#include "search/objective.hpp"
#include "search/search_session.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// No trial records the objective.
class ObjectiveError : public SearchError {
 public:
  using SearchError::SearchError;
};

class BatchSearch {
 public:
  // `plan` must have a search. It grows.
  BatchSearch(Plan* plan, std::filesystem::path out);

  // Adds the points of all logged suggestions and, if the search is over, the trials that confirm it. Call once, before all
  // other calls.
  void Regrow(const SearchRecord& known);
  // True if no suggestion is missing and every result was reported.
  bool IsOver(const SearchRecord& known) const;
  // An error message, whole lines, if the search differs from the logged one. Empty: it is the same.
  std::string WhyNotTheSame(const SearchRecord& known) const;
  // Starts the search process and replays the log. Throws SearchError, SearchDiffers.
  void Start(const SearchRecord& known, const std::filesystem::path& log, SearchWait wait);
  // Accepts the logged history although the search would answer differently today. Call after SearchDiffers.
  void AdoptHistory() { adopts_ = true; }
  // Starts logging. `direction`: 1 if a higher value of the measure is better, -1 if lower. Throws SearchError if the direction
  // is unknown.
  void Begin(EventLog* log, int direction);

  // Asks for suggestions until the plan has new trials, at its end. Returns false if there are none and none will follow.
  // Throws SearchError.
  bool Grow(const Schedule& schedule);
  bool WantsMore() const { return log_ && with_point_ < terms_.trials; }
  // Reports ended trials to the search, each once. Throws SearchError, and ObjectiveError if no trial records the objective.
  void TellEnded(const Schedule& schedule);
  // Reports values that running trials have recorded, and stops pruned trials. Throws SearchError.
  void Look(const JobTable& jobs);
  // Adds the confirming trials after the search. False: there are none, or they exist already.
  bool Confirm();

  uint64_t most_searched() const;  // searched trials, as far as known
  uint64_t most_trials() const;    // including the confirming trials

 private:
  struct Searched {
    std::vector<uint64_t> numbers;  // suggestions of the point
    std::vector<size_t> trials;     // in the plan, without confirming trials
  };

  struct Running {
    size_t trial = 0;
    unsigned attempt = 0;
    AttemptFolder folder;
  };

  nlohmann::json OpenRequest(const std::string& direction) const;
  void Take(uint64_t number, const Suggested& suggested);
  const Suggestion& Known(uint64_t number) const { return log_->record().search.suggestions.at(number); }
  bool IsTold(uint64_t number) const { return !Known(number).state.empty(); }
  void Fail(uint64_t number);
  void Tell(uint64_t number, size_t point, const Schedule& schedule);
  void RequireObjective(const Searched& searched, const Schedule& schedule) const;
  std::optional<double> MeanOf(const Searched& searched, const Schedule& schedule) const;
  TrialFolder FolderOf(size_t trial) const;
  MetricFollower& FollowerOf(uint64_t number, size_t trial);
  void Report(uint64_t number, size_t trial);
  void LookAt(const Running& job);
  void AddConfirming(const SearchRecord& known);

  Plan& plan_;
  const SearchTerms terms_;
  const std::filesystem::path out_;
  std::unique_ptr<SearchSession> session_;
  EventLog* log_ = nullptr;
  bool adopts_ = false;
  std::map<size_t, Searched> points_;         // by place in the plan
  std::map<size_t, size_t> point_of_trial_;   // only searched trials
  std::map<uint64_t, std::string> no_point_;  // suggestions that became no point, and why
  std::set<uint64_t> untold_;
  std::map<uint64_t, MetricFollower> followers_;  // by number
  std::map<size_t, unsigned> asked_to_end_;       // trial -> attempt
  uint64_t with_point_ = 0, dropped_in_a_row_ = 0;
  bool confirms_ = false;
};

}  // namespace backplane
