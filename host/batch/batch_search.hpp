// The search of a batch: maps suggestions to points, reports results of trials to the search, and asks it for more.
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
  // `plan` is that of a search, and grows.
  BatchSearch(Plan* plan, std::filesystem::path out);

  // The points of all suggestions that a log knows, and where the search is over, the trials that confirm it. Once, before
  // anything else.
  void Regrow(const SearchRecord& known);
  // Whether something is to be asked yet, or told.
  bool IsOver(const SearchRecord& known) const;
  // Why it is another search than the one that is known; empty: it is not. A refusal, whole lines.
  std::string WhyNotTheSame(const SearchRecord& known) const;
  // Starts the process that answers, and brings it to where the last session left it. Throws SearchError, SearchDiffers.
  void Start(const SearchRecord& known, const std::filesystem::path& log, SearchWait wait);
  // After SearchDiffers: with what is known, whatever it would answer today.
  void AdoptHistory() { adopts_ = true; }
  // From here on messages go into the log. `direction`: 1 up is better, -1 down, of the measure itself. Throws SearchError
  // where nobody says it.
  void Begin(EventLog* log, int direction);

  // Asks until the plan has new trials, which are its last ones. False: it has not, and nothing more is to be asked. Throws
  // SearchError.
  bool Grow(const Schedule& schedule);
  bool WantsMore() const { return log_ && with_point_ < terms_.trials; }
  // Reports ended trials to the search, each once. Throws SearchError, and ObjectiveError if no trial records the objective.
  void TellEnded(const Schedule& schedule);
  // Reports what running trials have recorded, and asks those to end that the search has no more use for. Throws SearchError.
  void Look(const JobTable& jobs);
  // Once the search is over, for the trials that confirm it. False: there are none, or they are there.
  bool Confirm();

  uint64_t most_searched() const;  // trials of suggestions that there will be, as far as is known
  uint64_t most_trials() const;    // these, and those that confirm

 private:
  struct Searched {
    std::vector<uint64_t> numbers;  // that came to the point
    std::vector<size_t> trials;     // of the plan, without those that confirm
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
  std::map<size_t, size_t> point_of_trial_;   // of those that are searched
  std::map<uint64_t, std::string> no_point_;  // numbers that became none, and why
  std::set<uint64_t> untold_;
  std::map<uint64_t, MetricFollower> followers_;  // by number
  std::map<size_t, unsigned> asked_to_end_;       // trial -> the attempt
  uint64_t with_point_ = 0, dropped_in_a_row_ = 0;
  bool confirms_ = false;
};

}  // namespace backplane
