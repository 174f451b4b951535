// Connects a search to a running batch: adds its suggestions to the plan and reports results to it.
#pragma once

#include <functional>
#include <memory>

#include "batch/batch_search.hpp"
#include "batch/batch_state.hpp"
#include "batch/job_table.hpp"
#include "batch/resource_pool.hpp"

namespace backplane {

// Does nothing in a batch without a search. An error of the search pauses the batch.
class SearchDriver {
 public:
  // `tick` is called while the search computes a reply; if it returns false, the search stops waiting.
  SearchDriver(BatchState* state, ResourcePool* resource_pool, std::function<bool()> tick);

  // True if this session needs suggestions: the search is not over, and the command runs more than some of its trials.
  bool IsAsked() const;
  // Restores earlier suggestions and resumes the search in the state of the last session. Returns false if this is impossible;
  // the report contains the reason.
  bool GoOn();
  // Starts the search with the known results. Returns false on failure; the report contains the reason.
  bool Start(const SearchRecord& known);
  // Logs messages from now on. `direction` as for BatchSearch::Begin, result as for Start.
  bool Begin(int direction);
  // Adds a suggestion if a trial could start now and, after the last one, the trials that confirm the best. True if the plan
  // has grown.
  bool Grow();
  void TellEnded();
  void Look(const JobTable& jobs);

  // Upper bounds for the number of trials: of suggestions, and of the whole batch.
  uint64_t most_searched() const { return search_ ? search_->most_searched() : state_.plan.trials.size(); }
  uint64_t most_trials() const { return search_ ? search_->most_trials() : state_.plan.trials.size(); }

 private:
  template <class Ask>
  void AskOrPause(Ask ask);
  bool HasRoom();
  void RefuseFile(const std::string& why);

  BatchState& state_;
  ResourcePool& resource_pool_;
  std::function<bool()> tick_;
  std::unique_ptr<BatchSearch> search_;  // NULL: no search
};

}  // namespace backplane
